package node

import (
	"context"
	"encoding/json"
	"slices"

	"writ/internal/ident"
	"writ/internal/journal"
	"writ/internal/ledger"
	"writ/internal/server"
	"writ/internal/store/sqlite"
)

// First is what the first start of a data folder sets up: a workspace with an
// admin. The token is shown this once.
type First struct {
	Workspace string `json:"workspace_id"`
	Admin     string `json:"participant_id"`
	Token     string `json:"token"`
}

// setUp makes the first workspace; nil when there is one already.
func setUp(ctx context.Context, store *sqlite.Store, srv *server.Server) (*First, error) {
	all, err := store.Workspaces(ctx)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(all, func(w string) bool { return ident.Is(ident.Workspace, w) }) {
		return nil, nil
	}
	ws := ident.New(ident.Workspace)
	created, err := journal.System(journal.IDs{Event: ident.New(ident.Event), Workspace: ws}, journal.Created("default"))
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(map[string]string{"workspace_id": ws, "name": "default"})
	if err != nil {
		return nil, err
	}
	_, err = store.Commit(ctx, ledger.Commit{Workspace: ws, Now: srv.Now(), Events: []ledger.NewEvent{created}, Cells: []ledger.CellWrite{
		{Kind: ledger.CellWorkspace, Key: ws, State: "active", Value: body},
	}})
	if err != nil {
		return nil, err
	}
	admin := server.Participant{ID: ident.New(ident.Person), Kind: journal.Person, Name: "admin"}
	if err := srv.PutParticipant(ctx, ws, admin); err != nil {
		return nil, err
	}
	token, err := srv.IssueToken(ctx, ws, admin, server.Scopes, 0)
	if err != nil {
		return nil, err
	}
	return &First{Workspace: ws, Admin: admin.ID, Token: token.Text}, nil
}
