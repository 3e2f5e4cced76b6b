package taskpack

import (
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ident"
	"writ/internal/proposal"
	"writ/internal/schema"
)

// Result is the projection of the facts of a run that has concluded.
type Result struct {
	Value canon.Value
	Bytes []byte // canonical
}

// Digest is the digest of the canonical bytes; the execution record names it.
func (r Result) Digest() string { return proposal.DigestText(canon.Sum(r.Bytes)) }

// Project says what the facts of a run add up to. Steps without facts are
// not-run. Errors: State when the run has not concluded.
func Project(r Run) (Result, error) {
	if r.Outcome == "" {
		return Result{}, fault.New(fault.State, "project", "run %s has not concluded", r.Ref)
	}
	steps := make([]map[string]any, 0, len(r.Plan.Steps))
	for i, s := range r.Plan.Steps {
		t := map[string]any{"step/id": s.ID, "outcome": StepNotRun, "evidence/refs": []string{}}
		if i < len(r.Steps) {
			x := r.Steps[i]
			t["outcome"], t["evidence/refs"] = x.Outcome, append([]string{}, x.Evidence...)
			if x.Refusal != "" {
				t["refusal/code"] = string(x.Refusal)
			}
			if x.Answer != "" {
				t["hil/decision-ref"] = x.Answer
			}
		}
		steps = append(steps, t)
	}
	rollback := map[string]any{"outcome": "rollback-pending"}
	if r.Confirmed != "" {
		rollback = map[string]any{"outcome": "destroyed", "destruction/confirmation-ref": r.Confirmed}
	}
	body := map[string]any{
		"schema": "operator-task-experiment-result.v1", "schema/v": 1,
		"run/ref": r.Ref, "plan/ref": r.Plan.Ref, "plan/digest": r.Plan.Digest(), "task-profile/digest": r.Plan.Profile,
		"local-binding/digest": r.Plan.Binding, "activation/generation": r.Plan.Generation,
		"outcome": r.Outcome, "steps": steps, "rollback": rollback,
		"timings":    map[string]string{"started-at": proposal.Instant(r.Began), "finished-at": proposal.Instant(r.Ends)},
		"disclosure": map[string]any{"offer-fields": []string{}, "diagnostic-fields": []string{}},
	}
	if r.Refusal != "" {
		body["refusal/code"] = string(r.Refusal)
	}
	if r.Evaluated != nil {
		body["verifier"] = map[string]any{
			"result/ref": r.Evaluated.Result, "evaluation/ref": r.Evaluated.Evaluation, "passed": r.Evaluated.Passed,
		}
	}
	v, err := build(schema.ExperimentResult, body)
	if err != nil {
		return Result{}, err
	}
	return Result{Value: v, Bytes: v.Canonical()}, nil
}

// Proof is what the compare step leaves behind, by digest of the stored bytes.
type Proof struct {
	Comparison canon.Digest
	ResultSet  canon.Digest
	Gate       canon.Digest
}

func (p Proof) evidence(environment string) []proposal.Evidence {
	return []proposal.Evidence{
		proposal.EvidenceOf(Compare, environment, p.Comparison),
		proposal.EvidenceOf(Compare, environment, p.ResultSet),
		proposal.EvidenceOf(Compare, environment, p.Gate),
	}
}

// RecordParams is what a host signs when a run is terminal.
type RecordParams struct {
	Proposal proposal.Proposal
	Review   proposal.Review
	Decision proposal.Decision
	Run      Run
	Proof    *Proof // needed for verified and verification-failed, else nil
	At       time.Time
}

// Record builds and signs the execution record of a terminal run: exactly three
// pieces of evidence when the gate spoke, none otherwise. Errors: State (the run
// is not terminal), Relation (it is not of this chain), Invalid (evidence).
func Record(p RecordParams, key ident.PrivateKey) (proposal.Execution, error) {
	r := p.Run
	if r.Phase() != PhaseTerminal {
		return proposal.Execution{}, fault.New(fault.State, "record", "run %s is %s", r.Ref, r.Phase())
	}
	if r.Ref != RunRef(r.Plan.Ref, RunKey(p.Proposal)) || p.Proposal.Candidate.Digest != r.Plan.Candidate {
		return proposal.Execution{}, fault.New(fault.Relation, "record", "run %s is not of proposal %s", r.Ref, p.Proposal.Ref)
	}
	if judged(r.Outcome) != (p.Proof != nil) {
		return proposal.Execution{}, fault.New(fault.Invalid, "record", "evidence is given exactly when the gate spoke; the outcome is %s", r.Outcome)
	}
	result, err := Project(r)
	if err != nil {
		return proposal.Execution{}, err
	}
	var evidence []proposal.Evidence
	if p.Proof != nil {
		evidence = p.Proof.evidence(r.Environment)
	}
	return proposal.SignExecution(proposal.ExecutionParams{
		Proposal: p.Proposal, Review: p.Review, Decision: p.Decision,
		Plan: r.Plan.Ref, PlanDigest: r.Plan.Digest(), Run: r.Ref, Environment: r.Environment,
		Outcome: r.Outcome, Refusal: string(r.Refusal), Result: result.Digest(), Evidence: evidence, At: p.At,
	}, key)
}

func judged(outcome string) bool {
	return outcome == proposal.OutcomeVerified || outcome == proposal.OutcomeFailed
}

// RelateRecord says whether an execution record is that of the folded run: plan,
// run, environment, outcome, refusal and result are what the facts say, and the
// evidence is the compare step's, three pieces when the gate spoke.
func RelateRecord(e proposal.Execution, r Run) error {
	result, err := Project(r)
	if err != nil {
		return err
	}
	for _, x := range []struct{ member, got, want string }{
		{"plan/ref", e.Plan, r.Plan.Ref}, {"plan/digest", e.PlanDigest, r.Plan.Digest()}, {"run/ref", e.Run, r.Ref},
		{"environment/ref", e.Environment, r.Environment}, {"outcome", e.Outcome, r.Outcome},
		{"refusal/code", e.Refusal, string(r.Refusal)}, {"result/digest", e.Result, result.Digest()},
	} {
		if x.got != x.want {
			return fault.New(fault.Relation, "relate record", "%q, but the facts say %q", x.got, x.want).
				At(canon.PointerTo("", x.member)).With("document", string(proposal.KindExecution)).With("against", "run-fact")
		}
	}
	want := 0
	if judged(r.Outcome) {
		want = 3
	}
	if len(e.Evidence) != want {
		return fault.New(fault.Relation, "relate record", "%d pieces of evidence, %d expected", len(e.Evidence), want).
			At("/evidence").With("document", string(proposal.KindExecution)).With("against", "run-fact")
	}
	for i, x := range e.Evidence {
		if x.Step != Compare {
			return fault.New(fault.Relation, "relate record", "evidence of step %s", x.Step).
				At(canon.PointerTo(canon.PointerToIndex("/evidence", i), "step/id")).With("document", string(proposal.KindExecution)).With("against", "run-fact")
		}
	}
	return nil
}
