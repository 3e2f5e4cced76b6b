package lane

import (
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/journal"
)

// Due returns when time will next change the run, if nothing else does before;
// false for a run that has ended.
func (r RunState) Due(l Limits) (time.Time, bool) {
	if r.Status.Over() {
		return zero, false
	}
	l = l.orDefault()
	var at time.Time
	sooner := func(t time.Time) {
		if at.IsZero() || t.Before(at) {
			at = t
		}
	}
	if !r.Deadline.IsZero() {
		sooner(r.stopAt(l))
	}
	if r.Status.Held() && !r.LeaseUntil.IsZero() {
		sooner(r.LeaseUntil)
	}
	if t, ok := r.silentAt(l); ok {
		sooner(t)
	}
	for _, p := range r.Pending {
		if p.Kind == Input && !p.ExpiresAt.IsZero() {
			sooner(p.ExpiresAt)
		}
	}
	return at, !at.IsZero()
}

// stopAt is when the deadline acts next: it asks the run to stop, or ends it
// after the grace.
func (r RunState) stopAt(l Limits) time.Time {
	if r.Cancel == nil {
		return r.Deadline
	}
	from := r.Deadline
	if r.Cancel.At.After(from) {
		from = r.Cancel.At
	}
	return from.Add(l.Grace)
}

// silentAt is when the patience with a run ends. The server's own runs are
// resumed by the server, whatever happens to it.
func (r RunState) silentAt(l Limits) (time.Time, bool) {
	switch {
	case r.Status == Requested:
		return r.OfferedAt.Add(l.Queue), true
	case r.Holder != nil && r.Holder.ID == journal.Server:
		return zero, false
	case r.Status == Waiting:
		return r.LastAt.Add(l.Queue), true
	}
	return r.LastAt.Add(l.Silence), true
}

// Expire decides what time alone does to a run; false when nothing is due.
//
// The deadline asks the run to stop, and ends it after the grace. A lease that
// lapsed offers the run again under the next attempt, or ends it: failed after
// the last attempt, expired when it must not be repeated or was asked to stop.
// Silence ends it. An input that nobody gave in time counts as cancelled.
func Expire(f RunFacts, now time.Time) (Decision, bool, error) {
	w := begin(f.Workspace, f.NewID, f.Limits, now)
	r, l := w.open(f)
	due, ok := r.Due(w.limits)
	if !ok || w.now.Before(due) {
		return Decision{}, false, nil
	}
	if err := w.expire(r, l, f.Requested); err != nil {
		return Decision{}, false, err
	}
	d, err := w.decide(0, r)
	return d, err == nil, err
}

func (w *work) expire(r *RunCell, l *LaneCell, requested []byte) error {
	past := func(t time.Time) bool { return !w.now.Before(t) }
	if !r.Deadline.IsZero() && past(r.stopAt(w.limits)) {
		if r.Cancel != nil || r.Status == Requested {
			return w.expired(r, l, journal.ByDeadline)
		}
		return w.cancel(r, l, "the deadline has passed")
	}
	if r.Status.Held() && !r.LeaseUntil.IsZero() && past(r.LeaseUntil) {
		return w.lapse(r, l, requested)
	}
	if at, ok := r.silentAt(w.limits); ok && past(at) {
		return w.expired(r, l, journal.BySilence)
	}
	for i, p := range r.Pending {
		if p.Kind == Input && !p.ExpiresAt.IsZero() && past(p.ExpiresAt) {
			w.settle(r, i)
			_, err := w.say(journal.Payload{Type: journal.RunInputGiven, Members: []canon.Member{
				textOf("request_id", p.RequestID), {Name: "cancelled", Value: canon.BoolOf(true)},
			}}, r)
			return err
		}
	}
	return fault.New(fault.Internal, "expire run", "run %s is due for nothing", r.RunID)
}

func (w *work) expired(r *RunCell, l *LaneCell, cause string) error {
	id, err := w.say(journal.Expired(cause), r)
	if err != nil {
		return err
	}
	return w.end(r, l, Expired, id, journal.RunExpired, false)
}

// lapse takes the run from a holder that gave no sign of life.
func (w *work) lapse(r *RunCell, l *LaneCell, requested []byte) error {
	switch {
	case r.NoRetry || r.Cancel != nil || !r.Deadline.IsZero() && !w.now.Before(r.Deadline):
		return w.expired(r, l, journal.ByLease)
	case r.Attempt >= w.limits.Attempts:
		id, err := w.say(journal.Failed("attempts_exhausted", "nobody who accepted the run stayed with it", false), r)
		if err != nil {
			return err
		}
		return w.end(r, l, Failed, id, journal.RunFailed, false)
	}
	before, err := canon.Parse(requested)
	if err != nil {
		return fault.Wrap(err, fault.Corrupt, "offer run", "the request of run %s is damaged", r.RunID)
	}
	r.Attempt++
	r.Status, r.Holder, r.LeaseUntil, r.Pending, r.OfferedAt = Requested, nil, zero, nil, w.now
	l.Active = without(l.Active, r.RunID)
	w.touch(r)
	w.touchLane(l)
	// The same request again, under the next attempt: only a request wakes a harness.
	w.put(next(journal.Draft{Workspace: w.workspace, By: journal.ServerOf(w.workspace)}, before), r)
	return nil
}
