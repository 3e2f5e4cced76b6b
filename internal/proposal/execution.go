package proposal

import (
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ident"
)

// The outcomes of a run.
const (
	OutcomeVerified = "verified"
	OutcomeFailed   = "verification-failed"
	OutcomeRefused  = "refused"
	OutcomeCancel   = "cancelled"
	OutcomeUnknown  = "unknown"
)

// Execution is the typed view of a task-pack execution record v1: what the host
// says it did, and the evidence for it. It carries no output.
type Execution struct {
	Document
	Query, Room              string
	Proposal, ProposalDigest string
	Review, ReviewDigest     string
	Decision, DecisionDigest string
	Candidate                Candidate
	Target                   Target
	Plan, PlanDigest         string
	Run                      string
	Environment              string // "" when none was allocated
	Outcome                  string
	Refusal                  string // "" unless the outcome is refused
	Result                   string // digest of the experiment result
	Evidence                 []Evidence
	Host                     string // node
	Key                      string
}

// Evidence is one artifact that a step left behind.
type Evidence struct {
	Step        string
	Artifact    string // object-store ref
	Digest      string
	Environment string
}

// EvidenceOf names stored bytes as the evidence of a step.
func EvidenceOf(step, environment string, d canon.Digest) Evidence {
	return Evidence{Step: step, Artifact: canon.ObjectRef(d), Digest: DigestText(d), Environment: environment}
}

func (e Evidence) tree() map[string]string {
	return map[string]string{
		"step/id": e.Step, "artifact-ref": e.Artifact, "digest": e.Digest, "environment/ref": e.Environment,
	}
}

// AsExecution reads the view.
func AsExecution(d Document) (Execution, error) {
	if err := d.as(KindExecution); err != nil {
		return Execution{}, err
	}
	v := d.Value
	e := Execution{
		Document: d,
		Query:    v.Str("query/id"), Room: v.Str("room/id"),
		Proposal: v.Str("proposal/ref"), ProposalDigest: v.Str("proposal/digest"),
		Review: v.Str("review/ref"), ReviewDigest: v.Str("review/digest"),
		Decision: v.Str("decision/ref"), DecisionDigest: v.Str("decision/digest"),
		Candidate: candidateOf(v, "candidate"), Target: targetOf(v, "target"),
		Plan: v.Str("plan/ref"), PlanDigest: v.Str("plan/digest"), Run: v.Str("run/ref"),
		Environment: v.Str("environment/ref"), Outcome: v.Str("outcome"), Refusal: v.Str("refusal/code"),
		Result: v.Str("result/digest"), Host: v.Str("host/node-id"), Key: v.Str("idempotency/key"),
	}
	items, _ := v.Get("evidence")
	for _, i := range items.Elems() {
		e.Evidence = append(e.Evidence, Evidence{
			Step: i.Str("step/id"), Artifact: i.Str("artifact-ref"),
			Digest: i.Str("digest"), Environment: i.Str("environment/ref"),
		})
	}
	return e, nil
}

// evidenceOwn checks that every piece of evidence was made in the environment
// of the record itself: evidence of another one, however well signed, proves
// nothing here.
func evidenceOwn(v canon.Value) error {
	own := v.Str("environment/ref")
	items, _ := v.Get("evidence")
	for i, e := range items.Elems() {
		at := canon.PointerToIndex(pointer("evidence"), i)
		if err := addressed(KindExecution, at, e, "artifact-ref", "digest"); err != nil {
			return err
		}
		if e.Str("environment/ref") != own {
			return fault.New(fault.Relation, string(KindExecution), "evidence of %s in a record of %q", e.Str("environment/ref"), own).
				At(canon.PointerTo(at, "environment/ref")).With("document", string(KindExecution))
		}
	}
	return nil
}

// ExecutionParams is what the host knows when a run is over.
type ExecutionParams struct {
	Proposal         Proposal
	Review           Review
	Decision         Decision
	Plan, PlanDigest string
	Run              string
	Environment      string // "" when none was allocated
	Outcome          string
	Refusal          string // only with OutcomeRefused
	Result           string // digest of the experiment result
	Evidence         []Evidence
	At               time.Time
	Key              string // "" means one record per run
}

// SignExecution builds the execution record and signs it with the host's key.
// It fails with fault.Invalid when the proposal has no target.
func SignExecution(p ExecutionParams, key ident.PrivateKey) (Execution, error) {
	if p.Proposal.Target == nil {
		return Execution{}, fault.New(fault.Invalid, "execution", "the proposal has no target").At(pointer("target"))
	}
	if p.Key == "" {
		p.Key = "record:" + p.Run
	}
	evidence := make([]map[string]string, 0, len(p.Evidence))
	for _, e := range p.Evidence {
		evidence = append(evidence, e.tree())
	}
	body := map[string]any{
		"schema/v": 1,
		"query/id": p.Proposal.Query, "room/id": p.Proposal.Room,
		"proposal/ref": p.Proposal.Ref, "proposal/digest": p.Proposal.Digest(),
		"review/ref": p.Review.Ref, "review/digest": p.Review.Digest(),
		"decision/ref": p.Decision.Ref, "decision/digest": p.Decision.Digest(),
		"candidate": p.Proposal.Candidate.tree(), "target": p.Proposal.Target.tree(),
		"plan/ref": p.Plan, "plan/digest": p.PlanDigest, "run/ref": p.Run,
		"outcome": p.Outcome, "result/digest": p.Result,
		"evidence":    evidence,
		"recorded-at": Instant(p.At), "idempotency/key": p.Key,
	}
	if p.Environment != "" {
		body["environment/ref"] = p.Environment
	}
	if p.Refusal != "" {
		body["refusal/code"] = p.Refusal
	}
	d, err := signTree(KindExecution, key, body)
	if err != nil {
		return Execution{}, err
	}
	return AsExecution(d)
}
