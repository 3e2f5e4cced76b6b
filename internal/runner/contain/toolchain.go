package contain

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// toolchain is the Go installation that programs inside use.
type toolchain struct {
	program string // the go command, or ""
	root    string // GOROOT, or ""
}

// findToolchain looks for go without running it: the command lies in bin of its
// own root.
func findToolchain(p Params) toolchain {
	program := p.Go
	if program == "" {
		found, err := exec.LookPath("go")
		if err != nil {
			return toolchain{}
		}
		program = found
	}
	program, err := filepath.Abs(program)
	if err != nil {
		return toolchain{}
	}
	if real, err := filepath.EvalSymlinks(program); err == nil {
		program = real
	}
	return toolchain{program, filepath.Dir(filepath.Dir(program))}
}

// GoProgram returns the go command for programs inside, "" when there is none.
func (e *Environment) GoProgram() string { return e.tools.program }

// Environ is the whole environment of programs inside: no variable of the host's
// gets in, so no credential does. Go works offline, from modules that are there,
// and changes neither go.mod nor go.sum; paths and revisions stay out of what it
// builds, so that equal sources give equal files.
func (e *Environment) Environ() []string {
	path := []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}
	if e.tools.program != "" {
		path = append([]string{filepath.Dir(e.tools.program)}, path...)
	}
	proxy := "off"
	if e.params.ModCache != "" {
		proxy = "file://" + filepath.ToSlash(filepath.Join(e.params.ModCache, "cache", "download"))
	}
	env := []string{
		"PATH=" + strings.Join(path, string(os.PathListSeparator)),
		"HOME=" + e.area("home"),
		"TMPDIR=" + e.area("tmp"),
		"LC_ALL=C",
		"TZ=UTC",
		"GIT_CONFIG_NOSYSTEM=1",
		"CGO_ENABLED=0",
		"GOENV=off",
		"GOTOOLCHAIN=local",
		"GOPROXY=" + proxy,
		"GOSUMDB=off",
		"GONOSUMDB=*",
		"GOTELEMETRY=off",
		"GOWORK=off",
		"GOFLAGS=-trimpath -buildvcs=false -modcacherw",
		"GOPATH=" + e.area("gopath"),
		"GOCACHE=" + e.area("gocache"),
		"GOMODCACHE=" + e.area("gomodcache"),
	}
	slices.Sort(env)
	return env
}
