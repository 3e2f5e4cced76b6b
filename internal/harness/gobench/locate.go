package gobench

import (
	"debug/buildinfo"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/order"
)

// Locate implements harness.Harness. The suite is a test binary below the
// target's path.
func (a Adapter) Locate(o order.Order, s order.Suite) (harness.Suite, error) {
	const op = "locate suite"
	if !filepath.IsLocal(s.Suite) {
		return harness.Suite{}, fault.New(fault.OutsidePath, op, "%q leaves the build directory", s.Suite).At("/suites/0/suite")
	}
	program, err := filepath.Abs(filepath.Join(o.Target.Path, s.Suite))
	if err != nil {
		return harness.Suite{}, fault.Wrap(err, fault.Target, op, "no working directory")
	}
	if info, err := os.Stat(program); err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return harness.Suite{}, fault.Wrap(err, fault.Target, op, "suite binary not found, or not executable: %s", program).
			At("/suites/0/suite").Help("build it with: go test -c -o %s PACKAGE", program)
	}
	source := o.Target.SourceDir
	if source == "" {
		source = o.Target.Path
	}
	if source, err = filepath.Abs(source); err != nil {
		return harness.Suite{}, fault.Wrap(err, fault.Target, op, "no working directory")
	}
	dir := s.Parameters.Str(ParamDir)
	if v, given := s.Parameters.Get(ParamDir); given && (v.Kind() != canon.String || dir != "" && !filepath.IsLocal(dir)) {
		return harness.Suite{}, fault.New(fault.OutsidePath, op, "the package directory must be inside the source directory").
			At("/suites/0/parameters/" + ParamDir)
	}
	work := filepath.Join(source, filepath.FromSlash(dir))
	if info, err := os.Stat(work); err != nil || !info.IsDir() {
		return harness.Suite{}, fault.Wrap(err, fault.Target, op, "package directory not found: %s", work).At("/suites/0/parameters/" + ParamDir)
	}
	processors, err := a.processors(o, s)
	if err != nil {
		return harness.Suite{}, err
	}
	out := harness.Suite{
		Adapter: Name, Program: program, Dir: work, SourceDir: o.Target.SourceDir, Filter: s.Filter,
		Protocol: protocol(processors), Processors: processors,
	}
	return out, describe(&out)
}

// processors settles -test.cpu. An order that says it twice must say the same.
func (a Adapter) processors(o order.Order, s order.Suite) (int, error) {
	n := a.Processors
	if n == 0 {
		n = runtime.GOMAXPROCS(0)
	}
	refuse := func(pointer string) error {
		return fault.New(fault.Refused, "locate suite", "the processor count must be a whole number from 1 to 65536").At(pointer)
	}
	if text, given := o.EnvironmentVariables["GOMAXPROCS"]; given {
		v, err := strconv.Atoi(text)
		if err != nil || v < 1 || v > 1<<16 {
			return 0, refuse("/environment_variables/GOMAXPROCS")
		}
		n = v
	}
	if v, given := s.Parameters.Get(ParamCPU); given {
		cpu, ok := v.Int()
		if !ok || cpu < 1 || cpu > 1<<16 {
			return 0, refuse("/suites/0/parameters/" + ParamCPU)
		}
		if _, twice := o.EnvironmentVariables["GOMAXPROCS"]; twice && int(cpu) != n {
			return 0, fault.New(fault.Refused, "locate suite", "GOMAXPROCS is %d and cpu is %d", n, cpu).At("/suites/0/parameters/" + ParamCPU)
		}
		n = int(cpu)
	}
	return max(n, 1), nil
}

// describe reads what the binary says about itself: package, Go version and
// build settings. Settings that hold paths or revisions are left out, so that
// equal builds of different commits are described alike.
func describe(s *harness.Suite) error {
	info, err := buildinfo.ReadFile(s.Program)
	if err != nil {
		return fault.Wrap(err, fault.Target, "locate suite", "%s is no Go binary", s.Program).At("/suites/0/suite")
	}
	pkg := strings.TrimSuffix(info.Path, ".test")
	if pkg == "" {
		return fault.New(fault.Target, "locate suite", "%s does not say of which package it is", s.Program).At("/suites/0/suite")
	}
	s.Label = pkg
	s.Version = info.GoVersion
	s.Runtime = map[string]string{"go": info.GoVersion}
	s.Configuration = map[string]string{}
	for _, setting := range info.Settings {
		if strings.HasPrefix(setting.Key, "vcs") || setting.Key == "-ldflags" {
			continue
		}
		s.Configuration[setting.Key] = setting.Value
	}
	return nil
}
