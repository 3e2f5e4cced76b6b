package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/fault"
	"writ/internal/host"
	"writ/internal/journal"
	"writ/internal/server"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares got with a file below testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s has drifted; if that is wanted: go test ./internal/server -update\n%s", path, diff)
	}
}

// failing is a host that refuses, breaks or panics as it is told.
type failing struct {
	server.Host
	err     error
	partial bool
	panics  any
}

func (f *failing) PutRepository(context.Context, string, string, []byte) ([]byte, error) {
	if f.panics != nil {
		panic(f.panics)
	}
	return nil, f.err
}

func (f *failing) Docket(_ context.Context, _, _ string, w io.Writer) error {
	if f.partial {
		_, _ = w.Write([]byte(`{"half":`))
	}
	if f.panics != nil {
		panic(f.panics)
	}
	return f.err
}

// TestProblems has one error of every status, as a client sees it.
func TestProblems(t *testing.T) {
	t.Parallel()
	fail := &failing{}
	w := newWorld(t, func(p *server.Params) { fail.Host = p.Host; p.Host = fail })
	me := w.ann.token.Text
	as := func(err error) reply {
		fail.err = err
		return w.ask(w.admin.token.Text, "PUT", "/v1/repositories/a/b", `{}`, "X-Request-Id", "test-1")
	}
	id := []string{"X-Request-Id", "test-1"}
	w.ask(me, "POST", "/v1/events", message("used", "first")).expect(t, 201)
	replies := []reply{
		w.ask(me, "POST", "/v1/events", `{"v":1,"type":`, id...),
		w.ask(me, "POST", "/v1/events", `{"v":2,"type":"message.posted","body":"","idempotency_key":7}`, id...),
		w.ask("", "GET", "/v1/me", nil, id...),
		w.ask(me, "POST", "/v1/tokens", `{}`, id...),
		w.ask(me, "GET", "/v1/runs/run_none", nil, id...),
		w.ask(me, "DELETE", "/v1/events", nil, id...),
		w.ask(me, "GET", "/v1/stream?after=99999", nil, id...),
		as(fault.New(fault.Gone, "open stream", "events up to 5 are no longer kept").Help("read on from after=5").With("earliest_seq", "6")),
		w.ask(me, "POST", "/v1/events", bytes.Repeat([]byte(" "), journal.MaxBytes+1), id...),
		as(fault.New(fault.Signature, "accept proposal", "the signature does not verify").At("/signature")),
		as(fault.New(fault.Budget, "request run", "the limit of 64 is reached for runs").With("budget", "runs")),
		as(fault.New(fault.Cancelled, "accept proposal", "cancelled")),
		as(fault.Wrap(errors.New("disk /dev/vda: secret detail"), fault.Internal, "commit", "something went wrong")),
		w.ask(me, "POST", "/v1/events", message("att", "x", `"attachments":[{"attachment_id":"att_01ARZ3NDEKTSV4RRFFQ69G5FAV"}]`), id...),
		as(fault.New(fault.Forge, "observe branch", "the remote cannot be reached")),
		as(fault.New(fault.Unavailable, "commit", "store is closed")),
		as(fault.New(fault.Timeout, "observe branch", "the remote did not answer in time")),
	}
	statuses := map[int]bool{}
	var out bytes.Buffer
	for _, r := range replies {
		r.problem(t)
		statuses[r.status] = true
		fmt.Fprintf(&out, "%d", r.status)
		for _, name := range []string{"Allow", "Retry-After", "Www-Authenticate"} {
			if v := r.header.Get(name); v != "" {
				fmt.Fprintf(&out, " %s: %s", name, v)
			}
		}
		out.WriteString("\n")
		var indented bytes.Buffer
		w.must(json.Indent(&indented, r.body, "", "  "))
		out.Write(indented.Bytes())
	}
	golden(t, "problems.txt", out.Bytes())
	for code, row := range fault.Codes() {
		if !statuses[row.HTTP] {
			t.Errorf("no example of status %d, which %s has", row.HTTP, code)
		}
	}
	if strings.Contains(out.String(), "secret detail") {
		t.Error("a private cause was shown")
	}
}

