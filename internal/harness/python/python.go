// Package python finds the interpreter of benchmarks that are written in Python,
// and asks it what it is.
//
// Invariants: the interpreter is the one that the benchmark's own environment
// would start, never one that this program prefers; a suite lies inside the
// target's tree; facts come from the interpreter itself, in a file that nothing
// else writes to.
//
// The package imports no module of a subject and installs nothing.
package python

import (
	"os"
	"path/filepath"

	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/harness/programs"
	"writ/internal/order"
)

// Param is the member of suites[].parameters that names the interpreter: a name
// that is searched for, or an absolute path. Default: python, else python3.
const Param = "python"

const op = "locate suite"

// Locate finds the interpreter and the tree of a suite: Program, Dir and SourceDir
// are set, and file is the suite's path below Dir. search is the search path of
// programs where the order has none of its own; "" is that of this process.
func Locate(adapter string, o order.Order, s order.Suite, search string) (out harness.Suite, file string, err error) {
	if !filepath.IsLocal(s.Suite) {
		return out, "", fault.New(fault.OutsidePath, op, "%q leaves the tree", s.Suite).At("/suites/0/suite")
	}
	root, err := filepath.Abs(o.Target.Path)
	if err != nil {
		return out, "", fault.Wrap(err, fault.Target, op, "no working directory")
	}
	file = filepath.ToSlash(filepath.Clean(s.Suite))
	if _, err := os.Stat(filepath.Join(root, file)); err != nil {
		return out, "", fault.Wrap(err, fault.Target, op, "suite module not found: %s", filepath.Join(root, file)).At("/suites/0/suite")
	}
	program, err := programs.Find(o, s, Param, search, "python", "python3")
	if err != nil {
		return out, "", err
	}
	source := o.Target.SourceDir
	if source == "" {
		source = root
	}
	return harness.Suite{
		Adapter: adapter, Program: program, Dir: root, SourceDir: source, Filter: s.Filter, Traits: map[string]string{}, Shared: true,
	}, file, nil
}

// RefuseVariables refuses orders that set variables with one of the prefixes: a
// harness would take them for settings.
func RefuseVariables(adapter string, o order.Order, prefixes ...string) error {
	return programs.Refuse(adapter, o, prefixes...)
}

// Quiet are variables that keep the interpreter from writing into the tree.
func Quiet() map[string]string { return map[string]string{"PYTHONDONTWRITEBYTECODE": "1"} }
