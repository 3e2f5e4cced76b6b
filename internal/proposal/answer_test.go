package proposal

import (
	"testing"
	"time"

	"writ/internal/fault"
	"writ/internal/ident"
)

func TestCheckAnswer(t *testing.T) {
	t.Parallel()
	c := newChain()
	person := Approver{Binding: c.answer.Operator, Kind: ApproverPerson, ID: "per_01J0000000000000000000000D", Key: c.operator.Public()}
	good := ApprovalFacts{
		Request: c.answer.Request, RequestExpiry: at(50), Approver: person,
		Author: c.proposal.Author, AuthorKey: c.proposal.Signer,
	}
	with := func(change func(*ApprovalFacts)) ApprovalFacts {
		f := good
		change(&f)
		return f
	}
	for _, row := range []struct {
		name    string
		facts   ApprovalFacts
		now     time.Time
		code    fault.Code // "" when it counts
		pointer string
	}{
		{"a person who is an operator", good, at(25), "", ""},
		{"no question expiry", with(func(f *ApprovalFacts) { f.RequestExpiry = time.Time{} }), at(25), "", ""},
		{"another question", with(func(f *ApprovalFacts) { f.Request = "operator-task-hil-request:x" }), at(25), fault.Relation, "/request~1ref"},
		{"a key that is not the person's", with(func(f *ApprovalFacts) { f.Approver.Key = c.host.Public() }), at(25), fault.Signer, "/node~1id"},
		{"nobody's key", with(func(f *ApprovalFacts) { f.Approver = Approver{} }), at(25), fault.Signer, "/node~1id"},
		{"an agent", with(func(f *ApprovalFacts) { f.Approver.Kind = "agent" }), at(25), fault.AgentApproval, "/node~1id"},
		{"an agent that approves its own", with(func(f *ApprovalFacts) { f.Approver.Kind = "agent" }), at(25), fault.AgentApproval, "/node~1id"},
		{"a harness", with(func(f *ApprovalFacts) { f.Approver.Kind = "harness" }), at(25), fault.AgentApproval, "/node~1id"},
		{"of unknown kind", with(func(f *ApprovalFacts) { f.Approver.Kind = "" }), at(25), fault.AgentApproval, "/node~1id"},
		{"not an operator", with(func(f *ApprovalFacts) { f.Approver.Binding = "" }), at(25), fault.Forbidden, "/operator~1binding-ref"},
		{"operator of another workspace", with(func(f *ApprovalFacts) { f.Approver.Binding = OperatorBinding("ws_2", "per_D") }), at(25), fault.Forbidden, "/operator~1binding-ref"},
		{"the author", with(func(f *ApprovalFacts) { f.Author = Participant(person.ID) }), at(25), fault.SelfApproval, "/node~1id"},
		{"the author under another id", with(func(f *ApprovalFacts) { f.AuthorKey = c.operator.Public() }), at(25), fault.SelfApproval, "/node~1id"},
		{"after the question expired", with(func(f *ApprovalFacts) { f.RequestExpiry = at(25) }), at(25), fault.Expired, "/request~1ref"},
		{"after the answer expired", good, at(40), fault.Expired, "/expires-at"},
		{"one millisecond before it expires", good, at(40).Add(-time.Millisecond), "", ""},
		{"from the future", good, at(20).Add(-5001 * time.Millisecond), fault.NotYet, "/answered-at"},
		{"from a clock five seconds ahead", good, at(20).Add(-5 * time.Second), "", ""},
		{"no author key", with(func(f *ApprovalFacts) { f.AuthorKey = ident.PublicKey{} }), at(25), "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			err := CheckAnswer(c.answer, row.facts, row.now)
			if row.code == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			wantFault(t, err, row.code, row.pointer)
		})
	}
}

func TestAnswerIsOncePerQuestion(t *testing.T) {
	t.Parallel()
	c := newChain()
	deny := must(SignAnswer(AnswerParams{Request: c.answer.Request, Operator: c.answer.Operator, Decision: AnswerDeny, At: at(21), Until: at(30)}, c.host))
	if deny.Identity() != c.answer.Identity() || deny.Ref == c.answer.Ref {
		t.Errorf("two answers to one question must share an identity: %s, %s", deny.Identity(), c.answer.Identity())
	}
}
