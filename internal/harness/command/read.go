package command

import (
	"fmt"
	"slices"
	"strconv"

	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/harness/cmdline"
	"writ/internal/harness/command/repeat"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/runner/proc"
)

// native is how a quantity follows from the samples.
type native struct {
	unit  string // as the samples have it
	per   float64
	of    func(repeat.Samples) []([]float64) // columns, added up
	floor func(repeat.Samples) float64       // values not above it say nothing; nil: none, zero is a value
}

func positive(repeat.Samples) float64 { return 0 }

func columns(of ...func(repeat.Samples) []float64) func(repeat.Samples) [][]float64 {
	return func(s repeat.Samples) [][]float64 {
		out := make([][]float64, len(of))
		for i, column := range of {
			out[i] = column(s)
		}
		return out
	}
}

func user(s repeat.Samples) []float64        { return s.User }
func system(s repeat.Samples) []float64      { return s.System }
func minor(s repeat.Samples) []float64       { return s.Minor }
func major(s repeat.Samples) []float64       { return s.Major }
func voluntary(s repeat.Samples) []float64   { return s.Voluntary }
func involuntary(s repeat.Samples) []float64 { return s.Involuntary }

// natives has every quantity of this adapter.
var natives = map[string]native{
	"wall-time":         {"ns", 1e9, columns(func(s repeat.Samples) []float64 { return s.Wall }), positive},
	"cpu-time":          {"ns", 1e9, columns(user, system), positive},
	"cpu-user-time":     {"ns", 1e9, columns(user), nil},
	"cpu-system-time":   {"ns", 1e9, columns(system), nil},
	"peak-rss":          {"By", 1, columns(func(s repeat.Samples) []float64 { return s.Peak }), func(s repeat.Samples) float64 { return s.Floor }},
	"page-faults":       {"1", 1, columns(minor, major), nil},
	"page-faults-minor": {"1", 1, columns(minor), nil},
	"page-faults-major": {"1", 1, columns(major), nil},

	"context-switches":             {"1", 1, columns(voluntary, involuntary), nil},
	"context-switches-voluntary":   {"1", 1, columns(voluntary), nil},
	"context-switches-involuntary": {"1", 1, columns(involuntary), nil},

	instructions: {"1", 1, columns(func(s repeat.Samples) []float64 { return s.Instructions }), positive},
}

// Warnings of this adapter.
const (
	warnStrays = "stray-processes" // something of a repetition outlived it, and was killed
	warnShared = "counter-shared"  // others used the processor's counters too: instructions are not complete
)

// Read implements harness.Harness.
func (a Adapter) Read(_ harness.Suite, _ string, p order.Precision, quantities []string, out harness.Output) harness.Reading {
	set, err := cmdline.Settle(Name, a.Defaults(), p)
	if err != nil {
		return harness.All(quantities, result.Failed, result.ReasonMapping, err.Error())
	}
	reading := read(set, quantities, out)
	reading.Attempted = set.Repetitions
	return reading
}

func read(set cmdline.Counts, quantities []string, out harness.Output) harness.Reading {
	failed := func(reason, message string) harness.Reading {
		return harness.All(quantities, result.Failed, reason, message)
	}
	switch c := out.Result.Cause; {
	case c == proc.TimedOut:
		return failed(result.ReasonTimeout, "")
	case c == proc.OutputLimit, c == proc.Cancelled:
		return failed(result.ReasonHarnessError, "the process that repeats: "+out.End())
	}
	if why, there := out.Unread[samplesFile]; there {
		return failed(result.ReasonMapping, "the file of samples is "+why)
	}
	text, written := out.Files[samplesFile]
	switch {
	case !out.Result.OK():
		return failed(result.ReasonHarnessError, harness.FirstOf(out.LastWords(), "the process that repeats: "+out.End()))
	case !written:
		return failed(result.ReasonNoOutput, out.LastWords())
	}
	s, err := repeat.Parse(text)
	switch {
	case err != nil && fault.CodeOf(err) == fault.Malformed:
		return failed(result.ReasonMapping, err.Error())
	case err != nil:
		return failed(result.ReasonHarnessError, err.Error())
	}
	return judge(s, set, quantities, out)
}

// judge decides what the samples come to.
func judge(s repeat.Samples, set cmdline.Counts, quantities []string, out harness.Output) harness.Reading {
	n := len(s.Wall)
	why := s.Stopped
	if words := out.LastWords(); why != "" && words != "" {
		why += ": " + words
	}
	switch {
	case n > set.Repetitions || s.Warmups > set.Warmups || n > 0 && s.Warmups < set.Warmups:
		return harness.All(quantities, result.Failed, result.ReasonMapping,
			fmt.Sprintf("%d repetitions and %d warm-ups in the file, %d and %d were ordered", n, s.Warmups, set.Repetitions, set.Warmups))
	case n < set.Repetitions && s.Stopped == "":
		return harness.All(quantities, result.Failed, result.ReasonMapping, fmt.Sprintf("%d repetitions in the file, %d were ordered", n, set.Repetitions))
	case n == 0:
		r := harness.All(quantities, result.Failed, result.ReasonHarnessError, harness.Clip(why))
		r.Warmups, r.Warnings = s.Warmups, warnings(s)
		return r
	}
	reading := harness.Reading{
		Quantities: map[string]harness.Measured{}, Warmups: s.Warmups, Message: harness.Clip(why), Warnings: warnings(s),
		InnerIterations: slices.Repeat([]int{1}, n),
		Facts:           map[string]string{"inherited_rss_bytes": strconv.FormatFloat(s.Floor, 'f', 0, 64), "clock_ns": strconv.FormatFloat(s.Clock, 'f', 0, 64)},
	}
	if s.Strays > 0 {
		reading.Facts["stray_processes"] = strconv.Itoa(s.Strays)
	}
	for _, q := range quantities {
		m := one(q, s)
		switch {
		case len(m.Values) == 0: // one has said why
		case len(m.Values) == set.Repetitions && s.Stopped == "":
			m.Status, m.Reason = result.Success, ""
		default:
			m.Status, m.Reason = result.Partial, result.ReasonPartial
		}
		reading.Quantities[q] = m
	}
	return reading
}

func warnings(s repeat.Samples) []string {
	var out []string
	if s.Shared {
		out = append(out, warnShared)
	}
	if s.Strays > 0 {
		out = append(out, warnStrays)
	}
	slices.Sort(out)
	return out
}

// one collects the values of a quantity.
func one(quantity string, s repeat.Samples) harness.Measured {
	spec, known := natives[quantity]
	m := harness.All([]string{quantity}, result.Failed, result.ReasonMapping, "").Quantities[quantity]
	if !known {
		return m
	}
	m.OriginalUnit = spec.unit
	parts := spec.of(s)
	if len(parts[0]) == 0 {
		m.Message = "nothing was counted"
		return m
	}
	for i := range parts[0] {
		v := 0.0
		for _, column := range parts {
			v += column[i]
		}
		if spec.floor != nil && v <= spec.floor(s) {
			m.Message = fmt.Sprintf("%.0f %s cannot be told from nothing, which is up to %.0f", v, spec.unit, spec.floor(s))
			continue
		}
		m.Values = append(m.Values, v/spec.per)
	}
	return m
}
