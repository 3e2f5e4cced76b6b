package proposal

import (
	"testing"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
)

func reopen[T any](kind Kind, raw []byte, as func(Document) (T, error)) T {
	return must(as(must(Open(kind, raw))))
}

// TestRelateRefuses changes one thing in one sound document; what it breaks is
// the relation, and the fault names the first member that does not fit.
func TestRelateRefuses(t *testing.T) {
	t.Parallel()
	c := newChain()
	now := at(30)
	signedReview := func(v canon.Value) Review {
		return reopen(KindReview, forge(KindReview, v, c.reviewer), AsReview)
	}
	signedDecision := func(v canon.Value) Decision {
		return reopen(KindDecision, forge(KindDecision, v, c.chair), AsDecision)
	}
	corrected := reopen(KindProposal, forge(KindProposal, set(c.proposal.Value, CandidateOf("candidate/one", canon.Sum([]byte("better"))).tree(), "candidate"), c.author), AsProposal)
	retarget := other(c)
	r, d := c.review.Value, c.decision.Value
	x := canon.Sum([]byte("x"))
	otherReview := signedReview(set(r, []string{"found something else"}, "findings"))

	for _, row := range []struct {
		name    string
		p       Proposal
		r       Review
		d       Decision
		now     time.Time
		code    fault.Code
		pointer string
		in      Kind // document that the fault names; "" for faults of one document
		against Kind
	}{
		{"review of other bytes", c.proposal, signedReview(set(r, CandidateOf("candidate/one", x).tree(), "candidate")), c.decision, now, fault.Relation, "/candidate/artifact-ref", KindReview, KindProposal},
		{"review of the same bytes under another name", c.proposal, signedReview(set(r, "candidate/two", "candidate", "ref")), c.decision, now, fault.Relation, "/candidate/ref", KindReview, KindProposal},
		{"corrected proposal with the old review", corrected, c.review, c.decision, now, fault.Relation, "/proposal~1ref", KindReview, KindProposal},
		{"target swap under the same candidate", retarget, c.review, c.decision, now, fault.Relation, "/proposal~1ref", KindReview, KindProposal},
		{"right ref, wrong digest", c.proposal, signedReview(set(r, DigestText(x), "proposal/digest")), c.decision, now, fault.Relation, "/proposal~1digest", KindReview, KindProposal},
		{"review in another query", c.proposal, signedReview(set(r, "query:run_other", "query/id")), c.decision, now, fault.Relation, "/query~1id", KindReview, KindProposal},
		{"review in another room", c.proposal, signedReview(set(r, "room:other", "room/id")), c.decision, now, fault.Relation, "/room~1id", KindReview, KindProposal},
		{"review of another class", c.proposal, signedReview(set(r, "Public", "class/key")), c.decision, now, fault.Relation, "/class~1key", KindReview, KindProposal},
		{"decision over another review", c.proposal, otherReview, c.decision, now, fault.Relation, "/review~1ref", KindDecision, KindReview},
		{"decision with another review's digest", c.proposal, c.review, signedDecision(set(d, DigestText(x), "review/digest")), now, fault.Relation, "/review~1digest", KindDecision, KindReview},
		{"decision over another proposal", c.proposal, c.review, signedDecision(set(d, corrected.Ref, "proposal/ref")), now, fault.Relation, "/proposal~1ref", KindDecision, KindProposal},
		{"decision over other bytes", c.proposal, c.review, signedDecision(set(d, CandidateOf("candidate/one", x).tree(), "reviewed-candidate")), now, fault.Relation, "/reviewed-candidate/artifact-ref", KindDecision, KindReview},
		{"decision in another query", c.proposal, c.review, signedDecision(set(d, "query:run_other", "query/id")), now, fault.Relation, "/query~1id", KindDecision, KindProposal},
		{"decision in another room", c.proposal, c.review, signedDecision(set(d, "room:other", "room/id")), now, fault.Relation, "/room~1id", KindDecision, KindProposal},
		{"decision of another class", c.proposal, c.review, signedDecision(set(d, "Personal", "class/key")), now, fault.Relation, "/class~1key", KindDecision, KindReview},
		{"author reviews", c.proposal, signedReview(set(r, c.proposal.Author.tree(), "reviewer")), c.decision, now, fault.Relation, "/review~1ref", KindDecision, KindReview},
		{"rejected", c.proposal, signedReview(set(r, VerdictReject, "verdict")), c.decision, now, fault.Relation, "/review~1ref", KindDecision, KindReview},
		{"blocked", c.proposal, c.review, signedDecision(set(d, DecisionBlock, "decision")), now, fault.NotAdmitted, "/decision", KindDecision, KindDecision},
		{"revision asked", c.proposal, c.review, signedDecision(set(d, DecisionRevise, "decision")), now, fault.NotAdmitted, "/decision", KindDecision, KindDecision},
		{"decided before it was reviewed", c.proposal, c.review, signedDecision(set(d, Instant(at(9)), "decided-at")), now, fault.Relation, "/decided-at", KindDecision, KindReview},
		{"decision expired by a millisecond", c.proposal, c.review, c.decision, at(200).Add(time.Millisecond), fault.Expired, "/expires-at", "", ""},
		{"decision expires now", c.proposal, c.review, c.decision, at(200), fault.Expired, "/expires-at", "", ""},
		{"not valid yet", c.proposal, c.review, c.decision, at(5).Add(-5001 * time.Millisecond), fault.NotYet, "/proposed-at", "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			err := Relate(row.p, row.r, row.d, row.now)
			wantFault(t, err, row.code, row.pointer)
			f, _ := fault.As(err)
			if row.in != "" && (f.Get("document") != string(row.in) || f.Get("against") != string(row.against)) {
				t.Errorf("names %s against %s, want %s against %s", f.Get("document"), f.Get("against"), row.in, row.against)
			}
		})
	}
}

