// Package javascript measures modules that are run by Node.js with the harness that
// they import: what tinybench, mitata and vitest have in common.
//
// Invariants: the harness is the one that the suite itself would import; a driver
// decides which case runs and how long, and is kept with the results; a repetition is
// one whole run of the harness's own loop, and its value is the mean that the harness
// states for it; single calls are counted, never kept.
//
// The package writes nothing into the tree and times nothing.
package javascript

import (
	_ "embed"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/harness/programs"
	"writ/internal/order"
	"writ/internal/result"
)

// Members of suites[].parameters.
const (
	// ParamNode names the interpreter: a name that is searched for, or an absolute
	// path. Default: node.
	ParamNode = "node"
	// ParamArguments are arguments of the interpreter, such as --expose-gc.
	ParamArguments = "node_arguments"
)

// Spec is what one harness has of its own.
type Spec struct {
	Name       string            // of the adapter
	Package    string            // that the suite's project installs
	Module     string            // of it, that the driver needs
	Least      [2]int            // major and minor version that the driver can drive
	Files      map[string][]byte // driver.mjs and what it imports
	Extensions []string          // of suites; none for any
	Prefixes   []string          // of variables that the harness takes for settings
	Warmup     []string          // modes

	Nanoseconds bool // are what the harness spells times in; milliseconds otherwise
}

// Adapter is the harness. Path is the search path for interpreters where an order
// has none; "" is that of this process.
type Adapter struct {
	Spec Spec
	Path string
}

var (
	_ harness.Harness = Adapter{}
	_ harness.Prober  = Adapter{}
)

// Capabilities implements harness.Harness.
func (a Adapter) Capabilities() order.Capabilities {
	return order.Capabilities{
		Adapter:        a.Spec.Name,
		Targets:        []string{order.WorkingTree},
		Quantities:     []string{"wall-time"},
		Levels:         []string{order.PlainUnit},
		Bare:           true,
		Calibration:    []string{order.Adaptive, order.Fixed},
		Warmup:         slices.Clone(a.Spec.Warmup),
		Parameters:     []string{ParamNode, ParamArguments},
		Variables:      true,
		CasePerProcess: true,
	}
}

// Producer implements harness.Harness.
func (a Adapter) Producer() result.Producer {
	return result.Producer{Name: "writ/" + a.Spec.Name + "-adapter", Version: "0.1.0", MappingVersion: a.Spec.Name + "-to-benchx/v1"}
}

// Defaults implements harness.Harness: ten runs of a tenth of a second, after one
// that is thrown away, because compilers of JavaScript need it.
func (Adapter) Defaults() order.Precision {
	one := 1
	return order.Precision{
		Repetitions: order.Times(10),
		Calibration: &order.Calibration{Mode: order.Adaptive, MinimumSampleSeconds: 0.1},
		Warmup:      &order.Warmup{Mode: order.Count, NWarmup: &one},
	}
}

// Environment implements harness.Harness.
func (Adapter) Environment() []string {
	return []string{"NODE_ENV", "NODE_OPTIONS", "UV_THREADPOOL_SIZE"}
}

// Traits of a suite.
const (
	traitFile      = "file"      // path below the tree
	traitArguments = "arguments" // of the interpreter, as JSON
)

// Locate implements harness.Harness. The suite is a module below the target's path,
// which is the working directory.
func (a Adapter) Locate(o order.Order, s order.Suite) (harness.Suite, error) {
	const op = "locate suite"
	if err := programs.Refuse(a.Spec.Name, o, a.Spec.Prefixes...); err != nil {
		return harness.Suite{}, err
	}
	out, path, err := programs.Tree(a.Spec.Name, o, s)
	if err != nil {
		return out, err
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return out, programs.Missing(err, path)
	}
	if len(a.Spec.Extensions) > 0 && !slices.Contains(a.Spec.Extensions, filepath.Ext(path)) {
		return out, fault.New(fault.Refused, op, "%s is no module that Node.js can run; such end with: %s", s.Suite, strings.Join(a.Spec.Extensions, ", ")).At("/suites/0/suite")
	}
	var arguments []string
	if v, given := s.Parameters.Get(ParamArguments); given {
		if err := v.Decode(&arguments); err != nil || slices.ContainsFunc(arguments, func(s string) bool { return !strings.HasPrefix(s, "-") || strings.ContainsRune(s, 0) }) {
			return out, fault.New(fault.Refused, op, "arguments of the interpreter are an array of texts that begin with -").At("/suites/0/parameters/" + ParamArguments)
		}
	}
	out.Traits[traitFile] = filepath.ToSlash(filepath.Clean(s.Suite))
	out.Traits[traitArguments] = string(canon.MustFrom(arguments).Canonical())
	out.Protocol["repetition"] = canon.StringOf("mean of one run")
	out.Program, err = programs.Find(o, s, ParamNode, a.Path, "node")
	return out, err
}

