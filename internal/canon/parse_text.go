package canon

import (
	"unicode/utf8"

	"writ/internal/fault"
)

// text reads a string whose opening quote is the next byte. Without escapes it
// is a part of the text and costs nothing.
func (p *parser) text() (string, *fault.Error) {
	p.i++
	start := p.i
	for p.i += plain(p.s[p.i:]); p.i < len(p.s); p.i += plain(p.s[p.i:]) {
		switch c := p.s[p.i]; {
		case c == '"':
			s := p.s[start:p.i]
			p.i++
			return s, nil
		case c == '\\':
			return p.escapedText(start)
		case c < 0x20:
			return "", p.fail(p.i, "control character in a string")
		default:
			r, n := utf8.DecodeRuneInString(p.s[p.i:])
			if r == utf8.RuneError && n == 1 {
				return "", p.fail(p.i, "not UTF-8")
			}
			p.i += n
		}
	}
	return "", p.unexpected("a closing quote")
}

// escapedText goes on with a string at its first backslash.
func (p *parser) escapedText(start int) (string, *fault.Error) {
	buf := append(make([]byte, 0, 2*(p.i-start)+16), p.s[start:p.i]...)
	for p.i < len(p.s) {
		switch c := p.s[p.i]; {
		case c == '"':
			p.i++
			return string(buf), nil
		case c == '\\':
			r, err := p.escape()
			if err != nil {
				return "", err
			}
			buf = utf8.AppendRune(buf, r)
		case c < 0x20:
			return "", p.fail(p.i, "control character in a string")
		case c < utf8.RuneSelf:
			n := plain(p.s[p.i:])
			buf = append(buf, p.s[p.i:p.i+n]...)
			p.i += n
		default:
			r, n := utf8.DecodeRuneInString(p.s[p.i:])
			if r == utf8.RuneError && n == 1 {
				return "", p.fail(p.i, "not UTF-8")
			}
			buf = append(buf, p.s[p.i:p.i+n]...)
			p.i += n
		}
	}
	return "", p.unexpected("a closing quote")
}

// escape reads one escape, or the pair of escapes of one character beyond the
// BMP.
func (p *parser) escape() (rune, *fault.Error) {
	at := p.i
	if p.i++; p.i >= len(p.s) {
		return 0, p.unexpected("an escape")
	}
	c := p.s[p.i]
	if c != 'u' {
		r, ok := shortEscape(c)
		if !ok {
			return 0, p.fail(at, "no such escape")
		}
		p.i++
		return r, nil
	}
	p.i++
	r, err := p.hex4()
	if err != nil {
		return 0, err
	}
	if r < 0xD800 || r > 0xDFFF {
		return r, nil
	}
	if r >= 0xDC00 || p.i+1 >= len(p.s) || p.s[p.i] != '\\' || p.s[p.i+1] != 'u' {
		return 0, p.fail(at, "surrogate without its partner")
	}
	p.i += 2
	low, err := p.hex4()
	if err != nil {
		return 0, err
	}
	if low < 0xDC00 || low > 0xDFFF {
		return 0, p.fail(at, "surrogate without its partner")
	}
	return 0x10000 + (r-0xD800)<<10 + (low - 0xDC00), nil
}

func shortEscape(c byte) (rune, bool) {
	switch c {
	case '"', '\\', '/':
		return rune(c), true
	case 'b':
		return '\b', true
	case 'f':
		return '\f', true
	case 'n':
		return '\n', true
	case 'r':
		return '\r', true
	case 't':
		return '\t', true
	}
	return 0, false
}

func (p *parser) hex4() (rune, *fault.Error) {
	var r rune
	for range 4 {
		if p.i >= len(p.s) {
			return 0, p.unexpected("a hex digit")
		}
		c := p.s[p.i]
		switch {
		case isDigit(c):
			r = r<<4 + rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			r = r<<4 + rune(c|0x20-'a') + 10
		default:
			return 0, p.unexpected("a hex digit")
		}
		p.i++
	}
	return r, nil
}
