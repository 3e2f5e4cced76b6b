package canon_test

import (
	"math"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"writ/internal/canon"
	"writ/internal/fault"
)

func TestAccessorsAnswerForTheirKindOnly(t *testing.T) {
	t.Parallel()
	v := parse(t, `{"n":null,"b":true,"i":2e0,"f":1.5,"s":"x","a":[1,2],"o":{"k":"v"},"big":1e21}`)
	type row struct {
		Kind     canon.Kind
		Null     bool
		Bool     any
		Int      any
		Float    any
		String   any
		Elems    int
		Members  int
		Canonica string
	}
	opt := func(x any, ok bool) any {
		if ok {
			return x
		}
		return nil
	}
	got := map[string]row{}
	for _, m := range v.Members() {
		x := m.Value
		b, bok := x.Bool()
		i, iok := x.Int()
		f, fok := x.Float()
		s, sok := x.String()
		got[m.Name] = row{x.Kind(), x.IsNull(), opt(b, bok), opt(i, iok), opt(f, fok), opt(s, sok), len(x.Elems()), len(x.Members()), string(x.Canonical())}
	}
	want := map[string]row{
		"n":   {Kind: canon.NullKind, Null: true, Canonica: "null"},
		"b":   {Kind: canon.Bool, Bool: true, Canonica: "true"},
		"i":   {Kind: canon.Number, Int: int64(2), Float: 2.0, Canonica: "2"},
		"f":   {Kind: canon.Number, Float: 1.5, Canonica: "1.5"},
		"big": {Kind: canon.Number, Float: 1e21, Canonica: "1e+21"},
		"s":   {Kind: canon.String, String: "x", Canonica: `"x"`},
		"a":   {Kind: canon.Array, Elems: 2, Canonica: "[1,2]"},
		"o":   {Kind: canon.Object, Members: 1, Canonica: `{"k":"v"}`},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if v.Str("s") != "x" || v.Str("i") != "" || v.Str("none") != "" || !v.Has("n") || v.Has("none") {
		t.Error("Str or Has")
	}
	if canon.String.String() != "string" || canon.NullKind.String() != "null" || canon.Kind(9).String() != "kind 9" {
		t.Error("names of kinds")
	}
}

func TestConstructorsKeepToIJSON(t *testing.T) {
	t.Parallel()
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1 << 53, -(1 << 53), 1e20, math.Nextafter(1e21, 0)} {
		if _, err := canon.FloatOf(f); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("FloatOf(%v): %v", f, err)
		}
	}
	for f, want := range map[float64]string{1e21: "1e+21", canon.MaxSafe: "9007199254740991", math.Copysign(0, -1): "0", 5e-324: "5e-324"} {
		v, err := canon.FloatOf(f)
		if err != nil || string(v.Canonical()) != want {
			t.Errorf("FloatOf(%v): %s, %v", f, v.Canonical(), err)
		}
	}
	if got := string(canon.StringOf("a\xffb").Canonical()); got != "\"a\ufffdb\"" {
		t.Errorf("StringOf of bytes: %q", got)
	}
	for _, members := range [][]canon.Member{
		{{Name: "a"}, {Name: "a"}},
		{{Name: "b"}, {Name: "a"}, {Name: "b"}},
		{{Name: "\xff"}},
	} {
		if _, err := canon.ObjectOf(members...); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("ObjectOf(%q): %v", members, err)
		}
	}
	for name, f := range map[string]func(){
		"IntOf beyond":     func() { canon.IntOf(canon.MaxSafe + 1) },
		"IntOf below":      func() { canon.IntOf(-canon.MaxSafe - 1) },
		"With on a string": func() { canon.StringOf("").With("a", canon.Null()) },
		"With bad name":    func() { canon.Null().With("\xff", canon.Null()) },
		"MustFrom":         func() { canon.MustFrom(math.NaN()) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s did not panic", name)
				}
			}()
			f()
		}()
	}
}