// TestRelateRoles builds whole chains in which the parties are not apart.
func TestRelateRoles(t *testing.T) {
	t.Parallel()
	c := newChain()
	chainOf := func(edited canon.Value) (Review, Decision) {
		r := reopen(KindReview, forge(KindReview, edited, c.reviewer), AsReview)
		return r, must(SignDecision(DecisionParams{
			Proposal: c.proposal, Review: r, Chair: Participant("c"), Decision: DecisionAdmit, Reason: "ok", At: at(15), Until: at(100),
		}, c.chair))
	}
	for _, row := range []struct {
		name    string
		review  canon.Value
		code    fault.Code
		pointer string
	}{
		{"author reviews", set(c.review.Value, c.proposal.Author.tree(), "reviewer"), fault.Relation, "/reviewer"},
		{"one turn for both", set(c.review.Value, c.proposal.Turn, "reviewer-turn/id"), fault.Relation, "/reviewer-turn~1id"},
		{"reviewed before it was proposed", set(c.review.Value, Instant(at(4)), "reviewed-at"), fault.Relation, "/reviewed-at"},
		{"rejected", set(c.review.Value, VerdictReject, "verdict"), fault.NotAdmitted, "/verdict"},
		{"other candidate asked", set(c.review.Value, VerdictRegenerate, "verdict"), fault.NotAdmitted, "/verdict"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r, d := chainOf(row.review)
			wantFault(t, Relate(c.proposal, r, d, at(30)), row.code, row.pointer)
		})
	}
}

func TestRelateExecutionRefuses(t *testing.T) {
	t.Parallel()
	c := newChain()
	e := c.execution.Value
	x := canon.Sum([]byte("x"))
	for _, row := range []struct {
		name    string
		value   canon.Value
		pointer string
	}{
		{"proposal", set(e, other(c).Ref, "proposal/ref"), "/proposal~1ref"},
		{"proposal digest", set(e, DigestText(x), "proposal/digest"), "/proposal~1digest"},
		{"review", set(e, "corpus-experiment-review:"+DigestText(x), "review/ref"), "/review~1ref"},
		{"review digest", set(e, DigestText(x), "review/digest"), "/review~1digest"},
		{"decision", set(e, "corpus-experiment-chair-decision:"+DigestText(x), "decision/ref"), "/decision~1ref"},
		{"decision digest", set(e, DigestText(x), "decision/digest"), "/decision~1digest"},
		{"candidate", set(e, CandidateOf("candidate/one", x).tree(), "candidate"), "/candidate/artifact-ref"},
		{"target profile", set(e, DigestText(x), "target", "task-profile/digest"), "/target/task-profile~1digest"},
		{"target binding", set(e, "operator-task-local-binding:ws_2", "target", "binding/ref"), "/target/binding~1ref"},
		{"query", set(e, "query:run_other", "query/id"), "/query~1id"},
		{"room", set(e, "room:other", "room/id"), "/room~1id"},
		{"recorded before it was decided", set(e, Instant(at(14)), "recorded-at"), "/recorded-at"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			x := reopen(KindExecution, forge(KindExecution, row.value, c.host), AsExecution)
			wantFault(t, RelateExecution(c.proposal, c.review, c.decision, x), fault.Relation, row.pointer)
		})
	}
}

