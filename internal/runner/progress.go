package runner

import (
	"time"

	"writ/internal/result"
)

// Stage says what an Event is about.
type Stage string

// The stages of a run.
const (
	Calibrating Stage = "calibrating" // a case is run once, to choose an iteration count
	CaseStart   Stage = "case-start"  // the process of a case is about to start
	CaseEnd     Stage = "case-end"    // its results are written
)

// Event is one step of progress.
type Event struct {
	Stage   Stage
	Side    Side // of a session; "" for a single order
	Slot    *int
	Round   *int
	Rounds  int    // of the session; 0 for a single order
	Case    string // as the plan spells it
	Index   int    // of the case in its order
	Cases   int    // of the order
	Done    int    // processes that have ended, over everything
	Total   int    // processes that are planned, over everything
	Elapsed time.Duration
	Left    time.Duration   // estimated from the pace so far; 0 when nothing has ended yet
	Results []result.Result // CaseEnd: one for each quantity
}

// about fills in the case.
func (e Event) about(c planned, cases int) Event {
	e.Case, e.Index, e.Cases = c.name, c.index, cases
	return e
}

// tracker numbers events and estimates the time left.
type tracker struct {
	report  func(Event)
	now     func() time.Time
	started time.Time
	total   int
	done    int
}

func newTracker(report func(Event), now func() time.Time, total int) *tracker {
	return &tracker{report: report, now: now, started: now(), total: total}
}

func (t *tracker) start(ev Event) {
	ev.Stage = CaseStart
	t.send(ev)
}

// ran counts a process that has ended; its results come later.
func (t *tracker) ran() { t.done++ }

func (t *tracker) end(ev Event, results []result.Result) {
	ev.Stage, ev.Results = CaseEnd, results
	t.send(ev)
}

func (t *tracker) send(ev Event) {
	if t.report == nil {
		return
	}
	ev.Done, ev.Total, ev.Elapsed = t.done, t.total, t.now().Sub(t.started)
	if t.done > 0 {
		ev.Left = ev.Elapsed / time.Duration(t.done) * time.Duration(t.total-t.done)
	}
	t.report(ev)
}
