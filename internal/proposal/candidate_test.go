package proposal

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"writ/internal/fault"
)

const someCommit = "0123456789abcdef0123456789abcdef01234567"

func TestCandidateNames(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"sum: add pairs\n\nmore":   "sum-add-pairs",
		"  Größer & schneller!  ":  "gr-er-schneller",
		"--- ":                     "change",
		"日本語":                      "change",
		strings.Repeat("ab ", 100): "ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-ab",
	} {
		if got := CandidateName(message, someCommit); got != "change:"+want+"@"+someCommit {
			t.Errorf("%q became %q", message, got)
		}
	}
}

// TestEveryNameTellsItsBase: whatever the message, the name is one that the base
// can be read from.
func TestEveryNameTellsItsBase(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.StringMatching(`[0-9a-f]{40}`).Draw(t, "base")
		var p Proposal
		p.Candidate.Ref = CandidateName(rapid.String().Draw(t, "message"), base)
		if got, err := p.Base(); err != nil || got != base {
			t.Fatalf("%q names %q, %v", p.Candidate.Ref, got, err)
		}
	})
}

func TestNamesWithoutABase(t *testing.T) {
	t.Parallel()
	for _, ref := range []string{"", "change:x", "change:x@", "change:x@main", "change:X@" + someCommit, "change:@" + someCommit, "change:x@" + someCommit + "\n"} {
		var p Proposal
		p.Candidate.Ref = ref
		_, err := p.Base()
		wantFault(t, err, fault.Invalid, "/candidate/ref")
	}
}
