package landing

import (
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
)

// AdmitParams is the one attempt that will use the warrant, with what admission
// must know about it beyond its own members.
type AdmitParams struct {
	Fence          Fence
	MergeGroupHead string // the commit that will be landed
	Attempt        Attempt

	// JobStartedAt is when the attempt's job began; a GitHub attempt must say so.
	// One that began before the warrant was issued would be stale for every later
	// check, so it is refused here (W4), by the second.
	JobStartedAt Timestamp
	// HeadBranch is the branch of the merge group of a GitHub attempt. It must be
	// the one made for this pull request (W5).
	HeadBranch string
	// SourceContained says that the candidate's head is an ancestor of the merge
	// group head (W5).
	SourceContained bool
	// MergedTree is the tree of the merge group head. A git attempt must give it;
	// it must be the tree that was qualified (W11), or fault.BaseMoved.
	MergedTree string
}

func (p *AdmitParams) shape(c *codec) {
	nested(c, "fence", &p.Fence)
	c.sha("mergeGroupHead", &p.MergeGroupHead)
	nested(c, "providerAttempt", &p.Attempt)
	c.optStamp("jobStartedAt", &p.JobStartedAt)
	c.optText("headBranch", &p.HeadBranch)
	c.boolean("sourceContained", &p.SourceContained)
	c.optSHA("mergedTree", &p.MergedTree)
}

// Admit binds the warrant to one merge group head and one attempt, for life. A
// repeat with the same two changes nothing. The receipt of the transition is the
// admission.
func Admit(s State, p AdmitParams, now time.Time) (Transition, error) {
	const op = "admit merge group"
	p.Fence, p.Attempt, p.MergeGroupHead = p.Fence.normal(), p.Attempt.normal(), lower(p.MergeGroupHead)
	w, err := begin(s, OpAdmit, &p, now)
	if err != nil {
		return Transition{}, err
	}
	if err := w.heldWarrant(op, p.Fence); err != nil {
		return Transition{}, err
	}
	if w.Warrant.ExpiresAt.expired(w.now) {
		return Transition{}, leaseExpired(op, w.Warrant.ExpiresAt)
	}
	c := w.landing()
	if err := admissible(w.State, *c, p); err != nil {
		return Transition{}, err
	}
	w.out.Warrant, w.out.Candidate = w.Warrant, c
	if held := w.Warrant.Admitted; held != nil {
		if held.MergeGroupHead != p.MergeGroupHead {
			return Transition{}, fault.New(fault.Held, op, "warrant is admitted for head %s", held.MergeGroupHead)
		}
		if !held.Attempt.Equal(p.Attempt) {
			return Transition{}, fault.New(fault.Held, op, "warrant is admitted for another attempt").
				Help("settle this attempt; the change can be submitted again with its age kept")
		}
		a, err := RecomputeAdmission(w.State)
		w.out.Receipt = a.Document
		if err != nil {
			return Transition{}, err
		}
		return w.finish(HeadAdmittedDuplicate)
	}
	w.Warrant.Admitted = &AdmittedAttempt{
		MergeGroupHead: p.MergeGroupHead, ExpectedStateRoot: w.old.StateRoot, AdmittedAt: w.now, Attempt: p.Attempt,
	}
	a, err := RecomputeAdmission(w.State)
	if err != nil {
		return Transition{}, err
	}
	w.Warrant.Admitted.AdmissionRoot = a.Root
	w.out.Receipt, w.changed = a.Document, true
	return w.finish(HeadAdmitted)
}

