// Package answer gives the outcomes that a case can have whatever its harness is,
// so that the same thing never has two names.
//
// Invariants: first comes how the program ended, then what its files are, then the
// values; only a run that ended well, with every value that was ordered, is a
// success; a value that cannot be one is left out and said, never replaced; more
// values than ordered are no bonus, because the benchmark then follows settings of
// its own.
//
// The package parses nothing.
package answer

import (
	"fmt"
	"math"
	"slices"

	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/result"
	"writ/internal/runner/proc"
)

// Warnings that adapters share.
const (
	WarnExit      = "harness-exit-status"
	WarnNonFinite = "non-finite-number" // the file has some; none is used
	WarnStranger  = "unplanned-case"
	WarnShort     = "short-sample" // a repetition was much shorter than ordered
)

// Case is one case that was run.
type Case struct {
	Quantities []string
	Out        harness.Output
	Words      string // of the harness about a failure; "" for the last line that it wrote
	Attempted  int    // values that were ordered
}

// Series are the values of one quantity, in its own unit and in the order of time.
type Series struct {
	Values     []float64
	Iterations []int    // of each value; nil when the harness does not say it
	Groups     []string // beside Values: the process that each came of; nil when all are of one
	Unit       string   // as the harness spells it
	Summaries  []result.Summary
	Zero       bool // may be a value
	Negative   bool // so may less than zero
	Expected   int  // how many values there are at most; 0 for as many as were ordered
}

// words say why the program failed.
func (c Case) words() string {
	return harness.Clip(harness.FirstOf(c.Words, c.Out.LastWords(), c.Out.End()))
}

// All has one outcome for every quantity.
func (c Case) All(status result.Status, reason, message string) harness.Reading {
	return c.finish(harness.All(c.Quantities, status, reason, harness.Clip(message)))
}

// Untranslatable is the outcome of output that is not what the harness writes, or
// not what was ordered.
func (c Case) Untranslatable(format string, args ...any) harness.Reading {
	return c.All(result.Failed, result.ReasonMapping, fmt.Sprintf(format, args...))
}

// Silent is the outcome of a case that is not in the output: it is missing, or the
// program failed before.
func (c Case) Silent() harness.Reading {
	if c.Out.Result.Exit != 0 || c.Words != "" {
		return c.All(result.Failed, result.ReasonHarnessError, c.words())
	}
	return c.All(result.Failed, result.ReasonNoOutput, c.Out.LastWords())
}

// Ended answers when there is nothing to read: the program was stopped, or one of
// its files cannot be read. ok is false when there is.
func (c Case) Ended(files ...string) (r harness.Reading, ok bool) {
	switch cause := c.Out.Result.Cause; {
	case cause == proc.TimedOut:
		return c.All(result.Failed, result.ReasonTimeout, ""), true
	case cause == proc.OutputLimit, cause == proc.Cancelled:
		return c.All(result.Failed, result.ReasonHarnessError, "the benchmark "+c.Out.End()), true
	}
	for _, name := range files {
		if why, there := c.Out.Unread[name]; there {
			return c.Untranslatable("%s is %s", name, why), true
		}
	}
	return harness.Reading{}, false
}

// Unreadable is the outcome of a file that a parser has refused. A program that died
// took the end of its file along.
func (c Case) Unreadable(err error) harness.Reading {
	if c.Out.Result.Exit != 0 || fault.CodeOf(err) == fault.Nothing {
		return c.Silent()
	}
	return c.Untranslatable("%s", err.Error())
}

// Read answers with the values of each quantity. A quantity without a series is one
// that the adapter does not know.
func (c Case) Read(series map[string]Series) harness.Reading {
	reading := harness.Reading{Quantities: make(map[string]harness.Measured, len(c.Quantities))}
	if !c.Out.Result.OK() {
		reading.Message = c.words()
	}
	for _, q := range c.Quantities {
		s, known := series[q]
		if !known {
			reading.Quantities[q] = harness.All([]string{q}, result.Failed, result.ReasonMapping, "").Quantities[q]
			continue
		}
		m, iterations := c.judge(q, s)
		reading.Quantities[q] = m
		if len(reading.InnerIterations) == 0 {
			reading.InnerIterations = iterations
		}
	}
	return c.finish(reading)
}

// judge decides what a series comes to.
func (c Case) judge(quantity string, s Series) (harness.Measured, []int) {
	info, _ := result.Known(quantity)
	m := harness.Measured{Status: result.Failed, Reason: result.ReasonNoOutput, Unit: info.Unit, OriginalUnit: s.Unit}
	ordered := c.Attempted
	if s.Expected > 0 {
		ordered = s.Expected
	}
	if len(s.Values) > ordered {
		m.Reason, m.Message = result.ReasonMapping, fmt.Sprintf("%d values in the file, %d were ordered: the benchmark sets its own", len(s.Values), ordered)
		return m, nil
	}
	var iterations []int
	for i, v := range s.Values {
		if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 && !s.Negative || v == 0 && !s.Zero {
			m.Reason, m.Message = result.ReasonMapping, fmt.Sprintf("%s of %v cannot be used", quantity, v)
			continue
		}
		m.Values = append(m.Values, v)
		if s.Groups != nil {
			m.Groups = append(m.Groups, s.Groups[i])
		}
		if s.Iterations != nil {
			iterations = append(iterations, s.Iterations[i])
		}
	}
	switch {
	case len(m.Values) == 0 && len(s.Values) == 0 && !c.Out.Result.OK():
		m.Reason = result.ReasonHarnessError
	case len(m.Values) == 0: // said above
	case len(m.Values) == ordered && c.Out.Result.OK():
		m.Status, m.Reason, m.Summaries = result.Success, "", s.Summaries
	default:
		m.Status, m.Reason = result.Partial, result.ReasonPartial
	}
	return m, iterations
}

// finish adds what every reading has.
func (c Case) finish(r harness.Reading) harness.Reading {
	r.Attempted = c.Attempted
	if c.Out.Result.Exit != 0 {
		r.Warnings = append(r.Warnings, WarnExit)
	}
	return r
}

// Warn adds warnings that hold, and sorts all of them.
func Warn(r harness.Reading, given map[string]bool) harness.Reading {
	for warning, yes := range given {
		if yes && !slices.Contains(r.Warnings, warning) {
			r.Warnings = append(r.Warnings, warning)
		}
	}
	slices.Sort(r.Warnings)
	return r
}

// Estimate is a location that the harness computed from all values.
func Estimate(adapter, name string, value float64) result.Summary {
	return result.Summary{
		Type: "estimate", Source: "producer", Value: &value,
		Estimator: &result.Estimator{Name: name, MethodVersion: adapter + "/" + name, InputLevel: "observations"},
	}
}

// Statistic is another number that the harness computed from all values.
func Statistic(name string, value float64) result.Summary {
	return result.Summary{Type: "statistic", Source: "producer", Name: name, Value: &value}
}

// Interval is a confidence interval that the harness computed.
func Interval(statistic string, level, lower, upper float64, method string) result.Summary {
	return result.Summary{
		Type: "confidence_interval", Source: "producer", Statistic: statistic, Level: &level, Lower: &lower, Upper: &upper, Method: method,
	}
}
