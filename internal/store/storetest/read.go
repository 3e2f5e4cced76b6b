package storetest

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/fault"
	"writ/internal/ledger"
)

func pagesCoverTheLog(t *testing.T, f *fixture) {
	var want []ledger.Event
	for range 5 {
		want = append(want, f.commit(appending(50)).Events...)
	}
	for _, limit := range []int{0, 1, 7, 100, 250, 1000} {
		if diff := cmp.Diff(numbers(want), numbers(f.read(ws, ledger.EventQuery{Limit: limit}))); diff != "" {
			t.Errorf("limit %d (-want +got):\n%s", limit, diff)
		}
	}
	p := f.page(ledger.EventQuery{})
	if len(p.Events) != 100 || p.NextAfter != 100 || p.Head != 250 || p.Earliest != 1 {
		t.Errorf("the first page has %d events, then %d of %d..%d", len(p.Events), p.NextAfter, p.Earliest, p.Head)
	}
	if p := f.page(ledger.EventQuery{After: 249}); len(p.Events) != 1 || p.NextAfter != 250 {
		t.Errorf("the last page has %d events, then %d", len(p.Events), p.NextAfter)
	}
	if p := f.page(ledger.EventQuery{After: 250}); len(p.Events) != 0 || p.NextAfter != 250 {
		t.Errorf("the page after the last has %d events, then %d", len(p.Events), p.NextAfter)
	}
	for _, q := range []ledger.EventQuery{{Limit: -1}, {Limit: 1001}, {After: -1}, {MaxBytes: -1}} {
		_, err := f.Events(t.Context(), ws, q)
		f.code(err, fault.Invalid)
	}
}

func pagesEndByBytes(t *testing.T, f *fixture) {
	c := ledger.Commit{Workspace: ws, Now: noon}
	for i := range 20 {
		e := event("message.posted")
		e.Body = bytes.Repeat([]byte("x"), 1000+i)
		c.Events = append(c.Events, e)
	}
	f.commit(c)
	for _, test := range []struct{ bytes, want int }{{1, 1}, {999, 1}, {2000, 1}, {2001, 2}, {10_045, 10}, {10_044, 9}, {1 << 20, 20}} {
		p := f.page(ledger.EventQuery{MaxBytes: test.bytes})
		if len(p.Events) != test.want || p.NextAfter != int64(test.want) {
			t.Errorf("%d bytes: %d events, then %d; want %d", test.bytes, len(p.Events), p.NextAfter, test.want)
		}
	}
	if got := f.read(ws, ledger.EventQuery{MaxBytes: 2500}); len(got) != 20 {
		t.Errorf("pages of 2500 bytes hold %d events", len(got))
	}
	huge := event("message.posted")
	huge.Body = bytes.Repeat([]byte("x"), 5<<20)
	f.commit(ledger.Commit{Workspace: ws, Now: noon, Events: []ledger.NewEvent{huge}})
	if p := f.page(ledger.EventQuery{After: 20}); len(p.Events) != 1 || len(p.Events[0].Body) != 5<<20 {
		t.Errorf("an event beyond the page size: %d events", len(p.Events))
	}
}

// mixed fills the log with events of four types, three runs, two lanes and two
// spaces, some of them in none, and returns them.
func mixed(f *fixture, n int) []ledger.Event {
	var out []ledger.Event
	for i := 0; i < n; {
		c := ledger.Commit{Workspace: ws, Now: noon}
		for ; len(c.Events) < 37 && i < n; i++ {
			e := event([]string{"a", "b", "c", "d"}[i%4])
			if i%5 > 0 {
				e.RunID = fmt.Sprintf("run_%d", i%3)
				e.LaneID = fmt.Sprintf("lane_%d", i%2)
			}
			if i%7 > 0 {
				e.SpaceID = fmt.Sprintf("spc_%d", i/10%2)
			}
			c.Events = append(c.Events, e)
		}
		out = append(out, f.commit(c).Events...)
	}
	return out
}

// numbers are the sequence numbers of events.
func numbers(events []ledger.Event) []int64 {
	out := make([]int64, len(events))
	for i, e := range events {
		out[i] = e.Seq
	}
	return out
}

func matches(q ledger.EventQuery, e ledger.Event) bool {
	typed := len(q.Types) == 0
	for _, t := range q.Types {
		typed = typed || t == e.Type
	}
	return typed && e.Seq > q.After && (q.RunID == "" || q.RunID == e.RunID) &&
		(q.LaneID == "" || q.LaneID == e.LaneID) && (q.SpaceID == "" || q.SpaceID == e.SpaceID)
}

func filtersSelect(t *testing.T, f *fixture) {
	all := mixed(f, 1500)
	for _, q := range []ledger.EventQuery{
		{Types: []string{"b"}},
		{Types: []string{"b", "d", "nothing"}},
		{RunID: "run_1"},
		{RunID: "run_1", After: 700},
		{LaneID: "lane_1"},
		{SpaceID: "spc_1", Limit: 1000},
		{RunID: "run_2", LaneID: "lane_0", SpaceID: "spc_1"},
		{RunID: "run_2", Types: []string{"a"}, Limit: 3},
		{SpaceID: "spc_0", Types: []string{"a", "b"}, After: 1400},
		{RunID: "run_9"},
		{Types: []string{"nothing"}},
		{LaneID: "run_1"}, // a run's id is not a lane's
		{After: 1500, RunID: "run_1"},
	} {
		var want []ledger.Event
		for _, e := range all {
			if matches(q, e) {
				want = append(want, e)
			}
		}
		if diff := cmp.Diff(numbers(want), numbers(f.read(ws, q))); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", q, diff)
		}
	}
	f.sound()
}

