package proposal

import (
	"testing"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ident"
)

// chain is one valid chain with everything around it, made from fixed seeds.
type chain struct {
	author, reviewer, chair, host, operator ident.PrivateKey

	solverRole, reviewerRole Assignment
	turn, reviewTurn         Turn
	manifest                 Manifest
	proposal                 Proposal
	review                   Review
	decision                 Decision
	execution                Execution
	answer                   Answer
}

const runID = "run_01J00000000000000000000001"

var start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

func at(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }

func key(n byte) ident.PrivateKey { return ident.FromSeed([32]byte{n, 0x57}) }

// must is for the steps of a fixture that cannot fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func newChain() chain {
	c := chain{author: key(1), reviewer: key(2), chair: key(3), host: key(4), operator: key(5)}
	assign := func(id, role string) Assignment {
		return must(Assign(AssignParams{
			RunID: runID, LaneID: "lane_01J00000000000000000000001", Participant: Participant(id), Role: role,
			By: Participant("per_01J0000000000000000000000C"), At: at(0), Until: at(600),
		}))
	}
	say := func(a Assignment, event, text string, minute int) Turn {
		return must(TurnFrom(Message{
			EventID: event, RunID: runID, LaneID: "lane_01J00000000000000000000001", Assignment: a, No: 1,
			Content: text, Class: Community, At: at(minute), Until: at(400),
		}))
	}
	c.solverRole = assign("agt_01J0000000000000000000000A", RoleImplementer)
	c.reviewerRole = assign("per_01J0000000000000000000000B", RoleReviewer)
	c.turn = say(c.solverRole, "evt_01J00000000000000000000001", "Parse faster: one allocation less per member. Ł, \u2028 and <&> stay as they are.", 1)
	c.reviewTurn = say(c.reviewerRole, "evt_01J00000000000000000000002", "Looks right to me.", 6)
	c.proposal = must(SignProposal(ProposalParams{
		Turn: c.turn, Candidate: CandidateOf("candidate/one", canon.Sum([]byte("candidate"))),
		Target: Target{
			Profile:       "operator-task-profile:writ-go-change",
			ProfileDigest: DigestText(canon.Sum([]byte("profile"))), Binding: "operator-task-local-binding:ws_1",
		},
		At: at(5), Until: at(300), Key: "propose-1",
	}, c.author))
	c.manifest = must(NewManifest(ManifestParams{
		Query: c.proposal.Query, Room: c.proposal.Room, Reader: c.reviewerRole.Participant, Flow: "flow-binding:writ.review",
		Items:   []Item{{Kind: "proposal", Ref: c.proposal.Ref, Digest: c.proposal.Digest(), Required: true, Included: true}},
		Content: []byte("what was shown"), Class: Community, Target: &c.proposal,
	}))
	c.review = must(SignReview(ReviewParams{
		Proposal: c.proposal, Turn: c.reviewTurn, Evidence: c.manifest, Verdict: VerdictAccept,
		Findings: []string{"No bounds check is lost.", "Caf\u00e9 \u00f1 \t tab"}, At: at(10), Until: at(300), Key: "review-1",
	}, c.reviewer))
	c.decision = must(SignDecision(DecisionParams{
		Proposal: c.proposal, Review: c.review, Chair: Participant("per_01J0000000000000000000000C"),
		Decision: DecisionAdmit, Reason: "reviewed", At: at(15), Until: at(200),
	}, c.chair))
	env := "environment:writ-worktree.1"
	c.execution = must(SignExecution(ExecutionParams{
		Proposal: c.proposal, Review: c.review, Decision: c.decision,
		Plan: "operator-task-plan:one", PlanDigest: DigestText(canon.Sum([]byte("plan"))), Run: "operator-task-run:one",
		Environment: env, Outcome: OutcomeVerified, Result: DigestText(canon.Sum([]byte("result"))),
		Evidence: []Evidence{
			EvidenceOf("compare", env, canon.Sum([]byte("comparison"))),
			EvidenceOf("compare", env, canon.Sum([]byte("result set"))),
			EvidenceOf("compare", env, canon.Sum([]byte("gate"))),
		},
		At: at(60),
	}, c.host))
	c.answer = must(SignAnswer(AnswerParams{
		Request: RequestPrefix + ":sha256:" + canon.Sum([]byte("question")).Base64(), Operator: OperatorBinding("ws_1", "per_01J0000000000000000000000D"),
		Decision: AnswerApprove, At: at(20), Until: at(40),
	}, c.operator))
	return c
}

func (c chain) documents() []Document {
	return []Document{
		c.solverRole.Document, c.turn.Document, c.manifest.Document, c.proposal.Document,
		c.review.Document, c.decision.Document, c.answer.Document, c.execution.Document,
	}
}

func (c chain) keyOf(kind Kind) ident.PrivateKey {
	switch kind {
	case KindProposal:
		return c.author
	case KindReview:
		return c.reviewer
	case KindDecision:
		return c.chair
	case KindAnswer:
		return c.operator
	}
	return c.host
}

// forge gives v a right ref and a right signature of k without any check, so
// that what refuses the outcome is the gate under test and no earlier one.
func forge(kind Kind, v canon.Value, k ident.PrivateKey) []byte {
	row := must(RowOf(kind))
	v = row.withRef(v)
	if !row.Signed() {
		return v.Canonical()
	}
	return resign(v, row.Domain, k).Canonical()
}

func resign(v canon.Value, domain string, k ident.PrivateKey) canon.Value {
	sum := prehash(domain, canon.SigningBytes(v))
	return v.With("signature", canon.MustFrom(map[string]string{
		"alg": signatureAlg, "value": ident.EncodeSig(k.Sign(sum[:])), "key/public": k.Public().Multibase(),
	}))
}

// wantFault checks code and pointer of a fault.
func wantFault(t *testing.T, err error, code fault.Code, pointer string) {
	t.Helper()
	f, ok := fault.As(err)
	if !ok || f.Code != code || f.Pointer != pointer {
		t.Fatalf("got %v (code %s), want %s at %q", err, fault.CodeOf(err), code, pointer)
	}
}

func TestChainHolds(t *testing.T) {
	t.Parallel()
	c := newChain()
	for _, d := range c.documents() {
		again, err := Open(d.Kind, d.Raw)
		if err != nil {
			t.Fatalf("open %s: %v", d.Kind, err)
		}
		if !again.Same(d) {
			t.Errorf("%s: opened again it differs", d.Kind)
		}
	}
	for name, err := range map[string]error{
		"relate":          Relate(c.proposal, c.review, c.decision, at(30)),
		"execution":       RelateExecution(c.proposal, c.review, c.decision, c.execution),
		"turn":            RelateTurn(c.proposal, c.turn, c.solverRole),
		"reviewer turn":   RelateReviewerTurn(c.review, c.reviewTurn, c.reviewerRole),
		"evidence":        RelateEvidence(c.review, c.manifest),
		"executable":      c.proposal.Executable(),
		"solver's role":   c.solverRole.Effective(RoleImplementer, at(30)),
		"reviewer's role": c.reviewerRole.Effective(RoleReviewer, at(30)),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := c.decision.Until(); !got.Equal(at(200)) {
		t.Errorf("decision expires at %s", got)
	}
	if got := c.review.Until(); !got.Equal(at(300)) {
		t.Errorf("review expires at %s, its proposal at %s", got, c.proposal.Until())
	}
}
