package jmh

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"writ/internal/harness"
	"writ/internal/harness/answer"
	"writ/internal/order"
	"writ/internal/result"
)

// perSecond is how many of a unit of time are one second.
var perSecond = map[string]float64{"ns/op": 1e9, "us/op": 1e6, "ms/op": 1e3, "s/op": 1}

// Read implements harness.Harness.
func (a Adapter) Read(s harness.Suite, name string, p order.Precision, quantities []string, out harness.Output) harness.Reading {
	c := answer.Case{Quantities: quantities, Out: out, Words: words(out)}
	set, err := a.settle(p)
	if err != nil {
		return c.Untranslatable("%v", err)
	}
	c.Attempted = set.forks * set.iterations
	if r, ended := c.Ended(nativeFile); ended {
		return levels(r, set, nil)
	}
	entries, err := Parse(out.Files[nativeFile])
	if err != nil {
		return levels(c.Unreadable(err), set, nil)
	}
	want, _ := parseCase(name)
	given := fixed(s)
	mine, strangers := Entry{}, 0
	found := 0
	for _, e := range entries {
		if e.is(want, given) {
			mine, found = e, found+1
		} else {
			strangers++
		}
	}
	reading := judge(c, mine, found, set, given)
	return answer.Warn(levels(reading, set, mine.Primary.Forks), map[string]bool{
		answer.WarnStranger: strangers > 0, answer.WarnNonFinite: slices.ContainsFunc(mine.Primary.Values, func(v float64) bool { return !isFinite(v) }),
	})
}

// is reports whether an entry is of a case: the same benchmark, with the parameters of
// the case and no others than those that the order gives.
func (e Entry) is(c oneCase, given []parameter) bool {
	all := slices.Concat(c.parameters, given)
	return e.Benchmark == c.benchmark &&
		!slices.ContainsFunc(e.Parameters, func(p parameter) bool { return !slices.Contains(all, p) }) &&
		!slices.ContainsFunc(c.parameters, func(p parameter) bool { return !slices.Contains(e.Parameters, p) })
}

// words are the line in which the harness says why a benchmark failed: the one behind
// its mark, or the exception that ended it.
func words(out harness.Output) string {
	failed := false
	for _, stream := range []string{string(out.Stdout), string(out.Stderr)} {
		for line := range strings.Lines(stream) {
			line = strings.TrimSpace(line)
			if failed && line != "" {
				return harness.Clip(line)
			}
			failed = failed || strings.HasSuffix(line, "<failure>")
		}
		for line := range strings.Lines(stream) {
			if rest, ok := strings.CutPrefix(line, "Exception in thread "); ok {
				return harness.Clip(strings.TrimSpace(rest))
			}
		}
	}
	return ""
}

// judge decides what the entry of the case comes to.
func judge(c answer.Case, e Entry, found int, set settings, given []parameter) harness.Reading {
	var own string
	switch {
	case found > 1:
		return c.Untranslatable("the benchmark is in the file %d times", found)
	case found == 0:
		return c.Silent()
	case e.Mode != set.mode():
		own = "the mode is " + e.Mode + ", " + set.mode() + " was ordered"
	case e.Forks < 1:
		own = "the benchmark ran in the virtual machine of the harness" // E-54
	case e.Forks != set.forks || e.Iterations != set.iterations || e.Warmups != set.warmups:
		own = strconv.Itoa(e.Forks) + " forks of " + strconv.Itoa(e.Iterations) + " iterations after " + strconv.Itoa(e.Warmups) + ", others were ordered"
	case set.batch > 0 && e.Batch != set.batch:
		own = strconv.Itoa(e.Batch) + " calls in an iteration, " + strconv.Itoa(set.batch) + " were ordered"
	case perSecond[e.Primary.Unit] == 0:
		own = "scores in " + strconv.Quote(e.Primary.Unit) + " are no times of a call"
	case len(e.Primary.Values) == 0:
		own = "the file has no values of iterations, only a score" // E-52
	case len(e.Primary.Forks) > set.forks:
		own = strconv.Itoa(len(e.Primary.Forks)) + " forks in the file, " + strconv.Itoa(set.forks) + " were ordered"
	}
	if own != "" {
		return c.Untranslatable("%s", own)
	}
	for _, p := range given {
		if !slices.Contains(e.Parameters, p) {
			return c.Untranslatable("the benchmark has no parameter %q", p.name)
		}
	}
	calls := float64(max(set.batch, 1))
	series := map[string]answer.Series{"wall-time": e.Primary.series(perSecond[e.Primary.Unit]*calls, true)}
	if set.batch > 0 {
		s := series["wall-time"]
		s.Iterations = slices.Repeat([]int{set.batch}, len(s.Values))
		series["wall-time"] = s
	}
	bytes := answer.Series{}
	if e.Allocated.Unit == "B/op" {
		bytes = e.Allocated.series(calls, false)
		bytes.Zero = true
	}
	series["allocated-bytes"] = bytes
	reading := c.Read(series)
	reading.Warmups = set.warmups * len(e.Primary.Forks)
	reading.Facts = map[string]string{"threads": strconv.Itoa(e.Threads), "forks": strconv.Itoa(e.Forks), "mode": e.Mode}
	for _, f := range e.Facts {
		reading.Facts[f.name] = f.value
	}
	return reading
}

// series are the values of a metric, divided by what makes them the quantity's unit.
func (m Metric) series(divisor float64, interval bool) answer.Series {
	s := answer.Series{Unit: m.Unit}
	for _, v := range m.Values {
		s.Values = append(s.Values, v/divisor)
	}
	for fork, n := range m.Forks {
		s.Groups = append(s.Groups, slices.Repeat([]string{strconv.Itoa(fork)}, n)...)
	}
	if isFinite(m.Score) {
		s.Summaries = append(s.Summaries, answer.Estimate(Name, "mean", m.Score/divisor))
	}
	const level = 0.999 // which the harness always takes
	if interval && isFinite(m.Lower) && isFinite(m.Upper) && m.Lower <= m.Upper {
		s.Summaries = append(s.Summaries, answer.Interval("mean", level, m.Lower/divisor, m.Upper/divisor, "student's t"))
	}
	return s
}

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// levels counts what was completed, where the order has levels: a fork is when all its
// iterations are there.
func levels(r harness.Reading, set settings, forks []int) harness.Reading {
	if !set.levels {
		return r
	}
	whole, values := 0, 0
	if m := r.Quantities["wall-time"]; m.Status == result.Success || m.Status == result.Partial {
		for _, n := range forks {
			if values += n; n == set.iterations {
				whole++
			}
		}
		values = min(values, len(m.Values))
	}
	r.Levels = []result.LevelCounts{
		{Unit: Process, Attempted: set.forks, Completed: whole}, {Unit: Iteration, Attempted: set.forks * set.iterations, Completed: values},
	}
	return r
}
