package benchfile

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// result takes a line that began with Benchmark, and was cut behind it.
func (r *reader) result(b []byte) {
	name, rest := field(b)
	if len(rest) == 0 && len(name) == len(b) {
		return // the name alone: a benchmark was announced
	}
	if !r.options.Plain && !isName(name) {
		return // a word that happens to begin so
	}
	f, rest := field(rest)
	if len(f) == 0 {
		r.spoil(name, "missing iteration count")
		return
	}
	if n, err := strconv.Atoi(string(f)); err != nil || n < 1 && !r.options.Plain {
		r.spoil(name, "parsing iteration count: "+why(err, "not positive"))
		return
	}
	// The whole line is read before any of it counts.
	var scratch [16]reading
	values := scratch[:0]
	for {
		if f, rest = field(rest); len(f) == 0 {
			break
		}
		v, err := number(f)
		if err != nil {
			r.spoil(name, "parsing measurement: "+why(err, ""))
			return
		}
		if f, rest = field(rest); len(f) == 0 {
			r.spoil(name, "missing units")
			return
		}
		u := r.part.unitOf(f)
		if !r.options.Plain && slices.ContainsFunc(values, func(x reading) bool { return x.unit == u }) {
			r.spoil(name, fmt.Sprintf("%s comes twice", f))
			return
		}
		values = append(values, reading{u, v})
	}
	if len(values) == 0 {
		r.spoil(name, "missing measurements")
		return
	}
	id := r.caseOf(name)
	for _, x := range values {
		u := &r.part.raw[x.unit]
		v := x.value * u.factor
		r.part.columnFor(u, r.options.Plain && v == x.value).add(id, r.round, v) // zero keeps its unit there
	}
	r.file.Values += len(values)
	r.part.unmarked = r.part.unmarked || r.round < 0
}

type reading struct {
	unit  int // index of part.raw
	value float64
}

// caseOf finds the case of a name, at first where it was the last time: files go
// through the same cases in the same order again and again.
func (r *reader) caseOf(name []byte) uint32 {
	cases := r.file.cases
	if len(cases) > 0 {
		for _, guess := range [2]uint32{r.last, r.follow[r.last]} {
			if c := &cases[guess]; c.config == r.at && c.name == string(name) {
				r.follow[r.last], r.last = guess, guess
				return guess
			}
		}
	}
	id, ok := r.current.index[string(name)]
	if !ok {
		id = uint32(len(cases))
		text := string(name)
		r.current.index[text] = id
		r.file.cases = append(cases, caseName{r.at, text})
		r.follow = append(r.follow, id)
	}
	r.follow[r.last], r.last = id, id
	return id
}

// spoil notes a broken line.
func (r *reader) spoil(name []byte, reason string) {
	if len(r.file.broken) == maxBroken {
		r.file.more++
		return
	}
	r.file.broken = append(r.file.broken, Broken{
		Line: r.file.Lines, Name: "Benchmark" + string(name), Reason: reason, config: r.at,
	})
}

// refuse notes something about rounds that cannot be.
func (r *reader) refuse(format string, args ...any) {
	r.file.twice = append(r.file.twice, fmt.Sprintf("%s:%d: ", r.file.Name, r.file.Lines)+fmt.Sprintf(format, args...))
}

// why is the cause of a number that is none, without the text of the number.
func why(err error, otherwise string) string {
	if e, ok := err.(*strconv.NumError); ok { //nolint:errorlint // as strconv returns it
		return e.Err.Error()
	}
	if err != nil {
		return err.Error()
	}
	return otherwise
}

// isName reports whether Go would take the rest of a name for one of a benchmark.
func isName(rest []byte) bool {
	first, _ := utf8.DecodeRune(rest)
	return len(rest) == 0 || !unicode.IsLower(first)
}

var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// number reads a number. Up to 15 digits the quotient of two whole numbers that a
// float holds exactly is the nearest float; everything else goes the long way.
func number(b []byte) (float64, error) {
	var whole uint64
	digits, point := 0, -1
	for i, c := range b {
		switch d := c - '0'; {
		case d <= 9:
			whole = whole*10 + uint64(d)
			digits++
		case c == '.' && point < 0:
			point = i
		default:
			return parse(b)
		}
		if digits > 15 {
			return parse(b)
		}
	}
	switch {
	case digits == 0:
		return parse(b)
	case point < 0:
		return float64(whole), nil
	}
	return float64(whole) / powers[len(b)-1-point], nil
}

func parse(b []byte) (float64, error) {
	v, err := strconv.ParseFloat(string(b), 64)
	if err == nil || math.IsInf(v, 0) && string(b) != "" {
		return v, err
	}
	return 0, err
}

// space are the bytes that end a field, and inside those that do not, both as far as
// they are ASCII.
var (
	space  = [256]bool{'\t': true, '\n': true, '\v': true, '\f': true, '\r': true, ' ': true}
	inside = func() (out [256]bool) {
		for c := range utf8.RuneSelf {
			out[c] = !space[c]
		}
		return out
	}()
)

// field cuts off the first field, and the white space behind it.
func field(b []byte) (f, rest []byte) {
	i := 0
	for i < len(b) && inside[b[i]] {
		i++
	}
	end := i
	for i < len(b) && space[b[i]] {
		i++
	}
	if i < len(b) && b[i] >= utf8.RuneSelf {
		return wideField(b)
	}
	return b[:end], b[i:]
}

// wideField is field where there is more than ASCII.
func wideField(b []byte) (f, rest []byte) {
	i, n := 0, 0
	for i < len(b) {
		if n = blank(b[i:]); n > 0 {
			break
		}
		i++
	}
	f, rest = b[:i], b[i+n:]
	for len(rest) > 0 {
		n := blank(rest)
		if n == 0 {
			break
		}
		rest = rest[n:]
	}
	return f, rest
}

// blank is the length of the white space character that b begins with; 0 when it
// begins with another one.
func blank(b []byte) int {
	if b[0] < utf8.RuneSelf {
		if space[b[0]] {
			return 1
		}
		return 0
	}
	if c, n := utf8.DecodeRune(b); unicode.IsSpace(c) {
		return n
	}
	return 0
}

// keyValue reads "key: value". A key begins with a lower-case letter and holds
// neither upper-case letters nor white space.
func keyValue(b []byte) (key, value []byte, ok bool) {
	for i := 0; i < len(b); {
		c, n := utf8.DecodeRune(b[i:])
		if i == 0 && !unicode.IsLower(c) || unicode.IsSpace(c) || unicode.IsUpper(c) {
			return nil, nil, false
		}
		if i > 0 && c == ':' {
			key, value = b[:i], b[i+1:]
			break
		}
		i += n
	}
	if len(key) == 0 {
		return nil, nil, false
	}
	if len(value) == 0 {
		return key, value, true
	}
	for len(value) > 0 && (value[0] == ' ' || value[0] == '\t') {
		value, ok = value[1:], true
	}
	return key, value, ok
}
