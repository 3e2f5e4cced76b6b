package asv

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
	"writ/internal/harness/harnesstest"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/testkit"
)

// interpreterVariable names an interpreter that has asv, for the tests below.
const interpreterVariable = "WRIT_ASV_PYTHON"

// begin makes a driver and an order for the sample in a tree of its own. Few systems
// have asv: without it, the module in testdata/standin takes its place, which does what
// the adapter relies on.
func begin(t *testing.T, env ...string) (*harnesstest.Driver, order.Order, string) {
	t.Helper()
	program := os.Getenv(interpreterVariable)
	if program == "" {
		if program = "/usr/bin/python3"; exec.Command(program, "-c", "pass").Run() != nil {
			testkit.Skip(t, "a Python interpreter", "apt-get install -y python3")
		}
		standin, err := filepath.Abs("testdata/standin")
		if err != nil {
			t.Fatal(err)
		}
		env = append(env, "PYTHONPATH="+standin)
	}
	repository := t.TempDir() // the tree is a folder of one
	dir := filepath.Join(repository, "tree")
	if err := errors.Join(os.Mkdir(filepath.Join(repository, ".git"), 0o755), os.CopyFS(dir, os.DirFS("testdata/sample"))); err != nil {
		t.Fatal(err)
	}
	o := order.Order{
		Suites:     []order.Suite{{Adapter: Name, Suite: "bench", Parameters: canon.MustFrom(map[string]string{"python": program})}},
		Quantities: wall, Precision: ordered(3), Target: order.Target{Kind: order.WorkingTree, Path: dir},
	}
	return harnesstest.Drive(t, Adapter{}, append(env, "PATH="+os.Getenv("PATH"), "HOME="+t.TempDir())...), o, dir
}

func TestARun(t *testing.T) {
	t.Parallel()
	d, o, dir := begin(t)
	s, err := d.Suite(o)
	if err != nil || s.Version == "" {
		t.Fatalf("%+v %v", s, err)
	}
	cases, err := d.Cases(s)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range cases {
		got = append(got, strings.TrimPrefix(c.Name, "sums."))
	}
	want := []string{
		"time_behave", "time_fails", "time_plain", "time_sized(10, 'a b')", "time_sized(10, 'slow')", "time_sized(1000, 'a b')", "time_sized(1000, 'slow')", "time_skip_all",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	fixed := ordered(4)
	fixed.Calibration = &order.Calibration{Mode: order.Fixed, NIterations: 20}
	adaptive := ordered(3)
	adaptive.Calibration = &order.Calibration{Mode: order.Adaptive, MinimumSampleSeconds: 0.001}
	adaptive.Warmup = &order.Warmup{Mode: order.Time, Seconds: 0.001}
	for name, tc := range map[string]struct {
		p      order.Precision
		status result.Status
		reason string
	}{
		"time_plain":              {adaptive, result.Success, ""},
		"time_sized(1000, 'a b')": {fixed, result.Success, ""},
		"time_sized(10, 'slow')":  {fixed, result.Skipped, result.ReasonNotApplicable},
		"time_skip_all":           {fixed, result.Skipped, result.ReasonNotApplicable},
		"time_fails":              {fixed, result.Failed, result.ReasonHarnessError},
		"time_gone":               {fixed, result.Failed, result.ReasonHarnessError},
	} {
		r, out := d.Measure(s, "sums."+name, tc.p, "wall-time")
		m := r.Quantities["wall-time"]
		if m.Status != tc.status || m.Reason != tc.reason || tc.reason == "" && len(m.Values) != tc.p.Repetitions.Total() {
			t.Errorf("%s: %+v\n%s%s", name, r, out.Stdout, out.Stderr)
		}
		if tc.status == result.Success && tc.p.Calibration.Mode == order.Fixed && r.InnerIterations[0] != 20 {
			t.Errorf("%s: %v calls", name, r.InnerIterations)
		}
		if name == "time_fails" && r.Message != "ValueError: no good" {
			t.Errorf("%s: says %q", name, r.Message)
		}
	}
	harnesstest.Untouched(t, dir, "testdata/sample")
}

func TestARunThatDies(t *testing.T) {
	t.Parallel()
	for how, reason := range map[string]string{"exit": result.ReasonHarnessError, "sleep": result.ReasonTimeout} {
		d, o, _ := begin(t, "BEHAVE="+how)
		s, err := d.Suite(o)
		if err != nil {
			t.Fatal(err)
		}
		if how == "sleep" {
			d.Timeout = 2 * time.Second
		}
		r, out := d.Measure(s, "sums.time_behave", ordered(2), "wall-time")
		if m := r.Quantities["wall-time"]; m.Reason != reason {
			t.Errorf("%s: %+v\n%s", how, r, out.Stderr)
		}
	}
}
