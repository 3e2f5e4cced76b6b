package lane

import (
	"slices"
	"time"

	"writ/internal/fault"
	"writ/internal/journal"
)

// ask opens a question: the run waits until it is answered.
func (w *work) ask(r *RunCell, d journal.Draft, kind, text string) error {
	id := d.Get("request_id")
	if slices.ContainsFunc(r.Pending, func(p Pending) bool { return p.RequestID == id }) {
		return fault.New(fault.State, "ask", "request %s is open already", id).At("/request_id")
	}
	if len(r.Pending) >= w.limits.Pending {
		return fault.New(fault.Budget, "ask", "run %s has %d questions open", r.RunID, len(r.Pending)).Help("wait for an answer first")
	}
	p := Pending{RequestID: id, Kind: kind, Text: text, Ref: d.Get("ref"), Since: w.now}
	if at, ok := journal.ParseInstant(d.Get("expires_at")); ok {
		p.ExpiresAt = at
	}
	r.Pending = append(r.Pending, p)
	r.Status = Waiting
	w.put(d, r)
	w.alive(r)
	return nil
}

// answer closes a question of the kind; the run goes on when none is left.
func (w *work) answer(r *RunCell, id, kind string) error {
	i := slices.IndexFunc(r.Pending, func(p Pending) bool { return p.RequestID == id && p.Kind == kind })
	if i < 0 {
		return fault.New(fault.State, "answer", "run %s does not wait for %s %s", r.RunID, kind, id).At("/request_id").
			Help("it was answered before, or belongs to an attempt that is over")
	}
	if p := r.Pending[i]; !p.ExpiresAt.IsZero() && !w.now.Before(p.ExpiresAt) {
		return fault.New(fault.Expired, "answer", "request %s expired at %s", id, journal.Stamp(p.ExpiresAt)).At("/request_id")
	}
	w.settle(r, i)
	return nil
}

func (w *work) settle(r *RunCell, i int) {
	r.Pending = slices.Delete(r.Pending, i, i+1)
	if len(r.Pending) == 0 {
		r.Status = Running
		r.LastAt = w.now // the silence starts anew: it was not the holder's
	}
	w.touch(r)
}

func (w *work) inputGiven(r *RunCell, d journal.Draft) error {
	if r.heldBy(d.By) && !d.By.IsServer() {
		return fault.New(fault.Forbidden, "answer", "%s asked, somebody else answers", r.Holder.ID)
	}
	if err := w.answer(r, d.Get("request_id"), Input); err != nil {
		return err
	}
	w.put(d, r)
	return nil
}

// decided takes a person's decision. The server writes it on a person's behalf
// once it has accepted that person's signed answer.
func (w *work) decided(r *RunCell, d journal.Draft) error {
	_, by, _ := d.Actor()
	if d.By.Works() {
		return fault.New(fault.AgentApproval, "decide", "a %s cannot decide on an approval", d.By.Kind)
	}
	if d.By.IsServer() {
		if by = d.Get("by"); by == "" || by == journal.Server {
			return fault.New(fault.Event, "decide", "the server decides nothing itself: name the person").At("/by")
		}
	}
	if r.Holder != nil && r.Holder.ID == by {
		return fault.New(fault.SelfApproval, "decide", "%s works on this run", by)
	}
	if err := w.answer(r, d.Get("request_id"), Approval); err != nil {
		return err
	}
	w.put(d, r, textOf("by", by))
	return nil
}

// cancelRequested notes that the run is asked to stop. It moves nothing: an
// ending that was on its way stands. A run that nobody works on ends at once.
func (w *work) cancelRequested(r *RunCell, l *LaneCell, d journal.Draft) error {
	_, by, _ := d.Actor()
	if d.By.Works() && by != r.RequestedBy {
		return fault.New(fault.Forbidden, "cancel run", "%s did not ask for run %s", by, r.RunID).
			Help("who asked for the run, or a person, can ask it to stop")
	}
	if r.Cancel != nil {
		return fault.New(fault.State, "cancel run", "%s asked for it at %s", r.Cancel.By, journal.Stamp(r.Cancel.At)).
			With("by", r.Cancel.By).Help("the holder stops in its own time")
	}
	if d.By.IsServer() && d.Get("by") != "" {
		by = d.Get("by")
	}
	r.Cancel = &Cancel{By: by, At: w.now, Reason: d.Get("reason")}
	w.touch(r)
	w.put(d, r, textOf("by", by))
	return w.cancelIfIdle(r, l, r.Cancel.Reason)
}

// Renew prolongs the lease of a run: a sign of life without an event. It writes
// nothing to the journal.
func Renew(f RunFacts, p journal.Principal, attempt int64, now time.Time) (Decision, error) {
	w := begin(f.Workspace, f.NewID, f.Limits, now)
	r, _ := w.open(f)
	if r.Status.Over() {
		return Decision{}, over(r)
	}
	if err := holds(r, journal.Draft{By: p, Attempt: attempt}); err != nil {
		return Decision{}, err
	}
	if !r.LeaseUntil.IsZero() {
		r.LeaseUntil = w.now.Add(w.limits.Lease)
		w.touch(r)
	}
	return w.decide(0, r)
}
