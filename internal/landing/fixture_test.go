package landing

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/schema"
)

func root(digit string) string  { return "sha256:" + strings.Repeat(digit, 64) }
func hex40(digit string) string { return strings.Repeat(digit, 40) }
func commit(n int64) string     { return fmt.Sprintf("%040x", n) }
func rootOf(n int64) string     { return fmt.Sprintf("sha256:%064x", n) }

// desk drives one document through the machine as a controller would, and holds
// every transition against the schema, the reader, the independent checker and
// its own replay.
type desk struct {
	t     tb
	d     *Dialect
	s     State
	now   time.Time
	light bool // leave out the costly checks

	archive map[int64]Archived
}

// tb is what a test and a property have in common.
type tb interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

func newDesk(t tb, d *Dialect, pol Policy) *desk {
	t.Helper()
	k := &desk{t: t, d: d, now: second(0), archive: map[int64]Archived{}}
	base := "main"
	if d == V2 {
		base = "dev/v4/v4.0"
	}
	s, err := Create(CreateParams{Dialect: d, Repository: "acme/widgets", ProtectedBase: base, Policy: pol}, k.now)
	if err != nil {
		t.Fatal(err)
	}
	k.s = s
	return k
}

func (k *desk) tick(seconds int) { k.now = k.now.Add(time.Duration(seconds) * time.Second) }

// take holds a transition against everything and makes its state current.
func (k *desk) take(tr Transition, err error) (Transition, error) {
	k.t.Helper()
	if err != nil {
		return tr, err
	}
	if tr.Before != k.s.StateRoot {
		k.t.Fatalf("%s: before is %s, state was %s", tr.Action, tr.Before, k.s.StateRoot)
	}
	if tr.Changed == (tr.State.StateRoot == k.s.StateRoot) {
		k.t.Fatalf("%s: changed is %t, root went from %s to %s", tr.Action, tr.Changed, k.s.StateRoot, tr.State.StateRoot)
	}
	if !k.light {
		k.inspect(tr)
	}
	k.s = tr.State
	for _, a := range tr.Archived {
		k.archive[a.PullRequestNumber] = a
	}
	for _, n := range tr.Restored {
		delete(k.archive, n)
	}
	return tr, nil
}

func (k *desk) inspect(tr Transition) {
	k.t.Helper()
	doc, err := tr.State.Value()
	if err != nil {
		k.t.Fatalf("%s: %v", tr.Action, err)
	}
	id := schema.DeliveryAuthority
	if k.d == Writ1 {
		id = schema.WritAuthority
	}
	if err := schema.Validate(id, doc); err != nil {
		k.t.Fatalf("%s: schema: %v", tr.Action, err)
	}
	if _, err := Parse(doc.Canonical(), ReadParams{Repository: k.s.Repository, ProtectedBase: k.s.ProtectedBase, Strict: true}); err != nil {
		k.t.Fatalf("%s: reader: %v", tr.Action, err)
	}
	if wrong := independent(doc.Any().(map[string]any)); wrong != "" {
		k.t.Fatalf("%s: independent checker: %s", tr.Action, wrong)
	}
	kept, err := tr.Operation.Value()
	if err != nil {
		k.t.Fatalf("%s: %v", tr.Action, err)
	}
	op, err := ParseOperation(kept)
	if err != nil {
		k.t.Fatalf("%s: %v", tr.Action, err)
	}
	if err := CheckTransition(k.s, op, tr.State); err != nil {
		k.t.Fatalf("%s: replay: %v", tr.Action, err)
	}
}

// must is take for a step that has to work.
func (k *desk) must(tr Transition, err error) Transition {
	k.t.Helper()
	tr, err = k.take(tr, err)
	if err != nil {
		k.t.Fatal(err)
	}
	return tr
}

// wants checks the action of a step that has to work: k.wants(Settled)(Settle(…)).
func (k *desk) wants(want Action) func(Transition, error) Transition {
	return func(tr Transition, err error) Transition {
		k.t.Helper()
		tr = k.must(tr, err)
		if tr.Action != want {
			k.t.Fatalf("action is %s, want %s (reasons %v)", tr.Action, want, tr.Reasons)
		}
		return tr
	}
}

