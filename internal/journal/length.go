package journal

import "unicode/utf8"

// The event format limits text twice: JSON Schema counts code points, the
// reference reader counts UTF-16 units. Both count the same for the BMP, and
// units are never fewer. So what is written is held to units, and what is read
// may go up to the limit in code points.

// units counts the UTF-16 units of valid UTF-8.
func units(s string) int {
	n := 0
	for i := range len(s) {
		switch b := s[i]; {
		case b < 0x80 || b >= 0xC0 && b < 0xF0:
			n++
		case b >= 0xF0:
			n += 2
		}
	}
	return n
}

// Clip cuts s to at most limit UTF-16 units, never inside a code point, so that
// the result fits a limit of the event format however it is counted.
func Clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	n := 0
	for i, r := range s {
		w := 1
		if r >= 0x10000 {
			w = 2
		}
		if n+w > limit {
			return s[:i]
		}
		n += w
	}
	return s
}

// clip shortens what an error shows.
func clip(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return Clip(s, limit) + "…"
}
