package docket

import (
	"fmt"
	"strings"
	"time"

	"writ/internal/proposal"
)

// Commit is what the commit of a patch step says. It follows from the proposal
// and its turn alone, so that the same proposal on the same base is the same commit.
type Commit struct {
	Name, Mail string
	At         time.Time // whole seconds
	Message    string    // ends in a line feed
}

// CommitFrom says what the commit of a proposal says: the author, the time of
// the proposal, and what the author wrote in the turn that it came from.
func CommitFrom(p proposal.Proposal, t proposal.Turn) Commit {
	text := strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' || r == 0x7f {
			return -1
		}
		return r
	}, t.Content))
	if text == "" {
		text = "change"
	}
	name := strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune("<>\n", r) {
			return '-'
		}
		return r
	}, p.Author.ID)
	return Commit{
		Name: name, Mail: name + "@writ.invalid", At: p.From().UTC().Truncate(time.Second),
		Message: fmt.Sprintf("%s\n\nWrit-Proposal: %s\n", text, p.Ref),
	}
}

// author is the line that Git writes.
func (c Commit) author() string {
	return fmt.Sprintf("%s <%s> %d +0000", c.Name, c.Mail, c.At.Unix())
}
