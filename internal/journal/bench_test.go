package journal

import (
	"strings"
	"testing"
	"time"

	"writ/internal/canon"
	"writ/internal/ledger"
)

// oneKilobyte is a run.requested of about 1 kB in its wire form.
func oneKilobyte(b *testing.B) []byte {
	d := with(requested(), doc{"attachments": nil})
	d["goal"] = strings.Repeat("x", 1024-len(encode(b, d))+len("make it fast"))
	return encode(b, d)
}

func BenchmarkCheck(b *testing.B) {
	raw := oneKilobyte(b)
	v := value(b, raw)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if err := CheckWire(v); err != nil {
			b.Fatal(detail(err))
		}
	}
}

func BenchmarkParse(b *testing.B) {
	raw := oneKilobyte(b)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := canon.Parse(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseDraft(b *testing.B) {
	raw := oneKilobyte(b)
	p := person()
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseDraft(raw, p); err != nil {
			b.Fatal(detail(err))
		}
	}
}

// BenchmarkAppend is everything that a plain event costs before the store.
func BenchmarkAppend(b *testing.B) {
	raw := encode(b, with(post(), doc{"body": strings.Repeat("x", 800)}))
	p := person()
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		d, err := ParseDraft(raw, p)
		if err != nil {
			b.Fatal(detail(err))
		}
		e := d.Stored(Fill{ID: "evt_" + ulid, Set: []canon.Member{textMember("message_id", "msg_"+ulid)}})
		Wire(ledger.Event{Seq: 1, TS: time.Unix(0, 0), Body: e.Body})
	}
}
