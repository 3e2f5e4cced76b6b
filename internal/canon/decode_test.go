package canon_test

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"writ/internal/canon"
	"writ/internal/fault"
)

func TestDecodeFillsGoTypes(t *testing.T) {
	t.Parallel()
	text := `{"id":"i","name":"n","opt":"o","nums":[1,2.5],"map":{"a":1},"in":{"x":1e0,"Y":2},"ptr":{"x":3,"Y":4},"tree":{"b":1,"a":2},
		"raw":{"b":1.0,"a":[]},"bytes":"aGk=","any":[1,{"k":null}],"when":"2026-08-12T00:00:00.005Z",
		"digest":"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","pair":[3,4],
		"ages":{"sha256:0000000000000000000000000000000000000000000000000000000000000000":true}}`
	got := outer{Opt: "stale", Secret: "stale"}
	if err := parse(t, text).Decode(&got); err != nil {
		t.Fatal(err)
	}
	want := outer{
		base: base{ID: "i"}, Name: "n", Opt: "o", Nums: []float64{1, 2.5}, Map: map[string]int{"a": 1}, In: inner{1, 2}, Ptr: &inner{3, 4},
		Tree: parse(t, `{"b":1,"a":2}`), Raw: json.RawMessage(`{"a":[],"b":1}`), Bytes: []byte("hi"),
		Any: []any{json.Number("1"), map[string]any{"k": nil}}, When: time.Date(2026, 8, 12, 0, 0, 0, 5e6, time.UTC), Digest: canon.Sum(nil), Pair: [2]uint8{3, 4},
		Ages: map[canon.Digest]bool{{}: true},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(outer{}, base{})); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if got.Tree.Members()[0].Name != "b" {
		t.Error("the kept tree lost its order")
	}
}

