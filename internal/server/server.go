// Package server is the HTTP way in: it authenticates, limits, parses nothing
// twice, hands each request to the desk or the host, and turns every error into
// one shape of problem document.
//
// Each route is registered in one place that serves it, describes it and says
// which scope it needs, so the three cannot differ. The package holds no rule of
// any document. It never logs a token or a payload, never answers before what it
// answers for is durable, and never tells an object that is forbidden from one
// that does not exist.
package server

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"time"

	"writ/internal/blob"
	"writ/internal/host"
	"writ/internal/journal"
	"writ/internal/lane"
	"writ/internal/ledger"
)

// Limits of request bodies in bytes. An event has its own limit in package journal.
const (
	maxDocument = 4 << 20
	maxBlob     = 64 << 20
)

// Store is what the server reads and writes itself; accepting documents is the host's.
type Store interface {
	Commit(context.Context, ledger.Commit) (ledger.Receipt, error)
	Events(context.Context, string, ledger.EventQuery) (ledger.EventPage, error)
	Event(context.Context, string, string) (ledger.Event, error)
	Document(context.Context, string, string) (ledger.Document, error)
	Documents(context.Context, string, ledger.DocumentFilter) ([]ledger.Document, error)
	Cell(context.Context, string, string, string) (ledger.Cell, error)
	Cells(context.Context, string, ledger.CellFilter) ([]ledger.Cell, error)
	Wait(context.Context, string, int64) (int64, error)
}

// Desk appends journal events on behalf of a principal.
type Desk interface {
	// Append returns the wire form of the event, durable, and whether the key was used before.
	Append(ctx context.Context, p journal.Principal, raw []byte, key string) (wire []byte, replayed bool, err error)
	// Renew prolongs the lease of a run and returns the run.
	Renew(ctx context.Context, p journal.Principal, run string, attempt int64) (lane.RunState, error)
	// Trail returns the whole way to a lane.
	Trail(ctx context.Context, workspace, lane string) ([]lane.Hop, error)
}

// Host accepts the chain's documents and drives runs.
type Host interface {
	Node() string
	Accept(context.Context, host.Submission) (host.Accepted, error)
	Turn(ctx context.Context, workspace, run, event string) (host.Accepted, error)
	Manifest(ctx context.Context, workspace, run, proposal, asking string) (host.Accepted, error)
	// PutRepository checks and stores a configuration; ListRepositories returns them as stored.
	PutRepository(ctx context.Context, workspace, alias string, raw []byte) ([]byte, error)
	ListRepositories(ctx context.Context, workspace string) ([][]byte, error)
	// Docket writes the bundle of a run.
	Docket(ctx context.Context, workspace, run string, w io.Writer) error
	// Landing returns the rooted document with its observation and wake.
	Landing(ctx context.Context, workspace, repository, base string) (any, error)
	// Cancel settles a candidate as cancelled.
	Cancel(ctx context.Context, workspace string, c host.Cancel) (any, error)
	// Target is what a proposal for this host has to name.
	Target(ctx context.Context, workspace string) (profileRef, profileDigest, bindingRef string)
}

// Params of a server.
type Params struct {
	Store   Store
	Blobs   blob.Store
	Desk    Desk
	Host    Host
	Now     func() time.Time
	Log     *slog.Logger
	Version string
	Beat    time.Duration // between signs of life on an idle stream; 0: 15 s
}

// Server answers HTTP requests. Make it with New. It has one goroutine for each
// workspace that somebody follows, and none otherwise.
type Server struct {
	Params
	tokens   tokens
	tails    tails
	ids      requestIDs
	routes   *routes
	handler  http.Handler
	draining context.Context // done when streams are to end
	drain    context.CancelFunc
}

// New builds the server and its OpenAPI description.
func New(p Params) *Server {
	if p.Beat == 0 {
		p.Beat = 15 * time.Second
	}
	s := &Server{Params: p, ids: newRequestIDs(), tails: tails{store: p.Store}}
	s.draining, s.drain = context.WithCancel(context.Background())
	s.routes = newRoutes(p.Version)
	s.register(s.routes)
	s.handler = s.guard(s.routes.mux)
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Drain ends all streams, so that a shutdown does not wait for readers, and
// makes /readyz say that the server is going away.
func (s *Server) Drain() { s.drain() }

// Limits of a connection. Bodies and answers have limits of their own, because a
// stream may stay open for ever: an overall read or write timeout would cut it.
const (
	headerTime  = 10 * time.Second
	idleTime    = 2 * time.Minute
	headerBytes = 64 << 10
)

// HTTP is the HTTP server that h is meant to be served by.
func HTTP(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: headerBytes,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}
