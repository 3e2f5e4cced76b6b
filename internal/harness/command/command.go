// Package command adapts any program: a case is a command line, and this program
// itself times it.
//
// Invariants: a case is a list of arguments, and no shell is added; all
// repetitions of a case are done by one small process, see package repeat, so that
// what is counted is the program's own and nothing inherited; one execution is one
// repetition, and there is nothing to calibrate; what this machine cannot count is
// refused before anything runs, not left out.
//
// The package computes nothing from the values.
package command

import (
	"maps"
	"slices"
	"strconv"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/harness/cmdline"
	"writ/internal/harness/command/repeat"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/runner/proc"
)

// Name is the adapter name in orders.
const Name = "command"

// Members of suites[].parameters, beside those of package cmdline.
const (
	// ParamInput is a file below the working directory that is standard input,
	// from its beginning in each repetition. Default: nothing to read.
	ParamInput = "input"
	// ParamOutput says what becomes of output: "discard", the default, or "keep", in
	// files of a limited size beside the results.
	ParamOutput = "output"
)

// What becomes of output.
const (
	Discard = "discard"
	Keep    = "keep"
)

// Adapter is the harness. Path is the search path for programs where an order has
// none; "" is that of this process.
type Adapter struct{ Path string }

var (
	_ harness.Harness = Adapter{}
	_ harness.Prober  = Adapter{}
)

// instructions is the quantity that takes a counter of the processor.
const instructions = "instructions"

// Capabilities implements harness.Harness.
func (Adapter) Capabilities() order.Capabilities {
	return order.Capabilities{
		Adapter:        Name,
		Targets:        []string{order.BuildTree, order.WorkingTree},
		Quantities:     slices.Sorted(maps.Keys(natives)),
		Levels:         []string{order.PlainUnit},
		Bare:           true,
		Warmup:         []string{order.None, order.Count},
		Parameters:     []string{cmdline.ParamArgv, cmdline.ParamCases, cmdline.ParamExit, ParamInput, ParamOutput},
		Variables:      true,
		CasePerProcess: true,
	}
}

// Producer implements harness.Harness.
func (Adapter) Producer() result.Producer {
	return result.Producer{Name: "writ/command-adapter", Version: "0.1.0", MappingVersion: "command-to-benchx/v1"}
}

// Defaults implements harness.Harness.
func (Adapter) Defaults() order.Precision {
	return order.Precision{Repetitions: order.Times(10), Warmup: &order.Warmup{Mode: order.None}}
}

// Environment implements harness.Harness: what changes how programs are loaded
// and how they take memory.
func (Adapter) Environment() []string {
	return []string{"GOGC", "GOMAXPROCS", "GOMEMLIMIT", "LC_ALL", "LD_LIBRARY_PATH", "LD_PRELOAD", "MALLOC_ARENA_MAX", "OMP_NUM_THREADS"}
}

// Traits of a suite, beside those of package cmdline.
const (
	traitInput   = "input"
	traitOutput  = "output"
	traitCounted = "counted" // index of the quantity that takes a counter; absent when none does
)

// Locate implements harness.Harness.
func (a Adapter) Locate(o order.Order, s order.Suite) (harness.Suite, error) {
	out, err := cmdline.Locate(Name, o, s, a.Path)
	if err != nil {
		return out, err
	}
	out.Version = "1" // of how time is taken; another way is another version
	out.Protocol = map[string]canon.Value{"timer": canon.StringOf("runner:monotonic"), "shell": canon.StringOf("none"), "calibration": cmdline.Calibration()}
	if i := slices.Index(o.Quantities, instructions); i >= 0 {
		out.Traits[traitCounted] = strconv.Itoa(i)
		out.Protocol["counters"] = canon.StringOf("user")
	}
	return out, streams(&out, s)
}