func filteredCursorsMoveOn(t *testing.T, f *fixture) {
	f.commit(appending(30))
	lone := event("run.requested")
	lone.RunID = "run_1"
	f.commit(ledger.Commit{Workspace: ws, Now: noon, Events: []ledger.NewEvent{lone}})
	f.commit(appending(30))
	for _, q := range []ledger.EventQuery{{RunID: "run_1"}, {Types: []string{"run.requested"}}} {
		p := f.page(q)
		if len(p.Events) != 1 || p.NextAfter != 61 {
			t.Errorf("%+v: %d events, then %d", q, len(p.Events), p.NextAfter)
		}
		q.Limit = 1
		if p := f.page(q); p.NextAfter != 31 {
			t.Errorf("%+v: a full page goes on after %d", q, p.NextAfter)
		}
		q.After = 31
		if p := f.page(q); len(p.Events) != 0 || p.NextAfter != 61 {
			t.Errorf("%+v: %d events, then %d", q, len(p.Events), p.NextAfter)
		}
	}
}

func cursorAheadFails(t *testing.T, f *fixture) {
	for _, events := range []int{0, 3} {
		if events > 0 {
			f.commit(appending(events))
		}
		_, err := f.Events(t.Context(), ws, ledger.EventQuery{After: int64(events) + 1})
		e, _ := fault.As(err)
		if fault.CodeOf(err) != fault.CursorAhead || e.Get("head") != fmt.Sprint(events) {
			t.Errorf("a cursor ahead of %d events: %v", events, err)
		}
	}
}

func eventsAreFoundByID(t *testing.T, f *fixture) {
	for _, want := range f.commit(appending(3)).Events {
		got, err := f.Event(t.Context(), ws, want.ID)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		_, err = f.Event(t.Context(), "ws_other", want.ID)
		f.code(err, fault.NotFound)
	}
	_, err := f.Event(t.Context(), ws, "evt_nothing")
	f.code(err, fault.NotFound)
}

// readersSeeWhatWasAcknowledged reads behind every acknowledgement, on other
// connections than the writer's.
func readersSeeWhatWasAcknowledged(t *testing.T, f *fixture) {
	var wg sync.WaitGroup
	for g := range 16 {
		wg.Go(func() {
			for n := range 10 {
				c := appending(1)
				c.Cells = []ledger.CellWrite{cell(fmt.Sprint("own", g), int64(n), fmt.Sprint(n))}
				r, err := f.Commit(t.Context(), c)
				if err != nil {
					t.Error(err)
					return
				}
				e, err := f.Event(t.Context(), ws, r.Events[0].ID)
				if err != nil || e.Seq != r.Events[0].Seq {
					t.Errorf("event %d reads as %d, %v", r.Events[0].Seq, e.Seq, err)
				}
				k, err := f.Cell(t.Context(), ws, ledger.CellRun, fmt.Sprint("own", g))
				if err != nil || k.Version != int64(n+1) {
					t.Errorf("cell at version %d reads as %d, %v", n+1, k.Version, err)
				}
				p, err := f.Events(t.Context(), ws, ledger.EventQuery{After: e.Seq - 1, Limit: 1})
				if err != nil || len(p.Events) != 1 || p.Events[0].ID != e.ID || p.Head < e.Seq {
					t.Errorf("page after %d: %+v, %v", e.Seq-1, p, err)
				}
			}
		})
	}
	wg.Wait()
}

func everythingSurvivesClose(t *testing.T, f *fixture) {
	events := mixed(f, 100)
	c := ledger.Commit{Workspace: ws, Now: noon,
		Documents: []ledger.NewDocument{document("a", "{}"), document("b", "[]")},
		Cells:     []ledger.CellWrite{cell("x", 0, "1"), cell("y", 0, "2")}}
	f.commit(c)
	docs, err := f.Documents(t.Context(), ws, ledger.DocumentFilter{})
	if err != nil {
		t.Fatal(err)
	}
	cells, err := f.Cells(t.Context(), ws, ledger.CellFilter{Kind: ledger.CellRun})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		f.reopen()
		if diff := cmp.Diff(events, f.log(ws)); diff != "" {
			t.Fatalf("events (-before +after):\n%s", diff)
		}
		got, err := f.Documents(t.Context(), ws, ledger.DocumentFilter{})
		if diff := cmp.Diff(docs, got); err != nil || diff != "" {
			t.Fatalf("documents %v (-before +after):\n%s", err, diff)
		}
		again, err := f.Cells(t.Context(), ws, ledger.CellFilter{Kind: ledger.CellRun})
		if diff := cmp.Diff(cells, again); err != nil || diff != "" {
			t.Fatalf("cells %v (-before +after):\n%s", err, diff)
		}
		events = append(events, f.commit(appending(1)).Events...)
	}
	f.sound()
}
