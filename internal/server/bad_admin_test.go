package server_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"writ/internal/ident"
	"writ/internal/verdict"
)

// refusals sends bodies that are to be refused, one after the other, and checks
// that nothing is stored.
func (w *world) refusals(t *testing.T, token, method, path string, all []refusal) {
	t.Helper()
	before := w.state()
	for _, b := range all {
		at := path
		if b.path != "" {
			at = b.path
		}
		r := w.ask(token, method, at, b.body)
		if r.status < 400 {
			t.Fatalf("%s %s, %s: was taken\n%s", method, at, b.name, r.body)
		}
		if p := r.problem(t); r.status != b.status || string(p.Code) != b.code || p.Pointer != b.pointer {
			t.Errorf("%s %s, %s: answered %d %s at %q, want %d %s at %q\n%s", method, at, b.name, r.status, p.Code, p.Pointer, b.status, b.code, b.pointer, r.body)
		}
	}
	w.unchanged(t, before)
}

type refusal struct {
	name, body    string
	status        int
	code, pointer string
	path          string // "" for the usual one
}

// texts are ways in which a body of any of the server's types is wrong. good is a
// sound one that begins with the member called first.
func texts(good, first string) []refusal {
	return []refusal{
		{"empty", "", 400, "malformed", "", ""},
		{"no JSON", "please", 400, "malformed", "", ""},
		{"truncated", good[:len(good)-1], 400, "malformed", "", ""},
		{"trailing", good + good, 400, "malformed", "", ""},
		{"duplicate key", `{"` + first + `":1,` + good[1:], 400, "malformed", "", ""},
		{"invalid UTF-8", strings.Replace(good, `"`, "\"\xff", 1), 400, "malformed", "", ""},
		{"byte order mark", "\ufeff" + good, 400, "malformed", "", ""},
		{"integer beyond 2^53", `{"` + first + `":9007199254740993}`, 400, "malformed", "", ""},
		{"unknown member", `{"zz":1,` + good[1:], 400, "invalid", "/zz", ""},
		{"too large", good + strings.Repeat(" ", 4<<20), 413, "too_large", "", ""},
	}
}

func TestBadParticipants(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	node := keyOf(40).Public().Node()
	w.refusals(t, w.admin.token.Text, "POST", "/v1/participants", append(texts(`{"kind":"person","name":"eve"}`, "kind"), []refusal{
		{"no object", `[]`, 400, "invalid", "", ""},
		{"null", `null`, 400, "invalid", "", ""},
		{"other case", `{"Kind":"person","name":"eve"}`, 400, "invalid", "/Kind", ""},
		{"kind missing", `{"name":"eve"}`, 400, "invalid", "/kind", ""},
		{"kind unknown", `{"kind":"robot","name":"eve"}`, 400, "invalid", "/kind", ""},
		{"kind of the wrong type", `{"kind":1,"name":"eve"}`, 400, "invalid", "/kind", ""},
		{"name empty", `{"kind":"person","name":""}`, 400, "invalid", "/name", ""},
		{"name blank", `{"kind":"person","name":"  "}`, 400, "invalid", "/name", ""},
		{"name null", `{"kind":"person","name":null}`, 400, "invalid", "/name", ""},
		{"name too long", `{"kind":"person","name":"` + strings.Repeat("x", 121) + `"}`, 400, "invalid", "/name", ""},
		{"role unknown", `{"kind":"person","name":"eve","roles":["king"]}`, 400, "invalid", "/roles/0", ""},
		{"roles of the wrong type", `{"kind":"person","name":"eve","roles":"chair"}`, 400, "invalid", "/roles", ""},
		{"role without a key", `{"kind":"person","name":"eve","roles":["chair"]}`, 400, "invalid", "/node_id", ""},
		{"key of nobody", `{"kind":"person","name":"eve","node_id":"node:did:key:z6Mk"}`, 400, "invalid", "/node_id", ""},
		{"key in a second spelling", `{"kind":"person","name":"eve","node_id":"` + strings.ToUpper(node) + `"}`, 400, "invalid", "/node_id", ""},
		{"harness of a person", `{"kind":"person","name":"eve","harness_id":"` + w.harness.ID + `"}`, 400, "invalid", "/harness_id", ""},
		{"harness that is none", `{"kind":"agent","name":"eve","harness_id":"` + w.solver.ID + `"}`, 400, "invalid", "/harness_id", ""},
		{"harness that is not there", `{"kind":"agent","name":"eve","harness_id":"` + ident.New(ident.Harness) + `"}`, 404, "not_found", "/harness_id", ""},
		{"agent as chair", `{"kind":"agent","name":"eve","roles":["chair"],"node_id":"` + node + `"}`, 403, "agent_cannot_approve", "/roles", ""},
	}...))
	w.ask(w.admin.token.Text, "POST", "/v1/participants", `{"kind":"agent","name":"eve","roles":["implementer","reviewer"],"node_id":"`+node+`","harness_id":"`+w.harness.ID+`"}`).expect(t, 201)
	if body := string(w.ask(w.ann.token.Text, "GET", "/v1/participants", nil).expect(t, 200).body); !strings.Contains(body, node) || strings.Count(body, "participant_id") != 6 {
		t.Errorf("listed are %s", body)
	}
}

func TestBadTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ask := func(scopes, rest string) string {
		return `{"participant_id":"` + w.ann.ID + `","scopes":` + scopes + rest + `}`
	}
	w.refusals(t, w.admin.token.Text, "POST", "/v1/tokens", append(texts(ask(`["events:read"]`, ""), "scopes"), []refusal{
		{"no object", `"x"`, 400, "invalid", "", ""},
		{"participant missing", `{"scopes":["events:read"]}`, 400, "invalid", "/participant_id", ""},
		{"participant unknown", `{"participant_id":"` + ident.New(ident.Person) + `","scopes":["events:read"]}`, 404, "not_found", "", ""},
		{"scopes missing", `{"participant_id":"x"}`, 400, "invalid", "/scopes", ""},
		{"no scopes", ask(`[]`, ""), 400, "invalid", "/scopes", ""},
		{"scopes null", ask(`null`, ""), 400, "invalid", "/scopes", ""},
		{"scope unknown", ask(`["events:read","root"]`, ""), 400, "invalid", "/scopes/1", ""},
		{"scope of the wrong type", ask(`[1]`, ""), 400, "invalid", "/scopes/0", ""},
		{"life of no length", ask(`["events:read"]`, `,"ttl_seconds":0`), 400, "invalid", "/ttl_seconds", ""},
		{"life below zero", ask(`["events:read"]`, `,"ttl_seconds":-1`), 400, "invalid", "/ttl_seconds", ""},
		{"life too long", ask(`["events:read"]`, `,"ttl_seconds":31536001`), 400, "invalid", "/ttl_seconds", ""},
		{"half a second", ask(`["events:read"]`, `,"ttl_seconds":1.5`), 400, "invalid", "/ttl_seconds", ""},
		{"life as text", ask(`["events:read"]`, `,"ttl_seconds":"60"`), 400, "invalid", "/ttl_seconds", ""},
	}...))
	w.refusals(t, w.admin.token.Text, "DELETE", "", []refusal{
		{"no token", "", 404, "not_found", "", "/v1/tokens/" + ident.New(ident.Token)},
		{"no id", "", 404, "not_found", "", "/v1/tokens/x"},
	})
}

// TestBadRepositories breaks a configuration and the gate policy inside it.
func TestBadRepositories(t *testing.T) {
	t.Parallel()
	c := newChain(t)
	stored := c.ask(c.ann.token.Text, "GET", "/v1/repositories", nil).expect(t, 200).body
	var list struct{ Repositories []struct{ Remote string } }
	if err := json.Unmarshal(stored, &list); err != nil || len(list.Repositories) != 1 {
		t.Fatalf("%v: %s", err, stored)
	}
	remote := list.Repositories[0].Remote
	config := func(change obj) string {
		m := obj{"remote": remote, "base": "main"}
		maps.Copy(m, change)
		b, err := json.Marshal(m)
		c.must(err)
		return string(b)
	}
	policy := func(change obj) string {
		var p obj
		b, err := json.Marshal(verdict.DefaultPolicy())
		c.must(err)
		c.must(json.Unmarshal(b, &p))
		maps.Copy(p, change)
		return config(obj{"gate_policy": p})
	}
	c.refusals(t, c.admin.token.Text, "PUT", "/v1/repositories/demo/sample", append(texts(config(nil), "remote"), []refusal{
		{"no object", `[]`, 400, "invalid", "", ""},
		{"null", `null`, 400, "invalid", "", ""},
		{"remote missing", `{"base":"main"}`, 400, "invalid", "/remote", ""},
		{"remote that is an option", config(obj{"remote": "--upload-pack=x"}), 400, "invalid", "/remote", ""},
		{"remote that runs a helper", config(obj{"remote": "ext::sh -c x"}), 400, "invalid", "/remote", ""},
		{"remote that is not there", config(obj{"remote": t.TempDir() + "/none"}), 502, "forge_failed", "", ""},
		{"base missing", config(obj{"base": nil}), 400, "invalid", "/base", ""},
		{"base of the wrong type", config(obj{"base": 1}), 400, "invalid", "/base", ""},
		{"base that is no branch name", config(obj{"base": "a..b"}), 400, "invalid", "/base", ""},
		{"base that is not there", config(obj{"base": "nowhere"}), 404, "not_found", "", ""},
		{"rounds beyond the limit", config(obj{"rounds": 61}), 400, "invalid", "/rounds", ""},
		{"half a round", config(obj{"rounds": 1.5}), 400, "invalid", "/rounds", ""},
		{"samples below zero", config(obj{"sample_ms": -1}), 400, "invalid", "/sample_ms", ""},
		{"domain without paths", config(obj{"domains": obj{"x": []any{}}}), 400, "invalid", "/domains", ""},
		{"another alias", config(obj{"alias": "demo/other"}), 400, "invalid", "/alias", ""},
		{"alias that is none", config(nil), 400, "invalid", "/alias", "/v1/repositories/demo/-x"},
		{"a second repository", config(nil), 409, "conflict", "", "/v1/repositories/demo/second"},
		{"policy of another kind", policy(obj{"schema": "x"}), 400, "unknown_kind", "/gate_policy/schema", ""},
		{"policy that is no object", config(obj{"gate_policy": 7}), 400, "unknown_kind", "/gate_policy/schema", ""},
		{"policy with an unknown member", policy(obj{"zz": 1}), 400, "invalid", "/gate_policy/zz", ""},
		{"policy with a member of the wrong type", policy(obj{"alpha": "x"}), 400, "invalid", "/gate_policy/alpha", ""},
		{"policy that cannot be", policy(obj{"alpha": 2}), 400, "invalid", "/gate_policy/alpha", ""},
		{"policy without answers", policy(obj{"actions": obj{}}), 400, "invalid", "/gate_policy/actions/faster", ""},
	}...))
	if again := c.ask(c.ann.token.Text, "GET", "/v1/repositories", nil).expect(t, 200).body; string(again) != string(stored) {
		t.Errorf("stored is %s, was %s", again, stored)
	}
	c.ask(c.admin.token.Text, "PUT", "/v1/repositories/demo/sample", policy(obj{"alpha": 0.01})).expect(t, 200)
}
