package landing

import (
	"reflect"
	"time"

	"writ/internal/fault"
)

// SubmitParams is a change that asks to be qualified and landed.
type SubmitParams struct {
	Submission
	CandidateID string // optional; must be the id that the change gets

	// KeepAge gives the attempt the age of the one before it, which ended without
	// landing (W8: a lost attempt must not cost the place in the queue). Where
	// that would put it before an active candidate that holds one of its domains,
	// it takes the place right behind that one.
	KeepAge bool

	// Archived is the kept chain of this change. Whoever keeps chains MUST hand
	// it in, or the new attempt could take the identity of an old one.
	Archived *Archived
}

func (p *SubmitParams) shape(c *codec) {
	p.Submission.shape(c)
	c.optRoot("candidateId", &p.CandidateID)
	c.optFlag("keepAge", &p.KeepAge)
	optNested(c, "archived", &p.Archived)
}

// Submit adds a candidate at the end of the queue. Submitting the attempt that is
// under way again changes nothing; submitting another one is fault.Active. An
// earlier attempt that has ended is named as predecessor.
func Submit(s State, p SubmitParams, now time.Time) (Transition, error) {
	p.Submission = p.Submission.normal()
	p.CandidateID = lower(p.CandidateID)
	if p.Archived != nil && p.Archived.Root == "" {
		return Transition{}, refuse("/archived/archiveRoot", "is missing")
	}
	w, err := begin(s, OpSubmit, &p, now)
	if err != nil {
		return Transition{}, err
	}
	if err := p.Submission.check(); err != nil {
		return Transition{}, err
	}
	if err := w.restore(p.PullRequestNumber, p.Archived); err != nil {
		return Transition{}, err
	}
	c, err := w.enter(p)
	if err != nil {
		return Transition{}, err
	}
	w.out.Candidate = c
	w.detail(text("candidateId", c.CandidateID), number("pullRequestNumber", c.PullRequestNumber))
	if !w.changed {
		return w.finish(SubmitDuplicate)
	}
	return w.finish(Submitted)
}

// enter appends the candidate, or returns the identical one under way.
func (w *step) enter(p SubmitParams) (*Candidate, error) {
	c := Candidate{
		Repository: w.Repository, ProtectedBase: w.ProtectedBase, Submission: p.Submission,
		EnqueuedAt: w.now, UpdatedAt: w.now, Status: Queued,
		QualificationAttempts: intp(0), LandingOvertakes: intp(0),
	}
	var active, before *Candidate
	for i := range w.Candidates {
		x := &w.Candidates[i]
		switch {
		case x.PullRequestNumber != p.PullRequestNumber:
		case x.Status.Terminal():
			before = x
		default:
			active = x
		}
	}
	if before != nil {
		c.PredecessorCandidateID = before.CandidateID
	}
	if active != nil {
		c.PredecessorCandidateID = active.PredecessorCandidateID
	}
	c.CandidateID = c.identity()
	if p.CandidateID != "" && p.CandidateID != c.CandidateID {
		return nil, fault.New(fault.Invalid, "submit candidate", "candidate id is %s", c.CandidateID).At("/candidateId")
	}
	if active != nil {
		if !sameAttempt(active, &c) {
			return nil, fault.New(fault.Active, "submit candidate", "change %d has another attempt under way, %s",
				p.PullRequestNumber, active.CandidateID).With("candidateId", active.CandidateID).
				Help("settle that attempt first; the new one is then chained to it")
		}
		return active, nil
	}
	if p.KeepAge {
		if before == nil || before.Status == Merged {
			return nil, fault.New(fault.State, "submit candidate", "change %d has no earlier attempt whose age could be kept", p.PullRequestNumber).At("/keepAge")
		}
		c.EnqueuedAt = min(before.EnqueuedAt, w.now)
	}
	w.behindOverlapping(&c)
	w.changed = true
	w.Candidates = append(w.Candidates, c)
	return &w.Candidates[len(w.Candidates)-1], nil
}

// behindOverlapping keeps the invariant that W1 rests on: no active candidate
// holds a domain that an older queued one waits for.
func (w *step) behindOverlapping(c *Candidate) {
	for _, a := range w.with(func(a *Candidate) bool { return a.Status.Active() && overlap(a, c) }) {
		if older(c, a) {
			c.EnqueuedAt = At(a.EnqueuedAt.Time().Add(time.Millisecond))
		}
	}
}

// sameAttempt compares what a producer says, and the id.
func sameAttempt(a, b *Candidate) bool {
	x, y := levelled(a.Submission), levelled(b.Submission)
	return a.CandidateID == b.CandidateID && reflect.DeepEqual(x, y)
}

// levelled levels absent and empty lists and drops what the id covers.
func levelled(s Submission) Submission {
	for _, l := range []*[]string{&s.AffectedPaths, &s.ShardEvidenceRoots, &s.QualificationDomains} {
		if len(*l) == 0 {
			*l = nil
		}
	}
	if s.Command != nil {
		s.Command = &Command{Command: s.Command.Command}
	}
	return s
}
