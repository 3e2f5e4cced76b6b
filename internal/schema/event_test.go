package schema

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"writ/internal/canon"
	"writ/internal/fault"
)

// TestEventTraps has a line per trap of the event format: what passes and what
// does not is often not what one would guess.
func TestEventTraps(t *testing.T) {
	t.Parallel()
	event := func(name, pointer, rule string, edits ...edit) variant {
		return variant{name, RunRequested, "event", edits, pointer, rule}
	}
	const ulid = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
	emoji := strings.Repeat("\U0001F600", 4000)
	runAll(t, []variant{
		event("1 an id with a newline at its end", "/id", `must be "evt_" and an upper-case ULID`, edit{"/id", "evt_" + ulid + "\n"}),
		event("2 a relative link", "/attachments/0/url", "must be an absolute URI", edit{"/attachments/0/url", "/y"}),
		event("2 lower-case t", "/ts", "must be a time", edit{"/ts", "2026-08-12t00:00:00Z"}),
		event("2 lower-case z", "/ts", "must be a time", edit{"/ts", "2026-08-12T00:00:00z"}),
		event("2 a leap second", "/ts", "must be a time", edit{"/ts", "2016-12-31T23:59:60Z"}),
		event("2 no seconds", "/deadline", "must be a time", edit{"/deadline", "2026-08-12T00:00Z"}),
		event("2 no 29 February", "/deadline", "must be a time", edit{"/deadline", "2026-02-29T00:00:00Z"}),
		event("2 twelve decimals and an offset", "", "", edit{"/deadline", "2026-08-12T00:00:00.123456789012+02:00"}),
		event("3 4000 code points of two units", "", "", edit{"/goal", emoji}),
		event("3 4001 code points", "/goal", "must have at most 4000 characters", edit{"/goal", emoji + "x"}),
		event("4 members that nobody knows", "", "", edit{"/new", 1}, edit{"/actor/new", 1}, edit{"/attachments/0/new", 1}),
		event("6 seq of 2^53-1", "", "", edit{"/seq", 9007199254740991}),
		event("6 seq of 0", "/seq", "must be more than 0", edit{"/seq", 0}),
		event("7 no idempotency key and no run", "", "", edit{"/idempotency_key", nil}, edit{"/run_id", nil}),
		event("8 a lower-case id", "/id", `must be "evt_" and an upper-case ULID`, edit{"/id", "evt_" + strings.ToLower(ulid)}),
		event("8 an id that overflows", "/id", `must be "evt_" and an upper-case ULID`, edit{"/id", "evt_8" + ulid[1:]}),
		event("8 another prefix", "/workspace_id", `must be "ws_" and an upper-case ULID`, edit{"/workspace_id", "spc_" + ulid}),
		event("9 a goal of blanks", "", "", edit{"/goal", "   "}),
		event("9 no hops", "", "", edit{"/trail", []any{}}),
		event("9 a room twice", "", "", edit{"/link_to", []any{"spc_" + ulid, "spc_" + ulid}}),
		event("9 a strange type of file", "", "", edit{"/attachments/0/mime_type", "<script>"}),
		event("9 null for what is left out", "/label", "must be a string", edit{"/label", null{}}),
		event("9 null for a lane", "/lane_id", "must be a string", edit{"/lane_id", null{}}),
		event("10 an actor id without end", "", "", edit{"/actor/id", strings.Repeat("x", 5000)}, edit{"/trail/0/participant_id", strings.Repeat("x", 5000)}),
		event("11 names where ids would do", "", "", edit{"/requested_by", "Ann the lead"}, edit{"/specialist_id", "Bo"}),
		event("nine hops", "/trail", "must have at most 8 items", edit{"/trail", hops(9)}),
		event("eight hops", "", "", edit{"/trail", hops(8)}),
		event("autonomy 4", "/autonomy", "must be one of 0, 1, 2, 3", edit{"/autonomy", 4}),
		event("autonomy as text", "/autonomy", "must be a number", edit{"/autonomy", "2"}),
		event("version 2", "/v", "must be 1", edit{"/v", 2}),
		event("another type", "/type", `must be "run.requested"`, edit{"/type", "run.started"}),
		event("eleven rooms", "/link_to", "must have at most 10 items", edit{"/link_to", []any{"spc_" + ulid, "spc_" + ulid, "spc_" + ulid, "spc_" + ulid, "spc_" + ulid, "spc_" + ulid, "spc_" + ulid, "spc_" + ulid, "spc_" + ulid, "spc_" + ulid, "spc_" + ulid}}),
		event("upper-case digest", "/attachments/0/sha256", "must be a SHA-256", edit{"/attachments/0/sha256", strings.Repeat("A", 64)}),

		{"input that is given and cancelled", Event("run.input_given"), "event", []edit{{"/cancelled", true}}, "", "fits more than one"},
		{"input that is neither", Event("run.input_given"), "event", []edit{{"/value", nil}}, "/value", "is required"},
		{"a document without digest", Event("document.accepted"), "event", []edit{{"/sha256", "x"}}, "/sha256", "must be a SHA-256"},
		{"lane at depth 4", Event("lane.opened"), "event", []edit{{"/depth", 4}}, "/depth", "must be at most 3"},
		{"a run event without attempt", Event("run.started"), "event", []edit{{"/attempt", nil}}, "/attempt", "is required"},
	})
}

