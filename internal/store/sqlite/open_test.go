package sqlite_test

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite"

	"writ/internal/fault"
	"writ/internal/ledger"
	"writ/internal/store/sqlite"
	"writ/internal/testkit"
)

// raw opens the file behind a store, to do to it what a store never does.
func raw(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func exec1(t *testing.T, db *sql.DB, statement string, args ...any) {
	t.Helper()
	res, err := db.ExecContext(t.Context(), statement, args...)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		t.Fatalf("%s changed %d rows, %v", statement, n, err)
	}
}

func TestNewerSchemaIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "writ.db")
	if err := open(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	exec1(t, raw(t, path), "INSERT INTO goose_db_version (version_id, is_applied) VALUES (77, 1)")
	_, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
	e, _ := fault.As(err)
	if fault.CodeOf(err) != fault.Schema || e.Get("schema") != "77" || e.Get("known") != "1" ||
		!strings.Contains(e.Public, "77") || !strings.Contains(e.Public, "up to 1") {
		t.Errorf("answered %v", err)
	}
}

func TestDamagedFileIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "writ.db")
	if err := os.WriteFile(path, bytes.Repeat([]byte("not a database. "), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(t.Context(), sqlite.Options{Path: path}); fault.CodeOf(err) != fault.Corrupt {
		t.Errorf("answered %v", err)
	}
	if _, err := sqlite.Open(t.Context(), sqlite.Options{Path: t.TempDir()}); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("a folder answered %v", err)
	}
	if _, err := sqlite.Open(t.Context(), sqlite.Options{}); fault.CodeOf(err) != fault.Usage {
		t.Errorf("no path answered %v", err)
	}
}

func TestSettingsAreReadBack(t *testing.T) {
	t.Parallel()
	good := map[string]string{"busy_timeout": "5000", "journal_mode": "wal", "synchronous": "2", "foreign_keys": "1"}
	ask := func(answers map[string]string) func(string) (string, error) {
		return func(q string) (string, error) { return answers[strings.TrimPrefix(q, "PRAGMA ")], nil }
	}
	if err := sqlite.ReadBack(ask(good)); err != nil {
		t.Errorf("good settings: %v", err)
	}
	for name, wrong := range map[string]string{"busy_timeout": "0", "journal_mode": "delete", "synchronous": "1", "foreign_keys": "0"} {
		bad := map[string]string{}
		for k, v := range good {
			bad[k] = v
		}
		bad[name] = wrong
		err := sqlite.ReadBack(ask(bad))
		if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), name+" = "+wrong) {
			t.Errorf("%s = %s: %v", name, wrong, err)
		}
	}
	if err := sqlite.ReadBack(func(string) (string, error) { return "", errors.New("gone") }); err == nil {
		t.Error("a connection that does not answer passes")
	}
}

func TestOddPathsArePaths(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a b", "what?", "50%41", "#1", "ä&_pragma=synchronous(off)"} {
		path := filepath.Join(t.TempDir(), name, name)
		open(t, path)
		if st, err := os.Stat(path); err != nil || st.Size() == 0 || st.Mode().Perm() != 0o600 {
			t.Errorf("%q: %v, %v", name, st, err)
		}
	}
}

