// Package pyperf adapts functions of Python modules that are measured with the
// module pyperf: several worker processes for each case, with several values each.
//
// Invariants: a case is a function that its module defines; the program that runs
// it is generated, kept beside the results, and the same for the same case; every
// process of a case proves by a digest that it had the environment of the first;
// runs that only calibrate give no values.
//
// Scripts with a runner of their own are no suites: they cannot be asked for their
// cases, and one of them cannot be run alone.
package pyperf

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/harness/python"
	"writ/internal/order"
	"writ/internal/result"
)

// Name is the adapter name in orders.
const Name = "pyperf"

// Units of repetition, outermost first.
const (
	Process = "process"
	Value   = "value"
)

// Adapter is the harness. Path is the search path for interpreters where an order
// has none; "" is that of this process.
type Adapter struct{ Path string }

var (
	_ harness.Harness = Adapter{}
	_ harness.Prober  = Adapter{}
)

// Capabilities implements harness.Harness.
func (Adapter) Capabilities() order.Capabilities {
	return order.Capabilities{
		Adapter:        Name,
		Targets:        []string{order.WorkingTree},
		Quantities:     []string{"wall-time"},
		Levels:         []string{Process, Value},
		Calibration:    []string{order.Adaptive, order.Fixed},
		Warmup:         []string{order.None, order.Count},
		Filter:         true,
		Parameters:     []string{python.Param},
		Variables:      true,
		CasePerProcess: true,
	}
}

// Producer implements harness.Harness.
func (Adapter) Producer() result.Producer {
	return result.Producer{Name: "writ/pyperf-adapter", Version: "0.1.0", MappingVersion: "pyperf-to-benchx/v1"}
}

// Defaults implements harness.Harness: pyperf's own.
func (Adapter) Defaults() order.Precision {
	one := 1
	return order.Precision{
		Repetitions: order.Repetitions{Levels: []order.Level{{Unit: Process, N: 20}, {Unit: Value, N: 3}}},
		Calibration: &order.Calibration{Mode: order.Adaptive, MinimumSampleSeconds: 0.1},
		Warmup:      &order.Warmup{Mode: order.Count, NWarmup: &one},
	}
}

// recorded are variables that results may record when they are inherited.
var recorded = []string{
	"PYTHONHASHSEED", "PYTHONPATH", "PYTHONOPTIMIZE", "PYTHONMALLOC", "PYTHONDONTWRITEBYTECODE", "PYTHON_GIL", "PYTHON_JIT",
	"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "LD_LIBRARY_PATH", "LD_PRELOAD",
}

// Environment implements harness.Harness.
func (Adapter) Environment() []string { return slices.Clone(recorded) }

// Traits of a suite.
const (
	traitModule  = "module"  // dotted name
	traitOrdered = "ordered" // names of ordered variables, separated by blanks
)

// Locate implements harness.Harness. The suite is a module below the target's
// path, which becomes the working directory and the first place to import from.
func (a Adapter) Locate(o order.Order, s order.Suite) (harness.Suite, error) {
	if err := python.RefuseVariables(Name, o, "PYPERF_"); err != nil {
		return harness.Suite{}, err
	}
	out, file, err := python.Locate(Name, o, s, a.Path)
	if err != nil {
		return out, err
	}
	module, isPython := strings.CutSuffix(file, ".py")
	module = strings.ReplaceAll(module, "/", ".")
	if !isPython || slices.ContainsFunc(strings.Split(module, "."), func(part string) bool { return !isIdentifier(part) }) {
		return out, fault.New(fault.Refused, "locate suite", "%q cannot be imported: it is no path of a module", file).At("/suites/0/suite")
	}
	out.Traits[traitModule] = module
	out.Traits[traitOrdered] = strings.Join(slices.Sorted(maps.Keys(o.EnvironmentVariables)), " ")
	out.Protocol = map[string]canon.Value{
		"timer": canon.StringOf("perf_counter"), "gc": canon.StringOf("enabled"), "environment": canon.StringOf("inherit-all"),
	}
	return out, nil
}

// isIdentifier reports whether s is a name in ASCII that Python takes.
func isIdentifier(s string) bool {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
	return s != "" && strings.IndexByte(letters, s[0]) >= 0 && strings.Trim(s, letters+"0123456789") == ""
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
	processes, values, warmups int
	loops                      int // of each value; 0 when they are adapted
	minTime                    float64
}

func (a Adapter) settle(p order.Precision) (settings, error) {
	refuse := func(pointer, format string, args ...any) error {
		return fault.New(fault.Refused, "plan function", format, args...).At("/precision" + pointer)
	}
	d := a.Defaults()
	if p.Calibration == nil {
		p.Calibration = d.Calibration
	}
	if p.Warmup == nil {
		p.Warmup = d.Warmup
	}
	if p.Repetitions.Bare {
		return settings{}, refuse("/repetitions", "%s repeats at two levels, 'process' and 'value'", Name)
	}
	s := settings{
		processes: p.Repetitions.Of(Process, d.Repetitions.Of(Process, 0)), values: p.Repetitions.Of(Value, d.Repetitions.Of(Value, 0)),
	}
	seen := map[string]bool{}
	for i, l := range p.Repetitions.Levels {
		if l.Unit != Process && l.Unit != Value || seen[l.Unit] {
			return s, refuse("/repetitions/levels/"+strconv.Itoa(i)+"/unit", "%s repeats at two levels, 'process' and 'value', once each", Name)
		}
		seen[l.Unit] = true
	}
	if s.processes > 1<<12 || s.values > 1<<16 {
		return s, refuse("/repetitions", "%d processes with %d values", s.processes, s.values)
	}
	switch c := p.Calibration; {
	case c.Mode == order.Fixed:
		if s.loops = c.NIterations; s.loops > 1<<40 {
			return s, refuse("/calibration/n_iterations", "%d iterations", s.loops)
		}
	case !(c.MinimumSampleSeconds >= 1e-9 && c.MinimumSampleSeconds <= 86400):
		return s, refuse("/calibration/minimum_sample_seconds", "%g s is no time for a value", c.MinimumSampleSeconds)
	default:
		s.minTime = c.MinimumSampleSeconds
	}
	switch w := p.Warmup; {
	case w.Mode == order.Time:
		return s, refuse("/warmup/mode", "%s has count-based warm-up only", Name)
	case w.Mode == order.Count && w.NWarmup != nil:
		if s.warmups = *w.NWarmup; s.warmups > 1<<16 {
			return s, refuse("/warmup/n_warmup", "%d warm-ups", s.warmups)
		}
	}
	return s, nil
}
