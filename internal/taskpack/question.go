package taskpack

import (
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/proposal"
	"writ/internal/schema"
)

// Question asks a person about one step of one run. It shows derived facts only:
// the stamped step, the exact files and what undoing means; no word of a model.
type Question struct {
	Ref                string
	Run, Plan, Binding string // refs
	Profile, Chosen    string // digests of the task profile and of the binding
	Generation         int64
	Step               PlanStep
	Rollback           string
	Asked, Expires     time.Time
	Value              canon.Value
	Bytes              []byte // canonical
}

// QuestionRef is the content address of (run, step): one question per step and
// run, and no answer carries over to another run of the same plan.
func QuestionRef(run, step string) string {
	return address(proposal.RequestPrefix, "operator-task-hil-request.v1", map[string]any{"run/ref": run, "step/id": step})
}

// AskParams is what a question is built from.
type AskParams struct {
	Plan        Plan
	Run         string // ref
	Binding     Binding
	Profile     Profile
	Step        string // id
	Patch       *Patch // of a patch step, else nil
	At, Expires time.Time
}

// Ask builds the question about a step that needs an answer. Errors: Invalid for
// a step that is not in the plan, needs no answer or lacks its patch; Relation
// for a profile, binding or patch that is not the plan's.
func Ask(a AskParams) (Question, error) {
	s, ok := a.Plan.Step(a.Step)
	switch {
	case !ok:
		return Question{}, fault.New(fault.Invalid, "ask", "the plan has no step %q", a.Step)
	case !s.Answer:
		return Question{}, fault.New(fault.Invalid, "ask", "step %s needs no answer", a.Step)
	case a.Profile.Digest() != a.Plan.Profile || a.Binding.Digest() != a.Plan.Binding:
		return Question{}, fault.New(fault.Relation, "ask", "profile or binding is not the plan's")
	case (s.Kind == StepPatch) != (a.Patch != nil):
		return Question{}, fault.New(fault.Invalid, "ask", "a patch is shown exactly for a patch step")
	case a.Patch != nil && a.Patch.Ref != s.Patch:
		return Question{}, fault.New(fault.Relation, "ask", "%s is not the patch of step %s", a.Patch.Ref, s.ID)
	}
	body := map[string]any{
		"schema": "operator-task-hil-request.v1", "schema/v": 1, "request/ref": QuestionRef(a.Run, a.Step),
		"run/ref": a.Run, "plan/ref": a.Plan.Ref, "binding/ref": a.Binding.Ref,
		"task-profile/digest": a.Plan.Profile, "local-binding/digest": a.Plan.Binding,
		"activation/generation": a.Plan.Generation, "step": s.tree(), "rollback/mode": a.Profile.Rollback.Mode,
		"requested-at": proposal.Instant(a.At), "expires-at": proposal.Instant(a.Expires),
	}
	if a.Patch != nil {
		body["patch/files"] = a.Patch.targets()
	}
	v, err := canon.From(body)
	if err != nil {
		return Question{}, err
	}
	return ParseQuestion(v.Canonical())
}

// ParseQuestion reads a stored question and checks that its ref is the address
// of its run and step. Errors: TooLarge, Malformed, Invalid, RefMismatch.
func ParseQuestion(raw []byte) (Question, error) {
	v, err := read(schema.HILRequest, raw, maxOther)
	if err != nil {
		return Question{}, err
	}
	q := Question{
		Ref: v.Str("request/ref"), Run: v.Str("run/ref"), Plan: v.Str("plan/ref"), Binding: v.Str("binding/ref"),
		Profile: v.Str("task-profile/digest"), Chosen: v.Str("local-binding/digest"),
		Generation: integer(v, "activation/generation"), Step: planStepOf(member(v, "step")),
		Rollback: v.Str("rollback/mode"), Value: v, Bytes: v.Canonical(),
	}
	if own := QuestionRef(q.Run, q.Step.ID); own != q.Ref {
		return Question{}, fault.New(fault.RefMismatch, "question", "says %s, its run and step are %s", q.Ref, own).At(canon.PointerTo("", "request/ref"))
	}
	if q.Asked, err = proposal.ParseInstant(v.Str("requested-at")); err != nil {
		return Question{}, err
	}
	if q.Expires, err = proposal.ParseInstant(v.Str("expires-at")); err != nil {
		return Question{}, err
	}
	if !q.Asked.Before(q.Expires) {
		return Question{}, invalid("question", "/expires-at", "expires at %s, not after %s", v.Str("expires-at"), v.Str("requested-at"))
	}
	return q, nil
}

// For checks that q is the question about the step s of a run of plan: the
// lineage that an approval must have when the step begins.
func (q Question) For(plan Plan, run string, s PlanStep) error {
	switch {
	case q.Run != run || q.Step.ID != s.ID:
		return fault.New(fault.Relation, "question", "it is about step %s of %s", q.Step.ID, q.Run).With("document", "hil-request")
	case q.Plan != plan.Ref || q.Profile != plan.Profile || q.Chosen != plan.Binding || q.Generation != plan.Generation:
		return fault.New(fault.Relation, "question", "it was asked under another plan").With("document", "hil-request")
	case !canon.Equal(member(q.Value, "step"), canon.MustFrom(s.tree())):
		return fault.New(fault.Relation, "question", "the step it shows is not the plan's").At("/step").With("document", "hil-request")
	}
	return nil
}

// Accept says whether a is an answer to q that counts, given by somebody who may
// give it; the rules are those of proposal.CheckAnswer. The question and its
// expiry in f are set here.
func (q Question) Accept(a proposal.Answer, f proposal.ApprovalFacts, now time.Time) error {
	f.Request, f.RequestExpiry = q.Ref, q.Expires
	return proposal.CheckAnswer(a, f, now)
}

// Standing is where a step stands with the person who is asked.
type Standing string

// The standings.
const (
	NotRequired Standing = "not-required"
	Pending     Standing = "pending"
	Approved    Standing = "approved"
	Denied      Standing = "denied"
	Late        Standing = "expired"
)

// Stand says where a question stands at now. answer is the one accepted answer,
// or nil. A denial stays one; an approval counts until it expires itself; a
// question without an answer is late from its expiry on.
func (q Question) Stand(answer *proposal.Answer, now time.Time) Standing {
	switch {
	case answer == nil && now.Before(q.Expires):
		return Pending
	case answer == nil || answer.Request != q.Ref:
		return Late
	case answer.Decision != proposal.AnswerApprove:
		return Denied
	case answer.Current(now) != nil:
		return Late
	}
	return Approved
}