func hops(n int) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = object{"participant_id": "p"}
	}
	return out
}

// Trap 5: numbers that are integers in another spelling.
func TestIntegersInAnySpelling(t *testing.T) {
	t.Parallel()
	raw := eventWith(t, `"v":1.0`, `"autonomy":2.0`, `"seq":1e0`)
	v, err := canon.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	if err := Validate(RunRequested, v); err != nil {
		t.Errorf("%v", err)
	}
	half, err := canon.Parse(eventWith(t, `"seq":1.5`))
	if err != nil {
		t.Fatal(err)
	}
	if !broken(Validate(RunRequested, half), "/seq", "must be an integer") {
		t.Error("seq of 1.5 passes")
	}
}

// Traps 4 and 6: what the strict reader refuses before any schema.
func TestWhatNeverGetsToASchema(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string][]byte{
		"duplicate": []byte(`{"goal":"a","goal":"b"}`),
		"not UTF-8": []byte("{\"goal\":\"\xff\"}"),
		"2^53":      eventWith(t, `"seq":9007199254740992`),
	} {
		if _, err := canon.Parse(raw); fault.CodeOf(err) != fault.Malformed {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// eventWith replaces members of the sample event by their raw text.
func eventWith(t testing.TB, members ...string) []byte {
	t.Helper()
	v := sampleOf(t, RunRequested, "event")
	for _, m := range members {
		name, _, _ := strings.Cut(m, ":")
		v = v.Without(strings.Trim(name, `"`))
	}
	raw := v.Canonical()
	return append(append(bytes.TrimSuffix(raw, []byte("}")), ","+strings.Join(members, ",")...), '}')
}

// Trap 12: the largest event that is legal.
func TestLargestEvent(t *testing.T) {
	t.Parallel()
	long := func(n int) string { return strings.Repeat("\U0001F600", n) }
	v := sampleOf(t, RunRequested, "event").Any().(map[string]any)
	file := v["attachments"].([]any)[0].(map[string]any)
	file["transcript"] = long(50000)
	var attached, constraints []any
	for range 20 {
		attached = append(attached, file)
		constraints = append(constraints, long(500))
	}
	v["goal"], v["attachments"], v["constraints"] = long(4000), attached, constraints
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if len(raw) < 4_000_000 {
		t.Fatalf("%d bytes is not the largest", len(raw))
	}
	parsed, err := canon.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	if err := Validate(RunRequested, parsed); err != nil {
		t.Error(err)
	}
}
