package server

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ident"
	"writ/internal/journal"
	"writ/internal/ledger"
)

// Participant is a person, a harness or an agent of a workspace.
type Participant struct {
	ID        string   `json:"participant_id"`
	Kind      string   `json:"kind" enum:"person,harness,agent"`
	Name      string   `json:"name" minLength:"1" maxLength:"120"`
	NodeID    string   `json:"node_id,omitempty" doc:"the key it signs with, node:did:key:…"`
	HarnessID string   `json:"harness_id,omitempty" doc:"for an agent: the harness it speaks through"`
	Roles     []string `json:"roles,omitempty" doc:"of implementer, reviewer, chair, operator"`
}

// Roles that a participant can hold. Chair and operator are for people.
var roles = []string{"implementer", "reviewer", "chair", "operator"}

type newParticipant struct {
	Kind      string   `json:"kind" enum:"person,harness,agent"`
	Name      string   `json:"name" minLength:"1" maxLength:"120"`
	NodeID    string   `json:"node_id,omitempty"`
	HarnessID string   `json:"harness_id,omitempty"`
	Roles     []string `json:"roles,omitempty"`
}

var prefixOf = map[string]ident.Prefix{"person": ident.Person, "harness": ident.Harness, "agent": ident.Agent}

func (s *Server) createParticipant(ctx context.Context, in *struct{ Body newParticipant }) (*created[Participant], error) {
	p, err := who(ctx, ScopeAdmin)
	if err != nil {
		return nil, newProblem(err)
	}
	n := Participant{ident.New(prefixOf[in.Body.Kind]), in.Body.Kind, in.Body.Name, in.Body.NodeID, in.Body.HarnessID, in.Body.Roles}
	if err := checkParticipant(n); err != nil {
		return nil, newProblem(err)
	}
	if err := s.PutParticipant(ctx, p.Workspace, n); err != nil {
		return nil, newProblem(err)
	}
	return &created[Participant]{n}, nil
}

