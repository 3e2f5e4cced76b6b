package landing

import (
	"reflect"
	"regexp"
	"slices"
	"strings"

	"writ/internal/canon"
	"writ/internal/fault"
)

// Attempt is the one provider attempt that a warrant is admitted for: a job of a
// GitHub merge group, or a run of our own on plain git. Exactly one is set.
type Attempt struct {
	GitHub *GitHubAttempt
	Git    *GitAttempt
}

// GitHubAttempt is one hosted job of one merge_group workflow run.
type GitHubAttempt struct {
	Repository      string
	WorkflowID      int64
	WorkflowPath    string // .github/workflows/<file>.yml
	WorkflowRef     string // owner/repo/<path>@refs/heads/...
	WorkflowSHA     string
	RunID           int64
	RunAttempt      int64
	JobID           int64
	JobName         string
	RunnerID        int64
	RunnerName      string
	RunnerGroupID   int64
	RunnerGroupName string   // "GitHub Actions"
	RunnerLabels    []string // distinct, in order of code units
	SourceHead      string
	MergeGroupHead  string
	ProtectedBase   string
}

// GitAttempt is one attempt of ours to land on a plain git remote. MergeGroupHead
// is the merge commit, made on the observed base head and pinned before any push.
type GitAttempt struct {
	Repository     string
	RunID          string
	RunAttempt     int64
	JobID          string
	RunnerID       string
	RunnerName     string
	SourceHead     string
	MergeGroupHead string
	ProtectedBase  string
}

const hostedGroup = "GitHub Actions"

var (
	workflowPathForm = regexp.MustCompile(`^\.github/workflows/[^/]+\.ya?ml$`)
	workflowRefForm  = regexp.MustCompile(`^[^/]+/[^/]+/\.github/workflows/[^/]+\.ya?ml@refs/(heads|tags)/.+$`)
)

func workflowPathRule(s string) string {
	return rule(workflowPathForm.MatchString(s) && isTrimmed(s), "must be a file of .github/workflows")
}

func workflowRefRule(s string) string {
	_, ref, _ := strings.Cut(s, "@refs/")
	ok := workflowRefForm.MatchString(s) && isTrimmed(s) && !hasSpace(ref) && !hasSpace(strings.Join(strings.SplitN(s, "/", 3)[:2], "/"))
	return rule(ok, "must be owner/repo/.github/workflows/<file>@refs/...")
}

func labelRule(s string) string {
	if strings.EqualFold(s, "self-hosted") {
		return "must not be self-hosted"
	}
	return textRule(s)
}

func (a *GitHubAttempt) shape(c *codec) {
	c.constant("schema", GitHubAttemptSchema)
	c.repository("repository", &a.Repository)
	c.positive("workflowId", &a.WorkflowID)
	c.str("workflowPath", &a.WorkflowPath, false, workflowPathRule)
	c.str("workflowRef", &a.WorkflowRef, false, workflowRefRule)
	c.sha("workflowSha", &a.WorkflowSHA)
	c.constant("event", "merge_group")
	c.positive("runId", &a.RunID)
	c.positive("runAttempt", &a.RunAttempt)
	c.positive("jobId", &a.JobID)
	c.text("jobName", &a.JobName)
	c.constant("jobRole", "landing-authority")
	c.positive("runnerId", &a.RunnerID)
	c.text("runnerName", &a.RunnerName)
	c.positive("runnerGroupId", &a.RunnerGroupID)
	c.str("runnerGroupName", &a.RunnerGroupName, false, func(s string) string {
		return rule(s == hostedGroup, "must be "+hostedGroup)
	})
	c.set("runnerLabels", &a.RunnerLabels, false, labelRule)
	if c.err == nil && len(a.RunnerLabels) == 0 {
		c.fail("runnerLabels", "must not be empty")
	}
	c.sha("sourceHead", &a.SourceHead)
	c.sha("mergeGroupHead", &a.MergeGroupHead)
	c.base("protectedBase", &a.ProtectedBase)
}

func (a *GitAttempt) shape(c *codec) {
	c.constant("schema", GitAttemptSchema)
	c.repository("repository", &a.Repository)
	c.text("runId", &a.RunID)
	c.positive("runAttempt", &a.RunAttempt)
	c.text("jobId", &a.JobID)
	c.text("runnerId", &a.RunnerID)
	c.text("runnerName", &a.RunnerName)
	c.sha("sourceHead", &a.SourceHead)
	c.sha("mergeGroupHead", &a.MergeGroupHead)
	c.base("protectedBase", &a.ProtectedBase)
}

