package schema

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"writ/internal/canon"
)

func TestLandingVectors(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join(shared(t, "vectors"), "landing.json"))
	if err != nil {
		t.Fatal(err)
	}
	v, err := canon.ParseLimits(raw, canon.Limits{Bytes: 64 << 20})
	if err != nil {
		t.Fatal(err)
	}
	check := func(id ID, pointer string) {
		t.Helper()
		x, ok := v.At(pointer)
		if !ok {
			t.Errorf("the vectors have no %s", pointer)
			return
		}
		if err := Validate(id, x); err != nil {
			t.Errorf("%s: %v", pointer, err)
		}
	}
	snapshots, _ := v.Get("snapshots")
	if snapshots.Len() < 5 {
		t.Errorf("only %d snapshots", snapshots.Len())
	}
	for _, m := range snapshots.Members() {
		check(DeliveryAuthority, canon.PointerTo("/snapshots", m.Name))
	}
	check(DeliveryAuthority, "/finalState")
	check(DeliveryAuthority, "/expiryTerminal/leasedState")
	check(SourceProofV1, "/inputs/sourceProofPr100")
	check(ExecutionReceipt, "/evidence/nativeExecutionReceipt")
	check(ExecutionBinding, "/evidence/nativeExecutionReceipt/executionBinding")
	check(NativeProof, "/evidence/nativeProof")
	check(QualificationContract, "/evidence/qualificationContract")

	// The other dialect differs in name and version only, as far as this state goes.
	final, _ := v.Get("finalState")
	if !broken(Validate(WritAuthority, final), "/contract", `must be "writ-delivery-authority"`) {
		t.Error("the law's state passes as ours")
	}
	ours := final.With("contract", canon.StringOf("writ-delivery-authority")).With("schemaVersion", canon.IntOf(1))
	if err := Validate(WritAuthority, ours); err != nil {
		t.Errorf("the same members are not valid in our dialect: %v", err)
	}
}

