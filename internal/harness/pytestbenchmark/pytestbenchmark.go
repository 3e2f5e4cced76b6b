// Package pytestbenchmark adapts tests that use the benchmark fixture of the
// pytest plugin pytest-benchmark: one process per test.
//
// Invariants: a case is a node id, and is selected by it; the number of rounds is
// exactly the ordered one, because the plugin is left no time for more; a test that
// fails has no result, even when its numbers are in the file; settings that a test
// makes for itself, against the order, are found out afterwards and reported.
//
// The package writes nothing into the tree and never reads the table that the
// plugin prints.
package pytestbenchmark

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/harness/python"
	"writ/internal/order"
	"writ/internal/result"
)

// Name is the adapter name in orders.
const Name = "pytest-benchmark"

// Adapter is the harness. Path is the search path for interpreters where an order
// has none; "" is that of this process.
type Adapter struct{ Path string }

var (
	_ harness.Harness = Adapter{}
	_ harness.Prober  = Adapter{}
)

// Capabilities implements harness.Harness. A fixed iteration count can be had in
// the code of a test only, and the plugin's own warm-up counts iterations, capped
// by rounds: neither is what an order means.
func (Adapter) Capabilities() order.Capabilities {
	return order.Capabilities{
		Adapter:        Name,
		Targets:        []string{order.WorkingTree},
		Quantities:     []string{"wall-time"},
		Levels:         []string{order.PlainUnit},
		Bare:           true,
		Calibration:    []string{order.Adaptive},
		Warmup:         []string{order.None, order.Count},
		Filter:         true,
		Parameters:     []string{python.Param},
		Variables:      true,
		CasePerProcess: true,
	}
}

// Producer implements harness.Harness.
func (Adapter) Producer() result.Producer {
	return result.Producer{Name: "writ/pytest-benchmark-adapter", Version: "0.1.0", MappingVersion: "pytest-benchmark-to-benchx/v1"}
}

// Defaults implements harness.Harness: the plugin's own, but for its automatic
// warm-up, which depends on the interpreter.
func (Adapter) Defaults() order.Precision {
	return order.Precision{
		Repetitions: order.Times(5),
		Calibration: &order.Calibration{Mode: order.Adaptive, MinimumSampleSeconds: 0.000005},
		Warmup:      &order.Warmup{Mode: order.None},
	}
}

// Environment implements harness.Harness.
func (Adapter) Environment() []string {
	return []string{"PYTHONHASHSEED", "PYTHONPATH", "PYTHONOPTIMIZE", "PYTHONMALLOC", "PYTHONDONTWRITEBYTECODE", "OMP_NUM_THREADS"}
}

// Locate implements harness.Harness. The suite is a file or folder of tests below
// the target's path, which becomes pytest's root folder.
func (a Adapter) Locate(o order.Order, s order.Suite) (harness.Suite, error) {
	if err := python.RefuseVariables(Name, o, "PYTEST_"); err != nil {
		return harness.Suite{}, err
	}
	out, file, err := python.Locate(Name, o, s, a.Path)
	if err != nil {
		return out, err
	}
	out.Traits[traitFile] = file
	out.Protocol = map[string]canon.Value{
		"timer": canon.StringOf("perf_counter"), "gc": canon.StringOf("enabled"), "calibration_precision": canon.IntOf(calibrationPrecision),
	}
	return out, nil
}

// traitFile is the suite's path below the tree.
const traitFile = "file"

// Probes implements harness.Prober.
func (Adapter) Probes(s harness.Suite) []harness.Invocation {
	return []harness.Invocation{python.Probe(s, "pytest", "pytest_benchmark")}
}

// Settle implements harness.Prober.
func (Adapter) Settle(s harness.Suite, told []harness.Output) (harness.Suite, error) {
	s, versions, err := python.Answer(s, told, "pytest_benchmark")
	if err != nil {
		return s, err
	}
	s.Runtime["pytest"] = versions["pytest"]
	return s, nil
}

// settings are what an order's precision comes to.
type settings struct {
	minTime float64 // seconds
	counted int     // rounds that are kept
	warmups int     // rounds before them
}

