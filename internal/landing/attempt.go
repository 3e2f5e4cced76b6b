package landing

import (
	"reflect"
	"regexp"
	"slices"
	"strings"

	"writ/internal/canon"
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
