// Package googlebenchmark adapts programs that are linked with the C++ library
// Google Benchmark: one process per case, results from the JSON file that the
// library writes.
//
// Invariants: a case is named as the library lists it, and the name is never taken
// apart; it is selected by an anchored pattern in which every special character is
// escaped, so that it is never a part of another's name; every flag that the
// environment could set otherwise is given; what the linked version of the library
// does not know is refused before anything runs, not dropped.
//
// The package never builds a program, and uses no number that is not finite.
package googlebenchmark

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/order"
	"writ/internal/result"
)

// Name is the adapter name in orders.
const Name = "google-benchmark"

// Members of suites[].parameters.
const (
	// ParamDir is the working directory of the cases, below the target's source
	// directory. Default: the target's path.
	ParamDir = "dir"
	// ParamCounters says which counter of the benchmark a quantity is: an object of
	// counter names by quantity. The counter's value is taken to be in the
	// quantity's unit.
	ParamCounters = "counters"
)

// Adapter is the harness.
type Adapter struct{}

var (
	_ harness.Harness = Adapter{}
	_ harness.Prober  = Adapter{}
)

// countable are the quantities that a counter may stand for.
var countable = []string{
	"allocated-bytes", "branch-misses", "cache-misses", "compression-ratio", "cycles", "instructions", "page-faults", "score",
}

// Capabilities implements harness.Harness.
func (Adapter) Capabilities() order.Capabilities {
	return order.Capabilities{
		Adapter:        Name,
		Targets:        []string{order.BuildTree, order.WorkingTree},
		Quantities:     slices.Sorted(slices.Values(append(slices.Collect(maps.Keys(natives)), countable...))),
		Levels:         []string{order.PlainUnit},
		Bare:           true,
		Calibration:    []string{order.Adaptive, order.Fixed},
		Warmup:         []string{order.None, order.Time},
		Filter:         true,
		Parameters:     []string{ParamDir, ParamCounters},
		Variables:      true,
		CasePerProcess: true,
		ManySuites:     false,
	}
}

// Producer implements harness.Harness.
func (Adapter) Producer() result.Producer {
	return result.Producer{Name: "writ/gbench-adapter", Version: "0.1.0", MappingVersion: "gbench-to-benchx/v1"}
}

// Defaults implements harness.Harness: the library's own.
func (Adapter) Defaults() order.Precision {
	return order.Precision{
		Repetitions: order.Times(1),
		Calibration: &order.Calibration{Mode: order.Adaptive, MinimumSampleSeconds: 0.5},
		Warmup:      &order.Warmup{Mode: order.None},
	}
}

// Environment implements harness.Harness.
func (Adapter) Environment() []string {
	return []string{"LC_ALL", "MALLOC_ARENA_MAX", "OMP_NUM_THREADS"}
}

// Traits of a suite.
const (
	traitFlags   = "flags"    // names of the flags that the program knows, separated by blanks
	traitSuffix  = "min_time" // "suffix" when the minimum time has a unit, and may be a count
	traitLocale  = "locale"   // of the cases; absent when the order has its own
	traitCounter = "counter." // before a quantity: the counter that it is
)

// settings are the flags that an order's precision comes to.
type settings struct {
	minTime string
	warmup  string // "" for none
	counted int    // repetitions
	fixed   int    // iterations of each; 0 when they are adapted
}

// settle turns precision into flags, or refuses what this program cannot do.
func (a Adapter) settle(s harness.Suite, p order.Precision) (settings, error) {
	refuse := func(pointer, format string, args ...any) *fault.Error {
		return fault.New(fault.Refused, "plan benchmark", format, args...).At("/precision" + pointer)
	}
	d := a.Defaults()
	if p.Calibration == nil {
		p.Calibration = d.Calibration
	}
	if p.Warmup == nil {
		p.Warmup = d.Warmup
	}
	if len(p.Repetitions.Levels) > 1 {
		return settings{}, refuse("/repetitions/levels/1", "%s repeats at one level", Name)
	}
	out := settings{counted: p.Repetitions.Of(order.PlainUnit, d.Repetitions.Total())}
	if out.counted > 1<<20 {
		return settings{}, refuse("/repetitions", "%d repetitions in one process", out.counted)
	}
	suffix := s.Traits[traitSuffix] == "suffix"
	switch p.Calibration.Mode {
	case order.Fixed:
		if !suffix {
			return settings{}, refuse("/calibration/mode", "this program's version of the library takes no iteration count").
				Help("link with version 1.8 or newer, or calibrate by time")
		}
		out.fixed = p.Calibration.NIterations
		out.minTime = strconv.Itoa(out.fixed) + "x"
	default:
		text, ok := decimal(p.Calibration.MinimumSampleSeconds)
		if !ok {
			return settings{}, refuse("/calibration/minimum_sample_seconds", "%g s is no time for a repetition", p.Calibration.MinimumSampleSeconds)
		}
		out.minTime = text
		if suffix {
			out.minTime += "s"
		}
	}
	switch known := knows(s, "benchmark_min_warmup_time"); {
	case p.Warmup.Mode == order.Time && !known:
		return settings{}, refuse("/warmup/mode", "this program's version of the library has no warm-up").
			Help("link with version 1.6.2 or newer, or leave the warm-up out")
	case p.Warmup.Mode == order.Time:
		text, ok := decimal(p.Warmup.Seconds)
		if !ok {
			return settings{}, refuse("/warmup/seconds", "%g s is no time for a warm-up", p.Warmup.Seconds)
		}
		out.warmup = text
	case p.Warmup.Mode == order.Count:
		return settings{}, refuse("/warmup/mode", "%s has time-based warm-up only", Name)
	}
	return out, nil
}

// decimal spells seconds without an exponent: from a nanosecond to a day.
func decimal(seconds float64) (string, bool) {
	if !(seconds >= 1e-9 && seconds <= 86400) || math.IsInf(seconds, 0) {
		return "", false
	}
	return strconv.FormatFloat(seconds, 'f', -1, 64), true
}

// knows reports whether the program has a flag.
func knows(s harness.Suite, flag string) bool {
	return slices.Contains(strings.Fields(s.Traits[traitFlags]), flag)
}

// protocol are the settings that every case has.
func protocol() map[string]canon.Value {
	return map[string]canon.Value{
		"timer":       canon.StringOf("benchmark::State"),
		"interleaved": canon.BoolOf(false),
	}
}
