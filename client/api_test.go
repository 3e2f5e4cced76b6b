package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What each call sends, and that it reads what comes back.
func TestCalls(t *testing.T) {
	t.Parallel()
	got := func(v any, err error) (string, error) {
		if r, ok := v.(io.ReadCloser); ok && err == nil {
			defer r.Close()
			b, err := io.ReadAll(r)
			return string(b), err
		}
		b, _ := json.Marshal(v)
		return string(b), err
	}
	type request struct{ Line, Body string }
	tests := map[string]struct {
		call   func(context.Context, *Client) (string, error)
		want   request
		answer string
		result string
	}{
		"host": {func(ctx context.Context, c *Client) (string, error) { return got(c.Host(ctx)) },
			request{"GET /v1/host", ""}, `{"node_id":"node:x","version":"1"}`,
			`{"node_id":"node:x","version":"1","profile_ref":"","profile_digest":"","binding_ref":""}`},
		"health": {func(ctx context.Context, c *Client) (string, error) { return got(nil, c.Healthy(ctx)) },
			request{"GET /healthz", ""}, `{"status":"ok"}`, `null`},
		"create participant": {func(ctx context.Context, c *Client) (string, error) {
			return got(c.CreateParticipant(ctx, Participant{Kind: "agent", Name: "a", HarnessID: "hrn_1", Roles: []string{"reviewer"}}))
		}, request{"POST /v1/participants", `{"kind":"agent","name":"a","harness_id":"hrn_1","roles":["reviewer"]}`},
			`{"participant_id":"agt_1","kind":"agent","name":"a"}`, `{"participant_id":"agt_1","kind":"agent","name":"a"}`},
		"participants": {func(ctx context.Context, c *Client) (string, error) { return got(c.Participants(ctx)) },
			request{"GET /v1/participants", ""}, `{"participants":[{"participant_id":"per_1","kind":"person","name":"ann"}]}`,
			`[{"participant_id":"per_1","kind":"person","name":"ann"}]`},
		"create token": {func(ctx context.Context, c *Client) (string, error) {
			return got(c.CreateToken(ctx, "per_1", []string{"admin"}, 60))
		}, request{"POST /v1/tokens", `{"participant_id":"per_1","scopes":["admin"],"ttl_seconds":60}`},
			`{"token_id":"tok_1","token":"writ_x"}`, `{"token_id":"tok_1","token":"writ_x"}`},
		"revoke token": {func(ctx context.Context, c *Client) (string, error) { return got(nil, c.RevokeToken(ctx, "tok_1")) },
			request{"DELETE /v1/tokens/tok_1", ""}, "", `null`},
		"put repository": {func(ctx context.Context, c *Client) (string, error) {
			return got(c.PutRepository(ctx, "o", "n/x", json.RawMessage(`{"base":"main"}`)))
		}, request{"PUT /v1/repositories/o/n%2Fx", `{"base":"main"}`}, `{"base":"main"}`, `{"base":"main"}`},
		"repositories": {func(ctx context.Context, c *Client) (string, error) { return got(c.Repositories(ctx)) },
			request{"GET /v1/repositories", ""}, `{"repositories":[{"base":"main"}]}`, `[{"base":"main"}]`},
		"docket": {func(ctx context.Context, c *Client) (string, error) {
			r, err := c.Docket(ctx, "run_1")
			return got(r, err)
		}, request{"GET /v1/runs/run_1/docket", ""}, `{"schema":"writ.docket/v1"}`, `{"schema":"writ.docket/v1"}`},
		"runs": {func(ctx context.Context, c *Client) (string, error) {
			all, err := c.Runs(ctx, "waiting")
			return got([]any{len(all), all[0].Over(), all[0].Waiting[0].What}, err)
		}, request{"GET /v1/runs?state=waiting", ""}, `{"runs":[{"run_id":"run_1","ended":null,"waiting_for":[{"what":"an approval"}]}]}`, `[1,false,"an approval"]`},
		"run": {func(ctx context.Context, c *Client) (string, error) {
			r, err := c.Run(ctx, "run_1")
			return got([]any{r.Over(), r.Goal}, err)
		}, request{"GET /v1/runs/run_1", ""}, `{"goal":"g","ended":{"type":"run.completed"}}`, `[true,"g"]`},
		"lane": {func(ctx context.Context, c *Client) (string, error) { return got(c.Lane(ctx, "lane_1")) },
			request{"GET /v1/lanes/lane_1", ""}, `{"depth":1}`, `{"depth":1}`},
		"lanes": {func(ctx context.Context, c *Client) (string, error) { return got(c.Lanes(ctx, "open")) },
			request{"GET /v1/lanes?state=open", ""}, `{"lanes":[{"depth":1}]}`, `[{"depth":1}]`},
		"documents": {func(ctx context.Context, c *Client) (string, error) {
			return got(c.Documents(ctx, "run_1", "plan", "gate"))
		},
			request{"GET /v1/runs/run_1/documents?kind=plan&kind=gate", ""}, `{"documents":[{"kind":"plan","ref":"r","sha256":"0"}]}`,
			`[{"kind":"plan","ref":"r","sha256":"0"}]`},
		"turn": {func(ctx context.Context, c *Client) (string, error) { return got(c.Turn(ctx, "run_1", "evt_1")) },
			request{"POST /v1/runs/run_1/turns", `{"event_id":"evt_1"}`}, `{"kind":"turn","ref":"r","sha256":"0"}`, `{"kind":"turn","ref":"r","sha256":"0"}`},
		"manifest": {func(ctx context.Context, c *Client) (string, error) { return got(c.Manifest(ctx, "run_1", "p")) },
			request{"POST /v1/runs/run_1/manifests", `{"proposal_ref":"p"}`}, `{"kind":"m","ref":"r","sha256":"0"}`, `{"kind":"m","ref":"r","sha256":"0"}`},
		"review": {func(ctx context.Context, c *Client) (string, error) {
			return got(c.Review(ctx, "run_1", []byte(`{ }`)))
		},
			request{"POST /v1/runs/run_1/reviews", `{ }`}, `{"kind":"review","ref":"r","sha256":"0","replayed":true}`, `{"kind":"review","ref":"r","sha256":"0","replayed":true}`},
		"decide": {func(ctx context.Context, c *Client) (string, error) { return got(c.Decide(ctx, "run_1", []byte(`{}`))) },
			request{"POST /v1/runs/run_1/decisions", `{}`}, `{"kind":"d","ref":"r","sha256":"0"}`, `{"kind":"d","ref":"r","sha256":"0"}`},
		"answer": {func(ctx context.Context, c *Client) (string, error) { return got(c.Answer(ctx, "run_1", []byte(`{}`))) },
			request{"POST /v1/runs/run_1/answers", `{}`}, `{"kind":"a","ref":"r","sha256":"0"}`, `{"kind":"a","ref":"r","sha256":"0"}`},
		"inbox": {func(ctx context.Context, c *Client) (string, error) { return got(c.Inbox(ctx)) },
			request{"GET /v1/inbox", ""}, `{"requests":[{"request_ref":"q","run_id":"run_1","document":{"a":1}}]}`,
			`[{"request_ref":"q","run_id":"run_1","document":{"a":1}}]`},
		"landing": {func(ctx context.Context, c *Client) (string, error) { return got(c.Landing(ctx, "o/n", "main")) },
			request{"GET /v1/landing?base=main&repository=o%2Fn", ""}, `{"state":null}`, `{"state":null}`},
		"cancel landing": {func(ctx context.Context, c *Client) (string, error) {
			return got(nil, c.CancelLanding(ctx, "o/n", "main", "c1", "why"))
		}, request{"POST /v1/landing/cancel", `{"base":"main","candidate_id":"c1","reason":"why","repository":"o/n"}`}, `{}`, `null`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sent request
			c, p := serve(t, func(w http.ResponseWriter, r *http.Request) {
				b, _ := io.ReadAll(r.Body)
				sent = request{r.Method + " " + r.URL.RequestURI(), string(b)}
				if tc.answer == "" {
					w.WriteHeader(http.StatusNoContent)
				}
				_, _ = io.WriteString(w, tc.answer)
			})
			result, err := tc.call(t.Context(), c)
			if noted(p, err) != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, sent); diff != "" {
				t.Errorf("request differs (-want +got):\n%s", diff)
			}
			if result != tc.result {
				t.Errorf("result is %s, want %s", result, tc.result)
			}
		})
	}
}

func TestAnswersThatCannotBeRead(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "<html>") })
	if _, err := c.Me(t.Context()); err == nil {
		t.Error("a page is read as an answer")
	}
	if _, _, err := c.AppendRaw(t.Context(), []byte("{}")); err == nil {
		t.Error("a page is read as an event")
	}
	if _, err := New("http://[", "").Me(t.Context()); err == nil {
		t.Error("an address that is none is used")
	}
}
