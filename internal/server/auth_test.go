package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"writ/internal/ident"
	"writ/internal/ledger"
	"writ/internal/server"
)

func TestTokensThatAreNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	good := w.ann.token.Text
	_, unknown := ident.NewSecret()
	last := good[len(good)-1]
	for name, header := range map[string]string{
		"no header":      "",
		"no scheme":      good,
		"basic":          "Basic " + good,
		"empty":          "Bearer ",
		"malformed":      "Bearer writ_nonsense",
		"two":            "Bearer " + good + " " + good,
		"wrong checksum": "Bearer " + good[:len(good)-1] + string("0123456789abcdef"[(strings.IndexByte("0123456789abcdef", last)+1)%16]),
		"unknown":        "Bearer " + unknown,
		"id of another":  "Bearer " + forged(t, good, unknown),
		"in lower case":  "Bearer " + strings.ToLower(good),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var extra []string
			if header != "" {
				extra = []string{"Authorization", header}
			}
			r := w.ask("", "GET", "/v1/me", nil, extra...)
			r.refused(t, 401, "unauthenticated")
			if r.header.Get("WWW-Authenticate") == "" {
				t.Error("the answer does not say how to authenticate")
			}
		})
	}
	w.ask("", "GET", "/v1/me", nil, "Authorization", "bearer "+good).expect(t, 200) // the scheme has no case
}

// forged is a well-formed token with the id of one and the secret of another.
func forged(t *testing.T, id, secret string) string {
	t.Helper()
	const head = len("writ_") + 26 + 1
	body := id[:head] + secret[head:head+43]
	return fmt.Sprintf("%s_%08x", body, crc32.ChecksumIEEE([]byte(body)))
}

func TestRevokedAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	token := w.issue(w.ws, w.ann.Participant, personScopes, 0)
	w.ask(token.Text, "GET", "/v1/me", nil).expect(t, 200)

	open := w.follow(token.Text, "/v1/stream")
	open.until(t, "mark")
	w.ask(w.admin.token.Text, "DELETE", "/v1/tokens/"+token.ID, nil).expect(t, 204)
	w.ask(token.Text, "GET", "/v1/me", nil).refused(t, 401, "unauthenticated")
	if _, ok := open.next(); ok {
		t.Error("a stream goes on after its token was revoked")
	}
	w.ask(w.admin.token.Text, "DELETE", "/v1/tokens/"+token.ID, nil).refused(t, 404, "not_found")
}

// TestRevokedWhileLookedUp revokes between the moment a token was read from the
// ledger and the moment it would be kept.
func TestRevokedWhileLookedUp(t *testing.T) {
	t.Parallel()
	slow := &slowCells{reading: make(chan struct{}, 1), goOn: make(chan struct{})}
	w := newWorld(t, func(p *server.Params) { slow.Store = p.Store; p.Store = slow })
	token := w.issue(w.ws, w.ann.Participant, personScopes, 0)
	admin := w.admin.token.Text
	w.ask(admin, "GET", "/v1/me", nil).expect(t, 200)

	slow.wait.Store(token.ID, true)
	var wg sync.WaitGroup
	wg.Go(func() { w.ask(token.Text, "GET", "/v1/me", nil).refused(t, 401, "unauthenticated") })
	<-slow.reading
	slow.wait.Delete(token.ID)
	w.ask(admin, "DELETE", "/v1/tokens/"+token.ID, nil).expect(t, 204)
	close(slow.goOn)
	wg.Wait()
	w.ask(token.Text, "GET", "/v1/me", nil).refused(t, 401, "unauthenticated")
}

// slowCells holds up the reading of some cells after the fact.
type slowCells struct {
	server.Store
	wait          sync.Map
	reading, goOn chan struct{}
}

func (s *slowCells) Cell(ctx context.Context, ws, kind, key string) (ledger.Cell, error) {
	c, err := s.Store.Cell(ctx, ws, kind, key)
	if _, hold := s.wait.Load(key); hold {
		s.reading <- struct{}{}
		<-s.goOn
	}
	return c, err
}

