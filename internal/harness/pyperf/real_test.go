package pyperf

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness/harnesstest"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/testkit"
)

// interpreterVariable names an interpreter that has pyperf, for those who want the
// tests to run with the real one.
const interpreterVariable = "WRIT_PYPERF_PYTHON"

// interpreter returns an interpreter with pyperf and the variables that it needs.
// Few systems have a package of pyperf: where it is not installed, the module in
// testdata/standin takes its place, which does what the adapter relies on.
func interpreter(t *testing.T) (program string, env []string) {
	t.Helper()
	candidates := []string{os.Getenv(interpreterVariable), "/usr/bin/python3"}
	for _, program := range candidates {
		if program != "" && exec.Command(program, "-c", "import pyperf").Run() == nil {
			return program, nil
		}
	}
	if os.Getenv(interpreterVariable) != "" {
		t.Fatalf("%s names an interpreter without pyperf", interpreterVariable)
	}
	if exec.Command("/usr/bin/python3", "-c", "pass").Run() != nil {
		testkit.Skip(t, "a Python interpreter", "apt-get install -y python3")
	}
	standin, err := filepath.Abs("testdata/standin")
	if err != nil {
		t.Fatal(err)
	}
	return "/usr/bin/python3", []string{"PYTHONPATH=" + standin}
}

// start makes a driver and finds the sample's suite in a tree of its own.
func start(t *testing.T, change func(*order.Order), env ...string) (*harnesstest.Driver, order.Order) {
	t.Helper()
	program, more := interpreter(t)
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/sample")); err != nil {
		t.Fatal(err)
	}
	o := treeOrder(dir, "bench_sample.py", program)
	env = append(append([]string{"PATH=" + os.Getenv("PATH"), "SECRET_TOKEN=hidden"}, more...), env...)
	if change != nil {
		change(&o)
	}
	for name, value := range o.EnvironmentVariables {
		env = append(env, name+"="+value)
	}
	return harnesstest.Drive(t, Adapter{}, env...), o
}

