package verdict

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Render writes a verdict as a table for a terminal.
func Render(d Document) string { return d.Report().Table() }

// Table writes a report for a terminal: plain text, no meaning by colour, ~ for no
// difference that matters and ? for what is not known. Every warning is below the
// table; one that all rows have is there once.
func (r Report) Table() string {
	var b strings.Builder
	_ = writeTable(&b, r.rows(), tableFrame{r.single(), r.earlier(), r.Summary(), r.Failed, r.Exclusions, r.Notes}) // the builder does not fail
	return b.String()
}

// Cells are the table as text, the head first.
func (r Report) Cells() [][]string {
	head, cells := columns(r.single(), r.earlier())
	out := [][]string{head}
	for _, row := range r.Rows {
		out = append(out, cells(row))
	}
	return out
}

// earlier reports whether values of other runs are known.
func (r Report) earlier() bool {
	return slices.ContainsFunc(r.Rows, func(x ReportRow) bool { return x.History != "" })
}

// single reports whether nothing is compared.
func (r Report) single() bool {
	return len(r.Rows) > 0 && !slices.ContainsFunc(r.Rows, func(x ReportRow) bool { return x.Measure != "" })
}

// Summary is the whole in one line.
func (r Report) Summary() string {
	line := r.RunKey
	if r.Word != "" {
		line += ": " + r.Word
	}
	return line + "; " + r.Settings
}

// Remarks are the lines below a table: what failed, every warning, what was left
// out, and what else there is to know. A warning that all rows have is there once.
func (r Report) Remarks() (out []string) {
	for _, f := range r.Failed {
		out = append(out, "failed: "+f)
	}
	common := r.rows().common()
	for _, n := range common {
		out = append(out, commonText(n))
	}
	for _, row := range r.Rows {
		for _, n := range row.Warnings {
			if !slices.Contains(common, n) {
				out = append(out, "warning: "+row.Case+" "+row.Quantity+": "+n.text())
			}
		}
	}
	for _, e := range r.Exclusions {
		out = append(out, "excluded: "+e)
	}
	for _, n := range r.Notes {
		out = append(out, "note: "+n)
	}
	return out
}

// settings say what the words depend on.
func (d Document) settings() string {
	s := fmt.Sprintf("intervals at level %s or more, %s over %d gating rows, policy %s %s",
		percent(1-d.Method.Alpha), d.Method.Multiplicity, d.Method.Family, d.Policy.Name, d.Policy.Version)
	if d.Method.Schedule != "" {
		s += ", schedule " + d.Method.Schedule
	}
	return s
}

// RenderGate writes a gate's answer for a terminal.
func RenderGate(a GateAnswer) string {
	var b strings.Builder
	fmt.Fprintf(&b, "gate %s (policy %s %s)\n", a.Answer, a.Policy.Name, a.Policy.Version)
	for _, r := range a.Reasons {
		fmt.Fprintf(&b, "  %s\n", r)
	}
	return b.String()
}

func (n Note) text() string {
	if n.Detail == "" {
		return n.Code
	}
	return n.Code + ": " + n.Detail
}

// Text is the failure in one line.
func (f Failure) Text() string { return f.text() }

func (f Failure) text() string {
	if f.Workload == "" {
		return f.Invariant + ": " + f.Detail
	}
	return f.Invariant + ": " + Row{Workload: f.Workload, Parameters: f.Parameters}.name() + " " + f.Quantity + ": " + f.Detail
}

// name is the case with its parameters.
func (r Row) name() string {
	if len(r.Parameters) == 0 {
		return r.Workload
	}
	return r.Workload + " " + Pair{Parameters: r.Parameters}.key().parameters
}

func (r Row) effectText() string {
	switch {
	case r.Effect == nil:
		return "?"
	case r.Measure == Ratio:
		return "x" + strconv.FormatFloat(*r.Effect, 'f', 3, 64)
	}
	return signed(*r.Effect, r.Unit)
}

func (r Row) intervalText() string {
	if len(r.Interval) != 2 {
		return "?"
	}
	if r.Measure == Ratio {
		return fmt.Sprintf("[%.3f, %.3f] %s", r.Interval[0], r.Interval[1], percent(*r.Level))
	}
	return fmt.Sprintf("[%s, %s] %s", signed(r.Interval[0], r.Unit), signed(r.Interval[1], r.Unit), percent(*r.Level))
}

func (r Row) roundsText() string {
	if r.Dropped > 0 {
		return fmt.Sprintf("%d of %d", r.N, r.N+r.Dropped)
	}
	return strconv.Itoa(r.N)
}

func (r Row) verdictText() string {
	text := string(r.Verdict)
	switch r.Verdict {
	case NoDifference, Identical:
		text = "~ " + text
	case Invalid, Underpowered, Inconclusive:
		text = "? " + text
	}
	var why []string
	if r.Reason != "" {
		why = append(why, r.Reason)
	}
	if r.Hint != "" {
		why = append(why, "perhaps "+r.Hint)
	}
	if r.Need > 0 {
		why = append(why, fmt.Sprintf("needs %d rounds", r.Need))
	}
	if !r.Gating {
		why = append(why, "does not gate")
	}
	if len(why) > 0 {
		text += " (" + strings.Join(why, ", ") + ")"
	}
	return text
}

// change writes an effect of the row's measure: a share in percent, or an amount
// with its unit.
func (r Row) change(x float64) string {
	if r.Measure == Ratio {
		return percent(x)
	}
	return amount(&x, r.Unit)
}

func percent(x float64) string { return strconv.FormatFloat(100*x, 'g', 3, 64) + " %" }

// scaleOf holds the spellings of units that people read more easily in steps.
var scaleOf = map[string][]struct {
	from float64
	name string
}{
	"s":  {{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}},
	"By": {{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}, {1, "B"}},
}

// amount writes a value with its unit and four significant digits; ? when there
// is none.
func amount(x *float64, unit string) string {
	if !finite(x) {
		return "?"
	}
	steps := scaleOf[unit]
	for i, s := range steps {
		if math.Abs(*x) >= s.from || i == len(steps)-1 {
			return strconv.FormatFloat(*x/s.from, 'g', 4, 64) + " " + s.name
		}
	}
	text := strconv.FormatFloat(*x, 'g', 4, 64)
	if unit == "1" || unit == "" {
		return text
	}
	return text + " " + unit
}

// Amount writes a value with its unit, in the size that reads best: 1.02 ms.
func Amount(x float64, unit string) string { return amount(&x, unit) }

func signed(x float64, unit string) string {
	if x > 0 {
		return "+" + amount(&x, unit)
	}
	return amount(&x, unit)
}
