package lane

import (
	"slices"
	"strconv"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/journal"
)

var zero time.Time

// Apply decides on one event about a run that exists: everything but the
// request itself, the hand-off (HandOff) and what time brings (Expire).
//
// Errors: fault.RunTerminal with event_id and type of the ending that stands,
// fault.Fenced with the current attempt, fault.Held with the holder,
// fault.State when the step is not possible from here, fault.Forbidden when it
// is somebody else's to take.
func Apply(f RunFacts, d journal.Draft, now time.Time) (Decision, error) {
	return ApplyAll(f, []journal.Draft{d}, now)
}

// ApplyAll decides on several events about one run, in order, as one commit.
// The first of them is the primary one.
func ApplyAll(f RunFacts, drafts []journal.Draft, now time.Time) (Decision, error) {
	w := begin(f.Workspace, f.NewID, f.Limits, now)
	r, l := w.open(f)
	for _, d := range drafts {
		if d.RunID != r.RunID {
			return Decision{}, fault.New(fault.Internal, "apply event", "facts of run %s, event of run %s", r.RunID, d.RunID)
		}
		if err := w.apply(r, l, d); err != nil {
			return Decision{}, err
		}
	}
	return w.decide(0, r)
}

func (w *work) apply(r *RunCell, l *LaneCell, d journal.Draft) error {
	if r.Status.Over() {
		return over(r)
	}
	switch d.Type {
	case journal.RunAccepted:
		return w.accept(r, l, d)
	case journal.RunDeclined:
		return w.decline(r, l, d)
	case journal.RunInputGiven:
		return w.inputGiven(r, d)
	case journal.RunApprovalDecided:
		return w.decided(r, d)
	case journal.RunCancelRequested:
		return w.cancelRequested(r, l, d)
	}
	if err := holds(r, d); err != nil {
		return err
	}
	switch d.Type {
	case journal.RunStarted:
		if r.Status != Accepted {
			return wrongState(r, "start", "a run starts once, after it was accepted")
		}
		r.Status = Running
		w.put(d, r)
	case journal.RunProgress:
		return w.progress(r, d)
	case journal.RunInputRequested:
		return w.ask(r, d, Input, d.Get("prompt"))
	case journal.RunApprovalRequested:
		return w.ask(r, d, Approval, d.Get("action"))
	case journal.RunCompleted:
		return w.end(r, l, Completed, w.put(d, r), d.Type, false)
	case journal.RunFailed:
		again, _ := d.Value.Get("retryable")
		retryable, _ := again.Bool()
		return w.end(r, l, Failed, w.put(d, r), d.Type, retryable)
	case journal.RunCancelled:
		if r.Cancel == nil && !d.By.IsServer() {
			return wrongState(r, "cancel", "nobody asked for it; a run that cannot go on fails")
		}
		return w.end(r, l, Cancelled, w.put(d, r), d.Type, false)
	case journal.RunExpired:
		return w.end(r, l, Expired, w.put(d, r), d.Type, false)
	default:
		return fault.New(fault.Internal, "apply event", "%s is not about a run", d.Type)
	}
	w.alive(r)
	return nil
}

// over refuses whatever comes after the ending.
func over(r *RunCell) error {
	e := fault.New(fault.RunTerminal, "apply event", "run %s is %s", r.RunID, r.Status).With("run_id", r.RunID).With("status", string(r.Status))
	if r.End != nil {
		e = e.With("event_id", r.End.EventID).With("type", r.End.Type)
	}
	return e.Help("the first ending stands; ask for a new run")
}

func wrongState(r *RunCell, act, help string) error {
	return fault.New(fault.State, act+" run", "run %s is %s", r.RunID, r.Status).With("status", string(r.Status)).Help("%s", help)
}

// fenced refuses a write of an attempt that is not the current one.
func fenced(r *RunCell, d journal.Draft) error {
	if d.Attempt == r.Attempt || d.By.IsServer() && d.Attempt == 0 {
		return nil
	}
	return fault.New(fault.Fenced, "apply event", "attempt %d is over, run %s is at attempt %d", d.Attempt, r.RunID, r.Attempt).At("/attempt").
		With("attempt", strconv.FormatInt(r.Attempt, 10)).Help("stop this work: it was given to somebody else")
}

// holds checks that the draft comes from whoever works on the run now.
func holds(r *RunCell, d journal.Draft) error {
	if err := fenced(r, d); err != nil {
		return err
	}
	if d.By.IsServer() {
		if !r.Status.Held() && d.Type != journal.RunExpired && d.Type != journal.RunCancelled && d.Type != journal.RunFailed {
			return wrongState(r, "work on", "accept it first")
		}
		return nil
	}
	if !r.Status.Held() {
		return wrongState(r, "work on", "accept it first")
	}
	if !r.heldBy(d.By) {
		return held(r)
	}
	return nil
}

