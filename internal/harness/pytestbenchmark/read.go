package pytestbenchmark

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/runner/proc"
)

// Warnings of this adapter.
const (
	warnNonFinite = "non-finite-number" // the file has some; none is used
	warnStranger  = "unplanned-case"
	warnExit      = "harness-exit-status"
	warnShort     = "short-sample" // a round was much shorter than ordered: the plugin calibrates with cold calls, or the test sets its own count
)

// Read implements harness.Harness.
func (a Adapter) Read(_ harness.Suite, name string, p order.Precision, quantities []string, out harness.Output) harness.Reading {
	set, err := a.settle(p)
	if err != nil {
		return harness.All(quantities, result.Failed, result.ReasonMapping, err.Error())
	}
	reading := read(name, set, quantities, out)
	reading.Attempted = set.counted
	if out.Result.Exit != 0 {
		reading.Warnings = append(reading.Warnings, warnExit)
	}
	return reading
}

func read(name string, set settings, quantities []string, out harness.Output) harness.Reading {
	all := func(status result.Status, reason, message string) harness.Reading {
		return harness.All(quantities, status, reason, message)
	}
	switch c := out.Result.Cause; {
	case c == proc.TimedOut:
		return all(result.Failed, result.ReasonTimeout, "")
	case c == proc.OutputLimit, c == proc.Cancelled:
		return all(result.Failed, result.ReasonHarnessError, "the test "+out.End())
	}
	for _, file := range []string{nativeFile, junitFile} {
		if why, there := out.Unread[file]; there {
			return all(result.Failed, result.ReasonMapping, file+" is "+why)
		}
	}
	why := harness.FirstOf(failureIn(out.Stdout), out.LastWords(), out.End())
	if out.Result.Exit != 0 && out.Result.Exit != noTests && len(out.Files[junitFile]) == 0 {
		return all(result.Failed, result.ReasonHarnessError, why)
	}
	report, err := ParseReport(out.Files[junitFile])
	switch {
	case err != nil && out.Result.Exit == 0:
		return all(result.Failed, result.ReasonMapping, err.Error())
	case err != nil && out.Result.Exit != noTests:
		return all(result.Failed, result.ReasonHarnessError, why)
	case report.Failed:
		return all(result.Failed, result.ReasonHarnessError, harness.FirstOf(report.Message, why))
	}
	d, err := Parse(out.Files[nativeFile])
	switch {
	case fault.CodeOf(err) == fault.Nothing && report.Skipped:
		return all(result.Skipped, result.ReasonSkipped, report.Message)
	case err != nil && out.Result.Exit != 0 && out.Result.Exit != noTests:
		return all(result.Failed, result.ReasonHarnessError, why)
	case fault.CodeOf(err) == fault.Nothing && report.Tests > 0:
		return all(result.Failed, result.ReasonNoOutput, "the test passed and measured nothing")
	case fault.CodeOf(err) == fault.Nothing:
		return all(result.Failed, result.ReasonNoOutput, why)
	case err != nil:
		return all(result.Failed, result.ReasonMapping, err.Error())
	}
	reading := judge(d, name, set, quantities, out)
	reading.Facts = maps.Clone(d.Facts)
	reading.Facts["pytest_benchmark"] = d.Version
	if d.NonFinite > 0 {
		reading.Warnings = append(reading.Warnings, warnNonFinite)
	}
	if slices.ContainsFunc(d.Records, func(r Record) bool { return r.FullName != name }) {
		reading.Warnings = append(reading.Warnings, warnStranger)
	}
	slices.Sort(reading.Warnings)
	return reading
}

// failureIn finds the line in which pytest says why a test or a collection broke.
func failureIn(stdout []byte) string {
	for line := range bytes.Lines(stdout) {
		if rest, ok := strings.CutPrefix(string(line), "E   "); ok {
			return harness.Clip(strings.TrimSpace(rest))
		}
	}
	return ""
}

