package host

import (
	"context"
	"slices"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/journal"
	"writ/internal/ledger"
	"writ/internal/proposal"
)

// roomLife is how long the assignments and turns of a run may be answered.
const roomLife = 7 * 24 * time.Hour

// reviewFlow names the flow that a reviewer of this host speaks under.
const reviewFlow = "writ.change:review"

// Turn builds the turn document of a message, and before the first one the role
// assignments of the run. The same message gives the same turn.
func (h *Host) Turn(ctx context.Context, workspace, runID, eventID string) (Accepted, error) {
	const op = "build turn"
	h.making.Lock() // the first turn makes the assignments, once
	defer h.making.Unlock()
	run, err := h.openRun(ctx, workspace, runID)
	if err != nil {
		return Accepted{}, err
	}
	e, err := h.Store.Event(ctx, workspace, eventID)
	if err != nil {
		return Accepted{}, err
	}
	if e.Type != journal.MessagePosted || e.LaneID != run.Lane {
		return Accepted{}, fault.New(fault.Relation, op, "event %s is no message of this run's lane", eventID).
			Help("post a message.posted event with lane_id %s", run.Lane)
	}
	body, err := canon.Parse(e.Body)
	if err != nil {
		return Accepted{}, fault.Wrap(err, fault.Corrupt, op, "stored event %s is damaged", eventID)
	}
	assignment, docs, err := h.assign(ctx, workspace, run, e.Actor)
	if err != nil {
		return Accepted{}, err
	}
	no, err := h.turnNo(ctx, workspace, run.Lane, e)
	if err != nil {
		return Accepted{}, err
	}
	turn, err := proposal.TurnFrom(proposal.Message{
		EventID: e.ID, RunID: runID, SpaceID: run.Space, LaneID: run.Lane,
		Assignment: assignment, No: no, Content: body.Str("body"), Class: proposal.Community,
		At: e.TS, Until: e.TS.Add(roomLife),
	})
	if err != nil {
		return Accepted{}, err
	}
	return h.keep(ctx, workspace, run, turn.Document, e.ID, docs)
}

// keep stores a document that the host itself made, with others before it.
func (h *Host) keep(ctx context.Context, workspace string, r run, d proposal.Document, event string, before []ledger.NewDocument) (Accepted, error) {
	if seen, err := h.Store.Document(ctx, workspace, d.Ref); err == nil {
		return replayed(seen), nil
	}
	doc := ledger.NewDocument{Kind: string(d.Kind), Ref: d.Ref, RunID: r.ID, Identity: d.Identity(), Event: event, Body: d.Raw}
	receipt, err := h.commit(ctx, batch{
		workspace: workspace, space: r.Space, run: r.ID, lane: r.Lane,
		once: "document " + d.Ref, docs: append(before, doc),
	})
	if err != nil {
		return Accepted{}, err
	}
	last := receipt.Events[len(receipt.Events)-1]
	return Accepted{Kind: doc.Kind, Ref: d.Ref, SHA256: canon.Sum(d.Raw).Hex(), Seq: last.Seq, Replayed: receipt.Replayed}, nil
}

// assign returns the assignment under which a participant speaks in the run, and
// the documents to store when the run has none yet. The roles were decided when
// the lane opened: by the workspace, for whoever holds them.
func (h *Host) assign(ctx context.Context, workspace string, r run, speaker string) (proposal.Assignment, []ledger.NewDocument, error) {
	var none proposal.Assignment
	people, err := h.participants(ctx, workspace)
	if err != nil {
		return none, nil, err
	}
	stored, err := h.Store.Documents(ctx, workspace, ledger.DocumentFilter{RunID: r.ID, Kinds: []string{ledger.KindAssignment}})
	if err != nil {
		return none, nil, err
	}
	seen := map[string]bool{}
	for _, d := range stored {
		seen[d.Ref] = true
	}
	var own proposal.Assignment
	var docs []ledger.NewDocument
	for _, p := range people {
		role := deliberates(p)
		if role == "" {
			continue
		}
		a, err := proposal.Assign(proposal.AssignParams{
			RunID: r.ID, SpaceID: r.Space, LaneID: r.Lane,
			Participant: proposal.Participant(p.ID), Role: role, By: proposal.Subject{Kind: "node", ID: h.Node()},
			At: r.Requested, Until: r.Requested.Add(roomLife),
		})
		if err != nil {
			return none, nil, err
		}
		if p.ID == speaker {
			own = a
		}
		if !seen[a.Ref] {
			docs = append(docs, ledger.NewDocument{Kind: ledger.KindAssignment, Ref: a.Ref, RunID: r.ID, Identity: a.Identity(), Body: a.Raw})
		}
	}
	if own.Ref == "" {
		return none, nil, fault.New(fault.Forbidden, "build turn", "%s holds no role in the deliberation", speaker).
			Help("an admin gives one of the roles implementer and reviewer")
	}
	return own, docs, nil
}

