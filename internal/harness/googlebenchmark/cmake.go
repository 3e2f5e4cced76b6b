package googlebenchmark

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"writ/internal/fault"
)

const maxCache = 8 << 20 // bytes of a CMake cache

// entry is one line of a CMake cache.
type entry struct{ kind, value string }

// cache is what a build directory says about itself; nil when CMake did not make
// it.
type cache struct {
	entries  map[string]entry
	compiler string
}

// readCache reads the cache of a build directory. Not having one is no error.
func readCache(build string) (cache, error) {
	path := filepath.Join(build, "CMakeCache.txt")
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return cache{}, nil
	}
	var text []byte
	if err == nil && info.Size() <= maxCache {
		text, err = os.ReadFile(path)
	}
	if err != nil || info.Size() > maxCache {
		return cache{}, fault.Wrap(err, fault.Target, "locate suite", "cannot read %s", path).At("/target/path")
	}
	c := cache{entries: map[string]entry{}}
	for line := range strings.Lines(string(text)) {
		key, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), "=")
		name, kind, typed := strings.Cut(key, ":")
		if ok && typed && name != "" && name[0] != '#' && !strings.HasPrefix(name, "//") {
			c.entries[name] = entry{kind, value}
		}
	}
	c.compiler = compilerOf(build)
	return c, nil
}

var compilerSetting = regexp.MustCompile(`(?m)^set\(CMAKE_CXX_COMPILER_(ID|VERSION) "([^"]*)"\)`)

// compilerOf is "ID VERSION" of the compiler that CMake found, or "".
func compilerOf(build string) string {
	files, err := filepath.Glob(filepath.Join(build, "CMakeFiles", "*", "CMakeCXXCompiler.cmake"))
	if err != nil || len(files) != 1 {
		return ""
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		return ""
	}
	found := map[string]string{}
	for _, m := range compilerSetting.FindAllStringSubmatch(string(text), -1) {
		found[m[1]] = m[2]
	}
	return strings.TrimSpace(found["ID"] + " " + found["VERSION"])
}

// source is the directory that was configured, or "".
func (c cache) source() string { return c.entries["CMAKE_HOME_DIRECTORY"].value }

// configuration is how the build was set up. Paths are left out, so that equal
// builds in different places are described alike.
func (c cache) configuration() map[string]string {
	out := map[string]string{}
	for name, value := range map[string]string{
		"build_type": c.entries["CMAKE_BUILD_TYPE"].value, "cxx_flags": c.entries["CMAKE_CXX_FLAGS"].value, "cxx_compiler": c.compiler,
	} {
		if value = strings.TrimSpace(value); value != "" {
			out[name] = value
		}
	}
	project := c.entries["CMAKE_PROJECT_NAME"].value
	if project != "" {
		prefix := strings.Map(func(r rune) rune {
			if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
				return r
			}
			return '_'
		}, strings.ToUpper(project)) + "_"
		for name, e := range c.entries {
			if strings.HasPrefix(name, prefix) && (e.kind == "BOOL" || e.kind == "STRING") && !strings.Contains(e.value, "/") {
				out["options."+name] = e.value
			}
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
