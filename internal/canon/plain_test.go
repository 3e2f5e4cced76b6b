package canon

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestPlain puts every byte at every place of a text that is longer than one look.
func TestPlain(t *testing.T) {
	t.Parallel()
	for c := range 256 {
		special := c < ' ' || c >= 0x80 || c == '"' || c == '\\'
		for at := range 19 {
			s := strings.Repeat("\x7f", at) + string([]byte{byte(c)}) + strings.Repeat(" ", 18-at)
			want := len(s)
			if special {
				want = at
			}
			if got := plain(s); got != want {
				t.Errorf("byte %#x at %d: %d, want %d", c, at, got, want)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "text"))
		want := strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r >= 0x80 || r == '"' || r == '\\' })
		if want < 0 {
			want = len(s)
		}
		if got := plain(s); got != want {
			t.Errorf("%q: %d, want %d", s, got, want)
		}
	})
}
