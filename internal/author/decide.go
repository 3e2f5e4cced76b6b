package author

import (
	"context"
	"time"

	"writ/client"
	"writ/internal/fault"
	"writ/internal/ident"
	"writ/internal/proposal"
)

// DecideParams is what a chair decides about a reviewed proposal.
type DecideParams struct {
	Run      string
	Review   string // ref; "" is the last one of the run
	Decision string // a decision of package proposal
	Reason   string // a short code, such as "reviewed"
	At       time.Time
	Life     time.Duration // until the decision expires; 0: with proposal and review
}

// Decide signs and hands in a decision about the proposal that a review is about.
// A key decides once about a review: the same decision again is found, another
// one is fault.ChangedReplay.
func Decide(ctx context.Context, c *client.Client, key ident.PrivateKey, p DecideParams) (client.DocRef, error) {
	if p.Review == "" {
		var err error
		if p.Review, err = Latest(ctx, c, p.Run, proposal.KindReview); err != nil {
			return client.DocRef{}, err
		}
	}
	review, err := Read(ctx, c, proposal.KindReview, p.Review, proposal.AsReview)
	if err != nil {
		return client.DocRef{}, err
	}
	about, err := Read(ctx, c, proposal.KindProposal, review.Proposal, proposal.AsProposal)
	if err != nil {
		return client.DocRef{}, err
	}
	if about.Query != proposal.QueryOf(p.Run) {
		return client.DocRef{}, fault.New(fault.Relation, "decide", "%s is of %s, not of run %s", about.Ref, about.Query, p.Run)
	}
	if seen, found, err := p.before(ctx, c, key.Public(), review); err != nil || found {
		return seen, err
	}
	me, err := c.Me(ctx)
	if err != nil {
		return client.DocRef{}, err
	}
	at := later(p.At, review.From())
	signed, err := proposal.SignDecision(proposal.DecisionParams{
		Proposal: about, Review: review, Chair: proposal.Participant(me.ID),
		Decision: p.Decision, Reason: p.Reason, At: at, Until: until(at, p.Life),
	}, key)
	if err != nil {
		return client.DocRef{}, err
	}
	if err := proposal.RelateDecision(about, review, signed); err != nil {
		return client.DocRef{}, err
	}
	return c.Decide(ctx, p.Run, signed.Raw)
}

// before finds the decision that the key made about the review before.
func (p DecideParams) before(ctx context.Context, c *client.Client, key ident.PublicKey, review proposal.Review) (client.DocRef, bool, error) {
	docs, err := c.Documents(ctx, p.Run, string(proposal.KindDecision))
	if err != nil {
		return client.DocRef{}, false, err
	}
	for _, ref := range docs {
		d, err := Read(ctx, c, proposal.KindDecision, ref.Ref, proposal.AsDecision)
		if err != nil {
			return client.DocRef{}, false, err
		}
		if d.Review != review.Ref || d.Signer != key {
			continue
		}
		if d.Decision != p.Decision || d.Reason != p.Reason {
			return client.DocRef{}, false, fault.New(fault.ChangedReplay, "decide", "this key decided %s (%s) about %s", d.Decision, d.Reason, review.Ref).
				With("decision", d.Ref).Help("a decision is never taken back; another review can be decided about")
		}
		ref.Replayed = true
		return ref, true, nil
	}
	return client.DocRef{}, false, nil
}
