package gobench

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"writ/internal/harness"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/runner/proc"
)

// metric is how one quantity is spelled by the testing package.
type metric struct {
	native   string // unit in result lines
	scale    func(float64) float64
	positive bool // zero is a failure to measure
}

// metrics has the quantities that every benchmark can report. Times are divided,
// not multiplied by a fraction, so that decimal values stay exact where they can.
var metrics = map[string]metric{
	"wall-time":        {"ns/op", func(v float64) float64 { return v / 1e9 }, true},
	"allocated-bytes":  {"B/op", func(v float64) float64 { return v }, false},
	"allocations":      {"allocs/op", func(v float64) float64 { return v }, false},
	"throughput-bytes": {"MB/s", func(v float64) float64 { return v * 1e6 }, true},
}

// timeUnit is in every row of a benchmark that ran to its end, unless the
// benchmark takes it out itself. When a benchmark panics, the testing package can
// be quicker than the dying program: it then prints a row of zeros without a time,
// PASS, and ends with status 0.
const timeUnit = "ns/op"

func quantityNames() []string { return slices.Sorted(maps.Keys(metrics)) }

// Read implements harness.Harness.
func (a Adapter) Read(s harness.Suite, name string, p order.Precision, quantities []string, out harness.Output) harness.Reading {
	set, err := a.settings(p)
	if err != nil {
		return harness.All(quantities, result.Failed, result.ReasonMapping, err.Error())
	}
	text, err := Parse(out.Stdout)
	if err != nil {
		return harness.All(quantities, result.Failed, result.ReasonMapping, err.Error())
	}
	rows, strangers := rowsOf(text, s.Bare(name), s.Processors)
	reading := judge(text, rows, s.Bare(name), set, quantities, out)
	reading.Attempted = set.counted
	reading.Warmups = min(len(rows), set.warmups)
	reading.Facts = text.Config
	if strangers > 0 {
		reading.Warnings = append(reading.Warnings, "unplanned-case")
	}
	if out.Result.Exit != 0 {
		reading.Warnings = append(reading.Warnings, "harness-exit-status")
	}
	return reading
}

// rowsOf returns the rows of one case, and how many rows are of others.
func rowsOf(text Text, name string, processors int) (rows []Row, strangers int) {
	for _, row := range text.Rows {
		if base, ok := BaseName(row.Name, processors); ok && base == name {
			rows = append(rows, row)
		} else {
			strangers++
		}
	}
	return rows, strangers
}

// judge decides what the case's rows and marks come to.
func judge(text Text, rows []Row, name string, set settings, quantities []string, out harness.Output) harness.Reading {
	switch r := out.Result; {
	case r.Cause == proc.TimedOut:
		return harness.All(quantities, result.Failed, result.ReasonTimeout, lastWords(out.Stderr, nil))
	case r.Cause == proc.OutputLimit:
		return harness.All(quantities, result.Failed, result.ReasonHarnessError, "the benchmark writes without end")
	case len(rows) > set.counted+set.warmups:
		return harness.All(quantities, result.Failed, result.ReasonMapping,
			fmt.Sprintf("%d result lines for %d repetitions", len(rows), set.counted+set.warmups))
	case len(rows) > set.warmups:
		return values(text, rows[set.warmups:], set, quantities, out)
	}
	for _, m := range text.Marks {
		switch {
		case m.Kind == "SKIP" && m.Name == name:
			return harness.All(quantities, result.Skipped, result.ReasonSkipped, m.Log)
		case m.Kind == "FAIL":
			return harness.All(quantities, result.Failed, result.ReasonHarnessError, firstOf(m.Log, lastWords(out.Stderr, nil)))
		}
	}
	if r := out.Result; r.Exit != 0 || text.End == "" {
		return harness.All(quantities, result.Failed, result.ReasonHarnessError,
			firstOf(lastWords(out.Stderr, nil), fmt.Sprintf("ended with status %d and no result", r.Exit)))
	}
	return harness.All(quantities, result.Failed, result.ReasonNoOutput, "")
}

// values reads the counted rows. Only a run that ended well, with every
// repetition, is a success. The exit status alone does not say it: Go ends with
// PASS and 0 when a repetition after the first has failed.
func values(text Text, rows []Row, set settings, quantities []string, out harness.Output) harness.Reading {
	reading := harness.Reading{Quantities: map[string]harness.Measured{}}
	for _, row := range rows {
		reading.InnerIterations = append(reading.InnerIterations, int(row.Iterations))
	}
	failed := slices.ContainsFunc(text.Marks, func(m Mark) bool { return m.Kind == "FAIL" })
	endedWell := out.Result.Exit == 0 && out.Result.Cause == proc.Exited && text.End == "PASS" && !failed
	if !endedWell {
		reading.Message = firstOf(failureLog(text), lastWords(out.Stderr, nil), fmt.Sprintf("ended with status %d", out.Result.Exit))
	}
	for _, q := range quantities {
		m := one(q, rows)
		switch {
		case len(m.Values) == 0: // one has said why
		case endedWell && len(m.Values) == set.counted:
			m.Status, m.Reason = result.Success, ""
		default:
			m.Status, m.Reason = result.Partial, result.ReasonPartial
		}
		reading.Quantities[q] = m
	}
	return reading
}

// one collects the values of a quantity. Without any, it says whether the unit
// was not reported or could not be used.
func one(quantity string, rows []Row) harness.Measured {
	spec, known := metrics[quantity]
	info, _ := result.Known(quantity)
	m := harness.Measured{Status: result.Failed, Reason: result.ReasonNoOutput, Unit: info.Unit, OriginalUnit: spec.native}
	if !known {
		m.Reason = result.ReasonMapping
		return m
	}
	m.Message = "the benchmark reports no " + spec.native
	for _, row := range rows {
		v, ok := row.Value(spec.native)
		if !ok {
			continue
		}
		if _, timed := row.Value(timeUnit); !timed {
			m.Reason, m.Message = result.ReasonHarnessError, "a result without a time: the benchmark has panicked, or hides it"
			continue
		}
		v = spec.scale(v)
		if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 || v == 0 && spec.positive {
			m.Reason, m.Message = result.ReasonMapping, fmt.Sprintf("%s of %v cannot be used", spec.native, v)
			continue
		}
		m.Values = append(m.Values, v)
	}
	if len(m.Values) == len(rows) {
		m.Message = ""
	}
	return m
}

func failureLog(text Text) string {
	for _, m := range text.Marks {
		if m.Kind == "FAIL" && m.Log != "" {
			return m.Log
		}
	}
	return ""
}

func firstOf(texts ...string) string {
	i := slices.IndexFunc(texts, func(s string) bool { return s != "" })
	if i < 0 {
		return ""
	}
	return texts[i]
}

const maxWords = 500 // bytes of a message

// lastWords picks the line that says why a program died: the panic or fatal
// error when there is one, else the last line.
func lastWords(streams ...[]byte) string {
	for _, b := range streams {
		var last string
		for line := range bytes.Lines(b) {
			s := strings.ToValidUTF8(strings.TrimSpace(string(line)), "\uFFFD")
			if strings.HasPrefix(s, "panic: ") || strings.HasPrefix(s, "fatal error: ") {
				last = s
				break
			}
			if s != "" {
				last = s
			}
		}
		if last != "" {
			return clip(last)
		}
	}
	return ""
}

func clip(s string) string {
	if len(s) <= maxWords {
		return s
	}
	return strings.ToValidUTF8(s[:maxWords], "") + "…"
}
