package order

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		pattern, name string
		want          bool
	}{
		{"", "", true}, {"", "a", false}, {"*", "", true}, {"*", "a/b", true}, {"**", "x", true},
		{"BM_*", "BM_Quiet/1024", true}, {"BM_*/1024", "BM_Quiet/1024", true}, {"BM_*/102", "BM_Quiet/1024", false},
		{"*/read", "parquet/read", true}, {"*/read", "read", false}, {"a?c", "aéc", true}, {"a?c", "ac", false}, {"a??", "abc", true},
		{"test_sum[1000-*]", "test_sum[1000-numpy]", true}, {"test_sum[1000-*]", "test_sum1", false},
		{`a\*b`, "a*b", true}, {`a\*b`, "axb", false}, {`a\\b`, `a\b`, true}, {`a\`, `a\`, true}, {"BM", "BM_Quiet", false},
		{"*ab*ab", "abab", true}, {"*ab*ab", "ab", false}, {"\xff*", "\xffz", true}, {"\xff", "\xfe", false}, {"?", "\xff", true},
	} {
		if got := Match(tc.pattern, tc.name); got != tc.want {
			t.Errorf("Match(%q, %q) = %v", tc.pattern, tc.name, got)
		}
	}
}

// TestMatchIsARegularExpression compares with the obvious translation.
func TestMatchIsARegularExpression(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringMatching(`[ab*?é/\\]{0,8}`).Draw(t, "pattern")
		name := rapid.StringMatching(`[abé/\\*]{0,10}`).Draw(t, "name")
		var b strings.Builder
		b.WriteString(`(?s)^`)
		escaped := false
		for _, r := range pattern {
			switch {
			case escaped:
				b.WriteString(regexp.QuoteMeta(string(r)))
				escaped = false
			case r == '\\':
				escaped = true
			case r == '*':
				b.WriteString(`.*`)
			case r == '?':
				b.WriteString(`.`)
			default:
				b.WriteString(regexp.QuoteMeta(string(r)))
			}
		}
		if escaped {
			b.WriteString(`\\`)
		}
		b.WriteByte('$')
		if want := regexp.MustCompile(b.String()).MatchString(name); Match(pattern, name) != want {
			t.Fatalf("Match(%q, %q) = %v", pattern, name, !want)
		}
	})
}
