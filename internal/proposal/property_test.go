package proposal

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"writ/internal/canon"
	"writ/internal/fault"
)

// mutate changes exactly one member (or element) somewhere in v: another value,
// gone, or added.
func mutate(t *rapid.T, v canon.Value) canon.Value {
	switch v.Kind() {
	case canon.Object:
		members := v.Members()
		i := rapid.IntRange(-1, len(members)-1).Draw(t, "member")
		if i < 0 {
			return v.With(rapid.StringMatching(`[a-z]{1,8}(/[a-z]{1,4})?x`).Draw(t, "name"), canon.IntOf(1))
		}
		m := members[i]
		if rapid.IntRange(0, 5).Draw(t, "remove") == 0 {
			return v.Without(m.Name)
		}
		return v.With(m.Name, mutate(t, m.Value))
	case canon.Array:
		list := append([]canon.Value{}, v.Elems()...)
		if len(list) == 0 || rapid.IntRange(0, 4).Draw(t, "grow") == 0 {
			return canon.ArrayOf(append(list, canon.StringOf("more"))...)
		}
		i := rapid.IntRange(0, len(list)-1).Draw(t, "element")
		if rapid.IntRange(0, 4).Draw(t, "drop") == 0 {
			return canon.ArrayOf(append(list[:i], list[i+1:]...)...)
		}
		list[i] = mutate(t, list[i])
		return canon.ArrayOf(list...)
	case canon.String:
		s, _ := v.String()
		r := []rune(s)
		if len(r) > 0 && rapid.Bool().Draw(t, "one letter") {
			i := rapid.IntRange(0, len(r)-1).Draw(t, "letter")
			r[i] = rapid.RuneFrom([]rune("AQgwaz09-_:/ zé\u00a0")).Draw(t, "rune")
			return canon.StringOf(string(r))
		}
		return canon.StringOf(rapid.String().Draw(t, "text"))
	case canon.Number:
		n, _ := v.Int()
		return canon.IntOf(n + rapid.Int64Range(-2, 2).Draw(t, "delta"))
	case canon.Bool:
		b, _ := v.Bool()
		return canon.BoolOf(!b)
	}
	return canon.StringOf("not null")
}

// TestMutationIsRefused: whoever changes a member of a document without its key
// is caught by Open.
func TestMutationIsRefused(t *testing.T) {
	t.Parallel()
	docs := newChain().documents()
	rapid.Check(t, func(t *rapid.T) {
		d := docs[rapid.IntRange(0, len(docs)-1).Draw(t, "document")]
		v := mutate(t, d.Value)
		if canon.Equal(v, d.Value) {
			return // nothing changed
		}
		if _, err := Open(d.Kind, v.Canonical()); err == nil {
			t.Fatalf("accepted: %s", v.Canonical())
		}
	})
}

// TestResignedMutationIsRefused: whoever changes a member of a chain document
// with its right key, and gives it a right ref, is caught by Open or because the
// other documents name the bytes of before.
func TestResignedMutationIsRefused(t *testing.T) {
	t.Parallel()
	c := newChain()
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]Kind{KindProposal, KindReview, KindDecision}).Draw(t, "kind")
		old := map[Kind]Document{KindProposal: c.proposal.Document, KindReview: c.review.Document, KindDecision: c.decision.Document}[kind]
		v := mutate(t, old.Value.Without("signature"))
		raw := forge(kind, v, c.keyOf(kind))
		if bytes.Equal(raw, old.Raw) {
			return // nothing changed
		}
		d, err := Open(kind, raw)
		if err != nil {
			return
		}
		p, r, x := c.proposal, c.review, c.decision
		switch kind {
		case KindProposal:
			p = must(AsProposal(d))
		case KindReview:
			r = must(AsReview(d))
		case KindDecision:
			x = must(AsDecision(d))
		}
		if err := RelateExecution(p, r, x, c.execution); err == nil {
			t.Fatalf("accepted: %s", raw)
		}
		if kind == KindDecision {
			return // a chair may sign another decision; the record then names the old one
		}
		if err := Relate(p, r, x, at(30)); err == nil {
			t.Fatalf("related: %s", raw)
		}
	})
}

// TestByteFlipIsRefused: no byte of an accepted document can be another one.
func TestByteFlipIsRefused(t *testing.T) {
	t.Parallel()
	docs := newChain().documents()
	rapid.Check(t, func(t *rapid.T) {
		d := docs[rapid.IntRange(0, len(docs)-1).Draw(t, "document")]
		raw := bytes.Clone(d.Raw)
		i := rapid.IntRange(0, len(raw)-1).Draw(t, "offset")
		raw[i] ^= byte(rapid.IntRange(1, 255).Draw(t, "flip"))
		if _, err := Open(d.Kind, raw); err == nil {
			t.Fatalf("byte %d of %s may be %q", i, d.Kind, raw[i])
		}
	})
}

// TestEveryByteOfOneProposal is the same for each byte of one document, without
// chance.
func TestEveryByteOfOneProposal(t *testing.T) {
	t.Parallel()
	raw := newChain().proposal.Raw
	for i := range raw {
		raw[i] ^= 1 << (i % 7)
		if _, err := Open(KindProposal, raw); err == nil {
			t.Errorf("byte %d may be %q", i, raw[i])
		}
		raw[i] ^= 1 << (i % 7)
	}
}

// FuzzOpen: whatever comes in, Open gives a fault with a known code or a
// document that opens again from its own canonical bytes.
func FuzzOpen(f *testing.F) {
	kinds := Kinds()
	for i, d := range newChain().documents() {
		f.Add(uint8(i), d.Raw)
	}
	f.Add(uint8(3), []byte(`{"schema/v":2}`))
	f.Add(uint8(6), []byte(`{"schema/v":1,"signature":{"value":null}}`))
	f.Fuzz(func(t *testing.T, n uint8, raw []byte) {
		row := kinds[int(n)%len(kinds)]
		d, err := Open(row.Kind, raw)
		if err != nil {
			if code := fault.CodeOf(err); !code.Known() || code == fault.Internal {
				t.Fatalf("%s: %v", code, err)
			}
			return
		}
		again, err := Open(row.Kind, d.Canonical())
		if err != nil || again.Ref != d.Ref || again.Digest() != d.Digest() {
			t.Fatalf("not stable: %v", err)
		}
		_ = d.Current(start)
	})
}
