package e2e

import (
	"testing"
	"time"

	"writ/client"
	"writ/internal/author"
	"writ/internal/proposal"
	"writ/internal/taskpack"
)

// signing is an attempt to hand something in that must not go through.
type signing struct {
	what    string
	code    string
	allowed int64 // events that tell what was said before it was refused
	do      func() (client.DocRef, error)
}

func (w *world) mustNot(all ...signing) {
	w.t.Helper()
	for _, s := range all {
		w.refused(s.what, s.code, s.allowed, func() error { _, err := s.do(); return err })
	}
}

// again checks that handing the same in once more is found, and writes nothing.
func (w *world) again(what string, do func() (client.DocRef, error)) {
	w.t.Helper()
	first, err := do()
	if err != nil {
		w.t.Fatalf("%s: %v", what, err)
	}
	before := w.head()
	second, err := do()
	if err != nil || !second.Replayed || second.Ref != first.Ref || w.head() != before {
		w.t.Errorf("%s again gives %+v %v, first it was %+v", what, second, err, first)
	}
}

// TestWhoMayNot: what people and agents hand in is refused when it is not theirs
// to say, with a code that says why, and then it is not stored. What is theirs is
// taken once, however often it comes.
func TestWhoMayNot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	person := []string{"events:read", "events:write", "lanes:route", "chain:write", "approve"}
	carol := w.member(client.Participant{Kind: "person", Name: "carol", Roles: []string{proposal.RoleImplementer, "chair", "operator"}}, person...)
	defer carol.c.Close()
	run := w.ask()
	propose := func(who, key member, p author.ProposeParams) (client.DocRef, error) {
		p.Run = run
		if p.Base == "" {
			p.Base = w.sample.head
		}
		if p.Files == nil {
			p.Files = changes("fast")
		}
		return author.Propose(ctx, who.c, key.key, p)
	}
	outside := []taskpack.File{{Path: ".github/workflows/x.yml", Op: taskpack.OpWrite, Content: []byte("on: push\n")}}
	w.mustNot(
		signing{"a patch outside of the policy", "plan_refused", 5, func() (client.DocRef, error) { // message, assignments and turn
			return propose(w.solver, w.solver, author.ProposeParams{Message: "take over the build", Files: outside})
		}},
		signing{"a change of a commit that nobody knows", "not_found", 2, func() (client.DocRef, error) {
			return propose(w.solver, w.solver, author.ProposeParams{Message: "from nowhere", Base: "0123456789012345678901234567890123456789"})
		}},
		signing{"a proposal under somebody else's key", "signer_mismatch", 2, func() (client.DocRef, error) {
			return propose(w.solver, w.critic, author.ProposeParams{Message: "not my key"})
		}},
		signing{"a proposal of somebody who reviews", "not_admitted", 2, func() (client.DocRef, error) {
			return propose(w.critic, w.critic, author.ProposeParams{Message: "let me"})
		}},
		signing{"a proposal of somebody without a role", "forbidden", 1, func() (client.DocRef, error) {
			return propose(w.bob, w.bob, author.ProposeParams{Message: "let me too"})
		}},
	)
	w.again("a proposal", func() (client.DocRef, error) {
		return propose(carol, carol, author.ProposeParams{Message: "sample: faster"})
	})

	review := func(who, key member, verdict string) func() (client.DocRef, error) {
		return func() (client.DocRef, error) {
			return author.Review(ctx, who.c, key.key, author.ReviewParams{Run: run, Verdict: verdict, Findings: []string{"Read it."}})
		}
	}
	w.mustNot(
		signing{"a review by the author", "relation_mismatch", 0, review(carol, carol, proposal.VerdictAccept)},
		signing{"a review by the author, under another key", "relation_mismatch", 3, review(carol, w.bob, proposal.VerdictAccept)}, // evidence, message and turn
		signing{"a review by the author, signed all the same", "not_admitted", 0, func() (client.DocRef, error) { return w.forgedReview(run, carol) }},
		signing{"a review by somebody without a role", "forbidden", 1, review(w.bob, w.bob, proposal.VerdictAccept)},
		signing{"a review under somebody else's key", "signer_mismatch", 2, review(w.critic, w.bob, proposal.VerdictAccept)},
	)
	dave := w.member(client.Participant{Kind: "person", Name: "dave", Roles: []string{proposal.RoleReviewer}}, person...)
	defer dave.c.Close()
	w.again("a review of one reviewer", review(dave, dave, proposal.VerdictAccept))
	w.again("a review of another one, who rejects", review(w.critic, w.critic, proposal.VerdictReject))
	decide := func(who, key member, decision string) func() (client.DocRef, error) {
		return func() (client.DocRef, error) {
			return author.Decide(ctx, who.c, key.key, author.DecideParams{Run: run, Decision: decision, Reason: "reviewed", At: time.Now()})
		}
	}
	w.mustNot(signing{"a decision to admit what the review does not accept", "not_admitted", 0, decide(w.ann, w.ann, proposal.DecisionAdmit)})
	w.again("a review", review(w.critic, w.critic, proposal.VerdictAccept))
	w.mustNot(
		signing{"a decision of somebody without a role", "forbidden", 0, decide(w.bob, w.bob, proposal.DecisionAdmit)},
		signing{"a decision under an agent's token", "forbidden", 0, decide(w.solver, w.solver, proposal.DecisionAdmit)},
		signing{"a decision under somebody else's key", "signer_mismatch", 0, decide(w.bob, w.ann, proposal.DecisionAdmit)},
	)
	w.again("a decision", decide(w.ann, w.ann, proposal.DecisionAdmit))
	w.mustNot(
		signing{"a second decision", "wrong_state", 0, decide(carol, carol, proposal.DecisionBlock)},
		signing{"a proposal after the decision", "wrong_state", 2, func() (client.DocRef, error) {
			return propose(w.solver, w.solver, author.ProposeParams{Message: "sample: faster still"})
		}},
	)
	w.answers(run, carol, dave)
}