func TestARealListing(t *testing.T) {
	t.Parallel()
	d, o := start(t, nil)
	s, err := d.Suite(o)
	if err != nil {
		t.Fatal(err)
	}
	if s.Version == "" || s.Runtime["python"] == "" {
		t.Errorf("suite %+v", s)
	}
	for filter, want := range map[string][]string{
		"":           {"bench_die", "bench_sleep", "bench_sum", "bench_threads", "benchmark_join"},
		"^work$|sum": {"bench_sum", "work"},
		"no_such":    nil,
		"private":    nil,
	} {
		s.Filter = filter
		cases, err := d.Cases(s)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range cases {
			got = append(got, c.Name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", filter, diff)
		}
	}
	s.Filter = "("
	if cases, err := d.Cases(s); fault.CodeOf(err) != fault.Harness {
		t.Errorf("a broken filter: %v %v", cases, err)
	}
	s.Filter, s.Traits[traitModule] = "", "no_such_module"
	if cases, err := d.Cases(s); fault.CodeOf(err) != fault.Harness || !strings.Contains(err.Error(), "cannot import no_such_module") {
		t.Errorf("no module: %v %v", cases, err)
	}
	o.Suites[0].Suite = "deep/bench_more.py"
	if s, err = d.Suite(o); err != nil {
		t.Fatal(err)
	}
	if cases, err := d.Cases(s); err != nil || len(cases) != 1 || cases[0].Name != "bench_deep" {
		t.Errorf("a module in a folder: %v %v", cases, err)
	}
}

func TestARealRun(t *testing.T) {
	t.Parallel()
	d, o := start(t, func(o *order.Order) { o.EnvironmentVariables = map[string]string{"MY_SETTING": "7"} }, "PYTHONHASHSEED=0")
	s, err := d.Suite(o)
	if err != nil {
		t.Fatal(err)
	}
	got, out := d.Measure(s, "bench_sum", fixed(precision(2, 2), 50), "wall-time")
	m := got.Quantities["wall-time"]
	if m.Status != result.Success || len(m.Values) != 4 || !slices.Equal(m.Groups, []string{"0", "0", "1", "1"}) {
		t.Fatalf("got %+v\n%s", got, out.Stderr)
	}
	if diff := cmp.Diff(counts(2, 2, 4, 4), got.Levels); diff != "" || got.Warmups != 2 || !slices.Equal(got.InnerIterations, []int{50, 50, 50, 50}) {
		t.Errorf("%+v (-want +got):\n%s", got, diff)
	}
	if got.Warnings != nil || got.Facts["env.PYTHONHASHSEED"] != "0" || got.Facts["env.MY_SETTING"] != "7" {
		t.Errorf("warnings %v, facts %v", got.Warnings, got.Facts)
	}
	for name := range out.Files {
		if strings.Contains(string(out.Files[name]), "hidden") {
			t.Errorf("%s holds a secret", name)
		}
	}
	p := precision(1, 2)
	p.Calibration = &order.Calibration{Mode: order.Adaptive, MinimumSampleSeconds: 0.001}
	got, out = d.Measure(s, "bench_sum", p, "wall-time")
	if m := got.Quantities["wall-time"]; m.Status != result.Success || got.Facts["calibration_runs"] == "0" || got.InnerIterations[0] < 2 {
		t.Errorf("adaptive: %+v\n%s", got, out.Stderr)
	}
	if _, err := os.Stat(filepath.Join(s.Dir, "__pycache__")); err == nil {
		t.Error("the tree was written to")
	}
}

// TestTheEnvironmentReachesWorkers: without it, a function that needs a variable
// fails, and says so in its own words.
func TestTheEnvironmentReachesWorkers(t *testing.T) {
	t.Parallel()
	p := fixed(precision(1, 1), 1)
	d, o := start(t, nil)
	s, err := d.Suite(o)
	if err != nil {
		t.Fatal(err)
	}
	got, out := d.Measure(s, "bench_threads", p, "wall-time")
	if m := got.Quantities["wall-time"]; m.Reason != result.ReasonHarnessError || got.Message != "RuntimeError: OPENBLAS_NUM_THREADS is None, not '1'" {
		t.Errorf("unset: %+v\n%s", got, out.Stderr)
	}
	d, o = start(t, func(o *order.Order) { o.EnvironmentVariables = map[string]string{"OPENBLAS_NUM_THREADS": "1"} })
	if s, err = d.Suite(o); err != nil {
		t.Fatal(err)
	}
	got, out = d.Measure(s, "bench_threads", p, "wall-time")
	if m := got.Quantities["wall-time"]; m.Status != result.Success || got.Facts["env.OPENBLAS_NUM_THREADS"] != "1" {
		t.Errorf("ordered: %+v\n%s", got, out.Stderr)
	}
	inv, err := Adapter{}.Invocation(s, "bench_sum", p)
	if err != nil {
		t.Fatal(err)
	}
	inv.Argv = slices.DeleteFunc(inv.Argv, func(s string) bool { return s == "--copy-env" })
	if i := slices.IndexFunc(d.Env, func(s string) bool { return strings.HasPrefix(s, "PYTHONPATH=") }); i >= 0 {
		// The stand-in is found by a variable that does not reach workers now.
		link := filepath.Join(s.Dir, "pyperf")
		if err := os.Symlink(filepath.Join(strings.TrimPrefix(d.Env[i], "PYTHONPATH="), "pyperf"), link); err != nil {
			t.Fatal(err)
		}
	}
	out = d.Launch(inv)
	got = Adapter{}.Read(s, "bench_sum", p, wall, out)
	if m := got.Quantities["wall-time"]; m.Status != result.Success || !slices.Contains(got.Warnings, warnMismatch) {
		t.Errorf("withheld: %+v\n%s", got, out.Stderr)
	}
	if inv, err = (Adapter{}).Invocation(s, "bench_threads", p); err != nil {
		t.Fatal(err)
	}
	inv.Argv = slices.DeleteFunc(inv.Argv, func(s string) bool { return s == "--copy-env" })
	out = d.Launch(inv)
	if m := (Adapter{}).Read(s, "bench_threads", p, wall, out).Quantities["wall-time"]; m.Reason != result.ReasonHarnessError {
		t.Errorf("withheld from who needs it: %+v\n%s", m, out.Stderr)
	}
}

func TestARealRunThatDies(t *testing.T) {
	t.Parallel()
	d, o := start(t, nil)
	s, err := d.Suite(o)
	if err != nil {
		t.Fatal(err)
	}
	p := fixed(precision(1, 1), 1)
	got, out := d.Measure(s, "bench_die", p, "wall-time")
	if m := got.Quantities["wall-time"]; m.Reason != result.ReasonHarnessError {
		t.Errorf("a worker that exits: %+v\n%s", got, out.Stderr)
	}
	got, out = d.Measure(s, "no_such_function", p, "wall-time")
	if m := got.Quantities["wall-time"]; m.Reason != result.ReasonHarnessError || !strings.Contains(got.Message, "no_such_function") {
		t.Errorf("no such function: %+v\n%s", got, out.Stderr)
	}
	d.Timeout = 1500 * time.Millisecond
	got, out = d.Measure(s, "bench_sleep", p, "wall-time")
	if m := got.Quantities["wall-time"]; m.Reason != result.ReasonTimeout || out.Result.Survivors > 0 {
		t.Errorf("a function without end: %+v, %+v", got, out.Result)
	}
}

func TestImportsAreNotMeasured(t *testing.T) {
	t.Parallel()
	d, o := start(t, nil, "BEHAVE=slow-import")
	s, err := d.Suite(o)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := d.Measure(s, "bench_sum", fixed(precision(1, 1), 1), "wall-time")
	if m := got.Quantities["wall-time"]; m.Status != result.Success || m.Values[0] > 0.5 {
		t.Errorf("got %+v", got)
	}
}

// TestTheDigestOfAnEnvironment compares with a known one.
func TestTheDigestOfAnEnvironment(t *testing.T) {
	t.Parallel()
	text := canon.MustFrom(map[string]string{"B": "2", "A": "1"}).Canonical()
	const want = "3eda2f06741f1d082a60e34bf134dace8b60136ae69b552a2137bd898f27ea85"
	if got := canon.Sum(text).Hex(); got != want {
		t.Errorf("got %s", got)
	}
	d, o := start(t, nil)
	s, err := d.Suite(o)
	if err != nil {
		t.Fatal(err)
	}
	inv, err := Adapter{}.Invocation(s, "bench_sum", fixed(precision(1, 1), 1))
	if err != nil {
		t.Fatal(err)
	}
	const digesting = "import hashlib,json;e={'A':'1','B':'2'};print(hashlib.sha256(json.dumps(e,sort_keys=True,separators=(',',':')).encode('ascii')).hexdigest())"
	if !strings.Contains(string(inv.Inputs[0].Bytes), `json.dumps(environment, sort_keys=True, separators=(",", ":"))`) {
		t.Error("the driver digests in another way")
	}
	inv.Argv, inv.Inputs, inv.Outputs = []string{s.Program, "-c", digesting}, nil, nil
	if got := strings.TrimSpace(string(d.Launch(inv).Stdout)); got != want {
		t.Errorf("the interpreter says %s", got)
	}
}
