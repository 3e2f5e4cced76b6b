package schema

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// allPatterns lists the patterns of all embedded schemas.
func allPatterns(t testing.TB) []string {
	t.Helper()
	var list []string
	var walk func(any)
	walk = func(x any) {
		switch x := x.(type) {
		case map[string]any:
			if p, ok := x["pattern"].(string); ok {
				list = append(list, p)
			}
			for _, e := range x {
				walk(e)
			}
		case []any:
			for _, e := range x {
				walk(e)
			}
		}
	}
	for _, doc := range documents(t) {
		walk(doc)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// TestHandMatchersAgreeWithGo draws texts near each pattern and compares what
// is matched by hand with Go's engine on the rewritten pattern.
func TestHandMatchersAgreeWithGo(t *testing.T) {
	t.Parallel()
	byHand := 0
	for _, p := range allPatterns(t) {
		r, err := compilePattern(p)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := r.(*rewritten); ok || p == tokenPattern {
			continue
		}
		byHand++
		t.Run(p, func(t *testing.T) {
			t.Parallel()
			re := regexp.MustCompile(forGo(p))
			near := rapid.StringMatching(re.String())
			odd := rapid.SampledFrom(append([]string{"", "a", "0", "6", ":", "sha256:", "z", "t", "+"}, ends...))
			rapid.Check(t, func(t *rapid.T) {
				s := near.Draw(t, "near")
				if rapid.Bool().Draw(t, "bend") {
					at := rapid.IntRange(0, len(s)).Draw(t, "at")
					s = s[:at] + odd.Draw(t, "odd") + s[at:]
				}
				if rapid.Bool().Draw(t, "cut") {
					s = s[:rapid.IntRange(0, len(s)).Draw(t, "to")]
				}
				if got, want := r.MatchString(s), re.MatchString(s); got != want {
					t.Fatalf("%q: by hand %v, by Go %v", s, got, want)
				}
			})
		})
	}
	if byHand < 40 {
		t.Errorf("only %d patterns are matched by hand", byHand)
	}
}

func TestWhiteSpace(t *testing.T) {
	t.Parallel()
	spaces := []string{" ", "\t", "\n", "\v", "\f", "\r", "\u00a0", "\u1680", "\u2000", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000", "\ufeff"}
	for _, p := range []string{`^\S+$`, `^query:[^\s]+$`, `^[^/\s]+/[^/\s]+$`, `^[a-z][a-z0-9-]*[:/][^\s]+$`, `^$|^[a-z]+$|^/\S+$`} {
		re, err := compilePattern(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range spaces {
			for _, text := range []string{"query:a" + s, "query:" + s, "a/b" + s, s, "/a" + s + "b", "query:a" + s + "b"} {
				if re.MatchString(text) {
					t.Errorf("%s matches %q", p, text)
				}
			}
		}
	}
	// U+0085 is no white space in ECMAScript, but a token excludes it; U+200B and
	// U+180E are white space nowhere.
	for text, want := range map[string]bool{"a\u0085": false, "a\u200b": true, "a\u180e": true, "é\U0001F600": true, "": false} {
		if got := (token{}).MatchString(text); got != want {
			t.Errorf("token %q: %v", text, got)
		}
	}
	if re, _ := compilePattern(`^query:[^\s]+$`); !re.MatchString("query:a\u0085") {
		t.Error("U+0085 is white space outside tokens")
	}
}

func TestWhatIsNoRow(t *testing.T) {
	t.Parallel()
	for _, p := range []string{
		`abc`, `^abc`, `abc$`, `^a|b$`, `^(a)$`, `^a.c$`, `^a*ab$`, `^[a-z]+[a-f]$`, `^a+?$`, `^[^\s]*\S$`, `^[\S]+[^a]$`,
		`^a{2,1}$`, `^a{x}$`, `^[a$`, `^é$`, `^a\$`, `^\w$`, `^[z-a]$`, `^[[a]]$`, `^*$`, `^a]$`, `^[é]$`, `^[\x00]$`,
	} {
		if r, ok := parseRow(p); ok {
			t.Errorf("%s is read as a row: %+v", p, r.parts)
		}
	}
	for p, want := range map[string]string{`^[a-z]{2,3}$`: "ab", `^a?b*c+$`: "bbc", `^\d{2}\/\[-$`: "12/[-", `^[\s]$`: "\u2028", `^$`: ""} {
		r, ok := parseRow(p)
		if !ok || !r.MatchString(want) || r.MatchString(want+"\n") || r.MatchString("zzzzz") || r.String() != p {
			t.Errorf("%s: %v %+v", p, ok, r)
		}
	}
}

func TestRewrittenForGo(t *testing.T) {
	t.Parallel()
	for p, want := range map[string]string{
		`^\s\S[\s-]\.x.[.]$`: "^[" + spaces + "][^" + spaces + "][" + spaces + `-]\.x[^\n\r\x{2028}\x{2029}][.]$`,
		`a\`:                 `a\`,
	} {
		if got := forGo(p); got != want {
			t.Errorf("%s:\n got %s\nwant %s", p, got, want)
		}
	}
	if _, err := compilePattern(`^(`); err == nil {
		t.Error("an open group compiles")
	}
	re, err := compilePattern(`^(a|b)\S$`)
	if err != nil || re.String() != `^(a|b)\S$` || !re.MatchString("ax") || re.MatchString("a\u00a0") {
		t.Errorf("%v %v", re, err)
	}
}

func TestFormats(t *testing.T) {
	t.Parallel()
	cases := []struct {
		check func(any) error
		good  []any
		bad   []any
	}{
		{dateTime,
			[]any{"2026-01-02T03:04:05Z", "2026-01-02t03:04:05.123456789012z", "2024-02-29T00:00:00+23:59", "2000-02-29T00:00:00-00:00", "2016-12-31T23:59:60Z", "2017-01-01T01:59:60+02:00", "2016-12-31T15:59:60.5-08:00", 7, nil},
			[]any{"", "2026-01-02", "2026-01-02T03:04:05", "2026-01-02 03:04:05Z", "2026-1-02T03:04:05Z", "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2026-00-01T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01T00:00:61Z", "2026-01-01T00:00:60Z", "2016-12-31T23:59:60+01:00", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00+00:60", "2026-01-01T00:00:00+0000", "2026-01-01T+1:00:00Z", "2026-01-01T00:00:00 Z", "2026-01-01T00:00:00Z ", "20a6-01-01T00:00:00Z", "2026-01-01T00:00:00+0a:00", "2026-01-01T00:00:00*01:00"}},
		{absoluteURI,
			[]any{"https://example.org/a?b=c#d", "urn:uuid:00000000-0000-4000-8000-000000000001", "file:///tmp/%C3%A9", "ssh://git@example.org:22/x.git", "mailto:a@example.org", 7, nil},
			[]any{"", "/y", "y", "//example.org/x", "https://example.org/a b", "https://example.org/é", "git@example.org:x/y.git", "https://e.org/%zz", "https://e.org/%4", "urn:%", "https://e.org/<", "https://[::1", "x y:z", "https://e.org/\\"}},
	}
	for _, c := range cases {
		for _, x := range c.good {
			if err := c.check(x); err != nil {
				t.Errorf("%v: %v", x, err)
			}
		}
		for _, x := range c.bad {
			if c.check(x) == nil {
				t.Errorf("%q passes", fmt.Sprint(x))
			}
		}
	}
}
