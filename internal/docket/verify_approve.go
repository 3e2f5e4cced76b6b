package docket

import (
	"fmt"
	"strings"

	"writ/internal/journal"
	"writ/internal/ledger"
	"writ/internal/proposal"
	"writ/internal/taskpack"
)

// approve checks that every question is about a step of the plan that needs an
// answer, that every answer is to one of them by a human who may give it, and
// that the journal says the same.
func (v *verifier) approve() error {
	if v.plan.Ref == "" {
		return v.missing()
	}
	run := taskpack.RunRef(v.plan.Ref, taskpack.RunKey(v.proposal))
	asked := map[string]taskpack.Question{}
	for _, d := range v.of(ledger.KindRequest) {
		q, err := taskpack.ParseQuestion([]byte(d.Body))
		if err != nil {
			return at(d.Kind, d.Ref, err)
		}
		if err := d.named(q.Ref); err != nil {
			return err
		}
		s, ok := v.plan.Step(q.Step.ID)
		if !ok || !s.Answer {
			return wrong(d.Kind, d.Ref, "step %s needs no answer", q.Step.ID)
		}
		if err := v.asked(q, run, s); err != nil {
			return at(d.Kind, d.Ref, err)
		}
		asked[q.Ref] = q
		v.use(d)
	}
	yes, err := v.answers(asked)
	if err != nil {
		return err
	}
	if err := v.toldOf(asked); err != nil {
		return err
	}
	if yes == 0 {
		v.say("no human approved anything")
		return v.missing()
	}
	v.say(fmt.Sprintf("%d mutations approved, each by a signed answer of a human who is not the author", yes))
	return nil
}

// asked builds a question again: it shows exactly the step, and the files of its patch.
func (v *verifier) asked(q taskpack.Question, run string, s taskpack.PlanStep) error {
	if err := q.For(v.plan, run, s); err != nil {
		return err
	}
	a := taskpack.AskParams{Plan: v.plan, Run: run, Binding: v.binding, Profile: v.profile, Step: s.ID, At: q.Asked, Expires: q.Expires}
	for i := range v.patches {
		if v.patches[i].Ref == s.Patch {
			a.Patch = &v.patches[i]
		}
	}
	again, err := taskpack.Ask(a)
	if err == nil && string(again.Bytes) != string(q.Bytes) {
		err = wrong(ledger.KindRequest, q.Ref, "it shows something else than step %s", s.ID)
	}
	return err
}

// answers checks every answer, and counts those that approve.
func (v *verifier) answers(asked map[string]taskpack.Question) (yes int, err error) {
	answered := map[string]string{}
	for _, d := range v.of(ledger.KindAnswer) {
		a, err := view1(d, proposal.KindAnswer, proposal.AsAnswer)
		if err != nil {
			return 0, err
		}
		q, ok := asked[a.Request]
		switch {
		case !ok:
			return 0, wrong(d.Kind, d.Ref, "it answers %s, which is not in the docket", a.Request)
		case answered[q.Ref] != "":
			return 0, wrong(d.Kind, d.Ref, "the question was answered before, by %s", answered[q.Ref])
		}
		answered[q.Ref] = d.Ref
		if err := v.pinned(d.Kind, d.Ref, "operator", a.Node, func(t *Trust) []string { return t.Operators }); err != nil {
			return 0, err
		}
		e, ok := v.accepted(d.Ref)
		if !ok {
			return 0, wrong(d.Kind, d.Ref, "the journal never accepted it")
		}
		person := v.person(a)
		err = proposal.CheckAnswer(a, proposal.ApprovalFacts{
			Request: q.Ref, RequestExpiry: q.Expires,
			Approver: proposal.Approver{Binding: proposal.OperatorBinding(v.b.Workspace, person), Kind: proposal.ApproverPerson, ID: person, Key: a.Signer},
			Author:   v.proposal.Author, AuthorKey: v.proposal.Signer,
		}, e.time())
		if err != nil {
			return 0, at(d.Kind, d.Ref, err)
		}
		if a.Decision == proposal.AnswerApprove {
			yes++
		}
		v.use(d)
	}
	return yes, nil
}

// person is who gave an answer.
func (v *verifier) person(a proposal.Answer) string {
	return strings.TrimPrefix(a.Operator, proposal.OperatorBinding(v.b.Workspace, ""))
}

// toldOf checks that what the journal tells about questions and answers is what
// they are. A decision that names no answer was only spoken, and binds nobody.
func (v *verifier) toldOf(asked map[string]taskpack.Question) error {
	for _, e := range v.events {
		ref := e.body.Str("ref")
		if ref == "" {
			continue
		}
		switch e.Type {
		case journal.RunApprovalRequested:
			if _, ok := asked[ref]; !ok {
				return wrong("event", e.ID, "it tells of question %s, which is not in the docket", ref)
			}
		case journal.RunApprovalDecided:
			a, err := open(v, proposal.KindAnswer, ref, proposal.AsAnswer)
			if err != nil {
				return err
			}
			if e.body.Str("decision") != a.Decision || e.body.Str("by") != v.person(a) {
				return wrong("event", e.ID, "it tells that %s said %s, answer %s says %s", e.body.Str("by"), e.body.Str("decision"), ref, a.Decision)
			}
		}
	}
	return nil
}
