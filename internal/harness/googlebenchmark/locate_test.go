package googlebenchmark

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/order"
)

// buildDir is a directory like those that CMake makes, with a program in it.
func buildDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"bench": "#!/bin/sh\n", "data": "",
		"CMakeCache.txt": "# a comment=1\n//help=2\nCMAKE_BUILD_TYPE:STRING=Release\r\nCMAKE_CXX_FLAGS:STRING=-O2 \nCMAKE_PROJECT_NAME:STATIC=demo-x\n" +
			"CMAKE_HOME_DIRECTORY:INTERNAL=/src/demo\nDEMO_X_HARDENED:BOOL=OFF\nDEMO_X_DATA_DIR:PATH=/data\nDEMO_X_LOG:STRING=/var/log\nDEMO_X_LEVEL:STRING=a=b\nOTHER:BOOL=ON\nbroken\n",
		"CMakeFiles/3.25.1/CMakeCXXCompiler.cmake": "set(CMAKE_CXX_COMPILER \"/usr/bin/c++\")\nset(CMAKE_CXX_COMPILER_ID \"AppleClang\")\nset(CMAKE_CXX_COMPILER_VERSION \"21.0.0\")\n",
		"src/work/input": "",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "bench"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func suiteOrder(dir, kind string, parameters any) order.Order {
	su := order.Suite{Adapter: Name, Suite: "bench", Filter: "BM_", Parameters: canon.MustFrom(parameters)}
	return order.Order{Suites: []order.Suite{su}, Quantities: []string{"wall-time"}, Target: order.Target{Kind: kind, Path: dir}}
}

func TestLocate(t *testing.T) {
	t.Parallel()
	dir := buildDir(t)
	o := suiteOrder(dir, order.BuildTree, nil)
	got, err := Adapter{}.Locate(o, o.Suites[0])
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"build_type": "Release", "cxx_flags": "-O2", "cxx_compiler": "AppleClang 21.0.0",
		"options.DEMO_X_HARDENED": "OFF", "options.DEMO_X_LEVEL": "a=b",
	}
	if diff := cmp.Diff(want, got.Configuration); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
	if got.Program != filepath.Join(dir, "bench") || got.Dir != dir || got.SourceDir != "/src/demo" || got.Filter != "BM_" || got.Traits[traitLocale] != "C" {
		t.Errorf("got %+v", got)
	}
	if !got.Shared {
		t.Error("a script is taken for all of the code")
	}

	o = suiteOrder(dir, order.WorkingTree, map[string]any{"dir": "src/work", "counters": map[string]string{"score": "points"}})
	o.EnvironmentVariables = map[string]string{"LC_ALL": "de_DE.UTF-8"}
	o.Quantities = []string{"score"}
	if got, err = (Adapter{}).Locate(o, o.Suites[0]); err != nil {
		t.Fatal(err)
	}
	if got.SourceDir != dir || got.Dir != filepath.Join(dir, "src", "work") || got.Configuration != nil || got.Traits[traitCounter+"score"] != "points" {
		t.Errorf("got %+v", got)
	}
	if _, set := got.Traits[traitLocale]; set {
		t.Error("the ordered locale is replaced")
	}
	o = suiteOrder(dir, order.BuildTree, map[string]any{"dir": "work"})
	o.Target.SourceDir = filepath.Join(dir, "src")
	if got, err = (Adapter{}).Locate(o, o.Suites[0]); err != nil || got.Dir != filepath.Join(dir, "src", "work") || got.SourceDir != o.Target.SourceDir {
		t.Errorf("got %+v %v", got, err)
	}
}

