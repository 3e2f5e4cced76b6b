// Package render writes a judgement in the formats that people and other tools
// read: a table, Markdown, CSV, Go benchmark lines, JUnit, SARIF and a picture.
//
// Invariants: every format shows all rows, with unit, interval, number of rounds
// and the word, ~ for no difference that matters and ? for what is not known; no
// format leaves out a warning, a failed condition or an excluded result; the same
// report gives the same bytes.
//
// The package judges nothing and rounds for reading only. What a hold or an
// invalid row becomes in another tool's words is never a pass.
package render

import (
	"slices"
	"strings"

	"writ/internal/fault"
	"writ/internal/verdict"
)

// formats by name.
var formats = map[string]func(verdict.Report) (string, error){
	"table":    table,
	"markdown": markdown,
	"csv":      commas,
	"benchfmt": benchmarks,
	"junit":    junit,
	"sarif":    sarif,
	"svg":      svg,
}

// Names lists the formats, for help.
func Names() []string {
	out := make([]string, 0, len(formats))
	for name := range formats {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// Text writes a report in a format; fault.Usage for one that does not exist.
func Text(format string, r verdict.Report) (string, error) {
	write, ok := formats[format]
	if !ok {
		return "", fault.New(fault.Usage, "render", "there is no format %q", format).Help("one of %s", strings.Join(Names(), ", "))
	}
	return write(r)
}

// table is for a terminal.
func table(r verdict.Report) (string, error) {
	out := r.Table()
	if r.Gate != nil {
		out += verdict.RenderGate(*r.Gate)
	}
	return out, nil
}

// message says what there is to say about a row in one line.
func message(row verdict.ReportRow) string {
	if row.Measure == "" {
		return row.Case + " " + row.Quantity + ": " + row.Text + ", " + row.Before() + " " + row.Range() + ", n = " + row.Rounds()
	}
	return row.Case + " " + row.Quantity + ": " + row.Text + ", " + row.Before() + " -> " + row.After() + ", " + row.Change() + " " +
		row.Range() + ", n = " + row.Rounds()
}

// weight says how much a row matters to whoever has to act: stop, look, or go on.
type weight int

const (
	goOn weight = iota
	look
	stop
)

// weigh reads the answer of the gate, and without one the word itself.
func weigh(r verdict.Report, row verdict.ReportRow) weight {
	if r.Gate != nil {
		switch row.Answer {
		case verdict.Block, verdict.NotJudged:
			return stop
		case verdict.Hold:
			return look
		}
		return goOn
	}
	switch row.Word {
	case string(verdict.Slower), string(verdict.Invalid), verdict.Regressed:
		return stop
	case string(verdict.Underpowered), string(verdict.Inconclusive), verdict.Indeterminate, verdict.Changed:
		return look
	}
	return goOn
}
