package landing

import (
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
	"writ/internal/schema"
)

// vectors is testdata/vectors.json: documents and roots that were computed by
// an independent implementation.
func vectors(t tb) canon.Value {
	t.Helper()
	b, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	return must(canon.Parse(b))(t)
}

// must turns an error into a failed test: must(f())(t).
func must[T any](x T, err error) func(tb) T {
	return func(t tb) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
}

func at(t tb, v canon.Value, pointer string) canon.Value {
	t.Helper()
	x, ok := v.At(pointer)
	if !ok {
		t.Fatalf("no %s in the vectors", pointer)
	}
	return x
}

func str(t tb, v canon.Value, pointer string) string {
	t.Helper()
	s, _ := at(t, v, pointer).String()
	return s
}

// second is the n-th second of the day of the vectors.
func second(n int) time.Time { return time.Date(2026, 8, 12, 0, 0, n, 0, time.UTC) }

// same compares a state with a snapshot of the vectors, member by member.
func same(t tb, s State, snapshot canon.Value) {
	t.Helper()
	got := must(s.Value())(t)
	if !canon.Equal(got, snapshot) {
		t.Fatalf("state differs from the snapshot (-want +got):\n%s", cmp.Diff(snapshot.Any(), got.Any()))
	}
}

// submission reads a producer's input of the vectors.
func submission(t tb, v canon.Value) Submission {
	t.Helper()
	s := Submission{QualificationDomains: []string{}}
	n, _ := at(t, v, "/pullRequestNumber").Int()
	s.PullRequestNumber = n
	for name, p := range map[string]*string{
		"sourceHead": &s.SourceHead, "sourceRoot": &s.SourceRoot, "sourceIdentityRoot": &s.SourceIdentityRoot,
		"sourcePatchRoot": &s.SourcePatchRoot, "sourceProofRoot": &s.SourceProofRoot, "planRoot": &s.PlanRoot,
		"closureRoot": &s.ClosureRoot, "dependencyRoot": &s.DependencyRoot, "toolchainRoot": &s.ToolchainRoot,
		"environmentRoot": &s.EnvironmentRoot, "deliveryClass": (*string)(&s.DeliveryClass),
	} {
		*p = v.Str(name)
	}
	for name, p := range map[string]*[]string{
		"affectedPaths": &s.AffectedPaths, "shardEvidenceRoots": &s.ShardEvidenceRoots, "qualificationDomains": &s.QualificationDomains,
	} {
		for _, e := range at(t, v, "/"+name).Elems() {
			x, _ := e.String()
			*p = append(*p, x)
		}
	}
	c := must(NewCommand(str(t, v, "/nativeCommandContract/command")))(t)
	s.Command = &c
	return s
}