// refuses checks the code of a step that must not work.
func refuses(t tb, code fault.Code, err error) {
	t.Helper()
	if fault.CodeOf(err) != code {
		t.Fatalf("got %v (%s), want %s", err, fault.CodeOf(err), code)
	}
}

// change is the submission of change n; domains are digits.
func (k *desk) change(n int64, domains string) Submission {
	return k.changeOn(n, domains, commit(n))
}

// changeOn is change n merged to the given tree.
func (k *desk) changeOn(n int64, domains, tree string) Submission {
	k.t.Helper()
	closure, err := ClosureRoot(tree)
	if err != nil {
		k.t.Fatal(err)
	}
	command, err := NewCommand("make check")
	if err != nil {
		k.t.Fatal(err)
	}
	s := Submission{
		PullRequestNumber: n, SourceHead: commit(n), SourceRoot: rootOf(n), SourceIdentityRoot: rootOf(n),
		SourcePatchRoot: rootOf(n), PlanRoot: root("5"), ClosureRoot: closure, DependencyRoot: root("7"),
		ToolchainRoot: root("8"), EnvironmentRoot: root("9"), DeliveryClass: NativeProofRequired, Command: &command,
		AffectedPaths: []string{"pkg"}, ShardEvidenceRoots: []string{root("a")}, QualificationDomains: []string{},
	}
	for _, d := range domains {
		s.QualificationDomains = append(s.QualificationDomains, root(string(d)))
	}
	p, _, err := BuildSourceProof(k.sourceProof(s))
	if err != nil {
		k.t.Fatal(err)
	}
	s.SourceProofRoot = p.Root
	return s
}

func (k *desk) sourceProof(s Submission) SourceProof {
	return SourceProof{
		Repository: k.s.Repository, ProtectedBase: k.s.ProtectedBase, SourceIdentityRoot: s.SourceIdentityRoot,
		SourceHead: s.SourceHead, SourcePatchRoot: s.SourcePatchRoot, PlanRoot: s.PlanRoot, ClosureRoot: s.ClosureRoot,
		DependencyRoot: s.DependencyRoot, ToolchainRoot: s.ToolchainRoot, AffectedPaths: s.AffectedPaths,
		ShardEvidenceRoots: s.ShardEvidenceRoots, QualifiedAt: At(second(0)),
	}
}

func (k *desk) submit(n int64, domains string) Transition {
	k.t.Helper()
	p := SubmitParams{Submission: k.change(n, domains)}
	if a, ok := k.archive[n]; ok {
		p.Archived = &a
	}
	return k.must(Submit(k.s, p, k.now))
}

func (k *desk) lease() Transition {
	k.t.Helper()
	return k.must(LeaseQualification(k.s, LeaseQualificationParams{}, k.now))
}

// documents makes the documents of a completed qualification.
func (k *desk) documents(f Fence) CompleteQualificationParams {
	k.t.Helper()
	c, ok := k.s.Candidate(f.CandidateID)
	if !ok {
		k.t.Fatalf("no candidate %s", f.CandidateID)
	}
	_, source, err := BuildSourceProof(k.sourceProof(c.Submission))
	if err != nil {
		k.t.Fatal(err)
	}
	native, nativeDoc, err := BuildNativeProof(NativeProof{
		SourceIdentityRoot: c.SourceIdentityRoot, SourcePatchRoot: c.SourcePatchRoot, PlanRoot: c.PlanRoot,
		ClosureRoot: c.ClosureRoot, DependencyRoot: c.DependencyRoot, AffectedPaths: []string{"./pkg/"},
		ShardEvidenceRoots: c.ShardEvidenceRoots, QualifiedAt: At(k.now),
		Receipt: RunReceipt{
			Binding: ExecutionBinding{
				Repository: c.Repository, ProtectedBase: c.ProtectedBase, SourceHead: c.SourceHead, QualifiedBase: hex40("e"),
				NativeCommandRoot: c.Command.Root, ToolchainRoot: c.ToolchainRoot, EnvironmentRoot: c.EnvironmentRoot,
			},
			StartedAt: At(second(0)), CompletedAt: At(k.now), HeartbeatCount: 2,
		},
	})
	if err != nil {
		k.t.Fatal(err)
	}
	_, contract, err := BuildContract(c, f, native)
	if err != nil {
		k.t.Fatal(err)
	}
	return CompleteQualificationParams{Fence: f, SourceProof: source, NativeProof: nativeDoc, Contract: contract}
}