func TestRelateAntecedents(t *testing.T) {
	t.Parallel()
	c := newChain()
	wantFault(t, RelateTurn(c.proposal, c.reviewTurn, c.reviewerRole), fault.Relation, "/turn~1id")
	wantFault(t, RelateTurn(c.proposal, c.turn, c.reviewerRole), fault.Relation, "/assignment~1id")

	spoken := set(c.proposal.Value, Participant("agt_other").tree(), "author")
	p := reopen(KindProposal, forge(KindProposal, spoken, c.author), AsProposal)
	wantFault(t, RelateTurn(p, c.turn, c.solverRole), fault.Relation, "/author/id")

	wider := reopen(KindProposal, forge(KindProposal, set(c.proposal.Value, "Public", "class/key"), c.author), AsProposal)
	wantFault(t, RelateTurn(wider, c.turn, c.solverRole), fault.Relation, "/class~1key")

	unseen := must(NewManifest(ManifestParams{
		Query: c.proposal.Query, Room: c.proposal.Room, Reader: c.reviewerRole.Participant, Flow: "flow-binding:writ.review",
		Items:   []Item{{Kind: "candidate", Ref: "candidate/one", Digest: c.proposal.Candidate.Digest}},
		Content: []byte("something"), Class: Community,
	}))
	r := must(SignReview(ReviewParams{Proposal: c.proposal, Turn: c.reviewTurn, Evidence: unseen, Verdict: VerdictAccept, Findings: []string{"ok"}, At: at(10), Until: at(20), Key: "r"}, c.reviewer))
	wantFault(t, RelateEvidence(r, unseen), fault.Relation, "/review~1target/proposal~1ref")
	wantFault(t, RelateEvidence(r, c.manifest), fault.Relation, "/evidence-state~1digest")

	wantFault(t, c.solverRole.Effective(RoleReviewer, at(1)), fault.NotAdmitted, "/role")
	wantFault(t, c.solverRole.Effective(RoleImplementer, at(600)), fault.Expired, "/expires-at")
	declined := must(AsAssignment(must(Seal(KindAssignment, set(c.solverRole.Value, StatusDeclined, "status")))))
	wantFault(t, declined.Effective(RoleImplementer, at(1)), fault.NotAdmitted, "/status")
	_, err := Seal(KindAssignment, set(c.solverRole.Value, StatusProposed, "status"))
	if fault.CodeOf(err) != fault.Invalid {
		t.Errorf("a proposed role that says who decided: %v", err)
	}
}

func TestExecutable(t *testing.T) {
	t.Parallel()
	c := newChain()
	for _, mode := range []map[string]string{
		{"mode": ModeObserve}, {"mode": ModeCompiler}, {"mode": ModeLocalAgent, "agent/ref": "agent:a"},
		{"mode": ModeRemote, "agent/ref": "agent:a", "node/id": c.proposal.Node},
	} {
		v := set(set(c.proposal.Value, ArtifactPlan, "candidate", "artifact/type").Without("target"), mode, "executor")
		p := reopen(KindProposal, forge(KindProposal, v, c.author), AsProposal)
		wantFault(t, p.Executable(), fault.Unsupported, "/executor/mode")
		if p.Target != nil {
			t.Errorf("%s: a plan has no target", mode["mode"])
		}
	}
}
