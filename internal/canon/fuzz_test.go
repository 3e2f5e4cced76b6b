package canon_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/gowebpki/jcs"

	"writ/internal/canon"
	"writ/internal/fault"
)

// FuzzParse: the parser never panics; what it accepts has a canonical form that
// reads back equal and is its own canonical form, and a second implementation
// agrees on it; what only it refuses, it refuses for a reason of ours.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"b":[1,-0,1.5e300,true,null],"a":"\ud83d\ude00\u0007"}`, `"\ud800"`, `{"a":1,"a":2}`, "\"\xff\"", "\uFEFF{}",
		`[1e21,9007199254740991,9007199254740992,1e-7,5e-324]`, `{"\uE000":1,"😀":2}`, `[[[[]]]] x`, `01`, `-`, `{"a":{"b":{"c":[{}]}}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		v, err := canon.Parse(in)
		theirs, jcsErr := jcs.Transform(in)
		if err != nil {
			e, ok := fault.As(err)
			if !ok {
				t.Fatalf("not a fault: %v", err)
			}
			if at, ok := e.ByteOffset(); !ok || at < 0 || at > int64(len(in)) {
				t.Fatalf("offset %d of %d bytes", at, len(in))
			}
			if jcsErr == nil && !ours(e) {
				t.Fatalf("refused %q (%v), the second implementation reads %s", in, err, theirs)
			}
			return
		}
		out := v.Canonical()
		if jcsErr != nil || !bytes.Equal(out, theirs) {
			t.Fatalf("%q: got %s, second implementation %s, %v", in, out, theirs, jcsErr)
		}
		if !json.Valid(in) || !json.Valid(out) {
			t.Fatalf("accepted what is not JSON: %q", in)
		}
		again, err := canon.Parse(out)
		if err != nil || !canon.Equal(v, again) || !bytes.Equal(again.Canonical(), out) {
			t.Fatalf("%q: %s is no fixed point: %v", in, out, err)
		}
		roundTrip, err := canon.From(v.Any())
		if err != nil || !canon.Equal(v, roundTrip) {
			t.Fatalf("%q: through Go values: %s, %v", in, roundTrip.Canonical(), err)
		}
	})
}

// ours reports whether e is a rule that RFC 8785 leaves to others.
func ours(e *fault.Error) bool {
	return e.Code == fault.TooLarge || e.Public == "integer beyond 2^53-1" || e.Public == "nested too deeply" ||
		strings.HasSuffix(e.Public, "comes twice")
}

// FuzzDigests: every accepted spelling is the one that is written back.
func FuzzDigests(f *testing.F) {
	d := canon.Sum(nil)
	for _, s := range []string{d.Hex(), d.Base64(), d.String(), "x:sha256:" + d.Base64(), "", "sha256:"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if d, err := canon.ParseHex(s); err == nil && d.Hex() != s {
			t.Errorf("hex %q", s)
		}
		if d, err := canon.ParseBase64(s); err == nil && d.Base64() != s {
			t.Errorf("base64 %q", s)
		}
		if d, err := canon.ParseRoot(s); err == nil && d.String() != s {
			t.Errorf("root %q", s)
		}
		if d, err := canon.ParseRef("x", s); err == nil && "x:sha256:"+d.Base64() != s {
			t.Errorf("ref %q", s)
		}
	})
}

// FuzzAt: pointers never panic, and a pointer built from what is there finds
// it.
func FuzzAt(f *testing.F) {
	f.Add([]byte(`{"a/b":[{"~":1}]}`), "/a~1b/0/~0")
	f.Add([]byte(`[[1]]`), "/0/00")
	f.Fuzz(func(t *testing.T, in []byte, pointer string) {
		v, err := canon.Parse(in)
		if err != nil {
			return
		}
		v.At(pointer)
		for _, m := range v.Members() {
			if got, ok := v.At(canon.PointerTo("", m.Name)); !ok || !canon.Equal(got, m.Value) {
				t.Errorf("%q of %s not found by its pointer", m.Name, in)
			}
		}
	})
}
