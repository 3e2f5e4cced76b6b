package docket

import (
	"fmt"
	"strconv"
	"strings"

	"writ/internal/canon"
	"writ/internal/ledger"
	"writ/internal/proposal"
	"writ/internal/taskpack"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// propose opens the signed chain and checks every relation in it.
func (v *verifier) propose() error {
	proposals, decisions := v.of(ledger.KindProposal), v.of(ledger.KindDecision)
	if len(proposals) == 0 {
		return v.missing()
	}
	for _, kind := range []proposal.Kind{proposal.KindAssignment, proposal.KindTurn, proposal.KindManifest, proposal.KindProposal, proposal.KindReview, proposal.KindDecision} {
		for _, d := range v.of(string(kind)) {
			if _, err := view1(d, kind, func(d proposal.Document) (proposal.Document, error) { return d, nil }); err != nil {
				return err
			}
		}
	}
	if err := v.turns(); err != nil {
		return err
	}
	admitted := ""
	for _, d := range decisions {
		dec, err := view1(d, proposal.KindDecision, proposal.AsDecision)
		if err != nil {
			return err
		}
		if err := v.pinned(d.Kind, d.Ref, "chair", dec.Node, func(t *Trust) []string { return t.Chairs }); err != nil {
			return err
		}
		if dec.Decision == proposal.DecisionAdmit {
			v.decision, admitted = dec, d.Ref
		}
	}
	if admitted == "" {
		return v.open(proposals[len(proposals)-1])
	}
	return v.admitted()
}

// open looks at a proposal that nobody admitted.
func (v *verifier) open(d Document) error {
	p, err := view1(d, proposal.KindProposal, proposal.AsProposal)
	if err != nil {
		return err
	}
	v.proposal = p
	v.say("proposed by " + p.Author.ID + "; no decision admits it")
	return v.proposedBy(p)
}

func (v *verifier) proposedBy(p proposal.Proposal) error {
	if p.Query != proposal.QueryOf(v.b.Run) {
		return wrong(ledger.KindProposal, p.Ref, "it belongs to %s, not to run %s", p.Query, v.b.Run)
	}
	turn, err := open(v, proposal.KindTurn, p.Turn, proposal.AsTurn)
	if err != nil {
		return err
	}
	v.turn = turn
	a, err := open(v, proposal.KindAssignment, turn.Assignment, proposal.AsAssignment)
	if err != nil {
		return err
	}
	if err := proposal.RelateTurn(p, turn, a); err != nil {
		return at(ledger.KindProposal, p.Ref, err)
	}
	return v.pinned(ledger.KindProposal, p.Ref, "author", p.Node, func(t *Trust) []string { return t.Authors })
}

func (v *verifier) admitted() error {
	d := v.decision
	var err error
	if v.proposal, err = open(v, proposal.KindProposal, d.Proposal, proposal.AsProposal); err != nil {
		return err
	}
	if v.review, err = open(v, proposal.KindReview, d.Review, proposal.AsReview); err != nil {
		return err
	}
	if err := v.proposedBy(v.proposal); err != nil {
		return err
	}
	turn, err := open(v, proposal.KindTurn, v.review.Turn, proposal.AsTurn)
	if err != nil {
		return err
	}
	a, err := open(v, proposal.KindAssignment, turn.Assignment, proposal.AsAssignment)
	if err != nil {
		return err
	}
	if err := proposal.RelateReviewerTurn(v.review, turn, a); err != nil {
		return at(ledger.KindReview, v.review.Ref, err)
	}
	if err := v.evidenceOf(v.review); err != nil {
		return err
	}
	if err := v.pinned(ledger.KindReview, v.review.Ref, "reviewer", v.review.Node, func(t *Trust) []string { return t.Reviewers }); err != nil {
		return err
	}
	if err := proposal.RelateChain(v.proposal, v.review, d); err != nil {
		return at(ledger.KindDecision, d.Ref, err)
	}
	e, ok := v.accepted(d.Ref)
	if !ok {
		return wrong(ledger.KindDecision, d.Ref, "the journal never accepted it")
	}
	if err := proposal.Relate(v.proposal, v.review, d, e.time()); err != nil { // as of the acceptance
		return at(ledger.KindDecision, d.Ref, err)
	}
	v.say(fmt.Sprintf("proposed by %s, accepted by %s, admitted by %s", v.proposal.Author.ID, v.review.Reviewer.ID, d.Chair.ID))
	return nil
}

// evidenceOf checks that the manifest was fixed, and holds bytes that were kept, before the review.
func (v *verifier) evidenceOf(r proposal.Review) error {
	for _, d := range v.of(ledger.KindManifest) {
		m, err := view1(d, proposal.KindManifest, proposal.AsManifest)
		if err != nil {
			return err
		}
		if m.Digest() != r.Evidence {
			continue
		}
		if err := proposal.RelateEvidence(r, m); err != nil {
			return at(ledger.KindReview, r.Ref, err)
		}
		content, err := proposal.ParseDigest(m.Content)
		if err != nil {
			return at(d.Kind, d.Ref, err)
		}
		if _, err := v.blob(d.Kind, d.Ref, content); err != nil {
			return err
		}
		fixed, _ := v.accepted(d.Ref)
		reviewed, _ := v.accepted(r.Ref)
		if fixed.Seq >= reviewed.Seq {
			return wrong(d.Kind, d.Ref, "it was fixed after the review that names it")
		}
		return nil
	}
	return wrong(ledger.KindReview, r.Ref, "the evidence that it names (%s) is not in the docket", r.Evidence)
}

// turns checks each turn against the message it was built from.
func (v *verifier) turns() error {
	for _, d := range v.of(ledger.KindTurn) {
		t, err := view1(d, proposal.KindTurn, proposal.AsTurn)
		if err != nil {
			return err
		}
		found := false
		for _, e := range v.events {
			if e.ID == t.Key {
				found = true
				if e.body.Str("body") != t.Content {
					return wrong(d.Kind, d.Ref, "its content is not what message %s says", e.ID)
				}
			}
		}
		if !found {
			return wrong(d.Kind, d.Ref, "the message %s that it was built from is not in the docket", t.Key)
		}
	}
	return nil
}

// planned reads candidate and patches by digest and checks that the plan was
// compiled from them, under the profile and binding that the proposal names.
func (v *verifier) planned() error {
	plans := v.of(ledger.KindPlan)
	if v.proposal.Ref == "" {
		return v.missing()
	}
	if err := v.materials(); err != nil {
		return err
	}
	if len(plans) == 0 {
		v.say("nothing was compiled")
		return v.missing()
	}
	d := plans[len(plans)-1]
	var err error
	if v.plan, err = taskpack.ParsePlan([]byte(d.Body)); err != nil {
		return at(d.Kind, d.Ref, err)
	}
	for _, x := range []struct {
		kind, digest string
		parse        func([]byte) error
	}{
		{ledger.KindProfile, v.plan.Profile, func(b []byte) (err error) { v.profile, err = taskpack.ParseProfile(b); return err }},
		{ledger.KindBinding, v.plan.Binding, func(b []byte) (err error) { v.binding, err = taskpack.ParseBinding(b); return err }},
	} {
		sum, err := proposal.ParseDigest(x.digest)
		if err != nil {
			return at(d.Kind, d.Ref, err)
		}
		doc, err := v.sum(x.kind, sum)
		if err != nil {
			return err
		}
		if err := x.parse([]byte(doc.Body)); err != nil {
			return at(doc.Kind, doc.Ref, err)
		}
	}
	if err := taskpack.RelatePlan(v.proposal, v.candidate, v.profile, v.binding, v.plan); err != nil {
		return at(d.Kind, d.Ref, err)
	}
	if err := v.recompile(d); err != nil {
		return err
	}
	v.say(fmt.Sprintf("compiled to %d steps, each pinned by digest", len(v.plan.Steps)))
	return nil
}

// materials reads what the proposal names from the object store.
func (v *verifier) materials() error {
	p := v.proposal
	sum, err := proposal.ParseDigest(p.Candidate.Digest)
	if err != nil {
		return at(ledger.KindProposal, p.Ref, err)
	}
	raw, err := v.blob(ledger.KindCandidate, p.Candidate.Artifact, sum)
	if err != nil {
		return err
	}
	if v.candidate, err = taskpack.ParseCandidate(raw); err != nil {
		return at(ledger.KindCandidate, p.Candidate.Artifact, err)
	}
	if v.candidate.Digest() != p.Candidate.Digest {
		return wrong(ledger.KindCandidate, p.Candidate.Artifact, "its canonical bytes have another digest")
	}
	for _, s := range v.candidate.Steps {
		if s.Patch == "" {
			continue
		}
		sum, err := canon.ParseRef("artifact", s.Patch)
		if err != nil {
			return at(ledger.KindPatch, s.Patch, err)
		}
		raw, err := v.blob(ledger.KindPatch, s.Patch, sum)
		if err != nil {
			return err
		}
		patch, err := taskpack.ParsePatch(raw)
		if err != nil {
			return at(ledger.KindPatch, s.Patch, err)
		}
		v.patches = append(v.patches, patch)
	}
	return nil
}

// approve checks that every step that needs an answer was put to a human, and
// that the human who may said yes or no to exactly that step.
func (v *verifier) approve() error {
	if v.plan.Ref == "" {
		return v.missing()
	}
	run := taskpack.RunRef(v.plan.Ref, taskpack.RunKey(v.proposal))
	yes := 0
	for _, s := range v.plan.Steps {
		if !s.Answer {
			continue
		}
		d, ok := v.byRef[taskpack.QuestionRef(run, s.ID)]
		if !ok {
			continue // never asked: whether the step ran all the same is what the run station looks at
		}
		v.counted[d.Ref] = true
		q, err := taskpack.ParseQuestion([]byte(d.Body))
		if err == nil {
			err = q.For(v.plan, run, s)
		}
		if err != nil {
			return at(d.Kind, d.Ref, err)
		}
		approved, err := v.answered(q)
		if err != nil {
			return err
		}
		if approved {
			yes++
		}
	}
	if yes == 0 {
		v.say("no human approved anything")
		return v.missing()
	}
	v.say(fmt.Sprintf("%d mutations approved, each by a signed answer of a human who is not the author", yes))
	return nil
}

func (v *verifier) answered(q taskpack.Question) (bool, error) {
	for _, d := range v.of(ledger.KindAnswer) {
		a, err := view1(d, proposal.KindAnswer, proposal.AsAnswer)
		if err != nil {
			return false, err
		}
		if a.Request != q.Ref {
			continue
		}
		if err := v.pinned(d.Kind, d.Ref, "operator", a.Node, func(t *Trust) []string { return t.Operators }); err != nil {
			return false, err
		}
		e, ok := v.accepted(d.Ref)
		if !ok {
			return false, wrong(d.Kind, d.Ref, "the journal never accepted it")
		}
		person := strings.TrimPrefix(a.Operator, proposal.OperatorBinding(v.b.Workspace, ""))
		err = proposal.CheckAnswer(a, proposal.ApprovalFacts{
			Request: q.Ref, RequestExpiry: q.Expires,
			Approver: proposal.Approver{Binding: proposal.OperatorBinding(v.b.Workspace, person), Kind: proposal.ApproverPerson, ID: person, Key: a.Signer},
			Author:   v.proposal.Author, AuthorKey: v.proposal.Signer,
		}, e.time())
		if err != nil {
			return false, at(d.Kind, d.Ref, err)
		}
		return a.Decision == proposal.AnswerApprove, nil
	}
	return false, nil
}
