package verdict

import (
	"math"
	"slices"

	"writ/internal/canon"
)

// Report is a judgement made ready to be shown: every format tells the same
// things, and none leaves out a warning.
type Report struct {
	RunKey     string
	Method     string // name and version
	Settings   string // what else the words depend on, for people
	Schedule   string // of the rounds, where one is recorded
	Word       string // the whole in one word; "" when there is none
	Baseline   string // "" when nothing is compared
	Contender  string
	Rows       []ReportRow
	Failed     []string // conditions that do not hold
	Exclusions []string // results that count for nothing
	Notes      []string // what else a reader should know
	Gate       *GateAnswer
}

// ReportRow is one case and quantity.
type ReportRow struct {
	Case       string // with its parameters
	Workload   string
	Parameters map[string]canon.Value
	Quantity   string
	Unit       string
	Direction  string

	Word   string // the verdict, unadorned
	Text   string // the verdict as people read it: ~ for no difference that matters, ? for what is not known, reasons in brackets
	Reason string
	Hint   string
	Gating bool
	Answer Answer // of the gate about this row; "" without a gate or for a row that does not gate

	Measure             string   // Ratio, Difference, or "" when nothing is compared
	Baseline, Contender *float64 // in the unit; for a single run Baseline is the estimate
	Effect              *float64
	Interval            []float64 // of the effect; of the estimate when nothing is compared
	Level               *float64
	Threshold, Floor    float64
	P                   *float64 // adjusted where the row gates, beyond the threshold towards slower
	N, Dropped          int
	Warnings            []Note
	History             string // values of other runs as a line of bars, "" when none are known

	Shown *Shown // how other tools tell the values, where they are told as those do

	Samples      [2][]float64 // values that were judged: of the baseline, of the contender; in the order of rounds
	SampleRounds []int        // beside both of Samples; nil when they are of no rounds
}

// Shown are the cells of a row in the digits of another tool.
type Shown struct {
	Before string `json:"before"`
	After  string `json:"after"`
	Change string `json:"change"`
}

// Marks of words that are no clear yes.
const (
	MarkSame    = "~"
	MarkUnknown = "?"
)

// Report makes a judgement ready to be shown, with the values it rests on.
func (o Outcome) Report() Report {
	r := o.Document.Report()
	for i := range r.Rows {
		if i < len(o.Samples) {
			r.Rows[i].Samples, r.Rows[i].SampleRounds = o.Samples[i], o.Rounds[i]
		}
	}
	r.Baseline, r.Contender = o.Comparison.Str("baseline"), o.Comparison.Str("contender")
	excluded, _ := o.Comparison.Get("exclusions")
	r.Exclusions = exclusionTexts(excluded)
	return r
}

func exclusionTexts(v canon.Value) (out []string) {
	for _, e := range v.Elems() {
		ref, _ := e.Get("result")
		out = append(out, ref.Str("ingest_key")+" of "+ref.Str("producer")+": "+e.Str("reason"))
	}
	return out
}

// Report makes a verdict ready to be shown.
func (d Document) Report() Report {
	r := Report{RunKey: d.RunKey, Method: d.Method.Name + " " + d.Method.Version, Settings: d.settings(), Word: string(d.Overall)}
	if d.Rounds > 0 {
		r.Schedule = d.Method.Schedule
	}
	for _, f := range d.Failed {
		r.Failed = append(r.Failed, f.text())
	}
	for _, row := range d.Rows {
		r.Rows = append(r.Rows, row.report())
	}
	return r
}

// report makes a row ready to be shown.
func (r Row) report() ReportRow {
	p := r.PHolm
	if p == nil {
		p = r.PSlower
	}
	return ReportRow{
		Case: r.name(), Workload: r.Workload, Parameters: r.Parameters, Quantity: r.Quantity, Unit: r.Unit, Direction: r.Direction,
		Word: string(r.Verdict), Text: r.verdictText(), Reason: r.Reason, Hint: r.Hint, Gating: r.Gating, Measure: r.Measure,
		Baseline: r.Baseline, Contender: r.Contender, Effect: r.Effect, Interval: r.Interval, Level: r.Level,
		Threshold: r.Threshold, Floor: r.Floor, P: p, N: r.N, Dropped: r.Dropped, Warnings: r.Warnings,
	}
}

// WithGate adds the answer of a gate, for the whole and for every row that gates.
func (r Report) WithGate(p GatePolicy, a GateAnswer) Report {
	r.Gate, r.Rows = &a, slices.Clone(r.Rows)
	for i, row := range r.Rows {
		if row.Gating {
			r.Rows[i].Answer = p.answer(Row{Verdict: Word(row.Word), Warnings: row.Warnings})
		}
	}
	return r
}

// Mark is the sign in front of a word that is no clear yes; "" for others.
func (r ReportRow) Mark() string {
	switch r.Word {
	case string(NoDifference), string(Identical), NoChange:
		return MarkSame
	case string(Invalid), string(Underpowered), string(Inconclusive), Indeterminate:
		return MarkUnknown
	}
	return ""
}

// row is the part of a report's row that texts are made from.
func (r ReportRow) row() Row {
	return Row{Unit: r.Unit, Measure: r.Measure, Effect: r.Effect, Interval: r.Interval, Level: r.Level, N: r.N, Dropped: r.Dropped}
}

// Change is the effect with its unit, "?" when it is not known.
func (r ReportRow) Change() string {
	switch {
	case r.Measure == "":
		return ""
	case r.Shown != nil:
		return r.Shown.Change
	}
	return r.row().effectText()
}

// Range is the interval with the level that it attains, "?" when it is infinite.
func (r ReportRow) Range() string {
	if r.Measure == "" && len(r.Interval) == 2 && r.Level != nil {
		return "[" + amount(&r.Interval[0], r.Unit) + ", " + amount(&r.Interval[1], r.Unit) + "] " + percent(*r.Level)
	}
	return r.row().intervalText()
}

// Rounds says how many rounds count, and of how many.
func (r ReportRow) Rounds() string { return r.row().roundsText() }

// Before and After are the medians of both sides with their unit, "?" when not
// known.
func (r ReportRow) Before() string {
	if r.Shown != nil {
		return r.Shown.Before
	}
	return amount(r.Baseline, r.Unit)
}

// After is the contender's median; see Before.
func (r ReportRow) After() string {
	if r.Shown != nil {
		return r.Shown.After
	}
	return amount(r.Contender, r.Unit)
}

// Notes lists the warnings as text.
func (r ReportRow) Notes() []string {
	out := make([]string, len(r.Warnings))
	for i, n := range r.Warnings {
		out[i] = n.text()
	}
	return out
}

// finite reports whether x is there and a number.
func finite(x *float64) bool { return x != nil && !math.IsNaN(*x) && !math.IsInf(*x, 0) }
