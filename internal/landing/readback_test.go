package landing

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/schema"
)

// landedGit is a desk whose candidate was admitted for an attempt on plain git.
func landedGit(t *testing.T) *desk {
	t.Helper()
	k := newDesk(t, Writ1, policy(2, 2, 3))
	k.submit(1, "a")
	k.qualify()
	k.tick(1)
	k.land()
	k.admit()
	k.tick(5)
	return k
}

// The outcome of a plain git attempt follows from the remote, in order.
func TestGitOutcomes(t *testing.T) {
	t.Parallel()
	k := landedGit(t)
	w := k.s.Warrant.Admitted
	base := GitFacts{State: k.s, BuiltOn: hex40("e"), BaseHead: hex40("e"), FenceBefore: hex40("1"), FenceHead: hex40("2"), ObservedAt: k.now}
	for _, c := range []struct {
		name   string
		change func(*GitFacts)
		want   Status
		code   fault.Code
	}{
		{"merged", func(f *GitFacts) { f.Contained, f.LandedTree, f.BaseHead = true, commit(1), w.MergeGroupHead }, Merged, ""},
		{"merged, then moved on", func(f *GitFacts) { f.Contained, f.LandedTree, f.CancelAsked = true, commit(1), true }, Merged, ""},
		{"merged with another tree", func(f *GitFacts) { f.Contained, f.LandedTree = true, commit(2) }, "", fault.Evidence},
		{"merged without a tree", func(f *GitFacts) { f.Contained = true }, "", fault.Invalid},
		{"base moved", func(f *GitFacts) { f.BaseHead, f.CancelAsked = hex40("f"), true }, Dequeued, ""},
		{"cancelled", func(f *GitFacts) { f.CancelAsked = true }, Cancelled, ""},
		{"nothing happened", func(*GitFacts) {}, TerminalFailure, ""},
		{"tree without a landing", func(f *GitFacts) { f.LandedTree = commit(1) }, "", fault.Invalid},
		{"fence not advanced", func(f *GitFacts) { f.FenceHead = f.FenceBefore }, "", fault.Fenced},
		{"no fence", func(f *GitFacts) { f.FenceHead, f.FenceBefore = "", "" }, "", fault.Fenced},
		{"first fence", func(f *GitFacts) { f.FenceBefore = "" }, TerminalFailure, ""},
		{"bad base", func(f *GitFacts) { f.BaseHead = "main" }, "", fault.Invalid},
	} {
		f := base
		c.change(&f)
		r, err := SealGit(f)
		if fault.CodeOf(err) != c.code || r.View().Outcome != c.want {
			t.Errorf("%s: outcome %q, %v; want %q, %s", c.name, r.View().Outcome, err, c.want, c.code)
			continue
		}
		if err != nil {
			continue
		}
		if err := schema.Validate(schema.GitReadback, r.Document()); err != nil {
			t.Errorf("%s: schema: %v", c.name, err)
		}
		v := must(RecomputeReadback(r.Document()))(t)
		if diff := cmp.Diff(r.View(), v); diff != "" {
			t.Errorf("%s: recomputed readback differs:\n%s", c.name, diff)
		}
		tr := must(Settle(k.s, SettleParams{Readback: r}, k.now))(t)
		if got := tr.Candidate.Terminal; got.Outcome != c.want || got.Reason != gitReasons[c.want] || got.Attempt.Git == nil {
			t.Errorf("%s: terminal record %+v", c.name, got)
		}
	}
}

// A kept readback is checked member by member, and never becomes a capability.
func TestForgedReadbacks(t *testing.T) {
	t.Parallel()
	law := landedOn(t, V2)
	law.tick(40)
	facts := gitHubFacts(law.s, "success", law.now)
	facts.Pull.State, facts.Pull.Merged, facts.Contained = "closed", true, true
	gitHub := must(SealGitHub(facts))(t).Document()
	git := landedGit(t)
	plain := git.readback(Merged).Document()
	failed := git.readback(TerminalFailure).Document()
	reroot := func(v canon.Value) canon.Value {
		v = v.Without("readbackRoot")
		return v.With("readbackRoot", canon.StringOf(canon.Root(v)))
	}
	for _, c := range []struct {
		doc    canon.Value
		member string
		to     canon.Value
	}{
		{gitHub, "repository", canon.StringOf("acme")},
		{gitHub, "protectedBase", canon.StringOf("main")},
		{gitHub, "pullRequestNumber", canon.StringOf("1")},
		{gitHub, "providerRunState", canon.StringOf("in_progress")},
		{gitHub, "providerJobState", canon.StringOf("in_progress")},
		{gitHub, "providerRunConclusion", canon.Null()},
		{gitHub, "providerJobConclusion", canon.StringOf("neutral")},
		{gitHub, "pullRequestState", canon.StringOf("merged")},
		{gitHub, "pullRequestMerged", canon.StringOf("true")},
		{gitHub, "outcome", canon.StringOf("neutral")},
		{gitHub, "providerRunHeadInProtectedBase", canon.BoolOf(false)},
		{gitHub, "landingWarrantGeneration", canon.IntOf(2)},
		{gitHub, "verifier", canon.StringOf("somebody")},
		{gitHub, "terminal", canon.BoolOf(false)},
		{gitHub, "more", canon.IntOf(1)},
		{plain, "contained", canon.BoolOf(false)},
		{plain, "outcome", canon.StringOf("cancelled")},
		{plain, "landedTree", canon.StringOf(commit(2))},
		{plain, "baseHead", canon.StringOf(commit(2))},
		{plain, "fence", object(text("token", root("0")), number("generation", 1))},
		{plain, "more", canon.IntOf(1)},
		{failed, "outcome", canon.StringOf("merged")},
		{failed, "fenceHead", canon.Null()},
	} {
		if _, err := RecomputeReadback(reroot(c.doc.With(c.member, c.to))); err == nil {
			t.Errorf("%s = %s: accepted", c.member, c.to.Canonical())
		}
	}
	_, err := RecomputeReadback(plain.With("readbackRoot", canon.StringOf(root("0"))))
	refuses(t, fault.RootDrift, err)
	_, err = RecomputeReadback(object(text("schema", "other/v1")))
	refuses(t, fault.UnknownKind, err)
	if err := schema.Validate(schema.DeliveryAuthority, must(law.s.Value())(t)); err != nil {
		t.Error(err)
	}
}

