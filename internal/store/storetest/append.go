package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ledger"
)

// crowd is how many goroutines commit at once.
const crowd = 64

func sequencesAreGapless(t *testing.T, f *fixture) {
	var mu sync.Mutex
	acked := map[string]int64{}
	var wg sync.WaitGroup
	for range crowd {
		wg.Go(func() {
			for range 8 {
				r, err := f.Commit(t.Context(), appending(1+rand.IntN(3)))
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				for i, e := range r.Events {
					acked[e.ID] = e.Seq
					if i > 0 && e.Seq != r.Events[i-1].Seq+1 {
						t.Errorf("events of one commit are numbered %d and %d", r.Events[i-1].Seq, e.Seq)
					}
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	log := f.log(ws)
	if len(log) != len(acked) {
		t.Fatalf("%d events were acknowledged, %d are there", len(acked), len(log))
	}
	for i, e := range log {
		if e.Seq != int64(i+1) {
			t.Fatalf("event %d of the log is numbered %d", i+1, e.Seq)
		}
		if acked[e.ID] != e.Seq {
			t.Fatalf("%s was acknowledged as %d and is %d", e.ID, acked[e.ID], e.Seq)
		}
	}
	f.sound()
}

func workspacesAreApart(t *testing.T, f *fixture) {
	id := event("message.posted")
	for i, name := range []string{ws, "ws_other", "ws_third"} {
		for n := range i + 1 {
			c := once(appending(1), "same key", "")
			c.Workspace = name
			if n > 0 {
				c.Once = nil
			}
			c.Cells = []ledger.CellWrite{cell("same", int64(n), "x")}
			f.commit(c)
		}
		c := ledger.Commit{Workspace: name, Now: noon, Events: []ledger.NewEvent{id},
			Documents: []ledger.NewDocument{document("same", name)}}
		if r := f.commit(c); r.Events[0].Seq != int64(i+2) {
			t.Errorf("%s: number %d, want %d", name, r.Events[0].Seq, i+2)
		}
	}
	names, err := f.Workspaces(t.Context())
	if diff := cmp.Diff([]string{ws, "ws_other", "ws_third"}, names); err != nil || diff != "" {
		t.Errorf("workspaces: %v %s", err, diff)
	}
	d, err := f.Document(t.Context(), "ws_other", "same")
	if err != nil || string(d.Body) != "ws_other" || d.Workspace != "ws_other" || d.Order != 1 {
		t.Errorf("document of ws_other: %+v, %v", d, err)
	}
	if p, err := f.Events(t.Context(), "ws_nobody", ledger.EventQuery{}); err != nil || p.Head != 0 || p.Earliest != 0 || len(p.Events) != 0 {
		t.Errorf("an unknown workspace reads as %+v, %v", p, err)
	}
	f.sound()
}

func timeNeverDecreases(t *testing.T, f *fixture) {
	clock := noon.Add(123456789 * time.Nanosecond)
	for i := range 40 {
		if i%3 == 0 {
			clock = clock.Add(time.Duration(rand.IntN(7_200_000)-3_600_000) * time.Millisecond)
		}
		c := appending(1)
		c.Now = clock.In(time.FixedZone("", 7200))
		f.commit(c)
	}
	f.reopen()
	c := appending(1)
	c.Now = noon.Add(-24 * time.Hour)
	f.commit(c)
	var last time.Time
	for _, e := range f.log(ws) {
		if e.TS.Before(last) {
			t.Fatalf("event %d is dated %s, before %s", e.Seq, e.TS, last)
		}
		if e.TS.Location() != time.UTC || e.TS.Nanosecond()%int(time.Millisecond) != 0 {
			t.Fatalf("event %d is dated %s, which is not UTC in milliseconds", e.Seq, e.TS)
		}
		last = e.TS
	}
	f.sound()
}

func hashesChain(t *testing.T, f *fixture) {
	got := f.commit(appending(3)).Events
	got = append(got, f.commit(appending(2)).Events...)
	f.reopen()
	got = append(got, f.commit(appending(1)).Events...)
	var prev canon.Digest
	for _, e := range got {
		if e.Prev != prev || e.Hash != ledger.Chain(prev, e.Seq, e.TS, e.Body) {
			t.Errorf("event %d does not continue the chain", e.Seq)
		}
		prev = e.Hash
	}
	if diff := cmp.Diff(got, f.log(ws)); diff != "" {
		t.Errorf("the log is not what was acknowledged (-acked +read):\n%s", diff)
	}
}

func allOrNothing(t *testing.T, f *fixture) {
	first := f.commit(appending(1))
	f.commit(ledger.Commit{Workspace: ws, Now: noon, Cells: []ledger.CellWrite{cell("a", 0, "1")}})

	bad := once(appending(2), "key", "")
	bad.Documents = []ledger.NewDocument{document("ref", "{}")}
	bad.Cells = []ledger.CellWrite{cell("b", 0, "1"), cell("a", 7, "2")}
	f.refuse(fault.Conflict, bad)

	bad.Cells = []ledger.CellWrite{cell("b", 0, "1")}
	bad.Events[1].ID = first.Events[0].ID // found only after the rest was written
	f.refuse(fault.EventID, bad)

	if _, err := f.Document(t.Context(), ws, "ref"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("the document of an undone commit: %v", err)
	}
	if _, err := f.Cell(t.Context(), ws, ledger.CellRun, "b"); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("the cell of an undone commit: %v", err)
	}
	bad.Events[1] = event("message.posted")
	if r := f.commit(bad); r.Replayed || r.Events[0].Seq != 2 {
		t.Errorf("the key of an undone commit is taken: %+v", r)
	}
	f.sound()
}

func takenEventIDFails(t *testing.T, f *fixture) {
	c := appending(2)
	second := f.commit(c).Events[1]
	again := appending(1)
	again.Events[0].ID = second.ID
	e := f.refuse(fault.EventID, again)
	if e.Get("event_id") != second.ID || e.Get("seq") != "2" {
		t.Errorf("the refusal names %v", e.Data)
	}
	twice := appending(1)
	twice.Events = append(twice.Events, twice.Events[0])
	f.refuse(fault.EventID, twice)
}

func malformedCommitsAreRefused(t *testing.T, f *fixture) {
	type change func(*ledger.Commit)
	for name, change := range map[string]change{
		"no workspace":   func(c *ledger.Commit) { c.Workspace = "" },
		"nothing":        func(c *ledger.Commit) { c.Events = nil },
		"no id":          func(c *ledger.Commit) { c.Events[0].ID = "" },
		"no type":        func(c *ledger.Commit) { c.Events[0].Type = "" },
		"no body":        func(c *ledger.Commit) { c.Events[0].Body = nil },
		"no principal":   func(c *ledger.Commit) { c.Once = &ledger.Once{Key: "k"} },
		"no key":         func(c *ledger.Commit) { c.Once = &ledger.Once{Principal: "p"} },
		"long key":       func(c *ledger.Commit) { c.Once = &ledger.Once{Principal: "p", Key: fmt.Sprintf("%0201d", 1)} },
		"no primary":     func(c *ledger.Commit) { c.Once = &ledger.Once{Principal: "p", Key: "k", Primary: 1} },
		"before primary": func(c *ledger.Commit) { c.Once = &ledger.Once{Principal: "p", Key: "k", Primary: -1} },
		"no ref":         func(c *ledger.Commit) { c.Documents = []ledger.NewDocument{{Kind: "plan", Body: []byte("{}")}} },
		"no doc kind":    func(c *ledger.Commit) { c.Documents = []ledger.NewDocument{{Ref: "r", Body: []byte("{}")}} },
		"no bytes":       func(c *ledger.Commit) { c.Documents = []ledger.NewDocument{{Kind: "plan", Ref: "r"}} },
		"no cell kind":   func(c *ledger.Commit) { c.Cells = []ledger.CellWrite{{Key: "k"}} },
		"no cell key":    func(c *ledger.Commit) { c.Cells = []ledger.CellWrite{{Kind: "run"}} },
		"odd version":    func(c *ledger.Commit) { c.Cells = []ledger.CellWrite{{Kind: "run", Key: "k", Expect: -2}} },
		"cell twice":     func(c *ledger.Commit) { c.Cells = []ledger.CellWrite{cell("k", 0, ""), cell("k", 1, "")} },
	} {
		c := appending(1)
		change(&c)
		if _, err := f.Commit(t.Context(), c); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	big := appending(1)
	big.Documents = []ledger.NewDocument{{Kind: "plan", Ref: "r", Body: make([]byte, 16<<20+1)}}
	f.refuse(fault.TooLarge, big)
	f.sound()
}

// poisonHarmsNobodyElse lets commits that fail, early and late, race with good
// ones: the good ones all succeed, whatever batch they share.
func poisonHarmsNobodyElse(t *testing.T, f *fixture) {
	taken := f.commit(appending(1)).Events[0].ID
	f.commit(ledger.Commit{Workspace: ws, Now: noon, Cells: []ledger.CellWrite{cell("c", 0, "1")}})
	var wg sync.WaitGroup
	for g := range crowd {
		wg.Go(func() {
			for range 4 {
				c, want := appending(2), fault.Code("")
				switch g % 4 {
				case 1: // found before anything is written
					c.Cells, want = []ledger.CellWrite{cell("c", 99, "")}, fault.Conflict
				case 2: // found by the first write
					c.Events[0].ID, want = taken, fault.EventID
				case 3: // found after the first write
					c.Events[1].ID, want = taken, fault.EventID
				}
				if _, err := f.Commit(t.Context(), c); fault.CodeOf(err) != want {
					t.Errorf("kind %d answered %v, want %q", g%4, err, want)
				}
			}
		})
	}
	wg.Wait()
	if got, want := f.head(), int64(1+crowd/4*4*2); got != want {
		t.Errorf("head is %d, want %d", got, want)
	}
	f.sound()
}

// givenUpCommitsAreNeitherLostNorDoubled cancels callers at random moments. A
// caller that gets an error finds nothing in the log; one that gets a receipt
// finds its event once.
func givenUpCommitsAreNeitherLostNorDoubled(t *testing.T, f *fixture) {
	var mu sync.Mutex
	acked, refused := map[string]int64{}, map[string]bool{}
	var wg sync.WaitGroup
	for range crowd {
		wg.Go(func() {
			for range 8 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rand.IntN(3000))*time.Microsecond)
				c := appending(1)
				r, err := f.Commit(ctx, c)
				cancel()
				mu.Lock()
				switch {
				case err == nil:
					acked[r.Events[0].ID] = r.Events[0].Seq
				case errors.Is(err, context.DeadlineExceeded) && fault.CodeOf(err) == fault.Cancelled:
					refused[c.Events[0].ID] = true
				default:
					t.Errorf("a cancelled commit answered %v", err)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	f.commit(appending(1)) // whatever was queued before it has been written by now
	for _, e := range f.log(ws) {
		if refused[e.ID] {
			t.Errorf("event %d was given up and is there", e.Seq)
		}
		if seq, ok := acked[e.ID]; ok && seq != e.Seq {
			t.Errorf("event %d was acknowledged as %d", e.Seq, seq)
		}
		delete(acked, e.ID)
	}
	if len(acked) > 0 {
		t.Errorf("%d acknowledged events are missing", len(acked))
	}
}

func closeFinishesWhatIsQueued(t *testing.T, f *fixture) {
	var mu sync.Mutex
	acked := map[string]bool{}
	started := make(chan struct{}, crowd)
	var wg sync.WaitGroup
	for range crowd {
		wg.Go(func() {
			for i := 0; ; i++ {
				r, err := f.Store.Commit(t.Context(), appending(1))
				if i == 0 {
					started <- struct{}{}
				}
				if err != nil {
					if fault.CodeOf(err) != fault.Unavailable {
						t.Errorf("a closed store answered %v", err)
					}
					return
				}
				mu.Lock()
				acked[r.Events[0].ID] = true
				mu.Unlock()
			}
		})
	}
	for range crowd {
		<-started
	}
	if err := f.Store.Close(); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	if err := f.Store.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
	if _, err := f.Store.Wait(t.Context(), ws, 1<<40); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("waiting on a closed store: %v", err)
	}
	if _, err := f.Store.Events(t.Context(), ws, ledger.EventQuery{}); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("reading a closed store: %v", err)
	}
	f.reopen()
	log := f.log(ws)
	if len(log) != len(acked) {
		t.Errorf("%d acknowledged, %d stored", len(acked), len(log))
	}
	for _, e := range log {
		if !acked[e.ID] {
			t.Errorf("event %d was never acknowledged", e.Seq)
		}
	}
	f.sound()
}