// TestVectors runs the machine through the published course of one candidate
// and compares every document and root.
func TestVectors(t *testing.T) {
	t.Parallel()
	v := vectors(t)
	snap := func(name string) canon.Value { return at(t, v, "/snapshots/"+name) }
	pol := DefaultPolicy()
	pol.QualificationLeaseSeconds, pol.LandingLeaseSeconds = 600, 300

	s := must(Create(CreateParams{Dialect: V2, Repository: "kungfu-systems/kungfu", ProtectedBase: "refs/heads/dev/v4/v4.0", Policy: pol}, second(0)))(t)
	same(t, s, snap("create"))
	if got, want := string(must(s.Value())(t).Without("stateRoot").Canonical()), str(t, v, "/steps/0/canonicalBytesWithoutNewline"); got != want {
		t.Fatalf("canonical bytes\n got %s\nwant %s", got, want)
	}

	tr := must(Submit(s, SubmitParams{Submission: submission(t, at(t, v, "/inputs/pr100"))}, second(1)))(t)
	same(t, tr.State, snap("submit"))
	wantText(t, "candidate id", tr.Candidate.CandidateID, str(t, v, "/steps/1/candidateId"))
	wantText(t, "wake root", tr.Wake.Root(), str(t, v, "/wakeAfterSubmit/wakeRoot"))

	tr = must(LeaseQualification(tr.State, LeaseQualificationParams{}, second(2)))(t)
	same(t, tr.State, snap("leaseQualification"))
	wantText(t, "lease token", tr.Lease.Token, str(t, v, "/steps/2/lease/token"))

	docs := QualificationDocuments{
		SourceProof: at(t, v, "/inputs/sourceProofPr100"), NativeProof: at(t, v, "/evidence/nativeProof"),
		Contract: at(t, v, "/evidence/qualificationContract"),
	}
	tr = must(CompleteQualification(tr.State, CompleteQualificationParams{
		Fence: tr.Lease.Fence(), SourceProof: docs.SourceProof, NativeProof: docs.NativeProof, Contract: docs.Contract,
	}, second(5)))(t)
	same(t, tr.State, snap("completeQualification"))
	wantText(t, "receipt root", tr.ReceiptRoot, str(t, v, "/steps/3/qualificationReceiptRoot"))
	docs.Receipt = tr.Receipt
	if err := VerifyQualification(*tr.Candidate, docs); err != nil {
		t.Fatal(err)
	}

	tr = must(LeaseLanding(tr.State, LeaseLandingParams{}, second(6)))(t)
	same(t, tr.State, snap("leaseLanding"))
	wantText(t, "warrant token", tr.Warrant.Token, str(t, v, "/steps/4/warrant/token"))
	fence := tr.Warrant.Fence()

	attempt := must(ParseAttempt(at(t, v, "/steps/5/providerAttempt")))(t)
	tr = must(Admit(tr.State, AdmitParams{
		Fence: fence, MergeGroupHead: attempt.GitHub.MergeGroupHead, Attempt: attempt, JobStartedAt: At(second(8)),
		HeadBranch: "gh-readonly-queue/dev/v4/v4.0/pr-100-" + attempt.GitHub.MergeGroupHead, SourceContained: true,
	}, second(10)))(t)
	same(t, tr.State, snap("admitMergeGroup"))
	wantText(t, "admission root", tr.ReceiptRoot, str(t, v, "/steps/5/admissionRoot"))
	admission := tr.Receipt

	tr = must(HeartbeatLanding(tr.State, HeartbeatLandingParams{Fence: fence, Attempt: attempt, Live: running(tr.State, second(8))}, second(20)))(t)
	same(t, tr.State, snap("heartbeatLanding"))

	facts := gitHubFacts(tr.State, "success", second(40))
	facts.Pull.State, facts.Pull.Merged, facts.Contained, facts.BaseHead = "closed", true, true, attempt.GitHub.MergeGroupHead
	rb := must(SealGitHub(facts))(t)
	if want := at(t, v, "/steps/7/readback"); !canon.Equal(rb.Document(), want) {
		t.Fatalf("readback differs (-want +got):\n%s", cmp.Diff(want.Any(), rb.Document().Any()))
	}
	tr = must(Settle(tr.State, SettleParams{PullRequestNumber: 100, SourceHead: attempt.GitHub.SourceHead, Readback: rb}, second(40)))(t)
	same(t, tr.State, snap("settleMerged"))
	if err := VerifyLanding(*tr.Candidate, admission, rb.Document()); err != nil {
		t.Fatal(err)
	}

	again := submission(t, at(t, v, "/snapshots/submitChained/candidates/1"))
	tr = must(Submit(tr.State, SubmitParams{Submission: again}, second(50)))(t)
	same(t, tr.State, snap("submitChained"))
	same(t, tr.State, at(t, v, "/finalState"))
}

// TestVectorsOfExpiry runs the published end of a candidate by expiry.
func TestVectorsOfExpiry(t *testing.T) {
	t.Parallel()
	v := vectors(t)
	leased := must(Normalise(at(t, v, "/expiryTerminal/leasedState"), ReadParams{Strict: true}))(t)
	tr := must(Recover(leased, second(12)))(t)
	same(t, tr.State, at(t, v, "/expiryTerminal/recoveredState"))
	if want := at(t, v, "/expiryTerminal/reason"); !canon.Equal(tr.Reasons[0].withRoot(), want) {
		t.Fatalf("reason differs (-want +got):\n%s", cmp.Diff(want.Any(), tr.Reasons[0].withRoot().Any()))
	}
}

