package proposal

import (
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
)

// Relate is the gate of the chain: three documents, each sound alone, admit
// exactly the reviewed candidate with its target, or nothing. It checks
//
//   - one query, one room and one class in all three;
//   - the review names this proposal by ref and digest, and its candidate is
//     the proposal's, member by member;
//   - the decision names this proposal, and this review by ref and digest, and
//     its candidate is the reviewed one;
//   - the verdict is accept and the decision admits;
//   - author and reviewer, and their turns, differ;
//   - proposed, reviewed and decided in that order;
//   - all three are current at now.
//
// The fault names the first member that does not fit (JSON pointer), the
// document that holds it and the one it was held against (facts "document" and
// "against", as kinds). Errors: Relation, NotAdmitted, Expired, NotYet.
func Relate(p Proposal, r Review, d Decision, now time.Time) error {
	if err := RelateChain(p, r, d); err != nil {
		return err
	}
	for _, doc := range []Document{p.Document, r.Document, d.Document} {
		if err := doc.Current(now); err != nil {
			return err
		}
	}
	return nil
}

// RelateChain is Relate without the time: what can be checked for ever after.
func RelateChain(p Proposal, r Review, d Decision) error {
	var j joins
	j.reviewed(p, r)
	j.decided(p, r, d)
	j.apart(p, r)
	j.after(d.Document, r.Document)
	j.word(r.Document, "verdict", VerdictAccept)
	j.word(d.Document, "decision", DecisionAdmit)
	return j.err()
}

// RelateExecution says whether e is the record of the chain p, r, d: refs and
// digests, candidate and target are the admitted ones. That the evidence is of
// the record's own environment and that the host signed is part of Open.
func RelateExecution(p Proposal, r Review, d Decision, e Execution) error {
	if err := RelateChain(p, r, d); err != nil {
		return err
	}
	var j joins
	j.member(e.Document, p.Document, "query/id", "query/id")
	j.member(e.Document, p.Document, "room/id", "room/id")
	j.text(e.Document, "proposal/ref", p.Ref, KindProposal)
	j.text(e.Document, "proposal/digest", p.Digest(), KindProposal)
	j.text(e.Document, "review/ref", r.Ref, KindReview)
	j.text(e.Document, "review/digest", r.Digest(), KindReview)
	j.text(e.Document, "decision/ref", d.Ref, KindDecision)
	j.text(e.Document, "decision/digest", d.Digest(), KindDecision)
	j.object(e.Document, p.Document, "candidate", "candidate", candidateMembers)
	j.object(e.Document, p.Document, "target", "target", targetMembers)
	j.after(e.Document, d.Document)
	return j.err()
}

// RelateTurn says whether a proposal came out of the turn t, spoken under the
// assignment a as implementer, all of them of one run, room and participant and
// the proposal no wider than the turn.
func RelateTurn(p Proposal, t Turn, a Assignment) error {
	return relateTurn(p.Document, "turn/id", "author", RoleImplementer, p.Class, t, a)
}

// RelateReviewerTurn is RelateTurn for a review and the reviewer's role.
func RelateReviewerTurn(r Review, t Turn, a Assignment) error {
	return relateTurn(r.Document, "reviewer-turn/id", "reviewer", RoleReviewer, r.Class, t, a)
}

func relateTurn(doc Document, turn, subject, role string, class Class, t Turn, a Assignment) error {
	var j joins
	j.member(doc, t.Document, "query/id", "query/id")
	j.member(doc, t.Document, "room/id", "room/id")
	j.text(doc, turn, t.Ref, KindTurn)
	j.object(doc, t.Document, subject, "participant", subjectMembers)
	j.after(doc, t.Document)
	j.member(t.Document, a.Document, "query/id", "query/id")
	j.member(t.Document, a.Document, "room/id", "room/id")
	j.text(t.Document, "assignment/id", a.Ref, KindAssignment)
	j.object(t.Document, a.Document, "participant", "participant", subjectMembers)
	j.after(t.Document, a.Document)
	j.word(a.Document, "role", role)
	j.word(a.Document, "status", StatusAccepted)
	if j.first == nil && class.Wider(t.Class) {
		j.misfit(fault.Relation, doc, KindTurn, pointer("class/key"), "%s is wider than the turn's %s", class, t.Class)
	}
	return j.err()
}

