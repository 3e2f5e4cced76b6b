package host

import (
	"context"
	"encoding/json"
	"slices"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/journal"
	"writ/internal/ledger"
	"writ/internal/proposal"
)

// Submission is a signed document on its way in.
type Submission struct {
	Workspace, RunID string
	Kind             string // a ledger kind
	By               journal.Principal
	Raw              []byte
}

// Accepted says where a document ended up.
type Accepted struct {
	Kind     string `json:"kind"`
	Ref      string `json:"ref"`
	SHA256   string `json:"sha256"`
	Seq      int64  `json:"seq,omitempty"` // of its document.accepted event
	Replayed bool   `json:"replayed"`
}

// participant is the part of a participant's cell that the chain needs.
type participant struct {
	ID     string   `json:"participant_id"`
	Kind   string   `json:"kind"`
	Name   string   `json:"name"`
	NodeID string   `json:"node_id"`
	Roles  []string `json:"roles"`
}

func (p participant) has(role string) bool { return slices.Contains(p.Roles, role) }

func (h *Host) participants(ctx context.Context, workspace string) ([]participant, error) {
	cells, err := h.Store.Cells(ctx, workspace, ledger.CellFilter{Kind: ledger.CellParticipant})
	if err != nil {
		return nil, err
	}
	out := make([]participant, len(cells))
	for i, c := range cells {
		if err := json.Unmarshal(c.Value, &out[i]); err != nil {
			return nil, fault.Wrap(err, fault.Corrupt, "read participant", "stored participant %s is damaged", c.Key)
		}
	}
	return out, nil
}

func (h *Host) participant(ctx context.Context, workspace, id string) (participant, error) {
	var p participant
	cell, err := h.Store.Cell(ctx, workspace, ledger.CellParticipant, id)
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal(cell.Value, &p); err != nil {
		return p, fault.Wrap(err, fault.Corrupt, "read participant", "stored participant %s is damaged", id)
	}
	return p, nil
}

// Accept takes in one signed document of the chain: everything that can be
// wrong with it alone, then everything that has to hold between it, the
// documents that it names and the facts of the workspace. The same document
// twice is a replay.
//
// Documents of a run may come in while the run is being driven: what was decided
// on facts that moved meanwhile is decided again.
func (h *Host) Accept(ctx context.Context, s Submission) (Accepted, error) {
	const tries = 32
	for i := 0; ; i++ {
		a, err := h.accept(ctx, s)
		if fault.CodeOf(err) != fault.Conflict || i == tries || ctx.Err() != nil {
			return a, err
		}
	}
}

func (h *Host) accept(ctx context.Context, s Submission) (Accepted, error) {
	doc, err := proposal.Open(proposal.Kind(s.Kind), s.Raw)
	if err != nil {
		return Accepted{}, err
	}
	if seen, err := h.Store.Document(ctx, s.Workspace, doc.Ref); err == nil {
		if seen.RunID != s.RunID || seen.Kind != s.Kind {
			return Accepted{}, fault.New(fault.Relation, "accept "+s.Kind, "%s belongs to run %s", doc.Ref, seen.RunID)
		}
		return replayed(seen), nil
	} else if fault.CodeOf(err) != fault.NotFound {
		return Accepted{}, err
	}
	if err := doc.Current(h.Now()); err != nil {
		return Accepted{}, err
	}
	run, err := h.openRun(ctx, s.Workspace, s.RunID)
	if err != nil {
		return Accepted{}, err
	}
	in := intake{h: h, ctx: ctx, run: run, s: s, doc: doc}
	switch doc.Kind {
	case proposal.KindProposal:
		err = in.proposal()
	case proposal.KindReview:
		err = in.review()
	case proposal.KindDecision:
		h.making.Lock() // open runs are counted
		defer h.making.Unlock()
		err = in.decision()
	case proposal.KindAnswer:
		err = in.answer()
	default:
		err = fault.New(fault.UnknownKind, "accept document", "documents of kind %s are not taken in from outside", s.Kind)
	}
	if err != nil {
		return Accepted{}, err
	}
	return in.commit()
}

func replayed(d ledger.Document) Accepted {
	return Accepted{Kind: d.Kind, Ref: d.Ref, SHA256: d.SHA256.Hex(), Replayed: true}
}

// intake is one document on its way in.
type intake struct {
	h     *Host
	ctx   context.Context
	run   run
	s     Submission
	doc   proposal.Document
	extra batch // what goes in with it
	once  string
}

func (in *intake) commit() (Accepted, error) {
	identity := in.doc.Identity()
	if in.once != "" {
		identity = in.once
	}
	b := in.extra
	b.workspace, b.space, b.run, b.lane = in.s.Workspace, in.run.Space, in.s.RunID, in.run.Lane
	b.once = "document " + in.doc.Ref
	first := ledger.NewDocument{Kind: in.s.Kind, Ref: in.doc.Ref, RunID: in.s.RunID, Identity: identity, Body: in.doc.Raw}
	b.docs = append([]ledger.NewDocument{first}, b.docs...)
	r, err := in.h.commit(in.ctx, b)
	if fault.CodeOf(err) == fault.Idempotency && in.doc.Kind == proposal.KindAnswer { // another answer was faster
		return Accepted{}, answered("")
	}
	if err != nil {
		return Accepted{}, err
	}
	in.h.Wake()
	return Accepted{Kind: in.s.Kind, Ref: in.doc.Ref, SHA256: canon.Sum(in.doc.Raw).Hex(), Seq: r.Events[0].Seq, Replayed: r.Replayed}, nil
}

