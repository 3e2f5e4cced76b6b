// Package host is what makes things happen: it takes in the chain's documents,
// compiles what a chair admitted, asks the humans, measures, signs the record,
// and lands what the gate passed.
//
// Where a run stands is one cell. Each call of the driver does the one next
// thing and commits what came of it, with its documents and events, together.
// What can be repeated is repeated after a crash; a step that had begun is
// recorded as unknown and is never run again.
//
// The host holds no rule of any document: those are on floor 3. It never runs
// anything of a proposal outside a contained environment, and never pushes
// without a fence.
package host

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"writ/internal/blob"
	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/forge/localgit"
	"writ/internal/ident"
	"writ/internal/journal"
	"writ/internal/landing"
	"writ/internal/lane"
	"writ/internal/ledger"
)

// Store is what the host needs of a ledger.
type Store interface {
	Commit(context.Context, ledger.Commit) (ledger.Receipt, error)
	Events(context.Context, string, ledger.EventQuery) (ledger.EventPage, error)
	Event(context.Context, string, string) (ledger.Event, error)
	Document(context.Context, string, string) (ledger.Document, error)
	Documents(context.Context, string, ledger.DocumentFilter) ([]ledger.Document, error)
	Cell(context.Context, string, string, string) (ledger.Cell, error)
	Cells(context.Context, string, ledger.CellFilter) ([]ledger.Cell, error)
	Workspaces(context.Context) ([]string, error)
}

// Params of a host.
type Params struct {
	Store   Store
	Blobs   blob.Store
	Desk    *lane.Desk
	Key     ident.PrivateKey // signs execution records
	Dir     string           // private clones and contained environments live below
	Self    string           // path of this binary, for the gate inside a landing
	Version string           // of this binary
	Now     func() time.Time
	Log     *slog.Logger
	// Crash is called at named points between commits; tests kill the process there.
	Crash func(point string)
}

// Host drives the runs of every workspace of one data folder.
type Host struct {
	Params
	wake chan struct{} // one pending wake-up at most; Run looks at everything that is due

	mu     sync.Mutex
	forges map[string]*localgit.Forge // by folder of the private clone
	making sync.Mutex                 // held from looking what a workspace has to the commit that adds to it

	// fences of the qualification leases that this process holds, by candidate. The
	// driver alone knows them: what another process held is lost with it.
	fences map[string]landing.Fence
}

// New makes a host. Run drives it.
func New(p Params) *Host {
	if p.Crash == nil {
		p.Crash = func(string) {}
	}
	return &Host{Params: p, wake: make(chan struct{}, 1), forges: map[string]*localgit.Forge{}, fences: map[string]landing.Fence{}}
}

// Node is the host's node id.
func (h *Host) Node() string { return h.Key.Public().Node() }

func (h *Host) reposDir() string { return filepath.Join(h.Dir, "repos") }
func (h *Host) workDir() string  { return filepath.Join(h.Dir, "work") }

// outputDir is where programs of environments write before it is kept as evidence.
func (h *Host) outputDir() string { return filepath.Join(h.Dir, "output") }

// Wake tells the driver that something may be due.
func (h *Host) Wake() {
	select {
	case h.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// batch is what one commit of the host writes beside the events of its documents.
type batch struct {
	workspace  string
	space, run string
	lane       string
	once       string // idempotency key of the commit, "" for none
	point      string // what is committed, in a word, for tests that kill the process there
	docs       []ledger.NewDocument
	events     []ledger.NewEvent // after the document.accepted events
	cells      []ledger.CellWrite
}

// commit writes the batch: each document with its document.accepted event, then
// the events, then the cells. A once key that was used before writes nothing.
func (h *Host) commit(ctx context.Context, b batch) (ledger.Receipt, error) {
	c := ledger.Commit{Workspace: b.workspace, Now: h.Now(), Documents: b.docs, Cells: b.cells}
	for i := range b.docs {
		ids := journal.IDs{Event: ident.New(ident.Event), Workspace: b.workspace, Space: b.space, Run: b.run, Lane: b.lane}
		c.Events = append(c.Events, journal.Accepted(ids, b.docs[i]))
	}
	c.Events = append(c.Events, b.events...)
	if b.once != "" && len(c.Events) > 0 {
		c.Once = &ledger.Once{Principal: "host", Key: b.once, Fingerprint: fingerprint(b)}
	}
	r, err := h.Store.Commit(ctx, c)
	if err != nil {
		return r, err
	}
	h.Crash(b.where())
	return r, nil
}

// where names the point after the commit of the batch.
func (b batch) where() string {
	out := "committed"
	if b.point != "" {
		out += " " + b.point + ":"
	}
	for i, d := range b.docs {
		if i == 0 || d.Kind != b.docs[i-1].Kind {
			out += " " + d.Kind
		}
	}
	return out
}

// fingerprint is over what the batch says, not over the ids that it mints.
func fingerprint(b batch) canon.Digest {
	var all []byte
	for _, d := range b.docs {
		sum := canon.Sum(d.Body)
		all = append(all, sum[:]...)
	}
	return canon.Sum(all)
}

// document reads one document that has to be there.
func (h *Host) document(ctx context.Context, workspace, kind, ref string) (ledger.Document, error) {
	d, err := h.Store.Document(ctx, workspace, ref)
	if err != nil {
		return d, err
	}
	if d.Kind != kind {
		return d, fault.New(fault.NotFound, "read document", "%s is a %s, not a %s", ref, d.Kind, kind)
	}
	return d, nil
}
