package server

import (
	"context"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"writ/internal/fault"
	"writ/internal/ident"
	"writ/internal/journal"
	"writ/internal/ledger"
)

// System is the ledger workspace of what belongs to no workspace: tokens.
const System = "system"

// Scopes of tokens.
const (
	ScopeAdmin   = "admin"
	ScopeRead    = "events:read"
	ScopeWrite   = "events:write"
	ScopeWork    = "runs:work"
	ScopeRoute   = "lanes:route"
	ScopeChain   = "chain:write"
	ScopeApprove = "approve"
	ScopeDocket  = "docket:read"
	ScopeLanding = "landing:write"
)

// Scopes is every scope, in the order in which they are shown.
var Scopes = []string{ScopeAdmin, ScopeRead, ScopeWrite, ScopeWork, ScopeRoute, ScopeChain, ScopeApprove, ScopeDocket, ScopeLanding}

// tokenRow is a token at rest: its hash, never its text.
type tokenRow struct {
	ID        string   `json:"id"`
	Hash      string   `json:"hash"` // hex SHA-256 of the text
	Workspace string   `json:"workspace"`
	Kind      string   `json:"kind"`
	Holder    string   `json:"holder"` // participant id
	HarnessID string   `json:"harness_id,omitempty"`
	Name      string   `json:"name"`
	Scopes    []string `json:"scopes"`
	ExpiresAt string   `json:"expires_at,omitempty"` // RFC 3339 UTC
}

// tokens keeps the rows that were looked up. A revoked token leaves at once:
// this process is the only one that writes its database.
type tokens struct {
	mu   sync.RWMutex
	rows map[string]tokenRow // by id
}

var errToken = fault.New(fault.Unauthenticated, "authenticate", "no valid token").
	Help("send the header Authorization: Bearer writ_…; make a token with POST /v1/tokens")

func (t *tokens) principal(ctx context.Context, store Store, now time.Time, header string) (journal.Principal, error) {
	text, ok := strings.CutPrefix(header, "Bearer ")
	if !ok {
		return journal.Principal{}, errToken
	}
	id, err := ident.ParseSecret(text)
	if err != nil {
		return journal.Principal{}, errToken
	}
	row, err := t.row(ctx, store, id)
	if err != nil {
		return journal.Principal{}, err
	}
	want, err := hex.DecodeString(row.Hash)
	if err != nil {
		return journal.Principal{}, fault.Wrap(err, fault.Corrupt, "authenticate", "stored token is damaged")
	}
	got := ident.HashSecret(text)
	if subtle.ConstantTimeCompare(got[:], want) != 1 {
		return journal.Principal{}, errToken
	}
	if row.ExpiresAt != "" {
		end, err := time.Parse(time.RFC3339, row.ExpiresAt)
		if err != nil || !now.Before(end) {
			return journal.Principal{}, fault.New(fault.Unauthenticated, "authenticate", "token %s expired at %s", row.ID, row.ExpiresAt).
				Help("ask an admin for a new token")
		}
	}
	return journal.Principal{Kind: row.Kind, ID: row.Holder, HarnessID: row.HarnessID, Workspace: row.Workspace, TokenID: row.ID, Scopes: row.Scopes}, nil
}

func (t *tokens) row(ctx context.Context, store Store, id string) (tokenRow, error) {
	t.mu.RLock()
	row, ok := t.rows[id]
	t.mu.RUnlock()
	if ok {
		return row, nil
	}
	t.mu.Lock() // held over the read, so that a revocation cannot fall between read and insert
	defer t.mu.Unlock()
	cell, err := store.Cell(ctx, System, ledger.CellToken, id)
	if fault.CodeOf(err) == fault.NotFound {
		return tokenRow{}, errToken
	}
	if err != nil {
		return tokenRow{}, err
	}
	if err := json.Unmarshal(cell.Value, &row); err != nil {
		return tokenRow{}, fault.Wrap(err, fault.Corrupt, "authenticate", "stored token is damaged")
	}
	if t.rows == nil {
		t.rows = map[string]tokenRow{}
	}
	t.rows[id] = row
	return row, nil
}

// revoke deletes the token and forgets it, in that order and under one lock.
func (t *tokens) revoke(ctx context.Context, store Store, now time.Time, workspace, id string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	cell, err := store.Cell(ctx, System, ledger.CellToken, id)
	if err != nil {
		return err
	}
	var row tokenRow
	if err := json.Unmarshal(cell.Value, &row); err != nil || row.Workspace != workspace {
		return errors.Join(fault.New(fault.NotFound, "revoke token", "no token %s", id), err)
	}
	_, err = store.Commit(ctx, ledger.Commit{Workspace: System, Now: now, Cells: []ledger.CellWrite{
		{Kind: ledger.CellToken, Key: id, Expect: cell.Version, State: "revoked", Delete: true},
	}})
	if err != nil {
		return err
	}
	delete(t.rows, id)
	return nil
}

type principalKey struct{}

func withPrincipal(ctx context.Context, p journal.Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// who returns the principal of the request, or why it may not do this.
func who(ctx context.Context, scope string) (journal.Principal, error) {
	p, ok := ctx.Value(principalKey{}).(journal.Principal)
	if !ok {
		return p, errToken
	}
	if scope != "" && !slices.Contains(p.Scopes, scope) && !slices.Contains(p.Scopes, ScopeAdmin) {
		return p, fault.New(fault.Forbidden, "authorise", "this token lacks the scope %s", scope).
			Help("ask an admin for a token with that scope").With("scope", scope)
	}
	return p, nil
}
