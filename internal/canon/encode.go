package canon

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Canonical returns the RFC 8785 bytes of v: members sorted by UTF-16 code
// units, numbers in ECMAScript's shortest form, the shortest escapes, no
// whitespace.
func (v Value) Canonical() []byte { return v.AppendCanonical(make([]byte, 0, v.size())) }

// size estimates the length of the canonical form: exact for text without
// escapes, a guess for numbers.
func (v Value) size() int {
	switch v.kind {
	case String:
		return len(v.str) + 2
	case Array, Object:
	default:
		return 8
	}
	n := 2
	if v.kids == nil {
		return n
	}
	for i := range v.kids.elems {
		n += v.kids.elems[i].size() + 1
	}
	for i := range v.kids.members {
		n += len(v.kids.members[i].Name) + v.kids.members[i].Value.size() + 4
	}
	return n
}

// AppendCanonical appends the RFC 8785 bytes of v to dst.
func (v Value) AppendCanonical(dst []byte) []byte { return v.append(dst, false) }

// append writes the compact form. Members are in UTF-16 order, or in byte order
// when byByte is set; the orders differ only for names beyond the BMP.
func (v Value) append(dst []byte, byByte bool) []byte {
	switch v.kind {
	case NullKind:
		return append(dst, "null"...)
	case Bool:
		return strconv.AppendBool(dst, v.num != 0)
	case Number:
		return appendNumber(dst, v.num)
	case String:
		return appendString(dst, v.str)
	case Array:
		dst = append(dst, '[')
		for i, e := range v.Elems() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = e.append(dst, byByte)
		}
		return append(dst, ']')
	}
	dst = append(dst, '{')
	for i, m := range v.sorted(byByte) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, m.Name)
		dst = append(dst, ':')
		dst = m.Value.append(dst, byByte)
	}
	return append(dst, '}')
}

// sorted yields the members of an object in order.
func (v Value) sorted(byByte bool) func(yield func(int, *Member) bool) {
	return func(yield func(int, *Member) bool) {
		n := v.Len()
		if byByte && slices.ContainsFunc(v.Members(), func(m Member) bool { return beyondBMP(m.Name) }) {
			members := slices.Clone(v.kids.members)
			slices.SortFunc(members, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
			for i := range members {
				if !yield(i, &members[i]) {
					return
				}
			}
			return
		}
		for i := range n {
			if !yield(i, v.kids.at(i)) {
				return
			}
		}
	}
}

func beyondBMP(s string) bool {
	for i := range len(s) {
		if s[i] >= 0xF0 {
			return true
		}
	}
	return false
}

// appendNumber writes a finite double as ECMAScript does: the shortest digits
// that read back as the same double, plain from 1e-6 up to below 1e21, with an
// exponent of no leading zeros elsewhere.
func appendNumber(dst []byte, f float64) []byte {
	if i := int64(f); float64(i) == f && -MaxSafe <= i && i <= MaxSafe {
		return strconv.AppendInt(dst, i, 10)
	}
	if a := math.Abs(f); a >= 1e-6 && a < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	if n := len(dst); dst[n-2] == '0' && dst[n-3] == '-' { // e-07 is e-7
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}

const hexDigits = "0123456789abcdef"

// appendString writes s in quotes. Only the quote, the backslash and the
// control characters below U+0020 are escaped.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); i++ {
		if i += plain(s[i:]); i == len(s) {
			break
		}
		c := s[i]
		if c >= utf8.RuneSelf {
			continue
		}
		dst = append(dst, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\r':
			dst = append(dst, '\\', 'r')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// Format prints the canonical text under every verb.
func (v Value) Format(s fmt.State, _ rune) { s.Write(v.Canonical()) }

// MarshalJSON returns the canonical bytes.
func (v Value) MarshalJSON() ([]byte, error) { return v.Canonical(), nil }

// UnmarshalJSON reads strictly, as Parse does.
func (v *Value) UnmarshalJSON(b []byte) error {
	x, err := Parse(b)
	if err != nil {
		return err
	}
	*v = x
	return nil
}

// Any returns v as the types that schema validators take: nil, bool,
// json.Number in canonical spelling, string, []any and map[string]any.
func (v Value) Any() any {
	switch v.kind {
	case Bool:
		return v.num != 0
	case Number:
		return json.Number(appendNumber(nil, v.num))
	case String:
		return v.str
	case Array:
		out := make([]any, v.Len())
		for i, e := range v.Elems() {
			out[i] = e.Any()
		}
		return out
	case Object:
		out := make(map[string]any, v.Len())
		for _, m := range v.Members() {
			out[m.Name] = m.Value.Any()
		}
		return out
	}
	return nil
}
