package journal

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"writ/internal/canon"
	"writ/internal/fault"
)

// Ids that tests use; all end in the same ULID.
const (
	ulid  = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
	other = "01BX5ZZKBKACTAV9WEVGEMMVRZ"
)

var everything = []string{ScopeAdmin, ScopeWrite, ScopeWork, ScopeRoute, ScopeApprove}

func person() Principal {
	return Principal{Kind: Person, ID: "per_" + ulid, Workspace: "ws_" + ulid, TokenID: "tok_" + ulid, Scopes: everything}
}

func harness() Principal {
	return Principal{Kind: Harness, ID: "hrn_" + ulid, Workspace: "ws_" + ulid, Scopes: everything}
}

func agent() Principal {
	return Principal{Kind: Agent, ID: "agt_" + ulid, HarnessID: "hrn_" + ulid, Workspace: "ws_" + ulid, Scopes: everything}
}

type doc = map[string]any

// with returns a copy of base with changes; a nil value removes the member.
func with(base doc, changes doc) doc {
	out := maps.Clone(base)
	for k, v := range changes {
		if v == nil {
			delete(out, k)
		} else {
			out[k] = v
		}
	}
	return out
}

// ask is a small run.request in its write form.
func ask() doc {
	return doc{"v": 1, "type": RunRequested, "idempotency_key": "k1", "goal": "make it fast", "specialist_id": "hrn_" + ulid}
}

// post is a small message in its write form.
func post() doc {
	return doc{"v": 1, "type": MessagePosted, "idempotency_key": "k1", "body": "hello", "space_id": "spc_" + ulid}
}

// requested is a full run.requested in its wire form.
func requested() doc {
	return doc{
		"v": 1, "type": RunRequested, "id": "evt_" + ulid, "ts": "2026-01-02T03:04:05.678Z",
		"workspace_id": "ws_" + ulid, "space_id": "spc_" + ulid, "run_id": "run_" + ulid, "lane_id": "lane_" + ulid, "seq": 7,
		"idempotency_key": "k1", "actor": doc{"kind": Agent, "id": "agt_" + ulid, "harness_id": "hrn_" + ulid},
		"goal": "make it fast", "constraints": []any{"no new dependency"}, "deadline": "2026-01-02T05:04:05+02:00",
		"on_behalf_of": "per_" + ulid, "requested_by": "agt_" + ulid, "specialist_id": "hrn_" + other, "agent_id": "agt_" + other,
		"trail":    []any{doc{"participant_id": "per_" + ulid, "goal": "x"}, doc{"participant_id": "agt_" + ulid, "run_id": "run_" + other}},
		"autonomy": 2, "link_to": []any{"spc_" + ulid}, "origin": "msg_" + ulid, "label": "tuner",
		"attachments": []any{doc{
			"attachment_id": "att_" + ulid, "filename": "a.txt", "mime_type": "text/plain", "byte_size": 3, "sha256": strings.Repeat("0a", 32),
			"width": 1, "height": 2, "duration_ms": 0, "transcript": "a", "replaces": "att_" + other,
			"url": "https://example.org/a", "url_expires_at": "2026-01-02T03:14:05Z",
		}},
	}
}

func encode(t testing.TB, d doc) []byte {
	t.Helper()
	b, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func parse(t testing.TB, d doc, p Principal) Draft {
	t.Helper()
	draft, err := ParseDraft(encode(t, d), p)
	if err != nil {
		t.Fatalf("ParseDraft(%s) = %v", encode(t, d), detail(err))
	}
	return draft
}

// detail shows all failures of an error.
func detail(err error) any {
	if e, ok := fault.As(err); ok && len(e.Fields) > 0 {
		return e.Fields
	}
	return err
}

func value(t testing.TB, b []byte) canon.Value {
	t.Helper()
	v, err := canon.Parse(b)
	if err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	return v
}

// pointers returns where an error says that something is wrong.
func pointers(err error) []string {
	e, ok := fault.As(err)
	if !ok {
		return nil
	}
	var out []string
	for _, f := range e.Fields {
		out = append(out, f.Pointer)
	}
	return out
}
