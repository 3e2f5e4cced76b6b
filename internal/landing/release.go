package landing

import (
	"time"

	"writ/internal/fault"
)

// ReleaseParams names the warrant by its fence; an expired one needs none.
type ReleaseParams struct {
	Fence *Fence
}

func (p *ReleaseParams) shape(c *codec) { optNested(c, "fence", &p.Fence) }

// ReleaseUnadmitted takes back a warrant that no attempt was admitted for: with
// its fence, or by anyone once it has expired. Its candidate is qualified again
// and keeps its place. Without this a warrant whose attempt never came could be
// neither admitted nor settled nor recovered (W2). Overtakes that the grant cost
// others stay: the bound may be reached early, never late.
func ReleaseUnadmitted(s State, p ReleaseParams, now time.Time) (Transition, error) {
	const op = "release landing warrant"
	if p.Fence != nil {
		f := p.Fence.normal()
		p.Fence = &f
	}
	w, err := begin(s, OpRelease, &p, now)
	if err != nil {
		return Transition{}, err
	}
	if err := w.unadmitted(op, p.Fence); err != nil {
		return Transition{}, err
	}
	c := w.landing()
	w.detail(text("candidateId", c.CandidateID), text("landingWarrantToken", w.Warrant.Token))
	w.release(c)
	return w.finish(WarrantReleased)
}

// unadmitted says whether the warrant may be taken back.
func (w *step) unadmitted(op string, f *Fence) error {
	if f != nil {
		if err := w.heldWarrant(op, *f); err != nil {
			return err
		}
	}
	switch held := w.Warrant; {
	case held == nil:
		return fault.New(fault.State, op, "no landing warrant is held")
	case held.Admitted != nil:
		return fault.New(fault.NoReadback, op, "an attempt was admitted; only a readback of the remote ends it")
	case f == nil && !held.ExpiresAt.expired(w.now):
		return fault.New(fault.Held, op, "warrant is held by %s until %s", held.CandidateID, held.ExpiresAt).
			With("expiresAt", string(held.ExpiresAt)).Help("wait until it expires, or give its fence")
	}
	return nil
}

func (w *step) release(c *Candidate) {
	w.touch(c).Status = Qualified
	w.Warrant, w.out.Candidate = nil, c
}
