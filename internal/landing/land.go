package landing

import (
	"time"

	"writ/internal/canon"
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

// Liveness is what shows that an admitted attempt still runs. A GitHub attempt
// gives the states that the provider reports, a git attempt the runner that calls.
type Liveness struct {
	RunStatus     string // GitHub: in_progress
	RunConclusion string // GitHub: empty while it runs
	JobStatus     string
	JobConclusion string
	JobStartedAt  Timestamp
	PullHead      string // GitHub: current head of the pull request
	RunnerID      string // git: who calls
}

func (l *Liveness) shape(c *codec) {
	c.optText("runStatus", &l.RunStatus)
	c.optText("runConclusion", &l.RunConclusion)
	c.optText("jobStatus", &l.JobStatus)
	c.optText("jobConclusion", &l.JobConclusion)
	c.optStamp("jobStartedAt", &l.JobStartedAt)
	c.optSHA("pullRequestHead", &l.PullHead)
	c.optText("runnerId", &l.RunnerID)
}

// HeartbeatLandingParams renews the warrant for the admitted attempt.
type HeartbeatLandingParams struct {
	Fence        Fence
	Attempt      Attempt
	Live         Liveness
	LeaseSeconds int64
}

func (p *HeartbeatLandingParams) shape(c *codec) {
	nested(c, "fence", &p.Fence)
	nested(c, "providerAttempt", &p.Attempt)
	nested(c, "live", &p.Live)
	c.optNumber("leaseSeconds", &p.LeaseSeconds)
}

// HeartbeatLanding renews the warrant of an admitted attempt that still runs.
// Before admission there is no heartbeat.
func HeartbeatLanding(s State, p HeartbeatLandingParams, now time.Time) (Transition, error) {
	const op = "renew landing warrant"
	p.Fence, p.Attempt = p.Fence.normal(), p.Attempt.normal()
	w, err := begin(s, OpHeartbeatLanding, &p, now)
	if err != nil {
		return Transition{}, err
	}
	duration, err := seconds(p.LeaseSeconds, w.Policy.LandingLeaseSeconds)
	if err != nil {
		return Transition{}, err
	}
	if err := w.heldWarrant(op, p.Fence); err != nil {
		return Transition{}, err
	}
	switch held := w.Warrant; {
	case held.ExpiresAt.expired(w.now):
		return Transition{}, leaseExpired(op, held.ExpiresAt)
	case held.Admitted == nil:
		return Transition{}, fault.New(fault.State, op, "no attempt has been admitted")
	case !held.Admitted.Attempt.Equal(p.Attempt):
		return Transition{}, fault.New(fault.Fenced, op, "another attempt was admitted")
	}
	if err := alive(*w.Warrant, *w.landing(), p.Live, w.now); err != nil {
		return Transition{}, err
	}
	w.out.Warrant = w.Warrant
	w.detail(text("candidateId", w.Warrant.CandidateID), text("landingWarrantToken", w.Warrant.Token))
	if w.Warrant.HeartbeatAt == w.now {
		return w.finish(WarrantRenewedDup)
	}
	w.Warrant.HeartbeatAt, w.Warrant.ExpiresAt, w.changed = w.now, w.now.plus(duration), true
	w.detail(text("expiresAt", string(w.Warrant.ExpiresAt)))
	return w.finish(WarrantRenewed)
}

func alive(w Warrant, c Candidate, l Liveness, now Timestamp) error {
	refused := func(format string, args ...any) error {
		return fault.New(fault.Evidence, "renew landing warrant", format, args...).At("/live")
	}
	if git := w.Admitted.Attempt.Git; git != nil {
		if l.RunnerID != git.RunnerID {
			return refused("runner %q is not the admitted %q", l.RunnerID, git.RunnerID)
		}
		return nil
	}
	switch {
	case l.RunStatus != "in_progress" || l.RunConclusion != "":
		return refused("run is %s %s, not in progress", l.RunStatus, l.RunConclusion)
	case l.JobStatus != "in_progress" || l.JobConclusion != "":
		return refused("job is %s %s, not in progress", l.JobStatus, l.JobConclusion)
	case l.PullHead != c.SourceHead:
		return refused("pull request is at %s, not at %s", l.PullHead, c.SourceHead)
	case l.JobStartedAt == "" || l.JobStartedAt.second() < w.IssuedAt.second() || l.JobStartedAt > now: // W4
		return refused("job began at %q, outside of the warrant", l.JobStartedAt)
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
