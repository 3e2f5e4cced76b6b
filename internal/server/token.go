package server

import (
	"context"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"writ/internal/canon"
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

// token is a row made ready for use.
type token struct {
	principal journal.Principal
	hash      [32]byte
	expires   time.Time       // zero: never
	ended     context.Context // done when the token is revoked
	end       context.CancelFunc
}

// tokens keeps the tokens that were used. A revoked one leaves at once: this
// process is the only one that writes its database.
type tokens struct {
	mu      sync.RWMutex
	used    map[[32]byte]*token // by hash of the text; only texts that were right are in it
	revoked map[string]bool     // by id, since the start, so that a lookup under way cannot bring one back
}

var errToken = fault.New(fault.Unauthenticated, "authenticate", "no valid token").
	Help("send the header Authorization: Bearer writ_…; make a token with POST /v1/tokens")

// authenticate finds the token of an Authorization header. Whatever is wrong
// with it looks the same, except that a token which was right tells that it is over.
func (t *tokens) authenticate(ctx context.Context, store Store, now time.Time, header string) (*token, error) {
	const scheme = "Bearer "
	if len(header) <= len(scheme) || !strings.EqualFold(header[:len(scheme)], scheme) {
		return nil, errToken
	}
	text := header[len(scheme):]
	hash := ident.HashSecret(text)
	t.mu.RLock()
	k := t.used[hash]
	t.mu.RUnlock()
	if k == nil {
		var err error
		if k, err = t.find(ctx, store, text, hash); err != nil {
			return nil, err
		}
	}
	if k.over(now) {
		return nil, fault.New(fault.Unauthenticated, "authenticate", "token %s expired at %s", k.principal.TokenID, k.expires.Format(time.RFC3339)).
			Help("ask an admin for a new token")
	}
	return k, nil
}

func (k *token) over(now time.Time) bool { return !k.expires.IsZero() && !now.Before(k.expires) }

// find reads the token from the ledger and keeps it when the text is right.
func (t *tokens) find(ctx context.Context, store Store, text string, hash [32]byte) (*token, error) {
	id, err := ident.ParseSecret(text)
	if err != nil {
		return nil, errToken
	}
	cell, err := store.Cell(ctx, System, ledger.CellToken, id)
	if fault.CodeOf(err) == fault.NotFound {
		return nil, errToken
	}
	if err != nil {
		return nil, err
	}
	k, err := readToken(cell)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch other := t.used[hash]; {
	case subtle.ConstantTimeCompare(hash[:], k.hash[:]) != 1 || t.revoked[id]:
		k.end()
		return nil, errToken
	case other != nil:
		k.end()
		return other, nil
	}
	if t.used == nil {
		t.used = map[[32]byte]*token{}
	}
	t.used[hash] = k
	return k, nil
}

func readToken(cell ledger.Cell) (*token, error) {
	damaged := func(err error) error {
		return fault.Wrap(err, fault.Corrupt, "authenticate", "stored token %s is damaged", cell.Key)
	}
	var row tokenRow
	if err := json.Unmarshal(cell.Value, &row); err != nil {
		return nil, damaged(err)
	}
	k := &token{principal: journal.Principal{
		Kind: row.Kind, ID: row.Holder, HarnessID: row.HarnessID, Workspace: row.Workspace, TokenID: row.ID, Scopes: row.Scopes,
	}}
	if n, err := hex.Decode(k.hash[:], []byte(row.Hash)); err != nil || n != len(k.hash) {
		return nil, damaged(err)
	}
	if row.ExpiresAt != "" {
		var err error
		if k.expires, err = time.Parse(time.RFC3339, row.ExpiresAt); err != nil {
			return nil, damaged(err)
		}
	}
	k.ended, k.end = context.WithCancel(context.Background())
	return k, nil
}

// revoke deletes the token, forgets it and ends its streams, in that order.
func (t *tokens) revoke(ctx context.Context, store Store, now time.Time, workspace, id string) error {
	missing := fault.New(fault.NotFound, "revoke token", "there is no token %s", id)
	cell, err := store.Cell(ctx, System, ledger.CellToken, id)
	if fault.CodeOf(err) == fault.NotFound {
		return missing
	}
	if err != nil {
		return err
	}
	stored, err := readToken(cell)
	if err != nil {
		return err
	}
	stored.end()
	if stored.principal.Workspace != workspace {
		return missing
	}
	_, err = store.Commit(ctx, ledger.Commit{Workspace: System, Now: now, Cells: []ledger.CellWrite{
		{Kind: ledger.CellToken, Key: id, Expect: ledger.AnyVersion, State: "revoked", Delete: true},
	}})
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.revoked == nil {
		t.revoked = map[string]bool{}
	}
	t.revoked[id] = true
	if k := t.used[stored.hash]; k != nil {
		k.end()
		delete(t.used, stored.hash)
	}
	return nil
}

// NewToken is what an admin asks for.
type NewToken struct {
	ParticipantID string   `json:"participant_id"`
	Scopes        []string `json:"scopes" minItems:"1" nullable:"false" enum:"admin,events:read,events:write,runs:work,lanes:route,chain:write,approve,docket:read,landing:write" doc:"admin and approve are for people only"`
	TTLSeconds    int64    `json:"ttl_seconds,omitempty" minimum:"1" maximum:"31536000" doc:"absent: until revoked"`
}

// Token is shown once; only its hash is kept.
type Token struct {
	ID        string `json:"token_id"`
	Text      string `json:"token" doc:"shown this once"`
	ExpiresAt string `json:"expires_at,omitempty" doc:"absent: until revoked"`
}

func (s *Server) createToken(ctx context.Context, p journal.Principal, _ *struct{}, in NewToken) (*answer[Token], error) {
	holder, err := s.participant(ctx, p.Workspace, in.ParticipantID)
	if err != nil {
		return nil, err
	}
	t, err := s.IssueToken(ctx, p.Workspace, holder, in.Scopes, time.Duration(in.TTLSeconds)*time.Second)
	return &answer[Token]{t}, err
}

// IssueToken makes a token for holder; ttl 0 lives until it is revoked.
func (s *Server) IssueToken(ctx context.Context, workspace string, holder Participant, scopes []string, ttl time.Duration) (Token, error) {
	const op = "create token"
	for _, sc := range scopes {
		if !slices.Contains(Scopes, sc) {
			return Token{}, fault.New(fault.Invalid, op, "%q is not a scope: one of %s", sc, strings.Join(Scopes, ", ")).At("/scopes")
		}
		if holder.Kind != journal.Person && (sc == ScopeApprove || sc == ScopeAdmin) {
			return Token{}, fault.New(fault.AgentApproval, op, "only a person can hold the scope %s", sc).At("/scopes")
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

func (s *Server) revokeToken(ctx context.Context, p journal.Principal, in *struct {
	ID string `path:"id"`
}) (*struct{}, error) {
	return &struct{}{}, s.tokens.revoke(ctx, s.Store, s.Now(), p.Workspace, in.ID)
}

// Me is who the server takes the caller for.
type Me struct {
	Kind        string   `json:"kind" enum:"person,harness,agent"`
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	WorkspaceID string   `json:"workspace_id"`
	TokenID     string   `json:"token_id"`
	Scopes      []string `json:"scopes" nullable:"false"`
}

func (s *Server) me(ctx context.Context, p journal.Principal, _ *struct{}) (*answer[Me], error) {
	n, err := s.participant(ctx, p.Workspace, p.ID)
	return &answer[Me]{Me{p.Kind, p.ID, n.Name, p.Workspace, p.TokenID, p.Scopes}}, err
}
