package landing

import (
	"fmt"
	"slices"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
)

// GitHubFacts is what the provider reports about an admitted attempt that ended.
type GitHubFacts struct {
	State State // the state that will be settled
	GitHubSnapshot
	BaseHead   string // commit of the protected base
	Contained  bool   // the merge group head is that commit or an ancestor of it
	ObservedAt time.Time
}

// SealGitHub makes the readback of a GitHub attempt. Only a reader of the
// provider may call it. It refuses reports about another run, job or pull
// request, an attempt that still runs, and one without a durable outcome yet.
func SealGitHub(f GitHubFacts) (Readback, error) {
	const op = "seal readback"
	s := &f.State
	c, w, err := admitted(s, op)
	if err != nil {
		return Readback{}, err
	}
	a := w.Admitted.Attempt.GitHub
	if a == nil {
		return Readback{}, fault.New(fault.State, op, "the admitted attempt is not GitHub's")
	}
	at := At(f.ObservedAt)
	if err := f.isOf(op, s, c, a); err != nil {
		return Readback{}, err
	}
	if err := hold(op, fact{"run status", f.Run.Status, "completed"}, fact{"job status", f.Job.Status, "completed"}); err != nil {
		return Readback{}, err
	}
	if err := fresh(w.IssuedAt, at, f.Job); err != nil {
		return Readback{}, err
	}
	d := s.dialect()
	outcome, err := gitHubOutcome(f, d.gitHub.Neutral)
	if err != nil {
		return Readback{}, err
	}
	return seal(d, &gitHubReadback{
		ids: d.gitHub, Repository: s.Repository, ProtectedBase: s.ProtectedBase, StateRoot: s.StateRoot,
		PullRequestNumber: c.PullRequestNumber, SourceHead: c.SourceHead, Fence: w.Fence(),
		RunID: f.Run.ID, RunAttempt: f.Run.Attempt, RunConclusion: f.Run.Conclusion, RunHead: f.Run.HeadSHA,
		JobID: f.Job.ID, JobConclusion: f.Job.Conclusion, JobStartedAt: f.Job.StartedAt, JobCompletedAt: f.Job.CompletedAt,
		Attempt: *a, AdmissionRoot: w.Admitted.AdmissionRoot, PullState: f.Pull.State, PullMerged: f.Pull.Merged,
		BaseHead: f.BaseHead, Contained: f.Contained, Outcome: outcome, ObservedAt: at,
		Reason: fmt.Sprintf("GitHub run %d job %d concluded %s", f.Run.ID, f.Job.ID, f.Job.Conclusion),
	})
}

// fresh checks that the job ran under this very warrant, by the second (W4).
func fresh(issued, observed Timestamp, j GitHubJob) error {
	for _, x := range []pair{{"started", string(j.StartedAt), ""}, {"completed", string(j.CompletedAt), ""}} {
		t := Timestamp(x.got)
		if !t.valid() || t.second() < issued.second() || t > observed {
			return fault.New(fault.Evidence, "seal readback", "job %s at %q, outside of the warrant", x.what, x.got)
		}
	}
	return nil
}

// gitHubOutcome reads the outcome off the provider's reports, in order: what
// happened to the pull request, then what happened to the job.
//
// W3: a job that succeeded while its pull request stays open is not the end of
// the story only as long as the pull request is still in the queue. Once its run
// failed elsewhere, or it left the queue, it has an outcome too. The same holds
// for a skipped job and, where the dialect can say it, a neutral one.
func gitHubOutcome(f GitHubFacts, neutral bool) (Status, error) {
	switch {
	case f.Pull.Merged && f.Contained:
		return Merged, nil
	case f.Pull.Merged:
		return Dequeued, nil
	case f.Pull.State == "closed":
		return Cancelled, nil
	}
	switch f.Job.Conclusion {
	case "cancelled":
		return Cancelled, nil
	case "failure", "timed_out", "action_required", "startup_failure", "stale":
		return TerminalFailure, nil
	case "skipped":
		return Dequeued, nil
	case "neutral":
		if neutral {
			return Dequeued, nil
		}
	case "success":
		if slices.Contains([]string{"failure", "timed_out", "startup_failure"}, f.Run.Conclusion) { // W3
			return TerminalFailure, nil
		}
		if !f.Pull.InQueue { // W3
			return Dequeued, nil
		}
	}
	return "", fault.New(fault.State, "seal readback", "job concluded %s and the pull request is still queued: no durable outcome yet", f.Job.Conclusion).
		Help("read again when the pull request has merged, closed or left the queue")
}