// TestParameters: what is found before a handler runs has the same shape.
func TestParameters(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	me := w.admin.token.Text
	for _, c := range []struct{ path, pointer string }{
		{"/v1/events?limit=0", "/limit"}, {"/v1/events?limit=1001", "/limit"}, {"/v1/events?limit=x", "/limit"},
		{"/v1/events?after=-1", "/after"}, {"/v1/events?after=9007199254740992", "/after"}, {"/v1/events?after=1&after=2", "/after"},
		{"/v1/events?types=x", "/types"}, {"/v1/events?type=x", "/type"}, {"/v1/events?a=%zz", ""},
		{"/v1/stream?after=x", "/after"}, {"/v1/stream?limit=5", "/limit"}, {"/v1/stream?type=nope", "/type"},
		{"/v1/runs?state=x", "/state"}, {"/v1/runs?status=x", "/status"}, {"/v1/lanes?state=x", "/state"},
		{"/v1/landing?repository=a/b", "/base"}, {"/v1/landing?base=main", "/repository"},
	} {
		p := w.ask(me, "GET", c.path, nil).refused(t, 400, "invalid")
		if p.Pointer != c.pointer {
			t.Errorf("%s: pointer %q, want %q: %s", c.path, p.Pointer, c.pointer, p.Detail)
		}
	}
	w.ask(me, "GET", "/v1/stream", nil, "Last-Event-ID", "x").refused(t, 400, "invalid")
	p := w.ask(me, "GET", "/v1/landing", nil).refused(t, 400, "invalid")
	if len(p.Errors) != 2 {
		t.Errorf("two failures are %d: %v", len(p.Errors), p.Errors)
	}
}

func TestUnknownRoutes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	me := w.admin.token.Text
	for _, path := range []string{"/", "/v1", "/v1/", "/v2/events", "/v1/event", "/v1/runs/run_1/nothing", "/openapi.yaml", "/openapi-3.0.json", "/docs", "/healthz/x"} {
		w.ask(me, "GET", path, nil).refused(t, 404, "not_found")
	}
	w.ask("", "GET", "/v1/nothing", nil).refused(t, 401, "unauthenticated")
	for _, c := range []struct{ method, path, allow string }{
		{"PUT", "/v1/events", "GET, HEAD, POST"}, {"DELETE", "/v1/me", "GET, HEAD"}, {"GET", "/v1/blobs", "POST"}, {"POST", "/v1/tokens/tok_1", "DELETE"},
		{"PATCH", "/v1/repositories/a/b", "PUT"}, {"POST", "/healthz", "GET, HEAD"}, {"GET", "/v1/runs/run_1/proposals", "POST"}, {"OPTIONS", "/v1/events", "GET, HEAD, POST"},
	} {
		r := w.ask(me, c.method, c.path, nil)
		r.refused(t, 405, "method_not_allowed")
		if got := r.header.Get("Allow"); got != c.allow {
			t.Errorf("%s %s: Allow %q, want %q", c.method, c.path, got, c.allow)
		}
	}
	if r := w.ask(me, "HEAD", "/v1/me", nil); r.status != 200 || len(r.body) != 0 {
		t.Errorf("HEAD answered %d with %d bytes", r.status, len(r.body))
	}
}

func TestRequestIDs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	me := w.ann.token.Text
	if got := w.ask(me, "GET", "/v1/me", nil, "X-Request-Id", "req/7:a+b=").header.Get("X-Request-Id"); got != "req/7:a+b=" {
		t.Errorf("a given id came back as %q", got)
	}
	seen := map[string]bool{}
	for _, given := range []string{"", "has space", "quote\"", strings.Repeat("x", 101), "ümlaut", "a,b"} {
		var header []string
		if given != "" {
			header = []string{"X-Request-Id", given}
		}
		got := w.ask(me, "GET", "/v1/me", nil, header...).header.Get("X-Request-Id")
		if got == "" || got == given || seen[got] {
			t.Errorf("%q was answered with the id %q", given, got)
		}
		seen[got] = true
	}
	if got := w.ask(me, "GET", "/v1/me", nil, "X-Request-Id", "a", "X-Request-Id", "b").header.Get("X-Request-Id"); got == "a" || got == "b" {
		t.Errorf("one of two ids was taken: %s", got)
	}
}