// judge decides what the record of the case comes to.
func judge(d Document, name string, set settings, quantities []string, out harness.Output) harness.Reading {
	failed := func(reason, message string) harness.Reading {
		return harness.All(quantities, result.Failed, reason, message)
	}
	i := slices.IndexFunc(d.Records, func(r Record) bool { return r.FullName == name })
	if i < 0 {
		return failed(result.ReasonNoOutput, "")
	}
	rec := d.Records[i]
	if slices.ContainsFunc(d.Records[i+1:], func(r Record) bool { return r.FullName == name }) {
		return failed(result.ReasonMapping, "the test is in the file twice")
	}
	if own := rec.ownSettings(set); own != "" {
		return failed(result.ReasonMapping, own+": the test sets its own")
	}
	return values(rec, set, quantities, out)
}

// ownSettings says in what a test did not run as it was ordered, "" for nothing.
func (rec Record) ownSettings(set settings) string {
	switch o := rec.Options; {
	case len(rec.Data) > set.counted+set.warmups:
		return fmt.Sprintf("%d rounds in the file, %d were ordered", len(rec.Data), set.counted+set.warmups)
	case o.MinRounds != set.counted+set.warmups:
		return fmt.Sprintf("at least %d rounds, %d were ordered", o.MinRounds, set.counted+set.warmups)
	case math.Abs(o.MinTime-set.minTime) > 1e-9*set.minTime:
		return fmt.Sprintf("rounds of %g s, %g s were ordered", o.MinTime, set.minTime)
	case !strings.HasSuffix(o.Timer, "perf_counter"):
		return fmt.Sprintf("the timer is %q", o.Timer)
	case o.DisableGC:
		return "without garbage collection"
	case o.Warmup:
		return "with a warm-up"
	}
	return ""
}

// values reads the rounds that count.
func values(rec Record, set settings, quantities []string, out harness.Output) harness.Reading {
	reading := harness.Reading{Quantities: map[string]harness.Measured{}, Warmups: min(len(rec.Data), set.warmups)}
	data := rec.Data[reading.Warmups:]
	m := harness.Measured{Status: result.Failed, Reason: result.ReasonNoOutput, Unit: "s", OriginalUnit: "s"}
	for _, v := range data {
		if !(v > 0) || math.IsInf(v, 0) {
			m.Reason, m.Message = result.ReasonMapping, fmt.Sprintf("a time of %v cannot be used", v)
			continue
		}
		if v*float64(rec.Iterations) < set.minTime/2 && len(reading.Warnings) == 0 {
			reading.Warnings = append(reading.Warnings, warnShort)
		}
		m.Values = append(m.Values, v)
		reading.InnerIterations = append(reading.InnerIterations, rec.Iterations)
	}
	switch {
	case len(m.Values) == 0:
	case out.Result.OK() && len(m.Values) == set.counted:
		m.Status, m.Reason = result.Success, ""
		if set.warmups == 0 {
			m.Summaries = rec.Stats.summaries()
		}
	default:
		m.Status, m.Reason = result.Partial, result.ReasonPartial
		if !out.Result.OK() {
			reading.Message = harness.FirstOf(failureIn(out.Stdout), out.LastWords(), out.End())
		}
	}
	for _, q := range quantities {
		if q == "wall-time" {
			reading.Quantities[q] = m
		} else {
			reading.Quantities[q] = harness.All([]string{q}, result.Failed, result.ReasonMapping, "").Quantities[q]
		}
	}
	return reading
}

// summaries are what the plugin computed from all the rounds.
func (s Stats) summaries() []result.Summary {
	var out []result.Summary
	finite := func(name string) *float64 {
		if v, ok := s[name]; ok && !math.IsNaN(v) && !math.IsInf(v, 0) {
			return &v
		}
		return nil
	}
	for _, name := range []string{"mean", "median"} {
		if v := finite(name); v != nil {
			e := &result.Estimator{Name: name, MethodVersion: Name + "/" + name, InputLevel: "observations"}
			out = append(out, result.Summary{Type: "estimate", Source: "producer", Estimator: e, Value: v})
		}
	}
	for _, name := range []string{"stddev", "iqr", "min", "max", "q1", "q3"} {
		if v := finite(name); v != nil {
			out = append(out, result.Summary{Type: "statistic", Source: "producer", Name: name, Value: v})
		}
	}
	if low, high := finite("ld15iqr"), finite("hd15iqr"); low != nil && high != nil && *low <= *high {
		out = append(out, result.Summary{Type: "source_bounds", Source: "producer", Label: "within 1.5 iqr of the quartiles", Lower: low, Upper: high})
	}
	return out
}
