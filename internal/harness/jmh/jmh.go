// Package jmh adapts jars of benchmarks that are built with the Java harness JMH:
// one run of the jar for each case, with the forks that the order asks for.
//
// Invariants: a case is a benchmark with one value for each of its parameters, and is
// selected by its quoted name and by these values; the mode, the unit and every
// count are given, so that annotations of the code do not decide; a value is that
// of one iteration, and carries the fork that it came of; a run in the harness's own
// virtual machine is never taken for one of a fork.
//
// The package computes no score of its own and builds no jar.
package jmh

import (
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
const Name = "jmh"

// Units of repetition, outermost first.
const (
	Process   = "process" // a fork
	Iteration = "iteration"
)

// Adapter is the harness. Path is the search path for java where an order has none;
// "" is that of this process.
type Adapter struct{ Path string }

var (
	_ harness.Harness = Adapter{}
	_ harness.Prober  = Adapter{}
)

// Members of suites[].parameters.
const (
	// ParamJava names the launcher: a name that is searched for, or an absolute path.
	// Default: java.
	ParamJava = "java"
	// ParamArguments are arguments of the virtual machines that measure, such as
	// -Xmx1g; they take the place of those in the code.
	ParamArguments = "jvm_arguments"
)

// Capabilities implements harness.Harness.
func (Adapter) Capabilities() order.Capabilities {
	return order.Capabilities{
		Adapter:            Name,
		Targets:            []string{order.BuildTree, order.WorkingTree},
		Quantities:         []string{"allocated-bytes", "wall-time"},
		Levels:             []string{Process, Iteration},
		Bare:               true,
		Calibration:        []string{order.Adaptive, order.Fixed},
		Warmup:             []string{order.None, order.Count, order.Time},
		Filter:             true,
		Parameters:         []string{ParamJava, ParamArguments},
		WorkloadParameters: true,
		Variables:          true,
		CasePerProcess:     true,
	}
}

// Producer implements harness.Harness.
func (Adapter) Producer() result.Producer {
	return result.Producer{Name: "writ/jmh-adapter", Version: "0.1.0", MappingVersion: "jmh-to-benchx/v1"}
}

// Defaults implements harness.Harness: the harness's own.
func (Adapter) Defaults() order.Precision {
	five := 5
	return order.Precision{
		Repetitions: order.Repetitions{Levels: []order.Level{{Unit: Process, N: 5}, {Unit: Iteration, N: 5}}},
		Calibration: &order.Calibration{Mode: order.Adaptive, MinimumSampleSeconds: 10},
		Warmup:      &order.Warmup{Mode: order.Count, NWarmup: &five},
	}
}

// javaVariables are read by the launcher and the virtual machine for more arguments.
var javaVariables = []string{"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"}

// Environment implements harness.Harness.
func (Adapter) Environment() []string { return []string{"JAVA_HOME", "MALLOC_ARENA_MAX"} }

// variables are what every program of a suite gets: arguments come from the order
// alone.
func variables() map[string]string {
	out := map[string]string{}
	for _, name := range javaVariables {
		out[name] = ""
	}
	return out
}

// Traits of a suite.
const (
	traitJar       = "jar"       // absolute path
	traitArguments = "arguments" // of the virtual machines that measure, separated by blanks
	traitGC        = "gc"        // "yes" when allocations are asked for
	traitFixed     = "fixed."    // before the name of a parameter: the value that the order gives it
)

// settings are what an order's precision comes to.
type settings struct {
	levels            bool // the order has levels of its own
	forks, iterations int
	warmups           int
	batch             int    // calls of an iteration; 0 when it has a time
	time, warmup      string // of an iteration and of one that is thrown away; "" for none
	seconds           float64
}

// mode is how the harness measures: the average time of a call, or the time of a
// batch of calls.
func (s settings) mode() string {
	if s.batch > 0 {
		return "ss"
	}
	return "avgt"
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
	s := settings{levels: !p.Repetitions.Bare}
	if p.Repetitions.Bare {
		s.forks, s.iterations = 1, p.Repetitions.Total()
	} else {
		s.forks, s.iterations = p.Repetitions.Of(Process, d.Repetitions.Of(Process, 0)), p.Repetitions.Of(Iteration, d.Repetitions.Of(Iteration, 0))
		seen := map[string]bool{}
		for i, l := range p.Repetitions.Levels {
			if l.Unit != Process && l.Unit != Iteration || seen[l.Unit] {
				return s, refuse("/repetitions/levels/"+strconv.Itoa(i)+"/unit", "%s repeats at two levels, 'process' and 'iteration', once each", Name)
			}
			seen[l.Unit] = true
		}
	}
	if s.forks < 1 || s.iterations < 1 || s.forks > 1<<12 || s.iterations > 1<<16 {
		return s, refuse("/repetitions", "%d processes with %d iterations", s.forks, s.iterations)
	}
	var ok bool
	if p.Calibration.Mode == order.Fixed {
		if s.batch = p.Calibration.NIterations; s.batch < 1 || s.batch > math.MaxInt32 {
			return s, refuse("/calibration/n_iterations", "%d calls", s.batch)
		}
	} else if s.time, ok = spell(p.Calibration.MinimumSampleSeconds); !ok {
		return s, refuse("/calibration/minimum_sample_seconds", "%g s is no time for an iteration", p.Calibration.MinimumSampleSeconds)
	} else {
		s.seconds = p.Calibration.MinimumSampleSeconds
	}
	switch w := p.Warmup; {
	case w.Mode == order.Time && s.batch > 0:
		return s, refuse("/warmup/mode", "with a number of calls, %s has count-based warm-up only", Name)
	case w.Mode == order.Time:
		if s.warmup, ok = spell(w.Seconds); !ok {
			return s, refuse("/warmup/seconds", "%g s is no time for a warm-up", w.Seconds)
		}
		s.warmups = 1
	case w.Mode == order.Count && w.NWarmup != nil:
		if s.warmups, s.warmup = *w.NWarmup, s.time; s.warmups > 1<<16 {
			return s, refuse("/warmup/n_warmup", "%d warm-ups", s.warmups)
		}
	}
	return s, nil
}

// spell writes seconds as the harness takes them: a whole number of 31 bits and the
// largest unit that is exact.
func spell(seconds float64) (string, bool) {
	if !(seconds >= 1e-9 && seconds <= 86400) {
		return "", false
	}
	ns := int64(math.Round(seconds * 1e9))
	for _, u := range []struct {
		name string
		ns   int64
	}{{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}} {
		if ns%u.ns == 0 && ns/u.ns <= math.MaxInt32 {
			return strconv.FormatInt(ns/u.ns, 10) + u.name, true
		}
	}
	return "", false
}

const nativeFile = "jmh.json"

// Invocation implements harness.Harness.
func (a Adapter) Invocation(s harness.Suite, name string, p order.Precision) (harness.Invocation, error) {
	c, ok := parseCase(name)
	if !ok {
		return harness.Invocation{}, fault.New(fault.Refused, "plan benchmark", "%q is no benchmark with its parameters", harness.Clip(name)).At("/plan")
	}
	set, err := a.settle(p)
	if err != nil {
		return harness.Invocation{}, err
	}
	argv := []string{
		s.Program, "-jar", s.Traits[traitJar], `^\Q` + c.benchmark + `\E$`, "-bm", set.mode(), "-tu", "ns", "-foe", "true", "-rf", "json", "-rff", harness.InExchange(nativeFile),
		"-f", strconv.Itoa(set.forks), "-i", strconv.Itoa(set.iterations), "-wi", strconv.Itoa(set.warmups),
	}
	if set.time != "" {
		argv = append(argv, "-r", set.time)
	}
	if set.warmups > 0 && set.warmup != "" {
		argv = append(argv, "-w", set.warmup)
	}
	if set.batch > 0 {
		argv = append(argv, "-bs", strconv.Itoa(set.batch), "-wbs", strconv.Itoa(set.batch))
	}
	if s.Traits[traitGC] != "" {
		argv = append(argv, "-prof", "gc")
	}
	if s.Traits[traitArguments] != "" {
		argv = append(argv, "-jvmArgs", s.Traits[traitArguments])
	}
	for _, x := range slices.Concat(c.parameters, fixed(s)) {
		argv = append(argv, "-p", x.name+"="+x.value)
	}
	return harness.Invocation{
		Argv: argv, Dir: s.Dir, Variables: variables(),
		Outputs: []harness.File{{Name: nativeFile, Kind: result.ArtifactNative, MediaType: "application/json"}},
	}, nil
}

// fixed are the parameters that the order gives a value, by their names.
func fixed(s harness.Suite) (out []parameter) {
	for trait, value := range s.Traits {
		if name, ok := strings.CutPrefix(trait, traitFixed); ok {
			out = append(out, parameter{name, value})
		}
	}
	slices.SortFunc(out, func(a, b parameter) int { return strings.Compare(a.name, b.name) })
	return out
}

// text spells a workload parameter as the harness takes it.
func text(v canon.Value) string {
	if s, ok := v.String(); ok {
		return s
	}
	return string(v.Canonical())
}
