package landing

import (
	"strconv"
	"strings"

	"writ/internal/fault"
)

const landingJobName = "Landing authority"

// GitHubDerivation is what an attempt is derived from at admission.
type GitHubDerivation struct {
	RunID          int64 // as the caller claims
	RunAttempt     int64
	MergeGroupHead string
	Run            GitHubRun
	Workflow       GitHubWorkflow
	Pull           GitHubPull
	Jobs           []GitHubJob // jobs of this run attempt
}

// DeriveGitHub makes the provider attempt of the landing candidate out of what
// the provider reports, and refuses the first report that is about something
// else. The group's branch must be the one that the queue made for this very
// pull request (W5: a prefix of the base alone proves nothing).
func DeriveGitHub(s State, d GitHubDerivation) (Attempt, GitHubJob, error) {
	c := s.landing()
	if c == nil {
		return Attempt{}, GitHubJob{}, fault.New(fault.State, "derive attempt", "no candidate is landing")
	}
	var running []GitHubJob
	for _, j := range d.Jobs {
		if j.Status == "in_progress" && (j.Name == landingJobName || strings.HasSuffix(j.Name, " / "+landingJobName)) {
			running = append(running, j)
		}
	}
	err := hold("derive attempt",
		fact{"run id", d.Run.ID, d.RunID},
		fact{"run attempt", d.Run.Attempt, d.RunAttempt},
		fact{"run repository", d.Run.Repository, s.Repository},
		fact{"run event", d.Run.Event, "merge_group"},
		fact{"run head", d.Run.HeadSHA, d.MergeGroupHead},
		fact{"workflow id", d.Workflow.ID, d.Run.WorkflowID},
		fact{"pull request number", d.Pull.Number, c.PullRequestNumber},
		fact{"pull request head", d.Pull.HeadSHA, c.SourceHead},
		fact{"pull request base", d.Pull.BaseRef, s.ProtectedBase},
		fact{"pull request repository", d.Pull.Repository, s.Repository},
		fact{"number of running landing jobs", len(running), 1},
		fact{"merge group of this pull request", groupBelongs(d.Run.HeadBranch, s.ProtectedBase, c.PullRequestNumber), true},
	)
	if err != nil {
		return Attempt{}, GitHubJob{}, err
	}
	j := running[0]
	a := Attempt{GitHub: &GitHubAttempt{
		Repository: s.Repository, WorkflowID: d.Workflow.ID, WorkflowPath: d.Workflow.Path,
		WorkflowRef: s.Repository + "/" + d.Workflow.Path + "@refs/heads/" + d.Run.HeadBranch,
		WorkflowSHA: d.Run.HeadSHA, RunID: d.Run.ID, RunAttempt: d.Run.Attempt,
		JobID: j.ID, JobName: j.Name, RunnerID: j.RunnerID, RunnerName: j.RunnerName,
		RunnerGroupID: j.RunnerGroupID, RunnerGroupName: j.RunnerGroupName, RunnerLabels: j.Labels,
		SourceHead: c.SourceHead, MergeGroupHead: d.MergeGroupHead, ProtectedBase: s.ProtectedBase,
	}}.normal()
	if _, err := write(s.dialect(), &a); err != nil {
		return Attempt{}, GitHubJob{}, err
	}
	return a, j, nil
}

// groupBelongs reports whether a branch is a merge group that GitHub's queue made
// for this pull request on this base.
func groupBelongs(branch, base string, pull int64) bool {
	return strings.HasPrefix(branch, "gh-readonly-queue/"+base+"/pr-"+strconv.FormatInt(pull, 10)+"-")
}
