package canon_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/gowebpki/jcs"
	"pgregory.net/rapid"

	"writ/internal/canon"
)

// The bit patterns and texts of RFC 8785, appendix B.
func TestNumbersOfRFC8785(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		bits uint64
		want string
	}{
		{0x0000000000000000, "0"},
		{0x8000000000000000, "0"},
		{0x0000000000000001, "5e-324"},
		{0x8000000000000001, "-5e-324"},
		{0x7fefffffffffffff, "1.7976931348623157e+308"},
		{0xffefffffffffffff, "-1.7976931348623157e+308"},
		{0x4340000000000000, "9007199254740992"},
		{0xc340000000000000, "-9007199254740992"},
		{0x4430000000000000, "295147905179352830000"},
		{0x44b52d02c7e14af5, "9.999999999999997e+22"},
		{0x44b52d02c7e14af6, "1e+23"},
		{0x44b52d02c7e14af7, "1.0000000000000001e+23"},
		{0x444b1ae4d6e2ef4e, "999999999999999700000"},
		{0x444b1ae4d6e2ef4f, "999999999999999900000"},
		{0x444b1ae4d6e2ef50, "1e+21"},
		{0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
		{0x3eb0c6f7a0b5ed8d, "0.000001"},
		{0x41b3de4355555553, "333333333.3333332"},
		{0x41b3de4355555554, "333333333.33333325"},
		{0x41b3de4355555555, "333333333.3333333"},
		{0x41b3de4355555556, "333333333.3333334"},
		{0x41b3de4355555557, "333333333.33333343"},
		{0xbecbf647612f3696, "-0.0000033333333333333333"},
		{0x43143ff3c1cb0959, "1424953923781206.2"},
	} {
		if got := string(canon.AppendNumber(nil, math.Float64frombits(c.bits))); got != c.want {
			t.Errorf("%016x: got %s, want %s", c.bits, got, c.want)
		}
	}
}

func TestNumbersAgreeWithSecondImplementation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return
		}
		want, err := jcs.NumberToJSON(f)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(canon.AppendNumber(nil, f)); got != want {
			t.Errorf("%x: got %s, want %s", math.Float64bits(f), got, want)
		}
	})
}

// One document with every rule at once: key order beyond the BMP, escapes,
// numbers.
func TestCanonicalOrderAndEscapes(t *testing.T) {
	t.Parallel()
	in := `{"\u20ac":"Euro","\r":"CR","\ufb33":"Dalet","1":"One","\ud83d\ude00":"Smile","\u0080":"Control","\u00f6":"o","</script>":"x",
	"n":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"s":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/"}`
	want := `{"\r":"CR","1":"One","</script>":"x",` +
		`"n":[333333333.3333333,1e+30,4.5,0.002,1e-27],"s":"€$\u000f\nA'B\"\\\\\"/",` +
		"\"\u0080\":\"Control\",\"ö\":\"o\",\"€\":\"Euro\",\"😀\":\"Smile\",\"\ufb33\":\"Dalet\"}"
	v, err := canon.Parse([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(v.Canonical()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestKeyOrderIsThatOfUTF16(t *testing.T) {
	t.Parallel()
	runes := rapid.OneOf(rapid.RuneFrom([]rune{'a', 0xD7FF, 0xE000, 0xFFFD, 0x10000, 0x10FFFF}), rapid.Rune())
	word := rapid.StringOf(runes)
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		want := slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		if got := canon.CompareUTF16(a, b); sign(got) != want {
			t.Errorf("%q, %q: got %d, want %d", a, b, got, want)
		}
	})
}

func sign(n int) int { return min(max(n, -1), 1) }

func TestDocumentsAgreeWithSecondImplementation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := values(3).Draw(t, "value")
		text := v.Canonical()
		want, err := jcs.Transform(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if string(text) != string(want) {
			t.Errorf("got %s, want %s", text, want)
		}
		again, err := canon.Parse(text)
		if err != nil || !canon.Equal(v, again) {
			t.Errorf("%s reads back as %s, %v", text, again.Canonical(), err)
		}
	})
}

// values generates JSON values of at most the given depth.
func values(depth int) *rapid.Generator[canon.Value] {
	scalar := rapid.OneOf(
		rapid.Just(canon.Null()),
		rapid.Map(rapid.Bool(), canon.BoolOf),
		rapid.Map(rapid.String(), canon.StringOf),
		rapid.Map(rapid.Int64Range(-canon.MaxSafe, canon.MaxSafe), canon.IntOf),
		rapid.Custom(func(t *rapid.T) canon.Value {
			f := rapid.Float64().Filter(func(f float64) bool { _, err := canon.FloatOf(f); return err == nil }).Draw(t, "f")
			v, _ := canon.FloatOf(f)
			return v
		}),
	)
	if depth == 0 {
		return scalar
	}
	return rapid.OneOf(scalar,
		rapid.Map(rapid.SliceOfN(values(depth-1), 0, 5), func(e []canon.Value) canon.Value { return canon.ArrayOf(e...) }),
		rapid.Map(rapid.MapOfN(rapid.String(), values(depth-1), 0, 12), func(m map[string]canon.Value) canon.Value {
			members := make([]canon.Member, 0, len(m))
			for name, v := range m {
				members = append(members, canon.Member{Name: strings.ToValidUTF8(name, "?"), Value: v})
			}
			v, err := canon.ObjectOf(members...)
			if err != nil {
				return canon.Null()
			}
			return v
		}),
	)
}
