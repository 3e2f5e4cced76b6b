package pytestbenchmark

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"writ/internal/fault"
	"writ/internal/harness/harnesstest"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/testkit"
)

// interpreter is the one that Debian's package of the plugin belongs to.
func interpreter(t *testing.T) string {
	t.Helper()
	const program = "/usr/bin/python3"
	if err := exec.Command(program, "-c", "import pytest_benchmark").Run(); err != nil {
		testkit.Skip(t, "pytest-benchmark", "apt-get install -y python3-pytest-benchmark")
	}
	return program
}

// tree is a copy of the sample.
func tree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/sample")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// untouched fails when something was written into a tree.
func untouched(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(path) != ".py" || d != nil && strings.HasPrefix(d.Name(), ".") || d != nil && d.Name() == "__pycache__" {
			t.Errorf("%s was written into the tree", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestARealListing(t *testing.T) {
	t.Parallel()
	dir := tree(t)
	d := harnesstest.Drive(t, Adapter{}, "PATH="+os.Getenv("PATH"), "PYTEST_ADDOPTS=-k nothing", "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1")
	o := treeOrder(dir, ".", interpreter(t))
	s, err := d.Suite(o)
	if err != nil {
		t.Fatal(err)
	}
	if s.Version == "" || s.Runtime["pytest"] == "" || s.Runtime["implementation"] == "" {
		t.Errorf("suite %+v", s)
	}
	cases, err := d.Cases(s)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range cases {
		got = append(got, c.Name)
	}
	slices.Sort(got)
	want := []string{
		"deep/test_more.py::test_more", "test_perf.py::TestGroup::test_method", "test_perf.py::test_behave", "test_perf.py::test_extra",
		"test_perf.py::test_fails_after", "test_perf.py::test_fails_inside", "test_perf.py::test_own_gc", "test_perf.py::test_own_max_time",
		"test_perf.py::test_own_rounds", "test_perf.py::test_own_time", `test_perf.py::test_param[\xe9 [x] ::y]`, "test_perf.py::test_param[small/1]",
		"test_perf.py::test_pedantic", "test_perf.py::test_plain", "test_perf.py::test_setup", "test_perf.py::test_skip", "test_perf.py::test_teardown",
		"test_perf.py::test_unused",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s.Filter = "plain or deep"
	if cases, err := d.Cases(s); err != nil || len(cases) != 2 {
		t.Errorf("under a filter: %v %v", cases, err)
	}
	s.Filter = "no_such"
	if cases, err := d.Cases(s); err != nil || len(cases) != 0 {
		t.Errorf("nothing: %v %v", cases, err)
	}
	untouched(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "test_broken.py"), []byte("import no_such_module\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s.Filter = ""
	if cases, err := d.Cases(s); fault.CodeOf(err) != fault.Harness || !strings.Contains(err.Error(), "no_such_module") {
		t.Errorf("a file that cannot be imported: %v %v", cases, err)
	}
}

func TestARealRun(t *testing.T) {
	t.Parallel()
	dir := tree(t)
	d := harnesstest.Drive(t, Adapter{}, "PATH="+os.Getenv("PATH"))
	s, err := d.Suite(treeOrder(dir, "test_perf.py", interpreter(t)))
	if err != nil {
		t.Fatal(err)
	}
	p := times(4)
	p.Calibration = &order.Calibration{Mode: order.Adaptive, MinimumSampleSeconds: 0.0005}
	for name, want := range map[string]string{ // reason of wall-time
		"test_plain": "", `test_param[\xe9 [x] ::y]`: "", "test_fails_after": result.ReasonHarnessError, "test_skip": result.ReasonSkipped,
		"test_own_rounds": result.ReasonMapping, "test_unused": result.ReasonNoOutput, "test_gone": result.ReasonHarnessError,
	} {
		got, out := d.Measure(s, "test_perf.py::"+name, p, "wall-time")
		m := got.Quantities["wall-time"]
		if m.Reason != want || (m.Status == result.Success) != (want == "") || want == "" && (len(m.Values) != 4 || len(m.Summaries) < 8) {
			t.Errorf("%s: got %+v, want %q\n%s\n%s", name, got, want, out.Stdout, out.Stderr)
		}
	}
	untouched(t, dir)
}

func TestARealRunThatDies(t *testing.T) {
	t.Parallel()
	dir := tree(t)
	for how, reason := range map[string]string{"exit": result.ReasonHarnessError, "abort": result.ReasonHarnessError, "sleep": result.ReasonTimeout} {
		d := harnesstest.Drive(t, Adapter{}, "PATH="+os.Getenv("PATH"), "BEHAVE="+how)
		s, err := d.Suite(treeOrder(dir, "test_perf.py", interpreter(t)))
		if err != nil {
			t.Fatal(err)
		}
		if how == "sleep" {
			d.Timeout = 4 * time.Second
		}
		got, out := d.Measure(s, "test_perf.py::test_behave", times(2), "wall-time")
		if m := got.Quantities["wall-time"]; m.Reason != reason {
			t.Errorf("%s: %+v\n%s", how, got, out.Stderr)
		}
	}
}

func TestAnInterpreterWithoutThePlugin(t *testing.T) {
	t.Parallel()
	dir := tree(t)
	if err := os.WriteFile(filepath.Join(dir, "pytest_benchmark.py"), []byte("raise ImportError('not in here')\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	d := harnesstest.Drive(t, Adapter{})
	if _, err := d.Suite(treeOrder(dir, "test_perf.py", interpreter(t))); fault.CodeOf(err) != fault.Target || !strings.Contains(err.Error(), "pytest_benchmark is not importable") {
		t.Errorf("got %v", err)
	}
}