func TestExpiry(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	r := w.ask(w.admin.token.Text, "POST", "/v1/tokens", map[string]any{"participant_id": w.ann.ID, "scopes": []string{"events:read"}, "ttl_seconds": 60}).expect(t, 201)
	var token server.Token
	r.read(t, &token)
	spoken.secret(token.Text)
	if at, err := time.Parse(time.RFC3339, token.ExpiresAt); err != nil || time.Until(at) > time.Minute || time.Until(at) < 50*time.Second {
		t.Errorf("expires at %s", token.ExpiresAt)
	}
	w.ask(token.Text, "GET", "/v1/me", nil).expect(t, 200)
	w.ahead.Store(59)
	w.ask(token.Text, "GET", "/v1/me", nil).expect(t, 200)
	w.ahead.Store(61)
	w.ask(token.Text, "GET", "/v1/me", nil).refused(t, 401, "unauthenticated")
}

func TestExpiryEndsAStream(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	token := w.issue(w.ws, w.ann.Participant, personScopes, 100*time.Second)
	w.ahead.Store(99)
	open := w.follow(token.Text, "/v1/stream")
	open.until(t, "mark")
	if _, ok := open.next(); ok { // blocks until the token is over
		t.Error("a stream goes on after its token expired")
	}
}

// TestOtherWorkspace looks at everything of one workspace with a token of another.
func TestOtherWorkspace(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	run := w.post(w.ann.token.Text, requestRun("k", w.solver.ID))
	msg := w.post(w.ann.token.Text, message("m", "hello"))
	var blob struct {
		SHA256 string `json:"sha256"`
	}
	w.ask(w.ann.token.Text, "POST", "/v1/blobs", "bytes").expect(t, 201).read(t, &blob)
	doc := w.keep(t, run.Str("run_id"))

	theirs := ident.New(ident.Workspace)
	eve := w.join(theirs, 7, server.Participant{Kind: "person", Name: "eve"}, server.Scopes)
	for _, path := range []string{
		"/v1/events/" + msg.Str("id"), "/v1/runs/" + run.Str("run_id"), "/v1/runs/" + run.Str("run_id") + "/documents", "/v1/runs/" + run.Str("run_id") + "/docket",
		"/v1/lanes/" + run.Str("lane_id"), "/v1/blobs/" + blob.SHA256, "/v1/documents/" + doc,
	} {
		w.ask(w.ann.token.Text, "GET", path, nil).expect(t, 200)
		r := w.ask(eve.token.Text, "GET", path, nil)
		r.refused(t, 404, "not_found")
		// What is there for others looks like what is nowhere.
		i := strings.LastIndexByte(strings.TrimSuffix(strings.TrimSuffix(path, "/documents"), "/docket"), '/') + 1
		last := path[len(path)-1]
		other := path[:i+6] + "0" + path[i+7:]
		if last == '0' || path[i+6] == '0' {
			other = path[:i+6] + "1" + path[i+7:]
		}
		nowhere := w.ask(eve.token.Text, "GET", other, nil)
		a, b := r.problem(t), nowhere.problem(t)
		if a.Code != b.Code || a.Title != b.Title || len(a.Data) != len(b.Data) || strings.SplitN(a.Detail, path[i:i+5], 2)[0] != strings.SplitN(b.Detail, path[i:i+5], 2)[0] {
			t.Errorf("%s answers\n%s, what is nowhere\n%s", path, r.body, nowhere.body)
		}
	}
	for _, path := range []string{"/v1/runs", "/v1/lanes", "/v1/inbox", "/v1/repositories", "/v1/events?run=" + run.Str("run_id")} {
		body := string(w.ask(eve.token.Text, "GET", path, nil).expect(t, 200).body)
		if strings.Contains(body, run.Str("run_id")) || strings.Contains(body, msg.Str("id")) {
			t.Errorf("%s shows another workspace: %s", path, body)
		}
	}
	before := w.state()
	in := map[string]any{"run_id": run.Str("run_id"), "attempt": 1, "v": 1, "type": "run.accepted", "idempotency_key": "e"}
	w.ask(eve.token.Text, "POST", "/v1/events", in).problem(t)
	w.ask(eve.token.Text, "POST", "/v1/events", message("x", "hi", `"workspace_id":"`+w.ws+`"`)).refused(t, 400, "invalid_event")
	w.ask(eve.token.Text, "POST", "/v1/runs/"+run.Str("run_id")+"/renew", `{"attempt":1}`).refused(t, 404, "not_found")
	w.ask(eve.token.Text, "POST", "/v1/runs/"+run.Str("run_id")+"/turns", `{"event_id":"`+msg.Str("id")+`"}`).refused(t, 404, "not_found")
	w.ask(eve.token.Text, "DELETE", "/v1/tokens/"+w.ann.token.ID, nil).refused(t, 404, "not_found")
	w.ask(eve.token.Text, "POST", "/v1/tokens", map[string]any{"participant_id": w.ann.ID, "scopes": []string{"events:read"}}).refused(t, 404, "not_found")
	w.unchanged(t, before)
}

