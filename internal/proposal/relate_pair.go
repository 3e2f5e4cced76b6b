package proposal

// RelateReview says whether a review is about exactly the proposal, whatever its
// verdict: the part of RelateChain that can be said before there is a decision.
func RelateReview(p Proposal, r Review) error {
	var j joins
	j.reviewed(p, r)
	j.apart(p, r)
	return j.err()
}

// RelateDecision says whether a decision is about exactly the proposal and the
// review, whatever it decides.
func RelateDecision(p Proposal, r Review, d Decision) error {
	var j joins
	j.reviewed(p, r)
	j.decided(p, r, d)
	j.apart(p, r)
	j.after(d.Document, r.Document)
	return j.err()
}

// reviewed holds a review against its proposal.
func (j *joins) reviewed(p Proposal, r Review) {
	j.member(r.Document, p.Document, "query/id", "query/id")
	j.member(r.Document, p.Document, "room/id", "room/id")
	j.text(r.Document, "proposal/ref", p.Ref, KindProposal)
	j.text(r.Document, "proposal/digest", p.Digest(), KindProposal)
	j.object(r.Document, p.Document, "candidate", "candidate", candidateMembers)
	j.member(r.Document, p.Document, "class/key", "class/key")
}

// decided holds a decision against its proposal and review.
func (j *joins) decided(p Proposal, r Review, d Decision) {
	j.member(d.Document, p.Document, "query/id", "query/id")
	j.member(d.Document, p.Document, "room/id", "room/id")
	j.text(d.Document, "proposal/ref", p.Ref, KindProposal)
	j.text(d.Document, "review/ref", r.Ref, KindReview)
	j.text(d.Document, "review/digest", r.Digest(), KindReview)
	j.object(d.Document, r.Document, "reviewed-candidate", "candidate", candidateMembers)
	j.member(d.Document, r.Document, "class/key", "class/key")
}

// apart checks that author and reviewer, and their turns, differ, and that the
// review came after the proposal.
func (j *joins) apart(p Proposal, r Review) {
	j.differ(r.Document, p.Document, "reviewer", "author")
	j.differ(r.Document, p.Document, "reviewer-turn/id", "turn/id")
	j.after(r.Document, p.Document)
}