// settings are what the driver is told.
type settings struct {
	Mode, Module, Package string
	Suite, Root, File     string
	Case, Version         string
	Repetitions           int     // with those that are thrown away
	Milliseconds          float64 // that a repetition takes at least; 0 for a count of calls
	Iterations            int     // calls of a repetition: exactly, or at least when it has a time
	Warmup                float64 // milliseconds before the first
	thrown                int
	seconds               float64
	fixed                 int
}

// settle turns precision into settings, or refuses what the harness cannot do.
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
	s := settings{Repetitions: p.Repetitions.Of(order.PlainUnit, d.Repetitions.Total()), Iterations: 1}
	switch c := p.Calibration; {
	case len(p.Repetitions.Levels) > 1:
		return s, refuse("/repetitions/levels/1", "%s repeats at one level", a.Spec.Name)
	case c.Mode == order.Fixed && (c.NIterations < 1 || c.NIterations > 1<<30):
		return s, refuse("/calibration/n_iterations", "%d calls in one repetition", c.NIterations)
	case c.Mode == order.Fixed:
		s.Iterations, s.fixed = c.NIterations, c.NIterations
	case !(c.MinimumSampleSeconds >= 1e-6 && c.MinimumSampleSeconds <= 86400):
		return s, refuse("/calibration/minimum_sample_seconds", "%g s is no time for a repetition", c.MinimumSampleSeconds)
	default:
		s.seconds, s.Milliseconds = c.MinimumSampleSeconds, c.MinimumSampleSeconds*1e3
	}
	switch w := p.Warmup; {
	case !slices.Contains(a.Spec.Warmup, w.Mode):
		return s, refuse("/warmup/mode", "%s warms up by: %s", a.Spec.Name, strings.Join(a.Spec.Warmup, ", "))
	case w.Mode == order.Count && w.NWarmup != nil:
		s.thrown = *w.NWarmup
	case w.Mode == order.Time && !(w.Seconds >= 1e-6 && w.Seconds <= 86400):
		return s, refuse("/warmup/seconds", "%g s is no time for a warm-up", w.Seconds)
	case w.Mode == order.Time:
		s.Warmup = w.Seconds * 1e3
	}
	if s.Repetitions+s.thrown > 1<<16 {
		return s, refuse("/repetitions", "%d repetitions in one process", s.Repetitions+s.thrown)
	}
	s.Repetitions += s.thrown
	return s, nil
}

//go:embed lib.mjs
var lib []byte

//go:embed hooks.mjs
var hooks []byte

//go:embed probe.mjs
var probe []byte

// Files of the exchange directory.
const (
	settingsFile = "settings.json"
	driverFile   = "driver.mjs"
	probeFile    = "probe.mjs"
	toldFile     = "node.json"
	listFile     = "cases.json"
	nativeFile   = "result.json"
)

// start is a program of the suite: the interpreter with a script and its settings.
func (a Adapter) start(s harness.Suite, script string, set settings, output harness.File) harness.Invocation {
	set.Suite, set.Root, set.File = filepath.Join(s.Dir, s.Traits[traitFile]), s.Dir, s.Traits[traitFile]
	set.Module, set.Package, set.Version = a.Spec.Module, a.Spec.Package, s.Version
	told := canon.MustFrom(map[string]any{
		"mode": set.Mode, "module": set.Module, "package": set.Package, "suite": set.Suite, "root": set.Root, "file": set.File, "case": set.Case, "version": set.Version,
		"repetitions": set.Repetitions, "milliseconds": set.Milliseconds, "iterations": set.Iterations, "warmup": set.Warmup,
	})
	inputs := []harness.File{
		{Name: settingsFile, Kind: "driver-settings", MediaType: "application/json", Bytes: told.Canonical()},
		{Name: "lib.mjs", MediaType: "text/javascript", Bytes: lib}, {Name: "hooks.mjs", MediaType: "text/javascript", Bytes: hooks},
	}
	files := a.Spec.Files
	if script == probeFile {
		files = map[string][]byte{probeFile: probe}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := harness.File{Name: name, MediaType: "text/javascript", Bytes: files[name]}
		if name == driverFile {
			f.Kind = "driver"
		}
		inputs = append(inputs, f)
	}
	var arguments []string
	if err := json.Unmarshal([]byte(harness.FirstOf(s.Traits[traitArguments], "null")), &arguments); err != nil {
		arguments = nil // Locate wrote them
	}
	return harness.Invocation{
		Argv: slices.Concat([]string{s.Program}, arguments, []string{harness.InExchange(script)}), Dir: s.Dir,
		Variables: map[string]string{"NO_COLOR": "1"}, Inputs: inputs, Outputs: []harness.File{output},
	}
}

