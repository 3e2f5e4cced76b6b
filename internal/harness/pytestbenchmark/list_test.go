package pytestbenchmark

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/harness/harnesstest"
	"writ/internal/order"
	"writ/internal/result"
)

func TestCases(t *testing.T) {
	t.Parallel()
	list := func(exit int, text string) harness.Output {
		return harnesstest.Ended(exit, map[string][]byte{listFile: []byte(text)})
	}
	s := harness.Suite{Filter: "not slow"}
	got, err := Adapter{}.Cases(s, []harness.Output{list(0, `{"cases": ["t.py::a", "t.py::B::c[x y]"], "status": 0}`)})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]order.Case{{Name: "t.py::a", From: "not slow"}, {Name: "t.py::B::c[x y]", From: "not slow"}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, err := (Adapter{}).Cases(s, []harness.Output{list(noTests, `{"cases": [], "status": 5}`)}); err != nil || len(got) > 0 {
		t.Errorf("nothing: %v %v", got, err)
	}
	broken := list(2, `{"cases": null, "status": 2}`)
	broken.Stdout = []byte("== ERRORS ==\nE   ModuleNotFoundError: No module named 'x'\n== 1 error ==\n")
	for name, out := range map[string]harness.Output{
		"collection failed": broken, "no file": harnesstest.Ended(0, nil), "cut off": list(0, `{"cases": ["t.py::a"`), "another status": list(0, `{"cases": [], "status": 1}`),
		"more members": list(0, `{"cases": [], "status": 0, "x": 1}`), "no node": list(0, `{"cases": ["a"], "status": 0}`), "duplicate": list(0, `{"cases": [], "cases": [], "status": 0}`),
	} {
		got, err := Adapter{}.Cases(s, []harness.Output{out})
		if fault.CodeOf(err) != fault.Harness {
			t.Errorf("%s: %v %v", name, got, err)
		}
		if name == "collection failed" && !strings.Contains(err.Error(), "No module named 'x'") {
			t.Errorf("%s does not say why: %v", name, err)
		}
	}
	if _, err := (Adapter{}).Cases(s, nil); fault.CodeOf(err) != fault.Internal {
		t.Errorf("no listing: %v", err)
	}
}

