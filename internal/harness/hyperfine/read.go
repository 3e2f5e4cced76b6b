package hyperfine

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/harness/cmdline"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/runner/proc"
)

// Warnings of this adapter.
const (
	warnNonFinite = "non-finite-number" // the file has some; none is used
	warnExit      = "harness-exit-status"
)

// Read implements harness.Harness.
func (a Adapter) Read(s harness.Suite, name string, p order.Precision, quantities []string, out harness.Output) harness.Reading {
	set, err := cmdline.Settle(Name, a.Defaults(), p)
	if err != nil {
		return harness.All(quantities, result.Failed, result.ReasonMapping, err.Error())
	}
	reading := read(s, name, set, quantities, out)
	reading.Attempted = set.Repetitions
	if out.Result.Exit != 0 {
		reading.Warnings = append(reading.Warnings, warnExit)
	}
	slices.Sort(reading.Warnings)
	return reading
}

func read(s harness.Suite, name string, set cmdline.Counts, quantities []string, out harness.Output) harness.Reading {
	failed := func(reason, message string) harness.Reading {
		return harness.All(quantities, result.Failed, reason, message)
	}
	switch c := out.Result.Cause; {
	case c == proc.TimedOut:
		return failed(result.ReasonTimeout, "")
	case c == proc.OutputLimit, c == proc.Cancelled:
		return failed(result.ReasonHarnessError, "hyperfine was "+out.End())
	}
	if why, there := out.Unread[nativeFile]; there {
		return failed(result.ReasonMapping, "the result file is "+why)
	}
	d, err := Parse(out.Files[nativeFile])
	switch {
	case (err != nil || len(d.Commands) == 0) && out.Result.Exit != 0: // the file holds what was finished before
		return failed(result.ReasonHarnessError, harness.FirstOf(out.LastWords(), out.End()))
	case err == nil && len(d.Commands) == 0, fault.CodeOf(err) == fault.Nothing:
		return failed(result.ReasonNoOutput, out.LastWords())
	case err != nil:
		return failed(result.ReasonMapping, err.Error())
	case len(d.Commands) > 1:
		return failed(result.ReasonMapping, fmt.Sprintf("%d commands in the file, one was ordered", len(d.Commands)))
	case d.Commands[0].Name != name:
		return failed(result.ReasonNoOutput, fmt.Sprintf("the file is about %q", harness.Clip(d.Commands[0].Name)))
	}
	reading := d.Commands[0].judge(cmdline.Expected(s), set, quantities, out)
	if d.NonFinite > 0 {
		reading.Warnings = append(reading.Warnings, warnNonFinite)
	}
	return reading
}

// judge decides what the record of the case comes to.
func (c Command) judge(expected []int, set cmdline.Counts, quantities []string, out harness.Output) harness.Reading {
	failed := func(reason, format string, args ...any) harness.Reading {
		return harness.All(quantities, result.Failed, reason, fmt.Sprintf(format, args...))
	}
	switch {
	case len(c.Times) > set.Repetitions:
		return failed(result.ReasonMapping, "%d times in the file, %d were ordered", len(c.Times), set.Repetitions)
	case len(c.Times) == 0:
		return failed(result.ReasonNoOutput, "hyperfine wrote no times")
	case c.Exits == nil:
		return failed(result.ReasonMapping, "hyperfine wrote no exit codes: repetitions that failed cannot be told from others")
	}
	good, why := 0, ""
	var times []float64
	for i, e := range c.Exits {
		if e == Signalled || !slices.Contains(expected, int(e)) {
			why = harness.FirstOf(why, e.words(i+1))
			continue
		}
		good++
		times = append(times, c.Times[i])
	}
	reading := harness.Reading{
		Quantities: map[string]harness.Measured{}, Warmups: set.Warmups, Message: why, Facts: c.facts(),
		Levels:          []result.LevelCounts{{Unit: order.PlainUnit, Attempted: set.Repetitions, Completed: good}},
		InnerIterations: slices.Repeat([]int{1}, good),
	}
	if good == 0 {
		r := failed(result.ReasonHarnessError, "%s", why)
		reading.Quantities = r.Quantities
		return reading
	}
	if !out.Result.OK() {
		reading.Message = harness.FirstOf(why, out.LastWords(), out.End())
	}
	whole := good == set.Repetitions && out.Result.OK()
	for _, q := range quantities {
		switch q {
		case "wall-time":
			reading.Quantities[q] = c.wall(times, whole, set.Repetitions)
		case "cpu-user-time":
			reading.Quantities[q] = c.mean(q, "user", whole)
		case "cpu-system-time":
			reading.Quantities[q] = c.mean(q, "system", whole)
		default:
			reading.Quantities[q] = harness.All([]string{q}, result.Failed, result.ReasonMapping, "").Quantities[q]
		}
	}
	return reading
}

// words say how repetition n ended.
func (e Exit) words(n int) string {
	if e == Signalled {
		return fmt.Sprintf("repetition %d was killed by a signal", n)
	}
	return fmt.Sprintf("repetition %d ended with status %d", n, e)
}

// facts are what is kept of the rest.
func (c Command) facts() map[string]string {
	finite := slices.DeleteFunc(slices.Clone(c.Memory), func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	if len(finite) == 0 {
		return nil
	}
	return map[string]string{"memory_usage_byte_max": strconv.FormatFloat(slices.Max(finite), 'f', -1, 64)}
}

// wall are the times that can be used: where a shell's time was taken off, some
// may be nothing.
func (c Command) wall(times []float64, whole bool, ordered int) harness.Measured {
	m := harness.Measured{Status: result.Failed, Reason: result.ReasonMapping, Unit: "s", OriginalUnit: "s"}
	for _, v := range times {
		if !(v > 0) || math.IsInf(v, 0) {
			m.Message = fmt.Sprintf("a time of %v cannot be used", v)
			continue
		}
		m.Values = append(m.Values, v)
	}
	switch {
	case len(m.Values) == 0:
	case whole && len(m.Values) == ordered:
		m.Status, m.Reason = result.Success, ""
		m.Summaries = c.summaries()
	default:
		m.Status, m.Reason = result.Partial, result.ReasonPartial
	}
	return m
}

// mean is a quantity of which hyperfine has the mean over all repetitions only,
// those that failed included.
func (c Command) mean(quantity, name string, whole bool) harness.Measured {
	m := harness.All([]string{quantity}, result.Failed, result.ReasonMapping, "").Quantities[quantity]
	m.OriginalUnit = "s"
	v, ok := c.of(name)
	switch {
	case !ok:
		m.Message = "hyperfine wrote no " + name
	case !(v >= 0) || math.IsInf(v, 0):
		m.Message = fmt.Sprintf("%s of %v cannot be used", name, v)
	case !whole:
		m.Message = "the mean is over repetitions that failed, too"
	default:
		m.Status, m.Reason, m.Summaries = result.Success, "", []result.Summary{estimate("mean", v)}
	}
	return m
}

func estimate(name string, v float64) result.Summary {
	return result.Summary{
		Type: "estimate", Source: "producer", Value: &v,
		Estimator: &result.Estimator{Name: name, MethodVersion: Name + "/" + name, InputLevel: "observations"},
	}
}

// summaries are what hyperfine computed from all times.
func (c Command) summaries() []result.Summary {
	var out []result.Summary
	for _, name := range statistics {
		v, ok := c.of(name)
		if !ok || math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		switch name {
		case "mean", "median":
			out = append(out, estimate(name, v))
		case "stddev", "min", "max":
			out = append(out, result.Summary{Type: "statistic", Source: "producer", Name: name, Value: &v})
		}
	}
	return out
}
