package journal

import (
	"math/rand/v2"
	"strings"
	"testing"

	"writ/internal/canon"
	"writ/internal/schema"
)

// generator makes wire forms from the tables: mostly right, often at a limit,
// sometimes wrong in one of many ways.
type generator struct{ *rand.Rand }

func (g generator) one(in int) bool { return g.IntN(in) == 0 }

func pick[T any](g generator, from ...T) T { return from[g.IntN(len(from))] }

// wrong is a value that hardly any member takes.
func (g generator) wrong() any {
	return pick[any](g, canon.Null(), true, -1, 1.5, 0, "", "x", []any{}, []any{"x"}, doc{}, doc{"a": 1}, 1e300)
}

func (g generator) object(m *members) doc {
	out := doc{}
	for i, f := range m.list {
		must := m.must[wire]&(1<<i) != 0
		switch {
		case must && g.one(300), !must && g.one(3):
			continue
		case g.one(200):
			out[f.name] = g.wrong()
		default:
			out[f.name] = g.value(&f.shape)
		}
	}
	if g.one(4) {
		out["zz_unknown"] = g.wrong()
	}
	return out
}

func (g generator) value(s *shape) any {
	switch s.kind {
	case constant:
		if g.one(50) {
			return s.min + 1
		}
		return s.min
	case textual:
		return g.text(s)
	case identifier:
		return g.id(s)
	case integral:
		if g.one(50) {
			return pick(g, s.min-1, min(s.max+1, canon.MaxSafe))
		}
		return pick(g, s.min, s.max)
	case numeric:
		if g.one(50) {
			return pick(g, float64(s.min)-0.5, float64(s.max)+1)
		}
		return pick(g, float64(s.min), float64(s.max), float64(s.max)/3)
	case boolean:
		return g.one(2)
	case word:
		if g.one(50) {
			return pick(g, "", "X", s.words[0]+"\n")
		}
		return pick(g, s.words...)
	case instant:
		return g.instant()
	case address:
		if g.one(30) {
			return pick(g, "/y", "", "http://a b", "%zz", "x:%2", "http://é")
		}
		return pick(g, "https://example.org/a", "a:b", "http://[::1]/", "urn:x")
	case hexSum:
		if g.one(50) {
			return pick(g, strings.Repeat("0A", 32), strings.Repeat("0", 63), "")
		}
		return pick(g, strings.Repeat("0a", 32), strings.Repeat("f9", 32))
	case listing:
		n := pick(g, 0, 1, 1, 2)
		if g.one(20) {
			n = pick(g, int(s.max), int(s.max)+1)
		}
		out := make([]any, n)
		for i := range out {
			out[i] = g.value(s.item)
		}
		return out
	case object:
		if s.members != nil {
			return g.object(s.members)
		}
		return doc{"a": g.wrong()}
	}
	return g.wrong()
}

func (g generator) text(s *shape) any {
	glyph := pick(g, "x", "é", "漢", "😀", " ")
	limit := int(s.max)
	if limit == 0 {
		limit = 300
	}
	n := max(1, int(s.min))
	if g.one(4) && (limit < 5000 || g.one(20)) {
		n = pick(g, limit/2, limit, limit)
	}
	if g.one(80) {
		n = pick(g, limit+1, 0)
	}
	return strings.Repeat(glyph, n)
}

func (g generator) id(s *shape) any {
	good := string(s.prefix) + ulid
	if !g.one(80) {
		return good
	}
	return pick(g, good+"\n", string(s.prefix)+strings.ToLower(ulid), string(s.prefix)+"8"+ulid[1:], ulid, good[:len(good)-1], good+"0",
		string(s.prefix)+"7"+strings.Repeat("Z", 25), string(s.prefix)+strings.Repeat("I", 26), "evt_"+ulid, strings.ToUpper(good))
}

func (g generator) instant() any {
	if !g.one(6) {
		return pick(g, "2024-02-29", "2000-02-29", "2026-12-31", "0000-01-01") + "T23:59:59" + pick(g, "", ".1", ".123456789012") + pick(g, "Z", "+02:00", "-23:59")
	}
	b := []byte(pick(g, "2026-01-02", "1900-02-29", "2025-02-29", "2026-04-31", "2026-13-01", "0000-02-29", "2026-00-10") +
		"T" + pick(g, "03:04:05", "24:00:00", "23:59:60", "00:60:00"))
	if g.one(3) {
		b[g.IntN(len(b))] = pick[byte](g, '0', '9', 't', ' ', ':')
	}
	return string(b) + pick(g, "", ".1", ".") + pick(g, "Z", "Z", "Z", "+24:00", "z", "", "+0200", "Z\n")
}

// Both must agree on every input. The one known difference is on the side of
// writing, where text is counted in UTF-16 units.
func TestHandRulesAgreeWithTheSchema(t *testing.T) {
	t.Parallel()
	valid := compare(t, generator{rand.New(rand.NewPCG(1, 2))}, RunRequested, 10_000, func(v canon.Value) error {
		return schema.Validate(schema.RunRequested, v)
	})
	if valid < 500 || valid > 9_500 {
		t.Errorf("%d of 10000 inputs are valid: the generator proves little", valid)
	}
}

func TestHandRulesAgreeWithTheSchemasOfAllTypes(t *testing.T) {
	t.Parallel()
	total := 0
	for i, name := range Types() {
		if !schema.Has(schema.Event(name)) {
			t.Errorf("%s has no schema", name)
			continue
		}
		total += compare(t, generator{rand.New(rand.NewPCG(uint64(i), 3))}, name, 250, func(v canon.Value) error {
			return schema.Validate(schema.Event(name), v)
		})
	}
	if total < 1000 {
		t.Errorf("%d valid inputs over all types: the generator proves little", total)
	}
}

func compare(t *testing.T, g generator, name string, n int, oracle func(canon.Value) error) (valid int) {
	t.Helper()
	table := catalogue[name].body
	for range n {
		sample := g.object(table)
		if g.one(20) { // the type is what chooses the table, so it stays
			sample["v"] = pick[any](g, "1", 1.0, 2)
		}
		sample["type"] = name
		v, err := canon.Parse(encode(t, sample))
		if err != nil {
			t.Fatalf("the generator makes no strict JSON: %v", err)
		}
		hand, want := CheckWire(v), oracle(v)
		if (hand == nil) != (want == nil) {
			t.Fatalf("%s: by hand %v, by schema %v, for\n%s", name, detail(hand), detail(want), v.Canonical())
		}
		if want == nil {
			valid++
		}
	}
	return valid
}
