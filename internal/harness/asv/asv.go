// Package asv adapts benchmark suites for airspeed velocity: timing benchmarks, a run
// of the tool for each, in the environment that is there.
//
// Invariants: a case is a benchmark with one combination of its parameters, and is
// selected by a quoted and anchored pattern; configuration, machine description and
// results are beside the results of the case, never in the tree; what belongs to a
// case is found by the columns and parameters that the file states; a row of another
// version of the benchmark is none.
//
// The package builds no environment and checks out no commit.
package asv

import (
	_ "embed"
	"regexp"
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

// Name is the adapter name in orders, and of the module.
const Name = "asv"

// Adapter is the harness. Path is the search path for interpreters where an order
// has none; "" is that of this process.
type Adapter struct{ Path string }

var (
	_ harness.Harness = Adapter{}
	_ harness.Prober  = Adapter{}
)

// Capabilities implements harness.Harness. Rounds, which are processes, would come
// back in one list without saying which is whose, so that there is one level.
func (Adapter) Capabilities() order.Capabilities {
	return order.Capabilities{
		Adapter:        Name,
		Targets:        []string{order.WorkingTree},
		Quantities:     []string{"wall-time"},
		Levels:         []string{order.PlainUnit},
		Bare:           true,
		Calibration:    []string{order.Adaptive, order.Fixed},
		Warmup:         []string{order.None, order.Time},
		Parameters:     []string{python.Param},
		Variables:      true,
		CasePerProcess: true,
	}
}

// Producer implements harness.Harness.
func (Adapter) Producer() result.Producer {
	return result.Producer{Name: "writ/asv-adapter", Version: "0.1.0", MappingVersion: "asv-to-benchx/v1"}
}

// Defaults implements harness.Harness: the tool's own, but for the number of samples,
// which depends on how long they take.
func (Adapter) Defaults() order.Precision {
	return order.Precision{
		Repetitions: order.Times(10),
		Calibration: &order.Calibration{Mode: order.Adaptive, MinimumSampleSeconds: 0.01},
		Warmup:      &order.Warmup{Mode: order.Time, Seconds: 0.1},
	}
}

// Environment implements harness.Harness.
func (Adapter) Environment() []string {
	return []string{"PYTHONHASHSEED", "PYTHONPATH", "PYTHONOPTIMIZE", "PYTHONMALLOC", "PYTHONDONTWRITEBYTECODE", "OMP_NUM_THREADS"}
}

// traitSuite is the suite's path below the tree.
const traitSuite = "suite"

// Locate implements harness.Harness. The suite is the folder of benchmarks below the
// target's path.
func (a Adapter) Locate(o order.Order, s order.Suite) (harness.Suite, error) {
	if err := python.RefuseVariables(Name, o, "ASV_"); err != nil {
		return harness.Suite{}, err
	}
	out, path, err := python.Locate(Name, o, s, a.Path)
	if err != nil {
		return out, err
	}
	out.Traits[traitSuite] = path
	out.Protocol = map[string]canon.Value{"timer": canon.StringOf("default_timer"), "rounds": canon.IntOf(1)}
	return out, nil
}

// Probes implements harness.Prober.
func (Adapter) Probes(s harness.Suite) []harness.Invocation {
	return []harness.Invocation{python.Probe(s, Name)}
}

// Settle implements harness.Prober.
func (Adapter) Settle(s harness.Suite, told []harness.Output) (harness.Suite, error) {
	s, _, err := python.Answer(s, told, Name)
	return s, err
}

// settings are what an order's precision comes to.
type settings struct {
	samples int
	calls   int     // of each sample; 0 when they are adapted
	seconds float64 // that a sample takes at least
	warmup  float64 // seconds
}

func (a Adapter) settle(p order.Precision) (settings, error) {
	refuse := func(pointer, format string, args ...any) error {
		return fault.New(fault.Refused, "plan benchmark", format, args...).At("/precision" + pointer)
	}
	d := a.Defaults()
	if p.Calibration == nil {
		p.Calibration = d.Calibration
	}
	if p.Warmup == nil {
		p.Warmup = d.Warmup
	}
	possible := func(seconds float64) bool { return seconds >= 1e-9 && seconds <= 86400 }
	s := settings{samples: p.Repetitions.Of(order.PlainUnit, d.Repetitions.Total())}
	switch c := p.Calibration; {
	case len(p.Repetitions.Levels) > 1:
		return s, refuse("/repetitions/levels/1", "%s repeats at one level", Name)
	case s.samples > 1<<20:
		return s, refuse("/repetitions", "%d samples", s.samples)
	case c.Mode == order.Fixed && (c.NIterations < 1 || c.NIterations > 1<<40):
		return s, refuse("/calibration/n_iterations", "%d calls", c.NIterations)
	case c.Mode == order.Fixed:
		s.calls = c.NIterations
	case !possible(c.MinimumSampleSeconds):
		return s, refuse("/calibration/minimum_sample_seconds", "%g s is no time for a sample", c.MinimumSampleSeconds)
	default:
		s.seconds = c.MinimumSampleSeconds
	}
	switch w := p.Warmup; {
	case w.Mode == order.Count:
		return s, refuse("/warmup/mode", "%s has time-based warm-up only", Name)
	case w.Mode == order.Time && !possible(w.Seconds):
		return s, refuse("/warmup/seconds", "%g s is no time for a warm-up", w.Seconds)
	case w.Mode == order.Time:
		s.warmup = w.Seconds
	}
	return s, nil
}

// Files of the exchange directory.
const (
	driverFile     = "driver.py"
	settingsFile   = "settings.json"
	nativeFile     = "asv.json"
	benchmarksFile = "benchmarks.json"
)

//go:embed driver.py
var driver []byte

// start is a run of the tool.
func start(s harness.Suite, mode string, arguments []string, outputs ...harness.File) harness.Invocation {
	told := canon.MustFrom(map[string]any{
		"mode": mode, "root": s.Dir, "suite": s.Dir + "/" + s.Traits[traitSuite], "arguments": arguments,
	})
	return harness.Invocation{
		Argv: []string{s.Program, harness.InExchange(driverFile)}, Dir: s.Dir, Variables: python.Quiet(),
		Inputs: []harness.File{
			{Name: driverFile, Kind: "driver", MediaType: "text/x-python", Bytes: driver},
			{Name: settingsFile, Kind: "driver-settings", MediaType: "application/json", Bytes: told.Canonical()},
		},
		Outputs: outputs,
	}
}

// benchmarks is the file that describes what was discovered.
var benchmarks = harness.File{Name: benchmarksFile, Kind: "benchmarks", MediaType: "application/json", Below: "results/" + benchmarksFile}

// longest is how long one benchmark may take as far as the tool is concerned, in
// seconds: limits are kept by whoever runs it.
const longest = "86400"

// Invocation implements harness.Harness.
func (a Adapter) Invocation(s harness.Suite, name string, p order.Precision) (harness.Invocation, error) {
	if !isCase(name) {
		return harness.Invocation{}, fault.New(fault.Refused, "plan benchmark", "%q is no benchmark with its parameters", harness.Clip(name)).At("/plan")
	}
	set, err := a.settle(p)
	if err != nil {
		return harness.Invocation{}, err
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	arguments := []string{
		"--set-commit-hash", "HEAD", "--record-samples", "--show-stderr", "--bench", "^" + regexp.QuoteMeta(name) + "$",
		"-a", "rounds=1", "-a", "repeat=" + strconv.Itoa(set.samples), "-a", "warmup_time=" + number(set.warmup), "-a", "timeout=" + longest,
		"-a", "number=" + strconv.Itoa(set.calls),
	}
	if set.calls == 0 {
		arguments = append(arguments, "-a", "sample_time="+number(set.seconds))
	}
	native := harness.File{Name: nativeFile, Kind: result.ArtifactNative, MediaType: "application/json", Below: "results/writ/*-*.json"}
	return start(s, "run", arguments, native, benchmarks), nil
}

// isCase reports whether a case can be called so: a dotted name, and behind it
// parameters in parentheses where the benchmark has some.
func isCase(s string) bool {
	name, parameters, has := strings.Cut(s, "(")
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_."
	return name != "" && name[0] != '.' && strings.Trim(name, letters) == "" && utf8.ValidString(s) && !strings.ContainsAny(s, "\x00\r\n") &&
		(!has || strings.HasSuffix(parameters, ")"))
}
