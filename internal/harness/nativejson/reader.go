// Package nativejson reads JSON the way benchmark harnesses write it: strict, but
// for the bare words that they write for numbers that are not finite.
//
// Invariants: a text has one reading or none: names that come twice in an object,
// text that is not UTF-8, raw control characters, surrogates without a partner and
// anything after the value are fault.Malformed with the offset of the byte at
// fault. NaN and the infinities are numbers without a finite value, and counted,
// so that whoever uses a number has to look. Memory follows what the caller keeps,
// not what the text holds.
//
// The package repairs nothing and guesses nothing: a number with thousands
// separators, a missing comma or a text that was cut off ends the reading.
package nativejson

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"

	"writ/internal/fault"
)

const (
	maxBytes = 256 << 20 // of a text
	maxDepth = 64        // arrays and objects inside each other
)

// Kind is what a value is.
type Kind uint8

// The kinds. Invalid is anything that cannot start a value.
const (
	Invalid Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

// Reader goes through one text from its start to its end. Every method but Kind
// consumes what it reads; after an error nothing more can be read.
type Reader struct {
	s         string
	i         int // next byte
	depth     int
	nonFinite int
	names     []name // of the objects that are open, innermost last
	escaped   []byte // those of names that are not spelled as they are
}

// name is where a member's name is. There may be one for every few bytes of the
// text, so it is small.
type name struct {
	at       int32 // of its quote, in the text
	from, to int32 // in the text; in Reader.escaped when it is not spelled as it is, and then negative
}

// nameOf is a member's name, without a copy: it is good until the next name is read.
func (r *Reader) nameOf(n name) string {
	if n.from < 0 {
		b := r.escaped[-n.from-1 : -n.to-1]
		return unsafe.String(unsafe.SliceData(b), len(b))
	}
	return r.s[n.from:n.to]
}

// New makes a reader for a text.
func New(text []byte) (*Reader, error) {
	const op = "read native output"
	if len(text) > maxBytes {
		return nil, fault.New(fault.TooLarge, op, "%d bytes, at most %d are read", len(text), maxBytes)
	}
	r := &Reader{s: string(text)}
	if strings.HasPrefix(r.s, "\uFEFF") {
		return nil, r.fail(0, "byte order mark")
	}
	for i := 0; i < len(r.s); {
		if r.s[i] < utf8.RuneSelf {
			i++
			continue
		}
		c, n := utf8.DecodeRuneInString(r.s[i:])
		if c == utf8.RuneError && n == 1 {
			return nil, r.fail(i, "text is not UTF-8")
		}
		i += n
	}
	return r, nil
}

// NonFinite returns how many numbers so far were not finite.
func (r *Reader) NonFinite() int { return r.nonFinite }

// Fail returns an error at the reading position, for values that are well formed
// and not what the format says.
func (r *Reader) Fail(format string, args ...any) error {
	r.space()
	return r.fail(r.i, format, args...)
}

func (r *Reader) fail(at int, format string, args ...any) error {
	return fault.New(fault.Malformed, "read native output", format, args...).AtByte(int64(at))
}

func (r *Reader) unexpected(want string) error {
	if r.i >= len(r.s) {
		return r.fail(r.i, "text ends, %s is missing", want)
	}
	return r.fail(r.i, "%s expected, found %q", want, r.s[r.i])
}

func (r *Reader) space() {
	for r.i < len(r.s) {
		switch r.s[r.i] {
		case ' ', '\t', '\n', '\r':
			r.i++
		default:
			return
		}
	}
}

// Kind tells what the next value is, by how it begins.
func (r *Reader) Kind() Kind {
	r.space()
	if r.i >= len(r.s) {
		return Invalid
	}
	switch c := r.s[r.i]; c {
	case '{':
		return Object
	case '[':
		return Array
	case '"':
		return String
	case 't', 'f':
		return Bool
	case 'n':
		if strings.HasPrefix(r.s[r.i:], "nan") {
			return Number
		}
		return Null
	default:
		if c == '-' || '0' <= c && c <= '9' || c == 'N' || c == 'I' || c == 'i' {
			return Number
		}
		return Invalid
	}
}

// Done makes sure that nothing follows.
func (r *Reader) Done() error {
	if r.space(); r.i < len(r.s) {
		return r.fail(r.i, "text after the value")
	}
	return nil
}

// Object reads an object and calls member at the value of each name; member must
// read the value, or Skip it.
func (r *Reader) Object(member func(name string) error) error {
	if err := r.open('{', "an object"); err != nil {
		return err
	}
	if r.space(); r.i < len(r.s) && r.s[r.i] == '}' {
		return r.shut()
	}
	base, escaped := len(r.names), len(r.escaped)
	for {
		if r.space(); r.i >= len(r.s) || r.s[r.i] != '"' {
			return r.unexpected("a member name")
		}
		n := name{at: int32(r.i), from: int32(r.i + 1)} // a text has at most 2^28 bytes
		text, err := r.Text()
		if err != nil {
			return err
		}
		if n.to = int32(r.i - 1); int(n.to-n.from) != len(text) {
			n.from = -int32(len(r.escaped)) - 1
			r.escaped = append(r.escaped, text...)
			n.to = -int32(len(r.escaped)) - 1
		}
		r.names = append(r.names, n)
		if r.space(); r.i >= len(r.s) || r.s[r.i] != ':' {
			return r.unexpected("a colon")
		}
		r.i++
		if err := member(text); err != nil {
			return err
		}
		more, err := r.separator('}', "comma or }")
		if err != nil {
			return err
		}
		if !more {
			return r.forget(base, escaped)
		}
	}
}

// forget drops the names of the object that was read last, unless one is there
// twice.
func (r *Reader) forget(base, escaped int) error {
	mine := r.names[base:]
	slices.SortFunc(mine, func(a, b name) int {
		return cmp.Or(strings.Compare(r.nameOf(a), r.nameOf(b)), cmp.Compare(a.at, b.at))
	})
	for i := 1; i < len(mine); i++ {
		if text := r.nameOf(mine[i]); text == r.nameOf(mine[i-1]) {
			return r.fail(int(mine[i].at), "member %q comes twice", text)
		}
	}
	r.names, r.escaped = r.names[:base], r.escaped[:escaped]
	return nil
}

// Array reads an array and calls element at each value, which element must read
// or Skip.
func (r *Reader) Array(element func() error) error {
	if err := r.open('[', "an array"); err != nil {
		return err
	}
	if r.space(); r.i < len(r.s) && r.s[r.i] == ']' {
		return r.shut()
	}
	for {
		if err := element(); err != nil {
			return err
		}
		if more, err := r.separator(']', "comma or ]"); err != nil || !more {
			return err
		}
	}
}

func (r *Reader) open(bracket byte, want string) error {
	if r.space(); r.i >= len(r.s) || r.s[r.i] != bracket {
		return r.unexpected(want)
	}
	if r.depth == maxDepth {
		return r.fail(r.i, "nested too deeply")
	}
	r.depth++
	r.i++
	return nil
}

func (r *Reader) shut() error {
	r.depth--
	r.i++
	return nil
}

func (r *Reader) separator(end byte, want string) (more bool, err error) {
	if r.space(); r.i < len(r.s) {
		switch r.s[r.i] {
		case ',':
			r.i++
			return true, nil
		case end:
			return false, r.shut()
		}
	}
	return false, r.unexpected(want)
}

// Skip reads a value of any kind and forgets it. It is as strict as the rest.
func (r *Reader) Skip() error {
	switch r.Kind() {
	case Object:
		return r.Object(func(string) error { return r.Skip() })
	case Array:
		return r.Array(r.Skip)
	case String:
		_, err := r.Text()
		return err
	case Number:
		_, err := r.Number()
		return err
	case Bool:
		_, err := r.Bool()
		return err
	case Null:
		return r.word("null")
	case Invalid:
	}
	return r.unexpected("a value")
}

// Bool reads true or false.
func (r *Reader) Bool() (bool, error) {
	if r.space(); r.i < len(r.s) && r.s[r.i] == 't' {
		return true, r.word("true")
	}
	return false, r.word("false")
}

func (r *Reader) word(w string) error {
	for j := range len(w) {
		if r.i >= len(r.s) || r.s[r.i] != w[j] {
			return r.unexpected(w)
		}
		r.i++
	}
	return nil
}

// Num is a number of the text.
type Num struct {
	Value float64 // not finite when the harness wrote so, or when a double cannot hold it
}

// Finite reports whether the number can be used.
func (n Num) Finite() bool { return !math.IsNaN(n.Value) && !math.IsInf(n.Value, 0) }

// Int returns the number as an integer of at most 2^53 in size.
func (n Num) Int() (int, bool) {
	const limit = 1 << 53
	if !n.Finite() || n.Value != math.Trunc(n.Value) || math.Abs(n.Value) > limit {
		return 0, false
	}
	return int(n.Value), true
}

// bare are the words for numbers that are not finite, in the spellings that C++
// libraries and Python print, the longer of two with one beginning first.
var bare = []struct {
	word  string
	value float64
}{
	{"NaN", math.NaN()}, {"-NaN", math.NaN()}, {"nan", math.NaN()}, {"-nan", math.NaN()},
	{"Infinity", math.Inf(1)}, {"-Infinity", math.Inf(-1)}, {"inf", math.Inf(1)}, {"-inf", math.Inf(-1)},
}

// Number reads a number.
func (r *Reader) Number() (Num, error) {
	r.space()
	for _, b := range bare {
		if strings.HasPrefix(r.s[r.i:], b.word) {
			r.i += len(b.word)
			r.nonFinite++
			return Num{b.value}, nil
		}
	}
	start := r.i
	if r.peek() == '-' {
		r.i++
	}
	switch c := r.peek(); {
	case c == '0':
		r.i++
	case '1' <= c && c <= '9':
		r.digits()
	default:
		return Num{}, r.unexpected("a number")
	}
	if r.peek() == '.' {
		r.i++
		if !r.digits() {
			return Num{}, r.unexpected("a digit")
		}
	}
	if c := r.peek(); c == 'e' || c == 'E' {
		r.i++
		if c := r.peek(); c == '+' || c == '-' {
			r.i++
		}
		if !r.digits() {
			return Num{}, r.unexpected("a digit")
		}
	}
	v, err := strconv.ParseFloat(r.s[start:r.i], 64)
	if err != nil { // the grammar is right, so it is too large
		r.nonFinite++
	}
	return Num{v}, nil
}

// Numbers reads an array of nothing but numbers, finite or not. It is allocated
// once, at its size.
func (r *Reader) Numbers() ([]float64, error) {
	if r.Kind() != Array {
		return nil, r.unexpected("an array")
	}
	rest := r.s[r.i:]
	if end := strings.IndexByte(rest, ']'); end >= 0 {
		rest = rest[:end]
	}
	out := make([]float64, 0, strings.Count(rest, ",")+1)
	err := r.Array(func() error {
		n, err := r.Number()
		out = append(out, n.Value)
		return err
	})
	return out, err
}

// peek is the next byte, or 0.
func (r *Reader) peek() byte {
	if r.i < len(r.s) {
		return r.s[r.i]
	}
	return 0
}

func (r *Reader) digits() bool {
	start := r.i
	for c := r.peek(); '0' <= c && c <= '9'; c = r.peek() {
		r.i++
	}
	return r.i > start
}
