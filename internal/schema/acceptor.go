package schema

import (
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"writ/internal/canon"
)

// acceptorOf builds an acceptor from the text of the schemas: find returns the
// part of a file that a location names, nil when there is none. The result is nil
// when a rule comes up that acceptors do not know.
func acceptorOf(location string, find func(location string) any) *acceptor {
	b := builder{find: find, done: map[string]*acceptor{}}
	file, _, _ := strings.Cut(location, "#")
	a := b.refer(file, location)
	if b.unknown || b.circular() {
		return nil
	}
	return a
}

// builder makes one acceptor for each place that is referred to, however often.
type builder struct {
	find    func(location string) any
	done    map[string]*acceptor // by location
	all     []*acceptor
	unknown bool // a rule came up that acceptors do not know
}

// refer builds what a reference in a file leads to.
func (b *builder) refer(file, ref string) *acceptor {
	name, fragment, _ := strings.Cut(ref, "#")
	if name != "" && !strings.Contains(name, ":") {
		name = base + name
	}
	if name != "" {
		file = name
	}
	location := file + "#" + fragment
	if a := b.done[location]; a != nil {
		return a
	}
	a := &acceptor{}
	b.done[location] = a
	if fragment != "" && fragment[0] != '/' {
		b.unknown = true // an anchor
		return a
	}
	b.fill(a, file, b.find(location))
	return a
}

func (b *builder) build(file string, x any) *acceptor {
	a := &acceptor{}
	b.fill(a, file, x)
	return a
}

// fill reads a schema: true, false, or an object of rules.
func (b *builder) fill(a *acceptor, file string, x any) {
	b.all = append(b.all, a)
	*a = acceptor{
		text: textRule{length: anyNumber}, array: arrayRule{length: anyNumber, matches: span{1, -1}}, object: objectRule{size: anyNumber},
	}
	switch x := x.(type) {
	case bool:
		a.never = !x
	case map[string]any:
		for name, value := range x {
			if !b.general(a, name, value) && !b.combination(a, file, name, value) && !b.scalar(a, name, value) &&
				!b.list(&a.array, file, name, value) && !b.object(&a.object, file, name, value) {
				b.unknown = true
			}
		}
	default:
		b.unknown = true
	}
}

// general reads what applies to values of any type, and what is no rule.
func (b *builder) general(a *acceptor, name string, value any) bool {
	switch name {
	case "title", "description", "$comment", "$defs":
	case "$schema":
		b.unknown = b.unknown || value != "https://json-schema.org/draft/2020-12/schema"
	case "type":
		names, ok := allTexts(value)
		if one, single := value.(string); single {
			names, ok = []string{one}, true
		}
		var known bool
		a.types, known = kindsOf(names)
		b.unknown = b.unknown || !ok || !known
	case "const":
		v := b.value(value)
		a.constant = &v
	case "enum":
		list, _ := value.([]any)
		for _, x := range list {
			a.enum = append(a.enum, b.value(x))
		}
		b.unknown = b.unknown || len(list) == 0
	default:
		return false
	}
	return true
}

// combination reads what holds the same value against other schemas.
func (b *builder) combination(a *acceptor, file, name string, value any) bool {
	switch name {
	case "$ref":
		ref, _ := value.(string)
		a.every = append(a.every, b.refer(file, ref))
	case "allOf":
		a.every = append(a.every, b.several(file, value)...)
	case "anyOf":
		a.some = b.several(file, value)
	case "oneOf":
		a.single = b.several(file, value)
	case "not":
		a.not = b.build(file, value)
	case "if":
		a.when = b.build(file, value)
	case "then":
		a.then = b.build(file, value)
	case "else":
		a.otherwise = b.build(file, value)
	default:
		return false
	}
	return true
}

