package verdict

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"writ/internal/fault"
	"writ/internal/result"
)

// Words of a run that is compared with nothing.
const measuredWord = "measured"

// SingleParams is everything that the summary of one run depends on.
type SingleParams struct {
	Results []result.Result
	RunKey  string
	Planned []Pair  // what had to be measured; nil takes what was
	Alpha   float64 // of the intervals
}

// Summarise shows one run by itself: per case and quantity the median over its
// processes, and the exact interval for it. There is nothing to judge, so no word
// says more than that it was measured. fault.Nothing without results,
// fault.Incomparable when one case has two units.
func Summarise(p SingleParams) (Report, error) {
	if len(p.Results) == 0 {
		return Report{}, fault.New(fault.Nothing, "summarise", "no results of %q", p.RunKey)
	}
	r := Report{
		RunKey: p.RunKey, Method: "writ/median 1",
		Settings: fmt.Sprintf("medians over processes, intervals at level %s or more", percent(1-p.Alpha)),
	}
	units := map[pairKey]*unit{}
	for _, pair := range p.Planned {
		units[pair.key()] = &unit{pair: pair}
	}
	for i := range p.Results {
		pair := Revisions.pair(&p.Results[i])
		u := units[pair.key()]
		if u == nil {
			u = &unit{pair: pair}
			units[pair.key()] = u
		}
		u.got[baseline] = append(u.got[baseline], &p.Results[i])
	}
	for _, k := range slices.SortedFunc(maps.Keys(units), compareKeys) {
		u := units[k]
		slices.SortFunc(u.got[baseline], result.Compare)
		row, excluded, err := u.summary(p.Alpha)
		if err != nil {
			return Report{}, err
		}
		r.Rows, r.Exclusions = append(r.Rows, row), append(r.Exclusions, excluded...)
	}
	return r, nil
}

func (u *unit) summary(alpha float64) (row ReportRow, excluded []string, err error) {
	info, _ := result.Known(u.pair.Quantity)
	row = ReportRow{
		Case: Row{Workload: u.pair.Workload, Parameters: u.pair.Parameters}.name(), Workload: u.pair.Workload, Parameters: u.pair.Parameters,
		Quantity: u.pair.Quantity, Unit: info.Unit, Direction: info.Direction, Warnings: []Note{},
	}
	for _, x := range u.got[baseline] {
		q := x.Coordinates.Quantity
		if q.Unit != u.got[baseline][0].Coordinates.Quantity.Unit {
			return row, nil, fault.New(fault.Incomparable, "summarise", "%s is in %s and in %s", row.Case, row.Unit, q.Unit)
		}
		row.Unit, row.Direction = q.Unit, q.Direction
		v, reason := attempt(x, info.Centre, Difference)
		if reason != "" {
			row.Dropped++
			excluded = append(excluded, fmt.Sprintf("%s of %s: %s", x.IngestKey, x.Producer.Name, reason))
			continue
		}
		row.Samples[baseline] = append(row.Samples[baseline], v)
	}
	seen := row.Samples[baseline]
	row.N = len(seen)
	if row.N == 0 {
		row.Word, row.Reason = string(Invalid), cmp.Or(map[bool]string{true: reasonMissing}[row.Dropped == 0], reasonDropped)
		row.Text = MarkUnknown + " " + row.Word + " (" + row.Reason + ")"
		return row, excluded, nil
	}
	row.Word, row.Text, row.Baseline = measuredWord, measuredWord, number(median(seen))
	if i := medianInterval(seen, alpha); i.Finite() {
		row.Interval, row.Level = []float64{i.Lower, i.Upper}, number(i.Level)
	} else {
		row.Warnings = append(row.Warnings, Note{reasonFew, "no finite interval for the median of so few processes"})
	}
	for _, code := range u.tokens() {
		row.Warnings = append(row.Warnings, Note{Code: code})
	}
	return row, excluded, nil
}
