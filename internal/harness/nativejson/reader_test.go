package nativejson

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"writ/internal/canon"
	"writ/internal/fault"
)

// tree reads a text into plain Go values.
func tree(text string) (any, *Reader, error) {
	r, err := New([]byte(text))
	if err != nil {
		return nil, nil, err
	}
	v, err := grow(r)
	if err == nil {
		err = r.Done()
	}
	return v, r, err
}

func grow(r *Reader) (any, error) {
	switch r.Kind() {
	case Object:
		out := map[string]any{}
		err := r.Object(func(name string) error {
			v, err := grow(r)
			out[name] = v
			return err
		})
		return out, err
	case Array:
		out := []any{}
		err := r.Array(func() error {
			v, err := grow(r)
			out = append(out, v)
			return err
		})
		return out, err
	case String:
		return r.Text()
	case Number:
		n, err := r.Number()
		return n.Value, err
	case Bool:
		return r.Bool()
	case Null, Invalid:
	}
	return nil, r.Skip()
}

func TestRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]any{
		" {\"a\": [1, -2.5e+1, 0, true, false, null]}\r\n": map[string]any{"a": []any{1.0, -25.0, 0.0, true, false, nil}},
		`{}`: map[string]any{}, `[ ]`: []any{}, `""`: "", `"a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00é"`: "a\"\\/\b\f\n\r\té\U0001F600é",
		`[Infinity,-Infinity,inf,-inf,1e999,-1e999]`: []any{math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)},
		`1e-999`: 0.0, `9007199254740993e5`: 9007199254740993e5, `[[],{"b":{}}]`: []any{[]any{}, map[string]any{"b": map[string]any{}}},
	} {
		got, _, err := tree(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %#v %v, want %#v", text, got, err, want)
		}
		if err := skip(text); err != nil {
			t.Errorf("%s: skipped: %v", text, err)
		}
	}
	got, r, err := tree(`[NaN,-NaN,nan,-nan,1]`)
	if err != nil || r.NonFinite() != 4 {
		t.Fatalf("got %v %v", got, err)
	}
	for i, v := range got.([]any) {
		if math.IsNaN(v.(float64)) != (i < 4) {
			t.Errorf("element %d is %v", i, v)
		}
	}
}

func skip(text string) error {
	r, err := New([]byte(text))
	if err != nil {
		return err
	}
	if err := r.Skip(); err != nil {
		return err
	}
	return r.Done()
}