func (k *desk) complete(f Fence) Transition {
	k.t.Helper()
	return k.must(CompleteQualification(k.s, k.documents(f), k.now))
}

// qualify leases and completes in one go.
func (k *desk) qualify() Transition {
	k.t.Helper()
	tr := k.lease()
	if tr.Lease == nil {
		k.t.Fatalf("nothing to qualify: %s %v", tr.Action, tr.Reasons)
	}
	return k.complete(tr.Lease.Fence())
}

func (k *desk) land() Transition {
	k.t.Helper()
	return k.must(LeaseLanding(k.s, LeaseLandingParams{}, k.now))
}

// attempt is the attempt that would land the landing candidate: on GitHub for
// the law, on plain git for ours.
func (k *desk) attempt() Attempt {
	c := k.s.landing()
	head := commit(1_000_000 + k.s.Warrant.Generation)
	if k.d == V2 {
		return gitHubAttempt(k.s, *c, head)
	}
	return Attempt{Git: &GitAttempt{
		Repository: k.s.Repository, RunID: "run_1", RunAttempt: 1, JobID: "land", RunnerID: "runner_1", RunnerName: "local",
		SourceHead: c.SourceHead, MergeGroupHead: head, ProtectedBase: k.s.ProtectedBase,
	}}
}

func gitHubAttempt(s State, c Candidate, head string) Attempt {
	return Attempt{GitHub: &GitHubAttempt{
		Repository: s.Repository, WorkflowID: 700, WorkflowPath: ".github/workflows/land.yml",
		WorkflowRef: s.Repository + "/.github/workflows/land.yml@refs/heads/" + s.ProtectedBase, WorkflowSHA: hex40("c"),
		RunID: 1200, RunAttempt: 1, JobID: 1201, JobName: landingJobName, RunnerID: 1300, RunnerName: "GitHub Actions 1300",
		RunnerGroupID: 1, RunnerGroupName: hostedGroup, RunnerLabels: []string{"X64", "ubuntu-24.04"},
		SourceHead: c.SourceHead, MergeGroupHead: head, ProtectedBase: s.ProtectedBase,
	}}
}

func (k *desk) admission(a Attempt) AdmitParams {
	c := k.s.landing()
	return AdmitParams{
		Fence: k.s.Warrant.Fence(), MergeGroupHead: a.coordinates().mergeGroupHead, Attempt: a, JobStartedAt: At(k.now),
		HeadBranch:      fmt.Sprintf("gh-readonly-queue/%s/pr-%d-%s", k.s.ProtectedBase, c.PullRequestNumber, hex40("d")),
		SourceContained: true, MergedTree: commit(c.PullRequestNumber),
	}
}

func (k *desk) admit() Transition {
	k.t.Helper()
	return k.must(Admit(k.s, k.admission(k.attempt()), k.now))
}

// running is what shows that the admitted attempt of a state is alive.
func running(s State, started time.Time) Liveness {
	if a := s.Warrant.Admitted; a == nil || a.Attempt.Git != nil {
		return Liveness{RunnerID: "runner_1"}
	}
	f := gitHubFacts(s, "", started.Add(time.Hour))
	f.Run.Status, f.Job.Status, f.Job.StartedAt, f.Job.CompletedAt = "in_progress", "in_progress", At(started), ""
	return Liveness{GitHub: &f.GitHubSnapshot}
}

// gitHubFacts is what GitHub reports about the admitted attempt once it ended;
// the pull request is still open and queued.
func gitHubFacts(s State, conclusion string, observed time.Time) GitHubFacts {
	c, w := s.landing(), s.Warrant
	a := w.Admitted.Attempt.GitHub
	return GitHubFacts{
		State: s, BaseHead: hex40("e"), ObservedAt: observed, GitHubSnapshot: GitHubSnapshot{
			Run: GitHubRun{ID: a.RunID, Attempt: a.RunAttempt, Repository: s.Repository, WorkflowID: a.WorkflowID, Event: "merge_group",
				HeadSHA: a.MergeGroupHead, Status: "completed", Conclusion: conclusion},
			Job: GitHubJob{ID: a.JobID, Name: a.JobName, Status: "completed", Conclusion: conclusion, RunnerID: a.RunnerID, RunnerName: a.RunnerName,
				RunnerGroupID: a.RunnerGroupID, RunnerGroupName: a.RunnerGroupName, Labels: []string{"ubuntu-24.04", "X64"},
				StartedAt: At(w.IssuedAt.Time().Add(2 * time.Second)), CompletedAt: At(observed.Add(-10 * time.Second))},
			Workflow: GitHubWorkflow{ID: a.WorkflowID, Path: a.WorkflowPath},
			Pull: GitHubPull{Number: c.PullRequestNumber, HeadSHA: c.SourceHead, BaseRef: s.ProtectedBase, Repository: s.Repository,
				State: "open", InQueue: true},
		}}
}

