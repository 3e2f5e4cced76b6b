package journal

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ledger"
)

func TestServerWritesWhatClientsForge(t *testing.T) {
	t.Parallel()
	forged := doc{
		"ts": "1999-01-01T00:00:00Z", "seq": 1, "run_id": "run_" + other, "attempt": 9,
		"actor":        doc{"kind": Server, "id": Server, "harness_id": "hrn_" + other, "extra": true},
		"on_behalf_of": "per_" + other, "requested_by": "per_" + other,
		"trail": []any{doc{"participant_id": "per_" + other}},
		"attachments": []any{doc{
			"attachment_id": "att_" + ulid, "replaces": "att_" + other,
			"mime_type": "<script>", "url": "http://evil.example", "byte_size": 1, "sha256": "00", "unknown": 1,
		}},
	}
	for name, p := range map[string]Principal{"person": person(), "harness": harness(), "agent": agent()} {
		d := parse(t, with(ask(), forged), p)
		if d.RunID != "" || d.Attempt != 0 || d.Agent != "" {
			t.Errorf("%s: run %q, attempt %d and agent %q come from the client", name, d.RunID, d.Attempt, d.Agent)
		}
		e := d.Stored(Fill{ID: "evt_" + ulid, RunID: "run_" + ulid, LaneID: "lane_" + ulid, Set: []canon.Member{
			textMember("on_behalf_of", "per_"+ulid), textMember("requested_by", p.ID),
			{Name: "trail", Value: canon.ArrayOf()}, {Name: "autonomy", Value: canon.IntOf(1)},
		}})
		v := value(t, e.Body)
		for _, gone := range []string{"ts", "seq", "attempt"} {
			if v.Has(gone) {
				t.Errorf("%s: stored form keeps %s of the client", name, gone)
			}
		}
		actor, _ := v.Get("actor")
		want := map[string]any{"kind": p.Kind, "id": p.ID}
		if p.Kind == Agent {
			want["harness_id"] = p.HarnessID
		}
		if !canon.Equal(actor, canon.MustFrom(want)) {
			t.Errorf("%s: actor is %s, want %v", name, actor.Canonical(), want)
		}
		if got := v.Str("on_behalf_of"); got != "per_"+ulid {
			t.Errorf("%s: on_behalf_of is %q", name, got)
		}
		list, _ := v.Get("attachments")
		if got, want := string(list.Canonical()), `[{"attachment_id":"att_`+ulid+`","replaces":"att_`+other+`"}]`; got != want {
			t.Errorf("%s: attachments are %s, want %s", name, got, want)
		}
		for _, fake := range []string{"per_" + other, "hrn_" + other, "run_" + other, "evil", "script"} {
			if bytes.Contains(e.Body, []byte(fake)) {
				t.Errorf("%s: the forged %s is stored: %s", name, fake, e.Body)
			}
		}
	}
}

func TestClientsClaimNoLanding(t *testing.T) {
	t.Parallel()
	d := parse(t, doc{
		"v": 1, "type": RunCompleted, "idempotency_key": "k", "run_id": "run_" + ulid, "attempt": 1, "summary": "done",
		"candidateId": "c", "outcome": "merged", "terminalRoot": "sha256:0", "landedCommit": "abc", "handed_off_to": "run_" + other, "lane_id": "lane_" + other,
	}, agent())
	got, ok := ReadCompletion(d.Stored(Fill{ID: "evt_" + ulid}).Body)
	if want := (Completion{Summary: "done"}); !ok || got != want {
		t.Errorf("completion is %+v, want %+v", got, want)
	}
	if d.LaneID != "" || d.Value.Has("handed_off_to") {
		t.Errorf("draft keeps %s", d.Value.Canonical())
	}
}

func TestHarnessMaySpeakForAnAgentOfItsOwn(t *testing.T) {
	t.Parallel()
	named := with(post(), doc{"actor": doc{"kind": Agent, "id": "agt_" + other}})
	d := parse(t, named, harness())
	if d.Agent != "agt_"+other {
		t.Fatalf("agent is %q", d.Agent)
	}
	e := d.Stored(Fill{ID: "evt_" + ulid})
	if e.Actor != "agt_"+other || !bytes.Contains(e.Body, []byte(`"actor":{"harness_id":"hrn_`+ulid+`","id":"agt_`+other+`","kind":"agent"}`)) {
		t.Errorf("stored %s as actor %s", e.Body, e.Actor)
	}
	if plain := parse(t, post(), harness()); plain.Fingerprint() == d.Fingerprint() {
		t.Error("the agent is part of what the client supplied, but not of the fingerprint")
	}
	if d := parse(t, named, person()); d.Agent != "" {
		t.Error("a person speaks for an agent")
	}
}

