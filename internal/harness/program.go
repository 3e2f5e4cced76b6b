package harness

import (
	"debug/elf"
	"slices"
	"strings"
)

// system are the libraries that belong to the machine, not to the subject, by the
// beginnings of their names.
var system = []string{
	"ld-linux", "libbenchmark.so", "libbenchmark_main.so", "libc.so", "libc++", "libdl.so", "libgcc_s.so", "libgomp.so", "libm.so", "libpfm.so", "libpthread.so", "librt.so", "libstdc++.so",
}

// LoadsMore reports whether a program may run code of the subject that is not in
// its own file: it loads other libraries than the machine's, or it is a script.
func LoadsMore(path string) bool {
	f, err := elf.Open(path)
	if err != nil {
		return true
	}
	defer f.Close()
	libraries, err := f.ImportedLibraries()
	return err != nil || slices.ContainsFunc(libraries, func(name string) bool {
		return !slices.ContainsFunc(system, func(s string) bool { return strings.HasPrefix(name, s) })
	})
}
