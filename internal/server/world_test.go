package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"writ/internal/blob"
	"writ/internal/canon"
	"writ/internal/host"
	"writ/internal/ident"
	"writ/internal/journal"
	"writ/internal/lane"
	"writ/internal/ledger"
	"writ/internal/server"
	"writ/internal/store/sqlite"
)

// world is a server on a real ledger, behind a real listener, with one workspace.
type world struct {
	t     testing.TB
	dir   string // of its data
	store *sqlite.Store
	blobs *blob.Dir
	srv   *server.Server
	host  *host.Host
	http  *http.Client
	url   string
	ws    string
	log   *logbook
	ahead atomic.Int64 // seconds that the server's clock is ahead

	admin, ann, harness, solver, reviewer member
}

// member is a participant with its key and a token of every scope that it can hold.
type member struct {
	server.Participant
	key   ident.PrivateKey
	token server.Token
}

var (
	workScopes   = []string{"events:read", "events:write", "runs:work", "lanes:route", "chain:write", "docket:read"}
	personScopes = append(slices.Clone(workScopes), "approve", "landing:write")
)

// newWorld starts a server; change may replace parts of it.
func newWorld(t testing.TB, change func(*server.Params)) *world {
	t.Helper()
	w := &world{t: t, log: &logbook{}, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 128, ExpectContinueTimeout: time.Minute}}}
	w.dir = t.TempDir()
	var err error
	if w.store, err = sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(w.dir, "writ.db")}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.must(w.store.Close()) })
	if w.blobs, err = blob.Open(filepath.Join(w.dir, "blobs")); err != nil {
		t.Fatal(err)
	}
	now := func() time.Time { return time.Now().Add(time.Duration(w.ahead.Load()) * time.Second) }
	log := slog.New(slog.NewJSONHandler(io.MultiWriter(w.log, &spoken), &slog.HandlerOptions{Level: slog.LevelDebug}))
	desk := &lane.Desk{Store: w.store, Now: now, NewID: ident.New}
	w.host = host.New(host.Params{Store: w.store, Blobs: w.blobs, Desk: desk, Key: keyOf(1), Dir: w.dir, Version: "test", Now: now, Log: log})
	p := server.Params{Store: w.store, Blobs: w.blobs, Desk: desk, Host: w.host, Now: now, Log: log, Version: "test"}
	if change != nil {
		change(&p)
	}
	w.srv = server.New(p)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.url = "http://" + l.Addr().String()
	web := server.HTTP(w.srv, log)
	served := make(chan error, 1)
	go func() { served <- web.Serve(l) }()
	t.Cleanup(func() {
		w.srv.Drain()
		w.http.CloseIdleConnections()
		w.must(web.Shutdown(context.Background()))
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	w.ws = ident.New(ident.Workspace)
	w.settle()
	return w
}

// settle adds who takes part.
func (w *world) settle() {
	w.admin = w.join(w.ws, 2, server.Participant{Kind: "person", Name: "admin"}, server.Scopes)
	w.ann = w.join(w.ws, 3, server.Participant{Kind: "person", Name: "ann", Roles: []string{"chair", "operator"}}, personScopes)
	w.harness = w.join(w.ws, 4, server.Participant{Kind: "harness", Name: "coder"}, workScopes)
	w.solver = w.join(w.ws, 5, server.Participant{Kind: "agent", Name: "solver", HarnessID: w.harness.ID, Roles: []string{"implementer"}}, workScopes)
	w.reviewer = w.join(w.ws, 6, server.Participant{Kind: "agent", Name: "reviewer", Roles: []string{"reviewer"}}, workScopes)
}

func keyOf(n byte) ident.PrivateKey { return ident.FromSeed([32]byte{n}) }

// join adds a participant past the API, with a key made of n.
func (w *world) join(ws string, n byte, p server.Participant, scopes []string) member {
	w.t.Helper()
	prefix := map[string]ident.Prefix{"person": ident.Person, "harness": ident.Harness, "agent": ident.Agent}
	m := member{Participant: p, key: keyOf(n)}
	m.ID, m.NodeID = ident.New(prefix[p.Kind]), m.key.Public().Node()
	w.must(w.srv.PutParticipant(w.t.Context(), ws, m.Participant))
	m.token = w.issue(ws, m.Participant, scopes, 0)
	return m
}

func (w *world) issue(ws string, p server.Participant, scopes []string, ttl time.Duration) server.Token {
	w.t.Helper()
	token, err := w.srv.IssueToken(w.t.Context(), ws, p, scopes, ttl)
	w.must(err)
	spoken.secret(token.Text)
	return token
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// reply is an answer, read to its end.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// ask sends a request, and holds the answer against the description. Extra
// headers are given as name, value, …
func (w *world) ask(token, method, path string, body any, header ...string) reply {
	w.t.Helper()
	req := w.request(token, method, path, body, header...)
	res, err := w.http.Do(req)
	w.must(err)
	defer res.Body.Close()
	r := reply{status: res.StatusCode, header: res.Header}
	r.body, err = io.ReadAll(res.Body)
	w.must(err)
	if c, err := theContract(); err != nil {
		w.t.Error(err)
	} else if err := c.check(method, req.URL.Path, r); err != nil {
		w.t.Error(err)
	}
	if r.status >= 400 {
		fmt.Fprintf(&spoken, "%s %s answered %s\n", method, req.URL.Path[:min(8, len(req.URL.Path))], r.body)
	}
	return r
}

func (w *world) request(token, method, path string, body any, header ...string) *http.Request {
	w.t.Helper()
	var in io.Reader
	switch b := body.(type) {
	case nil:
	case io.Reader:
		in = b
	case []byte:
		in = bytes.NewReader(b)
	case string:
		in = strings.NewReader(b)
	default:
		raw, err := json.Marshal(b)
		w.must(err)
		in = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.url+path, in)
	w.must(err)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Add(header[i], header[i+1])
	}
	return req
}

// read decodes a body.
func (r reply) read(t testing.TB, into any) {
	t.Helper()
	if err := json.Unmarshal(r.body, into); err != nil {
		t.Fatalf("%v: %s", err, r.body)
	}
}

// problem is the body as a problem document; it has to be one.
func (r reply) problem(t testing.TB) server.Problem {
	t.Helper()
	var p server.Problem
	if got := r.header.Get("Content-Type"); r.status < 400 || got != "application/problem+json" {
		t.Fatalf("status %d, %s: no problem document\n%s", r.status, got, r.body)
	}
	r.read(t, &p)
	if p.Status != r.status || p.RequestID == "" || p.RequestID != r.header.Get("X-Request-Id") || p.Type != "about:blank" || p.Title == "" || p.Detail == "" {
		t.Errorf("status %d with the problem %s", r.status, r.body)
	}
	return p
}

// refused fails the test unless r is the refusal with the status and code.
func (r reply) refused(t testing.TB, status int, code string) server.Problem {
	t.Helper()
	p := r.problem(t)
	if r.status != status || string(p.Code) != code {
		t.Errorf("answered %d %s, want %d %s\n%s", r.status, p.Code, status, code, r.body)
	}
	return p
}

// expect fails the test unless r has the status.
func (r reply) expect(t testing.TB, status int) reply {
	t.Helper()
	if r.status != status {
		t.Fatalf("answered %d, want %d\n%s", r.status, status, r.body)
	}
	return r
}

// state is everything that is stored, in a form that cmp can compare.
type state struct {
	Heads     map[string]int64
	Documents []string
	Cells     []string
	Blobs     []string
}

var cellKinds = []string{
	ledger.CellWorkspace, ledger.CellParticipant, ledger.CellToken, ledger.CellLane, ledger.CellRun, ledger.CellTask,
	ledger.CellRepository, ledger.CellLanding, ledger.CellArchive, ledger.CellChange, ledger.CellBlob,
}

func (w *world) state() state {
	w.t.Helper()
	ctx := w.t.Context()
	s := state{Heads: map[string]int64{}}
	all, err := w.store.Workspaces(ctx)
	w.must(err)
	for _, ws := range all {
		page, err := w.store.Events(ctx, ws, ledger.EventQuery{Limit: 1})
		w.must(err)
		s.Heads[ws] = page.Head
		docs, err := w.store.Documents(ctx, ws, ledger.DocumentFilter{})
		w.must(err)
		for _, d := range docs {
			s.Documents = append(s.Documents, ws+" "+d.Ref)
		}
		for _, kind := range cellKinds {
			cells, err := w.store.Cells(ctx, ws, ledger.CellFilter{Kind: kind})
			w.must(err)
			for _, c := range cells {
				s.Cells = append(s.Cells, fmt.Sprintf("%s %s %s %s %d", ws, kind, c.Key, c.State, c.Version))
			}
		}
	}
	for d, err := range w.blobs.List(ctx) {
		w.must(err)
		s.Blobs = append(s.Blobs, d.Hex())
	}
	return s
}

// unchanged fails the test when anything was stored since before.
func (w *world) unchanged(t testing.TB, before state) {
	t.Helper()
	if diff := cmp.Diff(before, w.state()); diff != "" {
		t.Errorf("something was stored (-before +after):\n%s", diff)
	}
}

// message is the write form of a message; extra members go in front.
func message(key, text string, extra ...string) string {
	return fmt.Sprintf(`{%s"v":1,"type":%q,"idempotency_key":%q,"body":%q}`, strings.Join(append(extra, ""), ","), journal.MessagePosted, key, text)
}

// post appends an event and returns its wire form.
func (w *world) post(token, body string) canon.Value {
	w.t.Helper()
	v, err := canon.Parse(w.ask(token, "POST", "/v1/events", body).expect(w.t, 201).body)
	w.must(err)
	return v
}

// logbook keeps what one server logged.
type logbook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (l *logbook) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// lines are the records that have the message, as maps.
func (l *logbook) lines(t testing.TB, msg string) []map[string]any {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []map[string]any
	for line := range strings.Lines(l.text.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		if m["msg"] == msg {
			out = append(out, m)
		}
	}
	return out
}

// bulk appends n messages of about size bytes past the API, a few at a time.
func (w *world) bulk(n, size int) {
	w.t.Helper()
	text := strings.Repeat("x", size)
	var c ledger.Commit
	for i := range n {
		id := ident.New(ident.Event)
		body := fmt.Sprintf(`{"actor":{"id":%q,"kind":"person"},"body":%q,"id":%q,"message_id":%q,"type":"message.posted","v":1,"workspace_id":%q}`, w.ann.ID, text, id, ident.New(ident.Message), w.ws)
		c.Events = append(c.Events, ledger.NewEvent{ID: id, Type: journal.MessagePosted, Actor: w.ann.ID, Body: []byte(body)})
		if len(c.Events) == 20 || i == n-1 {
			c.Workspace = w.ws
			_, err := w.store.Commit(w.t.Context(), c)
			w.must(err)
			c = ledger.Commit{}
		}
	}
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
