// Package programs finds interpreters and other programs that run a suite.
//
// Invariants: what is found is what the environment of the benchmarks would start,
// never what this program prefers, and never anything of the working directory.
//
// The package starts nothing.
package programs

import (
	"os"
	"path/filepath"
	"strings"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/order"
)

// Find returns the program that a parameter of the suite names, by a name or an
// absolute path, or else the first of names on the search path of the cases: the
// order's own PATH, else search, else that of this process. fault.Target when there
// is none.
func Find(o order.Order, s order.Suite, parameter, search string, names ...string) (string, error) {
	const op = "locate suite"
	if v, given := s.Parameters.Get(parameter); given {
		name, ok := v.String()
		if !ok || name == "" {
			return "", fault.New(fault.Refused, op, "the interpreter is a name or a path").At("/suites/0/parameters/" + parameter)
		}
		names = []string{name}
	}
	search = SearchPath(o, search)
	for _, name := range names {
		if path, ok := Look(name, search); ok {
			return path, nil
		}
	}
	return "", fault.New(fault.Target, op, "no interpreter: %s", strings.Join(names, ", ")).At("/suites/0/suite").
		Help("put one in PATH, or name it in suites[].parameters.%s", parameter)
}

// SearchPath is where programs of an order are searched for: its own PATH, or
// else search, or else the PATH of this process.
func SearchPath(o order.Order, search string) string {
	if ordered, given := o.EnvironmentVariables["PATH"]; given {
		return ordered
	}
	return harness.FirstOf(search, os.Getenv("PATH"))
}

// Look searches for a program as execvp does, but never in the working directory.
// Links stay as they are: an interpreter of a virtual environment is one.
func Look(name, search string) (string, bool) {
	if filepath.IsAbs(name) {
		return name, Executable(name)
	}
	if strings.ContainsRune(name, '/') {
		return "", false
	}
	for _, dir := range filepath.SplitList(search) {
		if path := filepath.Join(dir, name); filepath.IsAbs(dir) && Executable(path) {
			return path, true
		}
	}
	return "", false
}

// Executable reports whether path is an ordinary file that may be executed.
func Executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// Refuse refuses orders that set variables with one of the prefixes: the harness
// would take them for settings.
func Refuse(adapter string, o order.Order, prefixes ...string) error {
	for name := range o.EnvironmentVariables {
		for _, p := range prefixes {
			if strings.HasPrefix(name, p) {
				return fault.New(fault.Refused, "locate suite", "%s takes %s for a setting", adapter, name).
					At("/environment_variables/" + name).Help("say it in precision or parameters")
			}
		}
	}
	return nil
}

// Tree places a suite that is a file or folder below the target's path: Dir is the
// target's path, Program is left to the caller, and path is where the suite is.
func Tree(adapter string, o order.Order, s order.Suite) (out harness.Suite, path string, err error) {
	const op = "locate suite"
	if !filepath.IsLocal(s.Suite) {
		return out, "", fault.New(fault.OutsidePath, op, "%q leaves the tree", s.Suite).At("/suites/0/suite")
	}
	root, err := filepath.Abs(o.Target.Path)
	if err != nil {
		return out, "", fault.Wrap(err, fault.Target, op, "no working directory")
	}
	out = harness.Suite{
		Adapter: adapter, Dir: root, SourceDir: o.Target.SourceDir, Filter: s.Filter, Traits: map[string]string{}, Shared: true,
		Protocol: map[string]canon.Value{},
	}
	if out.SourceDir == "" && o.Target.Kind == order.WorkingTree {
		out.SourceDir = root
	}
	return out, filepath.Join(root, s.Suite), nil
}

// Missing is the refusal of a suite that is not at path.
func Missing(err error, path string) error {
	return fault.Wrap(err, fault.Target, "locate suite", "suite not found: %s", path).At("/suites/0/suite")
}