// offset is the byte that an error names.
func offset(err error) (int64, bool) {
	e, ok := fault.As(err)
	if !ok {
		return 0, false
	}
	return e.ByteOffset()
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", maxDepth)
	for text, at := range map[string]int64{
		"":                       0,
		"\uFEFF{}":               0,
		"{\"a\":\"\xff\"}":       6,
		`{"a":1,"a":2}`:          7,
		`{"a":{"b":1,"b":1}}`:    12,
		`{"a":1,"\u0061":2}`:     7,
		`{"a":1 "b":2}`:          7, // a comma is missing
		`{"a":1,234}`:            7, // a thousands separator
		`[1,234.5.6]`:            8,
		`{"a":1,}`:               7,
		`[1,]`:                   3,
		`[1`:                     2,
		`{"a"`:                   4,
		`{"a":`:                  5,
		`{"a`:                    3,
		`"a` + "\t" + `"`:        2,
		`"\x"`:                   1,
		`"\u12g4"`:               1,
		`"\ud800"`:               1,
		`"\ud800\u0041"`:         1,
		`"\udc00"`:               1,
		`"a\`:                    2,
		`01`:                     1,
		`1.`:                     2,
		`1e`:                     2,
		`-`:                      1,
		`+1`:                     0,
		`.5`:                     0,
		`0x10`:                   1,
		`NaNs`:                   3,
		`nul`:                    3,
		`-Inf`:                   1,
		`tru`:                    3,
		`{} {}`:                  3,
		`{a:1}`:                  1,
		`'a'`:                    0,
		deep + "[" + `]`:         maxDepth,
		`{"a": "b` + "\n" + `"}`: 8,
	} {
		for _, read := range []func(string) error{skip, func(s string) error { _, _, err := tree(s); return err }} {
			err := read(text)
			if off, ok := offset(err); fault.CodeOf(err) != fault.Malformed || !ok || off != at {
				t.Errorf("%q: got %v, want an error at byte %d", text, err, at)
			}
		}
	}
	if err := skip(deep + strings.Repeat("]", maxDepth)); err != nil {
		t.Errorf("the greatest depth: %v", err)
	}
}

// TestWrongKinds: a reader that is asked for what is not there says so and does
// not move on.
func TestWrongKinds(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(*Reader) error{
		"object": func(r *Reader) error { return r.Object(nil) },
		"array":  func(r *Reader) error { return r.Array(nil) },
		"string": func(r *Reader) error { _, err := r.Text(); return err },
		"number": func(r *Reader) error { _, err := r.Number(); return err },
		"bool":   func(r *Reader) error { _, err := r.Bool(); return err },
	} {
		r, err := New([]byte(" null"))
		if err != nil {
			t.Fatal(err)
		}
		if err := ask(r); fault.CodeOf(err) != fault.Malformed {
			t.Errorf("%s: got %v", name, err)
		}
		if err := r.Fail("no %s", name); !strings.Contains(err.Error(), "no "+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestInt(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"5": 5, "-3": -3, "1e3": 1000, "2.0": 2, "9007199254740992": 1 << 53} {
		r, _ := New([]byte(text))
		n, err := r.Number()
		if got, ok := n.Int(); err != nil || !ok || got != want {
			t.Errorf("%s: %d %t %v", text, got, ok, err)
		}
	}
	for _, text := range []string{"0.5", "1e300", "NaN", "Infinity", "18014398509481984"} {
		r, _ := New([]byte(text))
		n, err := r.Number()
		if got, ok := n.Int(); err != nil || ok {
			t.Errorf("%s: %d %t %v", text, got, ok, err)
		}
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]float64{"[]": {}, "[1, 2.5,-3e0]": {1, 2.5, -3}, " [ Infinity ] ": {math.Inf(1)}} {
		r, _ := New([]byte(text))
		got, err := r.Numbers()
		if err != nil || !reflect.DeepEqual(got, want) || r.Done() != nil {
			t.Errorf("%s: %v %v", text, got, err)
		}
	}
	for _, text := range []string{"[1,", "[1,null]", `["1"]`, "1", "[[1]]", "[,]", ""} {
		r, _ := New([]byte(text))
		if got, err := r.Numbers(); fault.CodeOf(err) != fault.Malformed {
			t.Errorf("%s: %v %v", text, got, err)
		}
	}
}

// TestEveryCut: a text that was cut off is never whole.
func TestEveryCut(t *testing.T) {
	t.Parallel()
	const text = `{"a":[1.5e3,{"b":"c\u00e9é","d":true}],"e":NaN,"f":null}`
	for cut := range len(text) {
		if err := skip(text[:cut]); fault.CodeOf(err) != fault.Malformed {
			t.Errorf("cut at %d: %v", cut, err)
		}
	}
}

func TestMemoryIsBounded(t *testing.T) {
	many := func(n int, one func(i int) string) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = one(i)
		}
		return strings.Join(parts, ",")
	}
	for name, text := range map[string]string{
		"small objects": "[" + many(50000, func(int) string { return `{"a":0}` }) + "]",
		"one object":    "{" + many(100000, func(i int) string { return fmt.Sprintf(`"%x":0`, i) }) + "}",
		"short names":   "{" + many(100000, func(int) string { return `"":0` }) + "}",
		"escaped names": "{" + many(100000, func(int) string { return `"\n":0` }) + "}",
		"long escapes":  "{" + many(50000, func(i int) string { return fmt.Sprintf(`"\n%040d":0`, i) }) + "}",
		"escapes":       `"` + strings.Repeat(`\n`, 100000) + `"`,
		"numbers":       "[" + many(200000, func(int) string { return "0" }) + "]",
		"nested":        strings.Repeat(`[{"a":`, 30000),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_ = skip(text)
		runtime.ReadMemStats(&after)
		if got, limit := after.TotalAlloc-before.TotalAlloc, uint64(16*len(text)); got > limit {
			t.Errorf("%s: %d bytes for a text of %d", name, got, len(text))
		}
	}
}

// FuzzSkip compares with the standard library and with canon: what is accepted
// without bare words is JSON, and what canon accepts is accepted.
func FuzzSkip(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e-3,"x\u00e9"],"b":NaN}`, `[Infinity,-inf]`, "\uFEFF{}", `{"a":1,"a":2}`, `{"a":1,234}`, "[", `"\ud83d\ude00"`, `1e999`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := New(b)
		if err == nil {
			if err = r.Skip(); err == nil {
				err = r.Done()
			}
		}
		if err == nil && r.NonFinite() == 0 && !json.Valid(b) {
			t.Errorf("accepted, and no JSON: %q", b)
		}
		if err != nil {
			if _, strict := canon.Parse(b); strict == nil {
				t.Errorf("refused, and fine for canon: %q: %v", b, err)
			}
			if off, ok := offset(err); fault.CodeOf(err) != fault.Malformed || !ok || off > int64(len(b)) {
				t.Errorf("%q: %v", b, err)
			}
		}
	})
}