func TestDecodeNullGoesWhereGoHasNil(t *testing.T) {
	t.Parallel()
	x := outer{Nums: []float64{1}, Map: map[string]int{"a": 1}, Ptr: &inner{}, Tree: canon.BoolOf(true), Any: 1}
	if err := parse(t, `{"nums":null,"map":null,"ptr":null,"tree":null,"any":null}`).Decode(&x); err != nil {
		t.Fatal(err)
	}
	if x.Nums != nil || x.Map != nil || x.Ptr != nil || !x.Tree.IsNull() || x.Any != nil {
		t.Errorf("kept: %+v", x)
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for text, pointer := range map[string]string{
		`{"id":1}`:                   "/id",
		`{"id":null}`:                "/id",
		`{"ID":"x"}`:                 "/ID",
		`{"Secret":"x"}`:             "/Secret",
		`{"unseen":1}`:               "/unseen",
		`{"in":{"x":1,"y":2}}`:       "/in/y",
		`{"in":{"x":1.5}}`:           "/in/x",
		`{"in":{"x":1e21}}`:          "/in/x",
		`{"in":null}`:                "/in",
		`{"in":[]}`:                  "/in",
		`{"nums":[1,"2"]}`:           "/nums/1",
		`{"nums":{"0":1}}`:           "/nums",
		`{"map":{"a/b":"x"}}`:        "/map/a~1b",
		`{"map":[]}`:                 "/map",
		`{"pair":[1]}`:               "/pair",
		`{"pair":[1,256]}`:           "/pair/1",
		`{"pair":[1,-1]}`:            "/pair/1",
		`{"bytes":"aGk"}`:            "/bytes",
		`{"bytes":"aGl="}`:           "/bytes",
		`{"bytes":"aG k="}`:          "/bytes",
		`{"when":"yesterday"}`:       "/when",
		`{"when":null}`:              "/when",
		`{"digest":5}`:               "/digest",
		`{"digest":"sha256:00"}`:     "/digest",
		`[]`:                         "",
		`{"ages":{"sha256:x":true}}`: "/ages/sha256:x",
	} {
		x := outer{Opt: "before"}
		err := parse(t, text).Decode(&x)
		e, ok := fault.As(err)
		if !ok || e.Code != fault.Invalid || e.Pointer != pointer {
			t.Errorf("%s: %v", text, err)
		}
		if x.Opt != "before" {
			t.Errorf("%s: a refused document changed the destination", text)
		}
	}
	var notPointer outer
	for _, dst := range []any{nil, notPointer, (*outer)(nil)} {
		if err := canon.Null().Decode(dst); fault.CodeOf(err) != fault.Internal {
			t.Errorf("destination %T: %v", dst, err)
		}
	}
	var narrow struct {
		F float32      `json:"f"`
		C chan int     `json:"c"`
		E error        `json:"e"`
		B bool         `json:"b"`
		N json.Number  `json:"n"`
		K map[int]bool `json:"k"`
	}
	for _, text := range []string{`{"f":1e300}`, `{"c":1}`, `{"e":"x"}`, `{"b":0}`, `{"n":"1"}`, `{"k":{"1":true}}`} {
		if err := parse(t, text).Decode(&narrow); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := parse(t, `{"f":0.5,"b":true,"n":1.50}`).Decode(&narrow); err != nil || narrow.F != 0.5 || !narrow.B || narrow.N != "1.5" {
		t.Errorf("%+v, %v", narrow, err)
	}
}

// A document that came from a Go value fills an equal Go value.
func TestFromAndDecodeAreInverse(t *testing.T) {
	t.Parallel()
	type doc struct {
		S string            `json:"s"`
		I int64             `json:"i"`
		F float64           `json:"f"`
		L []string          `json:"l"`
		M map[string][]bool `json:"m"`
		P *uint32           `json:"p"`
		O string            `json:"o,omitempty"`
	}
	text := rapid.String()
	rapid.Check(t, func(t *rapid.T) {
		in := doc{
			S: text.Draw(t, "s"), I: rapid.Int64Range(-canon.MaxSafe, canon.MaxSafe).Draw(t, "i"),
			F: rapid.Float64Range(-1e15, 1e15).Draw(t, "f"), L: rapid.SliceOf(text).Draw(t, "l"),
			M: rapid.MapOf(text, rapid.SliceOf(rapid.Bool())).Draw(t, "m"), P: rapid.Ptr(rapid.Uint32(), true).Draw(t, "p"), O: text.Draw(t, "o"),
		}
		v, err := canon.From(in)
		if err != nil {
			t.Fatal(err)
		}
		var out doc
		if err := v.Decode(&out); err != nil {
			t.Fatal(err)
		}
		if in.F == 0 && math.Signbit(in.F) {
			in.F = 0
		}
		if !reflect.DeepEqual(in, out) {
			t.Errorf("in %+v\nout %+v", in, out)
		}
	})
}

// FuzzDecode: no document makes Decode panic, and what it takes from an object
// is what From writes back.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"id":"i","in":{"x":1,"Y":2},"ptr":null,"tree":[1],"any":{"a":1},"when":"2026-08-12T00:00:00Z"}`))
	f.Add([]byte(`{"raw":{"a":[1]},"bytes":"aGk=","pair":[1,2],"nums":[1e300],"map":{"a":1}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		v, err := canon.Parse(in)
		if err != nil {
			return
		}
		var x outer
		if err := v.Decode(&x); err != nil {
			if e, ok := fault.As(err); !ok || e.Code != fault.Invalid && e.Code != fault.Spelling {
				t.Fatalf("%s: %v", in, err)
			}
			return
		}
		back, err := canon.From(x)
		if err != nil {
			t.Fatalf("%s: decoded, but cannot be written: %v", in, err)
		}
		for _, m := range v.Members() {
			if m.Name == "when" || m.Value.IsNull() || m.Value.Len() == 0 && m.Value.Kind() != canon.Number {
				continue // times have several spellings; empty things may be left out
			}
			if got, _ := back.Get(m.Name); !canon.Equal(got, m.Value) {
				t.Errorf("%s: %s came back as %s", in, m.Value.Canonical(), got.Canonical())
			}
		}
	})
}
