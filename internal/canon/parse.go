package canon

import (
	"writ/internal/fault"
)

// Limits bound what a parser takes. A zero field means the default.
type Limits struct {
	Bytes int64 // size of the text, in bytes; default 16 MiB
	Depth int   // arrays and objects inside each other; default 64
}

// The default limits.
const (
	DefaultBytes = 16 << 20
	DefaultDepth = 64
)

// Parse reads one JSON value within the default limits; see ParseLimits.
func Parse(b []byte) (Value, error) { return ParseLimits(b, Limits{}) }

// ParseLimits reads one JSON value and nothing else. Beyond the grammar of RFC
// 8259 it refuses what would give one text two readings: a name that comes
// twice in an object, text that is not UTF-8, a byte order mark, a surrogate
// without its partner, a number too large for a double, an integer beyond
// ±(2^53-1) in any spelling that the canonical form writes as an integer, and
// nesting beyond the limit. All of these are fault.Malformed with the offset of
// the first byte at fault; a text over the size limit is fault.TooLarge.
//
// The value keeps a copy of the text; b may be reused.
func ParseLimits(b []byte, l Limits) (Value, error) {
	if l.Bytes <= 0 {
		l.Bytes = DefaultBytes
	}
	if l.Depth <= 0 {
		l.Depth = DefaultDepth
	}
	if int64(len(b)) > l.Bytes {
		return Value{}, fault.New(fault.TooLarge, "parse json", "%d bytes, at most %d are allowed", len(b), l.Bytes)
	}
	var elems [8]Value
	var members [16]openMember
	p := parser{s: string(b), depth: l.Depth, elems: elems[:0], members: members[:0]}
	v, err := p.document()
	if err != nil {
		return Value{}, err
	}
	return v, nil
}

// parser walks the text once. Parts of unfinished arrays and objects lie on
// two stacks, so that each finished one is allocated once, at its exact size.
type parser struct {
	s       string
	i       int // next byte
	depth   int // levels that may still be opened
	elems   []Value
	members []openMember
}

type openMember struct {
	Member
	at int // offset of the name
}

func (p *parser) document() (Value, *fault.Error) {
	if len(p.s) >= 3 && p.s[:3] == "\uFEFF" {
		return Value{}, p.fail(0, "byte order mark")
	}
	v, err := p.value()
	if err != nil {
		return Value{}, err
	}
	if p.space(); p.i < len(p.s) {
		return Value{}, p.fail(p.i, "text after the value")
	}
	return v, nil
}

func (p *parser) fail(at int, format string, args ...any) *fault.Error {
	return fault.New(fault.Malformed, "parse json", format, args...).AtByte(int64(at))
}

// unexpected reports the byte at the reading position.
func (p *parser) unexpected(want string) *fault.Error {
	if p.i >= len(p.s) {
		return p.fail(p.i, "text ends, %s is missing", want)
	}
	return p.fail(p.i, "%s expected, found %q", want, p.s[p.i])
}

func (p *parser) space() {
	for p.i < len(p.s) {
		switch p.s[p.i] {
		case ' ', '\t', '\n', '\r':
			p.i++
		default:
			return
		}
	}
}

func (p *parser) value() (Value, *fault.Error) {
	p.space()
	if p.i >= len(p.s) {
		return Value{}, p.unexpected("a value")
	}
	switch c := p.s[p.i]; {
	case c == '"':
		s, err := p.text()
		return Value{kind: String, str: s}, err
	case c == '{' || c == '[':
		return p.nested(c)
	case c == '-' || '0' <= c && c <= '9':
		return p.number()
	case c == 't':
		return p.word("true", BoolOf(true))
	case c == 'f':
		return p.word("false", BoolOf(false))
	case c == 'n':
		return p.word("null", Value{})
	}
	return Value{}, p.unexpected("a value")
}

func (p *parser) word(w string, v Value) (Value, *fault.Error) {
	for j := range len(w) {
		if p.i >= len(p.s) || p.s[p.i] != w[j] {
			return Value{}, p.unexpected(w)
		}
		p.i++
	}
	return v, nil
}

// nested reads the array or object whose bracket is the next byte.
func (p *parser) nested(bracket byte) (v Value, err *fault.Error) {
	if p.depth == 0 {
		return Value{}, p.fail(p.i, "nested too deeply")
	}
	p.depth--
	p.i++
	if bracket == '{' {
		v, err = p.object()
	} else {
		v, err = p.array()
	}
	p.depth++
	return v, err
}

func (p *parser) array() (Value, *fault.Error) {
	if p.space(); p.i < len(p.s) && p.s[p.i] == ']' {
		p.i++
		return Value{kind: Array}, nil
	}
	base := len(p.elems)
	for {
		v, err := p.value()
		if err != nil {
			return Value{}, err
		}
		p.elems = append(p.elems, v)
		more, err := p.separator(']', "comma or ]")
		if err != nil {
			return Value{}, err
		}
		if !more {
			break
		}
	}
	elems := append(make([]Value, 0, len(p.elems)-base), p.elems[base:]...)
	clear(p.elems[base:])
	p.elems = p.elems[:base]
	return Value{kind: Array, kids: &children{elems: elems}}, nil
}

func (p *parser) object() (Value, *fault.Error) {
	if p.space(); p.i < len(p.s) && p.s[p.i] == '}' {
		p.i++
		return Value{kind: Object}, nil
	}
	base := len(p.members)
	for {
		m, err := p.member()
		if err != nil {
			return Value{}, err
		}
		p.members = append(p.members, m)
		more, err := p.separator('}', "comma or }")
		if err != nil {
			return Value{}, err
		}
		if !more {
			break
		}
	}
	open := p.members[base:]
	members := make([]Member, len(open))
	for i := range open {
		members[i] = open[i].Member
	}
	v, dup := objectOf(members)
	if dup >= 0 {
		return Value{}, p.fail(open[dup].at, "member %q comes twice", open[dup].Name)
	}
	clear(open)
	p.members = p.members[:base]
	return v, nil
}

func (p *parser) member() (openMember, *fault.Error) {
	p.space()
	if p.i >= len(p.s) || p.s[p.i] != '"' {
		return openMember{}, p.unexpected("a member name")
	}
	at := p.i
	name, err := p.text()
	if err != nil {
		return openMember{}, err
	}
	if p.space(); p.i >= len(p.s) || p.s[p.i] != ':' {
		return openMember{}, p.unexpected("a colon")
	}
	p.i++
	v, err := p.value()
	return openMember{Member{name, v}, at}, err
}

// separator reads a comma or the closing bracket and reports whether more
// follows.
func (p *parser) separator(end byte, want string) (more bool, err *fault.Error) {
	p.space()
	if p.i < len(p.s) {
		switch p.s[p.i] {
		case ',':
			p.i++
			return true, nil
		case end:
			p.i++
			return false, nil
		}
	}
	return false, p.unexpected(want)
}
