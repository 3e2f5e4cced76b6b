package taskpack

import (
	"time"

	"writ/internal/canon"
	"writ/internal/proposal"
	"writ/internal/schema"
)

// FactKind names what a fact says.
type FactKind string

// The kinds of fact.
const (
	FactAdmitted    FactKind = "admitted"
	FactAllocated   FactKind = "environment-allocated"
	FactStarted     FactKind = "step-started" // from here on the step's effect may have happened
	FactOutcome     FactKind = "step-outcome"
	FactEvaluated   FactKind = "verifier-evaluated"
	FactCancel      FactKind = "cancel-requested"
	FactConcluded   FactKind = "concluded"
	FactDestruction FactKind = "destruction-confirmed"
)

// The outcomes of a step. NotRun is what a projection says, never a fact.
const (
	StepCompleted = "completed"
	StepRefused   = "refused"
	StepUnknown   = "unknown"
	StepNotRun    = "not-run"
)

// Fact is one line of the append-only record of a run. Which members count
// depends on Kind.
type Fact struct {
	Run      string // ref
	Sequence int64  // 1, 2, 3, …
	At       time.Time
	Kind     FactKind

	Plan, PlanDigest, Binding string // FactAdmitted
	Profile, Chosen           string // FactAdmitted: digests of profile and binding
	Generation                int64  // FactAdmitted
	Environment               string // FactAllocated: ref
	Step                      string // FactStarted, FactOutcome: id
	Outcome                   string // FactOutcome: of the step; FactConcluded: of the run
	Refusal                   Code   // with the outcome refused only
	Answer                    string // FactOutcome: ref of the human answer, or ""
	Evidence                  []string
	Result, Evaluation        string // FactEvaluated: refs
	Passed                    bool   // FactEvaluated
	Confirmation              string // FactDestruction: ref

	Value canon.Value // the document; set by ParseFact and Record
	Bytes []byte      // canonical
}

// Ref is the content address of the fact.
func (f Fact) Ref() string { return canon.Ref("operator-task-run-fact", "", f.Value) }

func (f Fact) tree() map[string]any {
	t := map[string]any{"kind": string(f.Kind)}
	switch f.Kind {
	case FactAdmitted:
		t["plan/ref"], t["plan/digest"], t["binding/ref"] = f.Plan, f.PlanDigest, f.Binding
		t["task-profile/digest"], t["local-binding/digest"], t["activation/generation"] = f.Profile, f.Chosen, f.Generation
	case FactAllocated:
		t["environment/ref"] = f.Environment
	case FactStarted:
		t["step/id"] = f.Step
	case FactOutcome:
		t["step/id"], t["outcome"], t["evidence/refs"] = f.Step, f.Outcome, append([]string{}, f.Evidence...)
		if f.Answer != "" {
			t["hil/decision-ref"] = f.Answer
		}
	case FactEvaluated:
		t["result/ref"], t["evaluation/ref"], t["passed"] = f.Result, f.Evaluation, f.Passed
	case FactConcluded:
		t["outcome"] = f.Outcome
	case FactDestruction:
		t["confirmation/ref"] = f.Confirmation
	}
	if f.Refusal != "" {
		t["refusal/code"] = string(f.Refusal)
	}
	return t
}

// written completes f with its document. Errors: Invalid.
func (f Fact) written() (Fact, error) {
	v, err := canon.From(map[string]any{
		"schema": "operator-task-run-fact.v1", "schema/v": 1, "run/ref": f.Run, "sequence": f.Sequence,
		"recorded-at": proposal.Instant(f.At), "fact": f.tree(),
	})
	if err != nil {
		return Fact{}, err
	}
	return ParseFact(v.Canonical())
}

// ParseFact reads a stored fact. Errors: TooLarge, Malformed, Invalid.
func ParseFact(raw []byte) (Fact, error) {
	v, err := read(schema.RunFact, raw, maxOther)
	if err != nil {
		return Fact{}, err
	}
	at, err := proposal.ParseInstant(v.Str("recorded-at"))
	if err != nil {
		return Fact{}, err
	}
	x := member(v, "fact")
	return Fact{
		Run: v.Str("run/ref"), Sequence: integer(v, "sequence"), At: at, Kind: FactKind(x.Str("kind")),
		Plan: x.Str("plan/ref"), PlanDigest: x.Str("plan/digest"), Binding: x.Str("binding/ref"),
		Profile: x.Str("task-profile/digest"), Chosen: x.Str("local-binding/digest"), Generation: integer(x, "activation/generation"),
		Environment: x.Str("environment/ref"), Step: x.Str("step/id"), Outcome: x.Str("outcome"),
		Refusal: Code(x.Str("refusal/code")), Answer: x.Str("hil/decision-ref"), Evidence: strs(x, "evidence/refs"),
		Result: x.Str("result/ref"), Evaluation: x.Str("evaluation/ref"), Passed: boolean(x, "passed"),
		Confirmation: x.Str("confirmation/ref"), Value: v, Bytes: v.Canonical(),
	}, nil
}
