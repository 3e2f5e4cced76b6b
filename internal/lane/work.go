package lane

import (
	"slices"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ident"
	"writ/internal/journal"
	"writ/internal/ledger"
)

// work is a decision being made: states that move, and what was written so far.
// Each state is written once, at the end, on the version it was read at.
type work struct {
	workspace string
	now       time.Time
	newID     Minter
	limits    Limits
	runs      []*RunCell // touched
	lanes     []*LaneCell
	root      *RunCell
	below     []branch
	events    []ledger.NewEvent
	cells     []ledger.CellWrite // of participants
}

type branch struct {
	lane *LaneCell
	runs []*RunCell
}

func begin(workspace string, newID Minter, l Limits, now time.Time) *work {
	return &work{workspace: workspace, newID: newID, limits: l.orDefault(), now: now.UTC().Truncate(time.Millisecond)}
}

// open takes the facts of a run into the work. States are copied: the caller's
// facts do not move.
func (w *work) open(f RunFacts) (run *RunCell, lane *LaneCell) {
	r, l := f.Run, f.Lane
	r.RunState, l.LaneState = r.clone(), l.clone()
	run, lane = &r, &l
	w.root = run
	if f.Root.RunID != r.RunID && f.Root.RunID != "" {
		root := f.Root
		root.RunState = root.clone()
		w.root = &root
	}
	w.spread(f.Below)
	return run, lane
}

func (w *work) spread(below []Branch) {
	for _, b := range below {
		l := b.Lane
		l.LaneState = l.clone()
		next := branch{lane: &l}
		for _, r := range b.Runs {
			r.RunState = r.clone()
			next.runs = append(next.runs, &r)
		}
		w.below = append(w.below, next)
	}
}

func (r RunState) clone() RunState {
	r.Path, r.Pending = slices.Clone(r.Path), slices.Clone(r.Pending)
	r.Holder, r.Cancel, r.Tree, r.End = copied(r.Holder), copied(r.Cancel), copied(r.Tree), copied(r.End)
	return r
}

func (l LaneState) clone() LaneState {
	l.Minted, l.LinkTo, l.Path = slices.Clone(l.Minted), slices.Clone(l.LinkTo), slices.Clone(l.Path)
	l.Runs, l.Active = slices.Clone(l.Runs), slices.Clone(l.Active)
	return l
}

func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	x := *p
	return &x
}

func (w *work) touch(r *RunCell) {
	if !slices.Contains(w.runs, r) {
		w.runs = append(w.runs, r)
	}
}

func (w *work) touchLane(l *LaneCell) {
	if !slices.Contains(w.lanes, l) {
		w.lanes = append(w.lanes, l)
	}
}

// put writes what a client or the host sent, completed with what the server
// owns, and returns the event's id.
func (w *work) put(d journal.Draft, r *RunCell, set ...canon.Member) string {
	e := d.Stored(journal.Fill{ID: w.eventID(d.ID), SpaceID: r.SpaceID, RunID: r.RunID, LaneID: r.LaneID, Set: append(set, attempt(r))})
	w.events = append(w.events, e)
	return e.ID
}

func (w *work) eventID(given string) string {
	if given != "" {
		return given
	}
	return w.newID(ident.Event)
}

func attempt(r *RunCell) canon.Member {
	return canon.Member{Name: "attempt", Value: canon.IntOf(r.Attempt)}
}

func textOf(name, value string) canon.Member {
	return canon.Member{Name: name, Value: canon.StringOf(value)}
}

// say writes an event of the server's own about a run.
func (w *work) say(p journal.Payload, r *RunCell) (string, error) {
	p.Members = append(p.Members[:len(p.Members):len(p.Members)], attempt(r))
	return w.sayOf(p, journal.IDs{Space: r.SpaceID, Run: r.RunID, Lane: r.LaneID})
}

// sayOf writes an event of the server's own.
func (w *work) sayOf(p journal.Payload, ids journal.IDs) (string, error) {
	ids.Event, ids.Workspace = w.newID(ident.Event), w.workspace
	e, err := journal.System(ids, p)
	if err != nil {
		return "", fault.Wrap(err, fault.Internal, "decide", "the server's %s is not valid", p.Type)
	}
	w.events = append(w.events, e)
	return e.ID, nil
}

// decide closes the work.
func (w *work) decide(primary int, run *RunCell) (Decision, error) {
	d := Decision{Events: w.events, Primary: primary}
	for _, r := range w.runs {
		c, err := r.write()
		if err != nil {
			return Decision{}, err
		}
		d.Cells = append(d.Cells, c)
	}
	for _, l := range w.lanes {
		c, err := l.write()
		if err != nil {
			return Decision{}, err
		}
		d.Cells = append(d.Cells, c)
	}
	d.Cells = append(d.Cells, w.cells...)
	if run != nil {
		d.Run = run.RunState
	}
	return d, nil
}

// without removes one string from a list.
func without(list []string, s string) []string {
	return slices.DeleteFunc(list, func(x string) bool { return x == s })
}
