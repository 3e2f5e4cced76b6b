// Package ledger is the shape of one atomic commit: journal events, the
// documents that came with them and the cells of domain state that they moved,
// written together or not at all. It also states what a store must promise.
//
// The package holds data only. It decides nothing, opens nothing and reads no
// clock. Stores implement Store natively for their database; behaviour is
// defined by one conformance suite, not by either database.
package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"time"

	"writ/internal/canon"
)

// AnyVersion as CellWrite.Expect writes whatever the stored version is.
const AnyVersion int64 = -1

// NewEvent is an event before the store gives it a place: everything but
// sequence and time.
type NewEvent struct {
	ID      string // evt_ + ULID, unique per workspace
	Type    string // one of the closed event catalogue
	Actor   string // actor id, for queries
	SpaceID string // "" when the event belongs to none
	RunID   string
	LaneID  string
	Body    []byte // stored form: a canonical JSON object without seq and ts
}

// Once makes a commit idempotent. Keys are scoped to (workspace, principal) and
// live as long as the log.
type Once struct {
	Principal   string       // who sent it
	Key         string       // 1 to 200 characters, chosen by the client
	Fingerprint canon.Digest // of what the client supplied; compared on replay
	Primary     int          // index in Commit.Events of the event a replay returns
}

// NewDocument is a document to keep. The store computes its SHA-256.
type NewDocument struct {
	Kind     string // one of the Kind constants
	Ref      string // own content address in the spelling of its family; unique per workspace
	RunID    string // the run it belongs to, or ""
	Identity string // scope of its idempotency, or ""; the same identity with another ref is a conflict
	Event    string // id of the event that caused it, or ""
	Body     []byte // the accepted bytes, exactly as they came
}

// CellWrite moves one cell of domain state. Cells are named registers with a
// version: a write names the version it was decided on.
type CellWrite struct {
	Kind, Key string
	Expect    int64  // 0: must not exist; n: must be at version n; AnyVersion: no matter
	State     string // short word for queries, such as "open"
	Value     []byte
	Delete    bool // the row is kept with a nil value, so that versions never restart
}

// Commit is what one decision writes. All of it becomes durable or none.
type Commit struct {
	Workspace string
	Now       time.Time // by the caller's clock; the store never lets time run backwards
	Once      *Once     // nil for writes of the system
	Events    []NewEvent
	Documents []NewDocument
	Cells     []CellWrite
}

// Event is a stored event.
type Event struct {
	Workspace string
	Seq       int64     // 1, 2, 3, ... per workspace, without gaps
	TS        time.Time // millisecond UTC, never less than that of an earlier seq
	ID        string
	Type      string
	Actor     string
	SpaceID   string
	RunID     string
	LaneID    string
	Body      []byte
	Prev      canon.Digest // Hash of the event before; zero for the first
	Hash      canon.Digest // Chain(Prev, Seq, TS, Body)
}

// Document is a stored document.
type Document struct {
	Workspace string
	Kind      string
	Ref       string
	RunID     string
	Identity  string
	Event     string
	SHA256    canon.Digest // of Body
	Body      []byte
	Order     int64 // position among the documents of the workspace
	StoredAt  time.Time
}

// Cell is a stored cell.
type Cell struct {
	Kind, Key string
	State     string
	Version   int64
	Value     []byte
}

// Receipt says what a commit wrote, or what the first commit of a replayed key wrote.
type Receipt struct {
	Events    []Event // on a replay: the first primary event only
	Replayed  bool
	Documents []DocumentReceipt
}

// DocumentReceipt says where one document of the commit ended up.
type DocumentReceipt struct {
	Ref      string
	SHA256   canon.Digest
	Replayed bool // the same ref was stored before; the first bytes are kept
}

// EventQuery selects events after a sequence number, in order.
type EventQuery struct {
	After    int64 // exclusive
	Limit    int   // 1 to 1000; 0 means 100
	MaxBytes int   // stop before the page grows beyond; 0 means 4 MiB; one event is always returned
	Types    []string
	RunID    string
	LaneID   string
	SpaceID  string
}

// EventPage is a slice of the log.
type EventPage struct {
	Events    []Event
	NextAfter int64 // pass as After for the next page; moves on even when nothing matches
	Head      int64 // newest sequence number of the workspace, 0 when empty
	Earliest  int64 // oldest one that is kept, 0 when empty
}

// DocumentFilter selects documents; zero fields match all.
type DocumentFilter struct {
	RunID string
	Kinds []string
}

// CellFilter selects cells of one kind; zero fields match all. Deleted cells are left out.
type CellFilter struct {
	Kind   string
	State  string
	Prefix string // of the key
}

// Finding is one thing that a check of stored data found wrong.
type Finding struct {
	Workspace string
	Where     string // "event 12", "document corpus-experiment:…"
	What      string // what is wrong
}

// Store keeps the ledger.
type Store interface {
	// Commit writes c. It MUST be durable before it returns: an acknowledged
	// commit survives the death of the process and of the machine. Sequence
	// numbers MUST be gapless per workspace and time MUST NOT decrease with
	// them. A commit with a known Once and the same fingerprint MUST write
	// nothing and return the first primary event; with another fingerprint it
	// fails with fault.Idempotency. A taken event id fails with fault.EventID,
	// a cell at another version with fault.Conflict, a known document identity
	// under another ref with fault.Idempotency. A document whose ref is known
	// keeps the first bytes.
	Commit(ctx context.Context, c Commit) (Receipt, error)

	// Events returns a page of the log. After beyond the head fails with
	// fault.CursorAhead.
	Events(ctx context.Context, workspace string, q EventQuery) (EventPage, error)
	// Event returns one event; fault.NotFound when there is none.
	Event(ctx context.Context, workspace, id string) (Event, error)

	// Document finds a document by its ref, or by "sha256:<hex>" of its bytes.
	Document(ctx context.Context, workspace, ref string) (Document, error)
	// Documents lists documents in the order in which they were accepted.
	Documents(ctx context.Context, workspace string, f DocumentFilter) ([]Document, error)

	// Cell returns one cell; fault.NotFound when it was never written or is deleted.
	Cell(ctx context.Context, workspace, kind, key string) (Cell, error)
	// Cells lists cells by key.
	Cells(ctx context.Context, workspace string, f CellFilter) ([]Cell, error)

	// Wait returns the head as soon as it is beyond after, or ctx's error.
	Wait(ctx context.Context, workspace string, after int64) (int64, error)
	// Workspaces lists the workspaces that have at least one event or cell.
	Workspaces(ctx context.Context) ([]string, error)
	// Check reads everything and reports what does not hold: a gap, a broken
	// chain, a document whose bytes are not those of its digest.
	Check(ctx context.Context) ([]Finding, error)
	Close() error
}

// Chain is the hash that ties an event to the one before it: SHA-256 over the
// previous hash, the sequence number and the time in Unix milliseconds (both
// big-endian 64 bit), and the stored bytes.
func Chain(prev canon.Digest, seq int64, ts time.Time, body []byte) canon.Digest {
	h := sha256.New()
	var head [16]byte
	binary.BigEndian.PutUint64(head[:8], uint64(seq))
	binary.BigEndian.PutUint64(head[8:], uint64(ts.UnixMilli()))
	h.Write(prev[:])
	h.Write(head[:])
	h.Write(body)
	var d canon.Digest
	h.Sum(d[:0])
	return d
}
