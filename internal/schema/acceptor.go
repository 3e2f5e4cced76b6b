package schema

import (
	"math/big"
	"slices"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"writ/internal/canon"
)

// acceptorOf returns nil for a schema with a rule that an acceptor does not know.
func acceptorOf(s *jsonschema.Schema) *acceptor {
	b := builder{done: map[*jsonschema.Schema]*acceptor{}}
	a := b.build(s)
	if b.unknown || circular(b.done) {
		return nil
	}
	return a
}

// builder makes one acceptor for each schema, however often it is referred to.
type builder struct {
	done    map[*jsonschema.Schema]*acceptor
	unknown bool // a rule came up that acceptors do not know
}

func (b *builder) all(list []*jsonschema.Schema) []*acceptor {
	var out []*acceptor
	for _, s := range list {
		out = append(out, b.build(s))
	}
	return out
}

func (b *builder) build(s *jsonschema.Schema) *acceptor {
	if s == nil {
		return nil
	}
	if a := b.done[s]; a != nil {
		return a
	}
	b.unknown = b.unknown || foreign(s)
	a := &acceptor{}
	b.done[s] = a
	a.never = s.Bool != nil && !*s.Bool
	b.general(a, s)
	a.text = textRule{spanOf(s.MinLength, s.MaxLength), s.Pattern}
	a.number = numberRule{b.bound(s.Minimum), b.bound(s.Maximum), b.bound(s.ExclusiveMinimum), b.bound(s.ExclusiveMaximum)}
	a.array = arrayRule{length: spanOf(s.MinItems, s.MaxItems), unique: s.UniqueItems, items: b.build(s.Items2020), contains: b.build(s.Contains), matches: spanOf(s.MinContains, s.MaxContains)}
	if s.MinContains == nil {
		a.array.matches.from = 1
	}
	b.object(&a.object, s)
	return a
}

// foreign reports whether a schema has a rule that our documents do not use.
func foreign(s *jsonschema.Schema) bool {
	return s.DraftVersion < 2020 || s.RecursiveRef != nil || s.DynamicRef != nil || s.Dependencies != nil || s.DependentSchemas != nil ||
		s.UnevaluatedProperties != nil || s.UnevaluatedItems != nil || s.PrefixItems != nil || s.Items != nil || s.AdditionalItems != nil ||
		s.ContentEncoding != nil || s.ContentMediaType != nil || s.ContentSchema != nil || s.MultipleOf != nil || len(s.Extensions) > 0
}

// general builds what applies to values of any type.
func (b *builder) general(a *acceptor, s *jsonschema.Schema) {
	if s.Types != nil {
		var ok bool
		a.types, ok = kindsOf(s.Types.ToStrings())
		b.unknown = b.unknown || !ok
	}
	if s.Const != nil {
		v := b.value(*s.Const)
		a.constant = &v
	}
	if s.Enum != nil {
		for _, x := range s.Enum.Values {
			a.enum = append(a.enum, b.value(x))
		}
		b.unknown = b.unknown || len(a.enum) == 0
	}
	if s.Format != nil {
		a.format = s.Format.Validate
	}
	if s.Ref != nil {
		a.every = append(a.every, b.build(s.Ref))
	}
	a.every = append(a.every, b.all(s.AllOf)...)
	a.some, a.single = b.all(s.AnyOf), b.all(s.OneOf)
	a.not, a.when, a.then, a.otherwise = b.build(s.Not), b.build(s.If), b.build(s.Then), b.build(s.Else)
}

func (b *builder) object(o *objectRule, s *jsonschema.Schema) {
	*o = objectRule{size: spanOf(s.MinProperties, s.MaxProperties), required: s.Required, names: b.build(s.PropertyNames), together: s.DependentRequired}
	if len(s.Properties) > 0 {
		o.properties = make(map[string]*acceptor, len(s.Properties))
		for name, p := range s.Properties {
			o.properties[name] = b.build(p)
		}
	}
	for name, p := range s.PatternProperties {
		o.patterns = append(o.patterns, patterned{name, b.build(p)})
	}
	switch x := s.AdditionalProperties.(type) {
	case bool:
		if !x {
			o.others = &acceptor{never: true}
		}
	case *jsonschema.Schema:
		o.others = b.build(x)
	}
}

// bound takes a number in the shortest form that tells its double from others: it
// compares with doubles as it does with their decimal text.
func (b *builder) bound(r *big.Rat) *float64 {
	if r == nil {
		return nil
	}
	f, _ := r.Float64()
	short, ok := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	b.unknown = b.unknown || !ok || short.Cmp(r) != 0
	return &f
}

func (b *builder) value(x any) canon.Value {
	v, err := canon.From(x)
	b.unknown = b.unknown || err != nil
	return v
}

// circular reports whether some schema refers back to itself on one and the same
// value: then an acceptor would never end.
func circular(all map[*jsonschema.Schema]*acceptor) bool {
	const open, closed = 1, 2
	state := map[*acceptor]int{}
	var visit func(a *acceptor) bool
	visit = func(a *acceptor) bool {
		switch {
		case a == nil || state[a] == closed:
			return false
		case state[a] == open:
			return true
		}
		state[a] = open
		next := slices.Concat(a.every, a.some, a.single, []*acceptor{a.not, a.when, a.then, a.otherwise})
		again := slices.ContainsFunc(next, visit)
		state[a] = closed
		return again
	}
	for _, a := range all {
		if visit(a) {
			return true
		}
	}
	return false
}

func spanOf(from, to *int) span {
	s := span{0, -1}
	if from != nil {
		s.from = *from
	}
	if to != nil {
		s.to = *to
	}
	return s
}

func kindsOf(names []string) (k kinds, ok bool) {
	for _, n := range names {
		bit := kinds(0)
		if n == "integer" {
			bit = integers
		}
		for kind := canon.NullKind; kind <= canon.Object; kind++ {
			if kind.String() == n {
				bit = 1 << kind
			}
		}
		if bit == 0 {
			return 0, false
		}
		k |= bit
	}
	return k, true
}