func TestConstructorsCopyTheirArguments(t *testing.T) {
	t.Parallel()
	elems := []canon.Value{canon.IntOf(1)}
	members := []canon.Member{{Name: "a", Value: canon.IntOf(1)}}
	a := canon.ArrayOf(elems...)
	o, err := canon.ObjectOf(members...)
	if err != nil {
		t.Fatal(err)
	}
	elems[0], members[0].Name = canon.Null(), "z"
	if got := string(a.Canonical()) + string(o.Canonical()); got != `[1]{"a":1}` {
		t.Errorf("changed from outside: %s", got)
	}
}

func TestWithAndWithoutLeaveTheOriginal(t *testing.T) {
	t.Parallel()
	v := parse(t, `{"c":1,"a":2,"b":3}`)
	for got, want := range map[string]string{
		string(v.Without("a").Canonical()):                              `{"b":3,"c":1}`,
		string(v.Without("a", "b", "c", "d").Canonical()):               `{}`,
		string(v.Without().Canonical()):                                 `{"a":2,"b":3,"c":1}`,
		string(v.With("a", canon.Null()).Canonical()):                   `{"a":null,"b":3,"c":1}`,
		string(v.With("aa", canon.IntOf(9)).Canonical()):                `{"a":2,"aa":9,"b":3,"c":1}`,
		string(canon.Null().With("x", canon.BoolOf(false)).Canonical()): `{"x":false}`,
		string(canon.ArrayOf(canon.Null()).Without("a").Canonical()):    `[null]`,
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := string(v.Canonical()); got != `{"a":2,"b":3,"c":1}` {
		t.Errorf("original is now %s", got)
	}
	if v.Members()[0].Name != "c" {
		t.Error("document order lost")
	}
}

func TestEqualIsJSONEquality(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`1`, `1.0`, true}, {`-0`, `0`, true}, {`{"a":1,"b":2}`, `{"b":2,"a":1}`, true}, {`"\u0061"`, `"a"`, true}, {`[]`, `[ ]`, true},
		{`[]`, `{}`, false}, {`[1,2]`, `[2,1]`, false}, {`null`, `false`, false}, {`0`, `false`, false}, {`"1"`, `1`, false}, {`[1]`, `[1,1]`, false},
		{`{"a":1}`, `{"a":2}`, false}, {`{"a":1}`, `{"b":1}`, false}, {`{"a":1}`, `{}`, false}, {`"é"`, "\"e\u0301\"", false}, {`""`, `null`, false},
	} {
		a, b := parse(t, c.a), parse(t, c.b)
		if canon.Equal(a, b) != c.want || b.Equal(a) != c.want {
			t.Errorf("%s == %s: want %v", c.a, c.b, c.want)
		}
	}
}

func TestEqualAgreesWithCanonicalBytes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := values(2).Draw(t, "a")
		b := values(2).Draw(t, "b")
		if same := string(a.Canonical()) == string(b.Canonical()); same != canon.Equal(a, b) {
			t.Errorf("%s, %s", a.Canonical(), b.Canonical())
		}
		if !canon.Equal(a, a) {
			t.Errorf("%s is not itself", a.Canonical())
		}
	})
}

