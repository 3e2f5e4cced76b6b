package landing

import (
	"time"

	"writ/internal/canon"
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

// ReasonBaseMoved is the reason of an attempt that ended because the base moved
// under it.
const ReasonBaseMoved = "base-moved"

// MovedBaseParams is a landing candidate whose merge onto the new base gives
// another tree than the one that was qualified.
type MovedBaseParams struct {
	Fence        Fence
	ObservedBase string // base head that the merge was tried on
	MergedTree   string // tree that it gave
	Next         Submission
}

func (p *MovedBaseParams) shape(c *codec) {
	nested(c, "fence", &p.Fence)
	c.sha("observedBase", &p.ObservedBase)
	c.sha("mergedTree", &p.MergedTree)
	nested(c, "next", &p.Next)
}

// ReleaseForMovedBase does in one step what a moved base asks for: the warrant is
// released, the attempt is settled as dequeued with reason base-moved, and the
// change is submitted again, chained to it and with its age. Next is the new
// submission of the same change; its closure root must be that of the new merged
// tree. The evidence document of the ending is in the transition.
func ReleaseForMovedBase(s State, p MovedBaseParams, now time.Time) (Transition, error) {
	const op = "release for moved base"
	p.Fence, p.Next = p.Fence.normal(), p.Next.normal()
	w, err := begin(s, OpMovedBase, &p, now)
	if err != nil {
		return Transition{}, err
	}
	if err := w.unadmitted(op, &p.Fence); err != nil {
		return Transition{}, err
	}
	if err := p.Next.check(); err != nil {
		return Transition{}, err
	}
	c := w.landing()
	closure, err := ClosureRoot(p.MergedTree)
	switch {
	case err != nil:
		return Transition{}, err
	case closure == c.ClosureRoot:
		return Transition{}, fault.New(fault.State, op, "the merge gives the tree that was qualified").
			Help("admit it: a moved base with an unchanged tree needs no new qualification")
	case p.Next.PullRequestNumber != c.PullRequestNumber:
		return Transition{}, fault.New(fault.Invalid, op, "is change %d, not %d", p.Next.PullRequestNumber, c.PullRequestNumber).At("/next/pullRequestNumber")
	case p.Next.ClosureRoot != closure:
		return Transition{}, fault.New(fault.Evidence, op, "is not the root of the merged tree").At("/next/closureRoot")
	}
	e := MovedBaseEvidence{
		Repository: w.Repository, ProtectedBase: w.ProtectedBase, StateRoot: w.old.StateRoot, Fence: p.Fence,
		QualifiedClosureRoot: c.ClosureRoot, ObservedBase: p.ObservedBase, MergedTree: p.MergedTree, ObservedAt: w.now,
	}
	document, err := write(w.dialect(), &e)
	if err != nil {
		return Transition{}, err
	}
	w.detail(text("candidateId", c.CandidateID), text("landingWarrantToken", w.Warrant.Token), text("evidenceRoot", e.Root))
	w.release(c)
	w.end(c, ending{outcome: Dequeued, evidence: e.Root, reason: ReasonBaseMoved}, Readback{})
	next, err := w.enter(SubmitParams{Submission: p.Next, KeepAge: true})
	if err != nil {
		return Transition{}, err
	}
	w.details = append(w.details[:3:3], text("nextCandidateId", next.CandidateID))
	w.out.Candidate, w.out.Evidence = next, document
	return w.finish(BaseMoved)
}

// MovedBaseEvidence says on which base the merge of a qualified change gave
// another tree.
type MovedBaseEvidence struct {
	Repository           string
	ProtectedBase        string
	StateRoot            string
	Fence                Fence
	QualifiedClosureRoot string
	ObservedBase         string
	MergedTree           string
	ObservedAt           Timestamp
	Root                 string
}

func (e *MovedBaseEvidence) shape(c *codec) {
	c.constant("schema", "writ.base-moved-evidence/v1")
	c.repository("repository", &e.Repository)
	c.base("protectedBase", &e.ProtectedBase)
	c.root("stateRoot", &e.StateRoot)
	nested(c, "fence", &e.Fence)
	c.root("qualifiedClosureRoot", &e.QualifiedClosureRoot)
	c.sha("observedBase", &e.ObservedBase)
	c.sha("mergedTree", &e.MergedTree)
	c.stamp("observedAt", &e.ObservedAt)
	c.self("evidenceRoot", &e.Root)
}

// ParseMovedBaseEvidence reads it and recomputes its root.
func ParseMovedBaseEvidence(v canon.Value) (MovedBaseEvidence, error) {
	var e MovedBaseEvidence
	err := read(nil, v, &e)
	return e, err
}

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
