package proposal

import (
	"regexp"
	"strings"

	"writ/internal/fault"
)

// The name of a candidate ends in "@" and the commit that it changes, so that
// author, reviewer and chair all sign which commit they mean.
var candidateName = regexp.MustCompile(`^change:[a-z0-9][a-z0-9._-]{0,99}@([0-9a-f]{40})$`)

// CandidateName spells the name of a candidate: words of the message's first
// line, and the full id of the commit that is changed.
func CandidateName(message, base string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(message), "\n")
	var words strings.Builder
	for _, r := range strings.ToLower(line) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			words.WriteRune(r)
		case words.Len() > 0 && !strings.HasSuffix(words.String(), "-"):
			words.WriteByte('-')
		}
		if words.Len() >= 60 {
			break
		}
	}
	slug := strings.Trim(words.String(), "-")
	if slug == "" {
		slug = "change"
	}
	return "change:" + slug + "@" + base
}

// Base is the commit that the proposal's candidate changes. A candidate that
// names none is fault.Invalid.
func (p Proposal) Base() (string, error) {
	m := candidateName.FindStringSubmatch(p.Candidate.Ref)
	if m == nil {
		return "", fault.New(fault.Invalid, "read candidate", "%q does not name a base commit", p.Candidate.Ref).
			At("/candidate/ref").Help("name it change:WORDS@COMMIT, with the full id of the commit that is changed")
	}
	return m[1], nil
}
