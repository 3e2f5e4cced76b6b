package landing

import (
	"testing"

	"writ/internal/canon"
	"writ/internal/schema"
)

// FuzzParse: whatever the reader takes is exactly what it writes, is valid by
// the published schema and by the independent checker, and can be worked with.
func FuzzParse(f *testing.F) {
	v := vectors(f)
	for _, m := range at(f, v, "/snapshots").Members() {
		f.Add(m.Value.Canonical())
	}
	f.Add(at(f, v, "/expiryTerminal/recoveredState").Canonical())
	for _, d := range Dialects() {
		k := newDesk(f, d, policy(2, 2, 3))
		travel(k)
		f.Add(must(k.s.Value())(f).Canonical())
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		parsed, err := canon.Parse(raw)
		if err != nil {
			return
		}
		if parsed.Kind() == canon.Object { // let the fuzzer change members, not guess roots
			parsed = parsed.Without("stateRoot")
			parsed = parsed.With("stateRoot", canon.StringOf(canon.Root(parsed)))
		}
		s, err := Normalise(parsed, ReadParams{})
		if err != nil {
			return
		}
		back := must(s.Value())(t)
		if !canon.Equal(back, parsed) {
			t.Fatalf("read %s\nwrote %s", parsed.Canonical(), back.Canonical())
		}
		id := schema.DeliveryAuthority
		if s.Dialect() == Writ1 {
			id = schema.WritAuthority
		}
		if err := schema.Validate(id, parsed); err != nil {
			t.Fatalf("accepted against the schema: %v", err)
		}
		if wrong := independent(parsed.Any().(map[string]any)); wrong != "" {
			t.Fatalf("accepted against the rules: %s", wrong)
		}
		if _, err := Recover(s, s.UpdatedAt.Time()); err != nil {
			t.Fatalf("accepted but not workable: %v", err)
		}
	})
}

// FuzzDocuments: no kept document makes a reader panic, and what one takes has
// the root that it says.
func FuzzDocuments(f *testing.F) {
	for _, d := range Dialects() {
		j := travel(newDesk(f, d, policy(2, 2, 3)))
		for _, v := range []canon.Value{j.docs.SourceProof, j.docs.NativeProof, j.docs.Contract, j.docs.Receipt, j.admission, j.readback} {
			f.Add(v.Canonical())
		}
		for _, o := range j.operations {
			f.Add(must(o.Value())(f).Canonical())
		}
	}
	f.Add(at(f, vectors(f), "/nativeFailure").Canonical())
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, err := canon.Parse(raw)
		if err != nil {
			return
		}
		if p, err := ParseSourceProof(v); err == nil {
			_, again, err := BuildSourceProof(p)
			sameDocument(t, v, must(again, err)(t))
		}
		if p, err := ParseNativeProof(v); err == nil {
			_, again, err := BuildNativeProof(p)
			sameDocument(t, v, must(again, err)(t))
		}
		if r, err := openReadback(v); err == nil {
			sameDocument(t, v, r.Document())
			if r.view.Root != canon.Root(v.Without("readbackRoot")) {
				t.Fatal("readback root")
			}
		}
		if o, err := ParseOperation(v); err == nil {
			sameDocument(t, v, must(o.Value())(t))
			s := must(Create(CreateParams{Dialect: Writ1, Repository: "acme/widgets", ProtectedBase: "main"}, second(0)))(t)
			_, _ = Replay(s, o) // must not panic
		}
		_, _, _ = ParseProducer(v)
		_, _, _ = ParseAdmission(v)
		_, _, _ = ParseQualificationReceipt(v)
		_, _ = ParseContract(v)
		_, _ = ParseArchived(v)
		_, _ = ParseNativeFailure(v)
		_, _ = ParseFailureSettlement(v)
		_, _ = ParseGrant(v)
		_, _ = ParseAttempt(v)
		_, _ = ParseMovedBaseEvidence(v)
		_, _ = ParseSettlementEvidence(v)
	})
}

func sameDocument(t *testing.T, a, b canon.Value) {
	t.Helper()
	if !canon.Equal(a, b) {
		t.Fatalf("read %s\nwrote %s", a.Canonical(), b.Canonical())
	}
}