// TestOurFailures: what is our fault is logged once, with the request id and
// the private cause, and the server lives.
func TestOurFailures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fail failing
		path string
		want string // in the log
	}{
		"error of a typed route": {failing{err: errors.New("cause 1")}, "PUT /v1/repositories/a/b", "cause 1"},
		"error of a raw route":   {failing{err: fault.Wrap(errors.New("cause 2"), fault.Corrupt, "collect docket", "stored data are damaged")}, "GET /v1/runs/run_1/docket", "cause 2"},
		"panic of a typed route": {failing{panics: "cause 3"}, "PUT /v1/repositories/a/b", "cause 3"},
		"panic of a raw route":   {failing{panics: errors.New("cause 4")}, "GET /v1/runs/run_1/docket", "problem_test.go"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(p *server.Params) { c.fail.Host = p.Host; p.Host = &c.fail })
			method, path, _ := strings.Cut(c.path, " ")
			p := w.ask(w.admin.token.Text, method, path, map[bool]any{true: `{}`}[method == "PUT"], "X-Request-Id", "mine")
			if got := p.problem(t); got.Status != 500 || got.RequestID != "mine" || strings.Contains(string(p.body), "cause") {
				t.Errorf("answered %s", p.body)
			}
			lines := w.log.lines(t, "request failed")
			if len(lines) != 1 || lines[0]["request_id"] != "mine" || lines[0]["level"] != "ERROR" || lines[0]["path"] != path || !strings.Contains(fmt.Sprint(lines[0]["err"]), c.want) {
				t.Errorf("logged %v", lines)
			}
			w.ask(w.ann.token.Text, "GET", "/v1/me", nil).expect(t, 200)
		})
	}
}

// TestHalfAnAnswer: an answer that cannot be finished is cut, never closed as if
// it were whole.
func TestHalfAnAnswer(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]failing{
		"error": {partial: true, err: errors.New("cause 5")},
		"panic": {partial: true, panics: "cause 6"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(p *server.Params) { f.Host = p.Host; p.Host = &f })
			res, err := w.http.Do(w.request(w.ann.token.Text, "GET", "/v1/runs/run_1/docket", nil))
			if err == nil {
				_, err = io.ReadAll(res.Body)
				_ = res.Body.Close()
			}
			if err == nil {
				t.Error("half a docket looks whole")
			}
			if lines := w.log.lines(t, "request failed"); len(lines) != 1 {
				t.Errorf("logged %v", lines)
			}
			w.ask(w.ann.token.Text, "GET", "/v1/me", nil).expect(t, 200)
		})
	}
}

// TestRefusalsAreNotLogged: what is the caller's fault is no news.
func TestRefusalsAreNotLogged(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.ask("", "GET", "/v1/me", nil).problem(t)
	w.ask(w.ann.token.Text, "POST", "/v1/events", `{`).problem(t)
	w.ask(w.ann.token.Text, "GET", "/v1/runs/run_1", nil).problem(t)
	if w.log.text.Len() != 0 {
		t.Errorf("logged %s", w.log.text.String())
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	want := `{"status":"ok","version":"test"}` + "\n"
	for _, path := range []string{"/healthz", "/readyz"} {
		if r := w.ask("", "GET", path, nil).expect(t, 200); string(r.body) != want {
			t.Errorf("%s answered %s", path, r.body)
		}
	}
	w.srv.Drain()
	w.ask("", "GET", "/healthz", nil).expect(t, 200)
	r := w.ask("", "GET", "/readyz", nil)
	r.refused(t, http.StatusServiceUnavailable, "unavailable")
	if r.header.Get("Retry-After") == "" {
		t.Error("503 without Retry-After")
	}
}

func TestMe(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	var got server.Me
	w.ask(w.solver.token.Text, "GET", "/v1/me", nil).expect(t, 200).read(t, &got)
	want := server.Me{Kind: "agent", ID: w.solver.ID, Name: "solver", WorkspaceID: w.ws, TokenID: w.solver.token.ID, Scopes: workScopes}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	var info server.HostInfo
	w.ask(w.solver.token.Text, "GET", "/v1/host", nil).expect(t, 200).read(t, &info)
	if diff := cmp.Diff(server.HostInfo{NodeID: keyOf(1).Public().Node(), Version: "test"}, info); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// cancelling is a host on which there is something to cancel.
type cancelling struct {
	server.Host
	got host.Cancel
}

func (c *cancelling) Cancel(_ context.Context, _ string, in host.Cancel) (any, error) {
	c.got = in
	return map[string]string{"outcome": "cancelled"}, nil
}

func TestCancelLanding(t *testing.T) {
	t.Parallel()
	c := &cancelling{}
	w := newWorld(t, func(p *server.Params) { c.Host = p.Host; p.Host = c })
	want := host.Cancel{Repository: "demo/sample", Base: "main", CandidateID: "c-1", Reason: "not now"}
	r := w.ask(w.ann.token.Text, "POST", "/v1/landing/cancel", want).expect(t, 200)
	if diff := cmp.Diff(want, c.got); diff != "" || string(r.body) != `{"outcome":"cancelled"}`+"\n" {
		t.Errorf("-want +got\n%s\nanswered %s", diff, r.body)
	}
}
