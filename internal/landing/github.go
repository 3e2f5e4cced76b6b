package landing

import (
	"slices"

	"writ/internal/fault"
)

// GitHubSnapshot is what the provider reports about one attempt, in its own
// words, before anything is believed.
type GitHubSnapshot struct {
	Run      GitHubRun
	Job      GitHubJob
	Workflow GitHubWorkflow
	Pull     GitHubPull
}

// GitHubRun is one attempt of a workflow run.
type GitHubRun struct {
	ID         int64
	Attempt    int64
	Repository string // full name
	WorkflowID int64
	Event      string
	HeadSHA    string
	HeadBranch string
	Status     string
	Conclusion string // empty while it runs
}

// GitHubJob is one job of a run.
type GitHubJob struct {
	ID              int64
	Name            string
	Status          string
	Conclusion      string // empty while it runs
	StartedAt       Timestamp
	CompletedAt     Timestamp // empty while it runs
	RunnerID        int64
	RunnerName      string
	RunnerGroupID   int64
	RunnerGroupName string
	Labels          []string
}

// GitHubWorkflow is the workflow of a run.
type GitHubWorkflow struct {
	ID   int64
	Path string
}

// GitHubPull is the pull request that is to be landed.
type GitHubPull struct {
	Number     int64
	HeadSHA    string
	BaseRef    string
	Repository string // full name of the base repository
	State      string // open or closed
	Merged     bool
	InQueue    bool // still an entry of the merge queue
}

func (s *GitHubSnapshot) shape(c *codec) {
	nested(c, "run", &s.Run)
	nested(c, "job", &s.Job)
	nested(c, "workflow", &s.Workflow)
	nested(c, "pullRequest", &s.Pull)
}

func (r *GitHubRun) shape(c *codec) {
	c.count("id", &r.ID)
	c.count("attempt", &r.Attempt)
	c.mayEmpty("repository", &r.Repository)
	c.count("workflowId", &r.WorkflowID)
	c.mayEmpty("event", &r.Event)
	c.mayEmpty("headSha", &r.HeadSHA)
	c.mayEmpty("headBranch", &r.HeadBranch)
	c.mayEmpty("status", &r.Status)
	c.mayEmpty("conclusion", &r.Conclusion)
}

func (j *GitHubJob) shape(c *codec) {
	c.count("id", &j.ID)
	c.mayEmpty("name", &j.Name)
	c.mayEmpty("status", &j.Status)
	c.mayEmpty("conclusion", &j.Conclusion)
	c.optStamp("startedAt", &j.StartedAt)
	c.optStamp("completedAt", &j.CompletedAt)
	c.count("runnerId", &j.RunnerID)
	c.mayEmpty("runnerName", &j.RunnerName)
	c.count("runnerGroupId", &j.RunnerGroupID)
	c.mayEmpty("runnerGroupName", &j.RunnerGroupName)
	c.set("labels", &j.Labels, false, textRule)
}

func (w *GitHubWorkflow) shape(c *codec) {
	c.count("id", &w.ID)
	c.mayEmpty("path", &w.Path)
}

func (p *GitHubPull) shape(c *codec) {
	c.count("number", &p.Number)
	c.mayEmpty("headSha", &p.HeadSHA)
	c.mayEmpty("baseRef", &p.BaseRef)
	c.mayEmpty("repository", &p.Repository)
	c.mayEmpty("state", &p.State)
	c.boolean("merged", &p.Merged)
	c.boolean("inQueue", &p.InQueue)
}

// normal sorts what the provider reports in any order.
func (s GitHubSnapshot) normal() GitHubSnapshot {
	s.Job.Labels = emptyNotNil(sortedSet(s.Job.Labels))
	return s
}

// fact is one report and what it must be.
type fact struct {
	what      string
	got, want any
}

func hold(op string, facts ...fact) error {
	for _, f := range facts {
		if f.got != f.want {
			return fault.New(fault.Evidence, op, "%s is %v, not %v", f.what, f.got, f.want)
		}
	}
	return nil
}

// isOf checks that every report is about the admitted attempt of the candidate.
func (s GitHubSnapshot) isOf(op string, state *State, c *Candidate, a *GitHubAttempt) error {
	return hold(op,
		fact{"run id", s.Run.ID, a.RunID},
		fact{"run attempt", s.Run.Attempt, a.RunAttempt},
		fact{"run repository", s.Run.Repository, state.Repository},
		fact{"run workflow", s.Run.WorkflowID, a.WorkflowID},
		fact{"run event", s.Run.Event, "merge_group"},
		fact{"run head", s.Run.HeadSHA, a.MergeGroupHead},
		fact{"workflow id", s.Workflow.ID, a.WorkflowID},
		fact{"workflow path", s.Workflow.Path, a.WorkflowPath},
		fact{"job id", s.Job.ID, a.JobID},
		fact{"job name", s.Job.Name, a.JobName},
		fact{"runner id", s.Job.RunnerID, a.RunnerID},
		fact{"runner name", s.Job.RunnerName, a.RunnerName},
		fact{"runner group id", s.Job.RunnerGroupID, a.RunnerGroupID},
		fact{"runner group name", s.Job.RunnerGroupName, a.RunnerGroupName},
		fact{"match of the runner labels", slices.Equal(sortedSet(s.Job.Labels), a.RunnerLabels), true},
		fact{"pull request number", s.Pull.Number, c.PullRequestNumber},
		fact{"pull request base", s.Pull.BaseRef, state.ProtectedBase},
		fact{"pull request repository", s.Pull.Repository, state.Repository},
	)
}
