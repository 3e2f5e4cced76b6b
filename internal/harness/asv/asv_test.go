package asv

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/order"
)

func second[T any](_ T, err error) error { return err }

func pointerOf(err error) string {
	if e, ok := fault.As(err); ok && e.Code == fault.Refused {
		return e.Pointer
	}
	return ""
}

// TestInvocation is the precision matrix: arguments, or the place in the order that
// cannot be honoured.
func TestInvocation(t *testing.T) {
	t.Parallel()
	s := harness.Suite{Program: "/usr/bin/python3", Dir: "/tree", Traits: map[string]string{traitSuite: "bench"}}
	two := 2
	adaptive := func(s float64) *order.Calibration {
		return &order.Calibration{Mode: order.Adaptive, MinimumSampleSeconds: s}
	}
	fixed := func(n int) *order.Calibration { return &order.Calibration{Mode: order.Fixed, NIterations: n} }
	for name, tc := range map[string]struct {
		p       order.Precision
		want    string // attributes
		refused string // pointer
	}{
		"defaults":         {order.Precision{Repetitions: order.Times(4)}, "rounds=1 repeat=4 warmup_time=0.1 timeout=86400 number=0 sample_time=0.01", ""},
		"time":             {order.Precision{Repetitions: order.Times(4), Calibration: adaptive(0.000001), Warmup: &order.Warmup{Mode: order.Time, Seconds: 2}}, "rounds=1 repeat=4 warmup_time=2 timeout=86400 number=0 sample_time=0.000001", ""},
		"fixed":            {order.Precision{Repetitions: order.Times(4), Calibration: fixed(30), Warmup: &order.Warmup{Mode: order.None}}, "rounds=1 repeat=4 warmup_time=0 timeout=86400 number=30", ""},
		"warm-up by count": {order.Precision{Repetitions: order.Times(4), Warmup: &order.Warmup{Mode: order.Count, NWarmup: &two}}, "", "/precision/warmup/mode"},
		"no warm-up time":  {order.Precision{Repetitions: order.Times(4), Warmup: &order.Warmup{Mode: order.Time}}, "", "/precision/warmup/seconds"},
		"no time":          {order.Precision{Repetitions: order.Times(4), Calibration: adaptive(0)}, "", "/precision/calibration/minimum_sample_seconds"},
		"no calls":         {order.Precision{Repetitions: order.Times(4), Calibration: fixed(0)}, "", "/precision/calibration/n_iterations"},
		"endless":          {order.Precision{Repetitions: order.Times(1 << 21)}, "", "/precision/repetitions"},
		"two levels":       {order.Precision{Repetitions: order.Repetitions{Levels: []order.Level{{Unit: "repetition", N: 3}, {Unit: "repetition", N: 3}}}}, "", "/precision/repetitions/levels/1"},
	} {
		inv, err := Adapter{}.Invocation(s, "sums.time_sized(10, 'a+b')", tc.p)
		if tc.refused != "" {
			if pointerOf(err) != tc.refused {
				t.Errorf("%s: %v, want a refusal at %s", name, err, tc.refused)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		arguments := []string{"--set-commit-hash", "HEAD", "--record-samples", "--show-stderr", "--bench", `^sums\.time_sized\(10, 'a\+b'\)$`}
		for _, a := range strings.Fields(tc.want) {
			arguments = append(arguments, "-a", a)
		}
		want := canon.MustFrom(map[string]any{"mode": "run", "root": "/tree", "suite": "/tree/bench", "arguments": arguments})
		if diff := cmp.Diff(string(want.Canonical()), string(inv.Inputs[1].Bytes)); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff([]string{"/usr/bin/python3", harness.InExchange(driverFile)}, inv.Argv); diff != "" || inv.Dir != "/tree" || len(inv.Outputs) != 2 {
			t.Errorf("%s: %+v", name, inv)
		}
	}
	for _, bad := range []string{"", "-x", ".a", "a b", "a(1", "a(\n)", "\xff"} {
		if err := second(Adapter{}.Invocation(s, bad, ordered(1))); pointerOf(err) != "/plan" {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestLocate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "bench"), 0o755); err != nil {
		t.Fatal(err)
	}
	o := order.Order{Suites: []order.Suite{{Adapter: Name, Suite: "bench"}}, Target: order.Target{Kind: order.WorkingTree, Path: dir}}
	if err := os.WriteFile(filepath.Join(dir, "python3"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if s, err := (Adapter{Path: dir}).Locate(o, o.Suites[0]); err != nil || s.Traits[traitSuite] != "bench" || s.Dir != dir || !s.Shared {
		t.Errorf("%+v %v", s, err)
	}
	o.EnvironmentVariables = map[string]string{"ASV_PYTHONPATH": "x"}
	if err := second(Adapter{Path: dir}.Locate(o, o.Suites[0])); pointerOf(err) != "/environment_variables/ASV_PYTHONPATH" {
		t.Errorf("%v", err)
	}
}

func TestCases(t *testing.T) {
	t.Parallel()
	cases, err := Adapter{}.Cases(harness.Suite{}, []harness.Output{left(0, "", fixture(t, "benchmarks.json"))})
	var got []string
	for _, c := range cases {
		got = append(got, c.Name)
	}
	want := []string{
		"sums.time_plain", "sums.time_sized(10, 'a')", "sums.time_sized(10, 'b')", "sums.time_sized(1000, 'a')", "sums.time_sized(1000, 'b')", "sums.time_fails", "sums.time_median", "sums.time_stale",
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	broken := left(1, "", "")
	broken.Stdout = []byte("Discovering benchmarks\n   Traceback (most recent call last):\n     x\n   ModuleNotFoundError: No module named 'x'\n")
	many := `{"a.time_b":{"type":"time","params":[` + strings.Repeat(`["1","2","3","4","5","6","7","8","9","0"],`, 6) + `["1"]]}}`
	for name, out := range map[string]harness.Output{
		"broken": broken, "no file": left(0, "", ""), "cut off": left(0, "", fixture(t, "benchmarks.json")[:200]), "status": left(2, "", fixture(t, "benchmarks.json")), "too many": left(0, "", many),
		"no name": left(0, "", `{"a b":{"type":"time"}}`),
	} {
		cases, err := Adapter{}.Cases(harness.Suite{}, []harness.Output{out})
		if fault.CodeOf(err) != fault.Harness || name == "broken" && !strings.Contains(err.Error(), "No module named 'x'") {
			t.Errorf("%s: %d cases, %v", name, len(cases), err)
		}
	}
	if err := second(Adapter{}.Cases(harness.Suite{}, nil)); fault.CodeOf(err) != fault.Internal {
		t.Errorf("no listing: %v", err)
	}
}
