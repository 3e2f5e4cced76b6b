package schema

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"writ/internal/canon"
	"writ/internal/fault"
)

// failure is one broken rule at one place.
type failure struct {
	at   []string // path of the value, missing member or unknown member
	kind jsonschema.ErrorKind
	rule string
	form bool // says what form the value has: a constant, a choice or a type
}

// most is how many failures one error lists: more than any person reads, and a
// bound on what a hostile document can make us say.
const most = 1000

// explain turns the validator's tree of errors into a flat list: every failure
// once, always in the same order. Of alternatives it keeps the one that the
// value comes closest to.
func explain(err error, v canon.Value) []fault.Field {
	var tree *jsonschema.ValidationError
	if !errors.As(err, &tree) {
		return []fault.Field{{Rule: err.Error()}}
	}
	failures := flatten(tree, v)
	slices.SortStableFunc(failures, func(a, b failure) int {
		return cmp.Or(
			cmp.Compare(a.rank(), b.rank()),
			cmp.Compare(len(b.at), len(a.at)),
			slices.Compare(a.at, b.at),
			cmp.Compare(a.rule, b.rule),
		)
	})
	fields := make([]fault.Field, 0, len(failures))
	for _, f := range failures {
		field := fault.Field{Pointer: pointer(f.at), Rule: f.rule, Got: f.got(v)}
		if n := len(fields); n == 0 || fields[n-1] != field {
			fields = append(fields, field)
		}
		if len(fields) == most {
			break
		}
	}
	return fields
}

// markers are the top-level members that say what kind of document this is.
var markers = []string{"schema", "schema/v", "schema_version", "schemaVersion", "comparison_version", "contract", "v", "type"}

// rank puts a wrong kind of document first: the other failures follow from it.
func (f failure) rank() int {
	if f.form && len(f.at) == 1 && slices.Contains(markers, f.at[0]) {
		return 0
	}
	return 1
}

// got is what was found, shortened; nothing for a member that is missing.
func (f failure) got(v canon.Value) string {
	x, ok := v.At(pointer(f.at))
	if !ok {
		return ""
	}
	return short(x)
}

const shown = 80 // bytes of a value in a message

// short spells a value on one line, cut where a person stops reading.
func short(v canon.Value) string {
	switch v.Kind() {
	case canon.Object:
		return "object with " + count(v.Len(), "member")
	case canon.Array:
		return "array with " + count(v.Len(), "item")
	}
	s := string(v.Canonical())
	if len(s) <= shown {
		return s
	}
	return strings.ToValidUTF8(s[:shown], "") + "…"
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

func pointer(path []string) string {
	p := ""
	for _, name := range path {
		p = canon.PointerTo(p, name)
	}
	return p
}

func join(path []string, name string) []string { return append(slices.Clone(path), name) }

func flatten(e *jsonschema.ValidationError, v canon.Value) []failure {
	at := e.InstanceLocation
	one := func(f failure) []failure { f.kind = e.ErrorKind; return []failure{f} }
	switch k := e.ErrorKind.(type) {
	case *kind.AnyOf:
		return closest(at, e.Causes, v)
	case *kind.OneOf:
		if len(k.Subschemas) == 0 {
			return closest(at, e.Causes, v)
		}
		return one(failure{at: at, rule: "fits more than one of the allowed forms"})
	case *kind.Required:
		var out []failure
		for _, name := range k.Missing {
			out = append(out, failure{at: join(at, name), kind: k, rule: "is required"})
		}
		return out
	case *kind.DependentRequired:
		var out []failure
		for _, name := range k.Missing {
			out = append(out, failure{at: join(at, name), kind: k, rule: "is required beside " + quote(k.Prop)})
		}
		return out
	case *kind.AdditionalProperties:
		var out []failure
		for _, name := range k.Properties {
			out = append(out, failure{at: join(at, name), kind: k, rule: unknown(e.SchemaURL, name)})
		}
		return out
	case *kind.UniqueItems:
		return one(failure{at: join(at, strconv.Itoa(k.Duplicates[1])), rule: "repeats item " + strconv.Itoa(k.Duplicates[0])})
	case *kind.Not:
		return excluded(at, e.SchemaURL, v)
	case *kind.Contains, *kind.MinContains, *kind.MaxContains:
		return one(failure{at: at, rule: contained(e.SchemaURL)})
	case *kind.Enum:
		return one(failure{at: at, rule: choice(k), form: true})
	case *kind.Const, *kind.Type:
		return one(failure{at: at, rule: words(k), form: true})
	}
	if len(e.Causes) == 0 {
		return one(failure{at: at, rule: words(e.ErrorKind)})
	}
	var out []failure
	for _, c := range e.Causes {
		out = append(out, flatten(c, v)...)
	}
	return out
}

// closest picks the alternative that the value was most likely meant to be. If
// none has the right form, say which forms there are and nothing else.
func closest(at []string, causes []*jsonschema.ValidationError, v canon.Value) []failure {
	branches := make([][]failure, 0, len(causes))
	for _, c := range causes {
		branches = append(branches, flatten(c, v))
	}
	if f, ok := noForm(at, branches); ok {
		return []failure{f}
	}
	tag := tagOf(at, branches)
	return slices.MinFunc(branches, func(a, b []failure) int {
		return cmp.Compare(misfit(at, tag, a), misfit(at, tag, b))
	})
}

// tagOf finds the member by which the alternatives tell themselves apart: the
// one that they want to be the most different constants.
func tagOf(at []string, branches [][]failure) string {
	wanted := map[string]map[string]bool{}
	for _, b := range branches {
		for _, f := range b {
			c, ok := f.kind.(*kind.Const)
			if !ok || len(f.at) != len(at)+1 {
				continue
			}
			name := f.at[len(at)]
			if wanted[name] == nil {
				wanted[name] = map[string]bool{}
			}
			wanted[name][quote(c.Want)] = true
		}
	}
	tag := ""
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if tag == "" || len(wanted[name]) > len(wanted[tag]) {
			tag = name
		}
	}
	return tag
}

// misfit says how far a value is from an alternative: its failures, of which a
// wrong type or a wrong tag outweigh all others.
func misfit(at []string, tag string, branch []failure) int {
	n := 0
	for _, f := range branch {
		switch {
		case f.form && len(f.at) == len(at):
			n += 1 << 20
		case f.form && len(f.at) == len(at)+1 && f.at[len(at)] == tag:
			n += 1 << 10
		default:
			n++
		}
	}
	return n
}

// noForm reports that all branches dislike the form of one and the same value,
// and puts what they want into one rule.
func noForm(at []string, branches [][]failure) (failure, bool) {
	for _, first := range branches[0] {
		if !first.form || len(first.at) > len(at)+1 {
			continue
		}
		var kinds []jsonschema.ErrorKind
		for _, b := range branches {
			i := slices.IndexFunc(b, func(f failure) bool { return f.form && slices.Equal(f.at, first.at) })
			if i < 0 {
				break
			}
			kinds = append(kinds, b[i].kind)
		}
		if len(kinds) == len(branches) {
			return failure{at: first.at, kind: first.kind, rule: anyOf(kinds), form: true}, true
		}
	}
	return failure{}, false
}
