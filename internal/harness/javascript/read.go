package javascript

import (
	"math"
	"slices"

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
	c.Attempted = set.Repetitions - set.thrown
	if r, ended := c.Ended(nativeFile); ended {
		return r
	}
	d, err := Parse(out.Files[nativeFile])
	switch {
	case err != nil:
		return c.Unreadable(err)
	case d.Case != name:
		return answer.Warn(c.Silent(), map[string]bool{answer.WarnStranger: true})
	case d.Skipped != "":
		return c.All(result.Skipped, result.ReasonSkipped, d.Skipped)
	case len(d.Runs) > set.Repetitions:
		return c.Untranslatable("%d repetitions in the file, %d were ordered", len(d.Runs), set.Repetitions)
	}
	failed := slices.IndexFunc(d.Runs, func(r Run) bool { return r.Error != "" })
	if failed >= 0 {
		c.Words = d.Runs[failed].Error
		d.Runs = d.Runs[:failed]
	}
	if i := slices.IndexFunc(d.Runs, func(r Run) bool { return set.fixed > 0 && r.Calls != set.fixed }); i >= 0 {
		return c.Untranslatable("%d calls in the file, %d were ordered", d.Runs[i].Calls, set.fixed)
	}
	thrown := min(set.thrown, len(d.Runs))
	kept := d.Runs[thrown:]
	if failed >= 0 && len(kept) == 0 {
		r := c.All(result.Failed, result.ReasonHarnessError, c.Words)
		r.Warmups = thrown
		return r
	}
	series := answer.Series{Unit: "ms"}
	if a.Spec.Nanoseconds {
		series.Unit = "ns"
	}
	short := false
	for _, r := range kept {
		series.Values = append(series.Values, r.Mean)
		series.Iterations = append(series.Iterations, r.Calls)
		short = short || r.Mean*float64(r.Calls) < set.seconds/2
	}
	if len(d.Runs) == 1 && set.Repetitions == 1 {
		series.Summaries = d.Last.summaries()
	}
	reading := c.Read(map[string]answer.Series{"wall-time": series})
	if reading.Warmups = thrown; failed >= 0 {
		reading.Message = harness.Clip(c.Words)
	}
	reading.Facts = map[string]string{a.Spec.Package: d.Version}
	return answer.Warn(reading, map[string]bool{answer.WarnShort: short})
}

// summaries are what the harness says about the single calls of the one repetition.
func (s Stats) summaries() []result.Summary {
	var out []result.Summary
	for _, x := range []struct {
		name  string
		value float64
	}{{"min", s.Min}, {"median", s.Median}, {"p75", s.P75}, {"p99", s.P99}, {"max", s.Max}, {"stddev", s.Deviation}} {
		if math.IsNaN(x.value) || math.IsInf(x.value, 0) {
			continue
		}
		one := answer.Statistic(x.name, x.value)
		one.Method = "of single calls"
		out = append(out, one)
	}
	return out
}
