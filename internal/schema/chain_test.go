package schema

import (
	"encoding/json"
	"strings"
	"testing"

	"writ/internal/canon"
)

const (
	someDigest = "sha256:47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"
	someNode   = "node:did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK"
)

// TestChain has one line per document of the negative matrix that a schema can
// catch, and per rule of its neighbours.
func TestChain(t *testing.T) {
	t.Parallel()
	proposal := func(name, sample, pointer, rule string, edits ...edit) variant {
		return variant{name, ExperimentProposal, sample, edits, pointer, rule}
	}
	executor := func(name, rule, member string, e object) variant {
		return variant{name, ExperimentProposal, "plan", []edit{{"/executor", e}}, "/executor/" + member, rule}
	}
	subject := object{"kind": "nym", "id": "x"}
	review := func(name, pointer, rule string, edits ...edit) variant {
		return variant{name, ExperimentReview, "accept", edits, pointer, rule}
	}
	decision := func(name, pointer, rule string, edits ...edit) variant {
		return variant{name, ChairDecision, "admit", edits, pointer, rule}
	}
	older := func(name, pointer, rule string, edits ...edit) variant {
		return variant{name, ExperimentProposalV1, "observe", edits, pointer, rule}
	}
	execution := func(name, sample, pointer, rule string, edits ...edit) variant {
		return variant{name, Execution, sample, edits, pointer, rule}
	}
	runAll(t, []variant{
		proposal("missing target", "task-pack", "/target", "is required", edit{"/target", nil}),
		proposal("plan with target", "plan", "/target", "is not allowed here", edit{"/target", object{"task-profile/ref": "operator-task-profile:p", "task-profile/digest": someDigest, "binding/ref": "operator-task-local-binding:b"}}),
		proposal("local agent executor", "task-pack", "/executor/mode", `must be "deterministic-host-compiler"`, edit{"/executor", object{"mode": "local-agent", "agent/ref": "agent:a"}}),
		proposal("other artifact type", "task-pack", "/candidate/artifact~1type", "must be one of", edit{"/candidate/artifact~1type", "operator-task-patch.v1"}),
		proposal("untyped candidate", "task-pack", "/candidate/artifact~1type", "is required", edit{"/candidate/artifact~1type", nil}),
		proposal("plan by the compiler", "plan", "", "", edit{"/executor", object{"mode": "deterministic-host-compiler"}}),
		proposal("version 1 in a version 2", "task-pack", "/schema~1v", "must be 2", edit{"/schema~1v", 1}),
		proposal("opting out of people", "task-pack", "/human-in-loop~1required", "must be true", edit{"/human-in-loop~1required", false}),
		proposal("room with a no-break space", "task-pack", "/room~1id", `must be "room:" and text without white space`, edit{"/room~1id", "room:a\u00a0b"}),
		proposal("query with a line separator", "task-pack", "/query~1id", `must be "query:" and text without white space`, edit{"/query~1id", "query:\u2028"}),
		proposal("node with a vertical tab", "task-pack", "/author~1node-id", `must be "node:did:key:" and text without white space`, edit{"/author~1node-id", someNode + "\v"}),
		proposal("padded digest", "task-pack", "/candidate/digest", "must be", edit{"/candidate/digest", someDigest + "="}),
		proposal("time without zone", "task-pack", "/expires-at", "must be a time", edit{"/expires-at", "2026-08-12T00:00:00"}),
		proposal("empty idempotency key", "task-pack", "/idempotency~1key", "must not be empty", edit{"/idempotency~1key", ""}),
		proposal("idempotency key of 257", "task-pack", "/idempotency~1key", "must have at most 256 characters", edit{"/idempotency~1key", strings.Repeat("é", 257)}),
		proposal("idempotency key of 256", "task-pack", "", "", edit{"/idempotency~1key", strings.Repeat("\U0001F600", 256)}),
		proposal("short signature", "task-pack", "/signature/value", "must be a signature", edit{"/signature/value", strings.Repeat("A", 85)}),
		proposal("other algorithm", "task-pack", "/signature/alg", `must be "ed25519+domain-v1"`, edit{"/signature/alg", "ed25519"}),

		executor("observer with an agent", "is not allowed here", "agent~1ref", object{"mode": "observe-only", "agent/ref": "agent:a"}),
		executor("compiler with a node", "is not allowed here", "node~1id", object{"mode": "deterministic-host-compiler", "node/id": someNode}),
		executor("local agent without one", "is required", "agent~1ref", object{"mode": "local-agent"}),
		executor("local agent with a node", "is not allowed here", "node~1id", object{"mode": "local-agent", "agent/ref": "agent:a", "node/id": someNode}),
		executor("remote chair without node", "is required", "node~1id", object{"mode": "remote-chair-agent", "agent/ref": "agent:a"}),
		executor("remote chair with participant", "is not allowed here", "participant", object{"mode": "remote-chair-agent", "agent/ref": "agent:a", "node/id": someNode, "participant": subject}),
		executor("designated without participant", "is required", "participant", object{"mode": "designated-participant-agent", "agent/ref": "agent:a", "node/id": someNode}),

		review("replacement", "/replacement", "is not a known member", edit{"/replacement", object{}}),
		review("revise", "/verdict", `must be one of "accept", "reject", "request-regeneration"`, edit{"/verdict", "revise"}),
		review("terminal state", "/terminal-state~1digest", "is not a known member", edit{"/terminal-state~1digest", someDigest}),
		review("without findings", "/findings", "must not be empty", edit{"/findings", []any{}}),
		review("a finding of 1025", "/findings/0", "must have at most 1024 characters", edit{"/findings/0", strings.Repeat("x", 1025)}),
		review("other evidence prefix", "/evidence-state~1digest", "must be", edit{"/evidence-state~1digest", "sha512:" + strings.Repeat("A", 43)}),

		decision("activation", "/activation", "is not a known member", edit{"/activation", object{}}),
		decision("untyped candidate in a decision", "/reviewed-candidate/artifact~1type", "is required", edit{"/reviewed-candidate/artifact~1type", nil}),
		decision("approve", "/decision", "must be one of", edit{"/decision", "approve"}),
		decision("reason in words", "/reason~1code", "must match", edit{"/reason~1code", "Looks good"}),
		decision("with its agent", "", "", edit{"/chair-agent~1ref", "agent:a"}),

		older("missing plan digest", "/candidate-plan~1digest", "is required", edit{"/candidate-plan~1digest", nil}),
		older("mismatched plan artifact", "/candidate-plan~1artifact-ref", "must be", edit{"/candidate-plan~1artifact-ref", "object-store:sha512:" + strings.Repeat("A", 43)}),
		older("unknown field", "/extra", "is not a known member", edit{"/extra", true}),

		execution("verified without environment", "verified", "/environment~1ref", "is required", edit{"/environment~1ref", nil}),
		execution("refused without code", "refused", "/refusal~1code", "is required", edit{"/refusal~1code", nil}),
		execution("refused for a reason of its own", "refused", "/refusal~1code", "must be one of", edit{"/refusal~1code", "too/tired"}),
		execution("unknown without code", "refused", "", "", edit{"/outcome", "unknown"}, edit{"/refusal~1code", nil}),
		execution("without result digest", "refused", "/result~1digest", "is required", edit{"/result~1digest", nil}),
		execution("of a plan candidate", "verified", "/candidate/artifact~1type", `must be "operator-task-experiment-candidate.v1"`, edit{"/candidate/artifact~1type", "inquirium.candidate-plan.v1"}),
		execution("evidence with output", "verified", "/evidence/0/output", "is not a known member", edit{"/evidence/0/output", "x"}),
		execution("foreign evidence is a matter of the record", "verified", "", "", edit{"/evidence/0/environment~1ref", "environment:e2"}),

		{"turn of 16385", TurnProposal, "turn", []edit{{"/content", strings.Repeat("x", 16385)}}, "/content", "must have at most 16384 characters"},
		{"turn 0", TurnProposal, "turn", []edit{{"/turn~1no", 0}}, "/turn~1no", "must be at least 1"},
		{"signed turn", TurnProposal, "turn", []edit{{"/signature", object{}}}, "/signature", "is not a known member"},
		{"proposed and decided", RoleAssignment, "accepted", []edit{{"/status", "proposed"}}, "/decision~1by", "is not allowed here"},
		{"accepted and undecided", RoleAssignment, "proposed", []edit{{"/status", "accepted"}}, "/decided-at", "is required"},
		{"chair as a role", RoleAssignment, "accepted", []edit{{"/role", "chair"}}, "/role", "must be one of"},
		{"required and left out", EvidenceManifest, "manifest", []edit{{"/items/1/required", true}}, "/items/1/required", "must be false"},
		{"left out without reason", EvidenceManifest, "manifest", []edit{{"/items/1/omitted~1reason", nil}}, "/items/1/omitted~1reason", "is required"},
		{"included with reason", EvidenceManifest, "manifest", []edit{{"/items/0/omitted~1reason", "exceeds-limit"}}, "/items/0/omitted~1reason", "is not allowed here"},
		{"artifact of no execution", EvidenceManifest, "manifest", []edit{{"/items/1/execution~1ref", nil}}, "/items/1/execution~1ref", "is required"},
		{"answer without a key", HumanAnswer, "approve", []edit{{"/signature", nil}}, "/signature", "is required"},
		{"answer of maybe", HumanAnswer, "approve", []edit{{"/decision", "maybe"}}, "/decision", `must be one of "approve", "deny"`},
		{"answer by no operator", HumanAnswer, "approve", []edit{{"/operator~1binding-ref", "person:ann"}}, "/operator~1binding-ref", "must match"},
	})
}

