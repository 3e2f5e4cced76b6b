package asv

import (
	"slices"
	"strings"

	"writ/internal/harness"
	"writ/internal/harness/answer"
	"writ/internal/order"
	"writ/internal/result"
)

// Read implements harness.Harness.
func (a Adapter) Read(_ harness.Suite, name string, p order.Precision, quantities []string, out harness.Output) harness.Reading {
	c := answer.Case{Quantities: quantities, Out: out, Words: words(out)}
	set, err := a.settle(p)
	if err != nil {
		return c.Untranslatable("%v", err)
	}
	c.Attempted = set.samples
	if r, ended := c.Ended(nativeFile, benchmarksFile); ended {
		return r
	}
	benchmark, _, _ := strings.Cut(name, "(")
	d, err := Parse(out.Files[nativeFile], benchmark)
	if err != nil {
		return c.Unreadable(err)
	}
	known, err := ParseBenchmarks(out.Files[benchmarksFile])
	if err != nil {
		return c.Unreadable(err)
	}
	reading := judge(c, d, known, name, benchmark, set)
	if reading.Facts == nil {
		reading.Facts = d.Facts
	}
	return answer.Warn(reading, map[string]bool{answer.WarnStranger: d.More})
}

// judge decides what the row of the case comes to.
func judge(c answer.Case, d Document, known []Benchmark, name, benchmark string, set settings) harness.Reading {
	i := slices.IndexFunc(known, func(b Benchmark) bool { return b.Name == benchmark })
	switch {
	case !d.Found:
		return c.Silent()
	case i < 0:
		return c.Untranslatable("%s is no timing benchmark", benchmark)
	case known[i].Unit != "seconds":
		return c.Untranslatable("values in the unit %q are no times", known[i].Unit)
	case d.Row.Version != "" && d.Row.Version != known[i].Version: // E-58: of older code
		return answer.Warn(c.Silent(), map[string]bool{"stale-result": true})
	}
	row := d.Row
	at := row.Parameters.find(benchmark, name)
	if at < 0 {
		return c.Silent()
	}
	if n := len(row.Result.values); n > 0 && n != row.Parameters.combinations() {
		return c.Untranslatable("%d results for %d combinations of parameters", n, row.Parameters.combinations())
	}
	value := row.Result.at(at)
	switch {
	case value == nil:
		return c.All(result.Failed, result.ReasonHarnessError, harness.FirstOf(c.Words, "the benchmark failed"))
	case !isFinite(*value): // E-57
		return c.All(result.Skipped, result.ReasonNotApplicable, "asv skipped the combination")
	case row.Samples.at(at) == nil:
		return c.Untranslatable("the file has a result and no samples")
	}
	calls := 0
	if n := row.Number.at(at); n != nil {
		calls = int(*n)
	}
	if set.calls > 0 && calls != set.calls {
		return c.Untranslatable("%d calls in the file, %d were ordered", calls, set.calls)
	}
	series := answer.Series{Values: row.Samples.at(at), Unit: "seconds", Summaries: row.summaries(at)}
	if calls > 0 {
		series.Iterations = slices.Repeat([]int{calls}, len(series.Values))
	}
	short := slices.ContainsFunc(series.Values, func(v float64) bool { return calls > 0 && v*float64(calls) < set.seconds/2 })
	return answer.Warn(c.Read(map[string]answer.Series{"wall-time": series}), map[string]bool{
		answer.WarnShort: short, answer.WarnNonFinite: slices.ContainsFunc(series.Values, func(v float64) bool { return !isFinite(v) }),
	})
}

// summaries are what the tool itself computed, cut to five digits.
func (row Row) summaries(at int) []result.Summary {
	out := []result.Summary{answer.Estimate(Name, "median", *row.Result.at(at))}
	if low, high := row.LowCI.at(at), row.HighCI.at(at); low != nil && high != nil && isFinite(*low) && isFinite(*high) && *low <= *high {
		out = append(out, answer.Interval("median", 0.99, *low, *high, "of the tool"))
	}
	for _, q := range []struct {
		name   string
		column Column
	}{{"q1", row.Q25}, {"q3", row.Q75}} {
		if v := q.column.at(at); v != nil && isFinite(*v) {
			out = append(out, answer.Statistic(q.name, *v))
		}
	}
	return out
}
