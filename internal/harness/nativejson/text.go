package nativejson

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Text reads a string. It shares the memory of the text where it can.
func (r *Reader) Text() (string, error) {
	if r.space(); r.peek() != '"' {
		return "", r.unexpected("a string")
	}
	r.i++
	start := r.i
	var b strings.Builder // used from the first escape on
	for r.i < len(r.s) {
		switch c := r.s[r.i]; {
		case c == '"':
			if b.Len() == 0 {
				s := r.s[start:r.i]
				r.i++
				return s, nil
			}
			b.WriteString(r.s[start:r.i])
			r.i++
			return b.String(), nil
		case c == '\\':
			b.WriteString(r.s[start:r.i])
			if err := r.escape(&b); err != nil {
				return "", err
			}
			start = r.i
		case c < ' ':
			return "", r.fail(r.i, "raw control character %q in a string", c)
		default:
			r.i++
		}
	}
	return "", r.unexpected("the end of a string")
}

// plain are the escapes of one letter.
var plain = map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func (r *Reader) escape(b *strings.Builder) error {
	at := r.i
	r.i++
	c := r.peek()
	r.i++
	if p, ok := plain[c]; ok {
		b.WriteByte(p)
		return nil
	}
	if c != 'u' {
		return r.fail(at, "no such escape")
	}
	first, ok := r.hex()
	if !ok {
		return r.fail(at, "no such escape")
	}
	if !utf16.IsSurrogate(first) {
		b.WriteRune(first)
		return nil
	}
	if !strings.HasPrefix(r.s[min(r.i, len(r.s)):], `\u`) {
		return r.fail(at, "surrogate without its partner")
	}
	r.i += 2
	second, ok := r.hex()
	pair := utf16.DecodeRune(first, second)
	if !ok || pair == utf8.RuneError {
		return r.fail(at, "surrogate without its partner")
	}
	b.WriteRune(pair)
	return nil
}

// hex reads four hexadecimal digits.
func (r *Reader) hex() (rune, bool) {
	if len(r.s)-r.i < 4 {
		return 0, false
	}
	v, err := strconv.ParseUint(r.s[r.i:r.i+4], 16, 16)
	r.i += 4
	return rune(v), err == nil
}
