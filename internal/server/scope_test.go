package server_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/server"
)

// described is the part of the OpenAPI description that these tests read.
type described struct {
	OpenAPI    string `json:"openapi"`
	Paths      map[string]map[string]described1
	Components struct {
		Schemas         map[string]any
		SecuritySchemes map[string]any
	}
}

type described1 struct {
	OperationID string                `json:"operationId"`
	Summary     string                `json:"summary"`
	Tags        []string              `json:"tags"`
	Security    []map[string][]string `json:"security"`
	Parameters  []struct{ Name, In string }
	RequestBody struct{ Content map[string]any }
	Responses   map[string]struct {
		Description string
		Content     map[string]struct{ Schema any }
	}
}

func (w *world) description() described {
	w.t.Helper()
	var d described
	w.ask("", "GET", "/openapi.json", nil).expect(w.t, 200).read(w.t, &d)
	return d
}

// scopes is what each operation needs. It is written here a second time on
// purpose: a scope that changes is a decision.
var scopes = map[string]string{
	"health": "open", "ready": "open", "openapi": "open", "me": "", "host": "",
	"create-participant": "admin", "list-participants": "events:read", "create-token": "admin", "revoke-token": "admin",
	"put-repository": "admin", "list-repositories": "events:read",
	"append-event": "events:write", "list-events": "events:read", "get-event": "events:read", "stream-events": "events:read",
	"list-runs": "events:read", "get-run": "events:read", "renew-run": "runs:work", "list-lanes": "events:read", "get-lane": "events:read",
	"create-turn": "chain:write", "create-manifest": "chain:write", "propose": "chain:write", "review": "chain:write",
	"decide": "approve", "answer": "approve", "inbox": "events:read", "list-documents": "events:read",
	"landing": "events:read", "cancel-landing": "landing:write",
	"put-blob": "chain:write", "get-blob": "events:read", "get-document": "events:read", "export-docket": "docket:read",
}

// TestScopes asks every operation of the description with every scope but the
// one that it needs, and with none of the others.
func TestScopes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	d := w.description()
	seen := map[string]string{}
	all := w.issue(w.ws, w.ann.Participant, without(server.Scopes, "admin"), 0)
	bodies := map[string]string{
		"create-participant": `{"kind":"person","name":"eve"}`,
		"create-token":       fmt.Sprintf(`{"participant_id":%q,"scopes":["events:read"]}`, w.ann.ID),
		"put-repository":     `{"remote":"/tmp","base":"main"}`,
		"append-event":       message("scopes", "x"),
		"renew-run":          `{"attempt":1}`, "create-turn": `{"event_id":"x"}`, "create-manifest": `{"proposal_ref":"x"}`,
		"propose": `{}`, "review": `{}`, "decide": `{}`, "answer": `{}`, "put-blob": "bytes",
		"cancel-landing": `{"repository":"a/b","base":"main","candidate_id":"x","reason":"y"}`,
	}
	for path, methods := range d.Paths {
		for method, o := range methods {
			if len(o.Security) == 0 {
				seen[o.OperationID] = "open"
				continue
			}
			seen[o.OperationID] = strings.Join(o.Security[0]["token"], " ")
			target := strings.NewReplacer("{id}", w.ann.token.ID, "{run}", "run_1", "{lane}", "lane_1", "{owner}", "a", "{name}", "b", "{sha256}", strings.Repeat("0", 64), "{ref}", "x").Replace(path)
			if o.OperationID == "landing" {
				target += "?repository=a/b&base=main"
			}
			t.Run(o.OperationID, func(t *testing.T) { // one after the other: each looks at everything stored
				need := scopes[o.OperationID]
				send := func(token string) reply {
					var body any
					if b := bodies[o.OperationID]; b != "" {
						body = b
					}
					return w.ask(token, strings.ToUpper(method), target, body)
				}
				send("").refused(t, 401, "unauthenticated")
				if need == "" {
					send(w.issue(w.ws, w.ann.Participant, []string{"docket:read"}, 0).Text).expect(t, 200)
					return
				}
				lacks := w.issue(w.ws, w.ann.Participant, without(server.Scopes, need, "admin"), 0)
				before := w.state()
				p := send(lacks.Text).refused(t, 403, "forbidden")
				if p.Data["scope"] != need {
					t.Errorf("the refusal names %q, needed is %q", p.Data["scope"], need)
				}
				w.unchanged(t, before)
				if o.OperationID == "stream-events" || o.OperationID == "revoke-token" {
					return // the one would stay open, the other would end a token of all
				}
				has := w.issue(w.ws, w.ann.Participant, []string{need}, 0)
				if r := send(has.Text); r.status == 401 || r.status == 403 {
					t.Errorf("the scope %s does not do: %s", need, r.body)
				}
				if need != "admin" {
					if r := send(all.Text); r.status == 401 || r.status == 403 {
						t.Errorf("all scopes together do not do: %s", r.body)
					}
				}
			})
		}
	}
	if diff := cmp.Diff(scopes, seen); diff != "" {
		t.Errorf("scopes of the description (-wanted +described):\n%s", diff)
	}
}

func without(all []string, drop ...string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(drop, s) })
}

func TestScopesAreAllUsed(t *testing.T) {
	t.Parallel()
	used := slices.Collect(maps.Values(scopes))
	for _, s := range server.Scopes {
		if s != "lanes:route" && !slices.Contains(used, s) { // lanes:route is asked for by event types
			t.Errorf("no operation needs the scope %s", s)
		}
	}
}

// TestScopesOfEventTypes: the door takes events:write, the type may want more.
func TestScopesOfEventTypes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	writes := w.issue(w.ws, w.ann.Participant, []string{"events:write"}, 0).Text
	before := w.state()
	for _, c := range []struct{ body, scope string }{
		{requestRun("a", w.solver.ID), "lanes:route"},
		{`{"v":1,"type":"space.created","idempotency_key":"b","kind":"plain","name":"x"}`, "admin"},
		{`{"v":1,"type":"run.approval_decided","idempotency_key":"c","run_id":"run_01ARZ3NDEKTSV4RRFFQ69G5FAV","request_id":"r","decision":"approve"}`, "approve"},
	} {
		p := w.ask(writes, "POST", "/v1/events", c.body).refused(t, 403, "forbidden")
		if p.Data["scope"] != c.scope {
			t.Errorf("%s: the refusal names the scope %q, not %q", c.body, p.Data["scope"], c.scope)
		}
	}
	w.unchanged(t, before)
	w.ask(w.solver.token.Text, "POST", "/v1/events", `{"v":1,"type":"run.approval_decided","idempotency_key":"c","run_id":"run_01ARZ3NDEKTSV4RRFFQ69G5FAV","request_id":"r","decision":"approve"}`).problem(t)
	w.unchanged(t, before)
}
