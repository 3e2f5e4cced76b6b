package sqlite_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"writ/internal/ledger"
	"writ/internal/store/sqlite"
)

var crashRounds = flag.Int("crash-rounds", defaultRounds(), "how often the crash test kills its child")

func defaultRounds() int {
	if raceDetector {
		return 15
	}
	return 40
}

// TestAcknowledgedSurvivesKill kills a committing process at random moments,
// several times on the same file: whatever it acknowledged is there, once, and
// the log has no gap.
func TestAcknowledgedSurvivesKill(t *testing.T) {
	t.Parallel()
	const lives = 5 // of one file
	var path string
	var acked map[string]int64
	total := 0
	for round := range *crashRounds {
		if round%lives == 0 {
			path, acked = filepath.Join(t.TempDir(), "writ.db"), map[string]int64{}
		}
		p := spawn(t, "crowd", path, "")
		for range 1 + rand.IntN(80) {
			if !p.next() {
				break
			}
		}
		p.kill()
		for id, seq := range p.acked {
			acked[id] = seq
		}
		if len(p.acked) == 0 {
			t.Fatalf("round %d: nothing was acknowledged", round)
		}
		total += len(p.acked)
		survived(t, path, acked)
	}
	t.Logf("%d acknowledged events survived %d kills", total, *crashRounds)
}

// TestKillAtEveryPoint kills the process inside the writer, at each point and
// early and late in its life.
func TestKillAtEveryPoint(t *testing.T) {
	t.Parallel()
	for _, point := range []sqlite.Point{sqlite.AtBegin, sqlite.AtWrite, sqlite.AtCommit, sqlite.AtCommitted} {
		t.Run(string(point), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "writ.db")
			acked := map[string]int64{}
			for _, passing := range []int{1, 2, 7, 40} {
				p := spawn(t, "crowd", path, fmt.Sprint(point, " ", passing))
				p.reap()
				for id, seq := range p.acked {
					acked[id] = seq
				}
				survived(t, path, acked)
			}
			if len(acked) == 0 {
				t.Error("nothing was acknowledged in any life")
			}
		})
	}
}

// survived opens the store after a crash and compares it with what was
// acknowledged.
func survived(t *testing.T, path string, acked map[string]int64) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	seen := map[string]int64{}
	newest := map[string]string{} // per counter, the event of its last step
	steps := map[string]int64{}
	for _, e := range readAll(t, s, crashWorkspace) {
		if seen[e.ID] != 0 {
			t.Fatalf("event %s is there as %d and as %d", e.ID, seen[e.ID], e.Seq)
		}
		seen[e.ID] = e.Seq
		counter := "counter/" + e.RunID[len("run_"):]
		newest[counter] = e.ID
		steps[counter]++
	}
	for id, seq := range acked {
		if seen[id] != seq {
			t.Fatalf("event %s was acknowledged as %d and is %d", id, seq, seen[id])
		}
	}
	cells, err := s.Cells(t.Context(), crashWorkspace, ledger.CellFilter{Kind: ledger.CellRun})
	if err != nil || len(cells) != len(newest) {
		t.Fatalf("%d counters for %d writers, %v", len(cells), len(newest), err)
	}
	for _, c := range cells {
		if string(c.Value) != newest[c.Key] || c.Version != steps[c.Key] {
			t.Fatalf("%s stands at %s, version %d; the log says %s, %d", c.Key, c.Value, c.Version, newest[c.Key], steps[c.Key])
		}
	}
	docs, err := s.Documents(t.Context(), crashWorkspace, ledger.DocumentFilter{})
	if err != nil || len(docs) != len(seen) {
		t.Fatalf("%d documents for %d events, %v", len(docs), len(seen), err)
	}
	for _, d := range docs {
		if seen[d.Event] == 0 {
			t.Fatalf("document %s survived without its event", d.Ref)
		}
	}
	sound(t, s)
}

// TestWALCutAnywhere rebuilds what a power cut may leave: the database and any
// length of its write-ahead log beyond what was synced. Whatever was
// acknowledged before the cut is there, and nothing of a commit that is not
// whole.
func TestWALCutAnywhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "writ.db")
	p := spawn(t, "single", path, "")
	type mark struct{ size, head int64 }
	var marks []mark
	for range 40 {
		if !p.next() {
			t.Fatalf("the child ended: %s", p.errs.String())
		}
		// The child may be further by now, so the size is at least that of head.
		st, err := os.Stat(path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		marks = append(marks, mark{st.Size(), int64(len(p.acked))})
	}
	p.kill()
	database, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	wal, err := os.ReadFile(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		cut := rand.Int64N(int64(len(wal)) + 1)
		tail := []byte(nil)
		switch i % 3 {
		case 1: // a torn sector: the bytes after the cut are noise
			tail = make([]byte, rand.IntN(9000))
			for i := range tail {
				tail[i] = byte(rand.Uint32())
			}
		case 2: // a page that never reached the disk
			tail = make([]byte, 4096)
		}
		want := int64(0) // all that was acknowledged while the log was shorter than the cut
		for _, m := range marks {
			if m.size <= cut {
				want = m.head
			}
		}
		image := filepath.Join(dir, fmt.Sprint("cut", i))
		if err := os.WriteFile(image, database, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(image+"-wal", append(wal[:cut:cut], tail...), 0o600); err != nil {
			t.Fatal(err)
		}
		survivedCut(t, image, want)
	}
}

func survivedCut(t *testing.T, path string, want int64) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	log := readAll(t, s, crashWorkspace)
	if int64(len(log)) < want {
		t.Fatalf("%d events were acknowledged before the cut, %d are there", want, len(log))
	}
	docs, err := s.Documents(t.Context(), crashWorkspace, ledger.DocumentFilter{})
	if err != nil || len(docs) != len(log) {
		t.Fatalf("%d documents for %d events, %v", len(docs), len(log), err)
	}
	sound(t, s)
	if e, err := crashCommit(s, 99, 0); err != nil || e.Seq != int64(len(log))+1 { // and it goes on
		t.Fatalf("the next event is %d, %v", e.Seq, err)
	}
}

// readAll reads a log page by page and insists on its numbering.
func readAll(t *testing.T, s ledger.Store, workspace string) (out []ledger.Event) {
	t.Helper()
	for q := (ledger.EventQuery{Limit: 1000}); ; {
		page, err := s.Events(t.Context(), workspace, q)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page.Events {
			if out = append(out, e); e.Seq != int64(len(out)) {
				t.Fatalf("event %d of the log is numbered %d", len(out), e.Seq)
			}
		}
		if q.After = page.NextAfter; q.After == page.Head {
			return out
		}
	}
}

// sound runs the store's own check.
func sound(t *testing.T, s ledger.Store) {
	t.Helper()
	found, err := s.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range found {
		t.Fatalf("check: %s %s %s", x.Workspace, x.Where, x.What)
	}
}
