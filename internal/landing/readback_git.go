package landing

import (
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
)

// GitFacts is what a plain git remote shows after an admitted attempt of ours.
// Commits and trees are 40 hex digits.
type GitFacts struct {
	State       State  // the state that will be settled
	BuiltOn     string // base head that the admitted merge commit was built on: its first parent
	BaseHead    string // base head as it is now
	Contained   bool   // the admitted merge commit is that head or an ancestor of it
	LandedTree  string // tree of the merge commit, read from the remote; "" when not contained
	FenceBefore string // object that the fence ref named at admission; "" when there was none
	FenceHead   string // object that the fence ref names now
	CancelAsked bool
	ObservedAt  time.Time
}

// SealGit makes the readback of a plain git attempt. Only a forge may call it.
// The outcome follows from the remote: contained is merged; else a base that
// moved is dequeued; else a cancel that was asked for is cancelled; else
// terminal-failure. An attempt that did not land is sealed only when its fence
// was advanced before, so that whoever still holds it can never push. A landed
// tree other than the qualified one is refused with fault.Evidence.
func SealGit(f GitFacts) (Readback, error) {
	const op = "seal readback"
	s := &f.State
	c, w, err := admitted(s, op)
	if err != nil {
		return Readback{}, err
	}
	a := w.Admitted.Attempt.Git
	if a == nil {
		return Readback{}, fault.New(fault.State, op, "the admitted attempt is not one on plain git")
	}
	if !f.Contained && (f.FenceHead == "" || f.FenceHead == f.FenceBefore) {
		return Readback{}, fault.New(fault.Fenced, op, "attempt did not land and its fence was not advanced").
			Help("advance refs/writ/fence of the base, then read back again")
	}
	if f.Contained {
		got, err := ClosureRoot(f.LandedTree)
		if err != nil {
			return Readback{}, err
		}
		if got != c.ClosureRoot {
			return Readback{}, fault.New(fault.Evidence, op, "landed tree %s is not the one that was qualified", f.LandedTree).At("/landedTree")
		}
	}
	outcome := TerminalFailure
	switch {
	case f.Contained:
		outcome = Merged
	case f.BaseHead != f.BuiltOn:
		outcome = Dequeued
	case f.CancelAsked:
		outcome = Cancelled
	}
	d := s.dialect()
	return seal(d, &gitReadback{
		ids: d.git, Repository: s.Repository, ProtectedBase: s.ProtectedBase, StateRoot: s.StateRoot,
		CandidateID: c.CandidateID, Fence: gitFence{w.Token, w.Generation}, Attempt: *a,
		AdmissionRoot: w.Admitted.AdmissionRoot, BaseHead: f.BaseHead, Contained: f.Contained,
		LandedTree: f.LandedTree, FenceHead: f.FenceHead, Outcome: outcome, ObservedAt: At(f.ObservedAt),
	})
}

// gitReadback is the document of a plain git attempt. landedTree is there
// exactly when contained is true.
type gitReadback struct {
	ids           readbackIDs
	Repository    string
	ProtectedBase string
	StateRoot     string
	CandidateID   string
	Fence         gitFence
	Attempt       GitAttempt
	AdmissionRoot string
	BaseHead      string
	Contained     bool
	LandedTree    string
	FenceHead     string
	Outcome       Status
	ObservedAt    Timestamp
	EvidenceRoot  string
	Root          string
}

type gitFence struct {
	Token      string
	Generation int64
}

func (f *gitFence) shape(c *codec) {
	c.root("token", &f.Token)
	c.positive("generation", &f.Generation)
}

func (r *gitReadback) shape(c *codec) {
	c.constant("schema", r.ids.Readback)
	r.facts(c)
	c.derived("evidenceRoot", &r.EvidenceRoot, r.evidence)
	c.self("readbackRoot", &r.Root)
}

func (r *gitReadback) facts(c *codec) {
	c.repository("repository", &r.Repository)
	c.base("protectedBase", &r.ProtectedBase)
	c.root("stateRoot", &r.StateRoot)
	c.root("candidateId", &r.CandidateID)
	nested(c, "fence", &r.Fence)
	nested(c, "attempt", &r.Attempt)
	c.root("admissionRoot", &r.AdmissionRoot)
	c.sha("baseHead", &r.BaseHead)
	c.boolean("contained", &r.Contained)
	c.optSHA("landedTree", &r.LandedTree)
	if c.err == nil && r.Contained != (r.LandedTree != "") {
		c.fail("landedTree", "is there exactly when the merge is contained")
	}
	c.optSHA("fenceHead", &r.FenceHead)
	oneOf(c, "outcome", &r.Outcome, outcomes...)
	if c.err == nil && r.Contained != (r.Outcome == Merged) {
		c.fail("outcome", "does not follow from the base")
	}
	if c.err == nil && !r.Contained && r.FenceHead == "" {
		c.fail("fenceHead", "is missing though the attempt did not land")
	}
	c.stamp("observedAt", &r.ObservedAt)
}

// evidence is the root of the same facts under the evidence schema.
func (r *gitReadback) evidence() string {
	c := &codec{}
	c.constant("schema", r.ids.Evidence)
	r.facts(c)
	if c.err != nil {
		return ""
	}
	return canon.Root(object(c.out...))
}

// gitReasons are the words kept in the terminal record.
var gitReasons = map[Status]string{
	Merged: "merged", Dequeued: ReasonBaseMoved, Cancelled: "cancelled", TerminalFailure: "landing-failed",
}

func (r *gitReadback) view() ReadbackView {
	return ReadbackView{
		Kind: GitReadback, Repository: r.Repository, ProtectedBase: r.ProtectedBase, StateRoot: r.StateRoot,
		CandidateID: r.CandidateID, Fence: Fence{r.CandidateID, r.Fence.Token, r.Fence.Generation},
		Attempt: Attempt{Git: &r.Attempt}, AdmissionRoot: r.AdmissionRoot, SourceHead: r.Attempt.SourceHead,
		BaseHead: r.BaseHead, Contained: r.Contained, LandedTree: r.LandedTree, FenceHead: r.FenceHead,
		Outcome: r.Outcome, Reason: gitReasons[r.Outcome], ObservedAt: r.ObservedAt,
		EvidenceRoot: r.EvidenceRoot, Root: r.Root,
	}
}
