package python

import (
	_ "embed"
	"maps"
	"slices"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
)

//go:embed probe.py
var probe []byte

const (
	probeScript = "probe.py"
	probeFile   = "python.json"
)

// Probe is the program that tells what the interpreter of a suite is, and whether
// it can import modules.
func Probe(s harness.Suite, modules ...string) harness.Invocation {
	return harness.Invocation{
		Argv: append([]string{s.Program, harness.InExchange(probeScript), harness.InExchange(probeFile)}, modules...),
		Dir:  s.Dir, Variables: Quiet(),
		Inputs:  []harness.File{{Name: probeScript, MediaType: "text/x-python", Bytes: probe}},
		Outputs: []harness.File{{Name: probeFile, MediaType: "application/json"}},
	}
}

// told is what the script writes.
type told struct {
	Python         string            `json:"python"`
	Implementation string            `json:"implementation"`
	Compiler       string            `json:"compiler"`
	CFlags         string            `json:"cflags"`
	Modules        map[string]string `json:"modules"`
	Missing        map[string]string `json:"missing"`
}

// Settle adds what Probe was told to a suite, and returns the versions of the
// modules. A module that cannot be imported, and an interpreter that does not
// answer, are fault.Target.
func Settle(s harness.Suite, out harness.Output) (harness.Suite, map[string]string, error) {
	const op = "probe interpreter"
	failed := func(format string, args ...any) error {
		return fault.New(fault.Target, op, format, args...).At("/suites/0/suite")
	}
	b, written := out.Files[probeFile]
	if !written || !out.Result.OK() {
		return s, nil, failed("%s %s: %s", s.Program, out.End(), out.LastWords())
	}
	v, err := canon.Parse(b)
	if err != nil {
		return s, nil, fault.Wrap(err, fault.Target, op, "%s tells nothing that can be read", s.Program).At("/suites/0/suite")
	}
	var t told
	if err := v.Decode(&t); err != nil {
		return s, nil, fault.Wrap(err, fault.Target, op, "%s tells nothing that can be read", s.Program).At("/suites/0/suite")
	}
	for _, name := range slices.Sorted(maps.Keys(t.Missing)) {
		return s, nil, failed("%s is not importable by %s: %s", name, s.Program, harness.Clip(t.Missing[name]))
	}
	s.Runtime = map[string]string{}
	for name, value := range map[string]string{
		"python": t.Python, "implementation": t.Implementation, "compiler": t.Compiler, "cflags": t.CFlags,
	} {
		if value != "" {
			s.Runtime[name] = value
		}
	}
	return s, t.Modules, nil
}

// Answer is Settle for an adapter with one probe, whose harness is a module: its
// version is that of the suite.
func Answer(s harness.Suite, told []harness.Output, module string) (harness.Suite, map[string]string, error) {
	if len(told) != 1 {
		return s, nil, fault.New(fault.Internal, "probe suite", "%d probes", len(told))
	}
	s, versions, err := Settle(s, told[0])
	if err == nil {
		s.Version = versions[module]
	}
	return s, versions, err
}
