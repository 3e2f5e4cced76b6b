package docket

import (
	"fmt"
	"strconv"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/journal"
	"writ/internal/ledger"
	"writ/internal/proposal"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// propose opens the signed chain and checks every relation in it: of what was
// admitted, and of every proposal, review and decision that came to nothing.
func (v *verifier) propose() error {
	for _, check := range []func() error{v.assignments, v.turns, v.proposals, v.manifests, v.reviews, v.decisions} {
		if err := check(); err != nil {
			return err
		}
	}
	proposals := v.of(ledger.KindProposal)
	switch {
	case len(proposals) == 0:
		return v.missing()
	case v.decision.Ref == "":
		last := proposals[len(proposals)-1]
		p, err := view1(last, proposal.KindProposal, proposal.AsProposal)
		if err != nil {
			return err
		}
		v.proposal = p
		v.say("proposed by " + p.Author.ID + "; no decision admits it")
		return nil
	}
	return v.admitted()
}

// assignments checks that each was made by the host for this run and its lane.
func (v *verifier) assignments() error {
	for _, d := range v.of(ledger.KindAssignment) {
		a, err := view1(d, proposal.KindAssignment, proposal.AsAssignment)
		if err != nil {
			return err
		}
		again, err := proposal.Assign(proposal.AssignParams{
			RunID: v.b.Run, SpaceID: v.space, LaneID: v.b.Lane, Participant: a.Participant, Role: a.Role,
			By: proposal.Subject{Kind: "node", ID: v.b.Host}, At: a.From(), Until: a.Until(),
		})
		if err != nil {
			return at(d.Kind, d.Ref, err)
		}
		if again.Ref != d.Ref {
			return wrong(d.Kind, d.Ref, "host %s would assign %s as %s", v.b.Host, a.Participant.ID, again.Ref)
		}
		v.use(d)
	}
	return nil
}

// turns builds each turn again from the message that it came from.
func (v *verifier) turns() error {
	for _, d := range v.of(ledger.KindTurn) {
		t, err := view1(d, proposal.KindTurn, proposal.AsTurn)
		if err != nil {
			return err
		}
		if d.Event != t.Key {
			return wrong(d.Kind, d.Ref, "it came from event %s, the docket says %s", t.Key, d.Event)
		}
		e, said, ok := v.message(t.Key)
		if !ok {
			return wrong(d.Kind, d.Ref, "the message %s that it was built from is not in the docket", t.Key)
		}
		a, err := open(v, proposal.KindAssignment, t.Assignment, proposal.AsAssignment)
		if err != nil {
			return err
		}
		speaker, _ := e.body.Get("actor")
		if a.Participant != proposal.Participant(speaker.Str("id")) {
			return wrong(d.Kind, d.Ref, "message %s is of %s, the turn of %s", e.ID, speaker.Str("id"), a.Participant.ID)
		}
		if t.No < said { // messages of another run in the lane count too
			return wrong(d.Kind, d.Ref, "it is turn %d, but %s had spoken %d times", t.No, a.Participant.ID, said)
		}
		again, err := proposal.TurnFrom(proposal.Message{
			EventID: e.ID, RunID: v.b.Run, SpaceID: v.space, LaneID: v.b.Lane, Assignment: a, No: t.No,
			Content: e.body.Str("body"), Class: t.Class, At: e.time(), Until: t.Until(),
		})
		if err != nil {
			return at(d.Kind, d.Ref, err)
		}
		if again.Ref != d.Ref {
			return wrong(d.Kind, d.Ref, "message %s makes turn %s", e.ID, again.Ref)
		}
		v.use(d)
	}
	return nil
}

// message finds a message of the lane and counts what its author had said with it.
func (v *verifier) message(id string) (found event, said int64, ok bool) {
	who := func(e event) string {
		actor, _ := e.body.Get("actor")
		return actor.Str("id")
	}
	for _, e := range v.events {
		if e.ID == id && e.Type == journal.MessagePosted {
			found, ok = e, true
		}
	}
	for _, e := range v.events {
		if ok && e.Type == journal.MessagePosted && e.Seq <= found.Seq && who(e) == who(found) && e.body.Str("lane_id") == v.b.Lane {
			said++
		}
	}
	return found, said, ok
}

func (v *verifier) proposals() error {
	for _, d := range v.of(ledger.KindProposal) {
		p, err := view1(d, proposal.KindProposal, proposal.AsProposal)
		if err != nil {
			return err
		}
		if p.Query != proposal.QueryOf(v.b.Run) {
			return wrong(d.Kind, d.Ref, "it belongs to %s, not to run %s", p.Query, v.b.Run)
		}
		turn, assignment, err := v.spoken(p.Turn)
		if err != nil {
			return err
		}
		if err := proposal.RelateTurn(p, turn, assignment); err != nil {
			return at(d.Kind, d.Ref, err)
		}
		if err := v.pinned(d.Kind, d.Ref, "author", p.Node, func(t *Trust) []string { return t.Authors }); err != nil {
			return err
		}
		if err := v.current(d, p.Document, assignment.Document); err != nil {
			return err
		}
		v.use(d)
	}
	return nil
}

// spoken opens a turn with its assignment.
func (v *verifier) spoken(ref string) (proposal.Turn, proposal.Assignment, error) {
	turn, err := open(v, proposal.KindTurn, ref, proposal.AsTurn)
	if err != nil {
		return turn, proposal.Assignment{}, err
	}
	a, err := open(v, proposal.KindAssignment, turn.Assignment, proposal.AsAssignment)
	return turn, a, err
}

// current checks that documents were valid when d was accepted.
func (v *verifier) current(d Document, docs ...proposal.Document) error {
	e, ok := v.accepted(d.Ref)
	if !ok {
		return wrong(d.Kind, d.Ref, "the journal never accepted it")
	}
	for _, doc := range docs {
		if err := doc.Current(e.time()); err != nil {
			return at(d.Kind, d.Ref, err)
		}
	}
	return nil
}

func (v *verifier) reviews() error {
	for _, d := range v.of(ledger.KindReview) {
		r, err := view1(d, proposal.KindReview, proposal.AsReview)
		if err != nil {
			return err
		}
		p, err := open(v, proposal.KindProposal, r.Proposal, proposal.AsProposal)
		if err != nil {
			return err
		}
		turn, assignment, err := v.spoken(r.Turn)
		if err != nil {
			return err
		}
		for _, misfit := range []error{proposal.RelateReviewerTurn(r, turn, assignment), proposal.RelateReview(p, r)} {
			if misfit != nil {
				return at(d.Kind, d.Ref, misfit)
			}
		}
		if err := v.evidenceOf(d, r); err != nil {
			return err
		}
		if err := v.pinned(d.Kind, d.Ref, "reviewer", r.Node, func(t *Trust) []string { return t.Reviewers }); err != nil {
			return err
		}
		if err := v.current(d, r.Document, assignment.Document); err != nil {
			return err
		}
		v.use(d)
	}
	return nil
}

// evidenceOf checks that what the reviewer was shown was fixed before the review.
func (v *verifier) evidenceOf(review Document, r proposal.Review) error {
	for _, d := range v.of(ledger.KindManifest) {
		m, err := view1(d, proposal.KindManifest, proposal.AsManifest)
		if err != nil {
			return err
		}
		if m.Digest() != r.Evidence {
			continue
		}
		if err := proposal.RelateEvidence(r, m); err != nil {
			return at(review.Kind, review.Ref, err)
		}
		fixed, _ := v.accepted(d.Ref)
		reviewed, _ := v.accepted(review.Ref)
		if fixed.Seq >= reviewed.Seq {
			return wrong(d.Kind, d.Ref, "it was fixed after the review that names it")
		}
		return nil
	}
	return wrong(review.Kind, review.Ref, "the evidence that it names (%s) is not in the docket", r.Evidence)
}

// manifests checks that each shows exactly a proposal of this run with its
// candidate and patches, whole.
func (v *verifier) manifests() error {
	for _, d := range v.of(ledger.KindManifest) {
		m, err := view1(d, proposal.KindManifest, proposal.AsManifest)
		if err != nil {
			return err
		}
		p, err := open(v, proposal.KindProposal, m.Target, proposal.AsProposal)
		if err != nil {
			return err
		}
		found, err := v.materialOf(p)
		if err != nil {
			return err
		}
		want, err := Shown(p, found.candidate, found.patches)
		if err != nil {
			return at(d.Kind, d.Ref, err)
		}
		sum, err := proposal.ParseDigest(m.Content)
		if err != nil {
			return at(d.Kind, d.Ref, err)
		}
		content, err := v.blob(d.Kind, d.Ref, sum)
		if err != nil {
			return err
		}
		if string(content) != string(want) {
			return wrong(d.Kind, d.Ref, "it shows something else than the proposal with its files")
		}
		v.use(d)
	}
	return nil
}

func (v *verifier) decisions() error {
	for _, d := range v.of(ledger.KindDecision) {
		dec, err := view1(d, proposal.KindDecision, proposal.AsDecision)
		if err != nil {
			return err
		}
		p, err := open(v, proposal.KindProposal, dec.Proposal, proposal.AsProposal)
		if err != nil {
			return err
		}
		r, err := open(v, proposal.KindReview, dec.Review, proposal.AsReview)
		if err != nil {
			return err
		}
		if err := proposal.RelateDecision(p, r, dec); err != nil {
			return at(d.Kind, d.Ref, err)
		}
		if err := v.pinned(d.Kind, d.Ref, "chair", dec.Node, func(t *Trust) []string { return t.Chairs }); err != nil {
			return err
		}
		if err := v.current(d, dec.Document); err != nil {
			return err
		}
		if dec.Decision == proposal.DecisionAdmit {
			if v.decision.Ref != "" {
				return wrong(d.Kind, d.Ref, "decision %s admits as well", v.decision.Ref)
			}
			v.proposal, v.review, v.decision = p, r, dec
		}
		v.use(d)
	}
	return nil
}

// admitted holds the admitted chain to everything that admission asks for, at
// the time at which the decision was accepted.
func (v *verifier) admitted() error {
	d := v.decision
	e, ok := v.accepted(d.Ref)
	if !ok {
		return wrong(ledger.KindDecision, d.Ref, "the journal never accepted it")
	}
	if err := proposal.Relate(v.proposal, v.review, d, e.time()); err != nil {
		return at(ledger.KindDecision, d.Ref, err)
	}
	var err error
	if v.turn, err = open(v, proposal.KindTurn, v.proposal.Turn, proposal.AsTurn); err != nil {
		return err
	}
	v.say(fmt.Sprintf("proposed by %s, accepted by %s, admitted by %s", v.proposal.Author.ID, v.review.Reviewer.ID, d.Chair.ID))
	return nil
}

// digestOf reads a "sha256:" + hex name.
func digestOf(kind, ref, text string) (canon.Digest, error) {
	d, err := canon.ParseRoot(text)
	if err != nil {
		return d, at(kind, ref, fault.Wrap(err, fault.Unverified, "read digest", "%q is no digest", text))
	}
	return d, nil
}
