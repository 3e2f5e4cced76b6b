package taskpack

import (
	"bytes"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/proposal"
	"writ/internal/schema"
)

// Where an effect class comes from.
const (
	FromOwner   = "owner-enforced"
	FromDefault = "missing-source-default" // nobody declared one, so it is a mutation
)

// PlanStep is a step with what the host's tables say about it.
type PlanStep struct {
	Step
	Pinned     string // digest of the command profile, patch policy, service or descriptor
	Capability string
	Effect     string // Observation or Mutation
	Source     string // FromOwner or FromDefault
	Answer     bool   // a person is asked first
}

func (s PlanStep) tree() map[string]any {
	t := s.Step.tree()
	pin := "profile/digest"
	if s.Descriptor != "" {
		pin = "descriptor/digest"
	}
	t[pin], t["capability/id"] = s.Pinned, s.Capability
	t["effect/class"], t["effect/source"], t["hil/required"] = s.Effect, s.Source, s.Answer
	return t
}

func planStepOf(v canon.Value) PlanStep {
	s := PlanStep{
		Step: stepOf(v), Pinned: v.Str("profile/digest"), Capability: v.Str("capability/id"),
		Effect: v.Str("effect/class"), Source: v.Str("effect/source"), Answer: boolean(v, "hil/required"),
	}
	if s.Descriptor != "" {
		s.Pinned = v.Str("descriptor/digest")
	}
	return s
}

// Plan is the immutable outcome of a compilation.
type Plan struct {
	Ref        string
	Candidate  string // digest
	Profile    string // digest
	Binding    string // digest
	Generation int64  // of the activation it was compiled under
	Steps      []PlanStep
	Value      canon.Value
	Bytes      []byte // canonical
}

// Digest is the digest of the canonical bytes.
func (p Plan) Digest() string { return proposal.DigestText(canon.Sum(p.Bytes)) }

// Step returns the step of that id.
func (p Plan) Step(id string) (PlanStep, bool) {
	for _, s := range p.Steps {
		if s.ID == id {
			return s, true
		}
	}
	return PlanStep{}, false
}

// planRef is the content address of what a plan is compiled from.
func planRef(candidate, profile, binding string, generation int64) string {
	return address("operator-task-plan", "operator-task-plan.v1", map[string]any{
		"candidate/digest": candidate, "task-profile/digest": profile,
		"local-binding/digest": binding, "activation/generation": generation,
	})
}

// ParsePlan reads a stored plan and checks that its ref is the address of its
// inputs. Errors: TooLarge, Malformed, Invalid, RefMismatch.
func ParsePlan(raw []byte) (Plan, error) {
	v, err := read(schema.TaskPlan, raw, MaxCandidate)
	if err != nil {
		return Plan{}, err
	}
	p := Plan{
		Ref: v.Str("plan/ref"), Candidate: v.Str("candidate/digest"), Profile: v.Str("task-profile/digest"),
		Binding: v.Str("local-binding/digest"), Generation: integer(v, "activation/generation"),
		Value: v, Bytes: v.Canonical(),
	}
	if own := planRef(p.Candidate, p.Profile, p.Binding, p.Generation); own != p.Ref {
		return Plan{}, fault.New(fault.RefMismatch, "plan", "says %s, its inputs are %s", p.Ref, own).At(canon.PointerTo("", "plan/ref"))
	}
	for i, e := range member(v, "steps").Elems() {
		s := planStepOf(e)
		if _, twice := p.Step(s.ID); twice {
			return Plan{}, invalid("plan", canon.PointerTo(canon.PointerToIndex("/steps", i), "step/id"), "step %q comes twice", s.ID)
		}
		p.Steps = append(p.Steps, s)
	}
	return p, nil
}

// Replay holds a fresh compilation against the stored plan of the same ref. The
// same bytes are a replay; others are plan/changed-replay: a table of the host
// has changed under the same names.
func Replay(stored, fresh Plan) error {
	if stored.Ref == fresh.Ref && bytes.Equal(stored.Bytes, fresh.Bytes) {
		return nil
	}
	return refuse(ChangedReplay, "plan %s compiles to %s now, before to %s", fresh.Ref, fresh.Digest(), stored.Digest())
}

// RunRef is the content address of a run: its plan and the key of whoever asked
// for it. RunKey gives the key of a proposal.
func RunRef(planRef, key string) string {
	return address("operator-task-run", "operator-task-run.v1", map[string]any{"plan/ref": planRef, "run/key": key})
}

// RunKey is the run key of a proposal: one run per proposal, so that posting a
// chain again finds the run that is there.
func RunKey(p proposal.Proposal) string { return p.Ref }

// RelatePlan says whether plan was compiled from what p proposes: its candidate
// by digest, its target profile by ref and digest, its binding by name. The
// fault names the member of the proposal that does not fit.
func RelatePlan(p proposal.Proposal, c Candidate, profile Profile, binding Binding, plan Plan) error {
	misfit := func(at, format string, args ...any) error {
		return fault.New(fault.Relation, "relate plan", format, args...).At(at).
			With("document", string(proposal.KindProposal)).With("against", "plan")
	}
	if p.Target == nil {
		return misfit("/target", "the proposal has no target")
	}
	for _, x := range []struct{ at, want, got string }{
		{"/candidate/digest", p.Candidate.Digest, c.Digest()},
		{"/candidate/digest", p.Candidate.Digest, plan.Candidate},
		{"/target/task-profile~1ref", p.Target.Profile, profile.Ref},
		{"/target/task-profile~1digest", p.Target.ProfileDigest, profile.Digest()},
		{"/target/task-profile~1digest", p.Target.ProfileDigest, plan.Profile},
		{"/target/binding~1ref", p.Target.Binding, binding.Ref},
		{"/target/binding~1ref", binding.Digest(), plan.Binding},
	} {
		if x.want != x.got {
			return misfit(x.at, "%s, but the plan was compiled from %s", x.want, x.got)
		}
	}
	return nil
}
