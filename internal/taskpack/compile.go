package taskpack

import (
	"slices"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/schema"
)

// Interface is what the host knows about an interface that can be looked at.
type Interface struct {
	Digest  string
	Access  []string // operations that the descriptor declares
	Granted bool     // the host holds a grant for it now
}

// Service is what the host knows about a service that can be controlled.
type Service struct {
	Digest  string
	Actions []string
}

// Tables are the host's own facts, by ref. A candidate is resolved in them and
// nowhere else.
type Tables struct {
	Commands    map[string]CommandProfile
	Policies    map[string]PatchPolicy
	Patches     map[string]Patch
	Interfaces  map[string]Interface
	Services    map[string]Service
	Environment Containment // what a fresh instance will be
	HIL         string      // the host's own mode; "" leaves it to profile and binding
}

// ShippedTables holds the shipped commands and policy, and the given patches.
func ShippedTables(environment Containment, patches ...Patch) Tables {
	t := Tables{
		Commands: map[string]CommandProfile{}, Patches: map[string]Patch{}, Environment: environment,
		Policies: map[string]PatchPolicy{PolicyModuleSources: ModuleSources()},
	}
	for _, c := range Commands() {
		t.Commands[c.Ref] = c
	}
	for _, p := range patches {
		t.Patches[p.Ref] = p
	}
	return t
}

// CompileParams is all that a plan depends on.
type CompileParams struct {
	Candidate  Candidate
	Profile    Profile
	Binding    Binding
	Generation int64 // of the activation, from 1
	Tables     Tables
}

// Compile turns a candidate into a plan, or refuses it as a whole: every step is
// resolved and checked before there is a plan. It infers nothing. The same
// parameters give the same bytes.
//
// A refusal is fault.Plan with the refusal code as fact "refusal" and the
// pointer of the step; a plan with a mutation in an environment that is not
// contained is plan/recovery-class-not-admitted.
func Compile(c CompileParams) (Plan, error) {
	if c.Generation < 1 || c.Generation > canon.MaxSafe {
		return Plan{}, fault.New(fault.Invalid, "compile", "generation %d is not a counter", c.Generation)
	}
	if err := CheckBinding(c.Profile, c.Binding); err != nil {
		return Plan{}, err
	}
	mode := MeetHIL(c.Profile.HIL, c.Binding.HIL, c.Tables.HIL)
	steps := make([]map[string]any, 0, len(c.Candidate.Steps))
	for i, s := range c.Candidate.Steps {
		p, err := c.step(s)
		if err == nil && !slices.Contains(c.Profile.Capabilities, p.Capability) {
			err = refuse(OutsideProfile, "the profile does not have capability %s", p.Capability)
		}
		if err == nil && i == 0 && c.Profile.FirstObserve && p.Effect != Observation {
			err = refuse(FirstStep, "step %s changes something; the profile wants a look first", s.ID)
		}
		if err == nil && p.Effect == Mutation {
			if lack := c.Tables.Environment.Check(); lack != nil {
				err = refuse(RecoveryClass, "step %s is a mutation and its environment is not contained", s.ID)
				err.Err = lack
			}
		}
		if err != nil {
			return Plan{}, err.At(canon.PointerToIndex("/steps", i)+err.Pointer).With("step", s.ID)
		}
		p.Answer = NeedsAnswer(mode, p.Effect)
		steps = append(steps, p.tree())
	}
	ref := planRef(c.Candidate.Digest(), c.Profile.Digest(), c.Binding.Digest(), c.Generation)
	v, err := build(schema.TaskPlan, map[string]any{
		"schema": "operator-task-experiment-plan.v1", "schema/v": 1, "plan/ref": ref,
		"candidate/digest": c.Candidate.Digest(), "task-profile/digest": c.Profile.Digest(),
		"local-binding/digest": c.Binding.Digest(), "activation/generation": c.Generation, "steps": steps,
	})
	if err != nil {
		return Plan{}, err
	}
	return ParsePlan(v.Canonical())
}

// step resolves one step. Its faults carry a pointer relative to the step.
func (c CompileParams) step(s Step) (PlanStep, *fault.Error) {
	switch {
	case s.Kind == StepActuate:
		return PlanStep{}, refuse(RecoveryClass, "step %s acts on the outside; no environment can take that back", s.ID)
	case s.Kind == StepPatch:
		return c.patch(s)
	case s.Kind == StepService:
		return c.service(s)
	case s.Kind == StepObserve && s.Descriptor != "":
		return c.look(s)
	case s.Command():
		return c.command(s)
	}
	return PlanStep{}, refuse(UnknownAction, "nothing is known about steps of kind %q", s.Kind)
}

