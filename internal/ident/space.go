package ident

import "unicode/utf8"

// NoSpace reports whether s matches \S+ as ECMAScript reads it: at least one
// character, and none that ECMAScript calls white space, which includes the
// no-break space, the byte order mark and the line separators. The class of
// Go's regular expressions knows ASCII space only, hence this function.
func NoSpace(s string) bool { return s != "" && every(s, func(r rune) bool { return !isECMASpace(r) }) }

// IsToken reports whether s has at least one character, and neither a character
// of Unicode's White_Space property nor a byte order mark. It is NoSpace and
// also refuses U+0085, which ECMAScript lets pass.
func IsToken(s string) bool {
	return s != "" && every(s, func(r rune) bool { return r != '\u0085' && !isECMASpace(r) })
}

// every reports whether s is UTF-8 and all its characters are fine.
func every(s string, fine func(rune) bool) bool {
	for i, r := range s {
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(s[i:]); n == 1 {
				return false
			}
		}
		if !fine(r) {
			return false
		}
	}
	return true
}

// isECMASpace is ECMAScript's WhiteSpace and LineTerminator.
func isECMASpace(r rune) bool {
	switch {
	case r <= ' ':
		return r == ' ' || '\t' <= r && r <= '\r'
	case 0x2000 <= r && r <= 0x200A:
		return true
	}
	switch r {
	case 0x00A0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF:
		return true
	}
	return false
}
