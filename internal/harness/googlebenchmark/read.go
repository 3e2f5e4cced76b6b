package googlebenchmark

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/harness/nativejson"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/runner/proc"
)

// native is how one quantity is spelled by the library.
type native struct {
	counter  string // "" for the times of the row
	cpu      bool   // of the times: the processor's
	positive bool   // zero is a failure to measure
}

// natives has the quantities that need no telling which number they are.
var natives = map[string]native{
	"wall-time":        {positive: true},
	"cpu-time":         {cpu: true, positive: true},
	"throughput-bytes": {counter: "bytes_per_second", positive: true},
	"throughput-items": {counter: "items_per_second", positive: true},
	"allocations":      {counter: "allocs_per_iter"},
}

// nativeOf finds the spelling of a quantity in a suite.
func nativeOf(s harness.Suite, quantity string) (native, bool) {
	if n, ok := natives[quantity]; ok {
		return n, true
	}
	counter, ok := s.Traits[traitCounter+quantity]
	return native{counter: counter}, ok
}

// of takes the quantity from a row, in its own unit. ok is false when the row does
// not have it.
func (n native) of(row Row) (v nativejson.Num, ok bool) {
	if n.counter != "" {
		i := slices.IndexFunc(row.Counters, func(c Counter) bool { return c.Name == n.counter })
		if i < 0 {
			return v, false
		}
		return row.Counters[i].Value, true
	}
	v = row.Real
	if n.cpu {
		v = row.CPU
	}
	v.Value /= perSecond[row.Unit]
	return v, true
}

// spelled names the native number in messages.
func (n native) spelled() string {
	switch {
	case n.counter != "":
		return n.counter
	case n.cpu:
		return "cpu_time"
	}
	return "real_time"
}

// Warnings of this adapter.
const (
	warnDebug     = "harness-debug-build" // the library was built without optimisation
	warnScaling   = "cpu-scaling-enabled"
	warnNonFinite = "non-finite-number" // the file has some; none is used
	warnStranger  = "unplanned-case"
	warnExit      = "harness-exit-status"
)

// Read implements harness.Harness.
func (a Adapter) Read(s harness.Suite, name string, p order.Precision, quantities []string, out harness.Output) harness.Reading {
	set, err := a.settle(s, p)
	if err != nil {
		return harness.All(quantities, result.Failed, result.ReasonMapping, err.Error())
	}
	var wanted []string
	for _, q := range quantities {
		if n, ok := nativeOf(s, q); ok && n.counter != "" {
			wanted = append(wanted, n.counter)
		}
	}
	reading := a.read(s, name, set, wanted, quantities, out)
	reading.Attempted = set.counted
	if out.Result.Exit != 0 {
		reading.Warnings = append(reading.Warnings, warnExit)
	}
	return reading
}

func (a Adapter) read(s harness.Suite, name string, set settings, wanted, quantities []string, out harness.Output) harness.Reading {
	all := func(status result.Status, reason, message string) harness.Reading {
		return harness.All(quantities, status, reason, message)
	}
	switch c := out.Result.Cause; {
	case c == proc.TimedOut:
		return all(result.Failed, result.ReasonTimeout, "")
	case c == proc.OutputLimit, c == proc.Cancelled:
		return all(result.Failed, result.ReasonHarnessError, "the benchmark "+out.End())
	}
	if why, there := out.Unread[nativeFile]; there {
		return all(result.Failed, result.ReasonMapping, "the result file is "+why)
	}
	d, err := Parse(out.Files[nativeFile], wanted)
	if err != nil {
		return all(result.Failed, reasonOf(err, out), harness.FirstOf(wordsOf(err, out), out.End()))
	}
	rows, strangers := rowsOf(d, name)
	reading := judge(s, rows, set, quantities, out)
	reading.Facts = maps.Clone(d.Context)
	for warning, given := range map[string]bool{
		warnDebug: d.Context["library_build_type"] == "debug", warnScaling: d.Context["cpu_scaling_enabled"] == "true",
		warnNonFinite: d.NonFinite > 0, warnStranger: strangers > 0,
	} {
		if given {
			reading.Warnings = append(reading.Warnings, warning)
		}
	}
	slices.Sort(reading.Warnings)
	return reading
}

// reasonOf says what a file that cannot be read means. A program that died took
// the end of the file along; one that ended well has written something else than
// the library does.
func reasonOf(err error, out harness.Output) string {
	switch {
	case out.Result.Exit != 0:
		return result.ReasonHarnessError
	case fault.CodeOf(err) == fault.Nothing:
		return result.ReasonNoOutput
	}
	return result.ReasonMapping
}

func wordsOf(err error, out harness.Output) string {
	if out.Result.Exit != 0 || fault.CodeOf(err) == fault.Nothing {
		return out.LastWords()
	}
	return err.Error()
}

// rowsOf returns the rows of one case, repetitions in the order of time, and how
// many repetitions are of others. What is computed for a whole family is neither.
func rowsOf(d Document, name string) (rows []Row, strangers int) {
	for _, row := range d.Rows {
		switch {
		case row.Run == name:
			rows = append(rows, row)
		case row.Aggregate == "":
			strangers++
		}
	}
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(a.Index, b.Index) })
	return rows, strangers
}

