package journal

import (
	"fmt"
	"strings"
	"testing"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/schema"
)

// What is easy to get wrong in the event format, one line each: a change to a
// valid run.requested, and what a reader and a writer must say to it.
func TestTraps(t *testing.T) {
	t.Parallel()
	const yes, no = true, false
	clef := "𝄞" // one code point, two UTF-16 units, four bytes
	file := func(changes doc) doc {
		full := requested()["attachments"].([]any)[0].(doc)
		return doc{"attachments": []any{with(full, changes)}}
	}
	tests := []struct {
		name        string
		change      doc
		read, write bool
	}{
		{"1 newline after an id", doc{"origin": "msg_" + ulid + "\n"}, no, no},
		{"1 newline after an instant", doc{"deadline": "2026-01-02T03:04:05Z\n"}, no, no},
		{"2 relative attachment url", file(doc{"url": "/y"}), no, yes},
		{"2 lower-case t", doc{"deadline": "2026-01-02t03:04:05Z"}, no, no},
		{"2 lower-case z", doc{"deadline": "2026-01-02T03:04:05z"}, no, no},
		{"2 leap second", doc{"deadline": "2016-12-31T23:59:60Z"}, no, no},
		{"2 no seconds", doc{"deadline": "2026-01-02T03:04Z"}, no, no},
		{"2 twelve digits and an offset", doc{"deadline": "2026-01-02T03:04:05.123456789012+02:00"}, yes, yes},
		{"2 29 February of a leap year", doc{"deadline": "2000-02-29T00:00:00Z"}, yes, yes},
		{"2 29 February of another year", doc{"deadline": "1900-02-29T00:00:00Z"}, no, no},
		{"2 31 April", doc{"deadline": "2026-04-31T00:00:00Z"}, no, no},
		{"3 4000 code points in 8000 units", doc{"goal": strings.Repeat(clef, 4000)}, yes, no},
		{"3 4000 units", doc{"goal": strings.Repeat(clef, 2000)}, yes, yes},
		{"3 4001 code points", doc{"goal": strings.Repeat("x", 4001)}, no, no},
		{"4 unknown member", doc{"new_thing": doc{"a": 1}}, yes, yes},
		{"4 unknown member in actor", doc{"actor": doc{"kind": Person, "id": "x", "new_thing": 1}}, yes, yes},
		{"5 integers with a fraction of zero", doc{"autonomy": 2.0, "v": 1.0}, yes, yes},
		{"5 real fraction", doc{"autonomy": 2.5}, no, no},
		{"6 largest seq", doc{"seq": 9007199254740991}, yes, yes},
		{"6 seq of zero", doc{"seq": 0}, no, yes},
		{"7 no key", doc{"idempotency_key": nil}, yes, no},
		{"7 no run", doc{"run_id": nil}, yes, yes},
		{"8 lower-case ulid", doc{"origin": "msg_" + strings.ToLower(ulid)}, no, no},
		{"8 ulid that overflows", doc{"origin": "msg_8ZZZZZZZZZZZZZZZZZZZZZZZZZ"}, no, no},
		{"8 largest ulid", doc{"origin": "msg_7ZZZZZZZZZZZZZZZZZZZZZZZZZ"}, yes, yes},
		{"8 letter outside the alphabet", doc{"origin": "msg_01ARZ3NDEKTSV4RRFFQ69G5FAU"}, no, no},
		{"9 blank goal", doc{"goal": "   "}, yes, no},
		{"9 goal of no-break spaces", doc{"goal": "\u00a0\u2003"}, yes, no},
		{"9 empty trail", doc{"trail": []any{}}, yes, yes},
		{"9 link that comes twice", doc{"link_to": []any{"spc_" + ulid, "spc_" + ulid}}, yes, yes},
		{"9 mime type of a client", file(doc{"mime_type": "<script>"}), yes, yes},
		{"9 null", doc{"label": canon.Null()}, no, no},
		{"10 endless actor id", doc{"actor": doc{"kind": Person, "id": strings.Repeat("x", 5000)}}, yes, yes},
		{"11 a name where ids go", doc{"specialist_id": "tuner"}, yes, yes},
	}
	for _, tc := range tests {
		raw := encode(t, with(requested(), tc.change))
		v, err := canon.Parse(raw)
		if err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		read := CheckWire(v)
		if (read == nil) != tc.read {
			t.Errorf("%s: reading says %v", tc.name, detail(read))
		}
		if oracle := schema.Validate(schema.RunRequested, v); (oracle == nil) != tc.read {
			t.Errorf("%s: the schema says %v", tc.name, detail(oracle))
		}
		if _, err := ParseDraft(raw, person()); (err == nil) != tc.write {
			t.Errorf("%s: writing says %v", tc.name, detail(err))
		}
	}
}

