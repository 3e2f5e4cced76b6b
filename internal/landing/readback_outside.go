package landing

import (
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
)

// OutsideFacts is a merge that somebody else made, as the remote shows it.
type OutsideFacts struct {
	State       State // the state that will be settled
	CandidateID string
	BaseHead    string
	Contained   bool // the candidate's head is that commit or an ancestor of it
	ObservedAt  time.Time
}

// SealOutside makes the readback of a merge that the authority did not make.
// Without it such a change could never be recorded as merged, and by a caller's
// word alone it must not be (W7). Only a reader of the remote may call it. A
// candidate that is landing needs the readback of its own attempt instead.
func SealOutside(f OutsideFacts) (Readback, error) {
	const op = "seal readback"
	s := &f.State
	if err := s.Check(); err != nil {
		return Readback{}, err
	}
	c := s.find(f.CandidateID)
	switch {
	case c == nil:
		return Readback{}, fault.New(fault.NotFound, op, "no candidate %s", f.CandidateID)
	case c.Status == Landing || c.Status.Terminal():
		return Readback{}, fault.New(fault.State, op, "candidate is %s", c.Status)
	case !f.Contained:
		return Readback{}, fault.New(fault.Evidence, op, "head %s is not part of the base", c.SourceHead)
	}
	return seal(s.dialect(), &outsideReadback{
		schema: s.dialect().outside, Repository: s.Repository, ProtectedBase: s.ProtectedBase, StateRoot: s.StateRoot,
		CandidateID: c.CandidateID, SourceHead: c.SourceHead, BaseHead: f.BaseHead, ObservedAt: At(f.ObservedAt),
	})
}

type outsideReadback struct {
	schema        string
	Repository    string
	ProtectedBase string
	StateRoot     string
	CandidateID   string
	SourceHead    string
	BaseHead      string
	ObservedAt    Timestamp
	EvidenceRoot  string
	Root          string
}

func (r *outsideReadback) shape(c *codec) {
	c.constant("schema", r.schema)
	c.repository("repository", &r.Repository)
	c.base("protectedBase", &r.ProtectedBase)
	c.root("stateRoot", &r.StateRoot)
	c.root("candidateId", &r.CandidateID)
	c.sha("sourceHead", &r.SourceHead)
	c.sha("baseHead", &r.BaseHead)
	c.flag("contained", true)
	c.constant("outcome", string(Merged))
	c.stamp("observedAt", &r.ObservedAt)
	c.derived("evidenceRoot", &r.EvidenceRoot, func() string {
		return canon.Root(object(
			text("schema", "writ.outside-merge-evidence/v1"),
			text("repository", r.Repository),
			text("protectedBase", r.ProtectedBase),
			text("candidateId", r.CandidateID),
			text("sourceHead", r.SourceHead),
		))
	})
	c.self("readbackRoot", &r.Root)
}

func (r *outsideReadback) view() ReadbackView {
	return ReadbackView{
		Kind: OutsideReadback, Repository: r.Repository, ProtectedBase: r.ProtectedBase, StateRoot: r.StateRoot,
		CandidateID: r.CandidateID, SourceHead: r.SourceHead, BaseHead: r.BaseHead, Contained: true, Outcome: Merged,
		Reason: "merged outside of the authority", ObservedAt: r.ObservedAt, EvidenceRoot: r.EvidenceRoot, Root: r.Root,
	}
}
