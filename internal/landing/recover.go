package landing

import (
	"time"

	"writ/internal/canon"
)

// RecoverParams is empty: what is recovered follows from the state and now.
type RecoverParams struct{}

func (*RecoverParams) shape(*codec) {}

// Recover ends expired qualification leases and reports an expired landing
// warrant, which it never releases: its attempt may still be pushing.
func Recover(s State, now time.Time) (Transition, error) {
	w, err := begin(s, OpRecover, &RecoverParams{}, now)
	if err != nil {
		return Transition{}, err
	}
	recovered := w.recoverLeases() != nil
	stop := w.Warrant != nil && w.Warrant.ExpiresAt.expired(w.now)
	if stop {
		w.detail(text("retainedExpiredLandingToken", w.Warrant.Token))
	}
	switch {
	case recovered && stop:
		return w.finish(RecoveredStopRequired)
	case recovered:
		return w.finish(Recovered)
	case stop:
		return w.finish(WarrantExpired)
	}
	return w.finish(NothingExpired)
}

// RequeueParams names qualified candidates whose qualification no longer counts.
type RequeueParams struct {
	QualifiedBefore Timestamp // all that were qualified earlier than this; "" none
	CandidateID     string    // and this one; "" none
}

func (p *RequeueParams) shape(c *codec) {
	c.optStamp("qualifiedBefore", &p.QualifiedBefore)
	c.optRoot("candidateId", &p.CandidateID)
}

// RequeueQualified sends qualified candidates back to their place in the queue,
// to be qualified again, because a qualification has no end of its own (W12). It
// also frees a document that an older writer drove into the deadlock of W1.
func RequeueQualified(s State, p RequeueParams, now time.Time) (Transition, error) {
	p.CandidateID = lower(p.CandidateID)
	w, err := begin(s, OpRequeue, &p, now)
	if err != nil {
		return Transition{}, err
	}
	stale := w.with(func(c *Candidate) bool {
		return c.Status == Qualified && (c.CandidateID == p.CandidateID || c.Qualification.QualifiedAt < p.QualifiedBefore)
	})
	ids := make([]string, len(stale))
	for i, c := range stale {
		w.touch(c)
		c.Status, c.Qualification = Queued, nil
		ids[i] = c.CandidateID
	}
	w.detail(value("requeued", canon.MustFrom(ids)))
	if len(stale) == 0 {
		return w.finish(NothingToRequeue)
	}
	return w.finish(Requeued)
}
