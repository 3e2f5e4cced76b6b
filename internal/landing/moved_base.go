package landing

import (
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
)

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

// MovedBaseSchema is the schema of MovedBaseEvidence.
const MovedBaseSchema = "writ.base-moved-evidence/v1"

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
	c.constant("schema", MovedBaseSchema)
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
