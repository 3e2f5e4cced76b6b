// Package hyperfine adapts the program hyperfine: one process per case, results
// from the JSON file that it writes.
//
// Invariants: a case is a list of arguments, quoted so that hyperfine and every
// shell take it apart into the same list again; hyperfine never decides how often
// something runs; repetitions count by their own exit status, not by the one that
// hyperfine ends with.
//
// Peak memory is not offered: hyperfine reads a maximum over all its children that
// never goes down, and that its own memory is part of. The adapter command has it.
package hyperfine

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/harness/cmdline"
	"writ/internal/harness/programs"
	"writ/internal/order"
	"writ/internal/result"
)

// Name is the adapter name in orders, and that of the program.
const Name = "hyperfine"

// Members of suites[].parameters, beside those of package cmdline.
const (
	// ParamShell is the shell that commands run in: "none", the default, or
	// "default", or a program. With one, hyperfine takes off what it thinks that the
	// shell needs, and times may come out as zero, which is no time.
	ParamShell = "shell"
	// ParamProgram names hyperfine itself: a name that is searched for, or an
	// absolute path.
	ParamProgram = "hyperfine"
)

// noShell is the value of ParamShell for no shell at all.
const noShell = "none"

// Adapter is the harness. Path is the search path for programs where an order has
// none; "" is that of this process.
type Adapter struct{ Path string }

var (
	_ harness.Harness = Adapter{}
	_ harness.Prober  = Adapter{}
)

// Capabilities implements harness.Harness.
func (Adapter) Capabilities() order.Capabilities {
	return order.Capabilities{
		Adapter:        Name,
		Targets:        []string{order.BuildTree, order.WorkingTree},
		Quantities:     []string{"cpu-system-time", "cpu-user-time", "wall-time"},
		Levels:         []string{order.PlainUnit},
		Bare:           true,
		Warmup:         []string{order.None, order.Count},
		Parameters:     []string{cmdline.ParamArgv, cmdline.ParamCases, cmdline.ParamExit, ParamShell, ParamProgram},
		Variables:      true,
		CasePerProcess: true,
	}
}

// Producer implements harness.Harness.
func (Adapter) Producer() result.Producer {
	return result.Producer{Name: "writ/hyperfine-adapter", Version: "0.1.0", MappingVersion: "hyperfine-to-benchx/v1"}
}

// Defaults implements harness.Harness: as many runs as hyperfine makes at least.
func (Adapter) Defaults() order.Precision {
	return order.Precision{Repetitions: order.Times(10), Warmup: &order.Warmup{Mode: order.None}}
}

// Environment implements harness.Harness.
func (Adapter) Environment() []string {
	return []string{"LC_ALL", "LD_LIBRARY_PATH", "LD_PRELOAD", "MALLOC_ARENA_MAX", "OMP_NUM_THREADS"}
}

// Traits of a suite, beside those of package cmdline.
const traitShell = "shell"

// Locate implements harness.Harness.
func (a Adapter) Locate(o order.Order, s order.Suite) (harness.Suite, error) {
	const op, parameters = "locate suite", "/suites/0/parameters/"
	out, err := cmdline.Locate(Name, o, s, a.Path)
	if err != nil {
		return out, err
	}
	for name := range o.EnvironmentVariables {
		if strings.HasPrefix(name, "HYPERFINE_") {
			return out, fault.New(fault.Refused, op, "hyperfine sets %s itself", name).At("/environment_variables/" + name)
		}
	}
	shell, program := noShell, Name
	for name, to := range map[string]*string{ParamShell: &shell, ParamProgram: &program} {
		if v, given := s.Parameters.Get(name); given {
			text, isText := v.String()
			if !isText || text == "" || strings.HasPrefix(text, "-") || strings.ContainsRune(text, 0) {
				return out, fault.New(fault.Refused, op, "%s is no program", v.Canonical()).At(parameters + name)
			}
			*to = text
		}
	}
	path, ok := programs.Look(program, programs.SearchPath(o, a.Path))
	if !ok {
		e := fault.New(fault.Target, op, "no such program: %s", program).At("/suites/0/adapter")
		return out, e.Help("install hyperfine, or name it in suites[].parameters.%s", ParamProgram)
	}
	out.Program, out.Shared = path, true
	out.Traits[traitShell] = shell
	out.Protocol = map[string]canon.Value{"timer": canon.StringOf("hyperfine"), "shell": canon.StringOf(filepath.Base(shell)), "calibration": cmdline.Calibration()}
	return out, nil
}

// Probes implements harness.Prober.
func (Adapter) Probes(s harness.Suite) []harness.Invocation {
	return []harness.Invocation{{Argv: []string{s.Program, "--version"}, Dir: s.Dir}}
}

// oldest is the first version that can do without a shell and writes the exit
// status of each repetition.
var oldest = [2]int{1, 13}

// Settle implements harness.Prober.
func (Adapter) Settle(s harness.Suite, told []harness.Output) (harness.Suite, error) {
	const op = "probe suite"
	if len(told) != 1 {
		return s, fault.New(fault.Internal, op, "%d probes", len(told))
	}
	out := told[0]
	version, ok := strings.CutPrefix(strings.TrimSpace(string(out.Stdout)), Name+" ")
	numbers, known := parts(version)
	switch {
	case !out.Result.OK() || !ok || !known:
		return s, fault.New(fault.Target, op, "%s is no hyperfine: asked for its version, it %s", s.Program, out.End()).At("/suites/0/adapter")
	case slices.Compare(numbers[:], oldest[:]) < 0:
		return s, fault.New(fault.Target, op, "hyperfine %s does not write the exit status of each repetition", version).At("/suites/0/adapter").
			Help("install %d.%d or newer", oldest[0], oldest[1])
	}
	s.Version = version
	return s, nil
}

// parts are the first two numbers of a version.
func parts(version string) (out [2]int, ok bool) {
	fields := strings.Split(version, ".")
	if len(fields) < 2 || strings.ContainsAny(version, " \n") {
		return out, false
	}
	for i := range out {
		n, err := strconv.Atoi(fields[i])
		if err != nil || n < 0 {
			return out, false
		}
		out[i] = n
	}
	return out, true
}

// Listing implements harness.Harness: the order has the cases.
func (Adapter) Listing(harness.Suite) []harness.Invocation { return nil }

// Cases implements harness.Harness.
func (Adapter) Cases(s harness.Suite, _ []harness.Output) ([]order.Case, error) {
	return cmdline.Cases(s), nil
}

const nativeFile = "hyperfine.json"

// Invocation implements harness.Harness. Repetitions that fail do not end the rest:
// what became of each is in the file.
func (a Adapter) Invocation(s harness.Suite, name string, p order.Precision) (harness.Invocation, error) {
	set, err := cmdline.Settle(Name, a.Defaults(), p)
	if err != nil {
		return harness.Invocation{}, err
	}
	c, err := cmdline.Of(s, name)
	if err != nil {
		return harness.Invocation{}, err
	}
	return harness.Invocation{
		Argv: []string{
			s.Program, "--shell=" + s.Traits[traitShell], "--runs=" + strconv.Itoa(set.Repetitions), "--warmup=" + strconv.Itoa(set.Warmups),
			"--ignore-failure", "--style=none", "--export-json=" + harness.InExchange(nativeFile), "--command-name=" + name, "--",
			cmdline.Quote(append([]string{c.Program}, c.Argv[1:]...)),
		},
		Dir:     s.Dir,
		Outputs: []harness.File{{Name: nativeFile, Kind: result.ArtifactNative, MediaType: "application/json"}},
	}, nil
}
