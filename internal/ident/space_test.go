package ident_test

import (
	"testing"
	"unicode"

	"writ/internal/ident"
)

func TestSpacesThatRegularExpressionsMiss(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		s              string
		noSpace, token bool
	}{
		"plain":                     {"query:run_1", true, true},
		"accents":                   {"é😀", true, true},
		"empty":                     {"", false, false},
		"space":                     {"a b", false, false},
		"tab":                       {"a\tb", false, false},
		"line feed at the end":      {"a\n", false, false},
		"vertical tab":              {"a\vb", false, false},
		"form feed":                 {"\f", false, false},
		"carriage return":           {"\ra", false, false},
		"no-break space":            {"a\u00a0b", false, false},
		"ogham space":               {"\u1680", false, false},
		"en quad":                   {"\u2000", false, false},
		"hair space":                {"\u200a", false, false},
		"line separator":            {"a\u2028", false, false},
		"paragraph separator":       {"a\u2029", false, false},
		"narrow no-break space":     {"\u202f", false, false},
		"mathematical space":        {"\u205f", false, false},
		"ideographic space":         {"\u3000", false, false},
		"byte order mark":           {"\ufeffa", false, false},
		"next line":                 {"a\u0085b", true, false},
		"zero width space":          {"\u200b", true, true},
		"mongolian vowel separator": {"\u180e", true, true},
		"unit separator":            {"\u001f", true, true},
		"nul":                       {"\x00", true, true},
		"replacement character":     {"\ufffd", true, true},
		"not utf-8":                 {"a\xff", false, false},
		"cut rune":                  {"a\xe2\x80", false, false},
	} {
		if got := ident.NoSpace(c.s); got != c.noSpace {
			t.Errorf("%s: NoSpace %v", name, got)
		}
		if got := ident.IsToken(c.s); got != c.token {
			t.Errorf("%s: IsToken %v", name, got)
		}
	}
}

// Over all of Unicode, IsToken is the White_Space property and the byte order
// mark; NoSpace differs at U+0085 only.
func TestSpacesAgreeWithUnicode(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if 0xD800 <= r && r <= 0xDFFF {
			continue
		}
		s := string(r)
		want := !unicode.Is(unicode.White_Space, r) && r != 0xFEFF
		if got := ident.IsToken(s); got != want {
			t.Errorf("U+%04X: IsToken %v", r, got)
		}
		if got := ident.NoSpace(s); got != (want || r == 0x85) {
			t.Errorf("U+%04X: NoSpace %v", r, got)
		}
	}
}