func TestParseDraftListsEveryFailure(t *testing.T) {
	t.Parallel()
	_, err := ParseDraft(encode(t, doc{
		"v": 2, "type": RunRequested, "goal": strings.Repeat("x", 4001), "deadline": "tomorrow",
		"workspace_id": "ws_" + other, "autonomy": 4, "link_to": []any{"spc_" + ulid, "nope"},
	}), person())
	want := []string{"/idempotency_key", "/workspace_id", "/autonomy", "/deadline", "/goal", "/link_to/1", "/v", "/specialist_id"}
	if diff := cmp.Diff(want, pointers(err)); diff != "" {
		t.Errorf("failures differ (-want +got):\n%s", diff)
	}
	if got := fault.CodeOf(err); got != fault.Event {
		t.Errorf("code is %s, want %s", got, fault.Event)
	}
}

func TestParseDraftRefuses(t *testing.T) {
	t.Parallel()
	scoped := func(p Principal, scopes ...string) Principal { p.Scopes = scopes; return p }
	observer := Principal{Kind: Observer, ID: "per_" + ulid, Workspace: "ws_" + ulid, Scopes: everything}
	decided := doc{"v": 1, "type": RunApprovalDecided, "idempotency_key": "k", "run_id": "run_" + ulid, "request_id": "r", "decision": "approve"}
	tests := map[string]struct {
		raw  []byte
		by   Principal
		code fault.Code
		at   string
	}{
		"not json":               {[]byte(`{"v":1,`), person(), fault.Malformed, ""},
		"two of one name":        {[]byte(`{"v":1,"v":1}`), person(), fault.Malformed, ""},
		"not utf-8":              {[]byte("{\"v\":\"\xff\"}"), person(), fault.Malformed, ""},
		"too deep":               {[]byte(strings.Repeat("[", 33) + strings.Repeat("]", 33)), person(), fault.Malformed, ""},
		"no object":              {[]byte(`[]`), person(), fault.Event, ""},
		"too large":              {encode(t, with(post(), doc{"x": strings.Repeat("x", MaxBytes)})), person(), fault.TooLarge, ""},
		"no type":                {[]byte(`{"v":1}`), person(), fault.Event, "/type"},
		"unknown type":           {encode(t, with(post(), doc{"type": "message.liked"})), person(), fault.Event, "/type"},
		"no key":                 {encode(t, with(post(), doc{"idempotency_key": nil})), person(), fault.Event, "/idempotency_key"},
		"server's type":          {encode(t, doc{"v": 1, "type": LaneOpened, "idempotency_key": "k", "lane_id": "lane_" + ulid, "depth": 1, "specialist_id": "x", "requested_by": "x", "autonomy": 3}), person(), fault.Forbidden, ""},
		"forged acceptance":      {encode(t, doc{"v": 1, "type": DocumentAccepted, "idempotency_key": "k", "kind": "gate", "ref": "r", "sha256": strings.Repeat("0", 64)}), person(), fault.Forbidden, ""},
		"missing scope":          {encode(t, ask()), scoped(person(), ScopeWrite), fault.Forbidden, ""},
		"observer":               {encode(t, post()), observer, fault.Forbidden, ""},
		"agent approves":         {encode(t, decided), agent(), fault.AgentApproval, ""},
		"harness approves":       {encode(t, decided), harness(), fault.AgentApproval, ""},
		"person works":           {encode(t, doc{"v": 1, "type": RunStarted, "idempotency_key": "k", "run_id": "run_" + ulid, "attempt": 1}), person(), fault.Forbidden, ""},
		"work without attempt":   {encode(t, doc{"v": 1, "type": RunStarted, "idempotency_key": "k", "run_id": "run_" + ulid}), harness(), fault.Event, "/attempt"},
		"input given twice over": {encode(t, doc{"v": 1, "type": RunInputGiven, "idempotency_key": "k", "run_id": "run_" + ulid, "request_id": "r", "value": 1, "cancelled": true}), person(), fault.Event, "/value"},
	}
	for name, tc := range tests {
		_, err := ParseDraft(tc.raw, tc.by)
		e, _ := fault.As(err)
		if fault.CodeOf(err) != tc.code || e != nil && tc.at != "" && e.Pointer != tc.at {
			t.Errorf("%s: got %v (%s), want %s at %q", name, err, fault.CodeOf(err), tc.code, tc.at)
		}
	}
}

