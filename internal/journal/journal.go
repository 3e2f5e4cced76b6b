// Package journal knows every event that a workspace's journal can hold, in
// its three forms: what a client writes (Draft), what is kept (the canonical
// body of a ledger event) and what a reader gets (Wire).
//
// Invariants: an event of the catalogue is checked by one table, by hand
// and fast, and the published JSON Schema of its type agrees; what the server owns (time,
// sequence, actor, trail, on whose behalf, run of a new request, facts of an
// attachment) is never taken from a client; what the catalogue does not name is
// kept as it came, in canonical spelling.
//
// The package reads no clock, mints no ids, stores nothing and decides nothing
// about runs and lanes: it says whether bytes are an event and who may write it.
package journal

import (
	"slices"

	"writ/internal/fault"
)

// MaxBytes is the largest event that a client may write, in bytes of JSON text.
const MaxBytes = 1 << 20

// MaxDepth is how deeply a written event may nest.
const MaxDepth = 32

// Version is the major version of the event format.
const Version = 1

// Kinds of participants.
const (
	Person   = "person"
	Harness  = "harness"
	Agent    = "agent"
	Observer = "observer" // reads only
	Server   = "system"   // Writ itself; also the actor id
)

// Scopes of a token that this package asks for. Admin includes the others.
const (
	ScopeAdmin   = "admin"
	ScopeWrite   = "events:write"
	ScopeWork    = "runs:work"
	ScopeRoute   = "lanes:route"
	ScopeApprove = "approve"
)

// maxID caps the ids that the event format leaves unbounded, in characters.
const maxID = 200

// Principal is who writes: the holder of a token, or the server itself.
type Principal struct {
	Kind      string   // Person, Harness, Agent, Observer or Server
	ID        string   // participant id, at most 200 characters; Server for the server
	HarnessID string   // of an agent: the harness it speaks through
	Workspace string   // the one workspace that the token is for
	TokenID   string   // "" for the server
	Scopes    []string // of the token; the server needs none
}

// ServerOf is the principal of the server's own writes.
func ServerOf(workspace string) Principal {
	return Principal{Kind: Server, ID: Server, Workspace: workspace}
}

// IsServer reports whether p is the server itself.
func (p Principal) IsServer() bool { return p.Kind == Server }

// Works reports whether p is a harness or an agent: one that works on runs.
func (p Principal) Works() bool { return p.Kind == Harness || p.Kind == Agent }

// Through is the harness that p speaks through: its own id for a harness, ""
// for people and the server.
func (p Principal) Through() string {
	if p.Kind == Harness {
		return p.ID
	}
	return p.HarnessID
}

// Can reports whether the token of p has the scope.
func (p Principal) Can(scope string) bool {
	return p.IsServer() || slices.Contains(p.Scopes, scope) || slices.Contains(p.Scopes, ScopeAdmin)
}

// MayWrite returns nil when p may write events of the type, else
// fault.Forbidden. Whether p may do it to this run or lane is decided later,
// on their state.
func (p Principal) MayWrite(eventType string) error {
	t, ok := catalogue[eventType]
	if !ok {
		return fault.New(fault.Event, "write event", "unknown event type %q", clip(eventType, 60)).At("/type")
	}
	const op = "write event"
	switch {
	case p.IsServer():
		return nil
	case t.by == 0:
		return fault.New(fault.Forbidden, op, "%s is written by the server only", eventType)
	case !p.Can(t.scope):
		return fault.New(fault.Forbidden, op, "%s needs the scope %s", eventType, t.scope).
			With("scope", t.scope).Help("use a token that has the scope %s", t.scope)
	case t.by&writerOf(p.Kind) != 0:
		return nil
	case eventType == RunApprovalDecided && p.Works():
		return fault.New(fault.AgentApproval, op, "a %s cannot decide on an approval", p.Kind).
			Help("a person decides, with a token of their own")
	}
	return fault.New(fault.Forbidden, op, "a %s cannot write %s", p.Kind, eventType)
}
