package order

import "unicode/utf8"

// Match reports whether a pattern of include or exclude matches a whole name: "*"
// stands for any text, also across "/", "?" for one character, and a backslash
// takes the special meaning of what follows. Everything else stands for itself, so
// that names with brackets need no care.
func Match(pattern, name string) bool {
	p, n := 0, 0
	star, resume := -1, 0 // where to go on when a star has to take one character more
	for n < len(name) || p < len(pattern) {
		if p < len(pattern) {
			if pattern[p] == '*' {
				star, resume = p, n
				p++
				continue
			}
			if wide, ok := matchOne(pattern[p:], name[n:]); ok {
				n += wide.name
				p += wide.pattern
				continue
			}
		}
		if star < 0 || resume >= len(name) {
			return false
		}
		_, size := utf8.DecodeRuneInString(name[resume:])
		resume += size
		p, n = star+1, resume
	}
	return true
}

// widths are how many bytes one character took.
type widths struct{ pattern, name int }

// matchOne matches the first character of both.
func matchOne(pattern, name string) (widths, bool) {
	r, size := utf8.DecodeRuneInString(name)
	if size == 0 {
		return widths{}, false
	}
	if pattern[0] == '?' {
		return widths{1, size}, true
	}
	skip := 0
	if pattern[0] == '\\' && len(pattern) > 1 {
		skip = 1
	}
	want, wide := utf8.DecodeRuneInString(pattern[skip:])
	if want == utf8.RuneError && wide == 1 || r == utf8.RuneError && size == 1 {
		return widths{skip + 1, 1}, pattern[skip] == name[0] // bytes that are no text
	}
	return widths{skip + wide, size}, want == r
}