func TestListing(t *testing.T) {
	t.Parallel()
	s := harness.Suite{Program: "/usr/bin/python3", Dir: "/tree", Filter: "-x", Traits: map[string]string{traitFile: "bench/test_a.py"}}
	got := Adapter{}.Listing(s)[0]
	const x = harness.Exchange
	want := []string{
		"/usr/bin/python3", x + "/list.py", x + "/cases.json", "--rootdir=/tree", "-o", "cache_dir=" + x + "/cache", "-p", "no:xdist",
		"--benchmark-storage=file://" + x + "/storage", "--benchmark-only", "--collect-only", "-q", "-k", "-x", "bench/test_a.py",
	}
	if diff := cmp.Diff(want, got.Argv); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestInvocation is the precision matrix: flags, or the place in the order that
// cannot be honoured.
func TestInvocation(t *testing.T) {
	t.Parallel()
	s := harness.Suite{Program: "/usr/bin/python3", Dir: "/tree"}
	two := 2
	adaptive := func(s float64) order.Precision {
		return order.Precision{Repetitions: order.Times(4), Calibration: &order.Calibration{Mode: order.Adaptive, MinimumSampleSeconds: s}}
	}
	with := func(w order.Warmup) order.Precision { return order.Precision{Repetitions: order.Times(4), Warmup: &w} }
	for name, tc := range map[string]struct {
		p             order.Precision
		rounds, least string
		refused       string // pointer
	}{
		"defaults":          {times(4), "4", "0.000005", ""},
		"time":              {adaptive(0.125), "4", "0.125", ""},
		"no warm-up":        {with(order.Warmup{Mode: order.None}), "4", "0.000005", ""},
		"warm-up":           {with(order.Warmup{Mode: order.Count, NWarmup: &two}), "6", "0.000005", ""},
		"level":             {order.Precision{Repetitions: order.Repetitions{Levels: []order.Level{{Unit: "repetition", N: 3}}}}, "3", "0.000005", ""},
		"two levels":        {order.Precision{Repetitions: order.Repetitions{Levels: []order.Level{{Unit: "repetition", N: 3}, {Unit: "repetition", N: 3}}}}, "", "", "/precision/repetitions/levels/1"},
		"fixed":             {order.Precision{Repetitions: order.Times(1), Calibration: &order.Calibration{Mode: order.Fixed, NIterations: 3}}, "", "", "/precision/calibration/mode"},
		"warm-up by time":   {with(order.Warmup{Mode: order.Time, Seconds: 1}), "", "", "/precision/warmup/mode"},
		"no time":           {adaptive(0), "", "", "/precision/calibration/minimum_sample_seconds"},
		"endless":           {adaptive(math.Inf(1)), "", "", "/precision/calibration/minimum_sample_seconds"},
		"no number":         {adaptive(math.NaN()), "", "", "/precision/calibration/minimum_sample_seconds"},
		"more than a spree": {times(1 << 21), "", "", "/precision/repetitions"},
	} {
		inv, err := Adapter{}.Invocation(s, "t.py::a[x y]", tc.p)
		if tc.refused != "" {
			if e, _ := fault.As(err); fault.CodeOf(err) != fault.Refused || e.Pointer != tc.refused {
				t.Errorf("%s: got %v, want a refusal at %s", name, err, tc.refused)
			}
			continue
		}
		const x = harness.Exchange
		want := harness.Invocation{
			Argv: []string{
				"/usr/bin/python3", "-m", "pytest", "--rootdir=/tree", "-o", "cache_dir=" + x + "/cache", "-p", "no:xdist",
				"--benchmark-storage=file://" + x + "/storage", "--benchmark-only", "-o", "junit_logging=no", "--junitxml=" + x + "/junit.xml",
				"--benchmark-json=" + x + "/benchmark.json", "--benchmark-min-rounds=" + tc.rounds, "--benchmark-max-time=0.000000001",
				"--benchmark-min-time=" + tc.least, "--benchmark-warmup=off", "--benchmark-timer=time.perf_counter", "--benchmark-calibration-precision=10", "t.py::a[x y]",
			},
			Dir: "/tree", Variables: map[string]string{"PYTHONDONTWRITEBYTECODE": "1", "PYTEST_ADDOPTS": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": ""},
			Outputs: []harness.File{
				{Name: "benchmark.json", Kind: result.ArtifactNative, MediaType: "application/json"},
				{Name: "junit.xml", Kind: "test-report", MediaType: "application/xml"},
			},
		}
		if diff := cmp.Diff(want, inv); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	for _, bad := range []string{"", "t.py", "::a", "t.py::", "-k::a", "t.py::a\nb", "t.py::\x00", "\xff::a"} {
		if _, err := (Adapter{}).Invocation(s, bad, times(1)); fault.CodeOf(err) != fault.Refused {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// treeOrder is an order for the sample, with the interpreter that a name finds.
func treeOrder(dir, suite, interpreter string) order.Order {
	su := order.Suite{Adapter: Name, Suite: suite, Parameters: canon.MustFrom(map[string]string{"python": interpreter})}
	return order.Order{Suites: []order.Suite{su}, Quantities: wall, Precision: times(2), Target: order.Target{Kind: order.WorkingTree, Path: dir}}
}

func TestLocate(t *testing.T) {
	t.Parallel()
	dir, err := filepath.Abs("testdata/sample")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable() // any program will do
	if err != nil {
		t.Fatal(err)
	}
	o := treeOrder(dir, "deep/test_more.py", self)
	got, err := Adapter{}.Locate(o, o.Suites[0])
	if err != nil || got.Program != self || got.Dir != dir || got.Traits[traitFile] != "deep/test_more.py" || len(got.Protocol) != 3 || !got.Shared {
		t.Errorf("got %+v %v", got, err)
	}
	o.EnvironmentVariables = map[string]string{"PYTEST_ADDOPTS": "-n 4"}
	if e, _ := fault.As(second(Adapter{}.Locate(o, o.Suites[0]))); e == nil || e.Code != fault.Refused || e.Pointer != "/environment_variables/PYTEST_ADDOPTS" {
		t.Errorf("got %v", e)
	}
	o = treeOrder(dir, "none.py", self)
	if err := second(Adapter{}.Locate(o, o.Suites[0])); fault.CodeOf(err) != fault.Target {
		t.Errorf("got %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestCapabilities(t *testing.T) {
	t.Parallel()
	two := 2
	for name, tc := range map[string]struct {
		change  func(*order.Order)
		pointer string
	}{
		"fine":             {func(*order.Order) {}, ""},
		"filter":           {func(o *order.Order) { o.Suites[0].Filter = "small" }, ""},
		"warm-up by count": {func(o *order.Order) { o.Precision.Warmup = &order.Warmup{Mode: order.Count, NWarmup: &two} }, ""},
		"fixed":            {func(o *order.Order) { o.Precision.Calibration = &order.Calibration{Mode: order.Fixed, NIterations: 3} }, "/precision/calibration/mode"},
		"warm-up by time":  {func(o *order.Order) { o.Precision.Warmup = &order.Warmup{Mode: order.Time, Seconds: 1} }, "/precision/warmup/mode"},
		"processes": {func(o *order.Order) {
			o.Precision.Repetitions = order.Repetitions{Levels: []order.Level{{Unit: "process", N: 2}}}
		}, "/precision/repetitions/levels/0/unit"},
		"cpu-time":            {func(o *order.Order) { o.Quantities = []string{"cpu-time"} }, "/quantities/0"},
		"build":               {func(o *order.Order) { o.Target.Kind = order.BuildTree }, "/target/kind"},
		"workload parameters": {func(o *order.Order) { o.WorkloadParameters = map[string]canon.Value{"n": canon.IntOf(1)} }, "/workload_parameters"},
	} {
		o := treeOrder("/tree", "test_a.py", "python")
		tc.change(&o)
		err := order.Check(o, Adapter{}.Capabilities())
		if e, _ := fault.As(err); (err == nil) != (tc.pointer == "") || err != nil && e.Pointer != tc.pointer {
			t.Errorf("%s: got %v, want %q", name, err, tc.pointer)
		}
	}
}
