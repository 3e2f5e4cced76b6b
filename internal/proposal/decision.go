package proposal

import (
	"time"

	"writ/internal/ident"
)

// The words of a chair. Anything but DecisionAdmit blocks.
const (
	DecisionBlock  = "block"
	DecisionRevise = "request-revision"
	DecisionAdmit  = "admit-reviewed-candidate"
)

// Decision is the typed view of a chair decision v2. It names the candidate but
// not its target: never read it alone, Relate joins it through the proposal.
type Decision struct {
	Document
	Query, Room  string
	Proposal     string // ref
	Review       string // ref
	ReviewDigest string
	Candidate    Candidate
	Chair        Subject
	Node         string
	ChairAgent   string // "" when the chair spoke without one
	Decision     string
	Reason       string
	Class        Class
	Key          string
}

// AsDecision reads the view.
func AsDecision(d Document) (Decision, error) {
	if err := d.as(KindDecision); err != nil {
		return Decision{}, err
	}
	v := d.Value
	return Decision{
		Document: d,
		Query:    v.Str("query/id"), Room: v.Str("room/id"),
		Proposal: v.Str("proposal/ref"), Review: v.Str("review/ref"), ReviewDigest: v.Str("review/digest"),
		Candidate: candidateOf(v, "reviewed-candidate"),
		Chair:     subjectOf(v, "chair"), Node: v.Str("chair/node-id"), ChairAgent: v.Str("chair-agent/ref"),
		Decision: v.Str("decision"), Reason: v.Str("reason/code"),
		Class: Class(v.Str("class/key")), Key: v.Str("idempotency/key"),
	}, nil
}

// DecisionParams is what a chair decides.
type DecisionParams struct {
	Proposal  Proposal
	Review    Review
	Chair     Subject
	Decision  string
	Reason    string    // a short code, such as "reviewed"
	At, Until time.Time // Until is narrowed to the expiries of proposal and review
	Key       string    // "" means DecisionKey: the chair decides once per review
}

// DecisionKey is the idempotency key by which a node decides once per review.
func DecisionKey(review Review) string { return "decide:" + review.Ref }

// SignDecision builds and signs a chair decision.
func SignDecision(p DecisionParams, key ident.PrivateKey) (Decision, error) {
	if p.Key == "" {
		p.Key = DecisionKey(p.Review)
	}
	d, err := signTree(KindDecision, key, map[string]any{
		"schema/v": 2,
		"query/id": p.Proposal.Query, "room/id": p.Proposal.Room,
		"proposal/ref": p.Proposal.Ref,
		"review/ref":   p.Review.Ref, "review/digest": p.Review.Digest(),
		"reviewed-candidate": p.Review.Candidate.tree(),
		"chair":              p.Chair.tree(),
		"decision":           p.Decision,
		"reason/code":        p.Reason,
		"class/key":          string(p.Review.Class),
		"decided-at":         Instant(p.At),
		"expires-at":         Instant(Narrow(p.Until, p.Proposal.Until(), p.Review.Until())),
		"idempotency/key":    p.Key,
	})
	if err != nil {
		return Decision{}, err
	}
	return AsDecision(d)
}