// deliberates is the one role that p speaks under, "" for none.
func deliberates(p participant) string {
	for _, role := range []string{proposal.RoleImplementer, proposal.RoleReviewer} {
		if p.has(role) {
			return role
		}
	}
	return ""
}

// turnNo counts the messages of the speaker in the lane up to and with e.
func (h *Host) turnNo(ctx context.Context, workspace, lane string, e ledger.Event) (int64, error) {
	n, after := int64(0), int64(0)
	for {
		page, err := h.Store.Events(ctx, workspace, ledger.EventQuery{After: after, Limit: 1000, LaneID: lane, Types: []string{journal.MessagePosted}})
		if err != nil {
			return 0, err
		}
		for _, m := range page.Events {
			if m.Seq <= e.Seq && m.Actor == e.Actor {
				n++
			}
		}
		if page.NextAfter >= e.Seq || page.NextAfter >= page.Head {
			return n, nil
		}
		after = page.NextAfter
	}
}

// Manifest fixes what a reviewer of the proposal is shown: the proposal and the
// candidate with its patches, whole. The reviewer is who asks; for anybody else it
// is the first one that the workspace has.
func (h *Host) Manifest(ctx context.Context, workspace, runID, ref, asking string) (Accepted, error) {
	h.making.Lock()
	defer h.making.Unlock()
	r, err := h.openRun(ctx, workspace, runID)
	if err != nil {
		return Accepted{}, err
	}
	p, err := read(ctx, h, workspace, proposal.KindProposal, ref, proposal.AsProposal)
	if err != nil {
		return Accepted{}, err
	}
	people, err := h.participants(ctx, workspace)
	if err != nil {
		return Accepted{}, err
	}
	reviewers := slices.DeleteFunc(people, func(p participant) bool { return deliberates(p) != proposal.RoleReviewer })
	if own := slices.IndexFunc(reviewers, func(p participant) bool { return p.ID == asking }); own >= 0 {
		return h.manifest(ctx, workspace, r, p, reviewers[own])
	}
	if len(reviewers) > 0 {
		return h.manifest(ctx, workspace, r, p, reviewers[0])
	}
	return Accepted{}, fault.New(fault.NotFound, "fix evidence", "the workspace has no reviewer").
		Help("an admin gives the role reviewer")
}

func (h *Host) manifest(ctx context.Context, workspace string, r run, p proposal.Proposal, reader participant) (Accepted, error) {
	content, err := h.shown(ctx, p)
	if err != nil {
		return Accepted{}, err
	}
	if _, err := h.putBlob(ctx, workspace, content); err != nil {
		return Accepted{}, err
	}
	m, err := proposal.NewManifest(proposal.ManifestParams{
		Query: p.Query, Room: p.Room, Reader: proposal.Participant(reader.ID), Flow: reviewFlow,
		Items: []proposal.Item{
			{Kind: "proposal", Ref: p.Ref, Digest: p.Digest(), Required: true, Included: true},
			{Kind: "candidate", Ref: p.Candidate.Artifact, Digest: p.Candidate.Digest, Required: true, Included: true},
		},
		Content: content, Target: &p, Class: p.Class,
	})
	if err != nil {
		return Accepted{}, err
	}
	return h.keep(ctx, workspace, r, m.Document, "", nil)
}

// manifestOf finds the manifest that a review says it read.
func (h *Host) manifestOf(ctx context.Context, workspace, runID string, r proposal.Review) (proposal.Manifest, error) {
	docs, err := h.Store.Documents(ctx, workspace, ledger.DocumentFilter{RunID: runID, Kinds: []string{ledger.KindManifest}})
	if err != nil {
		return proposal.Manifest{}, err
	}
	for _, d := range docs {
		doc, err := proposal.Open(proposal.KindManifest, d.Body)
		if err != nil {
			return proposal.Manifest{}, err
		}
		if doc.Digest() == r.Evidence {
			return proposal.AsManifest(doc)
		}
	}
	return proposal.Manifest{}, fault.New(fault.Relation, "accept review", "no evidence of this run has the digest %s", r.Evidence).
		At("/evidence-state~1digest").Help("fix the evidence first, with POST /v1/runs/{run}/manifests")
}
