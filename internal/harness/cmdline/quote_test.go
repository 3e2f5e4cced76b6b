package cmdline

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"writ/internal/canon"
	"writ/internal/harness"
)

type suite = harness.Suite

func text(s string) canon.Value { return canon.StringOf(s) }

// TestQuoteIsReadBack has a shell take quoted command lines apart.
func TestQuoteIsReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringOf(rapid.RuneFrom([]rune(`ab '"\$(){}~*?;&|<>#!` + "`\n\té=-")))
		argv := rapid.SliceOfN(word, 1, 5).Draw(t, "argv")
		out, err := exec.Command("/bin/sh", "-c", `printf '%s\0' `+Quote(argv)).Output()
		want := strings.Join(argv, "\x00") + "\x00"
		if diff := cmp.Diff(want, string(out)); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", Quote(argv), err, diff)
		}
	})
}

func TestQuote(t *testing.T) {
	t.Parallel()
	if got := Quote([]string{"/bin/a-b", "x=1", "", "a b", "it's"}); got != `/bin/a-b x=1 '' 'a b' 'it'\''s'` {
		t.Errorf("got %s", got)
	}
}
