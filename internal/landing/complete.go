package landing

import (
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
)

// CompleteQualificationParams are the fence and the three documents.
type CompleteQualificationParams struct {
	Fence       Fence
	SourceProof canon.Value
	NativeProof canon.Value
	Contract    canon.Value // the order of its members does not matter
}

func (p *CompleteQualificationParams) shape(c *codec) {
	nested(c, "fence", &p.Fence)
	c.tree("sourceProof", &p.SourceProof, false)
	c.tree("nativeProof", &p.NativeProof, false)
	c.tree("qualificationContract", &p.Contract, false)
}

// CompleteQualification releases the lease and records the qualification, when
// all three documents verify and are about this candidate and this lease. The
// receipt of the transition is the qualification receipt.
func CompleteQualification(s State, p CompleteQualificationParams, now time.Time) (Transition, error) {
	p.Fence = p.Fence.normal()
	w, err := begin(s, OpCompleteQualification, &p, now)
	if err != nil {
		return Transition{}, err
	}
	i, err := w.heldLease("complete qualification", p.Fence)
	if err != nil {
		return Transition{}, err
	}
	c := w.find(p.Fence.CandidateID)
	if c.Command == nil {
		return Transition{}, fault.New(fault.State, "complete qualification", "candidate has no native command, so no proof can name one").
			Help("settle this attempt and submit the change with a native command")
	}
	contract, err := verifyEvidence(c, w.Leases[i].Fence(), p)
	if err != nil {
		return Transition{}, err
	}
	receipt := contract.receipt(w.old.StateRoot, w.now)
	body, err := write(w.dialect(), &receipt)
	if err != nil {
		return Transition{}, err
	}
	w.touch(c)
	c.Status = Qualified
	c.Qualification = contract.qualification(canon.Root(body), w.now)
	w.Leases = append(w.Leases[:i:i], w.Leases[i+1:]...)
	w.out.Candidate, w.out.Receipt = c, body
	return w.finish(QualificationCompleted)
}
