// Package customjson adapts any program that measures by itself and writes its
// values as one small JSON document of a format of ours: one process per case.
//
// Invariants: the program is told the case, and whatever else the order sets, by
// the arguments that the suite's parameters give; a setting that has no place in
// them is refused, not dropped; every value has a unit that fits its quantity, and
// is converted by a fixed table; a document with a member that the format does not
// have is refused, so that a misspelt one is found.
//
// The package guesses no unit and no direction, and reads nothing that the program
// prints unless the program has no place for a file.
package customjson

import (
	"slices"
	"strconv"

	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/order"
	"writ/internal/result"
)

// Name is the adapter name in orders.
const Name = "custom-json"

// Adapter is the harness. Path is the search path for programs where an order has
// none; "" is that of this process.
type Adapter struct{ Path string }

var _ harness.Harness = Adapter{}

// quantities are all that have a unit of their own.
var quantities = []string{
	"allocated-bytes", "allocations", "binary-size", "branch-misses", "build-time", "cache-misses", "compression-ratio", "cpu-frequency", "cpu-time",
	"cycles", "energy", "estimated-cycles", "gpu-peak-memory", "gpu-time", "instructions", "latency", "object-size", "page-faults", "peak-rss",
	"power", "score", "temperature", "throughput-bytes", "throughput-items", "time-to-first-token", "wall-time",
}

// Capabilities implements harness.Harness. Whether a suite can be told an iteration
// count or a warm-up depends on its arguments, and is settled when a case is
// planned.
func (Adapter) Capabilities() order.Capabilities {
	return order.Capabilities{
		Adapter:            Name,
		Targets:            []string{order.BuildTree, order.WorkingTree},
		Quantities:         slices.Clone(quantities),
		Levels:             []string{order.PlainUnit},
		Bare:               true,
		Calibration:        []string{order.Adaptive, order.Fixed},
		Warmup:             []string{order.None, order.Count, order.Time},
		Parameters:         []string{ParamCommand, ParamList, ParamCases, ParamRun},
		WorkloadParameters: true,
		Variables:          true,
		CasePerProcess:     true,
	}
}

// Producer implements harness.Harness.
func (Adapter) Producer() result.Producer {
	return result.Producer{Name: "writ/custom-json-adapter", Version: "0.1.0", MappingVersion: "custom-json-to-benchx/v1"}
}

// Defaults implements harness.Harness. How a program calibrates and warms up when
// nobody tells it is its own affair.
func (Adapter) Defaults() order.Precision { return order.Precision{Repetitions: order.Times(10)} }

// Environment implements harness.Harness.
func (Adapter) Environment() []string { return []string{"LC_ALL", "OMP_NUM_THREADS"} }

// settings are what an order's precision comes to: values of placeholders.
type settings struct {
	values    map[string]string
	attempted int
	fixed     int // iterations of each sample; 0 when they are not ordered
	warmups   int // -1 when they are not ordered
}

// settle turns precision into placeholders, and refuses what the suite's arguments
// have no place for.
func (a Adapter) settle(p order.Precision, run template) (settings, error) {
	refuse := func(pointer, format string, args ...any) *fault.Error {
		return fault.New(fault.Refused, "plan case", format, args...).At("/precision" + pointer)
	}
	s := settings{values: map[string]string{}, warmups: -1, attempted: p.Repetitions.Of(order.PlainUnit, a.Defaults().Repetitions.Total())}
	if len(p.Repetitions.Levels) > 1 {
		return s, refuse("/repetitions/levels/1", "%s repeats at one level", Name)
	}
	s.values[holdRepetitions] = strconv.Itoa(s.attempted)
	pointers := map[string]string{}
	set := func(placeholder, pointer, value string) {
		s.values[placeholder], pointers[placeholder] = value, pointer
	}
	if c := p.Calibration; c != nil && c.Mode == order.Fixed {
		s.fixed = c.NIterations
		set(holdIterations, "/calibration/n_iterations", strconv.Itoa(c.NIterations))
	} else if c != nil {
		set(holdSeconds, "/calibration/minimum_sample_seconds", decimal(c.MinimumSampleSeconds))
	}
	if w := p.Warmup; w != nil && w.Mode == order.Count && w.NWarmup != nil {
		s.warmups = *w.NWarmup
		set(holdWarmups, "/warmup/n_warmup", strconv.Itoa(s.warmups))
	} else if w != nil && w.Mode == order.Time {
		set(holdWarmupSeconds, "/warmup/seconds", decimal(w.Seconds))
	}
	for _, placeholder := range []string{holdIterations, holdSeconds, holdWarmups, holdWarmupSeconds} {
		if pointer, ordered := pointers[placeholder]; ordered && !run.holds(placeholder) {
			return s, refuse(pointer, "the arguments of the suite have no place for {%s}", placeholder).
				Help("put it into suites[].parameters.%s, or leave the setting out", ParamRun)
		}
	}
	return s, nil
}

// decimal spells seconds without an exponent.
func decimal(seconds float64) string { return strconv.FormatFloat(seconds, 'f', -1, 64) }