func TestKeyMayComeBesideTheEvent(t *testing.T) {
	t.Parallel()
	bare := encode(t, with(post(), doc{"idempotency_key": nil}))
	beside, err := ParseKeyed(bare, person(), "k1")
	if err != nil {
		t.Fatal(err)
	}
	inside := parse(t, post(), person())
	if beside.Key != "k1" || beside.Fingerprint() != inside.Fingerprint() {
		t.Errorf("key %q, fingerprints %s and %s", beside.Key, beside.Fingerprint(), inside.Fingerprint())
	}
	if _, err := ParseKeyed(encode(t, post()), person(), "k1"); err != nil {
		t.Errorf("agreeing keys: %v", err)
	}
	if _, err := ParseKeyed(encode(t, post()), person(), "k2"); fault.CodeOf(err) != fault.Event {
		t.Errorf("two keys that differ: %v", err)
	}
}

func TestFingerprintIsOfWhatTheClientSupplied(t *testing.T) {
	t.Parallel()
	base := parse(t, ask(), person()).Fingerprint()
	for name, same := range map[string]doc{
		"other ts":            {"ts": "2020-01-01T00:00:00Z"},
		"other trail":         {"trail": []any{}},
		"number spelled anew": {"v": 1.0},
	} {
		if got := parse(t, with(ask(), same), person()).Fingerprint(); got != base {
			t.Errorf("%s: the fingerprint changes", name)
		}
	}
	for name, changed := range map[string]doc{"goal": {"goal": "else"}, "unknown member": {"x": 1}, "id": {"id": "evt_" + ulid}} {
		if got := parse(t, with(ask(), changed), person()).Fingerprint(); got == base {
			t.Errorf("%s: the fingerprint does not change", name)
		}
	}
}

func TestUnknownMembersRoundTrip(t *testing.T) {
	t.Parallel()
	unknown := `{"a":[1,2.5,null,"\u0001é😀",{"z":true,"ä":{}}],"b":1e-7}`
	raw := strings.Replace(string(encode(t, post())), "{", `{"zz_new":`+unknown+`,`, 1)
	d, err := ParseDraft([]byte(raw), person())
	if err != nil {
		t.Fatal(err)
	}
	e := d.Stored(Fill{ID: "evt_" + ulid})
	want := []byte(`"zz_new":` + string(value(t, []byte(unknown)).Canonical()))
	if !bytes.Contains(e.Body, want) {
		t.Errorf("stored form lacks %s: %s", want, e.Body)
	}
	w := Wire(ledger.Event{Seq: 3, Body: e.Body})
	if !bytes.Contains(w, want) {
		t.Errorf("wire form lacks %s: %s", want, w)
	}
}

func TestDeadlinesAreKeptInUTC(t *testing.T) {
	t.Parallel()
	d := parse(t, with(ask(), doc{"deadline": "2026-01-02T05:04:05.123456789012+02:00", "link_to": []any{"spc_" + ulid, "spc_" + ulid}}), person())
	if got := d.Get("deadline"); got != "2026-01-02T03:04:05.123Z" {
		t.Errorf("deadline is kept as %s", got)
	}
	if links, _ := d.Value.Get("link_to"); links.Len() != 1 {
		t.Errorf("link_to has %d links, want 1", links.Len())
	}
	for _, outside := range []string{"9999-12-31T23:59:59-01:00", "0000-01-01T00:00:00+01:00"} {
		if _, err := ParseDraft(encode(t, with(ask(), doc{"deadline": outside})), person()); fault.CodeOf(err) != fault.Event {
			t.Errorf("deadline %s: %v", outside, err)
		}
	}
}
