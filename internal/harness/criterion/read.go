package criterion

import (
	"math"
	"slices"

	"writ/internal/harness"
	"writ/internal/harness/answer"
	"writ/internal/order"
	"writ/internal/result"
)

const perSecond = 1e9 // nanoseconds

// Read implements harness.Harness.
func (a Adapter) Read(s harness.Suite, name string, p order.Precision, quantities []string, out harness.Output) harness.Reading {
	c := answer.Case{Quantities: quantities, Out: out}
	set, err := a.settle(s, p)
	if err != nil {
		return c.Untranslatable("%v", err)
	}
	c.Attempted = set.samples
	if r, ended := c.Ended(sampleFile, benchmarkFile, estimatesFile); ended {
		return r
	}
	sample, err := ParseSample(out.Files[sampleFile])
	if err != nil {
		return c.Unreadable(err)
	}
	id, err := ParseIdentity(out.Files[benchmarkFile])
	if err != nil {
		return c.Unreadable(err)
	}
	if id.FullID != name {
		return answer.Warn(c.Silent(), map[string]bool{answer.WarnStranger: true})
	}
	estimates, err := ParseEstimates(out.Files[estimatesFile])
	if err != nil {
		return c.Unreadable(err)
	}
	series := answer.Series{Unit: "ns", Summaries: summaries(estimates)}
	total := 0.0
	for i, n := range sample.Iters {
		total += sample.Times[i]
		series.Iterations = append(series.Iterations, int(n))
		series.Values = append(series.Values, sample.Times[i]/n/perSecond)
	}
	reading := c.Read(map[string]answer.Series{"wall-time": series})
	reading.Facts = map[string]string{"sampling_mode": harness.FirstOf(sample.Mode, "unknown")}
	if id.Throughput != "" {
		reading.Facts["throughput"] = id.Throughput
	}
	return answer.Warn(reading, map[string]bool{
		answer.WarnShort:     total/perSecond < set.sample*float64(len(sample.Times))/2,
		answer.WarnNonFinite: slices.ContainsFunc(sample.Times, func(t float64) bool { return math.IsNaN(t) || math.IsInf(t, 0) }),
	})
}

// summaries are what the library itself computed from all the samples.
func summaries(estimates []Estimate) []result.Summary {
	var out []result.Summary
	finite := func(values ...float64) bool {
		return !slices.ContainsFunc(values, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	}
	statistics := map[string]string{"std_dev": "stddev", "median_abs_dev": "median-abs-dev"}
	for _, e := range estimates {
		name, statistic := statistics[e.Name]
		switch {
		case !finite(e.Point):
			continue
		case statistic:
			out = append(out, answer.Statistic(name, e.Point/perSecond))
		default:
			name = e.Name
			out = append(out, answer.Estimate(Name, name, e.Point/perSecond))
		}
		if finite(e.Lower, e.Upper) && e.Lower <= e.Upper && e.Level > 0 && e.Level < 1 {
			out = append(out, answer.Interval(name, e.Level, e.Lower/perSecond, e.Upper/perSecond, "bootstrap"))
		}
	}
	return out
}
