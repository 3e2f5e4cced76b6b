package pyperf

import (
	_ "embed"
	"regexp"
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

//go:embed list.py
var lister []byte

//go:embed driver.py
var driver string

// Files of the exchange directory.
const (
	listScript   = "list.py"
	listFile     = "cases.json"
	driverScript = "driver.py"
	nativeFile   = "pyperf.json"
	startFile    = "environment.json"        // digest of the first process's environment
	workerFile   = "worker-environment.json" // what a worker found of the recorded variables
)

// Listing implements harness.Harness.
func (Adapter) Listing(s harness.Suite) []harness.Invocation {
	argv := []string{s.Program, harness.InExchange(listScript), harness.InExchange(listFile), s.Traits[traitModule]}
	if s.Filter != "" {
		argv = append(argv, s.Filter)
	}
	return []harness.Invocation{{
		Argv: argv, Dir: s.Dir, Variables: python.Quiet(),
		Inputs:  []harness.File{{Name: listScript, MediaType: "text/x-python", Bytes: lister}},
		Outputs: []harness.File{{Name: listFile, MediaType: "application/json"}},
	}}
}

// Cases implements harness.Harness.
func (Adapter) Cases(s harness.Suite, listed []harness.Output) ([]order.Case, error) {
	const op = "list functions"
	if len(listed) != 1 {
		return nil, fault.New(fault.Internal, op, "%d listings", len(listed))
	}
	out := listed[0]
	failed := func(what string) error {
		return fault.New(fault.Harness, op, "%s %s: the listing %s: %s", what, s.Traits[traitModule], out.End(), exceptionIn(out)).
			Help("import the module by hand, from the target's path")
	}
	if !out.Result.OK() {
		return nil, failed("cannot import")
	}
	v, err := canon.Parse(out.Files[listFile])
	if err != nil {
		return nil, failed("cannot list")
	}
	var list struct {
		Cases []string `json:"cases"`
	}
	if err := v.Decode(&list); err != nil {
		return nil, failed("cannot list")
	}
	var cases []order.Case
	for _, name := range list.Cases {
		if !isIdentifier(name) {
			return nil, fault.New(fault.Harness, op, "%q is no function's name that can be measured", harness.Clip(name))
		}
		cases = append(cases, order.Case{Name: name, From: s.Filter})
	}
	return cases, nil
}

// Invocation implements harness.Harness.
func (a Adapter) Invocation(s harness.Suite, name string, p order.Precision) (harness.Invocation, error) {
	if !isIdentifier(name) {
		return harness.Invocation{}, fault.New(fault.Refused, "plan function", "%q is no function's name", harness.Clip(name)).At("/plan")
	}
	set, err := a.settle(p)
	if err != nil {
		return harness.Invocation{}, err
	}
	argv := []string{
		s.Program, harness.InExchange(driverScript), "--copy-env", "--processes", strconv.Itoa(set.processes),
		"--values", strconv.Itoa(set.values), "--warmups", strconv.Itoa(set.warmups),
	}
	if set.loops > 0 {
		argv = append(argv, "--loops", strconv.Itoa(set.loops))
	} else {
		argv = append(argv, "--min-time", strconv.FormatFloat(set.minTime, 'f', -1, 64))
	}
	return harness.Invocation{
		Argv: append(argv, "--output", harness.InExchange(nativeFile)), Dir: s.Dir, Variables: python.Quiet(),
		Inputs: []harness.File{{Name: driverScript, Kind: "driver", MediaType: "text/x-python", Bytes: generate(s, name)}},
		Outputs: []harness.File{
			{Name: nativeFile, Kind: result.ArtifactNative, MediaType: "application/json"},
			{Name: startFile, Kind: "environment-digest", MediaType: "application/json"},
			{Name: workerFile, Kind: "worker-environment", MediaType: "application/json"},
		},
	}, nil
}

// generate writes the program that measures a function. What it is told are JSON
// literals, which are Python literals too.
func generate(s harness.Suite, name string) []byte {
	names := slices.Concat(recorded, strings.Fields(s.Traits[traitOrdered]))
	slices.Sort(names)
	constants := []string{}
	for _, v := range []any{s.Traits[traitModule], name, slices.Compact(names)} {
		constants = append(constants, string(canon.MustFrom(v).Canonical()))
	}
	const blank = "MODULE, FUNCTION, RECORDED = None, None, None  # set by the generator"
	return []byte(strings.Replace(driver, blank, "MODULE, FUNCTION, RECORDED = "+strings.Join(constants, ", "), 1))
}

// wrapper is how pyperf's first process reports that a worker failed.
var wrapper = regexp.MustCompile(`^RuntimeError: .* failed with exit code -?[0-9]+$`)

// exceptionIn finds the line that says why a program or its worker failed: the
// last one at the margin that is not pyperf's own word about the worker.
func exceptionIn(out harness.Output) string {
	found, last := "", ""
	for line := range strings.Lines(string(out.Stderr)) {
		s := strings.TrimRight(line, "\r\n")
		if s == "" || s[0] == ' ' || s[0] == '\t' || strings.HasPrefix(s, "Traceback (most recent call last)") {
			continue
		}
		last = s
		if !wrapper.MatchString(s) {
			found = s
		}
	}
	return harness.Clip(harness.FirstOf(found, last, out.LastWords(), out.End()))
}