func TestLocateRefusals(t *testing.T) {
	t.Parallel()
	dir := buildDir(t)
	for name, tc := range map[string]struct {
		change  func(*order.Order, *order.Suite)
		want    fault.Code
		pointer string
	}{
		"missing":        {func(_ *order.Order, s *order.Suite) { s.Suite = "none" }, fault.Target, "/suites/0/suite"},
		"not executable": {func(_ *order.Order, s *order.Suite) { s.Suite = "data" }, fault.Target, "/suites/0/suite"},
		"a directory":    {func(_ *order.Order, s *order.Suite) { s.Suite = "src" }, fault.Target, "/suites/0/suite"},
		"outside":        {func(_ *order.Order, s *order.Suite) { s.Suite = "../x" }, fault.OutsidePath, "/suites/0/suite"},
		"absolute":       {func(_ *order.Order, s *order.Suite) { s.Suite = "/bin/sh" }, fault.OutsidePath, "/suites/0/suite"},
		"flag as variable": {func(o *order.Order, _ *order.Suite) {
			o.EnvironmentVariables = map[string]string{"BENCHMARK_FILTER": "x"}
		}, fault.Refused, "/environment_variables/BENCHMARK_FILTER"},
		"directory outside": {func(_ *order.Order, s *order.Suite) { s.Parameters = canon.MustFrom(map[string]any{"dir": "../x"}) }, fault.OutsidePath, "/suites/0/parameters/dir"},
		"directory absent":  {func(_ *order.Order, s *order.Suite) { s.Parameters = canon.MustFrom(map[string]any{"dir": "x"}) }, fault.Target, "/suites/0/parameters/dir"},
		"directory number":  {func(_ *order.Order, s *order.Suite) { s.Parameters = canon.MustFrom(map[string]any{"dir": 1}) }, fault.OutsidePath, "/suites/0/parameters/dir"},
		"counters as list": {func(_ *order.Order, s *order.Suite) {
			s.Parameters = canon.MustFrom(map[string]any{"counters": []string{"x"}})
		}, fault.Refused, "/suites/0/parameters/counters"},
		"no counter": {func(_ *order.Order, s *order.Suite) {
			s.Parameters = canon.MustFrom(map[string]any{"counters": map[string]any{"score": ""}})
		}, fault.Refused, "/suites/0/parameters/counters/score"},
		"a time as counter": {func(_ *order.Order, s *order.Suite) {
			s.Parameters = canon.MustFrom(map[string]any{"counters": map[string]any{"score": "real_time"}})
		}, fault.Refused, "/suites/0/parameters/counters/score"},
		"fixed quantity": {func(_ *order.Order, s *order.Suite) {
			s.Parameters = canon.MustFrom(map[string]any{"counters": map[string]any{"wall-time": "x"}})
		}, fault.Refused, "/suites/0/parameters/counters/wall-time"},
		"quantity without counter": {func(o *order.Order, _ *order.Suite) { o.Quantities = []string{"wall-time", "cycles"} }, fault.Refused, "/quantities/1"},
		"cache that is no file": {func(o *order.Order, s *order.Suite) {
			o.Target.Path = filepath.Join(dir, "src")
			s.Suite = "run"
			os.WriteFile(filepath.Join(dir, "src", "run"), []byte("#!"), 0o755)
			os.Mkdir(filepath.Join(dir, "src", "CMakeCache.txt"), 0o755)
		}, fault.Target, "/target/path"},
	} {
		o := suiteOrder(dir, order.BuildTree, nil)
		s := o.Suites[0]
		tc.change(&o, &s)
		_, err := Adapter{}.Locate(o, s)
		if e, _ := fault.As(err); fault.CodeOf(err) != tc.want || e.Pointer != tc.pointer {
			t.Errorf("%s: got %v, want %s at %s", name, err, tc.want, tc.pointer)
		}
	}
}

// TestLoadsMore looks at this test's own binary, and at one that is no program.
func TestLoadsMore(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if harness.LoadsMore(self) {
		t.Error("a Go test loads libraries of the subject")
	}
	if !harness.LoadsMore("locate_test.go") {
		t.Error("a source file is all of the code")
	}
}

// TestCapabilities checks the matrix against orders, with the place of what is
// refused.
func TestCapabilities(t *testing.T) {
	t.Parallel()
	two := 2
	for name, tc := range map[string]struct {
		change  func(*order.Order)
		pointer string
	}{
		"fine":             {func(*order.Order) {}, ""},
		"variables":        {func(o *order.Order) { o.EnvironmentVariables = map[string]string{"OMP_NUM_THREADS": "1"} }, ""},
		"warm-up by count": {func(o *order.Order) { o.Precision.Warmup = &order.Warmup{Mode: order.Count, NWarmup: &two} }, "/precision/warmup/mode"},
		"processes": {func(o *order.Order) {
			o.Precision.Repetitions = order.Repetitions{Levels: []order.Level{{Unit: "process", N: 2}}}
		}, "/precision/repetitions/levels/0/unit"},
		"unknown quantity":    {func(o *order.Order) { o.Quantities = []string{"energy"} }, "/quantities/0"},
		"peak memory":         {func(o *order.Order) { o.Quantities = []string{"wall-time", "peak-rss"} }, "/quantities/1"},
		"workload parameters": {func(o *order.Order) { o.WorkloadParameters = map[string]canon.Value{"n": canon.IntOf(1)} }, "/workload_parameters"},
		"include":             {func(o *order.Order) { o.Suites[0].Include = []string{"x"} }, "/suites/0/include"},
		"parameter":           {func(o *order.Order) { o.Suites[0].Parameters = canon.MustFrom(map[string]int{"cpu": 1}) }, "/suites/0/parameters/cpu"},
		"artifact":            {func(o *order.Order) { o.Target.Kind = order.Artifact }, "/target/kind"},
	} {
		o := suiteOrder("/b", order.BuildTree, nil)
		o.Precision = times(2)
		tc.change(&o)
		err := order.Check(o, Adapter{}.Capabilities())
		e, _ := fault.As(err)
		if (err == nil) != (tc.pointer == "") || err != nil && e.Pointer != tc.pointer {
			t.Errorf("%s: got %v, want %q", name, err, tc.pointer)
		}
	}
}
