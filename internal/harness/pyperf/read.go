package pyperf

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/runner/proc"
)

// Warnings of this adapter.
const (
	warnMismatch  = "env-mismatch"        // a worker had another environment than the first process
	warnNoCapture = "env-capture-missing" // no worker said what it found of the recorded variables
	warnNonFinite = "non-finite-number"   // the file has some; none is used
	warnStranger  = "unplanned-case"
	warnExit      = "harness-exit-status"
)

// Read implements harness.Harness.
func (a Adapter) Read(_ harness.Suite, name string, p order.Precision, quantities []string, out harness.Output) harness.Reading {
	set, err := a.settle(p)
	if err != nil {
		return harness.All(quantities, result.Failed, result.ReasonMapping, err.Error())
	}
	reading := read(name, set, quantities, out)
	reading.Attempted = set.processes * set.values
	if reading.Levels == nil {
		reading.Levels = levels(set, nil)
	}
	if out.Result.Exit != 0 {
		reading.Warnings = append(reading.Warnings, warnExit)
	}
	return reading
}

// levels counts what was completed: a process is when all its values are there.
func levels(set settings, measured []Run) []result.LevelCounts {
	processes, values := 0, 0
	for _, r := range measured {
		n := 0
		for _, v := range r.Values {
			if usable(v) {
				n++
			}
		}
		values += n
		if n == set.values {
			processes++
		}
	}
	return []result.LevelCounts{
		{Unit: Process, Attempted: set.processes, Completed: processes},
		{Unit: Value, Attempted: set.processes * set.values, Completed: values},
	}
}

func read(name string, set settings, quantities []string, out harness.Output) harness.Reading {
	all := func(reason, message string) harness.Reading {
		return harness.All(quantities, result.Failed, reason, message)
	}
	switch c := out.Result.Cause; {
	case c == proc.TimedOut:
		return all(result.ReasonTimeout, "")
	case c == proc.OutputLimit, c == proc.Cancelled:
		return all(result.ReasonHarnessError, "the benchmark "+out.End())
	}
	if why, there := out.Unread[nativeFile]; there {
		return all(result.ReasonMapping, "the result file is "+why)
	}
	d, err := Parse(out.Files[nativeFile])
	switch {
	case err != nil && out.Result.Exit != 0:
		return all(result.ReasonHarnessError, exceptionIn(out))
	case fault.CodeOf(err) == fault.Nothing:
		return all(result.ReasonNoOutput, out.LastWords())
	case err != nil:
		return all(result.ReasonMapping, err.Error())
	}
	reading := judge(d, name, set, quantities, out)
	if d.NonFinite > 0 {
		reading.Warnings = append(reading.Warnings, warnNonFinite)
	}
	if slices.ContainsFunc(d.Benchmarks, func(b Benchmark) bool { return b.Name != name }) {
		reading.Warnings = append(reading.Warnings, warnStranger)
	}
	slices.Sort(reading.Warnings)
	return reading
}

// judge decides what the runs of the case come to.
func judge(d Document, name string, set settings, quantities []string, out harness.Output) harness.Reading {
	all := func(reason, message string) harness.Reading {
		return harness.All(quantities, result.Failed, reason, message)
	}
	i := slices.IndexFunc(d.Benchmarks, func(b Benchmark) bool { return b.Name == name })
	if i < 0 {
		return all(result.ReasonNoOutput, out.LastWords())
	}
	b := d.Benchmarks[i]
	if slices.ContainsFunc(d.Benchmarks[i+1:], func(b Benchmark) bool { return b.Name == name }) {
		return all(result.ReasonMapping, "the function is in the file twice")
	}
	if b.Unit != "second" {
		return all(result.ReasonMapping, fmt.Sprintf("values in the unit %q are no times", b.Unit))
	}
	measured := slices.DeleteFunc(slices.Clone(b.Runs), func(r Run) bool { return len(r.Values) == 0 })
	if len(measured) > set.processes {
		return all(result.ReasonMapping, fmt.Sprintf("%d processes in the file, %d were ordered", len(measured), set.processes))
	}
	for _, r := range measured {
		if len(r.Values) > set.values {
			return all(result.ReasonMapping, fmt.Sprintf("%d values of one process in the file, %d were ordered", len(r.Values), set.values))
		}
		if set.loops > 0 && r.Loops != set.loops {
			return all(result.ReasonMapping, fmt.Sprintf("%d loops in the file, %d were ordered", r.Loops, set.loops))
		}
	}
	reading := values(measured, set, quantities, out)
	reading.Levels = levels(set, measured)
	reading.Facts = maps.Clone(d.Facts)
	reading.Facts["calibration_runs"] = strconv.Itoa(len(b.Runs) - len(measured))
	environment(&reading, measured, out)
	return reading
}

// values reads the runs that count. Only a run that ended well, with every value,
// is a success.
func values(measured []Run, set settings, quantities []string, out harness.Output) harness.Reading {
	reading := harness.Reading{Quantities: map[string]harness.Measured{}}
	m := harness.Measured{Status: result.Failed, Reason: result.ReasonNoOutput, Unit: "s", OriginalUnit: "second"}
	for i, r := range measured {
		reading.Warmups += r.Warmups
		for _, v := range r.Values {
			if !usable(v) {
				m.Reason, m.Message = result.ReasonMapping, fmt.Sprintf("a time of %v cannot be used", v)
				continue
			}
			m.Values = append(m.Values, v)
			m.Groups = append(m.Groups, strconv.Itoa(i))
			reading.InnerIterations = append(reading.InnerIterations, r.Loops*r.Inner)
		}
	}
	if !out.Result.OK() {
		reading.Message = exceptionIn(out)
	}
	switch {
	case len(m.Values) == 0 && !out.Result.OK():
		m.Reason = result.ReasonHarnessError
	case len(m.Values) == 0: // said above
	case out.Result.OK() && len(m.Values) == set.processes*set.values:
		m.Status, m.Reason = result.Success, ""
	default:
		m.Status, m.Reason = result.Partial, result.ReasonPartial
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

// usable reports whether a time can be one: pyperf writes none that is not above 0.
func usable(v float64) bool { return v > 0 && !math.IsInf(v, 0) }

// environment checks that every measured process had the environment of the first,
// and records what a worker found. Nothing is put in the place of what is missing.
func environment(reading *harness.Reading, measured []Run, out harness.Output) {
	start := textsOf(out.Files[startFile])["sha256"]
	if start == "" || slices.ContainsFunc(measured, func(r Run) bool { return r.Digest != start }) {
		reading.Warnings = append(reading.Warnings, warnMismatch)
	}
	found := textsOf(out.Files[workerFile])
	if found == nil {
		reading.Warnings = append(reading.Warnings, warnNoCapture)
	}
	for name, value := range found {
		reading.Facts["env."+name] = harness.Clip(value)
	}
}

// textsOf reads an object of texts; nil when it is none.
func textsOf(b []byte) map[string]string {
	v, err := canon.Parse(b)
	if err != nil || v.Kind() != canon.Object {
		return nil
	}
	out := map[string]string{}
	for _, m := range v.Members() {
		text, ok := m.Value.String()
		if !ok {
			return nil
		}
		out[m.Name] = text
	}
	return out
}
