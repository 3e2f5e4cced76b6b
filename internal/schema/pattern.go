package schema

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"writ/internal/ident"
)

// Patterns in schemas are ECMAScript. Go's engine reads \s and \S as ASCII only,
// so a no-break space or a line separator would slip through it. Nearly all our
// patterns are a fixed row of characters and classes; those are matched by hand
// below, with ECMAScript's white space. The few others are rewritten for Go's
// engine with the class spelled out.

// tokenPattern is the one pattern that means more than it says: a token also
// excludes U+0085, which Unicode calls white space and ECMAScript does not.
const tokenPattern = `^\S+$`

type token struct{}

func (token) String() string            { return tokenPattern }
func (token) MatchString(s string) bool { return ident.IsToken(s) }

// instantPattern is the time of the event format: a date-time with upper-case
// letters and without leap seconds.
const instantPattern = `^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|([+-](?:[01]\d|2[0-3]):[0-5]\d)))$`

type instant struct{}

func (instant) String() string { return instantPattern }

func (instant) MatchString(s string) bool {
	return isDateTime(s) && s[10] == 'T' && s[17] != '6' && s[len(s)-1] != 'z'
}

func compilePattern(p string) (jsonschema.Regexp, error) {
	switch p {
	case tokenPattern:
		return token{}, nil
	case instantPattern:
		return instant{}, nil
	}
	if r, ok := parseRow(p); ok {
		return r, nil
	}
	re, err := regexp.Compile(forGo(p))
	if err != nil {
		return nil, err
	}
	return &rewritten{p, re}, nil
}

// rewritten is a pattern that Go's engine runs in another spelling.
type rewritten struct {
	source string
	re     *regexp.Regexp
}

func (r *rewritten) String() string            { return r.source }
func (r *rewritten) MatchString(s string) bool { return r.re.MatchString(s) }

// spaces is ECMAScript's white space as the inside of a class of Go's engine.
const spaces = `\t\n\v\f\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`

// forGo spells an ECMAScript pattern so that Go's engine reads it alike.
func forGo(p string) string {
	var b strings.Builder
	class := false
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case c == '\\' && i+1 < len(p):
			i++
			switch {
			case p[i] == 's' && class:
				b.WriteString(spaces)
			case p[i] == 's':
				b.WriteString("[" + spaces + "]")
			case p[i] == 'S' && !class:
				b.WriteString("[^" + spaces + "]")
			default:
				b.WriteByte('\\')
				b.WriteByte(p[i])
			}
		case c == '.' && !class:
			b.WriteString(`[^\n\r\x{2028}\x{2029}]`)
		default:
			if c == '[' {
				class = true
			} else if c == ']' {
				class = false
			}
			b.WriteByte(c)
		}
	}
	return b.String()
}

// row is a pattern ^…$ of parts that follow each other without alternatives,
// where what may repeat can never also begin what comes next: reading from left
// to right decides, and never has to go back.
type row struct {
	source string
	parts  []part
}

// part is a literal text, or min to max characters of a set.
type part struct {
	text     string
	set      set
	min, max int // max < 0: no limit
}

func (r *row) String() string { return r.source }

func (r *row) MatchString(s string) bool {
	for i := range r.parts {
		p := &r.parts[i]
		if p.text != "" {
			rest, ok := strings.CutPrefix(s, p.text)
			if !ok {
				return false
			}
			s = rest
			continue
		}
		n := 0
		for s != "" && (p.max < 0 || n < p.max) {
			c, size := rune(s[0]), 1
			if c >= utf8.RuneSelf {
				c, size = utf8.DecodeRuneInString(s)
			}
			if !p.set.has(c) {
				break
			}
			s = s[size:]
			n++
		}
		if n < p.min {
			return false
		}
	}
	return s == ""
}

// set is a set of characters: any of ASCII, and beyond ASCII one of four.
type set struct {
	ascii [2]uint64
	wide  wide
}

type wide uint8

const (
	wideNone wide = iota
	wideAll
	wideSpace
	wideSolid // all but white space
)

func (s *set) has(c rune) bool {
	if c < utf8.RuneSelf {
		return s.ascii[c>>6]&(1<<(c&63)) != 0
	}
	switch s.wide {
	case wideAll:
		return true
	case wideSpace:
		return !ident.NoSpace(string(c))
	case wideSolid:
		return ident.NoSpace(string(c))
	case wideNone:
	}
	return false
}

func (s *set) add(c byte) { s.ascii[c>>6] |= 1 << (c & 63) }

func (s *set) negate() {
	s.ascii[0], s.ascii[1] = ^s.ascii[0], ^s.ascii[1]
	s.wide = [...]wide{wideNone: wideAll, wideAll: wideNone, wideSpace: wideSolid, wideSolid: wideSpace}[s.wide]
}

// apart reports whether no character is in both sets.
func (s *set) apart(o *set) bool {
	if s.ascii[0]&o.ascii[0] != 0 || s.ascii[1]&o.ascii[1] != 0 {
		return false
	}
	return s.wide == wideNone || o.wide == wideNone ||
		s.wide == wideSpace && o.wide == wideSolid || s.wide == wideSolid && o.wide == wideSpace
}

