package taskpack

import (
	"writ/internal/canon"
)

// AdmitParams is what must hold when a run is admitted.
type AdmitParams struct {
	Plan       Plan
	Profile    Profile // as it is now
	Binding    Binding // as it is now
	Generation int64   // of the activation now
	Tables     Tables  // as they are now
	Open       int     // runs of this binding that are not terminal
}

// Admit checks a plan against what holds now and returns the first fact of its
// run, to be completed by Run.Append. Refusals: local-binding/revision-stale,
// local-binding/paused, package/generation-stale, run/budget-exhausted,
// environment/not-contained and those of Fence.
func Admit(a AdmitParams) (Fact, error) {
	if int64(a.Open) >= max(a.Binding.Concurrent, 1) {
		return Fact{}, refuse(BudgetExhausted, "%d runs of %s are open, %d may be", a.Open, a.Binding.Ref, a.Binding.Concurrent)
	}
	for _, s := range a.Plan.Steps {
		if err := Fence(a, s); err != nil {
			return Fact{}, err
		}
	}
	return Fact{
		Kind: FactAdmitted, Plan: a.Plan.Ref, PlanDigest: a.Plan.Digest(), Binding: a.Binding.Ref,
		Profile: a.Plan.Profile, Chosen: a.Plan.Binding, Generation: a.Plan.Generation,
	}, nil
}

// Fence is checked before every effect, whatever an earlier step was allowed:
// binding, profile and generation are still the plan's, the binding is enabled,
// the step's own document is still the one that the plan pins, and the
// environment (Tables.Environment, as attested for the instance now) is
// contained when the plan changes anything.
func Fence(a AdmitParams, s PlanStep) error {
	switch {
	case a.Binding.Paused:
		return refuse(BindingPaused, "binding %s is paused", a.Binding.Ref)
	case a.Binding.Digest() != a.Plan.Binding:
		return refuse("local-binding/revision-stale", "binding %s has changed since the plan was compiled", a.Binding.Ref)
	case a.Profile.Digest() != a.Plan.Profile:
		return refuse("local-binding/profile-changed", "profile %s has changed since the plan was compiled", a.Profile.Ref)
	case a.Generation != a.Plan.Generation:
		return refuse("package/generation-stale", "the plan is of generation %d, now is %d", a.Plan.Generation, a.Generation)
	}
	for _, x := range a.Plan.Steps {
		if x.Effect == Mutation {
			if err := a.Tables.Environment.Check(); err != nil {
				return err
			}
			break
		}
	}
	c := CompileParams{Profile: a.Profile, Binding: a.Binding, Generation: a.Generation, Tables: a.Tables}
	now, err := c.step(s.Step)
	if err != nil {
		return err
	}
	now.Answer = s.Answer
	if !canon.Equal(canon.MustFrom(now.tree()), canon.MustFrom(s.tree())) {
		return refuse(ChangedReplay, "the host's tables give step %s another meaning than the plan", s.ID)
	}
	if !s.Answer && NeedsAnswer(MeetHIL(a.Profile.HIL, a.Binding.HIL, a.Tables.HIL), s.Effect) {
		return refuse(ChangedReplay, "step %s needs a human answer now, the plan asks none", s.ID)
	}
	return nil
}