// admissible checks the attempt against the candidate.
func admissible(s State, c Candidate, p AdmitParams) error {
	refused := func(at, format string, args ...any) *fault.Error {
		return fault.New(fault.Evidence, "admit merge group", format, args...).At(at)
	}
	x := p.Attempt.coordinates()
	switch {
	case x.repository != s.Repository || x.base != s.ProtectedBase:
		return refused("/providerAttempt", "attempt is about %s %s", x.repository, x.base)
	case x.sourceHead != c.SourceHead:
		return refused("/providerAttempt/sourceHead", "attempt lands head %s, not %s", x.sourceHead, c.SourceHead)
	case x.mergeGroupHead != p.MergeGroupHead:
		return refused("/providerAttempt/mergeGroupHead", "attempt is of merge group head %s", x.mergeGroupHead)
	case !p.SourceContained: // W5
		return refused("/sourceContained", "merge group does not contain the candidate's head")
	case p.JobStartedAt == "" && p.Attempt.GitHub != nil: // W4
		return refused("/jobStartedAt", "start of the job is not known")
	case p.JobStartedAt != "" && p.JobStartedAt.second() < s.Warrant.IssuedAt.second(): // W4
		return refused("/jobStartedAt", "job began at %s, before the warrant was issued at %s", p.JobStartedAt, s.Warrant.IssuedAt).
			Help("start a new job after the warrant was granted")
	case p.Attempt.GitHub != nil && !groupBelongs(p.HeadBranch, s.ProtectedBase, c.PullRequestNumber): // W5
		return refused("/headBranch", "%q is not the merge group of pull request %d", p.HeadBranch, c.PullRequestNumber)
	case p.MergedTree == "" && p.Attempt.Git != nil: // W11
		return refused("/mergedTree", "tree of the merge is not known")
	}
	if p.MergedTree == "" {
		return nil
	}
	got, err := ClosureRoot(p.MergedTree)
	if err != nil {
		return err
	}
	if got != c.ClosureRoot { // W11
		return fault.New(fault.BaseMoved, "admit merge group", "merge gives tree %s, which is not the one that was qualified", p.MergedTree).
			With("mergedTree", p.MergedTree).With("closureRoot", got).
			Help("release the warrant for the moved base; the change keeps its age and is qualified again")
	}
	return nil
}

// AdmissionRecord is an admission with its root.
type AdmissionRecord struct {
	Document canon.Value
	Root     string
}

// RecomputeAdmission makes the admission of the held warrant again, out of the
// state alone. The original never does; a verifier compares its root.
func RecomputeAdmission(s State) (AdmissionRecord, error) {
	c := s.landing()
	if c == nil || s.Warrant.Admitted == nil {
		return AdmissionRecord{}, fault.New(fault.State, "recompute admission", "no attempt has been admitted")
	}
	a := Admission{
		Repository: s.Repository, ProtectedBase: s.ProtectedBase, CandidateID: c.CandidateID,
		PullRequestNumber: c.PullRequestNumber, SourceHead: c.SourceHead,
		MergeGroupHead: s.Warrant.Admitted.MergeGroupHead,
		Token:          s.Warrant.Token, Generation: s.Warrant.Generation,
		ExpectedOldStateRoot: s.Warrant.Admitted.ExpectedStateRoot,
		AdmittedAt:           s.Warrant.Admitted.AdmittedAt, Attempt: s.Warrant.Admitted.Attempt,
	}
	v, err := write(s.dialect(), &a)
	if err != nil {
		return AdmissionRecord{}, err
	}
	return AdmissionRecord{Document: v, Root: canon.Root(v)}, nil
}

// Admission says which attempt received the landing authority, under which
// fence and on top of which state. Its root is kept on the warrant.
type Admission struct {
	Repository           string
	ProtectedBase        string
	CandidateID          string
	PullRequestNumber    int64
	SourceHead           string
	MergeGroupHead       string
	Token                string
	Generation           int64
	ExpectedOldStateRoot string
	AdmittedAt           Timestamp
	Attempt              Attempt
}

func (a *Admission) shape(c *codec) {
	c.constant("schema", admissionSchema)
	c.flag("admitted", true)
	c.constant("authority", "exclusive-landing-warrant")
	c.repository("repository", &a.Repository)
	c.base("protectedBase", &a.ProtectedBase)
	c.root("candidateId", &a.CandidateID)
	c.positive("pullRequestNumber", &a.PullRequestNumber)
	c.sha("sourceHead", &a.SourceHead)
	c.sha("mergeGroupHead", &a.MergeGroupHead)
	c.root("landingWarrantToken", &a.Token)
	c.positive("landingWarrantGeneration", &a.Generation)
	c.root("expectedOldStateRoot", &a.ExpectedOldStateRoot)
	c.stamp("admittedAt", &a.AdmittedAt)
	nested(c, "providerAttempt", &a.Attempt)
}

// Fence returns the fence that the admission is bound to.
func (a Admission) Fence() Fence { return Fence{a.CandidateID, a.Token, a.Generation} }

// ParseAdmission reads an admission document and returns its root beside it.
func ParseAdmission(v canon.Value) (Admission, string, error) {
	var a Admission
	if err := read(nil, v, &a); err != nil {
		return Admission{}, "", err
	}
	return a, canon.Root(v), nil
}
