package render

import (
	"strings"

	"writ/internal/verdict"
)

// markdown is for a comment on a change. Nothing of a case's name is read as
// markup.
func markdown(r verdict.Report) (string, error) {
	var b strings.Builder
	if r.Gate != nil {
		b.WriteString("**gate " + string(r.Gate.Answer) + "** (policy " + plain(r.Gate.Policy.Name) + " " + plain(r.Gate.Policy.Version) + ")\n\n")
		list(&b, r.Gate.Reasons)
	}
	for i, line := range r.Cells() {
		b.WriteString("|")
		for _, cell := range line {
			b.WriteString(" " + plain(cell) + " |")
		}
		b.WriteString("\n")
		if i == 0 {
			b.WriteString("|" + strings.Repeat(" --- |", len(line)) + "\n")
		}
	}
	b.WriteString("\n" + plain(r.Summary()) + "\n")
	if remarks := r.Remarks(); len(remarks) > 0 {
		b.WriteString("\n")
		list(&b, remarks)
	}
	return b.String(), nil
}

func list(b *strings.Builder, lines []string) {
	for _, l := range lines {
		b.WriteString("- " + plain(l) + "\n")
	}
	if len(lines) > 0 {
		b.WriteString("\n")
	}
}

// marks are the characters that Markdown reads as more than themselves.
const marks = "\\`*_{}[]<>#|~&$@"

// plain keeps text from being read as markup, links or mentions.
func plain(s string) string {
	var b strings.Builder
	for _, c := range strings.Join(strings.Fields(s), " ") {
		if strings.ContainsRune(marks, c) {
			if c == '@' { // a backslash does not keep a name from being called
				b.WriteString("&#64;")
				continue
			}
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}
