package main

import (
	"regexp"
	"strings"
)

// page collects Markdown.
type page struct{ strings.Builder }

// line writes one line; gap writes it and an empty one.
func (p *page) line(words ...string) { p.WriteString(strings.Join(words, "") + "\n") }
func (p *page) gap(words ...string)  { p.line(strings.Join(words, ""), "\n") }

// table writes rows; the first is the head.
func (p *page) table(rows [][]string) {
	for i, r := range rows {
		cells := make([]string, len(r))
		for j, c := range r {
			cells[j] = strings.ReplaceAll(strings.Join(strings.Fields(c), " "), "|", `\|`)
		}
		p.line("| ", strings.Join(cells, " | "), " |")
		if i == 0 {
			p.line("|", strings.Repeat("---|", len(r)))
		}
	}
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

// prose writes text that was laid out for a terminal: indented lines stay as
// they are, everything else flows.
func (p *page) prose(text string) {
	for block := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		fenced := false
		for line := range strings.SplitSeq(block, "\n") {
			if indented := strings.HasPrefix(line, "  "); indented != fenced {
				p.line(map[bool]string{true: "\n```text", false: "```\n"}[indented])
				fenced = indented
			}
			p.line(strings.TrimPrefix(line, "  "))
		}
		if fenced {
			p.line("```")
		}
		p.line()
	}
}

var gaps = regexp.MustCompile("\n{3,}")

// String is the page with one empty line where several came together, and none
// at its end.
func (p *page) String() string {
	return strings.TrimRight(gaps.ReplaceAllString(p.Builder.String(), "\n\n"), "\n") + "\n"
}
