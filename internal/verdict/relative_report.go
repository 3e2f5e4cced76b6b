package verdict

import (
	"cmp"
	"fmt"
	"slices"

	"writ/internal/result"
)

// relativeOrder is the order of words in a report by the paired-relative rule.
var relativeOrder = []string{Regressed, Improved, Changed, NoChange, Indeterminate}

// Report makes a comparison by the paired-relative rule ready to be shown: what
// got worse first, what has no verdict last.
func (r Relative) Report() Report {
	settings, _ := r.doc.Method.Configuration.(relativeSettings)
	out := Report{
		RunKey: r.doc.RunKey, Method: r.doc.Method.Name + " " + r.doc.Method.Version,
		Settings: fmt.Sprintf("changed beyond %s times the standard error, at least %d rounds; no interval and no correction for many cases",
			short(settings.K), settings.MinRounds),
		Baseline: r.doc.Baseline, Contender: r.doc.Contender,
	}
	if r.doc.LocalOnly {
		out.Settings += "; local only: a checkout was not clean"
	}
	for i, u := range r.doc.Units {
		row := relativeRow(u)
		row.Samples = r.Samples[i]
		if len(row.Samples[contender]) > 0 {
			row.Contender = number(median(row.Samples[contender]))
		}
		out.Rows = append(out.Rows, row)
	}
	slices.SortStableFunc(out.Rows, func(a, b ReportRow) int {
		return cmp.Compare(slices.Index(relativeOrder, a.Word), slices.Index(relativeOrder, b.Word))
	})
	for _, m := range r.doc.Missing {
		out.Failed = append(out.Failed, Failure{
			Invariant: reasonMissing, Detail: "the " + m.Side + " has no result", Workload: m.Workload.Name, Parameters: m.Workload.Parameters, Quantity: m.Quantity,
		}.text())
	}
	for _, f := range r.doc.FailedInvariants {
		failure := Failure{Invariant: f.Invariant, Detail: f.Detail, Quantity: f.Quantity}
		if f.Workload != nil {
			failure.Workload, failure.Parameters = f.Workload.Name, f.Workload.Parameters
		}
		out.Failed = append(out.Failed, failure.text())
	}
	excluded, _ := r.Comparison.Get("exclusions")
	out.Exclusions = exclusionTexts(excluded)
	return out
}

func relativeRow(u comparisonUnit) ReportRow {
	info, _ := result.Known(u.Quantity)
	row := ReportRow{
		Case: Row{Workload: u.Workload.Name, Parameters: u.Workload.Parameters}.name(), Workload: u.Workload.Name, Parameters: u.Workload.Parameters,
		Quantity: u.Quantity, Unit: info.Unit, Direction: info.Direction, Word: u.Verdict, Reason: u.Reason,
		Measure: Ratio, Baseline: u.ReferenceEstimate, N: u.Rounds, Warnings: []Note{},
	}
	if u.Effect != nil {
		row.Effect = number(1 + *u.Effect)
	}
	row.Text = u.Verdict
	if mark := row.Mark(); mark != "" {
		row.Text = mark + " " + row.Text
	}
	switch {
	case u.Reason != "":
		row.Text += " (" + u.Reason + ")"
	case u.Noise != nil && u.Threshold != nil:
		row.Text += " (noise " + percent(*u.Noise) + ", threshold " + percent(*u.Threshold) + ")"
		row.Threshold = *u.Threshold
	}
	if u.ContextDifferences != nil {
		for _, name := range *u.ContextDifferences {
			row.Warnings = append(row.Warnings, Note{"conditions-differ", name})
		}
	}
	return row
}