// readback seals what the remote shows for an outcome.
func (k *desk) readback(outcome Status) Readback {
	k.t.Helper()
	c, w := k.s.landing(), k.s.Warrant
	if w.Admitted.Attempt.GitHub != nil {
		f := gitHubFacts(k.s, map[Status]string{Merged: "success", TerminalFailure: "failure", Dequeued: "skipped", Cancelled: "cancelled"}[outcome], k.now)
		f.Job.StartedAt, f.Job.CompletedAt = w.Admitted.AdmittedAt, At(k.now)
		if outcome == Merged {
			f.Pull.State, f.Pull.Merged, f.Contained = "closed", true, true
		}
		return must(SealGitHub(f))(k.t)
	}
	f := GitFacts{State: k.s, BuiltOn: hex40("e"), BaseHead: hex40("e"), FenceBefore: hex40("1"), FenceHead: hex40("2"), ObservedAt: k.now}
	switch outcome {
	case Merged:
		f.Contained, f.LandedTree, f.BaseHead = true, commit(c.PullRequestNumber), w.Admitted.MergeGroupHead
	case Dequeued:
		f.BaseHead = hex40("f")
	case Cancelled:
		f.CancelAsked = true
	}
	return must(SealGit(f))(k.t)
}

func (k *desk) settle(outcome Status) Transition {
	k.t.Helper()
	return k.must(Settle(k.s, SettleParams{Readback: k.readback(outcome)}, k.now))
}

// end settles a candidate that does not hold the warrant.
func (k *desk) end(c Candidate, outcome Status, f *Fence) (Transition, error) {
	k.t.Helper()
	e := SettlementEvidence{Repository: c.Repository, ProtectedBase: c.ProtectedBase, CandidateID: c.CandidateID,
		Outcome: outcome, Reason: "asked for", Actor: "per_1", ObservedAt: At(k.now)}
	doc, err := e.Value()
	if err != nil {
		k.t.Fatal(err)
	}
	return k.take(Settle(k.s, SettleParams{CandidateID: c.CandidateID, Outcome: outcome, Evidence: doc, Fence: f, Reason: "asked for"}, k.now))
}

func (k *desk) sweep() Transition {
	k.t.Helper()
	return k.must(Archive(k.s, ArchiveParams{}, k.now))
}

// both runs a test in both dialects.
func both(t *testing.T, pol Policy, run func(t *testing.T, k *desk)) {
	t.Helper()
	for _, d := range Dialects() {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			run(t, newDesk(t, d, pol))
		})
	}
}

func policy(slots, overtakes, attempts int64) Policy {
	return Policy{MaxQualificationLeases: slots, QualificationLeaseSeconds: 600, LandingLeaseSeconds: 300,
		MaxLandingOvertakes: &overtakes, MaxQualificationAttempts: &attempts}
}

// edit changes one member of a stored document and roots it again, as a forger
// would.
func edit(t tb, s State, pointer string, x any) canon.Value {
	t.Helper()
	doc := must(s.Value())(t).Any().(map[string]any)
	var at any = doc
	parts := strings.Split(pointer, "/")[1:]
	for _, p := range parts[:len(parts)-1] {
		if l, ok := at.([]any); ok {
			var i int
			if _, err := fmt.Sscan(p, &i); err != nil {
				t.Fatal(err)
			}
			at = l[i]
			continue
		}
		at = at.(map[string]any)[p]
	}
	m := at.(map[string]any)
	if last := parts[len(parts)-1]; x == nil {
		delete(m, last)
	} else {
		m[last] = x
	}
	delete(doc, "stateRoot")
	v := must(canon.From(doc))(t)
	return v.With("stateRoot", canon.StringOf(canon.Root(v)))
}