func TestGetFindsEveryMemberOfSmallAndLargeObjects(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-f😀]{0,4}`), 0, 40, rapid.ID[string]).Draw(t, "names")
		members := make([]canon.Member, len(names))
		for i, name := range names {
			members[i] = canon.Member{Name: name, Value: canon.IntOf(int64(i))}
		}
		v, err := canon.ObjectOf(members...)
		if err != nil {
			t.Fatal(err)
		}
		for i, name := range names {
			if got, ok := v.Get(name); !ok || !canon.Equal(got, canon.IntOf(int64(i))) {
				t.Errorf("%q: %s", name, got.Canonical())
			}
		}
		if _, ok := v.Get("absent"); ok {
			t.Error("found what is not there")
		}
	})
}

func TestAt(t *testing.T) {
	t.Parallel()
	v := parse(t, `{"foo":["bar","baz"],"":0,"a/b":1,"m~n":8,"~1":9,"o":{"":{"0":"x"}}}`)
	for pointer, want := range map[string]string{
		"/foo": `["bar","baz"]`, "/foo/0": `"bar"`, "/foo/1": `"baz"`, "/": `0`, "/a~1b": `1`, "/m~0n": `8`, "/~01": `9`, "/o//0": `"x"`,
	} {
		got, ok := v.At(pointer)
		if !ok || string(got.Canonical()) != want {
			t.Errorf("%s: got %s, want %s", pointer, got.Canonical(), want)
		}
	}
	if got, ok := v.At(""); !ok || !canon.Equal(got, v) {
		t.Error("the empty pointer is the whole")
	}
	for _, pointer := range []string{"foo", "/foo/2", "/foo/-", "/foo/01", "/foo/+1", "/foo/1/x", "/foo/", "/a/b", "/m~n", "/m~2", "/foo/99999999999999999999", "/x"} {
		if got, ok := v.At(pointer); ok {
			t.Errorf("%s found %s", pointer, got.Canonical())
		}
	}
	if got := canon.PointerToIndex(canon.PointerTo("/x", "a/b~c"), 3); got != "/x/a~1b~0c/3" {
		t.Errorf("built pointer %s", got)
	}
}

func TestCanonicalCostsOneGrowingBuffer(t *testing.T) {
	v := parse(t, `{"b":[1,2,3,{"c":"text","a":null}],"a":1.5}`)
	buf := make([]byte, 0, 256)
	if n := testing.AllocsPerRun(100, func() { buf = v.AppendCanonical(buf[:0]) }); n > 0 {
		t.Errorf("%v allocations into a buffer that is large enough", n)
	}
}

func BenchmarkParse(b *testing.B) {
	doc := benchDocument(b)
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := canon.Parse(doc); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCanonical(b *testing.B) {
	v := parse(b, string(benchDocument(b)))
	buf := v.Canonical()
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	for b.Loop() {
		buf = v.AppendCanonical(buf[:0])
	}
}

// benchDocument is a journal event of about one KiB.
func benchDocument(b *testing.B) []byte {
	b.Helper()
	trail := make([]canon.Value, 3)
	for i := range trail {
		trail[i] = canon.MustFrom(map[string]any{"participant_id": "agt_01J0000000000000000000000" + strconv.Itoa(i), "kind": "agent", "at": "2026-08-12T00:00:00.000Z"})
	}
	v := canon.MustFrom(map[string]any{
		"v": 1, "type": "run.requested", "event_id": "evt_01J00000000000000000000000", "workspace_id": "ws_01J00000000000000000000000",
		"actor":   map[string]any{"kind": "person", "id": "per_01J00000000000000000000000"},
		"payload": map[string]any{"goal": "make the parser faster without changing what it accepts \n\"at all\"", "autonomy": 2, "budget_s": 1200.5, "trail": trail},
		"links":   []string{"https://example.org/a", "https://example.org/b"}, "idempotency_key": "k-1", "seq": 12345, "ts": "2026-08-12T00:00:00.000Z",
	})
	return v.Canonical()
}

// BenchmarkFrom and BenchmarkDecode turn a Go value with nested structs, maps and
// texts into JSON and back.
func BenchmarkFrom(b *testing.B) {
	d := benchStruct()
	b.ReportAllocs()
	for b.Loop() {
		canon.MustFrom(d)
	}
}

func BenchmarkDecode(b *testing.B) {
	v := canon.MustFrom(benchStruct())
	b.ReportAllocs()
	for b.Loop() {
		var d benched
		if err := v.Decode(&d); err != nil {
			b.Fatal(err)
		}
	}
}

type benched struct {
	Name   string             `json:"name"`
	Labels map[string]string  `json:"labels,omitempty"`
	Facts  map[string]benched `json:"facts,omitempty"`
	Values []float64          `json:"values,omitempty"`
	Slot   *int               `json:"slot,omitempty"`
	Tree   canon.Value        `json:"tree,omitempty"`
}

func benchStruct() benched {
	slot := 3
	d := benched{Name: "example.org/sample/pkg.BenchmarkSum", Values: []float64{1, 2.5, 3e-9}, Slot: &slot, Tree: canon.MustFrom([]int{1, 2}), Facts: map[string]benched{}}
	for i := range 30 {
		d.Facts["fact."+strconv.Itoa(i)] = benched{Name: "observed", Labels: map[string]string{"when": "before", "source": "/proc/stat"}, Values: []float64{0.5}}
	}
	return d
}
