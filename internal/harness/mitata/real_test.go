package mitata

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

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

func TestTheRealLibrary(t *testing.T) {
	t.Parallel()
	d, dir := harnesstest.Drive(t, New(""), "PATH="+os.Getenv("PATH")), harnesstest.NodeTree(t, sample)
	s, err := d.Suite(treeOrder(dir, "bench.mjs"))
	if err != nil || !strings.HasPrefix(s.Version, "1.") {
		t.Fatalf("%+v %v", s, err)
	}
	cases, err := d.Cases(s)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range cases {
		got = append(got, c.Name)
	}
	want := []string{"plain", "sums > loop(1, x)", "sums > loop(1000, x)", "sums > loop(1, y)", "sums > loop(1000, y)", "throws", "twice", "second run"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	one := 1
	fixed := &order.Calibration{Mode: order.Fixed, NIterations: 50}
	adaptive := &order.Calibration{Mode: order.Adaptive, MinimumSampleSeconds: 0.02}
	means := map[string]float64{}
	for name, tc := range map[string]struct {
		p      order.Precision
		reason string
	}{
		"plain":                {order.Precision{Repetitions: order.Times(3), Calibration: fixed, Warmup: &order.Warmup{Mode: order.None}}, ""},
		"sums > loop(1, y)":    {order.Precision{Repetitions: order.Times(2), Calibration: adaptive, Warmup: &order.Warmup{Mode: order.Count, NWarmup: &one}}, ""},
		"sums > loop(1000, y)": {order.Precision{Repetitions: order.Times(2), Calibration: adaptive, Warmup: &order.Warmup{Mode: order.Count, NWarmup: &one}}, ""},
		"second run":           {order.Precision{Repetitions: order.Times(1), Calibration: adaptive, Warmup: &order.Warmup{Mode: order.None}}, ""},
		"throws":               {order.Precision{Repetitions: order.Times(3), Calibration: fixed}, result.ReasonHarnessError}, // E-69: mitata itself would end with status 0
		"gone":                 {order.Precision{Repetitions: order.Times(3), Calibration: fixed}, result.ReasonNoOutput},
	} {
		got, out := d.Measure(s, name, tc.p, "wall-time")
		m := got.Quantities["wall-time"]
		if m.Reason != tc.reason || (m.Status == result.Success) != (tc.reason == "") || tc.reason == "" && (len(m.Values) != tc.p.Repetitions.Total() || m.OriginalUnit != "ns") {
			t.Errorf("%s: %+v\n%s", name, got, out.Stderr)
			continue
		}
		if tc.reason == "" {
			means[name] = m.Values[0]
		}
		if tc.p.Calibration == fixed && tc.reason == "" && got.InnerIterations[0] != 50 {
			t.Errorf("%s: %v calls", name, got.InnerIterations)
		}
		if name == "throws" && got.Message != "no good" {
			t.Errorf("%s: %q", name, got.Message)
		}
	}
	// The arguments are those of the case: a thousand turns take much longer than one.
	if means["sums > loop(1000, y)"] < 5*means["sums > loop(1, y)"] {
		t.Errorf("means %v", means)
	}
	harnesstest.Untouched(t, dir, sample)
}
