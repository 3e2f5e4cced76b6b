package cmdline

import (
	"os"
	"path/filepath"
	"strings"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness/programs"
)

// find looks for a program: a path from the working directory or the root, or a
// name in the folders of the search path that are absolute.
func find(name, dir, search string) (string, bool) {
	if strings.ContainsRune(name, '/') {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return name, programs.Executable(name)
	}
	return programs.Look(name, search)
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