// gitHubReadback is the document of 32 members.
type gitHubReadback struct {
	ids               readbackIDs
	Repository        string
	ProtectedBase     string
	StateRoot         string
	PullRequestNumber int64
	SourceHead        string
	Fence             Fence
	RunID             int64
	RunAttempt        int64
	RunConclusion     string
	RunHead           string
	JobID             int64
	JobConclusion     string
	JobStartedAt      Timestamp
	JobCompletedAt    Timestamp
	Attempt           GitHubAttempt
	AdmissionRoot     string
	PullState         string
	PullMerged        bool
	BaseHead          string
	Contained         bool
	Outcome           Status
	Reason            string
	ObservedAt        Timestamp
	EvidenceRoot      string
	Root              string
}

func (r *gitHubReadback) shape(c *codec) {
	c.constant("schema", r.ids.Readback)
	c.constant("verifier", r.ids.Verifier)
	c.flag("terminal", true)
	c.repository("repository", &r.Repository)
	c.base("protectedBase", &r.ProtectedBase)
	c.root("stateRoot", &r.StateRoot)
	c.root("candidateId", &r.Fence.CandidateID)
	c.positive("pullRequestNumber", &r.PullRequestNumber)
	c.sha("sourceHead", &r.SourceHead)
	c.root("landingWarrantToken", &r.Fence.Token)
	c.positive("landingWarrantGeneration", &r.Fence.Generation)
	c.positive("providerRunId", &r.RunID)
	c.positive("providerRunAttempt", &r.RunAttempt)
	c.constant("providerRunState", "completed")
	c.text("providerRunConclusion", &r.RunConclusion)
	c.sha("providerRunHead", &r.RunHead)
	c.positive("providerJobId", &r.JobID)
	c.constant("providerJobState", "completed")
	oneOf(c, "providerJobConclusion", &r.JobConclusion, r.conclusions()...)
	c.stamp("providerJobStartedAt", &r.JobStartedAt)
	c.stamp("providerJobCompletedAt", &r.JobCompletedAt)
	nested(c, "providerAttempt", &r.Attempt)
	c.root("admissionRoot", &r.AdmissionRoot)
	oneOf(c, "pullRequestState", &r.PullState, "open", "closed")
	c.boolean("pullRequestMerged", &r.PullMerged)
	c.sha("protectedBaseHead", &r.BaseHead)
	c.boolean("providerRunHeadInProtectedBase", &r.Contained)
	oneOf(c, "outcome", &r.Outcome, outcomes...)
	if c.err == nil && (r.Outcome == Merged) != (r.PullMerged && r.Contained) {
		c.fail("outcome", "does not follow from the pull request and the base")
	}
	c.mayEmpty("reason", &r.Reason)
	c.stamp("observedAt", &r.ObservedAt)
	c.derived("evidenceRoot", &r.EvidenceRoot, r.evidence)
	c.self("readbackRoot", &r.Root)
}

func (r *gitHubReadback) conclusions() []string {
	known := []string{"cancelled", "failure", "action_required", "skipped", "stale", "startup_failure", "success", "timed_out"}
	if r.ids.Neutral {
		known = append(known, "neutral")
	}
	return known
}

// evidence is the root of what the outcome was concluded from.
func (r *gitHubReadback) evidence() string {
	attempt, err := write(nil, &r.Attempt)
	if err != nil {
		return ""
	}
	return canon.Root(object(
		text("schema", r.ids.Evidence),
		text("repository", r.Repository),
		text("stateRoot", r.StateRoot),
		text("candidateId", r.Fence.CandidateID),
		text("sourceHead", r.SourceHead),
		text("landingWarrantToken", r.Fence.Token),
		number("landingWarrantGeneration", r.Fence.Generation),
		number("providerRunId", r.RunID),
		number("providerRunAttempt", r.RunAttempt),
		number("providerJobId", r.JobID),
		text("admissionRoot", r.AdmissionRoot),
		value("providerAttempt", attempt),
		text("providerJobConclusion", r.JobConclusion),
		text("protectedBaseHead", r.BaseHead),
		value("providerRunHeadInProtectedBase", canon.BoolOf(r.Contained)),
		text("outcome", string(r.Outcome)),
		text("observedAt", string(r.ObservedAt)),
	))
}

func (r *gitHubReadback) view() ReadbackView {
	return ReadbackView{
		Kind: GitHubReadback, Repository: r.Repository, ProtectedBase: r.ProtectedBase, StateRoot: r.StateRoot,
		CandidateID: r.Fence.CandidateID, Fence: r.Fence, Attempt: Attempt{GitHub: &r.Attempt},
		AdmissionRoot: r.AdmissionRoot, SourceHead: r.SourceHead, BaseHead: r.BaseHead, Contained: r.Contained,
		Outcome: r.Outcome, Reason: r.Reason, ObservedAt: r.ObservedAt, EvidenceRoot: r.EvidenceRoot, Root: r.Root,
	}
}