// TestVectorsOfDocuments builds the published documents again.
func TestVectorsOfDocuments(t *testing.T) {
	t.Parallel()
	v := vectors(t)
	equal := func(name string, got canon.Value, pointer string) {
		t.Helper()
		if want := at(t, v, pointer); !canon.Equal(got, want) {
			t.Errorf("%s differs (-want +got):\n%s", name, cmp.Diff(want.Any(), got.Any()))
		}
	}
	command := must(NewCommand("  native-shards\n"))(t)
	equal("command", must(command.Value())(t), "/commandContract")

	source := must(ParseSourceProof(at(t, v, "/inputs/sourceProofPr100")))(t)
	_, doc, err := BuildSourceProof(source)
	equal("source proof", must(doc, err)(t), "/inputs/sourceProofPr100")

	native := must(ParseNativeProof(at(t, v, "/evidence/nativeProof")))(t)
	native.ShardEvidenceRoots = source.ShardEvidenceRoots // the receipt is added by the builder
	_, doc, err = BuildNativeProof(native)
	equal("native proof", must(doc, err)(t), "/evidence/nativeProof")
	_, doc, err = BuildRunReceipt(native.Receipt)
	equal("run receipt", must(doc, err)(t), "/evidence/nativeExecutionReceipt")

	_, doc, err = BuildNativeFailure(NativeFailure{
		PullRequestNumber: 123, ExpectedHead: hex40("a"), FencingToken: root("3"), LeaseGeneration: 4, NativeAttempts: 1,
		Reason: "native command failed", WorkerTerminationProven: true,
	})
	equal("native failure", must(doc, err)(t), "/nativeFailure")

	selection := `{
  "schema": "kungfu.buildchain.dev-delivery-runtime-selection/v1",
  "repository": "kungfu-systems/buildchain",
  "selector": "v4-alpha",
  "resolvedSha": "` + hex40("f") + `"
}
`
	wantText(t, "byte root", ByteRoot([]byte(selection)), str(t, v, "/runtimeSelectionRoot"))
	for _, c := range at(t, v, "/canonicalJson").Elems() {
		if c.Has("remark") { // members in an order that no document of ours has
			wantText(t, "root of "+c.Str("canonical"), ByteRoot([]byte(c.Str("canonical")+"\n")), c.Str("root"))
			continue
		}
		raw := must(canon.Parse([]byte(c.Str("json"))))(t)
		wantText(t, "root of "+c.Str("json"), canon.Root(raw), c.Str("root"))
	}
}

// TestVectorsOfIdentity checks the two roots that the original project itself
// publishes.
func TestVectorsOfIdentity(t *testing.T) {
	t.Parallel()
	legacy := object(
		text("repository", "example/consumer"), text("protectedBase", "dev/v1/v1.0"), number("pullRequestNumber", 7),
		text("assignmentRoot", root("1")), text("initiativeRoot", root("2")), text("sourceIdentityRoot", root("3")),
		text("deliveryClass", "non-native-fast"),
	)
	wantText(t, "legacy identity", canon.Root(legacy), "sha256:813934370a742836babec43977e77b5d028901efb6dec3ccc087993ecb69a5d4")
	v1 := must(canon.Parse([]byte(`{"schemaVersion":1,"contract":"kungfu-buildchain-dev-delivery-warrant-queue",
	"repository":"kungfu-systems/kungfu","protectedBase":"dev/v4/v4.0","generation":0,"fencingCounter":0,
	"policy":{"agingSeconds":300,"maxPriority":2,"leaseSeconds":600,"emergencyPolicy":"reviewed-explicit-only",
	"minimumWriterProtocolRoot":"sha256:54a203cadf0b14d4e3c198a3cc3c177c42813aa1c0cca03e900df714b6ae5563"},
	"activeWarrant":null,"candidates":[],"updatedAt":"2026-08-04T00:00:00.000Z"}`)))(t)
	wantText(t, "empty v1 queue", canon.Root(v1), "sha256:a6f567a84beb8b5e0d442bb1c797198c020e4e24159d422f4313ab20df067a50")
	if _, err := Normalise(v1, ReadParams{}); err == nil {
		t.Error("a version 1 queue was taken for a version 2 document")
	}
}

// TestVectorsAreValid holds every snapshot against the reference schema, our
// reader and the checker that the tests bring along.
func TestVectorsAreValid(t *testing.T) {
	t.Parallel()
	v := vectors(t)
	states := map[string]canon.Value{
		"leased": at(t, v, "/expiryTerminal/leasedState"), "recovered": at(t, v, "/expiryTerminal/recoveredState"),
		"final": at(t, v, "/finalState"),
	}
	for _, m := range at(t, v, "/snapshots").Members() {
		states[m.Name] = m.Value
	}
	for name, doc := range states {
		if err := schema.Validate(schema.DeliveryAuthority, doc); err != nil {
			t.Errorf("%s: schema: %v", name, err)
		}
		if _, err := Normalise(doc, ReadParams{Strict: true}); err != nil {
			t.Errorf("%s: reader: %v", name, err)
		}
		if wrong := independent(doc.Any().(map[string]any)); wrong != "" {
			t.Errorf("%s: independent checker: %s", name, wrong)
		}
	}
}

func wantText(t tb, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s\n got %s\nwant %s", what, got, want)
	}
}