// signer checks that the document was sent by the participant whose key signed it.
func (in *intake) signer(id string) (participant, error) {
	op := "accept " + in.s.Kind
	p, err := in.h.participant(in.ctx, in.s.Workspace, id)
	if err != nil {
		return p, err
	}
	if p.NodeID != in.doc.Signer.Node() {
		return p, fault.New(fault.Signer, op, "%s signs with %s, this is signed by %s", p.Name, p.NodeID, in.doc.Signer.Node())
	}
	if in.s.By.ID != id {
		return p, fault.New(fault.Forbidden, op, "%s cannot hand in what %s signed", in.s.By.ID, id)
	}
	return p, nil
}

func (in *intake) ofRun(query, room string) error {
	op := "accept " + in.s.Kind
	if query != proposal.QueryOf(in.s.RunID) {
		return fault.New(fault.Relation, op, "the document is of %s, not of this run", query).At("/query~1id")
	}
	if want := proposal.RoomOf(in.run.Space, in.run.Lane); room != want {
		return fault.New(fault.Relation, op, "the document is of %s, not of %s", room, want).At("/room~1id")
	}
	return nil
}

// said reads the turn that a document came from, and the assignment it was spoken under.
func (in *intake) said(ref string) (proposal.Turn, proposal.Assignment, error) {
	turn, err := read(in.ctx, in.h, in.s.Workspace, proposal.KindTurn, ref, proposal.AsTurn)
	if err != nil {
		return proposal.Turn{}, proposal.Assignment{}, err
	}
	a, err := read(in.ctx, in.h, in.s.Workspace, proposal.KindAssignment, turn.Assignment, proposal.AsAssignment)
	return turn, a, err
}

// undecided refuses what comes when the run has its admitted proposal.
func (in *intake) undecided() error {
	_, err := in.h.task(in.ctx, in.s.Workspace, in.s.RunID)
	switch {
	case err == nil:
		return fault.New(fault.State, "accept "+in.s.Kind, "run %s has an admitted proposal already", in.s.RunID).
			Help("ask again: a new ask opens a new run")
	case fault.CodeOf(err) != fault.NotFound:
		return err
	}
	return nil
}

func (in *intake) proposal() error {
	p, err := proposal.AsProposal(in.doc)
	if err != nil {
		return err
	}
	if err := in.undecided(); err != nil {
		return err
	}
	if err := in.ofRun(p.Query, p.Room); err != nil {
		return err
	}
	turn, assignment, err := in.said(p.Turn)
	if err != nil {
		return err
	}
	if err := proposal.RelateTurn(p, turn, assignment); err != nil {
		return err
	}
	if err := assignment.Effective(proposal.RoleImplementer, in.h.Now()); err != nil {
		return err
	}
	if _, err := in.signer(p.Author.ID); err != nil {
		return err
	}
	if err := p.Executable(); err != nil {
		return err
	}
	return in.h.checkCandidate(in.ctx, in.s.Workspace, p)
}

func (in *intake) review() error {
	r, err := proposal.AsReview(in.doc)
	if err != nil {
		return err
	}
	if err := in.undecided(); err != nil {
		return err
	}
	if err := in.ofRun(r.Query, r.Room); err != nil {
		return err
	}
	turn, assignment, err := in.said(r.Turn)
	if err != nil {
		return err
	}
	if err := proposal.RelateReviewerTurn(r, turn, assignment); err != nil {
		return err
	}
	if err := assignment.Effective(proposal.RoleReviewer, in.h.Now()); err != nil {
		return err
	}
	if _, err := in.signer(r.Reviewer.ID); err != nil {
		return err
	}
	p, err := read(in.ctx, in.h, in.s.Workspace, proposal.KindProposal, r.Proposal, proposal.AsProposal)
	if err != nil {
		return err
	}
	m, err := in.h.manifestOf(in.ctx, in.s.Workspace, in.s.RunID, r)
	if err != nil {
		return err
	}
	if err := proposal.RelateEvidence(r, m); err != nil {
		return err
	}
	return proposal.RelateReview(p, r)
}

func (in *intake) decision() error {
	d, err := proposal.AsDecision(in.doc)
	if err != nil {
		return err
	}
	if err := in.ofRun(d.Query, d.Room); err != nil {
		return err
	}
	chair, err := in.signer(d.Chair.ID)
	if err != nil {
		return err
	}
	if chair.Kind != journal.Person || !chair.has("chair") && !chair.has("operator") {
		return fault.New(fault.Forbidden, "accept decision", "%s holds neither the role chair nor operator", chair.Name).
			Help("ask an admin for the role")
	}
	if err := in.undecided(); err != nil {
		return err
	}
	p, err := read(in.ctx, in.h, in.s.Workspace, proposal.KindProposal, d.Proposal, proposal.AsProposal)
	if err != nil {
		return err
	}
	r, err := read(in.ctx, in.h, in.s.Workspace, proposal.KindReview, d.Review, proposal.AsReview)
	if err != nil {
		return err
	}
	if d.Decision != proposal.DecisionAdmit {
		return proposal.RelateDecision(p, r, d)
	}
	if err := proposal.Relate(p, r, d, in.h.Now()); err != nil {
		return err
	}
	in.extra, err = in.h.admit(in.ctx, in.s.Workspace, in.run, p, r, d)
	return err
}

// read reads a stored document of the chain in its typed view.
func read[T any](ctx context.Context, h *Host, workspace string, kind proposal.Kind, ref string, view func(proposal.Document) (T, error)) (T, error) {
	var none T
	stored, err := h.document(ctx, workspace, string(kind), ref)
	if err != nil {
		return none, err
	}
	doc, err := proposal.Open(kind, stored.Body)
	if err != nil {
		return none, fault.Wrap(err, fault.Corrupt, "read "+string(kind), "stored document %s no longer opens", ref)
	}
	return view(doc)
}
