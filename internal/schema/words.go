package schema

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"writ/internal/canon"
)

// words says in plain English what a rule asks for, as the end of a sentence
// that begins with the place.
func words(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type, *kind.Const, *kind.Enum:
		return anyOf([]jsonschema.ErrorKind{k})
	case *kind.FalseSchema:
		return "is not allowed"
	case *kind.Format:
		return formatWords(k.Want)
	case *kind.Pattern:
		return patternWords(k.Want)
	case *kind.MinLength:
		return atLeast(k.Want, "character")
	case *kind.MaxLength:
		return "must have at most " + count(k.Want, "character")
	case *kind.MinItems:
		return atLeast(k.Want, "item")
	case *kind.MaxItems:
		return "must have at most " + count(k.Want, "item")
	case *kind.MinProperties:
		return atLeast(k.Want, "member")
	case *kind.MaxProperties:
		return "must have at most " + count(k.Want, "member")
	case *kind.Minimum:
		return "must be at least " + decimal(k.Want)
	case *kind.Maximum:
		return "must be at most " + decimal(k.Want)
	case *kind.ExclusiveMinimum:
		return "must be more than " + decimal(k.Want)
	case *kind.ExclusiveMaximum:
		return "must be less than " + decimal(k.Want)
	}
	return fmt.Sprintf("breaks the rule %q", strings.Join(k.KeywordPath(), "/"))
}

func atLeast(n int, what string) string {
	if n == 1 {
		return "must not be empty"
	}
	return "must have at least " + count(n, what)
}

func decimal(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func quote(x any) string {
	if s, ok := x.(string); ok {
		return strconv.Quote(s)
	}
	b, err := json.Marshal(x)
	if err != nil {
		return fmt.Sprint(x)
	}
	return string(b)
}

// choices is how many values of a choice a message names.
const choices = 9

// anyOf says which types or values would do; kinds are of Type, Const and Enum.
// Where a value would do, types that were also asked for add nothing.
func anyOf(kinds []jsonschema.ErrorKind) string {
	var types, values []string
	add := func(list []string, s string) []string {
		if slices.Contains(list, s) {
			return list
		}
		return append(list, s)
	}
	for _, k := range kinds {
		switch k := k.(type) {
		case *kind.Type:
			for _, t := range k.Want {
				types = add(types, article(t))
			}
		case *kind.Const:
			values = add(values, quote(k.Want))
		case *kind.Enum:
			for _, w := range k.Want {
				values = add(values, quote(w))
			}
		}
	}
	switch {
	case len(values) == 0:
		return "must be " + strings.Join(types, " or ")
	case len(values) == 1 && len(types) == 0:
		return "must be " + values[0]
	case len(values) > choices:
		values = append(values[:choices:choices], "or "+strconv.Itoa(len(values)-choices)+" more")
	}
	if len(types) > 0 {
		return "must be " + strings.Join(append(types, values...), " or ")
	}
	return "must be one of " + strings.Join(values, ", ")
}

func article(t string) string {
	switch t {
	case "null":
		return t
	case "array", "integer", "object":
		return "an " + t
	}
	return "a " + t
}

func formatWords(format string) string {
	switch format {
	case "date-time":
		return "must be a time such as 2026-01-02T03:04:05Z"
	case "uri":
		return "must be an absolute URI"
	}
	return "must be in the format " + format
}

// patternWords says what the common patterns mean and quotes the others.
func patternWords(p string) string {
	switch p {
	case tokenPattern:
		return "must not contain white space"
	case instantPattern:
		return "must be a time such as 2026-01-02T03:04:05Z, without a leap second"
	}
	body := strings.TrimSuffix(strings.TrimPrefix(p, "^"), "$")
	for _, tail := range []struct{ pattern, meaning string }{
		{`[0-9a-f]{64}`, "a SHA-256 in lower-case hex"},
		{`[a-f0-9]{64}`, "a SHA-256 in lower-case hex"},
		{`[0-9a-f]{40}`, "a git object id in lower-case hex"},
		{`[A-Za-z0-9_-]{43}`, "a SHA-256 in unpadded base64url"},
		{`[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]`, "a SHA-256 in canonical unpadded base64url"},
		{`[A-Za-z0-9_-]{86}`, "a signature in unpadded base64url"},
		{`[0-7][0-9A-HJKMNP-TV-Z]{25}`, "an upper-case ULID"},
		{`[^\s]+`, "text without white space"},
	} {
		prefix, ok := strings.CutSuffix(body, tail.pattern)
		switch {
		case !ok || strings.ContainsAny(prefix, `\[](){}.*+?^$|`):
			continue
		case prefix == "":
			return "must be " + tail.meaning
		}
		return "must be " + quote(prefix) + " and " + tail.meaning
	}
	return "must match " + p
}

// choice says which values would do, and which of them was probably meant.
func choice(k *kind.Enum) string {
	got, _ := k.Got.(string)
	var names []string
	for _, w := range k.Want {
		if s, ok := w.(string); ok && s != "" {
			names = append(names, s)
		}
	}
	return words(k) + meant(nearest(got, names))
}

func meant(name string) string {
	if name == "" {
		return ""
	}
	return "; did you mean " + quote(name) + "?"
}

// unknown says that a member is not in the schema, and which one may have been
// meant.
func unknown(schemaURL, name string) string {
	s, _ := source(schemaURL).(map[string]any)
	if p, ok := s["patternProperties"].(map[string]any); ok && s["properties"] == nil {
		for pattern := range p {
			return "is not a legal name: it " + patternWords(pattern)
		}
	}
	properties, _ := s["properties"].(map[string]any)
	names := make([]string, 0, len(properties))
	for n := range properties {
		names = append(names, n)
	}
	slices.Sort(names)
	return "is not a known member" + meant(nearest(name, names))
}

// excluded says which members a "not" forbids here. A "not" of any other shape
// is quoted.
func excluded(at []string, schemaURL string, v canon.Value) []failure {
	s, _ := source(schemaURL).(map[string]any)
	x, _ := v.At(pointer(at))
	var out []failure
	for _, name := range requirements(s["not"]) {
		if x.Has(name) {
			out = append(out, failure{at: join(at, name), kind: &kind.Not{}, rule: "is not allowed here"})
		}
	}
	if len(out) == 0 {
		out = append(out, failure{at: at, kind: &kind.Not{}, rule: "must not be of the form " + quote(s["not"])})
	}
	return out
}

// requirements collects the members that a schema requires, in it or in its
// alternatives.
func requirements(x any) []string {
	s, _ := x.(map[string]any)
	var out []string
	list, _ := s["required"].([]any)
	for _, n := range list {
		if name, ok := n.(string); ok {
			out = append(out, name)
		}
	}
	alternatives, _ := s["anyOf"].([]any)
	for _, a := range alternatives {
		out = append(out, requirements(a)...)
	}
	return out
}

// contained says what an array must contain, and how often.
func contained(schemaURL string) string {
	s, _ := source(schemaURL).(map[string]any)
	often := "at least one item"
	if s["maxContains"] != nil {
		often = "exactly one item"
	}
	inner, _ := s["contains"].(map[string]any)
	properties, _ := inner["properties"].(map[string]any)
	var what []string
	for name, p := range properties {
		if c, ok := p.(map[string]any)["const"]; ok {
			what = append(what, name+" "+quote(c))
		}
	}
	if len(what) == 0 {
		return "must contain " + often + " of the form " + quote(inner)
	}
	slices.Sort(what)
	return "must contain " + often + " with " + strings.Join(what, " and ")
}
