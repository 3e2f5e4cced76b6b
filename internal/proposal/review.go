package proposal

import (
	"time"

	"writ/internal/canon"
	"writ/internal/ident"
)

// The verdicts of a reviewer. A reviewer can never change the bytes, only ask
// for a new candidate, which is a new proposal.
const (
	VerdictAccept     = "accept"
	VerdictReject     = "reject"
	VerdictRegenerate = "request-regeneration"
)

// Review is the typed view of an experiment review v4 over exact bytes.
type Review struct {
	Document
	Query, Room    string
	Proposal       string // ref
	ProposalDigest string
	Candidate      Candidate
	Evidence       string // digest of the manifest that was fixed before the review
	Reviewer       Subject
	Node           string
	Turn           string
	Verdict        string
	Findings       []string
	Class          Class
	Key            string
}

// AsReview reads the view.
func AsReview(d Document) (Review, error) {
	if err := d.as(KindReview); err != nil {
		return Review{}, err
	}
	v := d.Value
	return Review{
		Document: d,
		Query:    v.Str("query/id"), Room: v.Str("room/id"),
		Proposal: v.Str("proposal/ref"), ProposalDigest: v.Str("proposal/digest"),
		Candidate: candidateOf(v, "candidate"), Evidence: v.Str("evidence-state/digest"),
		Reviewer: subjectOf(v, "reviewer"), Node: v.Str("reviewer/node-id"), Turn: v.Str("reviewer-turn/id"),
		Verdict: v.Str("verdict"), Findings: texts(v, "findings"),
		Class: Class(v.Str("class/key")), Key: v.Str("idempotency/key"),
	}, nil
}

func texts(v canon.Value, name string) []string {
	m, _ := v.Get(name)
	out := make([]string, 0, m.Len())
	for _, e := range m.Elems() {
		s, _ := e.String()
		out = append(out, s)
	}
	return out
}

// ReviewParams is what a reviewer decides.
type ReviewParams struct {
	Proposal  Proposal
	Turn      Turn     // the reviewer's own turn
	Evidence  Manifest // what the reviewer looked at, fixed before
	Verdict   string
	Findings  []string  // 1 to 16, each 1 to 1024 characters
	At, Until time.Time // Until is narrowed to the expiry of the proposal
	Key       string
}

// SignReview builds and signs a review.
func SignReview(r ReviewParams, key ident.PrivateKey) (Review, error) {
	d, err := signTree(KindReview, key, map[string]any{
		"schema/v": 4,
		"query/id": r.Proposal.Query, "room/id": r.Proposal.Room,
		"proposal/ref": r.Proposal.Ref, "proposal/digest": r.Proposal.Digest(),
		"candidate":             r.Proposal.Candidate.tree(),
		"evidence-state/digest": r.Evidence.Digest(),
		"reviewer":              r.Turn.Participant.tree(),
		"reviewer-turn/id":      r.Turn.Ref,
		"verdict":               r.Verdict,
		"findings":              r.Findings,
		"class/key":             string(r.Proposal.Class),
		"reviewed-at":           Instant(r.At),
		"expires-at":            Instant(Narrow(r.Until, r.Proposal.Until())),
		"idempotency/key":       r.Key,
	})
	if err != nil {
		return Review{}, err
	}
	return AsReview(d)
}
