package canon

import "unicode/utf8"

// plain returns how many bytes at the start of s are ASCII that a string holds as
// it is: no quote, no backslash, no control character. Most text is nothing else,
// so it looks at eight bytes at a time.
func plain(s string) int {
	const (
		ones = 0x0101010101010101
		tops = 0x8080808080808080
	)
	i := 0
	for ; i+8 <= len(s); i += 8 {
		x := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		quote, slash := x^'"'*ones, x^'\\'*ones
		// A top bit is set where a byte is beyond ASCII, and below where one is under
		// the subtracted value: a space, or one after the exclusive or.
		if (x|(x-' '*ones)|(quote-ones)|(slash-ones))&tops != 0 {
			break
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			break
		}
	}
	return i
}
