package localgit_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/forge/localgit"
	"writ/internal/gitcmd"
	"writ/internal/landing"
)

const (
	alias  = "acme/widgets"
	base   = "main"
	branch = "refs/heads/main"
)

var noon = time.Date(2026, 8, 12, 12, 0, 0, 0, time.UTC)

// field is a bare remote with one commit on main, a repository in which a change
// was made, and forges on that remote.
type field struct {
	t      *testing.T
	remote gitcmd.Repo
	author gitcmd.Repo // where the change is
	first  string      // head of main at the start
	change string      // commit to land, a child of first
}

func newField(t *testing.T) *field {
	t.Helper()
	f := &field{t: t}
	var err error
	if f.remote, err = gitcmd.InitBare(t.Context(), filepath.Join(t.TempDir(), "remote.git")); err != nil {
		t.Fatal(err)
	}
	f.first = f.commit(f.remote, map[string]string{"a.go": "package a\n", "b.go": "package a\n\nvar b = 1\n"})
	f.move(branch, "", f.first)
	if f.author, err = gitcmd.Clone(t.Context(), f.remote.Dir, filepath.Join(t.TempDir(), "author.git")); err != nil {
		t.Fatal(err)
	}
	f.change = f.commit(f.author, map[string]string{"b.go": "package a\n\nvar b = 2\n"}, f.first)
	return f
}

