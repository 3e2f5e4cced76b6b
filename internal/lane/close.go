package lane

import (
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/journal"
)

// LaneFacts is what a decision about a lane as such needs to know.
type LaneFacts struct {
	Workspace string
	Lane      LaneCell
	Parent    *LaneCell // the lane above; nil for a root lane
	Root      RunCell
	Runs      []RunCell // of the lane, that have not ended
	Below     []Branch
	NewID     Minter
	Limits    Limits
}

func (f LaneFacts) open(now time.Time) (*work, *LaneCell) {
	w := begin(f.Workspace, f.NewID, f.Limits, now)
	l, root := f.Lane, f.Root
	l.LaneState, root.RunState = l.clone(), root.clone()
	w.root = &root
	w.spread(f.Below)
	return w, &l
}

// Close decides on a lane.closed: of a lane that stayed open after a failure
// that could be retried. A lane with a run is closed by that run's end.
func Close(f LaneFacts, d journal.Draft, now time.Time) (Decision, error) {
	w, l := f.open(now)
	_, actor, _ := d.Actor()
	switch {
	case l.Status != Open:
		return Decision{}, fault.New(fault.State, "close lane", "lane %s is closed already", l.LaneID).With("outcome", l.Outcome)
	case len(l.Runs) > 0:
		return Decision{}, fault.New(fault.State, "close lane", "run %s of the lane has not ended", l.Runs[0]).With("run_id", l.Runs[0]).
			Help("ask the run to stop; the lane closes with it")
	case d.By.Works() && actor != l.RequestedBy:
		return Decision{}, fault.New(fault.Forbidden, "close lane", "lane %s was opened by %s", l.LaneID, l.RequestedBy)
	}
	outcome := d.Get("outcome")
	if outcome == "" {
		outcome = journal.OutcomeFailed
	}
	if err := w.closing(l, outcome); err != nil {
		return Decision{}, err
	}
	w.events = append(w.events, d.Stored(journal.Fill{
		ID: w.eventID(d.ID), SpaceID: l.SpaceID, LaneID: l.LaneID, Set: []canon.Member{textOf("outcome", outcome)},
	}))
	if err := w.closed(l); err != nil {
		return Decision{}, err
	}
	return w.decide(0, nil)
}

// SetLevel decides on an autonomy.changed: a person sets the level of a lane, at
// most that of the lane above. The lane's run follows; whatever is below and at
// a higher level goes down with it.
func SetLevel(f LaneFacts, d journal.Draft, now time.Time) (Decision, error) {
	const op = "set autonomy"
	w, l := f.open(now)
	v, _ := d.Value.Get("to")
	to, _ := v.Int()
	switch {
	case l.Status != Open:
		return Decision{}, fault.New(fault.State, op, "lane %s is closed", l.LaneID).At("/scope")
	case f.Parent != nil && to > f.Parent.Autonomy:
		return Decision{}, fault.New(fault.Autonomy, op, "the lane above is at level %d", f.Parent.Autonomy).At("/to").
			Help("raise the lane above first")
	case !d.By.IsServer() && d.By.Kind != journal.Person:
		return Decision{}, fault.New(fault.Forbidden, op, "a person sets the level")
	}
	_, by, _ := d.Actor()
	w.events = append(w.events, d.Stored(journal.Fill{
		ID: w.eventID(d.ID), SpaceID: l.SpaceID, LaneID: l.LaneID,
		Set: []canon.Member{{Name: "from", Value: canon.IntOf(l.Autonomy)}, textOf("by", by)},
	}))
	from := l.Autonomy
	l.Autonomy = to
	w.touchLane(l)
	for _, r := range f.Runs {
		r.RunState = r.clone()
		if r.Autonomy > to || r.Autonomy == from && !r.Flattened {
			w.setLevel(&r, to)
		}
	}
	for _, b := range w.below {
		if b.lane.Status != Open || !b.lane.below(l.LaneID) || b.lane.Autonomy <= to {
			continue
		}
		p := journal.Payload{Type: journal.AutonomyChanged, Members: []canon.Member{
			textOf("scope", b.lane.LaneID), {Name: "from", Value: canon.IntOf(b.lane.Autonomy)},
			{Name: "to", Value: canon.IntOf(to)}, textOf("by", by),
		}}
		if _, err := w.sayOf(p, journal.IDs{Space: b.lane.SpaceID, Lane: b.lane.LaneID}); err != nil {
			return Decision{}, err
		}
		b.lane.Autonomy = to
		w.touchLane(b.lane)
		for _, r := range b.runs {
			if r.Autonomy > to {
				w.setLevel(r, to)
			}
		}
	}
	return w.decide(0, nil)
}

func (w *work) setLevel(r *RunCell, to int64) {
	if r.RunID == w.root.RunID {
		r = w.root // one state, written once
	}
	r.Autonomy = to
	w.touch(r)
}