// forgedReview is the author reviewing the own proposal, past everything that her
// own machine would refuse.
func (w *world) forgedReview(run string, author member) (client.DocRef, error) {
	w.t.Helper()
	p := latest(w, run, proposal.KindProposal, proposal.AsProposal)
	r, err := proposal.SignReview(proposal.ReviewParams{
		Proposal: p, Turn: latest(w, run, proposal.KindTurn, proposal.AsTurn), Evidence: latest(w, run, proposal.KindManifest, proposal.AsManifest),
		Verdict: proposal.VerdictAccept, Findings: []string{"Mine."}, At: time.Now(), Until: p.Until(), Key: "forged",
	}, author.key)
	if err != nil {
		w.t.Fatal(err)
	}
	return author.c.Review(w.t.Context(), run, r.Raw)
}

func latest[T any](w *world, run string, kind proposal.Kind, view func(proposal.Document) (T, error)) T {
	w.t.Helper()
	ref, err := author.Latest(w.t.Context(), w.ann.c, run, kind)
	if err != nil {
		w.t.Fatal(err)
	}
	x, err := author.Read(w.t.Context(), w.ann.c, kind, ref, view)
	if err != nil {
		w.t.Fatal(err)
	}
	return x
}

// answers tries every wrong answer to the questions of a run that carol proposed,
// and dave reviewed as well.
func (w *world) answers(run string, carol, dave member) {
	w.t.Helper()
	ctx := w.t.Context()
	var asked []told
	w.watch(run, func(e told) bool {
		if e.Type == "run.approval_requested" {
			asked = append(asked, e)
		}
		return len(asked) == 3
	})
	answer := func(who, key member, approve bool) func() (client.DocRef, error) {
		return func() (client.DocRef, error) {
			return author.Answer(ctx, who.c, key.key, author.AnswerParams{Run: run, Request: asked[2].Ref, Approve: approve, At: time.Now()})
		}
	}
	w.mustNot(
		signing{"an answer under an agent's token", "forbidden", 0, answer(w.solver, w.solver, true)},
		signing{"an answer of somebody without a role", "forbidden", 0, answer(w.bob, w.bob, true)},
		signing{"an answer under somebody else's key", "signer_mismatch", 0, answer(w.bob, w.ann, true)},
		signing{"an answer of the author", "author_cannot_approve", 0, answer(carol, carol, true)},
		signing{"a no of the author", "author_cannot_approve", 0, answer(carol, carol, false)},
	)
	w.again("an answer", answer(w.ann, w.ann, true))
	signed, err := proposal.SignAnswer(proposal.AnswerParams{
		Request: asked[2].Ref, Operator: proposal.OperatorBinding(w.workspace, w.ann.id), Decision: proposal.AnswerDeny,
		At: time.Now(), Until: time.Now().Add(time.Hour),
	}, w.ann.key)
	if err != nil {
		w.t.Fatal(err)
	}
	w.mustNot(signing{"another answer to the same question", "changed_replay", 0, func() (client.DocRef, error) {
		return w.ann.c.Answer(ctx, run, signed.Raw)
	}})

	// the first question is answered no, and the run ends; nothing is taken after that
	if _, err := w.answer(run, asked[0].Ref, false); err != nil {
		w.t.Fatal(err)
	}
	w.until(run, func(e told) bool { return isEnd(e.Type) })
	w.mustNot(signing{"an answer after the end", "run_terminal", 0, func() (client.DocRef, error) { return w.answer(run, asked[1].Ref, true) }})
	trust := w.trust()
	trust.Authors = []string{carol.key.Public().Node()}
	trust.Reviewers = append(trust.Reviewers, dave.key.Public().Node())
	if err := verify(w.bundle(run), trust); err != nil {
		w.t.Error(err)
	}
}
