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
	"strings"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
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
	program, err := interpreter(o, s, search)
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

// interpreter is the program that the environment of the benchmarks would start.
func interpreter(o order.Order, s order.Suite, search string) (string, error) {
	if ordered, given := o.EnvironmentVariables["PATH"]; given {
		search = ordered
	} else if search == "" {
		search = os.Getenv("PATH")
	}
	names := []string{"python", "python3"}
	if v, given := s.Parameters.Get(Param); given {
		name, ok := v.String()
		if !ok || name == "" || v.Kind() != canon.String {
			return "", fault.New(fault.Refused, op, "the interpreter is a name or a path").At("/suites/0/parameters/" + Param)
		}
		names = []string{name}
	}
	for _, name := range names {
		if path, ok := lookPath(name, search); ok {
			return path, nil
		}
	}
	return "", fault.New(fault.Target, op, "no interpreter: %s", strings.Join(names, ", ")).At("/suites/0/suite").
		Help("put one in PATH, or name it in suites[].parameters.%s", Param)
}

// lookPath searches for a program as execvp does, but never in the working
// directory. Links stay as they are: an interpreter of a virtual environment is
// one.
func lookPath(name, search string) (string, bool) {
	if filepath.IsAbs(name) {
		return name, executable(name)
	}
	if strings.ContainsRune(name, '/') {
		return "", false
	}
	for _, dir := range filepath.SplitList(search) {
		if path := filepath.Join(dir, name); filepath.IsAbs(dir) && executable(path) {
			return path, true
		}
	}
	return "", false
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// RefuseVariables refuses orders that set variables with one of the prefixes: a
// harness would take them for settings.
func RefuseVariables(adapter string, o order.Order, prefixes ...string) error {
	for name := range o.EnvironmentVariables {
		for _, p := range prefixes {
			if strings.HasPrefix(name, p) {
				return fault.New(fault.Refused, op, "%s takes %s for a setting", adapter, name).
					At("/environment_variables/" + name).Help("say it in precision or parameters")
			}
		}
	}
	return nil
}

// Quiet are variables that keep the interpreter from writing into the tree.
func Quiet() map[string]string { return map[string]string{"PYTHONDONTWRITEBYTECODE": "1"} }