func (a Adapter) settle(p order.Precision) (settings, error) {
	refuse := func(pointer, format string, args ...any) error {
		return fault.New(fault.Refused, "plan test", format, args...).At("/precision" + pointer)
	}
	d := a.Defaults()
	if p.Calibration == nil {
		p.Calibration = d.Calibration
	}
	if p.Warmup == nil {
		p.Warmup = d.Warmup
	}
	s := settings{counted: p.Repetitions.Of(order.PlainUnit, d.Repetitions.Total()), minTime: p.Calibration.MinimumSampleSeconds}
	switch {
	case len(p.Repetitions.Levels) > 1:
		return s, refuse("/repetitions/levels/1", "%s repeats at one level", Name)
	case p.Calibration.Mode != order.Adaptive:
		return s, refuse("/calibration/mode", "%s takes no iteration count", Name)
	case p.Warmup.Mode == order.Time:
		return s, refuse("/warmup/mode", "%s has count-based warm-up only", Name)
	case !(s.minTime >= 1e-9 && s.minTime <= 86400) || math.IsInf(s.minTime, 0):
		return s, refuse("/calibration/minimum_sample_seconds", "%g s is no time for a round", s.minTime)
	}
	if p.Warmup.Mode == order.Count && p.Warmup.NWarmup != nil {
		s.warmups = *p.Warmup.NWarmup
	}
	if s.counted+s.warmups > 1<<20 {
		return s, refuse("/repetitions", "%d rounds in one process", s.counted+s.warmups)
	}
	return s, nil
}

const (
	calibrationPrecision = 10
	// noTime is too short for a single round of anything: the plugin then makes as
	// many rounds as it must at least, and no more.
	noTime = "0.000000001"
)

// Files of the exchange directory.
const (
	nativeFile = "benchmark.json"
	junitFile  = "junit.xml"
	cacheDir   = "cache"
	storageDir = "storage"
)

// common are the arguments of every run: nothing is kept in the tree, tests are
// not spread over processes, node ids begin at the tree.
func common(s harness.Suite) []string {
	return []string{
		"--rootdir=" + s.Dir, "-o", "cache_dir=" + harness.InExchange(cacheDir), "-p", "no:xdist",
		"--benchmark-storage=file://" + harness.InExchange(storageDir), "--benchmark-only",
	}
}

// variables are what every program of a suite gets. What the surroundings tell
// pytest by them would change how cases run.
func variables() map[string]string {
	v := python.Quiet()
	v["PYTEST_ADDOPTS"], v["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "", ""
	return v
}

// Invocation implements harness.Harness.
func (a Adapter) Invocation(s harness.Suite, name string, p order.Precision) (harness.Invocation, error) {
	if !isNode(name) {
		return harness.Invocation{}, fault.New(fault.Refused, "plan test", "%q is no node id of a test", harness.Clip(name)).At("/plan")
	}
	set, err := a.settle(p)
	if err != nil {
		return harness.Invocation{}, err
	}
	argv := append([]string{s.Program, "-m", "pytest"}, common(s)...)
	argv = append(argv,
		"-o", "junit_logging=no", "--junitxml="+harness.InExchange(junitFile), "--benchmark-json="+harness.InExchange(nativeFile),
		"--benchmark-min-rounds="+strconv.Itoa(set.counted+set.warmups), "--benchmark-max-time="+noTime,
		"--benchmark-min-time="+strconv.FormatFloat(set.minTime, 'f', -1, 64), "--benchmark-warmup=off",
		"--benchmark-timer=time.perf_counter", "--benchmark-calibration-precision="+strconv.Itoa(calibrationPrecision), name,
	)
	return harness.Invocation{
		Argv: argv, Dir: s.Dir, Variables: variables(),
		Outputs: []harness.File{
			{Name: nativeFile, Kind: result.ArtifactNative, MediaType: "application/json"},
			{Name: junitFile, Kind: "test-report", MediaType: "application/xml"},
		},
	}, nil
}

// isNode reports whether a name can be a node id: a file and a test in it.
func isNode(s string) bool {
	file, test, ok := strings.Cut(s, "::")
	return ok && file != "" && test != "" && s[0] != '-' && utf8.ValidString(s) && !strings.ContainsAny(s, "\x00\r\n")
}