func checkParticipant(n Participant) error {
	const op = "create participant"
	if n.NodeID != "" {
		if _, err := ident.ParseNode(n.NodeID); err != nil {
			return fault.Wrap(err, fault.Invalid, op, "node_id is not a node id").At("/node_id")
		}
	}
	for _, r := range n.Roles {
		switch {
		case !slices.Contains(roles, r):
			return fault.New(fault.Invalid, op, "%q is not a role: one of %v", r, roles).At("/roles")
		case n.Kind != "person" && (r == "chair" || r == "operator"):
			return fault.New(fault.AgentApproval, op, "only a person can be %s", r).At("/roles")
		case n.NodeID == "":
			return fault.New(fault.Invalid, op, "the role %s needs a key to sign with", r).At("/node_id").
				Help("make one with: writ key new NAME, and send its node id")
		}
	}
	if n.HarnessID != "" && (n.Kind != "agent" || !ident.Is(ident.Harness, n.HarnessID)) {
		return fault.New(fault.Invalid, op, "harness_id is for agents, and names a harness").At("/harness_id")
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
	if err != nil {
		return n, err
	}
	if err := json.Unmarshal(cell.Value, &n); err != nil {
		return n, fault.Wrap(err, fault.Corrupt, "read participant", "stored participant %s is damaged", id)
	}
	return n, nil
}

type participantList struct {
	Participants []rawJSON `json:"participants"`
}

func (s *Server) listParticipants(ctx context.Context, _ *struct{}) (*answer[participantList], error) {
	p, err := who(ctx, ScopeRead)
	if err != nil {
		return nil, newProblem(err)
	}
	cells, err := s.Store.Cells(ctx, p.Workspace, ledger.CellFilter{Kind: ledger.CellParticipant})
	if err != nil {
		return nil, newProblem(err)
	}
	return &answer[participantList]{participantList{rawCells(cells)}}, nil
}

type newToken struct {
	ParticipantID string   `json:"participant_id"`
	Scopes        []string `json:"scopes" minItems:"1" doc:"of admin, events:read, events:write, runs:work, lanes:route, chain:write, approve, docket:read, landing:write"`
	TTLSeconds    int64    `json:"ttl_seconds,omitempty" minimum:"1" maximum:"31536000" doc:"0 or absent: until revoked"`
}

// Token is shown once; only its hash is kept.
type Token struct {
	ID        string `json:"token_id"`
	Text      string `json:"token" doc:"shown this once"`
	ExpiresAt string `json:"expires_at,omitempty"`
}

func (s *Server) createToken(ctx context.Context, in *struct{ Body newToken }) (*created[Token], error) {
	p, err := who(ctx, ScopeAdmin)
	if err != nil {
		return nil, newProblem(err)
	}
	holder, err := s.participant(ctx, p.Workspace, in.Body.ParticipantID)
	if err != nil {
		return nil, newProblem(err)
	}
	t, err := s.IssueToken(ctx, p.Workspace, holder, in.Body.Scopes, time.Duration(in.Body.TTLSeconds)*time.Second)
	if err != nil {
		return nil, newProblem(err)
	}
	return &created[Token]{t}, nil
}

// IssueToken makes a token for holder; ttl 0 lives until it is revoked.
func (s *Server) IssueToken(ctx context.Context, workspace string, holder Participant, scopes []string, ttl time.Duration) (Token, error) {
	for _, sc := range scopes {
		if !slices.Contains(Scopes, sc) {
			return Token{}, fault.New(fault.Invalid, "create token", "%q is not a scope: one of %v", sc, Scopes).At("/scopes")
		}
		if holder.Kind != "person" && (sc == ScopeApprove || sc == ScopeAdmin) {
			return Token{}, fault.New(fault.AgentApproval, "create token", "only a person can hold the scope %s", sc).At("/scopes")
		}
	}
	id, text := ident.NewSecret()
	hash := ident.HashSecret(text)
	row := tokenRow{ID: id, Hash: hex.EncodeToString(hash[:]), Workspace: workspace, Kind: holder.Kind, Holder: holder.ID, HarnessID: holder.HarnessID, Name: holder.Name, Scopes: scopes}
	if ttl > 0 {
		row.ExpiresAt = s.Now().Add(ttl).UTC().Format(time.RFC3339)
	}
	body, err := canon.Marshal(row)
	if err != nil {
		return Token{}, err
	}
	_, err = s.Store.Commit(ctx, ledger.Commit{Workspace: System, Now: s.Now(), Cells: []ledger.CellWrite{
		{Kind: ledger.CellToken, Key: id, State: "active", Value: body},
	}})
	if err != nil {
		return Token{}, err
	}
	return Token{ID: id, Text: text, ExpiresAt: row.ExpiresAt}, nil
}

func (s *Server) revokeToken(ctx context.Context, in *struct {
	ID string `path:"id"`
}) (*struct{}, error) {
	p, err := who(ctx, ScopeAdmin)
	if err != nil {
		return nil, newProblem(err)
	}
	if err := s.tokens.revoke(ctx, s.Store, s.Now(), p.Workspace, in.ID); err != nil {
		return nil, newProblem(err)
	}
	return &struct{}{}, nil
}

// Me is who the server takes the caller for.
type Me struct {
	Kind        string   `json:"kind"`
	ID          string   `json:"id"`
	WorkspaceID string   `json:"workspace_id"`
	TokenID     string   `json:"token_id"`
	Scopes      []string `json:"scopes"`
}

func (s *Server) me(ctx context.Context, _ *struct{}) (*answer[Me], error) {
	p, err := who(ctx, "")
	if err != nil {
		return nil, newProblem(err)
	}
	return &answer[Me]{Me{p.Kind, p.ID, p.Workspace, p.TokenID, p.Scopes}}, nil
}
