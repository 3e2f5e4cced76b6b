package journal

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ident"
)

// maxFields is how many failures one refusal lists.
const maxFields = 64

// checker holds one event against its tables and collects every failure.
type checker struct {
	form  form
	path  []byte // JSON pointer of the value at hand
	fails []fault.Field
}

func (c *checker) fail(v canon.Value, rule string) {
	if len(c.fails) < maxFields {
		c.fails = append(c.fails, fault.Field{Pointer: string(c.path), Rule: rule, Got: show(v)})
	}
}

// failAt records a failure of the member called name.
func (c *checker) failAt(name, rule, got string) {
	if len(c.fails) < maxFields {
		c.fails = append(c.fails, fault.Field{Pointer: canon.PointerTo(string(c.path), name), Rule: rule, Got: got})
	}
}

// err returns what was collected as one error, or nil.
func (c *checker) err(op string) error {
	if len(c.fails) == 0 {
		return nil
	}
	first := c.fails[0]
	e := fault.New(fault.Event, op, "%s", first.Rule).At(first.Pointer)
	if n := len(c.fails); n > 1 {
		e.Public = fmt.Sprintf("%s, and %d more", first.Rule, n-1)
	}
	e.Fields = c.fails
	return e
}

// show shortens a value for an error.
func show(v canon.Value) string {
	if s, ok := v.String(); ok {
		return clip(s, 60)
	}
	if v.Len() > 0 {
		return v.Kind().String()
	}
	return clip(string(v.Canonical()), 60)
}

// object checks the members that the table has, and that none is missing.
func (c *checker) object(v canon.Value, m *members) {
	var seen uint64
	base := len(c.path)
	for _, x := range v.Members() {
		i, ok := m.index[x.Name]
		if !ok || c.form == wire && m.list[i].loose {
			continue
		}
		seen |= 1 << i
		c.path = append(append(c.path, '/'), x.Name...) // names of the tables need no escape
		c.value(x.Value, &m.list[i].shape)
		c.path = c.path[:base]
	}
	missing := m.must[c.form] &^ seen
	for i := 0; missing != 0; i, missing = i+1, missing>>1 {
		if missing&1 != 0 {
			c.failAt(m.list[i].name, "is required", "")
		}
	}
}

func (c *checker) value(v canon.Value, s *shape) {
	switch s.kind {
	case textual:
		c.text(v, s)
	case identifier:
		if t, ok := v.String(); !ok || !ident.Is(s.prefix, t) {
			c.fail(v, "must be "+string(s.prefix)+" and an upper-case ULID")
		}
	case word:
		t, ok := v.String()
		for _, w := range s.words {
			if ok && t == w {
				return
			}
		}
		c.fail(v, "must be one of "+strings.Join(s.words, ", "))
	case constant, integral:
		if n, ok := v.Int(); !ok || n < s.min || n > s.max {
			c.fail(v, "must be "+span("an integer", s.min, s.max))
		}
	case numeric:
		if f, ok := v.Float(); !ok || f < float64(s.min) || f > float64(s.max) {
			c.fail(v, "must be "+span("a number", s.min, s.max))
		}
	case boolean:
		if _, ok := v.Bool(); !ok {
			c.fail(v, "must be true or false")
		}
	case instant:
		c.instant(v)
	case address:
		if t, ok := v.String(); !ok || !isAbsolute(t) {
			c.fail(v, "must be an absolute URI")
		}
	case hexSum:
		if t, ok := v.String(); !ok || !isHexSum(t) {
			c.fail(v, "must be 64 lower-case hex digits")
		}
	case listing:
		c.list(v, s)
	case object:
		if v.Kind() != canon.Object {
			c.fail(v, "must be an object")
		} else if s.members != nil {
			c.object(v, s.members)
		}
	}
}

func span(what string, min, max int64) string {
	if min == max {
		return strconv.FormatInt(min, 10)
	}
	return fmt.Sprintf("%s from %d to %d", what, min, max)
}

func (c *checker) text(v canon.Value, s *shape) {
	t, ok := v.String()
	if !ok {
		c.fail(v, "must be text")
		return
	}
	if int64(len(t)) < s.min {
		c.fail(v, "must not be empty")
		return
	}
	max := s.max
	if max == 0 && c.form != wire {
		max = maxID
	}
	if max > 0 && int64(len(t)) > max { // units and code points never outnumber bytes
		if c.form == wire {
			if runes(t) > max {
				c.fail(v, fmt.Sprintf("must have at most %d characters", max))
			}
		} else if int64(units(t)) > max {
			c.fail(v, fmt.Sprintf("must have at most %d characters, counted in UTF-16 units", max))
		}
	}
	if s.solid && c.form == written && strings.TrimFunc(t, unicode.IsSpace) == "" {
		c.fail(v, "must be more than white space")
	}
}

// runes counts the code points of valid UTF-8.
func runes(s string) int64 {
	var n int64
	for i := range len(s) {
		if s[i]&0xC0 != 0x80 {
			n++
		}
	}
	return n
}

func (c *checker) instant(v canon.Value) {
	t, ok := v.String()
	if !ok || !isInstant(t) {
		c.fail(v, "must be an RFC 3339 date-time with seconds, upper-case T and Z, and no leap second")
		return
	}
	if c.form == wire {
		return
	}
	if at, ok := ParseInstant(t); !ok || at.Year() < 0 || at.Year() > 9999 {
		c.fail(v, "must lie within the years 0 to 9999 in UTC")
	}
}

func (c *checker) list(v canon.Value, s *shape) {
	if v.Kind() != canon.Array {
		c.fail(v, "must be a list")
		return
	}
	if int64(v.Len()) > s.max {
		c.fail(v, fmt.Sprintf("must have at most %d items", s.max))
	}
	base := len(c.path)
	for i, x := range v.Elems() {
		c.path = strconv.AppendInt(append(c.path, '/'), int64(i), 10)
		c.value(x, s.item)
		c.path = c.path[:base]
	}
}

func isHexSum(s string) bool {
	if len(s) != 64 {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// isAbsolute reports whether s is a URI of RFC 3986 with a scheme: no white
// space, nothing that must be escaped, and whole escapes only.
func isAbsolute(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c <= ' ', c >= 0x7F, strings.IndexByte("\"<>\\^`{|}", c) >= 0:
			return false
		case c == '%' && (i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2])):
			return false
		}
	}
	u, err := url.Parse(s)
	return err == nil && u.IsAbs()
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}