func TestTaskPacks(t *testing.T) {
	t.Parallel()
	candidate := func(name, pointer, rule string, step object) variant {
		return variant{name, TaskCandidate, "all-kinds", []edit{{"/steps/0", step}}, "/steps/0" + pointer, rule}
	}
	patch := func(name, rule, path string) variant {
		return variant{name, TaskPatch, "two", []edit{{"/files/0/path", path}}, "/files/0/path", rule}
	}
	command := func(more object) object {
		step := object{"step/id": "a", "kind": "process", "profile/ref": "command-profile:t", "arguments": []any{}}
		for k, v := range more {
			step[k] = v
		}
		return step
	}
	const bad = "must match"
	runAll(t, []variant{
		candidate("shell", "/shell", "is not a known member", command(object{"shell": "rm -rf"})),
		candidate("digest", "/profile~1digest", "is not a known member", command(object{"profile/digest": someDigest})),
		candidate("hil flag", "/hil~1required", "is not a known member", command(object{"hil/required": false})),
		candidate("no such kind", "/kind", `must be one of "observe", "process", "patch", "service-control", "actuate"`, command(object{"kind": "fly"})),
		candidate("33 arguments", "/arguments", "must have at most 32 items", command(object{"arguments": make([]string, 33)})),
		candidate("a path for a ref", "/profile~1ref", bad, command(object{"profile/ref": "file:/etc/passwd"})),
		candidate("a backslash in a ref", "/profile~1ref", bad, command(object{"profile/ref": `c:a\b`})),
		candidate("writing to an interface", "/operation", "must be one of", object{"step/id": "a", "kind": "observe", "descriptor/ref": "d:d", "operation": "write"}),
		candidate("step id in capitals", "/step~1id", bad, command(object{"step/id": "A"})),
		{"no steps", TaskCandidate, "all-kinds", []edit{{"/steps", []any{}}}, "/steps", "must not be empty"},

		patch("absolute", bad, "/etc/passwd"), patch("up", bad, "../x"), patch("up inside", bad, "a/../b"), patch("dot", bad, "."),
		patch("dot inside", bad, "a/./b"), patch("double slash", bad, "a//b"), patch("slash at the end", bad, "a/"), patch("backslash", bad, `a\b`),
		patch("nul", bad, "a\x00b"), patch("newline at the end", bad, "a\n"), patch("empty", bad, ""), patch("only up", bad, ".."),
		patch("dots that are a name", "", "..."), patch("hidden", "", ".github/workflows/x.yml"), patch("spaces", "", "a b/c d"), patch("not ASCII", "", "é/ü.go"),
		patch("long", "must have at most 512 characters", strings.Repeat("x", 513)),
		{"write without content", TaskPatch, "two", []edit{{"/files/0/content~1base64", nil}}, "/files/0/content~1base64", "is required"},
		{"delete with content", TaskPatch, "two", []edit{{"/files/1/content~1base64", ""}}, "/files/1/content~1base64", "is not allowed here"},
		{"empty file", TaskPatch, "two", []edit{{"/files/0/content~1base64", ""}}, "", ""},

		{"second spelling of a digest", TaskPlan, "plan", []edit{{"/candidate~1digest", someDigest[:len(someDigest)-1] + "V"}}, "/candidate~1digest", "must be"},
		{"mutation without a question", TaskPlan, "plan", []edit{{"/steps/1/hil~1required", false}}, "/steps/1/hil~1required", "must be true"},
		{"observation by default", TaskPlan, "plan", []edit{{"/steps/0/effect~1source", "missing-source-default"}}, "/steps/0/effect~1source", `must be "owner-enforced"`},
		{"patch as an observation", TaskPlan, "plan", []edit{{"/steps/1/effect~1class", "observation"}}, "/steps/1/effect~1class", `must be "contained-mutation"`},
		{"process that observes", TaskPlan, "plan", []edit{{"/steps/2/effect~1class", "observation"}, {"/steps/2/effect~1source", "owner-enforced"}, {"/steps/2/hil~1required", false}}, "", ""},
		{"process that observes by default", TaskPlan, "plan", []edit{{"/steps/2/effect~1class", "observation"}}, "/steps/2/effect~1source", `must be "owner-enforced"`},
		{"planned actuation", TaskPlan, "plan", []edit{{"/steps/0/kind", "actuate"}}, "/steps/0/kind", "must be one of"},
		{"question that needs no answer", HILRequest, "patch", []edit{{"/step/hil~1required", false}}, "/step/hil~1required", "must be true"},
		{"question with prose", HILRequest, "patch", []edit{{"/why", "please"}}, "/why", "is not a known member"},
		{"only a patch policy's name", TaskProfile, "profile", []edit{{"/workbench/patch-policy~1digest", nil}}, "/workbench/patch-policy~1digest", `is required beside "patch-policy/ref"`},
		{"no patch policy", TaskProfile, "profile", []edit{{"/workbench/patch-policy~1digest", nil}, {"/workbench/patch-policy~1ref", nil}}, "", ""},
		{"flow as a reference", TaskProfile, "profile", []edit{{"/deliberation/inference-flow~1ref", "flow:one"}}, "", ""},
		{"limits without wall time", TaskProfile, "profile", []edit{{"/deliberation/limits/max~1wall-time-ms", nil}}, "/deliberation/limits/max~1wall-time-ms", "is required"},
		{"a role twice", TaskProfile, "profile", []edit{{"/deliberation/roles/-", "reviewer"}}, "/deliberation/roles/2", "repeats item 1"},
		{"binding with 65 runs", TaskBinding, "binding", []edit{{"/safety/max~1concurrent-runs", 65}}, "/safety/max~1concurrent-runs", "must be at most 64"},
		{"completed with a refusal", RunFact, "step-outcome", []edit{{"/fact/outcome", "completed"}}, "/fact/refusal~1code", "is not allowed here"},
		{"not-run as a fact", RunFact, "step-outcome", []edit{{"/fact/outcome", "not-run"}}, "/fact/outcome", "must be one of"},
		{"fact 0", RunFact, "concluded", []edit{{"/sequence", 0}}, "/sequence", "must be at least 1"},
		{"verified without verifier", ExperimentResult, "verified", []edit{{"/verifier", nil}}, "/verifier", "is required"},
		{"verified and not passed", ExperimentResult, "verified", []edit{{"/verifier/passed", false}}, "/verifier/passed", "must be true"},
		{"destroyed without confirmation", ExperimentResult, "verified", []edit{{"/rollback/destruction~1confirmation-ref", nil}}, "/rollback/destruction~1confirmation-ref", "is required"},
		{"refusal with another retry class", Refusal, "denied", []edit{{"/retry-class", "transient"}}, "/retry-class", `must be "terminal"`},
		{"refusal with another next action", Refusal, "denied", []edit{{"/next-action", "start-new-run"}}, "/next-action", `must be "none"`},
	})
}

// TestRefusalVocabulary holds the schema against itself: 45 codes, each with
// exactly one retry class and one next action.
func TestRefusalVocabulary(t *testing.T) {
	t.Parallel()
	var defs struct {
		Defs struct{ Refusal struct{ Enum []string } } `json:"$defs"`
	}
	var doc struct {
		Properties map[string]struct{ Enum []string }
	}
	for _, err := range []error{
		json.Unmarshal(mustRead(t, "files/defs.operator-task.v1"+suffix), &defs),
		json.Unmarshal(Raw(Refusal), &doc),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	codes := defs.Defs.Refusal.Enum
	if len(codes) != 45 {
		t.Errorf("%d codes", len(codes))
	}
	for _, code := range codes {
		fits := 0
		for _, retry := range doc.Properties["retry-class"].Enum {
			for _, next := range doc.Properties["next-action"].Enum {
				v := canon.MustFrom(map[string]any{"schema": "operator-task-refusal.v1", "schema/v": 1, "refusal/code": code, "retry-class": retry, "next-action": next})
				if Validate(Refusal, v) == nil {
					fits++
				}
			}
		}
		if fits != 1 {
			t.Errorf("%s has %d rows", code, fits)
		}
	}
}