// scalar reads the rules of texts and numbers.
func (b *builder) scalar(a *acceptor, name string, value any) bool {
	switch name {
	case "minLength":
		a.text.length.from = b.count(value)
	case "maxLength":
		a.text.length.to = b.count(value)
	case "pattern":
		a.text.pattern = b.pattern(value)
	case "format":
		formats := map[any]func(any) error{"date-time": dateTime, "uri": absoluteURI}
		a.text.format = formats[value]
		b.unknown = b.unknown || a.text.format == nil
	case "minimum":
		a.number.min = b.bound(value)
	case "maximum":
		a.number.max = b.bound(value)
	case "exclusiveMinimum":
		a.number.above = b.bound(value)
	case "exclusiveMaximum":
		a.number.below = b.bound(value)
	default:
		return false
	}
	return true
}

func (b *builder) list(a *arrayRule, file, name string, value any) bool {
	switch name {
	case "minItems":
		a.length.from = b.count(value)
	case "maxItems":
		a.length.to = b.count(value)
	case "uniqueItems":
		a.unique = value == true
	case "items":
		a.items = b.build(file, value)
	case "contains":
		a.contains = b.build(file, value)
	case "minContains":
		a.matches.from = b.count(value)
	case "maxContains":
		a.matches.to = b.count(value)
	default:
		return false
	}
	return true
}

func (b *builder) object(o *objectRule, file, name string, value any) bool {
	switch name {
	case "minProperties":
		o.size.from = b.count(value)
	case "maxProperties":
		o.size.to = b.count(value)
	case "required":
		o.required = b.texts(value)
	case "dependentRequired":
		o.together = map[string][]string{}
		for name, x := range b.members(value) {
			o.together[name] = b.texts(x)
		}
	case "properties":
		o.properties = map[string]*acceptor{}
		for name, x := range b.members(value) {
			o.properties[name] = b.build(file, x)
		}
	case "patternProperties":
		for name, x := range b.members(value) {
			o.patterns = append(o.patterns, patterned{b.pattern(name), b.build(file, x)})
		}
	case "additionalProperties":
		o.others = b.build(file, value)
	case "propertyNames":
		o.names = b.build(file, value)
	default:
		return false
	}
	return true
}

func (b *builder) several(file string, value any) []*acceptor {
	list, _ := value.([]any)
	b.unknown = b.unknown || len(list) == 0
	var out []*acceptor
	for _, x := range list {
		out = append(out, b.build(file, x))
	}
	return out
}

func (b *builder) members(value any) map[string]any {
	m, ok := value.(map[string]any)
	b.unknown = b.unknown || !ok
	return m
}

func (b *builder) texts(value any) []string {
	out, ok := allTexts(value)
	b.unknown = b.unknown || !ok
	return out
}

func allTexts(value any) (out []string, ok bool) {
	list, ok := value.([]any)
	for _, x := range list {
		s, text := x.(string)
		out, ok = append(out, s), ok && text
	}
	return out, ok
}

func (b *builder) pattern(value any) matcher {
	s, ok := value.(string)
	p, err := compilePattern(s)
	if !ok || err != nil {
		b.unknown = true
		return nil
	}
	return p
}

func (b *builder) count(value any) int {
	n, _ := value.(json.Number)
	i, err := strconv.ParseUint(n.String(), 10, 31)
	b.unknown = b.unknown || err != nil
	return int(i)
}

// bound takes a number in the shortest form that tells its double from others: it
// compares with doubles as it does with their decimal text.
func (b *builder) bound(value any) *float64 {
	n, _ := value.(json.Number)
	exact, ok := new(big.Rat).SetString(n.String())
	if !ok {
		b.unknown = true
		return nil
	}
	f, _ := exact.Float64()
	short, ok := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	b.unknown = b.unknown || !ok || short.Cmp(exact) != 0
	return &f
}

func (b *builder) value(x any) canon.Value {
	v, err := canon.From(x)
	b.unknown = b.unknown || err != nil
	return v
}

// circular reports whether some schema refers back to itself on one and the same
// value: then an acceptor would never end.
func (b *builder) circular() bool {
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
	return slices.ContainsFunc(b.all, visit)
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