// streams settles what the programs read and where they write.
func streams(out *harness.Suite, s order.Suite) error {
	const op, parameters = "locate suite", "/suites/0/parameters/"
	out.Traits[traitOutput] = Discard
	if v, given := s.Parameters.Get(ParamOutput); given {
		text, _ := v.String()
		if text != Discard && text != Keep {
			return fault.New(fault.Refused, op, "output is %q or %q, not %s", Discard, Keep, v.Canonical()).At(parameters + ParamOutput)
		}
		out.Traits[traitOutput] = text
	}
	out.Protocol["output"] = canon.StringOf(out.Traits[traitOutput])
	v, given := s.Parameters.Get(ParamInput)
	if !given {
		return nil
	}
	path, err := cmdline.File(out.Dir, v)
	if err != nil {
		e, _ := fault.As(err)
		return e.At(parameters + ParamInput)
	}
	out.Traits[traitInput] = path
	return nil
}

// Probes implements harness.Prober: only an order that counts asks.
func (Adapter) Probes(s harness.Suite) []harness.Invocation {
	if _, counts := s.Traits[traitCounted]; !counts {
		return nil
	}
	return []harness.Invocation{{
		Argv: []string{proc.Self, repeat.Name, harness.InExchange(countersFile)}, Dir: s.Dir,
		Outputs: []harness.File{{Name: countersFile, Kind: result.ArtifactNative, MediaType: "application/json"}},
	}}
}

// Settle implements harness.Prober.
func (Adapter) Settle(s harness.Suite, told []harness.Output) (harness.Suite, error) {
	const op = "probe suite"
	index, counts := s.Traits[traitCounted]
	if !counts {
		return s, nil
	}
	if len(told) != 1 {
		return s, fault.New(fault.Internal, op, "%d probes", len(told))
	}
	out := told[0]
	c, err := repeat.ParseCounters(out.Files[countersFile])
	if err != nil {
		return s, fault.Wrap(err, fault.Harness, op, "the probe of counters %s: %s", out.End(), out.LastWords())
	}
	if !c.Instructions {
		return s, fault.New(fault.Refused, op, "%s cannot be counted here: %s", instructions, c.Why).At("/quantities/" + index).
			Help("leave the quantity out, allow counters (kernel.perf_event_paranoid at most 2), or measure on a machine that has them")
	}
	return s, nil
}

// Listing implements harness.Harness: the order has the cases.
func (Adapter) Listing(harness.Suite) []harness.Invocation { return nil }

// Cases implements harness.Harness.
func (Adapter) Cases(s harness.Suite, _ []harness.Output) ([]order.Case, error) {
	return cmdline.Cases(s), nil
}

// Files of the exchange directory.
const (
	planFile     = "plan.json"
	samplesFile  = "samples.json"
	countersFile = "counters.json"
)

// Invocation implements harness.Harness.
func (a Adapter) Invocation(s harness.Suite, name string, p order.Precision) (harness.Invocation, error) {
	set, err := cmdline.Settle(Name, a.Defaults(), p)
	if err != nil {
		return harness.Invocation{}, err
	}
	c, err := cmdline.Of(s, name)
	if err != nil {
		return harness.Invocation{}, err
	}
	_, counts := s.Traits[traitCounted]
	plan, err := repeat.Plan{
		Program: c.Program, Argv: c.Argv, Input: s.Traits[traitInput], Keep: s.Traits[traitOutput] == Keep,
		Warmups: set.Warmups, Repetitions: set.Repetitions, Expected: cmdline.Expected(s), Instructions: counts,
	}.Encode()
	if err != nil {
		return harness.Invocation{}, err
	}
	return harness.Invocation{
		Argv: []string{proc.Self, repeat.Name, harness.InExchange(planFile), harness.InExchange(samplesFile)}, Dir: s.Dir,
		Inputs:  []harness.File{{Name: planFile, Bytes: plan}},
		Outputs: []harness.File{{Name: samplesFile, Kind: result.ArtifactNative, MediaType: "application/json"}},
	}, nil
}
