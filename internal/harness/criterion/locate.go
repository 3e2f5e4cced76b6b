package criterion

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/harness/programs"
	"writ/internal/order"
)

// Locate implements harness.Harness. The suite is a program below the target's path,
// with or without the hash that cargo puts behind its name.
func (Adapter) Locate(o order.Order, s order.Suite) (harness.Suite, error) {
	if err := programs.Refuse(Name, o, "CRITERION_", "CARGO_CRITERION_"); err != nil {
		return harness.Suite{}, err
	}
	out, path, err := programs.Tree(Name, o, s)
	if err != nil {
		return out, err
	}
	out.Program, err = program(path)
	return out, err
}

// hash is what cargo puts behind the name of a program.
var hash = regexp.MustCompile(`^-[0-9a-f]{16}$`)

// program finds the file of a suite.
func program(path string) (string, error) {
	if programs.Executable(path) {
		return path, nil
	}
	dir, name := filepath.Split(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", programs.Missing(err, path)
	}
	var found []string
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), name)
		if ok && hash.MatchString(rest) && programs.Executable(filepath.Join(dir, e.Name())) {
			found = append(found, e.Name())
		}
	}
	switch len(found) {
	case 1:
		return filepath.Join(dir, found[0]), nil
	case 0:
		return "", programs.Missing(fs.ErrNotExist, path)
	}
	return "", fault.New(fault.Target, "locate suite", "%d programs are called so: %s", len(found), strings.Join(found, ", ")).At("/suites/0/suite").
		Help("name one with its hash, or build into an empty folder")
}

// Probes implements harness.Prober: the help lists the flags of the version that the
// program is built with.
func (Adapter) Probes(s harness.Suite) []harness.Invocation {
	return []harness.Invocation{{Argv: []string{s.Program, "--help"}, Dir: s.Dir, Variables: variables()}}
}

var flagName = regexp.MustCompile(`--([a-z][a-z-]+)`)

// Settle implements harness.Prober. The version is a range: the library tells none.
func (Adapter) Settle(s harness.Suite, told []harness.Output) (harness.Suite, error) {
	const op = "probe suite"
	if len(told) != 1 {
		return s, fault.New(fault.Internal, op, "%d probes", len(told))
	}
	out := told[0]
	flags := map[string]bool{}
	for _, m := range flagName.FindAllStringSubmatch(string(out.Stdout), -1) {
		flags[m[1]] = true
	}
	if !flags["sample-size"] || !flags["measurement-time"] || !flags["noplot"] {
		return s, fault.New(fault.Target, op, "no Criterion.rs program: its help names no flags of the library, it %s", out.End()).At("/suites/0/suite").
			Help("set harness = false for the benchmark in Cargo.toml, and name its own program: those of the library and of tests have the built-in harness")
	}
	var names []string
	for _, f := range []string{"exact", "format", "quick"} {
		if flags[f] {
			names = append(names, f)
		}
	}
	switch s.Version = "0.3"; {
	case slices.Contains(names, "exact"):
		s.Version = "0.5+"
	case slices.Contains(names, "quick"):
		s.Version = "0.4+"
	}
	s.Traits = map[string]string{traitFlags: strings.Join(names, " ")}
	return s, nil
}

// Listing implements harness.Harness. Without --bench every benchmark would be run
// once.
func (Adapter) Listing(s harness.Suite) []harness.Invocation {
	argv := []string{s.Program, "--bench", "--list"}
	if knows(s, "format") {
		argv = append(argv, "--format", "terse")
	}
	if s.Filter != "" {
		argv = append(argv, "--", s.Filter)
	}
	return []harness.Invocation{{Argv: argv, Dir: s.Dir, Variables: variables()}}
}

// Cases implements harness.Harness. A line is the id and what it is; old versions
// print advice and empty lines between.
func (Adapter) Cases(s harness.Suite, listed []harness.Output) ([]order.Case, error) {
	const op = "list benchmarks"
	if len(listed) != 1 {
		return nil, fault.New(fault.Internal, op, "%d listings", len(listed))
	}
	out := listed[0]
	if !out.Result.OK() {
		return nil, fault.New(fault.Harness, op, "the benchmarks are not listed: the program %s: %s", out.End(), out.LastWords()).
			Help("run it by hand with --bench --list")
	}
	var cases []order.Case
	for line := range strings.Lines(string(out.Stdout)) {
		line = strings.TrimRight(line, "\r\n")
		name, found := strings.CutSuffix(line, ": benchmark")
		if !found {
			name, found = strings.CutSuffix(line, ": bench")
		}
		if found && !isName(name) {
			return nil, fault.New(fault.Harness, op, "%q is no benchmark's id", harness.Clip(name))
		}
		if found {
			cases = append(cases, order.Case{Name: name, From: s.Filter})
		}
	}
	return cases, nil
}