// keep stores a document of a run past the API and returns its ref.
func (w *world) keep(t *testing.T, run string) string {
	t.Helper()
	_, err := w.store.Commit(t.Context(), ledger.Commit{Workspace: w.ws, Documents: []ledger.NewDocument{{Kind: ledger.KindPatch, Ref: "patch:" + run, RunID: run, Body: []byte(`{"a": 1}`)}}})
	w.must(err)
	return "patch:" + run
}

func requestRun(key, specialist string) string {
	b, err := json.Marshal(map[string]any{"v": 1, "type": "run.requested", "idempotency_key": key, "goal": "make it faster", "specialist_id": specialist})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// TestAgentsNeverApprove tries every way to give an agent or a harness what is
// for people.
func TestAgentsNeverApprove(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	before := w.state()
	for _, m := range []member{w.harness, w.solver} {
		for _, scope := range []string{"approve", "admin"} {
			w.ask(w.admin.token.Text, "POST", "/v1/tokens", map[string]any{"participant_id": m.ID, "scopes": []string{"events:read", scope}}).refused(t, 403, "agent_cannot_approve")
		}
	}
	for _, kind := range []string{"harness", "agent"} {
		for _, role := range []string{"chair", "operator"} {
			in := map[string]any{"kind": kind, "name": "x", "roles": []string{role}, "node_id": keyOf(9).Public().Node()}
			w.ask(w.admin.token.Text, "POST", "/v1/participants", in).refused(t, 403, "agent_cannot_approve")
		}
	}
	w.unchanged(t, before)
	if slices.Contains(workScopes, "approve") || slices.Contains(workScopes, "admin") {
		t.Fatal("the agents of these tests hold what is for people")
	}
}

// TestTokenInTheWrongPlace sends a token where errors and logs repeat what was sent.
func TestTokenInTheWrongPlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	me, text := w.admin.token.Text, w.ann.token.Text
	for _, r := range []reply{
		w.ask(me, "GET", "/v1/events/"+text, nil),
		w.ask(me, "GET", "/v1/runs/"+text, nil),
		w.ask(me, "GET", "/v1/documents/"+text, nil),
		w.ask(me, "GET", "/v1/blobs/"+text, nil),
		w.ask(me, "GET", "/v1/events?type="+text, nil),
		w.ask(me, "GET", "/v1/events?"+text+"=1", nil),
		w.ask(me, "GET", "/v1/runs?state="+text, nil),
		w.ask(me, "DELETE", "/v1/tokens/"+text, nil),
		w.ask(me, "GET", "/"+text, nil),
		w.ask(me, "POST", "/"+text, nil),
		w.ask(me, "POST", "/v1/events", message(text, "x", `"space_id":"`+text+`"`)),
		w.ask(me, "POST", "/v1/events", `{"v":1,"type":"`+text+`"}`),
		w.ask(me, "POST", "/v1/tokens", `{"participant_id":"`+text+`","scopes":["`+text+`"]}`),
		w.ask(me, "POST", "/v1/tokens", `{"`+text+`":1}`),
		w.ask(me, "PUT", "/v1/repositories/a/b", `{"remote":"/`+text+`","base":"main"}`),
		w.ask("", "GET", "/v1/me", nil, "Authorization", text),
		w.ask("", "GET", "/v1/me", nil, "X-Request-Id", text),
	} {
		r.problem(t)
		if strings.Contains(string(r.body), text) {
			t.Errorf("an error repeats a token: %d", r.status)
		}
	}
}

func TestForeignOrigin(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	before := w.state()
	w.ask(w.ann.token.Text, "POST", "/v1/events", message("k", "x"), "Sec-Fetch-Site", "cross-site").refused(t, http.StatusForbidden, "forbidden")
	w.ask(w.ann.token.Text, "POST", "/v1/events", message("k", "x"), "Origin", "https://evil.example").refused(t, http.StatusForbidden, "forbidden")
	w.unchanged(t, before)
}