func (f *field) commit(r gitcmd.Repo, files map[string]string, parents ...string) string {
	f.t.Helper()
	var changes []gitcmd.File
	for path, content := range files {
		changes = append(changes, gitcmd.File{Path: path, Content: []byte(content)})
	}
	from := ""
	if len(parents) > 0 {
		from = parents[0]
	}
	tree, err := r.WriteTree(f.t.Context(), from, changes)
	if err != nil {
		f.t.Fatal(err)
	}
	id, err := r.CommitTree(f.t.Context(), gitcmd.Commit{
		Tree: tree, Parents: parents, Author: gitcmd.Person{Name: "Ann", Email: "ann@example.org", When: noon}, Message: "change",
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return id
}

// move sets a ref of the remote as somebody else would.
func (f *field) move(ref, old, id string) {
	f.t.Helper()
	if err := f.remote.UpdateRefs(f.t.Context(), gitcmd.RefUpdate{Ref: ref, Old: old, New: id}); err != nil {
		f.t.Fatal(err)
	}
}

// outside lands something else on main, in other files.
func (f *field) outside(file string) string {
	f.t.Helper()
	old := f.ref(branch)
	id := f.commit(f.remote, map[string]string{file: "package a // " + file + "\n"}, old)
	f.move(branch, old, id)
	return id
}

func (f *field) ref(name string) string {
	f.t.Helper()
	id, err := f.remote.Ref(f.t.Context(), name)
	if err != nil {
		f.t.Fatal(err)
	}
	return id
}

// refs is what the remote says about the two refs that landing moves.
func (f *field) refs() [2]string { return [2]string{f.ref(branch), f.ref(localgit.FenceRef(base))} }

func (f *field) unchanged(before [2]string) {
	f.t.Helper()
	if diff := cmp.Diff(before, f.refs()); diff != "" {
		f.t.Fatalf("the remote changed, -want +got\n%s", diff)
	}
}

// forge is one installation with a clone of its own.
func (f *field) forge() *localgit.Forge {
	f.t.Helper()
	g, err := localgit.Open(f.t.Context(), localgit.Params{Remote: f.remote.Dir, Repository: alias, Dir: filepath.Join(f.t.TempDir(), "data", "clone.git")})
	if err != nil {
		f.t.Fatal(err)
	}
	if err := g.Import(f.t.Context(), f.author, f.change); err != nil {
		f.t.Fatal(err)
	}
	return g
}

func (f *field) params() localgit.MergeParams {
	return localgit.MergeParams{Base: base, SourceHead: f.change, Name: "Writ", Email: "writ@example.org", At: noon, Message: "Merge change 1"}
}

func (f *field) build(g *localgit.Forge) localgit.Merge {
	f.t.Helper()
	m, err := g.BuildMerge(f.t.Context(), f.params())
	if err != nil {
		f.t.Fatal(err)
	}
	return m
}

func wantCode(t testing.TB, err error, want fault.Code) *fault.Error {
	t.Helper()
	e, ok := fault.As(err)
	if !ok || e.Code != want {
		t.Fatalf("got %v, want code %s", err, want)
	}
	return e
}

// must returns the value of a step that has to work.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func root(digit string) string { return "sha256:" + strings.Repeat(digit, 64) }

// admitted drives a landing state to an admitted warrant for the merge.
func (f *field) admitted(m localgit.Merge) landing.State {
	f.t.Helper()
	s := f.queued(m.Tree)
	source := f.sourceProof(s.Candidates[0])
	tr := must(landing.LeaseQualification(s, landing.LeaseQualificationParams{}, noon))(f.t)
	c, lease := tr.State.Candidates[0], tr.Lease.Fence()
	native, nativeDoc, err := landing.BuildNativeProof(landing.NativeProof{
		SourceIdentityRoot: c.SourceIdentityRoot, SourcePatchRoot: c.SourcePatchRoot, PlanRoot: c.PlanRoot, ClosureRoot: c.ClosureRoot,
		DependencyRoot: c.DependencyRoot, AffectedPaths: c.AffectedPaths, ShardEvidenceRoots: c.ShardEvidenceRoots, QualifiedAt: landing.At(noon),
		Receipt: landing.RunReceipt{
			Binding: landing.ExecutionBinding{
				Repository: alias, ProtectedBase: base, SourceHead: c.SourceHead, QualifiedBase: f.first,
				NativeCommandRoot: c.Command.Root, ToolchainRoot: c.ToolchainRoot, EnvironmentRoot: c.EnvironmentRoot,
			},
			StartedAt: landing.At(noon), CompletedAt: landing.At(noon), HeartbeatCount: 1,
		},
	})
	if err != nil {
		f.t.Fatal(err)
	}
	_, contract, err := landing.BuildContract(c, lease, native)
	if err != nil {
		f.t.Fatal(err)
	}
	tr = must(landing.CompleteQualification(tr.State, landing.CompleteQualificationParams{Fence: lease, SourceProof: source, NativeProof: nativeDoc, Contract: contract}, noon))(f.t)
	tr = must(landing.LeaseLanding(tr.State, landing.LeaseLandingParams{}, noon))(f.t)
	attempt := landing.Attempt{Git: &landing.GitAttempt{
		Repository: alias, RunID: "run_1", RunAttempt: 1, JobID: "land", RunnerID: "serve", RunnerName: "serve",
		SourceHead: m.SourceHead, MergeGroupHead: m.Commit, ProtectedBase: base,
	}}
	tr = must(landing.Admit(tr.State, landing.AdmitParams{
		Fence: tr.Warrant.Fence(), MergeGroupHead: m.Commit, Attempt: attempt, SourceContained: true, MergedTree: m.Tree,
	}, noon))(f.t)
	return tr.State
}

// queued is a landing state with the change in it, to be merged to a tree.
func (f *field) queued(tree string) landing.State {
	f.t.Helper()
	s := must(landing.Create(landing.CreateParams{Dialect: landing.Writ1, Repository: alias, ProtectedBase: base, Policy: landing.DefaultPolicy()}, noon))(f.t)
	command := must(landing.NewCommand("make check"))(f.t)
	sub := landing.Submission{
		PullRequestNumber: 1, SourceHead: f.change, SourceRoot: root("1"), SourceIdentityRoot: root("2"), SourcePatchRoot: root("3"), PlanRoot: root("5"),
		ClosureRoot: must(landing.ClosureRoot(tree))(f.t), DependencyRoot: root("7"), ToolchainRoot: root("8"), EnvironmentRoot: root("9"),
		DeliveryClass: landing.NativeProofRequired, Command: &command, AffectedPaths: []string{"b.go"}, ShardEvidenceRoots: []string{root("a")},
		QualificationDomains: []string{},
	}
	proof, _, err := landing.BuildSourceProof(sourceOf(sub))
	if err != nil {
		f.t.Fatal(err)
	}
	sub.SourceProofRoot = proof.Root
	return must(landing.Submit(s, landing.SubmitParams{Submission: sub}, noon))(f.t).State
}

func sourceOf(s landing.Submission) landing.SourceProof {
	return landing.SourceProof{
		Repository: alias, ProtectedBase: base, SourceIdentityRoot: s.SourceIdentityRoot, SourceHead: s.SourceHead, SourcePatchRoot: s.SourcePatchRoot,
		PlanRoot: s.PlanRoot, ClosureRoot: s.ClosureRoot, DependencyRoot: s.DependencyRoot, ToolchainRoot: s.ToolchainRoot, AffectedPaths: s.AffectedPaths,
		ShardEvidenceRoots: s.ShardEvidenceRoots, QualifiedAt: landing.At(noon),
	}
}

func (f *field) sourceProof(c landing.Candidate) canon.Value {
	f.t.Helper()
	_, doc, err := landing.BuildSourceProof(sourceOf(c.Submission))
	if err != nil {
		f.t.Fatal(err)
	}
	return doc
}

func short(id string) string { return fmt.Sprintf("%.8s", id) }