// shape reads whichever kind the schema member names, if the dialect takes it.
func (a *Attempt) shape(c *codec) {
	if c.reading {
		*a = Attempt{}
		switch c.in.Str("schema") {
		case GitHubAttemptSchema:
			a.GitHub = new(GitHubAttempt)
		case GitAttemptSchema:
			a.Git = new(GitAttempt)
		}
	}
	schema := a.Schema()
	if c.dialect != nil && !slices.Contains(c.dialect.Attempts, schema) {
		c.fail("schema", "%q is no provider attempt of this dialect", c.in.Str("schema"))
		return
	}
	switch schema {
	case GitHubAttemptSchema:
		a.GitHub.shape(c)
	case GitAttemptSchema:
		a.Git.shape(c)
	default:
		c.fail("schema", "is no known provider attempt")
	}
}

// Schema returns the schema id; "" when neither kind is set.
func (a Attempt) Schema() string {
	switch {
	case a.GitHub != nil && a.Git == nil:
		return GitHubAttemptSchema
	case a.Git != nil && a.GitHub == nil:
		return GitAttemptSchema
	}
	return ""
}

// Equal compares every member.
func (a Attempt) Equal(b Attempt) bool { return reflect.DeepEqual(a, b) }

// Value returns the document, or the first rule that it breaks.
func (a Attempt) Value() (canon.Value, error) { return write(nil, &a) }

// ParseAttempt reads an attempt of either kind.
func ParseAttempt(v canon.Value) (Attempt, error) {
	var a Attempt
	err := read(nil, v, &a)
	return a, err
}

// coordinates are the members that both kinds share.
type coordinates struct {
	repository, base, sourceHead, mergeGroupHead string
}

func (a Attempt) coordinates() coordinates {
	switch {
	case a.GitHub != nil:
		return coordinates{a.GitHub.Repository, a.GitHub.ProtectedBase, a.GitHub.SourceHead, a.GitHub.MergeGroupHead}
	case a.Git != nil:
		return coordinates{a.Git.Repository, a.Git.ProtectedBase, a.Git.SourceHead, a.Git.MergeGroupHead}
	}
	return coordinates{}
}

// normal returns the attempt as documents hold it: labels sorted.
func (a Attempt) normal() Attempt {
	if a.GitHub != nil {
		g := *a.GitHub
		g.RunnerLabels = sortedSet(g.RunnerLabels)
		a.GitHub = &g
	}
	return a
}

// GitHubRun, GitHubJob and GitHubWorkflow are what the provider reports, in its
// own words, before anything is believed. Numbers may come as text.
type (
	GitHubRun struct {
		ID         int64
		Attempt    int64
		Repository string // full name
		WorkflowID int64
		Event      string
		HeadSHA    string
		HeadBranch string
		Status     string
		Conclusion string
	}
	GitHubJob struct {
		ID              int64
		Name            string
		Status          string
		Conclusion      string
		StartedAt       Timestamp
		CompletedAt     Timestamp
		RunnerID        int64
		RunnerName      string
		RunnerGroupID   int64
		RunnerGroupName string
		Labels          []string
	}
	GitHubWorkflow struct {
		ID   int64
		Path string
	}
	GitHubPull struct {
		Number     int64
		HeadSHA    string
		BaseRef    string
		Repository string // full name of the base repository
		State      string // open or closed
		Merged     bool
		InQueue    bool // still an entry of the merge queue
	}
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
	checks := []struct {
		what      string
		got, want any
	}{
		{"run id", d.Run.ID, d.RunID},
		{"run attempt", d.Run.Attempt, d.RunAttempt},
		{"run repository", d.Run.Repository, s.Repository},
		{"run event", d.Run.Event, "merge_group"},
		{"run head", d.Run.HeadSHA, d.MergeGroupHead},
		{"workflow id", d.Workflow.ID, d.Run.WorkflowID},
		{"pull request number", d.Pull.Number, c.PullRequestNumber},
		{"pull request head", d.Pull.HeadSHA, c.SourceHead},
		{"pull request base", d.Pull.BaseRef, s.ProtectedBase},
		{"pull request repository", d.Pull.Repository, s.Repository},
		{"number of running landing jobs", len(running), 1},
		{"merge group of this pull request", groupBelongs(d.Run.HeadBranch, s.ProtectedBase, c.PullRequestNumber), true},
	}
	for _, x := range checks {
		if x.got != x.want {
			return Attempt{}, GitHubJob{}, fault.New(fault.Evidence, "derive attempt", "%s is %v, not %v", x.what, x.got, x.want)
		}
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