// Invocation implements harness.Harness.
func (a Adapter) Invocation(s harness.Suite, name string, p order.Precision) (harness.Invocation, error) {
	if !isName(name) {
		return harness.Invocation{}, fault.New(fault.Refused, "plan benchmark", "%q is no benchmark's name", harness.Clip(name)).At("/plan")
	}
	set, err := a.settle(p)
	if err != nil {
		return harness.Invocation{}, err
	}
	set.Mode, set.Case = "run", name
	return a.start(s, driverFile, set, harness.File{Name: nativeFile, Kind: result.ArtifactNative, MediaType: "application/json"}), nil
}

// isName reports whether a benchmark can be called so.
func isName(s string) bool {
	return s != "" && utf8.ValidString(s) && !strings.ContainsAny(s, "\x00\r\n")
}

// Probes implements harness.Prober.
func (a Adapter) Probes(s harness.Suite) []harness.Invocation {
	return []harness.Invocation{a.start(s, probeFile, settings{Mode: "probe"}, harness.File{Name: toldFile, MediaType: "application/json"})}
}

// Settle implements harness.Prober.
func (a Adapter) Settle(s harness.Suite, told []harness.Output) (harness.Suite, error) {
	const op = "probe interpreter"
	if len(told) != 1 {
		return s, fault.New(fault.Internal, op, "%d probes", len(told))
	}
	failed := func(format string, args ...any) *fault.Error {
		return fault.New(fault.Target, op, format, args...).At("/suites/0/suite")
	}
	var t struct{ Node, V8, Version, Missing string }
	v, err := canon.Parse(told[0].Files[toldFile])
	if err == nil {
		t.Node, t.V8, t.Version, t.Missing = v.Str("node"), v.Str("v8"), v.Str("version"), v.Str("missing")
	}
	switch {
	case err != nil || t.Node == "":
		return s, failed("%s %s: %s", s.Program, told[0].End(), told[0].LastWords()).Help("Node.js 20.6 or newer runs the drivers")
	case t.Missing != "":
		return s, failed("%s is not importable by %s: %s", a.Spec.Package, s.Traits[traitFile], harness.Clip(t.Missing)).Help("install it into the project with npm")
	case !atLeast(t.Version, a.Spec.Least):
		return s, failed("%s %q cannot be driven; %d.%d or newer can", a.Spec.Package, t.Version, a.Spec.Least[0], a.Spec.Least[1])
	}
	s.Version = t.Version
	s.Runtime = map[string]string{"node": t.Node, "v8": t.V8}
	if arguments := s.Traits[traitArguments]; arguments != "" && arguments != "null" && arguments != "[]" {
		s.Runtime["arguments"] = arguments
	}
	return s, nil
}

// atLeast compares the first two numbers of a version.
func atLeast(version string, least [2]int) bool {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return false
	}
	major, err1 := strconv.Atoi(parts[0])
	minor, err2 := strconv.Atoi(parts[1])
	return err1 == nil && err2 == nil && (major > least[0] || major == least[0] && minor >= least[1])
}

// Listing implements harness.Harness.
func (a Adapter) Listing(s harness.Suite) []harness.Invocation {
	return []harness.Invocation{a.start(s, driverFile, settings{Mode: "list"}, harness.File{Name: listFile, MediaType: "application/json"})}
}

// Cases implements harness.Harness.
func (a Adapter) Cases(s harness.Suite, listed []harness.Output) ([]order.Case, error) {
	const op = "list benchmarks"
	if len(listed) != 1 {
		return nil, fault.New(fault.Internal, op, "%d listings", len(listed))
	}
	out := listed[0]
	v, err := canon.Parse(out.Files[listFile])
	var list struct {
		Cases []string `json:"cases"`
	}
	if err == nil {
		err = v.Decode(&list)
	}
	if err != nil || !out.Result.OK() {
		return nil, fault.New(fault.Harness, op, "%s cannot be listed: it %s: %s", s.Traits[traitFile], out.End(), harness.FirstOf(words(out), out.LastWords())).
			Help("a listing runs the file and none of its benchmarks: it must get to its end without results")
	}
	var cases []order.Case
	for _, name := range list.Cases {
		if !isName(name) {
			return nil, fault.New(fault.Harness, op, "%q is no benchmark's name", harness.Clip(name))
		}
		cases = append(cases, order.Case{Name: name})
	}
	return cases, nil
}

// words is the last error that a driver has reported.
func words(out harness.Output) (last string) {
	for line := range strings.Lines(string(out.Stderr)) {
		if text, ok := strings.CutPrefix(line, "Error: "); ok {
			last = harness.Clip(strings.TrimSpace(text))
		}
	}
	return last
}
