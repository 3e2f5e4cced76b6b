package author

import (
	"context"
	"time"

	"writ/client"
	"writ/internal/fault"
	"writ/internal/ident"
	"writ/internal/proposal"
)

// AnswerParams is what a person answers to one question.
type AnswerParams struct {
	Run     string
	Request string // ref of the question
	Approve bool
	At      time.Time
	Life    time.Duration // until the answer expires; 0: with the question
}

// Answer signs and hands in a person's answer to a question. A question is
// answered once: the same answer of the same key again is found, another one is
// fault.ChangedReplay.
func Answer(ctx context.Context, c *client.Client, key ident.PrivateKey, p AnswerParams) (client.DocRef, error) {
	q, err := Question(ctx, c, p.Request)
	if err != nil {
		return client.DocRef{}, err
	}
	if seen, found, err := p.before(ctx, c, key.Public()); err != nil || found {
		return seen, err
	}
	me, err := c.Me(ctx)
	if err != nil {
		return client.DocRef{}, err
	}
	at := later(p.At, q.Asked)
	signed, err := proposal.SignAnswer(proposal.AnswerParams{
		Request: q.Ref, Operator: proposal.OperatorBinding(me.WorkspaceID, me.ID), Decision: p.word(),
		At: at, Until: proposal.Narrow(until(at, p.Life), q.Expires),
	}, key)
	if err != nil {
		return client.DocRef{}, err
	}
	return c.Answer(ctx, p.Run, signed.Raw)
}

func (p AnswerParams) word() string {
	if p.Approve {
		return proposal.AnswerApprove
	}
	return proposal.AnswerDeny
}

// before finds the answer that the question got before.
func (p AnswerParams) before(ctx context.Context, c *client.Client, key ident.PublicKey) (client.DocRef, bool, error) {
	docs, err := c.Documents(ctx, p.Run, string(proposal.KindAnswer))
	if err != nil {
		return client.DocRef{}, false, err
	}
	for _, ref := range docs {
		a, err := Read(ctx, c, proposal.KindAnswer, ref.Ref, proposal.AsAnswer)
		if err != nil {
			return client.DocRef{}, false, err
		}
		if a.Request != p.Request {
			continue
		}
		if a.Signer != key || a.Decision != p.word() {
			return client.DocRef{}, false, fault.New(fault.ChangedReplay, "answer", "answered before with %s by %s", a.Decision, a.Node).
				With("answer", a.Ref).Help("an answer is never taken back; a new ask gives a new run")
		}
		ref.Replayed = true
		return ref, true, nil
	}
	return client.DocRef{}, false, nil
}
