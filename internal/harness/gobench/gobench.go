// Package gobench adapts the benchmarks of Go's testing package: prebuilt test
// binaries, one process per case.
//
// A case is named like the function that it is: package path, full stop, name as
// Go prints it ("example.org/mod/pkg.BenchmarkSum/small"), because one comparison
// may cover packages whose benchmarks have the same names.
//
// Invariants: a case is selected by an anchored, escaped pattern per level of its
// name, so that it is never a prefix of another; the processor count is always
// given, so that the suffix of a name is never guessed; the binary's own time
// limit is off, the runner's counts. Sub-benchmarks are found by running every
// benchmark once, because the binary has no other list of them.
//
// The package never builds a binary and never runs tests.
package gobench

import (
	"math"
	"strconv"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/order"
	"writ/internal/result"
)

// Name is the adapter name in orders.
const Name = "gobench"

// Members of suites[].parameters.
const (
	// ParamDir is the package directory below the target's source directory: the
	// working directory, where testdata is found. Default: the source directory.
	ParamDir = "dir"
	// ParamCPU is how many processors the cases may use: -test.cpu. Default: the
	// order's GOMAXPROCS, else what this machine offers.
	ParamCPU = "cpu"
)

// Adapter is the harness.
type Adapter struct {
	Processors int // default of ParamCPU; 0 means what the Go runtime uses on this machine
}

var _ harness.Harness = Adapter{}

// Capabilities implements harness.Harness.
func (Adapter) Capabilities() order.Capabilities {
	return order.Capabilities{
		Adapter:        Name,
		Targets:        []string{order.BuildTree},
		Quantities:     quantityNames(),
		Levels:         []string{order.PlainUnit},
		Bare:           true,
		Calibration:    []string{order.Adaptive, order.Fixed},
		Warmup:         []string{order.None, order.Count},
		Filter:         true,
		Parameters:     []string{ParamDir, ParamCPU},
		Variables:      true,
		CasePerProcess: true,
		ManySuites:     true,
	}
}

// Producer implements harness.Harness.
func (Adapter) Producer() result.Producer {
	return result.Producer{Name: "writ/gobench-adapter", Version: "0.1.0", MappingVersion: "gobench-to-benchx/v1"}
}

// Defaults implements harness.Harness: the testing package's own.
func (Adapter) Defaults() order.Precision {
	return order.Precision{
		Repetitions: order.Times(1),
		Calibration: &order.Calibration{Mode: order.Adaptive, MinimumSampleSeconds: 1},
		Warmup:      &order.Warmup{Mode: order.None},
	}
}

// Environment implements harness.Harness.
func (Adapter) Environment() []string {
	return []string{"GOMAXPROCS", "GOGC", "GOMEMLIMIT", "GODEBUG", "GOTRACEBACK"}
}

// settings are the flags that an order's precision comes to.
type settings struct {
	benchtime string
	counted   int // repetitions that are kept
	warmups   int // repetitions before them
}

func (a Adapter) settings(p order.Precision) (settings, error) {
	d := a.Defaults()
	if p.Calibration == nil {
		p.Calibration = d.Calibration
	}
	if p.Warmup == nil {
		p.Warmup = d.Warmup
	}
	s := settings{counted: p.Repetitions.Of(order.PlainUnit, d.Repetitions.Total())}
	if p.Warmup.Mode == order.Count && p.Warmup.NWarmup != nil {
		s.warmups = *p.Warmup.NWarmup
	}
	if s.counted+s.warmups > 1<<20 {
		return settings{}, fault.New(fault.Refused, "plan benchmark", "%d repetitions in one process", s.counted+s.warmups).
			At("/precision/repetitions")
	}
	if p.Calibration.Mode == order.Fixed {
		s.benchtime = strconv.Itoa(p.Calibration.NIterations) + "x"
		return s, nil
	}
	seconds := p.Calibration.MinimumSampleSeconds
	if seconds*float64(time.Second) < 1 || seconds > float64(math.MaxInt64/int64(time.Second)) {
		return settings{}, fault.New(fault.Refused, "plan benchmark", "%g s is no time for a repetition", seconds).
			At("/precision/calibration/minimum_sample_seconds")
	}
	s.benchtime = strconv.FormatFloat(seconds, 'f', -1, 64) + "s"
	return s, nil
}

// protocol are the settings that every run of the testing package has.
func protocol(processors int) map[string]canon.Value {
	return map[string]canon.Value{
		"timer":   canon.StringOf("testing.B"),
		"gc":      canon.StringOf("collect-before-repetition"),
		"threads": canon.MustFrom(map[string]string{"GOMAXPROCS": strconv.Itoa(processors)}),
	}
}