// space puts ECMAScript's white space into the set.
func (s *set) space() bool {
	if s.wide != wideNone {
		return false
	}
	for _, c := range []byte("\t\n\v\f\r ") {
		s.add(c)
	}
	s.wide = wideSpace
	return true
}

// parseRow reads a pattern as a row; ok is false when it is anything more.
func parseRow(source string) (r *row, ok bool) {
	p, ok := strings.CutPrefix(source, "^")
	if !ok || !strings.HasSuffix(p, "$") || strings.HasSuffix(p, `\$`) {
		return nil, false
	}
	p = strings.TrimSuffix(p, "$")
	r = &row{source: source}
	for p != "" {
		var x part
		if x.set, p, ok = parseSet(p); !ok {
			return nil, false
		}
		if x.min, x.max, p, ok = parseCount(p); !ok {
			return nil, false
		}
		r.parts = append(r.parts, x)
	}
	if !r.decided() {
		return nil, false
	}
	r.join()
	return r, true
}

// decided reports whether greedy reading is the only reading.
func (r *row) decided() bool {
	for i := range r.parts {
		if r.parts[i].min == r.parts[i].max {
			continue
		}
		for j := i + 1; j < len(r.parts); j++ {
			if !r.parts[i].set.apart(&r.parts[j].set) {
				return false
			}
			if r.parts[j].min > 0 {
				break
			}
		}
	}
	return true
}

// join makes one text of single characters that follow each other.
func (r *row) join() {
	var out []part
	for _, p := range r.parts {
		c, single := p.set.only()
		if !single || p.min != 1 || p.max != 1 {
			out = append(out, p)
			continue
		}
		if n := len(out); n > 0 && out[n-1].text != "" {
			out[n-1].text += string(rune(c))
		} else {
			out = append(out, part{text: string(rune(c))})
		}
	}
	r.parts = out
}

// only returns the one ASCII character of a set that has just one.
func (s *set) only() (c byte, ok bool) {
	if s.wide != wideNone {
		return 0, false
	}
	n := 0
	for i := range byte(utf8.RuneSelf) {
		if s.has(rune(i)) {
			c = i
			n++
		}
	}
	return c, n == 1
}

// parseSet reads one character, escape or class from the front of p.
func parseSet(p string) (s set, rest string, ok bool) {
	switch c := p[0]; {
	case c == '[':
		return parseClass(p[1:])
	case c == '\\':
		return s, cut(p, 2), len(p) > 1 && s.escape(p[1])
	case c >= utf8.RuneSelf || strings.IndexByte(`.*+?()|{}^$]`, c) >= 0:
		return s, p, false
	default:
		s.add(c)
		return s, p[1:], true
	}
}

// escape puts what an escape stands for into the set.
func (s *set) escape(c byte) bool {
	switch c {
	case 's':
		return s.space()
	case 'S':
		if s.ascii != [2]uint64{} || s.wide != wideNone {
			return false
		}
		s.space()
		s.negate()
		return true
	case 'd':
		for d := byte('0'); d <= '9'; d++ {
			s.add(d)
		}
		return true
	}
	if strings.IndexByte(`.*+?()|{}^$[]/-\`, c) < 0 {
		return false
	}
	s.add(c)
	return true
}

// parseClass reads a class after its opening bracket.
func parseClass(p string) (s set, rest string, ok bool) {
	p, not := strings.CutPrefix(p, "^")
	for p != "" && p[0] != ']' {
		c := p[0]
		if c >= utf8.RuneSelf || c == '[' {
			return s, p, false
		}
		if c == '\\' {
			if len(p) < 2 || !s.escape(p[1]) {
				return s, p, false
			}
			p = p[2:]
			continue
		}
		last := c
		if len(p) > 2 && p[1] == '-' && p[2] != ']' {
			if last = p[2]; last < c || last >= utf8.RuneSelf || last == '\\' {
				return s, p, false
			}
			p = p[2:]
		}
		for x := int(c); x <= int(last); x++ {
			s.add(byte(x))
		}
		p = p[1:]
	}
	if p == "" {
		return s, p, false
	}
	if not {
		s.negate()
	}
	return s, p[1:], true
}

// parseCount reads what says how often the part before it comes.
func parseCount(p string) (least, most int, rest string, ok bool) {
	if p == "" {
		return 1, 1, p, true
	}
	switch p[0] {
	case '+':
		least, most, p = 1, -1, p[1:]
	case '*':
		least, most, p = 0, -1, p[1:]
	case '?':
		least, most, p = 0, 1, p[1:]
	case '{':
		body, after, closed := strings.Cut(p[1:], "}")
		low, high, ranged := strings.Cut(body, ",")
		n, err := strconv.Atoi(low)
		if !closed || err != nil {
			return 0, 0, p, false
		}
		least, most, p = n, n, after
		if ranged {
			if most, err = strconv.Atoi(high); err != nil || most < least {
				return 0, 0, p, false
			}
		}
	default:
		return 1, 1, p, true
	}
	return least, most, p, p == "" || p[0] != '?' // a lazy count is no row
}

func cut(s string, n int) string { return s[min(n, len(s)):] }
