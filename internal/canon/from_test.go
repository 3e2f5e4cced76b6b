package canon_test

import (
	"encoding/json"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"writ/internal/canon"
	"writ/internal/fault"
)

type inner struct {
	X int `json:"x"`
	Y int // keeps its Go name
}

type base struct {
	ID   string `json:"id"`
	Name string `json:"name"` // hidden by outer
}

type outer struct {
	base
	Name   string                `json:"name"`
	Opt    string                `json:"opt,omitempty"`
	Nums   []float64             `json:"nums"`
	Map    map[string]int        `json:"map"`
	In     inner                 `json:"in"`
	Ptr    *inner                `json:"ptr"`
	Tree   canon.Value           `json:"tree"`
	Skip   canon.Value           `json:"skip,omitempty"`
	Raw    json.RawMessage       `json:"raw,omitempty"`
	Bytes  []byte                `json:"bytes,omitempty"`
	Any    any                   `json:"any"`
	When   time.Time             `json:"when,omitzero"`
	Digest canon.Digest          `json:"digest,omitzero"`
	Pair   [2]uint8              `json:"pair"`
	Ages   map[canon.Digest]bool `json:"ages,omitempty"`
	Secret string                `json:"-"`
	unseen int
}

func TestFromFollowsTags(t *testing.T) {
	t.Parallel()
	zero, err := canon.Marshal(outer{Secret: "s", unseen: 1})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"any":null,"id":"","in":{"Y":0,"x":0},"map":{},"name":"","nums":[],"pair":[0,0],"ptr":null,"tree":null}`
	if diff := cmp.Diff(want, string(zero)); diff != "" {
		t.Errorf("zero value, -want +got\n%s", diff)
	}
	full, err := canon.Marshal(&outer{
		base: base{ID: "i", Name: "hidden"}, Name: "n", Opt: "o", Nums: []float64{1, -0.5}, Map: map[string]int{"b": 2, "a": 1},
		Ptr: &inner{1, 2}, Tree: parse(t, `[1]`), Skip: canon.BoolOf(false), Raw: json.RawMessage(` {"z":1, "a":1e2} `), Bytes: []byte("hi"),
		Any: []any{1, "x", nil, json.Number("1.0")}, When: time.Date(2026, 8, 12, 0, 0, 0, 5e6, time.UTC), Digest: canon.Sum(nil), Pair: [2]uint8{3, 4},
		Ages: map[canon.Digest]bool{{}: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	want = `{"ages":{"sha256:0000000000000000000000000000000000000000000000000000000000000000":true},"any":[1,"x",null,1],"bytes":"aGk=",` +
		`"digest":"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","id":"i","in":{"Y":0,"x":0},"map":{"a":1,"b":2},` +
		`"name":"n","nums":[1,-0.5],"opt":"o","pair":[3,4],"ptr":{"Y":2,"x":1},"raw":{"a":100,"z":1},"skip":false,"tree":[1],"when":"2026-08-12T00:00:00.005Z"}`
	if diff := cmp.Diff(want, string(full)); diff != "" {
		t.Errorf("full value, -want +got\n%s", diff)
	}
	for want, x := range map[string]any{
		`null`: nil, `[1]`: parse(t, `[1]`), `0.1`: float32(0.1), `"a"`: "a",
		`{"a":[{}]}`: map[string]any{"a": []map[string]any{nil}},
	} {
		if got, err := canon.Marshal(x); err != nil || string(got) != want {
			t.Errorf("%v: got %s, %v", x, got, err)
		}
	}
}

type failing struct{}

func (failing) MarshalText() ([]byte, error) { return nil, errors.New("not today") }

type loop struct {
	Next *loop `json:"next"`
}

func TestFromRefusesWhatJSONWouldNotKeep(t *testing.T) {
	t.Parallel()
	round := &loop{}
	round.Next = round
	for name, c := range map[string]struct {
		x       any
		pointer string
	}{
		"NaN":             {map[string]any{"a": []float64{0, math.NaN()}}, "/a/1"},
		"infinity":        {math.Inf(1), ""},
		"large float":     {[]float64{1e17}, "/0"},
		"large int":       {struct{ N int64 }{1 << 53}, "/N"},
		"large uint":      {[]uint64{1 << 63}, "/0"},
		"bytes as text":   {map[string]string{"k/": "\xff"}, "/k~1"},
		"bytes as name":   {map[string]int{"\xff": 1}, ""},
		"bytes in any":    {[]any{"ok", "\xed\xa0\x80"}, "/1"},
		"channel":         {make(chan int), ""},
		"function":        {[]any{func() {}}, "/0"},
		"complex":         {1i, ""},
		"map of structs":  {map[inner]int{{1, 2}: 1}, ""},
		"circle":          {round, ""},
		"bad raw":         {[]json.RawMessage{json.RawMessage(`{"a":1,"a":1}`)}, "/0"},
		"bad number":      {json.Number("1e999"), ""},
		"own text fails":  {[]any{failing{}}, "/0"},
		"map text fails":  {map[failing]int{{}: 1}, ""},
		"map of integers": {map[int]int{1: 1}, ""},
	} {
		_, err := canon.From(c.x)
		e, ok := fault.As(err)
		if !ok || e.Code != fault.Invalid {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if name != "circle" && e.Pointer != c.pointer {
			t.Errorf("%s: at %q, want %q", name, e.Pointer, c.pointer)
		}
	}
}

func TestAnyGoesThereAndBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := values(3).Draw(t, "v")
		back, err := canon.From(v.Any())
		if err != nil || !canon.Equal(v, back) {
			t.Errorf("%s came back as %s, %v", v.Canonical(), back.Canonical(), err)
		}
	})
}

func TestValueInsideEncodingJSON(t *testing.T) {
	t.Parallel()
	var x struct{ V canon.Value }
	if err := json.Unmarshal([]byte(`{"V":{"b":1,"a":[1.0]}}`), &x); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(x)
	if err != nil || string(out) != `{"V":{"a":[1],"b":1}}` {
		t.Errorf("%s, %v", out, err)
	}
	if err := json.Unmarshal([]byte(`{"V":{"b":1,"b":1}}`), &x); fault.CodeOf(err) != fault.Malformed {
		t.Errorf("duplicate inside encoding/json: %v", err)
	}
}
