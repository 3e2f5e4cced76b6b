package proposal

import (
	"time"

	"writ/internal/fault"
	"writ/internal/ident"
)

// The two answers of a person.
const (
	AnswerApprove = "approve"
	AnswerDeny    = "deny"
)

// Answer is the typed view of a signed human answer. It names the question
// only; what was asked is the host's own stored copy of it.
type Answer struct {
	Document
	Request  string // ref of the question
	Operator string // ref of the operator binding
	Decision string // AnswerApprove or AnswerDeny
	Node     string // of the person's key
}

// AsAnswer reads the view.
func AsAnswer(d Document) (Answer, error) {
	if err := d.as(KindAnswer); err != nil {
		return Answer{}, err
	}
	v := d.Value
	return Answer{
		Document: d,
		Request:  v.Str("request/ref"), Operator: v.Str("operator/binding-ref"),
		Decision: v.Str("decision"), Node: v.Str("node/id"),
	}, nil
}

// OperatorBinding names the binding of a person as an operator of a workspace.
func OperatorBinding(workspace, person string) string {
	return "node-operator-binding:" + workspace + "." + person
}

// AnswerParams is what a person decides about one question.
type AnswerParams struct {
	Request   string
	Operator  string
	Decision  string
	At, Until time.Time // Until should not outlive the question
}

// SignAnswer builds an answer and signs it with the person's key.
func SignAnswer(p AnswerParams, key ident.PrivateKey) (Answer, error) {
	d, err := signTree(KindAnswer, key, map[string]any{
		"schema": "writ.human-answer/v1", "schema/v": 1,
		"request/ref":          p.Request,
		"operator/binding-ref": p.Operator,
		"decision":             p.Decision,
		"answered-at":          Instant(p.At),
		"expires-at":           Instant(p.Until),
	})
	if err != nil {
		return Answer{}, err
	}
	return AsAnswer(d)
}

// Approver is what the workspace knows about the owner of a key.
type Approver struct {
	Binding string // ref of the operator binding, "" when the owner is no operator
	Kind    string // actor kind: "person", "agent", "harness" or "system"
	ID      string // participant id
	Key     ident.PublicKey
}

// ApproverPerson is the only actor kind that may approve.
const ApproverPerson = "person"

// ApprovalFacts is what an answer is held against.
type ApprovalFacts struct {
	Request       string    // ref of the open question
	RequestExpiry time.Time // zero when the question has none
	Approver      Approver
	Author        Subject         // of the proposal
	AuthorKey     ident.PublicKey // that signed the proposal; zero when there is none
}

// CheckAnswer says whether a counts as the answer to the open question at now.
// The signer must be a person, bound as operator under the binding that the
// answer names, and someone other than the author. The rules hold for a denial as well: whoever may not approve does not
// answer at all.
//
// Errors: Relation, Signer, Forbidden, AgentApproval, SelfApproval, Expired,
// NotYet.
func CheckAnswer(a Answer, f ApprovalFacts, now time.Time) error {
	if a.Request != f.Request {
		return fault.New(fault.Relation, "answer", "answers %s, asked was %s", a.Request, f.Request).
			At(pointer("request/ref")).With("document", a.Ref)
	}
	if a.Signer != f.Approver.Key {
		return fault.New(fault.Signer, "answer", "signed by a key that is not %s's", f.Approver.ID).
			At(pointer("node/id")).With("document", a.Ref)
	}
	if f.Approver.Kind != ApproverPerson {
		return fault.New(fault.AgentApproval, "answer", "%s is of kind %q; only a person approves", f.Approver.ID, f.Approver.Kind).
			At(pointer("node/id")).With("document", a.Ref)
	}
	if f.Approver.Binding == "" || a.Operator != f.Approver.Binding {
		return fault.New(fault.Forbidden, "answer", "%s is not bound as operator by %s", f.Approver.ID, a.Operator).
			At(pointer("operator/binding-ref")).With("document", a.Ref)
	}
	if f.Approver.ID == f.Author.ID || (f.AuthorKey != ident.PublicKey{} && a.Signer == f.AuthorKey) {
		return fault.New(fault.SelfApproval, "answer", "%s proposed this change", f.Author.ID).
			At(pointer("node/id")).With("document", a.Ref).Help("ask another operator of the workspace")
	}
	if !f.RequestExpiry.IsZero() && !now.Before(f.RequestExpiry) {
		return fault.New(fault.Expired, "answer", "the question expired at %s", Instant(f.RequestExpiry)).
			At(pointer("request/ref")).With("document", a.Ref)
	}
	return a.Current(now)
}
