package proposal

import (
	"testing"

	"writ/internal/canon"
	"writ/internal/fault"
)

// TestRelatePairs: a review that rejects and a decision that blocks are still
// about their documents, and nothing else passes than what the whole gate lets
// pass.
func TestRelatePairs(t *testing.T) {
	t.Parallel()
	c := newChain()
	rejecting := reopen(KindReview, forge(KindReview, set(c.review.Value, VerdictReject, "verdict"), c.reviewer), AsReview)
	blocking := reopen(KindDecision, forge(KindDecision, set(c.decision.Value, DecisionBlock, "decision"), c.chair), AsDecision)
	if err := RelateReview(c.proposal, rejecting); err != nil {
		t.Error(err)
	}
	if err := RelateDecision(c.proposal, c.review, blocking); err != nil {
		t.Error(err)
	}
	wantFault(t, RelateReview(other(c), c.review), fault.Relation, "/proposal~1ref")
	wantFault(t, RelateDecision(other(c), c.review, c.decision), fault.Relation, "/proposal~1ref")
	wantFault(t, RelateDecision(c.proposal, rejecting, c.decision), fault.Relation, "/review~1ref")
	bytes := reopen(KindReview, forge(KindReview, set(c.review.Value, CandidateOf("candidate/one", canon.Sum([]byte("x"))).tree(), "candidate"), c.reviewer), AsReview)
	wantFault(t, RelateReview(c.proposal, bytes), fault.Relation, "/candidate/artifact-ref")
	early := reopen(KindDecision, forge(KindDecision, set(c.decision.Value, Instant(at(9)), "decided-at"), c.chair), AsDecision)
	wantFault(t, RelateDecision(c.proposal, c.review, early), fault.Relation, "/decided-at")
}