func (c CompileParams) command(s Step) (PlanStep, *fault.Error) {
	row, err := c.pinned(s)
	if err != nil {
		return PlanStep{}, err
	}
	if _, err := row.Select(s.Arguments); err != nil {
		e, _ := fault.As(err)
		return PlanStep{}, e
	}
	p := PlanStep{Step: s, Pinned: row.Digest(), Capability: CapObserveCommand, Effect: Observation, Source: FromOwner}
	if s.Kind == StepObserve {
		switch {
		case row.Effect == Mutation:
			return PlanStep{}, refuse(OutsideProfile, "step %s says observe, but %s changes things", s.ID, row.Ref)
		case row.Effect != Observation || !row.Enforced:
			return PlanStep{}, refuse(EffectModeMissing, "nobody enforces that %s only looks", row.Ref)
		}
		return p, nil
	}
	p.Capability = CapRunCommand
	if row.Effect == Observation && row.Enforced {
		return p, nil
	}
	p.Effect = Mutation
	if row.Effect != Mutation || !row.Enforced {
		p.Source = FromDefault
	}
	return p, nil
}

// pinned returns the command profile of a step: named by the task profile, known
// to the host, and the same document for both.
func (c CompileParams) pinned(s Step) (CommandProfile, *fault.Error) {
	at := canon.PointerTo("", "profile/ref")
	pin, ok := find(c.Profile.Commands, s.Profile)
	if !ok {
		return CommandProfile{}, refuse(OutsideProfile, "%s is not in the task profile", s.Profile).At(at)
	}
	row, ok := c.Tables.Commands[s.Profile]
	if !ok {
		if _, service := c.Tables.Services[s.Profile]; service {
			return CommandProfile{}, refuse(OutsideProfile, "%s is a service, not a command", s.Profile).At(at)
		}
		return CommandProfile{}, refuse(ProfileMissing, "the host has no %s", s.Profile).At(at)
	}
	if row.Ref != s.Profile || row.Digest() != pin.Digest {
		return CommandProfile{}, refuse(OutsideProfile, "the host's %s is not the one that the task profile pins", s.Profile).At(at)
	}
	return row, nil
}

func (c CompileParams) patch(s Step) (PlanStep, *fault.Error) {
	at := canon.PointerTo("", "profile/ref")
	if c.Profile.Policy.Ref == "" || c.Profile.Policy.Ref != s.Profile {
		return PlanStep{}, refuse(OutsideProfile, "%s is not the patch policy of the task profile", s.Profile).At(at)
	}
	policy, ok := c.Tables.Policies[s.Profile]
	if !ok || policy.Ref != s.Profile || policy.Digest() != c.Profile.Policy.Digest {
		return PlanStep{}, refuse(OutsideProfile, "the host's %s is not the one that the task profile pins", s.Profile).At(at)
	}
	patch, ok := c.Tables.Patches[s.Patch]
	if !ok || patch.Ref != s.Patch {
		return PlanStep{}, refuse(OutsideProfile, "patch %s is not here", s.Patch).At(canon.PointerTo("", "patch/ref"))
	}
	if err := policy.Admit(patch); err != nil {
		e, _ := fault.As(err)
		return PlanStep{}, e.At(canon.PointerTo("", "patch/ref"))
	}
	return PlanStep{Step: s, Pinned: policy.Digest(), Capability: CapApplyPatch, Effect: Mutation, Source: FromOwner}, nil
}

func (c CompileParams) service(s Step) (PlanStep, *fault.Error) {
	at := canon.PointerTo("", "profile/ref")
	pin, ok := find(c.Profile.Commands, s.Profile)
	if !ok {
		return PlanStep{}, refuse(OutsideProfile, "%s is not in the task profile", s.Profile).At(at)
	}
	row, ok := c.Tables.Services[s.Profile]
	if !ok {
		return PlanStep{}, refuse(UnknownAction, "the host does not know what %s does", s.Profile).At(at)
	}
	if row.Digest != pin.Digest || !slices.Contains(row.Actions, s.Action) {
		return PlanStep{}, refuse(OutsideProfile, "%s of %s is not in the task profile", s.Action, s.Profile).At(canon.PointerTo("", "action"))
	}
	return PlanStep{Step: s, Pinned: row.Digest, Capability: CapControlService, Effect: Mutation, Source: FromOwner}, nil
}

func (c CompileParams) look(s Step) (PlanStep, *fault.Error) {
	at := canon.PointerTo("", "descriptor/ref")
	pin, ok := find(c.Profile.Observations, s.Descriptor)
	if !ok {
		return PlanStep{}, refuse(OutsideProfile, "%s is not in the task profile", s.Descriptor).At(at)
	}
	row, ok := c.Tables.Interfaces[s.Descriptor]
	if !ok {
		return PlanStep{}, refuse(UnknownAction, "the host does not know what %s does", s.Descriptor).At(at)
	}
	if row.Digest != pin.Digest {
		return PlanStep{}, refuse(OutsideProfile, "the host's %s is not the one that the task profile pins", s.Descriptor).At(at)
	}
	if !slices.Contains(row.Access, s.Operation) || !row.Granted {
		return PlanStep{}, refuse(GrantMissing, "no grant to %s %s", s.Operation, s.Descriptor).At(at)
	}
	return PlanStep{Step: s, Pinned: row.Digest, Capability: CapReadInterface, Effect: Observation, Source: FromOwner}, nil
}
