package node

import (
	"context"
	"encoding/json"

	"writ/internal/ident"
	"writ/internal/journal"
	"writ/internal/ledger"
	"writ/internal/server"
	"writ/internal/store/sqlite"
)

// First is what the first start of a data folder sets up: a workspace with an
// admin. The token is shown once; whoever has shown it says so, see Node.Shown.
type First struct {
	Workspace string `json:"workspace_id"`
	Admin     string `json:"participant_id"`
	Token     string `json:"token"`
}

const adminName = "admin"

// States of the first workspace: nobody was shown its admin's token yet, or
// somebody was.
const (
	unshown = "new"
	shown   = "active"
)

// setUp makes the first workspace and its admin; nil when that was done and told
// before. A process that died on the way left something of it: the next one goes
// on from there, and gives a token of its own, because nobody may have seen the
// one before.
func setUp(ctx context.Context, store *sqlite.Store, srv *server.Server) (*First, error) {
	ws, err := firstWorkspace(ctx, store, srv)
	if err != nil || ws == "" {
		return nil, err
	}
	admin, err := firstAdmin(ctx, store, srv, ws)
	if err != nil {
		return nil, err
	}
	token, err := srv.IssueToken(ctx, ws, admin, server.Scopes, 0)
	if err != nil {
		return nil, err
	}
	return &First{Workspace: ws, Admin: admin.ID, Token: token.Text}, nil
}

// firstWorkspace is the workspace that is to be set up, made when there is none;
// "" when it is set up.
func firstWorkspace(ctx context.Context, store *sqlite.Store, srv *server.Server) (string, error) {
	all, err := store.Workspaces(ctx)
	if err != nil {
		return "", err
	}
	for _, ws := range all {
		if !ident.Is(ident.Workspace, ws) {
			continue
		}
		cells, err := store.Cells(ctx, ws, ledger.CellFilter{Kind: ledger.CellWorkspace, State: unshown})
		if err != nil || len(cells) == 0 {
			return "", err
		}
		return ws, nil
	}
	ws := ident.New(ident.Workspace)
	created, err := journal.System(journal.IDs{Event: ident.New(ident.Event), Workspace: ws}, journal.Created("default"))
	if err != nil {
		return "", err
	}
	body, err := json.Marshal(map[string]string{"workspace_id": ws, "name": "default"})
	if err != nil {
		return "", err
	}
	_, err = store.Commit(ctx, ledger.Commit{Workspace: ws, Now: srv.Now(), Events: []ledger.NewEvent{created}, Cells: []ledger.CellWrite{
		{Kind: ledger.CellWorkspace, Key: ws, State: unshown, Value: body},
	}})
	return ws, err
}

// firstAdmin is the admin of a workspace that is being set up.
func firstAdmin(ctx context.Context, store *sqlite.Store, srv *server.Server, ws string) (server.Participant, error) {
	var admin server.Participant
	cells, err := store.Cells(ctx, ws, ledger.CellFilter{Kind: ledger.CellParticipant, State: journal.Person})
	if err != nil {
		return admin, err
	}
	for _, c := range cells { // oldest first
		if err := json.Unmarshal(c.Value, &admin); err != nil || admin.Name == adminName {
			return admin, err
		}
	}
	admin = server.Participant{ID: ident.New(ident.Person), Kind: journal.Person, Name: adminName}
	return admin, srv.PutParticipant(ctx, ws, admin)
}

// Shown notes that somebody was shown the token of the first start: it is not
// shown again.
func (n *Node) Shown(ctx context.Context) error {
	if n.First == nil {
		return nil
	}
	cell, err := n.store.Cell(ctx, n.First.Workspace, ledger.CellWorkspace, n.First.Workspace)
	if err != nil || cell.State == shown {
		return err
	}
	_, err = n.store.Commit(ctx, ledger.Commit{Workspace: n.First.Workspace, Now: n.now(), Cells: []ledger.CellWrite{
		{Kind: cell.Kind, Key: cell.Key, Expect: cell.Version, State: shown, Value: cell.Value},
	}})
	return err
}
