// Package server is the HTTP way in: it authenticates, limits, parses nothing
// twice, hands each request to the desk or the host, and turns every error into
// one shape of problem document.
//
// It holds no rule of any document. It never logs a token or a payload, never
// answers before what it answers for is durable, and never tells an object that
// is forbidden from one that does not exist.
package server

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

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
	Manifest(ctx context.Context, workspace, run, proposal string) (host.Accepted, error)
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
}

// Server answers HTTP requests. Make it with New; it holds no goroutine of its own.
type Server struct {
	Params
	tokens   tokens
	handler  http.Handler
	draining context.Context // done when streams are to end
	drain    context.CancelFunc
}

// New builds the server and its OpenAPI description.
func New(p Params) *Server {
	s := &Server{Params: p}
	s.draining, s.drain = context.WithCancel(context.Background())
	shapeErrors()
	mux := http.NewServeMux()
	api := humago.New(mux, s.config())
	s.register(api)
	mux.HandleFunc("POST /v1/events", s.appendEvent)
	mux.HandleFunc("GET /v1/stream", s.stream)
	mux.HandleFunc("GET /v1/blobs/{sha256}", s.getBlob)
	mux.HandleFunc("POST /v1/blobs", s.putBlob)
	mux.HandleFunc("GET /v1/documents/{ref...}", s.getDocument)
	mux.HandleFunc("GET /v1/runs/{run}/docket", s.getDocket)
	describeRaw(api.OpenAPI())
	s.handler = s.guard(mux)
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Drain ends all streams, so that a shutdown does not wait for readers.
func (s *Server) Drain() { s.drain() }

func (s *Server) config() huma.Config {
	c := huma.DefaultConfig("Writ", s.Version)
	c.Info.Description = "Carry a change from the ask to the landed commit, and prove every step."
	c.CreateHooks = nil // no $schema member in answers
	c.DocsPath = ""
	c.SchemasPath = ""
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"token": {Type: "http", Scheme: "bearer", Description: "An opaque token, scoped to one workspace."},
	}
	c.Security = []map[string][]string{{"token": {}}}
	return c
}

// guard is what every request passes: a principal unless the path is open, a
// limit on time for everything but streams, and one log line when it fails.
func (s *Server) guard(next http.Handler) http.Handler {
	csrf := http.NewCrossOriginProtection()
	return csrf.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		switch r.URL.Path {
		case "/healthz", "/openapi.json", "/openapi.yaml":
			next.ServeHTTP(w, r)
			return
		}
		p, err := s.tokens.principal(r.Context(), s.Store, s.Now(), r.Header.Get("Authorization"))
		if err != nil {
			s.problem(w, r, err)
			return
		}
		next.ServeHTTP(w, r.WithContext(withPrincipal(r.Context(), p)))
	}))
}