// Only what was admitted can be sealed, by the reader of its own provider.
func TestSealsNeedTheirAttempt(t *testing.T) {
	t.Parallel()
	k := newDesk(t, Writ1, policy(2, 2, 3))
	_, err := SealGit(GitFacts{State: k.s, ObservedAt: k.now})
	refuses(t, fault.State, err)
	_, err = SealGitHub(GitHubFacts{State: k.s, ObservedAt: k.now})
	refuses(t, fault.State, err)
	git, gitHub := landedGit(t), landedOn(t, Writ1)
	_, err = SealGit(GitFacts{State: gitHub.s, ObservedAt: k.now})
	refuses(t, fault.State, err)
	_, err = SealGitHub(GitHubFacts{State: git.s, ObservedAt: k.now})
	refuses(t, fault.State, err)
	git.s.StateRoot = root("0")
	_, err = SealGit(GitFacts{State: git.s, BuiltOn: hex40("e"), BaseHead: hex40("e"), FenceHead: hex40("2"), ObservedAt: k.now})
	refuses(t, fault.RootDrift, err)
}

// The attempt is derived from what GitHub reports, or not at all.
func TestDeriveGitHub(t *testing.T) {
	t.Parallel()
	k := newDesk(t, V2, policy(2, 2, 3))
	k.submit(1, "a")
	_, _, err := DeriveGitHub(k.s, GitHubDerivation{})
	refuses(t, fault.State, err)
	k.qualify()
	k.land()
	head, branch := hex40("b"), "gh-readonly-queue/dev/v4/v4.0/pr-1-"+hex40("d")
	c := k.s.landing()
	good := GitHubDerivation{
		RunID: 1200, RunAttempt: 2, MergeGroupHead: head,
		Run:      GitHubRun{ID: 1200, Attempt: 2, Repository: k.s.Repository, WorkflowID: 7, Event: "merge_group", HeadSHA: head, HeadBranch: branch},
		Workflow: GitHubWorkflow{ID: 7, Path: ".github/workflows/land.yml"},
		Pull:     GitHubPull{Number: 1, HeadSHA: c.SourceHead, BaseRef: k.s.ProtectedBase, Repository: k.s.Repository},
		Jobs: []GitHubJob{
			{ID: 1, Name: "lint", Status: "in_progress"},
			{ID: 2, Name: "merge / Landing authority", Status: "in_progress", RunnerID: 3, RunnerName: "r", RunnerGroupID: 1,
				RunnerGroupName: hostedGroup, Labels: []string{"ubuntu-24.04", "X64"}, StartedAt: At(k.now)},
		},
	}
	a, job, err := DeriveGitHub(k.s, good)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"X64", "ubuntu-24.04"}, a.GitHub.RunnerLabels); diff != "" || job.ID != 2 ||
		a.GitHub.WorkflowRef != "acme/widgets/.github/workflows/land.yml@refs/heads/"+branch {
		t.Fatalf("%+v\n%s", a.GitHub, diff)
	}
	for name, change := range map[string]func(*GitHubDerivation){
		"run attempt":       func(d *GitHubDerivation) { d.RunAttempt = 1 },
		"run head":          func(d *GitHubDerivation) { d.Run.HeadSHA = hex40("c") },
		"event":             func(d *GitHubDerivation) { d.Run.Event = "push" },
		"other group":       func(d *GitHubDerivation) { d.Run.HeadBranch = "gh-readonly-queue/dev/v4/v4.0/pr-12-" + hex40("d") },
		"pull request head": func(d *GitHubDerivation) { d.Pull.HeadSHA = hex40("c") },
		"no job":            func(d *GitHubDerivation) { d.Jobs = d.Jobs[:1] },
		"two jobs":          func(d *GitHubDerivation) { d.Jobs = append(d.Jobs, d.Jobs[1]) },
		"self-hosted": func(d *GitHubDerivation) {
			d.Jobs = []GitHubJob{d.Jobs[1]}
			d.Jobs[0].Labels = []string{"Self-Hosted"}
		},
		"runner group": func(d *GitHubDerivation) { d.Jobs = []GitHubJob{d.Jobs[1]}; d.Jobs[0].RunnerGroupName = "mine" },
		"workflow":     func(d *GitHubDerivation) { d.Workflow.Path = "ci.yml" },
	} {
		d := good
		d.Jobs = append([]GitHubJob(nil), good.Jobs...)
		change(&d)
		if _, _, err := DeriveGitHub(k.s, d); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
