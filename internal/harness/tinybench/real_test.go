package tinybench

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"writ/internal/fault"
	"writ/internal/harness/harnesstest"
	"writ/internal/order"
	"writ/internal/result"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const sample = "testdata/sample"

func treeOrder(dir, file string) order.Order {
	return order.Order{
		Suites: []order.Suite{{Adapter: Name, Suite: file}}, Quantities: []string{"wall-time"},
		Precision: order.Precision{Repetitions: order.Times(3)}, Target: order.Target{Kind: order.WorkingTree, Path: dir},
	}
}

// start makes a driver and finds the sample in a tree of its own.
func start(t *testing.T, env ...string) (*harnesstest.Driver, string) {
	t.Helper()
	return harnesstest.Drive(t, New(""), append(env, "PATH="+os.Getenv("PATH"))...), harnesstest.NodeTree(t, sample)
}

func TestARealListing(t *testing.T) {
	t.Parallel()
	d, dir := start(t)
	s, err := d.Suite(treeOrder(dir, "bench.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(s.Version, "6.") || s.Runtime["node"] == "" || s.Runtime["v8"] == "" || !s.Shared {
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
	if diff := cmp.Diff([]string{"sum > loop", "sum > async [é] $1", "sum > throws", "sum > behave", "sync", "never run > exported"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	harnesstest.Untouched(t, dir, sample)
	if s, err = d.Suite(treeOrder(dir, "broken.mjs")); err != nil {
		t.Fatal(err)
	}
	if cases, err := d.Cases(s); fault.CodeOf(err) != fault.Harness || !strings.Contains(err.Error(), "reading 'result'") {
		t.Errorf("a script that needs results: %v %v", cases, err)
	}
}

func TestARealRun(t *testing.T) {
	t.Parallel()
	d, dir := start(t)
	s, err := d.Suite(treeOrder(dir, "bench.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	one := 1
	fixed := &order.Calibration{Mode: order.Fixed, NIterations: 500}
	adaptive := &order.Calibration{Mode: order.Adaptive, MinimumSampleSeconds: 0.02}
	for name, tc := range map[string]struct {
		p      order.Precision
		reason string
	}{
		"sum > loop":           {order.Precision{Repetitions: order.Times(3), Calibration: adaptive}, ""},
		"sum > async [é] $1":   {order.Precision{Repetitions: order.Times(2), Calibration: fixed, Warmup: &order.Warmup{Mode: order.Count, NWarmup: &one}}, ""},
		"sync":                 {order.Precision{Repetitions: order.Times(3), Calibration: fixed, Warmup: &order.Warmup{Mode: order.Time, Seconds: 0.01}}, ""},
		"never run > exported": {order.Precision{Repetitions: order.Times(1), Calibration: adaptive, Warmup: &order.Warmup{Mode: order.None}}, ""},
		"sum > throws":         {order.Precision{Repetitions: order.Times(3), Calibration: fixed}, result.ReasonHarnessError},
		"sum > gone":           {order.Precision{Repetitions: order.Times(3), Calibration: fixed}, result.ReasonNoOutput},
	} {
		got, out := d.Measure(s, name, tc.p, "wall-time")
		m := got.Quantities["wall-time"]
		ordered := tc.p.Repetitions.Total()
		if m.Reason != tc.reason || (m.Status == result.Success) != (tc.reason == "") || tc.reason == "" && (len(m.Values) != ordered || got.Facts["tinybench"] != s.Version) {
			t.Errorf("%s: %+v\n%s", name, got, out.Stderr)
		}
		if tc.p.Calibration == fixed && tc.reason == "" && got.InnerIterations[0] != 500 {
			t.Errorf("%s: %v calls", name, got.InnerIterations)
		}
		if name == "sum > throws" && got.Message != "no good" {
			t.Errorf("%s: %q", name, got.Message)
		}
		if ordered == 1 && len(m.Summaries) != 6 {
			t.Errorf("%s: summaries %+v", name, m.Summaries)
		}
		if size := len(out.Files["result.json"]); size > 4096 {
			t.Errorf("%s: %d bytes: single calls are in the file", name, size)
		}
	}
	harnesstest.Untouched(t, dir, sample)
}

func TestARealRunThatDies(t *testing.T) {
	t.Parallel()
	for how, reason := range map[string]string{
		"exit": result.ReasonHarnessError, "quit": result.ReasonNoOutput, "kill": result.ReasonHarnessError, "sleep": result.ReasonTimeout,
	} {
		d, dir := start(t, "BEHAVE="+how)
		s, err := d.Suite(treeOrder(dir, "bench.mjs"))
		if err != nil {
			t.Fatal(err)
		}
		if how == "sleep" {
			d.Timeout = 2 * time.Second
		}
		got, out := d.Measure(s, "sum > behave", order.Precision{Repetitions: order.Times(2)}, "wall-time")
		if m := got.Quantities["wall-time"]; m.Reason != reason {
			t.Errorf("%s: %+v\n%s", how, got, out.Stderr)
		}
	}
}

func TestAProjectWithoutThePackage(t *testing.T) {
	t.Parallel()
	d, dir := start(t)
	if err := os.Remove(dir + "/node_modules"); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Suite(treeOrder(dir, "bench.mjs")); fault.CodeOf(err) != fault.Target || !strings.Contains(err.Error(), "tinybench is not importable") {
		t.Errorf("got %v", err)
	}
}
