package cmdline

import (
	"os"
	"path/filepath"
	"strings"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/order"
)

// find looks for a program: a path from the working directory or the root, or a
// name in the folders of the search path that are absolute.
func find(name, dir, search string) (string, bool) {
	if strings.ContainsRune(name, '/') {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return name, executable(name)
	}
	return LookPath(name, search)
}

// LookPath searches for a program by its name, in the folders of the search path
// that are absolute, or takes an absolute path.
func LookPath(name, search string) (string, bool) {
	if filepath.IsAbs(name) {
		return name, executable(name)
	}
	if strings.ContainsRune(name, '/') {
		return "", false
	}
	for _, d := range filepath.SplitList(search) {
		if path := filepath.Join(d, name); filepath.IsAbs(d) && executable(path) {
			return path, true
		}
	}
	return "", false
}

// SearchPath is where programs of an order are searched for: its own PATH, or
// else search, or else the PATH of this process.
func SearchPath(o order.Order, search string) string {
	if ordered, given := o.EnvironmentVariables["PATH"]; given {
		return ordered
	}
	return harness.FirstOf(search, os.Getenv("PATH"))
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

func same(a, b string) bool {
	x, err := os.Stat(a)
	y, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(x, y)
}

// File is the path of a file below a folder that a parameter names.
func File(dir string, v canon.Value) (string, error) {
	name, isText := v.String()
	if !isText || !filepath.IsLocal(name) {
		return "", fault.New(fault.OutsidePath, op, "%s is no path of a file below the working directory", v.Canonical())
	}
	path := filepath.Join(dir, name)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "", fault.Wrap(err, fault.Target, op, "no such file: %s", path)
	}
	return path, nil
}