// RelateEvidence says whether m is what the reviewer of r saw, and was about the
// proposal that r reviews.
func RelateEvidence(r Review, m Manifest) error {
	var j joins
	j.text(r.Document, "evidence-state/digest", m.Digest(), KindManifest)
	j.member(m.Document, r.Document, "query/id", "query/id")
	j.member(m.Document, r.Document, "room/id", "room/id")
	j.object(m.Document, r.Document, "reader", "reviewer", subjectMembers)
	target, _ := m.Value.Get("review/target")
	for _, x := range []struct{ member, want string }{
		{"proposal/ref", r.Proposal}, {"proposal/digest", r.ProposalDigest}, {"candidate/digest", r.Candidate.Digest},
	} {
		if got := target.Str(x.member); got != x.want {
			j.misfit(fault.Relation, m.Document, KindReview, pointer("review/target", x.member), "%q, but the review says %q", got, x.want)
		}
	}
	return j.err()
}

var subjectMembers = []string{"kind", "id"}

// joins collects the first misfit of a row of checks.
type joins struct{ first *fault.Error }

func (j *joins) err() error {
	if j.first == nil {
		return nil
	}
	return j.first
}

func (j *joins) misfit(code fault.Code, doc Document, against Kind, at, format string, args ...any) {
	if j.first != nil {
		return
	}
	j.first = fault.New(code, "relate "+string(doc.Kind), format, args...).At(at).
		With("document", string(doc.Kind)).With("against", string(against))
}

// text wants the string member of doc to be want, which is a fact of another.
func (j *joins) text(doc Document, member, want string, against Kind) {
	if got := doc.Value.Str(member); got != want || got == "" {
		j.misfit(fault.Relation, doc, against, pointer(member), "%q, but the %s is %q", got, against, want)
	}
}

// member wants two string members to be the same.
func (j *joins) member(doc, other Document, member, otherMember string) {
	j.text(doc, member, other.Value.Str(otherMember), other.Kind)
}

// object wants two object members to be equal, and names the first part that
// is not.
func (j *joins) object(doc, other Document, member, otherMember string, parts []string) {
	got, _ := doc.Value.Get(member)
	want, ok := other.Value.Get(otherMember)
	if !ok {
		j.misfit(fault.Relation, doc, other.Kind, pointer(member), "the %s has no %s", other.Kind, otherMember)
		return
	}
	for _, part := range parts {
		if got.Str(part) != want.Str(part) || got.Str(part) == "" {
			j.misfit(fault.Relation, doc, other.Kind, pointer(member, part), "%q, but the %s says %q", got.Str(part), other.Kind, want.Str(part))
			return
		}
	}
	if !canon.Equal(got, want) {
		j.misfit(fault.Relation, doc, other.Kind, pointer(member), "not the same as in the %s", other.Kind)
	}
}

// differ wants two members to be different.
func (j *joins) differ(doc, other Document, member, otherMember string) {
	a, _ := doc.Value.Get(member)
	b, _ := other.Value.Get(otherMember)
	if canon.Equal(a, b) {
		j.misfit(fault.Relation, doc, other.Kind, pointer(member), "the same as the %s's %s", other.Kind, otherMember)
	}
}

// after wants doc not to begin before other.
func (j *joins) after(doc, other Document) {
	if doc.from.Before(other.from) {
		j.misfit(fault.Relation, doc, other.Kind, pointer(doc.row.From), "%s is before the %s of %s", Instant(doc.from), other.Kind, Instant(other.from))
	}
}

// word wants the member to be the one word that admits.
func (j *joins) word(doc Document, member, want string) {
	if got := doc.Value.Str(member); got != want {
		j.misfit(fault.NotAdmitted, doc, doc.Kind, pointer(member), "%q admits nothing; %q would", got, want)
	}
}
