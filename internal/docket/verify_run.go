package docket

import (
	"fmt"
	"slices"

	"writ/internal/canon"
	"writ/internal/landing"
	"writ/internal/ledger"
	"writ/internal/proposal"
	"writ/internal/taskpack"
)

// destructionSchema of the record that an environment is gone.
const destructionSchema = "writ.environment-destruction/v1"

// ran folds the facts of the run: contiguous, each step begun once, no mutation
// begun without its answer, and each outcome with the evidence that it names.
func (v *verifier) ran() error {
	docs := v.of(ledger.KindRunFact)
	if v.plan.Ref == "" {
		return v.missing()
	}
	run := taskpack.NewRun(v.plan, taskpack.RunRef(v.plan.Ref, taskpack.RunKey(v.proposal)))
	for _, d := range docs {
		f, err := taskpack.ParseFact([]byte(d.Body))
		if err != nil {
			return at(d.Kind, d.Ref, err)
		}
		if err := d.named(f.Ref()); err != nil {
			return err
		}
		if err := v.allowed(d, f); err != nil {
			return err
		}
		if run, err = run.Apply(f); err != nil {
			return at(d.Kind, d.Ref, err)
		}
		if e, ok := v.accepted(d.Ref); !ok || e.time().Sub(f.At).Abs() > landing.MaxSkew {
			return wrong(d.Kind, d.Ref, "it says that it is of %s, it was accepted at %s", f.At, e.time())
		}
		v.use(d)
	}
	switch {
	case run.Last == 0:
		return wrong(ledger.KindPlan, v.plan.Ref, "it was admitted, and the run has no facts")
	case run.Binding != v.binding.Ref:
		return wrong(ledger.KindRunFact, docs[0].Ref, "it admits under binding %s, the plan was compiled under %s", run.Binding, v.binding.Ref)
	}
	v.run = run
	if err := v.traces(); err != nil {
		return err
	}
	if run.Outcome == "" {
		v.say(fmt.Sprintf("the run is %s after %d facts", run.Phase(), run.Last))
		return nil
	}
	v.say(fmt.Sprintf("the run concluded %s; environment %s destroyed: %t", run.Outcome, run.Environment, run.Confirmed != ""))
	return v.destroyed()
}

// allowed checks that a step which needs an answer had one when it began.
func (v *verifier) allowed(d Document, f taskpack.Fact) error {
	if f.Kind != taskpack.FactStarted {
		return nil
	}
	s, ok := v.plan.Step(f.Step)
	if !ok || !s.Answer {
		return nil // an unknown step is refused by the fold
	}
	began, _ := v.accepted(d.Ref)
	for _, a := range v.of(ledger.KindAnswer) {
		answer, err := view1(a, proposal.KindAnswer, proposal.AsAnswer)
		if err != nil {
			return err
		}
		given, ok := v.accepted(a.Ref)
		if answer.Request == taskpack.QuestionRef(f.Run, f.Step) && ok && given.Seq < began.Seq {
			if answer.Decision != proposal.AnswerApprove {
				return wrong(d.Kind, d.Ref, "step %s began although a human said no", f.Step)
			}
			if err := answer.Current(f.At); err != nil {
				return at(a.Kind, a.Ref, err)
			}
			return nil
		}
	}
	return wrong(d.Kind, d.Ref, "step %s began without the answer of a human", f.Step)
}

// fact is the document of the outcome of a step.
func (v *verifier) outcomeOf(step string) Document {
	for _, d := range v.of(ledger.KindRunFact) {
		if f, err := taskpack.ParseFact([]byte(d.Body)); err == nil && f.Kind == taskpack.FactOutcome && f.Step == step {
			return d
		}
	}
	return Document{}
}

// traces checks what the steps say they left behind: the files that were written
// are the approved ones, what was kept is there, and answers are those given.
func (v *verifier) traces() error {
	for _, state := range v.run.Steps {
		s, ok := v.plan.Step(state.ID)
		if !ok {
			continue
		}
		d := v.outcomeOf(s.ID)
		if state.Answer != "" {
			a, err := open(v, proposal.KindAnswer, state.Answer, proposal.AsAnswer)
			if err != nil {
				return err
			}
			if a.Request != taskpack.QuestionRef(v.run.Ref, s.ID) || a.Decision != proposal.AnswerApprove {
				return wrong(d.Kind, d.Ref, "answer %s does not approve step %s", a.Ref, s.ID)
			}
		}
		if s.Kind == taskpack.StepPatch {
			if want := []string{s.Patch}; state.Outcome == taskpack.StepCompleted && !slices.Equal(state.Evidence, want) {
				return wrong(d.Kind, d.Ref, "it wrote %v, approved was %s", state.Evidence, s.Patch)
			}
			continue
		}
		for _, ref := range state.Evidence {
			sum, err := canon.ParseRef(objectStore, ref)
			if err != nil {
				return at(d.Kind, d.Ref, err)
			}
			if _, stored := v.bySum[sum.Hex()]; stored {
				continue // a document of the comparison: the record says which
			}
			if _, err := v.blob("output", ref, sum); err != nil {
				return err
			}
		}
	}
	return nil
}

// listing is what the list step wrote; false when the run has none.
func (v *verifier) listing() (Listing, bool, error) {
	for _, state := range v.run.Steps {
		s, _ := v.plan.Step(state.ID)
		if s.Profile != taskpack.ProfileBenchmarkList || len(state.Evidence) != 1 {
			continue
		}
		ref := state.Evidence[0]
		sum, err := canon.ParseRef(objectStore, ref)
		if err != nil {
			return Listing{}, false, at("case-listing", ref, err)
		}
		raw, err := v.blob("case-listing", ref, sum)
		if err != nil {
			return Listing{}, false, err
		}
		l, err := ParseListing(raw)
		return l, true, at("case-listing", ref, err)
	}
	return Listing{}, false, nil
}

// destroyed checks the record that the environment of the run is gone.
func (v *verifier) destroyed() error {
	if v.run.Confirmed == "" || v.run.Environment == "" {
		return nil
	}
	d, err := v.one(ledger.KindDestruction, Own(v.run.Confirmed, v.b.Run))
	if err != nil {
		return err
	}
	body, err := canon.Parse([]byte(d.Body))
	if err != nil {
		return at(d.Kind, d.Ref, err)
	}
	if err := d.named(Own(canon.PlainRef(body), v.b.Run)); err != nil {
		return err
	}
	if got := body.Str("environment/ref"); got != v.run.Environment || body.Str("schema") != destructionSchema {
		return wrong(d.Kind, d.Ref, "it is about environment %s, the run had %s", got, v.run.Environment)
	}
	return nil
}