// heldBy reports whether p is the holder, or speaks through the same harness.
func (r RunState) heldBy(p journal.Principal) bool {
	if r.Holder == nil {
		return false
	}
	if p.IsServer() {
		return r.Holder.ID == journal.Server
	}
	return p.Works() && p.Through() != "" && p.Through() == r.Holder.HarnessID
}

func held(r *RunCell) error {
	e := fault.New(fault.Held, "work on run", "run %s is held by %s", r.RunID, r.Holder.ID).With("holder", r.Holder.ID)
	if !r.LeaseUntil.IsZero() {
		e = e.With("lease_until", journal.Stamp(r.LeaseUntil))
	}
	return e
}

// alive notes a sign of life of whoever works on the run, and renews the lease.
func (w *work) alive(r *RunCell) {
	r.LastAt = w.now
	if !r.LeaseUntil.IsZero() {
		r.LeaseUntil = w.now.Add(w.limits.Lease)
	}
	w.touch(r)
}

// accept gives the run to a harness on lease. The server takes a run over from
// whoever holds it, without a lease and under a new attempt, which fences the
// holder before.
func (w *work) accept(r *RunCell, l *LaneCell, d journal.Draft) error {
	kind, id, _ := d.Actor()
	lease := zero
	if d.By.IsServer() {
		if r.Holder != nil && r.Holder.ID == journal.Server {
			return wrongState(r, "accept", "the server works on it already")
		}
		if r.Status.Held() {
			r.Attempt++
			r.Pending = nil
		}
	} else {
		if !mine(r, d.By, id) {
			return fault.New(fault.Forbidden, "accept run", "run %s was asked of %s", r.RunID, r.SpecialistID)
		}
		if err := fenced(r, d); err != nil {
			return err
		}
		if r.Status != Requested {
			return held(r)
		}
		lease = w.now.Add(w.limits.Lease)
	}
	if err := mayEnter(r, l); err != nil {
		return err
	}
	r.Status, r.LeaseUntil = Accepted, lease
	r.Holder = &Holder{Kind: kind, ID: id, HarnessID: d.By.Through()}
	if again, ok := d.Value.Get("retryable"); ok {
		yes, _ := again.Bool()
		r.NoRetry = !yes
	}
	if !slices.Contains(l.Active, r.RunID) {
		l.Active = append(l.Active, r.RunID)
		w.touchLane(l)
	}
	w.alive(r)
	var set []canon.Member
	if !lease.IsZero() {
		set = append(set, textOf("lease_until", journal.Stamp(lease)))
	}
	w.put(d, r, set...)
	return nil
}

// mine reports whether the run was asked of p: of its harness, and where an
// agent is named, of that agent or the harness itself.
func mine(r *RunCell, p journal.Principal, actor string) bool {
	if p.IsServer() {
		return true
	}
	if !p.Works() || p.Through() != r.SpecialistID {
		return false
	}
	return r.AgentID == "" || actor == r.AgentID || p.Kind == journal.Harness && actor == p.ID
}

func (w *work) decline(r *RunCell, l *LaneCell, d journal.Draft) error {
	_, id, _ := d.Actor()
	if !mine(r, d.By, id) {
		return fault.New(fault.Forbidden, "decline run", "run %s was asked of %s", r.RunID, r.SpecialistID)
	}
	if r.Status != Requested {
		return wrongState(r, "decline", "what was accepted completes, fails or is cancelled")
	}
	return w.end(r, l, Declined, w.put(d, r), d.Type, false)
}

// progress reports a step. Within one step a client may report once per pace;
// a new step always goes through.
func (w *work) progress(r *RunCell, d journal.Draft) error {
	step := d.Get("step")
	if wait := r.ProgressAt.Add(w.limits.Pace).Sub(w.now); !d.By.IsServer() && step == r.Step && !r.ProgressAt.IsZero() && wait > 0 {
		return fault.New(fault.RateLimited, "report progress", "one report per %s within a step", w.limits.Pace).
			With("retry_after_ms", strconv.FormatInt(wait.Milliseconds()+1, 10)).Help("send the latest report only")
	}
	if r.Status == Accepted {
		r.Status = Running
	}
	if step != "" {
		r.Step = step
	}
	r.ProgressAt = w.now
	w.put(d, r)
	w.alive(r)
	return nil
}
