package schema

import (
	"unicode/utf8"

	"writ/internal/canon"
)

// acceptor is a compiled schema in a form that says yes or no and nothing else.
// Most documents are valid, and then nobody needs to know why not: an acceptor
// reads the value where it lies and allocates nothing. What it does not accept,
// the validator looks at again, and explains.
type acceptor struct {
	never     bool // nothing is valid
	types     kinds
	constant  *canon.Value
	enum      []canon.Value
	every     []*acceptor // $ref and allOf
	some      []*acceptor // anyOf
	single    []*acceptor // oneOf
	not       *acceptor
	when      *acceptor // if
	then      *acceptor
	otherwise *acceptor
	text      textRule
	number    numberRule
	array     arrayRule
	object    objectRule
}

type textRule struct {
	length  span
	pattern matcher
	format  func(any) error
}

// matcher is a compiled pattern.
type matcher interface{ MatchString(string) bool }

type numberRule struct{ min, max, above, below *float64 }

type arrayRule struct {
	length   span
	unique   bool
	items    *acceptor
	contains *acceptor
	matches  span
}

type objectRule struct {
	size       span
	required   []string
	properties map[string]*acceptor
	patterns   []patterned
	others     *acceptor // additionalProperties
	names      *acceptor
	together   map[string][]string // dependentRequired
}

type patterned struct {
	name  matcher
	value *acceptor
}

// span is a range of counts; a negative end has no limit.
type span struct{ from, to int }

var anyNumber = span{0, -1}

func (s span) has(n int) bool { return n >= s.from && (s.to < 0 || n <= s.to) }

// kinds is a set of JSON types, one bit for each; the empty set allows all.
type kinds uint8

// integers stands for numbers without a fraction.
const integers = kinds(1) << 7

func (k kinds) has(v canon.Value) bool {
	if k == 0 || k&(1<<v.Kind()) != 0 {
		return true
	}
	if k&integers == 0 {
		return false
	}
	f, ok := v.Float()
	return ok && f == float64(int64(f)) || ok && (f >= 1<<53 || f <= -(1<<53)) // large doubles have no fraction
}

// accepts reports whether v is valid.
func (a *acceptor) accepts(v canon.Value) bool {
	if a.never || !a.types.has(v) || a.constant != nil && !canon.Equal(*a.constant, v) || a.enum != nil && !among(a.enum, v) {
		return false
	}
	switch v.Kind() {
	case canon.String:
		s, _ := v.String()
		if !a.text.accepts(s) {
			return false
		}
	case canon.Number:
		f, _ := v.Float()
		if !a.number.accepts(f) {
			return false
		}
	case canon.Array:
		if !a.array.accepts(v.Elems()) {
			return false
		}
	case canon.Object:
		if !a.object.accepts(v) {
			return false
		}
	case canon.NullKind, canon.Bool:
	}
	return a.combines(v)
}

// combines holds v against the schemas that the rules refer to.
func (a *acceptor) combines(v canon.Value) bool {
	for _, x := range a.every {
		if !x.accepts(v) {
			return false
		}
	}
	if a.some != nil && passing(a.some, v, 1) == 0 || a.single != nil && passing(a.single, v, 2) != 1 || a.not != nil && a.not.accepts(v) {
		return false
	}
	if a.when == nil {
		return true
	}
	next := a.otherwise
	if a.when.accepts(v) {
		next = a.then
	}
	return next == nil || next.accepts(v)
}

// passing counts those that accept v, as far as enough.
func passing(list []*acceptor, v canon.Value, enough int) (n int) {
	for _, x := range list {
		if x.accepts(v) {
			if n++; n == enough {
				break
			}
		}
	}
	return n
}

func among(list []canon.Value, v canon.Value) bool {
	for _, x := range list {
		if canon.Equal(x, v) {
			return true
		}
	}
	return false
}

func (t *textRule) accepts(s string) bool {
	if t.length != anyNumber && !t.length.has(utf8.RuneCountInString(s)) {
		return false
	}
	return (t.pattern == nil || t.pattern.MatchString(s)) && (t.format == nil || t.format(s) == nil)
}

func (n *numberRule) accepts(f float64) bool {
	return (n.min == nil || f >= *n.min) && (n.max == nil || f <= *n.max) && (n.above == nil || f > *n.above) && (n.below == nil || f < *n.below)
}

func (a *arrayRule) accepts(elems []canon.Value) bool {
	if !a.length.has(len(elems)) || a.unique && repeats(elems) {
		return false
	}
	if a.items != nil {
		for _, e := range elems {
			if !a.items.accepts(e) {
				return false
			}
		}
	}
	if a.contains == nil {
		return true
	}
	n := 0
	for _, e := range elems {
		if a.contains.accepts(e) {
			n++
		}
	}
	return a.matches.has(n)
}

func (o *objectRule) accepts(v canon.Value) bool {
	if !o.size.has(v.Len()) {
		return false
	}
	for _, name := range o.required {
		if !v.Has(name) {
			return false
		}
	}
	for name, others := range o.together {
		if !v.Has(name) {
			continue
		}
		for _, other := range others {
			if !v.Has(other) {
				return false
			}
		}
	}
	if o.properties == nil && o.patterns == nil && o.others == nil && o.names == nil {
		return true
	}
	for _, m := range v.Members() {
		if !o.member(m) {
			return false
		}
	}
	return true
}

func (o *objectRule) member(m canon.Member) bool {
	p, known := o.properties[m.Name]
	if known && !p.accepts(m.Value) {
		return false
	}
	for i := range o.patterns {
		if !o.patterns[i].name.MatchString(m.Name) {
			continue
		}
		if known = true; !o.patterns[i].value.accepts(m.Value) {
			return false
		}
	}
	if !known && o.others != nil && !o.others.accepts(m.Value) {
		return false
	}
	return o.names == nil || o.names.accepts(canon.StringOf(m.Name))
}

// repeats reports whether an array has two equal elements.
func repeats(elems []canon.Value) bool {
	if len(elems) <= 20 {
		for i := range elems {
			for j := range i {
				if canon.Equal(elems[i], elems[j]) {
					return true
				}
			}
		}
		return false
	}
	seen := make(map[string]bool, len(elems))
	for _, e := range elems {
		text := string(e.Canonical())
		if seen[text] {
			return true
		}
		seen[text] = true
	}
	return false
}