// judge decides what the case's rows come to.
func judge(s harness.Suite, rows []Row, set settings, quantities []string, out harness.Output) harness.Reading {
	var good, aggregates []Row
	var failed, skipped *Row
	repetitions := 0
	for i, row := range rows {
		if row.Aggregate != "" {
			aggregates = append(aggregates, row)
			continue
		}
		repetitions++
		switch row.Outcome {
		case Failed:
			failed = &rows[i]
		case Skipped:
			skipped = &rows[i]
		default:
			good = append(good, row)
		}
	}
	all := func(status result.Status, reason, message string) harness.Reading {
		return harness.All(quantities, status, reason, message)
	}
	switch {
	case repetitions > set.counted:
		return all(result.Failed, result.ReasonMapping, fmt.Sprintf("%d repetitions in the file, %d were ordered: the benchmark sets its own", repetitions, set.counted))
	case len(good) == 0 && skipped != nil:
		return all(result.Skipped, result.ReasonSkipped, harness.Clip(skipped.Message))
	case len(good) == 0 && failed != nil:
		return all(result.Failed, result.ReasonHarnessError, harness.Clip(failed.Message))
	case len(good) == 0 && out.Result.Exit != 0:
		return all(result.Failed, result.ReasonHarnessError, harness.FirstOf(out.LastWords(), out.End()))
	case len(good) == 0 && len(aggregates) > 0:
		return all(result.Failed, result.ReasonNoOutput, "the benchmark reports aggregates only")
	case len(good) == 0:
		return all(result.Failed, result.ReasonNoOutput, out.LastWords())
	}
	other := func(row Row) bool { return row.Iterations != set.fixed*row.Threads }
	if i := slices.IndexFunc(good, other); set.fixed > 0 && i >= 0 {
		return all(result.Failed, result.ReasonMapping, fmt.Sprintf("%d iterations in the file, %d were ordered: the benchmark sets its own", good[i].Iterations/good[i].Threads, set.fixed))
	}
	return values(s, good, aggregates, failed, set, quantities, out)
}

// values reads the repetitions that count. Only a run that ended well, with every
// repetition, is a success.
func values(s harness.Suite, good, aggregates []Row, failed *Row, set settings, quantities []string, out harness.Output) harness.Reading {
	reading := harness.Reading{Quantities: map[string]harness.Measured{}}
	for _, row := range good {
		reading.InnerIterations = append(reading.InnerIterations, row.Iterations)
	}
	endedWell := out.Result.OK() && len(good) == set.counted
	if failed != nil {
		reading.Message = harness.Clip(failed.Message)
	} else if !out.Result.OK() {
		reading.Message = harness.FirstOf(out.LastWords(), out.End())
	}
	for _, q := range quantities {
		m := one(s, q, good)
		switch {
		case len(m.Values) == 0: // one has said why
		case endedWell && len(m.Values) == set.counted:
			m.Status, m.Reason = result.Success, ""
			m.Summaries = summaries(s, q, aggregates, set.counted)
		default:
			m.Status, m.Reason = result.Partial, result.ReasonPartial
		}
		reading.Quantities[q] = m
	}
	return reading
}

// one collects the values of a quantity. Without any, it says whether the number
// was not reported or could not be used.
func one(s harness.Suite, quantity string, rows []Row) harness.Measured {
	spec, known := nativeOf(s, quantity)
	info, _ := result.Known(quantity)
	m := harness.Measured{Status: result.Failed, Reason: result.ReasonNoOutput, Unit: info.Unit}
	if !known {
		m.Reason = result.ReasonMapping
		return m
	}
	if spec.counter == "" {
		m.OriginalUnit = rows[0].Unit
	}
	m.Message = "the benchmark reports no " + spec.spelled()
	for _, row := range rows {
		v, ok := spec.of(row)
		if !ok {
			continue
		}
		if !usable(v, spec) {
			m.Reason, m.Message = result.ReasonMapping, fmt.Sprintf("%s of %v cannot be used", spec.spelled(), v.Value)
			continue
		}
		m.Values = append(m.Values, v.Value)
	}
	if len(m.Values) == len(rows) {
		m.Message = ""
	}
	return m
}

func usable(v nativejson.Num, spec native) bool {
	return v.Finite() && v.Value >= 0 && (v.Value > 0 || !spec.positive)
}

// summaries are what the library itself computed from all the repetitions.
func summaries(s harness.Suite, quantity string, aggregates []Row, counted int) []result.Summary {
	spec, _ := nativeOf(s, quantity)
	var out []result.Summary
	for _, row := range aggregates {
		if row.Ratio || row.Iterations != counted {
			continue
		}
		v, ok := spec.of(row)
		if !ok || !v.Finite() {
			continue
		}
		summary := result.Summary{Source: "producer", Value: &v.Value}
		switch row.Aggregate {
		case "mean", "median":
			summary.Type = "estimate"
			summary.Estimator = &result.Estimator{Name: row.Aggregate, MethodVersion: Name + "/" + row.Aggregate, InputLevel: "observations"}
		case "stddev":
			summary.Type, summary.Name, summary.Method = "statistic", "stddev", "of the sample"
		default:
			continue
		}
		if !slices.ContainsFunc(out, func(o result.Summary) bool { return o.Type == summary.Type && sameEstimator(o, summary) }) {
			out = append(out, summary)
		}
	}
	return out
}

func sameEstimator(a, b result.Summary) bool {
	return a.Estimator == nil || a.Estimator.Name == b.Estimator.Name
}
