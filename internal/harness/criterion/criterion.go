// Package criterion adapts Rust programs that are built with Criterion.rs: one
// process per case, samples from the files that the library writes.
//
// Invariants: a case is named by its full id, as the library lists it; every run has
// a folder of its own for results, so that none of an earlier run, or of another
// program, is ever read; what belongs to the case is found by the id that the files
// state, never by the name of their folder; a sample is the time of all its
// iterations, and is divided by their number.
//
// The package compares nothing with a baseline of the library's, and never builds a
// program.
package criterion

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/order"
	"writ/internal/result"
)

// Name is the adapter name in orders.
const Name = "criterion"

// Adapter is the harness.
type Adapter struct{}

var (
	_ harness.Harness = Adapter{}
	_ harness.Prober  = Adapter{}
)

// Capabilities implements harness.Harness. The library always warms up, by time, and
// always chooses the iterations of a sample by itself.
func (Adapter) Capabilities() order.Capabilities {
	return order.Capabilities{
		Adapter:        Name,
		Targets:        []string{order.BuildTree, order.WorkingTree},
		Quantities:     []string{"wall-time"},
		Levels:         []string{order.PlainUnit},
		Bare:           true,
		Calibration:    []string{order.Adaptive},
		Warmup:         []string{order.Time},
		Filter:         true,
		Variables:      true,
		CasePerProcess: true,
	}
}

// Producer implements harness.Harness.
func (Adapter) Producer() result.Producer {
	return result.Producer{Name: "writ/criterion-adapter", Version: "0.1.0", MappingVersion: "criterion-to-benchx/v1"}
}

// Defaults implements harness.Harness: the library's own, 100 samples in five
// seconds.
func (Adapter) Defaults() order.Precision {
	return order.Precision{
		Repetitions: order.Times(100),
		Calibration: &order.Calibration{Mode: order.Adaptive, MinimumSampleSeconds: 0.05},
		Warmup:      &order.Warmup{Mode: order.Time, Seconds: 3},
	}
}

// Environment implements harness.Harness.
func (Adapter) Environment() []string {
	return []string{"LD_LIBRARY_PATH", "MALLOC_ARENA_MAX", "RAYON_NUM_THREADS"}
}

// minSamples is the least that the library takes.
const minSamples = 10

// settings are what an order's precision comes to.
type settings struct {
	samples       int
	sample        float64 // seconds that a sample takes, on average
	warmup, whole string  // seconds, as the program takes them
}

// settle turns precision into flags, or refuses what this program cannot do. The
// library takes the time of all samples together, so it is the average sample that
// takes the ordered time: with growing samples the first are shorter.
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
	out := settings{samples: p.Repetitions.Of(order.PlainUnit, d.Repetitions.Total()), sample: p.Calibration.MinimumSampleSeconds}
	switch {
	case len(p.Repetitions.Levels) > 1:
		return out, refuse("/repetitions/levels/1", "%s repeats at one level", Name)
	case out.samples < minSamples || out.samples > 1<<20:
		return out, refuse("/repetitions", "%d samples; the library takes at least %d", out.samples, minSamples)
	case p.Calibration.Mode != order.Adaptive:
		return out, refuse("/calibration/mode", "%s takes no iteration count", Name)
	case p.Warmup.Mode != order.Time:
		return out, refuse("/warmup/mode", "%s always warms up, and by time", Name)
	}
	var ok bool
	whole := !knows(s, "quick")
	if out.warmup, ok = spell(p.Warmup.Seconds, whole); !ok {
		return out, refuse("/warmup/seconds", "%g s cannot be had: %s", p.Warmup.Seconds, takes(whole))
	}
	if out.whole, ok = spell(out.sample*float64(out.samples), whole); !ok {
		return out, refuse("/calibration/minimum_sample_seconds", "%d samples of %g s, together %g s, cannot be had: %s", out.samples, out.sample, out.sample*float64(out.samples), takes(whole))
	}
	return out, nil
}

func takes(whole bool) string {
	if whole {
		return "this version of the library takes whole seconds"
	}
	return "it is from a microsecond to a day"
}

// spell writes seconds without an exponent. Before version 0.4 they are whole.
func spell(seconds float64, whole bool) (string, bool) {
	if whole {
		n := math.Round(seconds)
		return strconv.FormatFloat(n, 'f', 0, 64), n >= 1 && n <= 86400 && math.Abs(n-seconds) < 1e-9*n
	}
	return strconv.FormatFloat(seconds, 'f', -1, 64), seconds >= 1e-6 && seconds <= 86400
}

// traitFlags are the names of the flags that the program knows, separated by blanks.
const traitFlags = "flags"

// knows reports whether the program has a flag.
func knows(s harness.Suite, flag string) bool {
	return slices.Contains(strings.Fields(s.Traits[traitFlags]), flag)
}

// Files of the exchange directory.
const (
	homeDir       = "criterion"
	sampleFile    = "sample.json"
	benchmarkFile = "benchmark.json"
	estimatesFile = "estimates.json"
)

// variables are what every program of a suite gets. A program that is told a port
// sends its samples there instead of writing them.
func variables() map[string]string {
	return map[string]string{"CRITERION_HOME": harness.InExchange(homeDir), "CARGO_CRITERION_PORT": ""}
}

// Invocation implements harness.Harness.
func (a Adapter) Invocation(s harness.Suite, name string, p order.Precision) (harness.Invocation, error) {
	if !isName(name) {
		return harness.Invocation{}, fault.New(fault.Refused, "plan benchmark", "%q is no benchmark's id", harness.Clip(name)).At("/plan")
	}
	set, err := a.settle(s, p)
	if err != nil {
		return harness.Invocation{}, err
	}
	argv := []string{
		s.Program, "--bench", "--noplot", "--warm-up-time", set.warmup, "--measurement-time", set.whole, "--sample-size", strconv.Itoa(set.samples),
	}
	if knows(s, "exact") {
		argv = append(argv, "--exact", "--", name)
	} else {
		argv = append(argv, "--", "^"+regexp.QuoteMeta(name)+"$")
	}
	return harness.Invocation{
		Argv: argv, Dir: s.Dir, Variables: variables(),
		Outputs: []harness.File{
			{Name: sampleFile, Kind: result.ArtifactNative, MediaType: "application/json", Below: "new/" + sampleFile},
			{Name: benchmarkFile, Kind: "benchmark-id", MediaType: "application/json", Below: "new/" + benchmarkFile},
			{Name: estimatesFile, Kind: "estimates", MediaType: "application/json", Below: "new/" + estimatesFile},
		},
	}, nil
}

// isName reports whether a benchmark can be called so and be selected.
func isName(s string) bool {
	return s != "" && utf8.ValidString(s) && !strings.ContainsAny(s, "\x00\r\n")
}
