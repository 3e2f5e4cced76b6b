package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ledger"
	"writ/internal/store/sqlite"
)

// filled returns the file of a closed store with a thousand events, some
// documents and cells. It is made once and copied.
func filled(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "writ.db")
	image, err := sample()
	if err == nil {
		err = os.WriteFile(path, image, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var sample = sync.OnceValues(func() (image []byte, err error) {
	dir, err := os.MkdirTemp("", "writ-store")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "writ.db")
	s, err := sqlite.Open(context.Background(), sqlite.Options{Path: path})
	if err != nil {
		return nil, err
	}
	for i := range 10 {
		c := ledger.Commit{Workspace: "ws_a", Once: &ledger.Once{Principal: "p", Key: fmt.Sprint("key", i), Fingerprint: canon.Sum(nil)}}
		for n := range 100 {
			id := fmt.Sprint("evt_", i*100+n+1)
			c.Events = append(c.Events, ledger.NewEvent{ID: id, Type: "t", RunID: fmt.Sprint("run_", n%3), SpaceID: "spc_1", Body: []byte(`{"id":"` + id + `"}`)})
		}
		c.Documents = []ledger.NewDocument{{Kind: "plan", Ref: fmt.Sprint("ref", i), Body: []byte(fmt.Sprint("body", i))}}
		c.Cells = []ledger.CellWrite{{Kind: "run", Key: fmt.Sprint(i), Value: []byte("v")}}
		if _, err := s.Commit(context.Background(), c); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

func TestCheckFindsDamage(t *testing.T) {
	t.Parallel()
	at := func(seq int) string { return fmt.Sprintf("(1 << 44 | %d)", seq) }
	for _, test := range []struct {
		name, damage string
		want         []string // parts of findings, in any order
	}{
		{"nothing", "", nil},
		{"changed body", "UPDATE events SET body = CAST('{\"id\":\"forged\"}' AS BLOB) WHERE place = " + at(42), []string{"event 42|hash that is not that of its content"}},
		{"changed time", "UPDATE events SET ts = ts - 86400000 WHERE place = " + at(43), []string{"event 43|dated before", "event 43|hash that is not"}},
		{"missing event", "DELETE FROM events WHERE place = " + at(500), []string{"event 501|1 are missing", "event 501|does not name the hash", "names event 500"}},
		{"missing tail of the index", "UPDATE workspaces SET folded = 5000", []string{"beyond the log", "event 1000|missing from the index"}},
		{"rewritten chain", "UPDATE events SET prev = zeroblob(32) WHERE place = " + at(7), []string{"event 7|does not name the hash"}},
		{"lost fingerprint", "UPDATE events SET fingerprint = x'00' WHERE place = " + at(101), []string{"event 101|cannot be replayed"}},
		{"key without principal", "UPDATE events SET principal = '' WHERE place = " + at(101), []string{"event 101|cannot be replayed"}},
		{"index entry lost", "DELETE FROM scopes WHERE place = " + at(3) + " AND scope = 'run_2'", []string{"event 3|missing from the index"}},
		{"index entry forged", "INSERT INTO scopes VALUES ('run_9', " + at(3) + ")", []string{"names event 3 for run_9"}},
		{"index entry of nothing", "INSERT INTO scopes VALUES ('', " + at(3) + ")", []string{"names event 3 for "}},
		{"changed document", "UPDATE documents SET body = x'00' WHERE ref = 'ref4'", []string{"document ref4|bytes that are not those of its digest"}},
		{"missing document", "DELETE FROM documents WHERE ref = 'ref4'", []string{"document ref5|number 6 and follows number 4"}},
		{"cell without version", "UPDATE cells SET version = 0 WHERE key = '4'", []string{"cell run 4|no version"}},
		{"lost workspace", "DELETE FROM workspaces", []string{"workspace 1|does not exist and has 1000 events", "workspace 1|has 10 documents", "cell run 0|has no workspace"}},
		{"moved event", "UPDATE events SET workspace = 2 WHERE place = " + at(9), []string{"event 9|another workspace"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			path := filled(t)
			if test.damage != "" {
				db := raw(t, path)
				exec1(t, db, test.damage)
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
			}
			found, err := open(t, path).Check(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(test.want) == 0 && len(found) > 0 {
				t.Errorf("found %v in a sound store", found)
			}
			var lines []string
			for _, f := range found {
				lines = append(lines, f.Where+"|"+f.What)
			}
			all := strings.Join(lines, "\n")
			for _, want := range test.want {
				where, what, _ := strings.Cut(want, "|")
				hit := false
				for _, line := range lines {
					hit = hit || strings.Contains(line, where) && strings.Contains(line, what)
				}
				if !hit {
					t.Errorf("no finding says %q; found:\n%.2000s", want, all)
				}
			}
		})
	}
}

// TestCheckFindsDamagedPages flips bytes in the file itself.
func TestCheckFindsDamagedPages(t *testing.T) {
	t.Parallel()
	path := filled(t)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(b), `{"id":"evt_321"}`)
	if at < 0 {
		t.Fatal("event 321 is not in the file")
	}
	b[at+10] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := open(t, path).Check(t.Context())
	if err != nil || len(found) != 1 || found[0].Workspace != "ws_a" || found[0].Where != "event 321" {
		t.Errorf("found %v, %v", found, err)
	}
}

func TestBackup(t *testing.T) {
	t.Parallel()
	s := open(t, filled(t))
	copied := filepath.Join(t.TempDir(), "copy.db")
	done := make(chan struct{})
	go func() { // the store stays in use
		defer close(done)
		for range 20 {
			if _, err := s.Commit(t.Context(), single()); err != nil {
				t.Error(err)
			}
		}
	}()
	if err := s.Backup(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	<-done
	if err := s.Backup(t.Context(), copied); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("a second backup to the same file: %v", err)
	}
	if left, err := filepath.Glob(copied + "?*"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	b := open(t, copied)
	if log := readAll(t, b, "ws_a"); len(log) != 1000 {
		t.Errorf("%d events in the copy", len(log))
	}
	sound(t, b)
	r, err := b.Commit(t.Context(), ledger.Commit{Workspace: "ws_a",
		Once:   &ledger.Once{Principal: "p", Key: "key3", Fingerprint: canon.Sum(nil)},
		Events: []ledger.NewEvent{{ID: "evt_new", Type: "t", Body: []byte("{}")}}})
	if err != nil || !r.Replayed {
		t.Errorf("a key from before the backup: %+v, %v", r, err)
	}
}

// TestStatementsUseIndexes asks SQLite how it would run each statement: none
// may read a whole table or sort bodies.
func TestStatementsUseIndexes(t *testing.T) {
	t.Parallel()
	db := raw(t, filled(t))
	scanned := map[string]bool{"Workspaces": true} // one row per workspace, by design
	for name, text := range sqlite.Queries {
		if !sqlite.UsedQueries()[name] && !strings.HasPrefix(name, "Check") && name != "Integrity" {
			t.Errorf("statement %s is used by nobody", name)
		}
		if strings.HasPrefix(name, "Check") || strings.HasPrefix(text, "PRAGMA") || scanned[name] ||
			name == "Begin" || name == "Commit" || name == "Rollback" {
			continue
		}
		args := make([]any, strings.Count(text, "?"))
		if strings.Contains(text, "?1") {
			args = args[:0]
			for i := 1; strings.Contains(text, fmt.Sprint("?", i)); i++ {
				args = append(args, "")
			}
		}
		rows, err := db.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+text, args...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for rows.Next() {
			var id, parent, unused int
			var detail string
			if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(detail, "SCAN") && !strings.Contains(detail, "json_each") && !strings.Contains(detail, "CONSTANT ROW") &&
				detail != "SCAN which" || strings.Contains(detail, "TEMP B-TREE") {
				t.Errorf("%s: %s", name, detail)
			}
		}
		if err := rows.Err(); err != nil {
			t.Error(err)
		}
		_ = rows.Close()
	}
}
