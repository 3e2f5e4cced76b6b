package vitest

import (
	"os"
	"strings"
	"testing"

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

func TestTheRealRunner(t *testing.T) {
	t.Parallel()
	d, dir := harnesstest.Drive(t, New(""), "PATH="+os.Getenv("PATH")), harnesstest.NodeTree(t, sample)
	s, err := d.Suite(treeOrder(dir, "bench/sum.bench.ts"))
	if err != nil || !strings.HasPrefix(s.Version, "4.") {
		t.Fatalf("%+v %v", s, err)
	}
	cases, err := d.Cases(s)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range cases {
		got = append(got, strings.TrimPrefix(c.Name, "bench/sum.bench.ts > "))
	}
	if diff := cmp.Diff([]string{"top", "outer > inner > deep", "outer > throws", "outer > skipped"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	one := 1
	fixed := &order.Calibration{Mode: order.Fixed, NIterations: 50}
	adaptive := &order.Calibration{Mode: order.Adaptive, MinimumSampleSeconds: 0.02}
	for name, tc := range map[string]struct {
		p      order.Precision
		reason string
	}{
		"top":                  {order.Precision{Repetitions: order.Times(3), Calibration: adaptive, Warmup: &order.Warmup{Mode: order.Time, Seconds: 0.01}}, ""},
		"outer > inner > deep": {order.Precision{Repetitions: order.Times(2), Calibration: fixed, Warmup: &order.Warmup{Mode: order.Count, NWarmup: &one}}, ""},
		"outer > throws":       {order.Precision{Repetitions: order.Times(3), Calibration: fixed}, result.ReasonHarnessError}, // E-65: it would have a rank
		"outer > skipped":      {order.Precision{Repetitions: order.Times(3), Calibration: fixed}, result.ReasonSkipped},
	} {
		got, out := d.Measure(s, "bench/sum.bench.ts > "+name, tc.p, "wall-time")
		m := got.Quantities["wall-time"]
		if m.Reason != tc.reason || (m.Status == result.Success) != (tc.reason == "") || tc.reason == "" && len(m.Values) != tc.p.Repetitions.Total() {
			t.Errorf("%s: %+v\n%s", name, got, out.Stderr)
			continue
		}
		if tc.p.Calibration == fixed && tc.reason == "" && got.InnerIterations[0] != 50 {
			t.Errorf("%s: %v calls", name, got.InnerIterations)
		}
		if size := len(out.Files["result.json"]); size > 4096 { // E-67: single calls would fill the memory
			t.Errorf("%s: %d bytes: single calls are in the file", name, size)
		}
	}
	harnesstest.Untouched(t, dir, sample)
	o := treeOrder(dir, "bench/broken.bench.ts")
	if s, err = New("").Locate(o, o.Suites[0]); err != nil {
		t.Fatal(err)
	}
	if cases, err := d.Cases(s); fault.CodeOf(err) != fault.Harness || !strings.Contains(err.Error(), "no-such-module") {
		t.Errorf("a file that cannot be loaded: %v %v", cases, err)
	}
}

func TestVariablesOfVitest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := treeOrder(dir, "a.bench.ts")
	o.EnvironmentVariables = map[string]string{"VITEST_MAX_WORKERS": "4"}
	_, err := New("").Locate(o, o.Suites[0])
	if e, ok := fault.As(err); !ok || e.Code != fault.Refused || e.Pointer != "/environment_variables/VITEST_MAX_WORKERS" {
		t.Errorf("got %v", err)
	}
}
