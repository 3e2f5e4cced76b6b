package canon

import (
	"math"
	"strconv"

	"writ/internal/fault"
)

// number reads a number. Grammar first, so that offsets are exact; then the
// value.
func (p *parser) number() (Value, *fault.Error) {
	start := p.i
	if p.s[p.i] == '-' {
		p.i++
	}
	digits := p.i
	switch {
	case p.i < len(p.s) && p.s[p.i] == '0':
		p.i++
		if p.i < len(p.s) && isDigit(p.s[p.i]) {
			return Value{}, p.fail(p.i, "digit after a leading zero")
		}
	case !p.digits():
		return Value{}, p.unexpected("a digit")
	}
	integer := true
	if p.i < len(p.s) && p.s[p.i] == '.' {
		integer = false
		if p.i++; !p.digits() {
			return Value{}, p.unexpected("a digit")
		}
	}
	if p.i < len(p.s) && p.s[p.i]|0x20 == 'e' {
		integer = false
		p.i++
		if p.i < len(p.s) && (p.s[p.i] == '+' || p.s[p.i] == '-') {
			p.i++
		}
		if !p.digits() {
			return Value{}, p.unexpected("a digit")
		}
	}
	if integer {
		return p.integer(start, digits)
	}
	f, err := strconv.ParseFloat(p.s[start:p.i], 64)
	if err != nil || math.IsInf(f, 0) {
		return Value{}, p.fail(start, "number too large")
	}
	if unsafeInteger(f) {
		return Value{}, p.fail(start, "integer beyond 2^53-1")
	}
	return number(f), nil
}

func (p *parser) integer(start, digits int) (Value, *fault.Error) {
	var n int64
	for _, c := range []byte(p.s[digits:p.i]) {
		if n = n*10 + int64(c-'0'); n > MaxSafe {
			return Value{}, p.fail(start, "integer beyond 2^53-1")
		}
	}
	if start != digits {
		n = -n
	}
	return Value{kind: Number, num: float64(n)}, nil
}

// digits reads digits and reports whether there was one.
func (p *parser) digits() bool {
	start := p.i
	for p.i < len(p.s) && isDigit(p.s[p.i]) {
		p.i++
	}
	return p.i > start
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
