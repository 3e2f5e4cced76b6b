package landing

import (
	"time"

	"writ/internal/fault"
)

// LeaseLandingParams asks for the warrant for whoever is next.
type LeaseLandingParams struct {
	LeaseSeconds int64 // 0: the policy's time; never more than that
}

func (p *LeaseLandingParams) shape(c *codec) { c.optNumber("leaseSeconds", &p.LeaseSeconds) }

// LeaseLanding grants the exclusive warrant to the oldest qualified candidate
// that fairness allows. While a warrant is held the same one is returned; an
// expired one is only reported, because its attempt may still be pushing.
func LeaseLanding(s State, p LeaseLandingParams, now time.Time) (Transition, error) {
	w, err := begin(s, OpLeaseLanding, &p, now)
	if err != nil {
		return Transition{}, err
	}
	duration, err := seconds(p.LeaseSeconds, w.Policy.LandingLeaseSeconds)
	if err != nil {
		return Transition{}, err
	}
	if held := w.Warrant; held != nil {
		w.detail(text("candidateId", held.CandidateID), text("landingWarrantToken", held.Token))
		if held.ExpiresAt.expired(w.now) {
			return w.finish(WarrantExpired)
		}
		w.out.Warrant = held
		return w.finish(WarrantRetained)
	}
	c, blocked := w.landingOrder(w.old.StateRoot)
	switch {
	case c != nil:
		w.grantWarrant(c, duration)
		return w.finish(WarrantAcquired)
	case len(blocked) > 0:
		w.reasons(blocked)
		return w.finish(WarrantBlocked)
	}
	return w.finish(NothingQualified)
}

func (w *step) grantWarrant(c *Candidate, duration int64) {
	w.LandingCounter++
	w.Warrant = &Warrant{
		CandidateID: c.CandidateID, Generation: w.LandingCounter,
		Token:    w.token(warrantSchema, c.CandidateID, w.LandingCounter),
		IssuedAt: w.now, HeartbeatAt: w.now, ExpiresAt: w.now.plus(duration),
	}
	w.touch(c).Status = Landing
	for _, o := range w.with(func(o *Candidate) bool { return !o.Status.Terminal() && older(o, c) }) {
		o.LandingOvertakes = intp(o.Overtakes() + 1)
	}
	w.out.Warrant, w.out.Candidate = w.Warrant, c
	w.detail(text("candidateId", c.CandidateID), text("landingWarrantToken", w.Warrant.Token),
		number("landingWarrantGeneration", w.Warrant.Generation), text("expiresAt", string(w.Warrant.ExpiresAt)))
}

// heldWarrant checks the fence of the warrant. Expiry is the caller's question.
func (w *step) heldWarrant(op string, f Fence) error {
	switch {
	case w.Warrant == nil:
		return fault.New(fault.StaleToken, op, "no landing warrant is held")
	case w.Warrant.Token != f.Token:
		return fault.New(fault.StaleToken, op, "this is not the token of the landing warrant")
	case w.Warrant.Generation != f.Generation:
		return fault.New(fault.Fenced, op, "warrant has generation %d, not %d", w.Warrant.Generation, f.Generation)
	case w.Warrant.CandidateID != f.CandidateID:
		return fault.New(fault.Fenced, op, "warrant is held by %s", w.Warrant.CandidateID)
	}
	return nil
}
