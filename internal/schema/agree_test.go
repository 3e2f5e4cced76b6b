package schema

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"writ/internal/canon"
)

// oracle compiles a reference on its own: Go's regular expressions with
// ECMAScript's white space written out, and none of our matching by hand.
func oracle(t testing.TB, name string) *jsonschema.Schema {
	t.Helper()
	const space = `\x{9}-\x{d} \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	c.RegisterFormat(&jsonschema.Format{Name: "date-time", Validate: dateTime})
	c.RegisterFormat(&jsonschema.Format{Name: "uri", Validate: absoluteURI})
	c.UseRegexpEngine(func(p string) (jsonschema.Regexp, error) {
		if p == `^\S+$` { // a token also excludes U+0085
			return regexp.Compile(`^[^` + space + `\x{85}]+$`)
		}
		p = regexp.MustCompile(`\[\^([^\]]*)\\s`).ReplaceAllString(p, `[^$1`+space)
		return regexp.Compile(strings.ReplaceAll(p, `\S`, `[^`+space+`]`))
	})
	add := func(doc any) string {
		id, _ := doc.(map[string]any)["$id"].(string)
		if err := c.AddResource(id, absolute(doc)); err != nil {
			t.Fatal(err)
		}
		return id
	}
	for _, id := range []ID{MeasurementResult, ExperimentProposalV1, RoomPolicy} {
		add(decode(t, Raw(id)))
	}
	add(decode(t, mustRead(t, "files/defs.corpus.v1"+suffix)))
	s, err := c.Compile(add(reference(t, name)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustRead(t testing.TB, name string) []byte {
	t.Helper()
	b, err := files.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func decode(t testing.TB, b []byte) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// absolute turns references by file name into the ids of those files.
func absolute(x any) any {
	switch x := x.(type) {
	case map[string]any:
		for k, e := range x {
			x[k] = absolute(e)
		}
		if ref, ok := x["$ref"].(string); ok {
			file, fragment, _ := strings.Cut(ref, "#")
			name, ok := strings.CutSuffix(file, suffix)
			i := strings.LastIndex(name, ".v")
			if ok && i > 0 {
				owner := "orbiplex"
				if strings.HasPrefix(name, "defs.") {
					owner = "writ"
				}
				x["$ref"] = fmt.Sprintf("urn:%s:schema:%s:%s#%s", owner, name[:i], name[i+1:], fragment)
			}
		}
	case []any:
		for i, e := range x {
			x[i] = absolute(e)
		}
	}
	return x
}

// vocabulary collects what a schema names or allows: good material for mutations.
func vocabulary(x any) (values []any, names []string) {
	var walk func(any)
	walk = func(x any) {
		switch x := x.(type) {
		case map[string]any:
			if c, ok := x["const"]; ok {
				values = append(values, c)
			}
			if list, ok := x["enum"].([]any); ok {
				values = append(values, list...)
			}
			if p, ok := x["properties"].(map[string]any); ok {
				for n := range p {
					names = append(names, n)
				}
			}
			for _, e := range x {
				walk(e)
			}
		case []any:
			for _, e := range x {
				walk(e)
			}
		}
	}
	walk(x)
	slices.SortFunc(values, func(a, b any) int { return strings.Compare(quote(a), quote(b)) })
	slices.Sort(names)
	return slices.CompactFunc(values, func(a, b any) bool { return quote(a) == quote(b) }), slices.Compact(names)
}

// mutator draws changes to documents.
type mutator struct {
	values []any
	names  []string
	pool   []any // parts of valid documents
}

var ends = []string{" ", "\n", "\u00a0", "\u2028", "\v", "\u0085", "\ufeff", "/", ".", "A", "=", "é", "\U0001F600"}

var oddities = []any{
	nil, true, false, "", " ", "x", json.Number("0"), json.Number("-1"), json.Number("1"), json.Number("1.5"), json.Number("1e0"),
	json.Number("9007199254740991"), map[string]any{}, []any{}, "2026-02-29T00:00:00Z", "2024-02-29T23:59:60Z",
	"2026-01-01T00:00:00+02:00", "2026-01-01t00:00:00.5z", "not a:uri", "urn:x", "https://e.org/%zz", "sha256:" + strings.Repeat("a", 64),
	strings.Repeat("x", 513), strings.Repeat("\U0001F600", 4001),
}

// value draws something to put in place of a value.
func (m mutator) value(t *rapid.T, old any) any {
	switch s, ok := old.(string); {
	case ok && rapid.Bool().Draw(t, "bend"):
		switch rapid.IntRange(0, 4).Draw(t, "how") {
		case 0:
			return s + rapid.SampledFrom(ends).Draw(t, "end")
		case 1:
			return rapid.SampledFrom(ends).Draw(t, "start") + s
		case 2:
			return strings.ToUpper(s)
		case 3:
			if n := len(s); n > 0 {
				return s[:n-1]
			}
			return s
		default:
			return strings.Repeat(s, rapid.IntRange(2, 40).Draw(t, "times"))
		}
	}
	switch rapid.IntRange(0, 2).Draw(t, "source") {
	case 0:
		return clone(rapid.SampledFrom(oddities).Draw(t, "odd"))
	case 1:
		return clone(rapid.SampledFrom(m.values).Draw(t, "allowed"))
	default:
		return clone(rapid.SampledFrom(m.pool).Draw(t, "part"))
	}
}

// mutate changes one place in x and returns the result.
func (m mutator) mutate(t *rapid.T, x any) any {
	switch y := x.(type) {
	case map[string]any:
		keys := make([]string, 0, len(y))
		for k := range y {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		switch choice := rapid.IntRange(0, 9).Draw(t, "object"); {
		case choice == 0 && len(keys) > 0:
			delete(y, rapid.SampledFrom(keys).Draw(t, "drop"))
			return y
		case choice == 1:
			y[rapid.SampledFrom(m.names).Draw(t, "add")] = m.value(t, nil)
			return y
		case choice == 2:
			y["unknown"] = true
			return y
		case choice > 3 && len(keys) > 0:
			k := rapid.SampledFrom(keys).Draw(t, "into")
			y[k] = m.mutate(t, y[k])
			return y
		}
	case []any:
		switch choice := rapid.IntRange(0, 6).Draw(t, "array"); {
		case choice == 0 && len(y) > 0:
			return y[1:]
		case choice == 1 && len(y) > 0:
			return append(y, y[0])
		case choice > 2 && len(y) > 0:
			i := rapid.IntRange(0, len(y)-1).Draw(t, "item")
			y[i] = m.mutate(t, y[i])
			return y
		}
	}
	return m.value(t, x)
}

func clone(x any) any {
	switch x := x.(type) {
	case map[string]any:
		out := make(map[string]any, len(x))
		for k, e := range x {
			out[k] = clone(e)
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i, e := range x {
			out[i] = clone(e)
		}
		return out
	}
	return x
}

func parts(x any, into *[]any) {
	*into = append(*into, x)
	switch x := x.(type) {
	case map[string]any:
		keys := make([]string, 0, len(x))
		for k := range x {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			parts(x[k], into)
		}
	case []any:
		for _, e := range x {
			parts(e, into)
		}
	}
}

// TestVerdictsOfReferences holds the references against our schemas: valid
// documents with up to four changes must be judged alike by both.
func TestVerdictsOfReferences(t *testing.T) {
	t.Parallel()
	for name, id := range references {
		t.Run(string(id), func(t *testing.T) {
			t.Parallel()
			theirs := oracle(t, name)
			m := mutator{}
			m.values, m.names = vocabulary(decode(t, Raw(id)))
			var bases [][]byte
			for _, s := range samples(t) {
				if s.id == id {
					bases = append(bases, s.raw)
					parts(decode(t, s.raw), &m.pool)
				}
			}
			good, bad := 0, 0
			rapid.Check(t, func(rt *rapid.T) {
				doc := decode(t, rapid.SampledFrom(bases).Draw(rt, "base"))
				for range rapid.IntRange(0, 4).Draw(rt, "changes") {
					doc = m.mutate(rt, doc)
				}
				raw, err := json.Marshal(doc)
				if err != nil {
					rt.Skip("no JSON")
				}
				v, err := canon.Parse(raw)
				if err != nil {
					rt.Skip("not strict JSON")
				}
				want, got := theirs.Validate(decode(t, raw)), Validate(id, v)
				if (want == nil) != (got == nil) {
					rt.Fatalf("reference: %v\nours: %v\n%s", want, got, raw)
				}
				if got == nil {
					good++
				} else {
					bad++
				}
			})
			if good == 0 || bad == 0 {
				t.Errorf("%d valid and %d invalid documents prove nothing", good, bad)
			}
		})
	}
}
