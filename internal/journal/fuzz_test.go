package journal

import (
	"bytes"
	"testing"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ledger"
)

// Whatever comes in is refused with a code of the closed set, or makes a stored
// form that is canonical and a wire form that readers accept.
func FuzzParseDraft(f *testing.F) {
	f.Add(encode(f, post()))
	f.Add(encode(f, ask()))
	f.Add(encode(f, requested()))
	f.Add(encode(f, doc{"v": 1, "type": RunInputGiven, "idempotency_key": "k", "run_id": "run_" + ulid, "request_id": "r", "value": doc{"a": 1}}))
	f.Add(encode(f, doc{"v": 1, "type": RunFailed, "idempotency_key": "k", "run_id": "run_" + ulid, "attempt": 1, "code": "x", "message": "y", "retryable": true}))
	f.Add([]byte(`{"type":"run.requested","attachments":[1,{}],"trail":3}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, p := range []Principal{person(), harness(), agent()} {
			d, err := ParseDraft(raw, p)
			if err != nil {
				if e, ok := fault.As(err); !ok || !e.Code.Known() || e.Public == "" {
					t.Fatalf("refused without a code or a text: %v", err)
				}
				continue
			}
			again, err := ParseDraft(d.Value.Canonical(), p)
			if err != nil || again.Type != d.Type || again.Key != d.Key {
				t.Fatalf("what is kept of a draft is no draft: %v", err)
			}
			e := d.Stored(Fill{ID: "evt_" + ulid, Set: complete(d)})
			v := value(t, e.Body)
			if !bytes.Equal(v.Canonical(), e.Body) {
				t.Fatalf("stored form is not canonical: %s", e.Body)
			}
			if actor, _ := v.Get("actor"); actor.Str("id") != e.Actor || actor.Str("kind") == Server {
				t.Fatalf("actor %s is stored as %s", e.Actor, actor.Canonical())
			}
			w := value(t, Wire(ledger.Event{Seq: 1, TS: time.Unix(0, 0), Body: e.Body}))
			if d.Value.Has("attachments") {
				continue // their facts are added per reader
			}
			if err := CheckWire(w); err != nil {
				t.Fatalf("%v in %s", detail(err), w.Canonical())
			}
		}
	})
}

// complete is what a decision would fill in.
func complete(d Draft) (set []canon.Member) {
	v := d.Stored(Fill{ID: "evt_" + ulid})
	has := func(name string) bool { _, ok := mustParse(v.Body).Get(name); return ok }
	for name, x := range map[string]any{
		"lane_id": "lane_" + ulid, "attempt": 1, "by": "per_x", "new_run_id": "run_" + ulid, "message_id": "msg_" + ulid,
		"space_id": "spc_" + ulid, "outcome": "done", "on_behalf_of": "per_x", "requested_by": "per_x", "trail": []any{}, "autonomy": 1, "from": 1,
	} {
		if i, ok := catalogue[d.Type].body.index[name]; ok && !has(name) && catalogue[d.Type].body.must[kept]&(1<<i) != 0 {
			set = append(set, canon.Member{Name: name, Value: canon.MustFrom(x)})
		}
	}
	return set
}

func mustParse(b []byte) canon.Value {
	v, err := canon.Parse(b)
	if err != nil {
		panic(err)
	}
	return v
}

func FuzzCheckWire(f *testing.F) {
	f.Add(encode(f, requested()))
	f.Add([]byte(`{"type":"lane.opened"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, err := canon.Parse(raw)
		if err != nil {
			return
		}
		if err := CheckWire(v); err != nil && fault.CodeOf(err) != fault.Event {
			t.Fatalf("code of %v", err)
		}
	})
}
