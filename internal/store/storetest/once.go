package storetest

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ledger"
)

func replayWritesNothing(t *testing.T, f *fixture) {
	first := once(appending(2), "key", "content")
	first.Documents = []ledger.NewDocument{document("ref", "{}")}
	first.Cells = []ledger.CellWrite{cell("c", ledger.AnyVersion, "1")}
	a := f.commit(first)

	again := once(appending(2), "key", "content") // a retry makes new ids
	again.Documents = first.Documents
	again.Cells = []ledger.CellWrite{cell("c", ledger.AnyVersion, "2")}
	b := f.commit(again)

	want := ledger.Receipt{
		Replayed:  true,
		Events:    a.Events[:1],
		Documents: []ledger.DocumentReceipt{{Ref: "ref", SHA256: canon.Sum([]byte("{}")), Replayed: true}},
	}
	if diff := cmp.Diff(want, b); diff != "" {
		t.Errorf("replay (-want +got):\n%s", diff)
	}
	if f.head() != 2 {
		t.Errorf("a replay moved the head to %d", f.head())
	}
	if c, err := f.Cell(t.Context(), ws, ledger.CellRun, "c"); err != nil || c.Version != 1 || string(c.Value) != "1" {
		t.Errorf("a replay moved a cell to %+v, %v", c, err)
	}
	plain := f.commit(once(appending(1), "key", "content"))
	if !plain.Replayed || plain.Events[0].ID != a.Events[0].ID || plain.Documents != nil {
		t.Errorf("replay without documents: %+v", plain)
	}
	f.sound()
}

func replayReturnsThePrimaryEvent(t *testing.T, f *fixture) {
	c := once(appending(3), "key", "")
	c.Once.Primary = 2
	want := f.commit(c).Events[2]
	r := f.commit(once(appending(1), "key", ""))
	if diff := cmp.Diff([]ledger.Event{want}, r.Events); !r.Replayed || diff != "" {
		t.Errorf("replay (-want +got):\n%s", diff)
	}
	// The event itself may come again under its own id: it is the key that counts.
	if r := f.commit(c); !r.Replayed || r.Events[0].Seq != 3 {
		t.Errorf("the same commit again: %+v", r)
	}
}

func replayComesBeforeCellVersions(t *testing.T, f *fixture) {
	c := once(appending(1), "key", "")
	c.Cells = []ledger.CellWrite{cell("c", 0, "1")}
	f.commit(c)
	f.commit(ledger.Commit{Workspace: ws, Now: noon, Cells: []ledger.CellWrite{cell("c", 1, "2")}})
	if r := f.commit(c); !r.Replayed {
		t.Errorf("the same commit again: %+v", r)
	}
}

func otherContentUnderAKeyFails(t *testing.T, f *fixture) {
	first := f.commit(once(appending(1), "key", "content")).Events[0]
	plain := once(appending(1), "key", "other content")
	e := f.refuse(fault.Idempotency, plain)
	if e.Get("event_id") != first.ID || e.Get("seq") != "1" {
		t.Errorf("the refusal names %v", e.Data)
	}
	plain.Cells = []ledger.CellWrite{cell("c", 0, "1")}
	f.refuse(fault.Idempotency, plain)
	same := once(appending(1), "key", "other content")
	same.Events[0].ID = first.ID
	f.refuse(fault.Idempotency, same)
}

func keysAreScoped(t *testing.T, f *fixture) {
	f.commit(once(appending(1), "key", ""))
	other := once(appending(1), "key", "other content")
	other.Once.Principal = "per_2"
	if f.commit(other).Replayed {
		t.Error("another principal's key was found")
	}
	// A boundary between principal and key that moves makes another key.
	moved := once(appending(1), "1key", "other content")
	moved.Once.Principal = "per_"
	if f.commit(moved).Replayed {
		t.Error("a key was found across the boundary")
	}
	other.Workspace, other.Events = "ws_other", appending(1).Events
	if f.commit(other).Replayed {
		t.Error("another workspace's key was found")
	}
}

func keysOutliveTheProcess(t *testing.T, f *fixture) {
	want := f.commit(once(appending(1), "ключ 🗝", "content")).Events
	f.commit(appending(5))
	f.reopen()
	r := f.commit(once(appending(1), "ключ 🗝", "content"))
	if diff := cmp.Diff(want, r.Events); !r.Replayed || diff != "" {
		t.Errorf("replay after reopening (-want +got):\n%s", diff)
	}
	f.refuse(fault.Idempotency, once(appending(1), "ключ 🗝", "other content"))
}

func concurrentDuplicatesAppendOnce(t *testing.T, f *fixture) {
	for round := range 4 {
		var mu sync.Mutex
		var appended int
		var events []ledger.Event
		var wg sync.WaitGroup
		for range crowd {
			wg.Go(func() {
				c := once(appending(1), "key "+string(rune('a'+round)), "content")
				if round%2 == 1 {
					c.Cells = []ledger.CellWrite{cell("c", int64(round/2), "x")}
				}
				r, err := f.Commit(t.Context(), c)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				if !r.Replayed {
					appended++
				}
				events = append(events, r.Events...)
			})
		}
		wg.Wait()
		if appended != 1 {
			t.Fatalf("%d of %d duplicates were appended", appended, crowd)
		}
		for _, e := range events {
			if diff := cmp.Diff(events[0], e); diff != "" {
				t.Fatalf("two answers to the same key differ:\n%s", diff)
			}
		}
	}
	if f.head() != 4 {
		t.Errorf("head is %d, want 4", f.head())
	}
}