func TestLandingStates(t *testing.T) {
	t.Parallel()
	law := func(name, pointer, rule string, edits ...edit) variant {
		return variant{name, DeliveryAuthority, "busy", edits, pointer, rule}
	}
	writ := func(name, pointer, rule string, edits ...edit) variant {
		return variant{name, WritAuthority, "git", edits, pointer, rule}
	}
	const warrant, attempt = "/landingWarrant", "/landingWarrant/providerAttempt"
	runAll(t, []variant{
		law("a branch called main", "/protectedBase", "must match", edit{"/protectedBase", "main"}),
		law("migration", "/migration", "is not a known member", edit{"/migration", object{}}),
		law("half an admission", warrant+"/admittedAt", "is required beside", edit{warrant + "/admittedAt", nil}),
		law("half a failure binding", "/candidates/2/terminal/sealJobId", "is required", edit{"/candidates/2/terminal/sealJobId", nil}),
		law("a lease that admits", "/qualificationLeases/0/mergeGroupAdmission", "must be false", edit{"/qualificationLeases/0/mergeGroupAdmission", true}),
		law("upper-case root", "/stateRoot", `must be "sha256:" and a SHA-256 in lower-case hex`, edit{"/stateRoot", "sha256:" + strings.Repeat("A", 64)}),
		law("upper-case head", "/candidates/0/sourceHead", "must be a git object id", edit{"/candidates/0/sourceHead", strings.Repeat("A", 40)}),
		law("a status of its own", "/candidates/0/status", "must be one of", edit{"/candidates/0/status", "superseded"}),
		law("terminal as text", "/candidates/0/terminal", "must be null or an object", edit{"/candidates/0/terminal", "merged"}),
		law("a label twice", attempt+"/runnerLabels/2", "repeats item 0", edit{attempt + "/runnerLabels/-", "X64"}),
		law("an attempt on plain git", attempt+"/runId", "must be an integer", edit{attempt + "/runId", "run_1"}),
		law("no warrant", "", "", edit{warrant, null{}}),
		law("an older policy", "", "", edit{"/policy/maxLandingOvertakes", nil}, edit{"/policy/maxQualificationAttempts", nil}),
		law("repository with a no-break space", "/repository", "must match", edit{"/repository", "acme/de\u00a0mo"}),

		writ("a branch with a slash", "", "", edit{"/protectedBase", "release/2.x"}),
		writ("a branch with a space", "/protectedBase", "must match", edit{"/protectedBase", "a b"}),
		writ("a branch with a caret", "/protectedBase", "must match", edit{"/protectedBase", "a^b"}),
		writ("no branch", "/protectedBase", "must match", edit{"/protectedBase", ""}),
		writ("made-up GitHub values", attempt+"/workflowId", "is not a known member", edit{attempt + "/workflowId", 1}),
		writ("a number for a run", attempt+"/runId", "must be a string", edit{attempt + "/runId", 1}),
		writ("an attempt of no kind", attempt+"/schema", "must be one of", edit{attempt + "/schema", "x"}),
		writ("the law's contract", "/contract", `must be "writ-delivery-authority"`, edit{"/contract", "kungfu-buildchain-dev-delivery-authority"}),
		{"a failed receipt", ExecutionReceipt, "receipt", []edit{{"/outcome", "failed"}}, "/outcome", `must be "succeeded"`},
		{"a receipt without heartbeat", ExecutionReceipt, "receipt", []edit{{"/heartbeatCount", 0}}, "/heartbeatCount", "must be at least 1"},
		{"a proof without evidence", SourceProof, "proof", []edit{{"/shardEvidenceRoots", []any{}}}, "/shardEvidenceRoots", "must not be empty"},
		{"a native proof of version 3", NativeProof, "proof", []edit{{"/schema", "kungfu.buildchain.native-qualification-proof/v3"}}, "/schema", "must be"},
		{"another next action", QualificationReceipt, "receipt", []edit{{"/nextAction", "Wait."}}, "/nextAction", "must be"},
		{"a contract without environment", QualificationContract, "contract", []edit{{"/environmentRoot", nil}}, "", ""},
		{"null for an absent part", DocketBinding, "full", []edit{{"/proposal", null{}}}, "/proposal", "must be a string"},
		{"merged and not contained", GitReadback, "merged", []edit{{"/contained", false}}, "/landedTree", "is not allowed here"},
		{"contained and not merged", GitReadback, "merged", []edit{{"/outcome", "dequeued"}}, "/outcome", `must be "merged"`},
		{"not landed and no fence", GitReadback, "dequeued", []edit{{"/fenceHead", nil}}, "/fenceHead", "is required"},
	})
}

// TestTwoDialects compares the states of both dialects member by member: they
// may differ where the second one says so, and nowhere else.
func TestTwoDialects(t *testing.T) {
	t.Parallel()
	read := func(id ID) map[string]any {
		var doc map[string]any
		if err := json.Unmarshal(Raw(id), &doc); err != nil {
			t.Fatal(err)
		}
		return structure(doc, false).(map[string]any)
	}
	law, ours := read(DeliveryAuthority), read(WritAuthority)
	if !equalJSON(t, law["required"], ours["required"]) {
		t.Error("the top level requires other members")
	}
	differ := map[string]bool{"schemaVersion": true, "contract": true, "protectedBase": true}
	theirs, own := law["properties"].(map[string]any), ours["properties"].(map[string]any)
	for name, p := range theirs {
		if equalJSON(t, p, own[name]) == differ[name] {
			t.Errorf("/%s: differs %v, may differ %v", name, !differ[name], differ[name])
		}
	}
	defs := law["$defs"].(map[string]any)
	for name, d := range ours["$defs"].(map[string]any) {
		if name != "providerAttempt" && name != "githubAttempt" && !equalJSON(t, d, defs[name]) {
			t.Errorf("$defs/%s differs", name)
		}
	}
}

func equalJSON(t *testing.T, a, b any) bool {
	t.Helper()
	x, err := canon.From(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := canon.From(b)
	if err != nil {
		t.Fatal(err)
	}
	return canon.Equal(x, y)
}