func TestTrapsOfTheDecoder(t *testing.T) {
	t.Parallel()
	full := string(encode(t, requested()))
	for name, raw := range map[string]string{
		"4 two of one name":  strings.Replace(full, `"v":1`, `"v":1,"v":1`, 1),
		"4 not utf-8":        strings.Replace(full, "make it fast", "make it \xfffast", 1),
		"6 seq beyond 2^53":  strings.Replace(full, `"seq":7`, `"seq":9007199254740992`, 1),
		"lone surrogate":     strings.Replace(full, "make it fast", `make it \ud800 fast`, 1),
		"text after the end": full + "x",
	} {
		if _, err := ParseDraft([]byte(raw), person()); fault.CodeOf(err) != fault.Malformed {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ParseDraft([]byte(strings.Replace(full, `"v":1`, `"v":1e0`, 1)), person()); err != nil {
		t.Errorf("5 v as 1e0: %v", err)
	}
}

// 10: ids that the format leaves unbounded have a cap where we write them.
func TestOwnCaps(t *testing.T) {
	t.Parallel()
	p := person()
	p.ID = strings.Repeat("x", 201)
	if _, err := ParseDraft(encode(t, post()), p); fault.CodeOf(err) != fault.Event {
		t.Errorf("actor of 201 characters: %v", err)
	}
	_, err := Compose(IDs{Event: "evt_" + ulid, Workspace: "ws_" + ulid}, Payload{RunRequested, []canon.Member{
		textMember("goal", "x"), textMember("specialist_id", "x"),
		{Name: "trail", Value: canon.MustFrom([]any{doc{"participant_id": strings.Repeat("x", 201)}})},
	}})
	if fault.CodeOf(err) != fault.Event {
		t.Errorf("hop of 201 characters: %v", err)
	}
}

// 12: the largest legal text is more than a client may send at once.
func TestLargestEvent(t *testing.T) {
	t.Parallel()
	rest := with(requested(), doc{"attachments": nil, "goal": strings.Repeat("é", 4000)})
	if raw := encode(t, rest); len(raw) > MaxBytes {
		t.Fatalf("%d bytes without transcripts", len(raw))
	} else if _, err := ParseDraft(raw, person()); err != nil {
		t.Errorf("largest goal: %v", err)
	}
	raw := encode(t, with(post(), doc{"x": ""}))
	room := MaxBytes - len(raw)
	fits := encode(t, with(post(), doc{"x": strings.Repeat("x", room)}))
	if _, err := ParseDraft(fits, person()); err != nil || len(fits) != MaxBytes {
		t.Errorf("%d bytes: %v", len(fits), err)
	}
	if _, err := ParseDraft(append(fits, ' '), person()); fault.CodeOf(err) != fault.TooLarge {
		t.Errorf("one byte more: %v", err)
	}
}

func TestInstants(t *testing.T) {
	t.Parallel()
	for year := range 10000 {
		text := fmt.Sprintf("%04d-02-29T00:00:00Z", year)
		leap := year%400 == 0 || year%4 == 0 && year%100 != 0
		if isInstant(text) != leap {
			t.Fatalf("%s: leap year is %v", text, leap)
		}
	}
	for text, want := range map[string]string{
		"2026-01-02T03:04:05Z":            "2026-01-02T03:04:05.000Z",
		"2026-01-02T03:04:05.6789-23:59":  "2026-01-03T03:03:05.678Z",
		"2026-01-02T03:04:05.9999999999Z": "2026-01-02T03:04:05.999Z",
	} {
		at, ok := ParseInstant(text)
		if got := Stamp(at); !ok || got != want {
			t.Errorf("%s is %s (%v), want %s", text, got, ok, want)
		}
	}
}
