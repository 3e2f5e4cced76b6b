package server

import (
	"context"
	"encoding/json"
	"strings"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ident"
	"writ/internal/journal"
	"writ/internal/ledger"
)

// NewParticipant is what an admin asks for.
type NewParticipant struct {
	Kind      string   `json:"kind" enum:"person,harness,agent"`
	Name      string   `json:"name" minLength:"1" maxLength:"120"`
	NodeID    string   `json:"node_id,omitempty" doc:"the key it signs with, node:did:key:…"`
	HarnessID string   `json:"harness_id,omitempty" doc:"for an agent: the harness it speaks through"`
	Roles     []string `json:"roles,omitempty" enum:"implementer,reviewer,chair,operator" doc:"chair and operator are for people only"`
}

// Participant is a person, a harness or an agent of a workspace.
type Participant struct {
	ID        string   `json:"participant_id"`
	Kind      string   `json:"kind" enum:"person,harness,agent"`
	Name      string   `json:"name"`
	NodeID    string   `json:"node_id,omitempty" doc:"the key it signs with, node:did:key:…"`
	HarnessID string   `json:"harness_id,omitempty" doc:"of an agent: the harness it speaks through"`
	Roles     []string `json:"roles,omitempty" doc:"of implementer, reviewer, chair, operator"`
}

var prefixOf = map[string]ident.Prefix{journal.Person: ident.Person, journal.Harness: ident.Harness, journal.Agent: ident.Agent}

func (s *Server) createParticipant(ctx context.Context, p journal.Principal, _ *struct{}, in NewParticipant) (*answer[Participant], error) {
	n := Participant{ident.New(prefixOf[in.Kind]), in.Kind, in.Name, in.NodeID, in.HarnessID, in.Roles}
	if err := s.checkParticipant(ctx, p.Workspace, n); err != nil {
		return nil, err
	}
	return &answer[Participant]{n}, s.PutParticipant(ctx, p.Workspace, n)
}

func (s *Server) checkParticipant(ctx context.Context, workspace string, n Participant) error {
	const op = "create participant"
	if strings.TrimSpace(n.Name) == "" {
		return fault.New(fault.Invalid, op, "the name is blank").At("/name")
	}
	if n.NodeID != "" {
		if _, err := ident.ParseNode(n.NodeID); err != nil {
			return fault.Wrap(err, fault.Invalid, op, "node_id is not a node id").At("/node_id")
		}
	}
	for _, r := range n.Roles {
		switch {
		case n.Kind != journal.Person && (r == "chair" || r == "operator"):
			return fault.New(fault.AgentApproval, op, "only a person can be %s", r).At("/roles")
		case n.NodeID == "":
			return fault.New(fault.Invalid, op, "the role %s needs a key to sign with", r).At("/node_id").
				Help("make one with: writ key new NAME, and send its node id")
		}
	}
	if n.HarnessID == "" {
		return nil
	}
	if n.Kind != journal.Agent || !ident.Is(ident.Harness, n.HarnessID) {
		return fault.New(fault.Invalid, op, "harness_id is for agents, and names a harness").At("/harness_id")
	}
	if _, err := s.participant(ctx, workspace, n.HarnessID); fault.CodeOf(err) == fault.NotFound {
		return fault.New(fault.NotFound, op, "there is no harness %s", n.HarnessID).At("/harness_id")
	} else if err != nil {
		return err
	}
	return nil
}

// PutParticipant stores a participant; also used to set up a new workspace.
func (s *Server) PutParticipant(ctx context.Context, workspace string, n Participant) error {
	body, err := canon.Marshal(n)
	if err != nil {
		return err
	}
	joined, err := journal.System(journal.IDs{Event: ident.New(ident.Event), Workspace: workspace}, journal.Joined(n.ID, n.Kind, n.Name))
	if err != nil {
		return err
	}
	_, err = s.Store.Commit(ctx, ledger.Commit{Workspace: workspace, Now: s.Now(), Events: []ledger.NewEvent{joined}, Cells: []ledger.CellWrite{
		{Kind: ledger.CellParticipant, Key: n.ID, State: n.Kind, Value: body},
	}})
	return err
}

func (s *Server) participant(ctx context.Context, workspace, id string) (Participant, error) {
	var n Participant
	cell, err := s.Store.Cell(ctx, workspace, ledger.CellParticipant, id)
	if fault.CodeOf(err) == fault.NotFound {
		return n, fault.New(fault.NotFound, "read participant", "there is no participant %s", id)
	}
	if err != nil {
		return n, err
	}
	if err := json.Unmarshal(cell.Value, &n); err != nil {
		return n, fault.Wrap(err, fault.Corrupt, "read participant", "stored participant %s is damaged", id)
	}
	return n, nil
}

type participantList struct {
	Participants []Participant `json:"participants" nullable:"false"`
}

func (s *Server) listParticipants(ctx context.Context, p journal.Principal, _ *struct{}) (*answer[participantList], error) {
	cells, err := s.Store.Cells(ctx, p.Workspace, ledger.CellFilter{Kind: ledger.CellParticipant})
	if err != nil {
		return nil, err
	}
	out := participantList{make([]Participant, len(cells))}
	for i, c := range cells {
		if err := json.Unmarshal(c.Value, &out.Participants[i]); err != nil {
			return nil, fault.Wrap(err, fault.Corrupt, "list participants", "stored participant %s is damaged", c.Key)
		}
	}
	return &answer[participantList]{out}, nil
}
