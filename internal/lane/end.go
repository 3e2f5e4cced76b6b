package lane

import (
	"slices"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/journal"
	"writ/internal/ledger"
)

// outcomeOf is how a lane ends whose last run ended so.
var outcomeOf = map[Status]string{
	Completed: journal.OutcomeDone,
	Failed:    journal.OutcomeFailed,
	Cancelled: journal.OutcomeCancelled,
	Expired:   journal.OutcomeExpired,
	Declined:  journal.OutcomeDeclined,
}

// end makes an event the terminal one of a run that has not ended. The lane
// closes with its last run, unless another run may follow.
func (w *work) end(r *RunCell, l *LaneCell, to Status, eventID, eventType string, mayFollow bool) error {
	r.Status = to
	r.End = &End{EventID: eventID, Type: eventType, At: w.now}
	r.Pending = nil
	r.LeaseUntil = zero
	w.touch(r)
	l.Runs, l.Active = without(l.Runs, r.RunID), without(l.Active, r.RunID)
	w.touchLane(l)
	if len(l.Runs) > 0 || mayFollow {
		return nil
	}
	return w.closeLane(l, outcomeOf[to])
}

// closeLane closes an open lane without runs and asks everything below to stop.
func (w *work) closeLane(l *LaneCell, outcome string) error {
	if err := w.closing(l, outcome); err != nil {
		return err
	}
	_, err := w.sayOf(journal.Closed(l.LaneID, outcome), journal.IDs{Space: l.SpaceID, Lane: l.LaneID})
	if err != nil {
		return err
	}
	return w.closed(l)
}

// closing moves the lane's state.
func (w *work) closing(l *LaneCell, outcome string) error {
	if l.Status != Open || len(l.Runs) > 0 {
		return fault.New(fault.Internal, "close lane", "lane %s is not ready to close", l.LaneID)
	}
	l.Status, l.Outcome, l.ClosedAt = Closed, outcome, w.now
	w.touchLane(l)
	if w.root.Tree == nil {
		return fault.New(fault.Corrupt, "close lane", "run %s is no root", w.root.RunID)
	}
	w.root.Tree.OpenLanes--
	w.touch(w.root)
	return nil
}

// closed does what follows lane.closed: the lane's own agents retire, and what
// is open below is asked to stop.
func (w *work) closed(l *LaneCell) error {
	for _, id := range l.Minted {
		p := journal.Payload{Type: journal.AgentRetired, Members: []canon.Member{textOf("agent_id", id)}}
		if _, err := w.sayOf(p, journal.IDs{Space: l.SpaceID, Lane: l.LaneID}); err != nil {
			return err
		}
		w.cells = append(w.cells, ledger.CellWrite{Kind: ledger.CellParticipant, Key: id, Expect: ledger.AnyVersion, State: "retired", Delete: true})
	}
	for _, b := range w.below {
		if b.lane.Status != Open || !b.lane.below(l.LaneID) {
			continue
		}
		if err := w.stop(b); err != nil {
			return err
		}
	}
	return nil
}

// stop asks the runs of a lane to stop because a lane above has closed. A run
// that nobody works on ends at once, and a lane without runs closes.
func (w *work) stop(b branch) error {
	const why = "the lane above has closed"
	for _, r := range b.runs {
		if r.Status.Over() || r.Cancel != nil {
			continue
		}
		if err := w.cancel(r, b.lane, why); err != nil {
			return err
		}
	}
	if b.lane.Status == Open && len(b.lane.Runs) == 0 {
		return w.closeLane(b.lane, journal.OutcomeCancelled)
	}
	return nil
}

// cancel asks a run to stop in the server's name.
func (w *work) cancel(r *RunCell, l *LaneCell, why string) error {
	if _, err := w.say(journal.CancelRequested(journal.Server, why), r); err != nil {
		return err
	}
	r.Cancel = &Cancel{By: journal.Server, At: w.now, Reason: why}
	w.touch(r)
	return w.cancelIfIdle(r, l, why)
}

// cancelIfIdle ends a run that was asked to stop before anybody worked on it.
func (w *work) cancelIfIdle(r *RunCell, l *LaneCell, why string) error {
	if r.Status != Requested {
		return nil
	}
	id, err := w.say(journal.Cancelled(why), r)
	if err != nil {
		return err
	}
	return w.end(r, l, Cancelled, id, journal.RunCancelled, false)
}

// mayEnter returns nil when the run may be worked on now: a lane works on one
// run at a time, and on a further one only when it was asked for from there.
func mayEnter(r *RunCell, l *LaneCell) error {
	for _, id := range l.Active {
		if id != r.RunID && !slices.Contains(r.Path, id) {
			return fault.New(fault.Held, "accept run", "the lane works on run %s", id).With("run_id", id).
				Help("accept this run when that one has ended")
		}
	}
	return nil
}