// TestReleasedMigrationsNeverChange pins every migration: one that has run
// somewhere cannot be edited, only followed by another.
func TestReleasedMigrationsNeverChange(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"migrations/00001_ledger.sql": "ab39baafad1079079ace566e2f1dbec656cc990ebb6757ee8b47e87fbb49eee5",
	}
	got := map[string]string{}
	files, err := fs.Glob(sqlite.Migrations, "migrations/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		b, err := fs.ReadFile(sqlite.Migrations, name)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(b)
		got[name] = hex.EncodeToString(sum[:])
		if bytes.Contains(b, []byte("+goose Down")) {
			t.Errorf("%s goes backwards", name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("migrations (-pinned +here):\n%s", diff)
	}
}

// TestStartIsQuick takes the best of a few, so that a busy machine does not
// matter.
func TestStartIsQuick(t *testing.T) {
	t.Parallel()
	limit, tries := 100*time.Millisecond, 10
	if raceDetector {
		limit, tries = time.Minute, 1 // the engine is Go, and instrumented with the rest
	}
	dir := t.TempDir()
	best := func(path func(i int) string) time.Duration {
		shortest := time.Hour
		for i := range tries {
			start := time.Now()
			s := open(t, path(i))
			if _, err := s.Workspaces(t.Context()); err != nil {
				t.Fatal(err)
			}
			shortest = min(shortest, time.Since(start))
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		return shortest
	}
	if took := best(func(i int) string { return filepath.Join(dir, fmt.Sprint(i)) }); took > limit {
		t.Errorf("a fresh store takes %s to answer, the limit is %s", took, limit)
	}
	if took := best(func(int) string { return filepath.Join(dir, "0") }); took > limit {
		t.Errorf("a store takes %s to answer, the limit is %s", took, limit)
	}
}

// TestTwoStoresOnOneFile lets two stores, as of two processes, append to the
// same log: numbers and hashes go on where the other left them, and a reader
// that waits on one hears of the other's commits.
func TestTwoStoresOnOneFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "writ.db")
	stores := []*sqlite.Store{open(t, path), open(t, path)}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 10 {
				if _, err := stores[i%2].Commit(t.Context(), single()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if log := readAll(t, stores[0], batchWorkspace); len(log) != 80 {
		t.Errorf("%d events", len(log))
	}
	sound(t, stores[1])

	head := make(chan int64, 1)
	go func() {
		n, err := stores[0].Wait(t.Context(), batchWorkspace, 80)
		if err != nil {
			t.Error(err)
		}
		head <- n
	}()
	if _, err := stores[1].Commit(t.Context(), single()); err != nil {
		t.Fatal(err)
	}
	if n := <-head; n != 81 {
		t.Errorf("woken for %d", n)
	}
}

// TestManyOpenAtOnce starts stores on one new file together: one of them makes
// the tables, the others find them.
func TestManyOpenAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "writ.db")
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := s.Commit(t.Context(), single()); err != nil {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if log := readAll(t, open(t, path), batchWorkspace); len(log) != 6 {
		t.Errorf("%d events, want 6", len(log))
	}
}

// TestLogStartsAgain writes several times what the write-ahead log may hold.
func TestLogStartsAgain(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "writ.db")
	s := open(t, path)
	const size, count = 1 << 20, 48
	for i := range count {
		_, err := s.Commit(t.Context(), ledger.Commit{Workspace: "ws", Documents: []ledger.NewDocument{{
			Kind: ledger.KindPatch, Ref: fmt.Sprint(i), Body: bytes.Repeat([]byte{byte(i)}, size),
		}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	st, err := os.Stat(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	if st.Size() > count*size*3/4 {
		t.Errorf("%d MiB were written and the log holds %d MiB", count*size>>20, st.Size()>>20)
	}
}

// TestLibcIsTheOneOfTheEngine compares versions: the engine is translated C
// and works with exactly the C library it was made with.
func TestLibcIsTheOneOfTheEngine(t *testing.T) {
	t.Parallel()
	tool, err := exec.LookPath("go")
	if err != nil {
		testkit.Skip(t, "the go command", "https://go.dev/dl")
	}
	list := func(format, module string) string {
		out, err := exec.CommandContext(t.Context(), tool, "list", "-m", "-f", format, module).Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	mod, err := os.ReadFile(list("{{.GoMod}}", "modernc.org/sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	wants := regexp.MustCompile(`modernc\.org/libc (v\S+)`).FindSubmatch(mod)
	if wants == nil {
		t.Fatal("the engine names no libc")
	}
	if have := list("{{.Version}}", "modernc.org/libc"); have != string(wants[1]) {
		t.Errorf("libc is %s, the engine wants %s", have, wants[1])
	}
}
