package pyperf

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
)

func TestCases(t *testing.T) {
	t.Parallel()
	list := func(exit int, text string) harness.Output {
		return harnesstest.Ended(exit, map[string][]byte{listFile: []byte(text)})
	}
	s := harness.Suite{Filter: "^bench", Traits: map[string]string{traitModule: "bench.mod"}}
	got, err := Adapter{}.Cases(s, []harness.Output{list(0, `{"cases": ["bench_a", "bench_b"]}`)})
	if diff := cmp.Diff([]order.Case{{Name: "bench_a", From: "^bench"}, {Name: "bench_b", From: "^bench"}}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	broken := list(1, "")
	broken.Stderr = []byte("Traceback (most recent call last):\n  File \"list.py\", line 14\nModuleNotFoundError: No module named 'x'\n")
	for name, out := range map[string]harness.Output{
		"import failed": broken, "no file": harnesstest.Ended(0, nil), "cut off": list(0, `{"cases": ["a"`), "other members": list(0, `{"cases": [], "x": 1}`), "no identifier": list(0, `{"cases": ["a b"]}`),
	} {
		got, err := Adapter{}.Cases(s, []harness.Output{out})
		if fault.CodeOf(err) != fault.Harness {
			t.Errorf("%s: %v %v", name, got, err)
		}
		if name == "import failed" && !strings.Contains(err.Error(), "cannot import bench.mod: the listing ended with status 1: ModuleNotFoundError: No module named 'x'") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (Adapter{}).Cases(s, nil); fault.CodeOf(err) != fault.Internal {
		t.Errorf("no listing: %v", err)
	}
}

// TestInvocation is the precision matrix: flags, or the place in the order that
// cannot be honoured.
func TestInvocation(t *testing.T) {
	t.Parallel()
	s := harness.Suite{Program: "/usr/bin/python3", Dir: "/tree", Traits: map[string]string{traitModule: "bench.mod", traitOrdered: "A_B PYTHONHASHSEED"}}
	levels := func(l ...order.Level) order.Precision {
		return order.Precision{Repetitions: order.Repetitions{Levels: l}}
	}
	p, v := order.Level{Unit: Process, N: 7}, order.Level{Unit: Value, N: 5}
	with := func(c *order.Calibration, w *order.Warmup) order.Precision {
		x := levels(p, v)
		x.Calibration, x.Warmup = c, w
		return x
	}
	zero, three, huge := 0, 3, 1<<20
	for name, tc := range map[string]struct {
		p       order.Precision
		want    string // flags, or
		refused string // pointer
	}{
		"both levels":      {levels(p, v), "--processes 7 --values 5 --warmups 1 --min-time 0.1", ""},
		"processes":        {levels(p), "--processes 7 --values 3 --warmups 1 --min-time 0.1", ""},
		"values":           {levels(v), "--processes 20 --values 5 --warmups 1 --min-time 0.1", ""},
		"no level":         {levels(), "--processes 20 --values 3 --warmups 1 --min-time 0.1", ""},
		"time":             {with(&order.Calibration{Mode: order.Adaptive, MinimumSampleSeconds: 1e-6}, nil), "--processes 7 --values 5 --warmups 1 --min-time 0.000001", ""},
		"fixed":            {with(&order.Calibration{Mode: order.Fixed, NIterations: 50}, nil), "--processes 7 --values 5 --warmups 1 --loops 50", ""},
		"no warm-up":       {with(nil, &order.Warmup{Mode: order.None}), "--processes 7 --values 5 --warmups 0 --min-time 0.1", ""},
		"none by count":    {with(nil, &order.Warmup{Mode: order.Count, NWarmup: &zero}), "--processes 7 --values 5 --warmups 0 --min-time 0.1", ""},
		"warm-up":          {with(nil, &order.Warmup{Mode: order.Count, NWarmup: &three}), "--processes 7 --values 5 --warmups 3 --min-time 0.1", ""},
		"warm-up by time":  {with(nil, &order.Warmup{Mode: order.Time, Seconds: 1}), "", "/precision/warmup/mode"},
		"endless warm-up":  {with(nil, &order.Warmup{Mode: order.Count, NWarmup: &huge}), "", "/precision/warmup/n_warmup"},
		"bare":             {order.Precision{Repetitions: order.Times(5)}, "", "/precision/repetitions"},
		"another unit":     {levels(p, order.Level{Unit: "repetition", N: 2}), "", "/precision/repetitions/levels/1/unit"},
		"twice":            {levels(p, p), "", "/precision/repetitions/levels/1/unit"},
		"too many":         {levels(order.Level{Unit: Process, N: 1 << 20}), "", "/precision/repetitions"},
		"too many loops":   {with(&order.Calibration{Mode: order.Fixed, NIterations: 1 << 50}, nil), "", "/precision/calibration/n_iterations"},
		"no time":          {with(&order.Calibration{Mode: order.Adaptive}, nil), "", "/precision/calibration/minimum_sample_seconds"},
		"no number either": {with(&order.Calibration{Mode: order.Adaptive, MinimumSampleSeconds: math.NaN()}, nil), "", "/precision/calibration/minimum_sample_seconds"},
	} {
		inv, err := Adapter{}.Invocation(s, "bench_a", tc.p)
		if tc.refused != "" {
			if e, _ := fault.As(err); fault.CodeOf(err) != fault.Refused || e.Pointer != tc.refused {
				t.Errorf("%s: got %v, want a refusal at %s", name, err, tc.refused)
			}
			continue
		}
		want := "/usr/bin/python3 " + harness.Exchange + "/driver.py --copy-env " + tc.want + " --output " + harness.Exchange + "/pyperf.json"
		if got := strings.Join(inv.Argv, " "); err != nil || got != want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", name, err, got, want)
		}
	}
	inv, err := Adapter{}.Invocation(s, "bench_a", levels(p))
	if err != nil {
		t.Fatal(err)
	}
	constants := `MODULE, FUNCTION, RECORDED = "bench.mod", "bench_a", ["A_B",`
	if text := string(inv.Inputs[0].Bytes); !strings.Contains(text, constants) || strings.Contains(text, "None, None") || strings.Count(text, `"PYTHONHASHSEED"`) != 1 {
		t.Errorf("driver:\n%s", text)
	}
	if len(inv.Outputs) != 3 || inv.Outputs[0].Kind != "native-output" || inv.Variables["PYTHONDONTWRITEBYTECODE"] != "1" || inv.Dir != "/tree" {
		t.Errorf("got %+v", inv)
	}
	for _, bad := range []string{"", "a b", "a.b", "1a", "é", "a;b", "a\n"} {
		if _, err := (Adapter{}).Invocation(s, bad, levels(p)); fault.CodeOf(err) != fault.Refused {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// treeOrder is an order for a tree, with the interpreter that a name finds.
func treeOrder(dir, suite, interpreter string) order.Order {
	su := order.Suite{Adapter: Name, Suite: suite, Parameters: canon.MustFrom(map[string]string{"python": interpreter})}
	return order.Order{Suites: []order.Suite{su}, Quantities: wall, Precision: precision(2, 2), Target: order.Target{Kind: order.WorkingTree, Path: dir}}
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
	o := treeOrder(dir, "deep/bench_more.py", self)
	o.EnvironmentVariables = map[string]string{"B": "2", "A": "1"}
	got, err := Adapter{}.Locate(o, o.Suites[0])
	if err != nil || got.Traits[traitModule] != "deep.bench_more" || got.Traits[traitOrdered] != "A B" || got.Dir != dir || !got.Shared || len(got.Protocol) != 3 {
		t.Errorf("got %+v %v", got, err)
	}
	for name, tc := range map[string]struct {
		suite, variable, pointer string
		want                     fault.Code
	}{
		"no module":   {"deep", "", "/suites/0/suite", fault.Refused},
		"missing":     {"none.py", "", "/suites/0/suite", fault.Target},
		"odd name":    {"odd-name.py", "", "/suites/0/suite", fault.Refused},
		"its setting": {"bench_sample.py", "PYPERF_X", "/environment_variables/PYPERF_X", fault.Refused},
	} {
		tree := t.TempDir()
		if err := os.CopyFS(tree, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(tree, "odd-name.py"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		o := treeOrder(tree, tc.suite, self)
		if tc.variable != "" {
			o.EnvironmentVariables = map[string]string{tc.variable: "1"}
		}
		_, err := Adapter{}.Locate(o, o.Suites[0])
		if e, _ := fault.As(err); fault.CodeOf(err) != tc.want || e.Pointer != tc.pointer {
			t.Errorf("%s: got %v, want %s at %s", name, err, tc.want, tc.pointer)
		}
	}
}

func TestCapabilities(t *testing.T) {
	t.Parallel()
	three := 3
	for name, tc := range map[string]struct {
		change  func(*order.Order)
		pointer string
	}{
		"fine":    {func(*order.Order) {}, ""},
		"fixed":   {func(o *order.Order) { o.Precision = fixed(o.Precision, 5) }, ""},
		"warm-up": {func(o *order.Order) { o.Precision.Warmup = &order.Warmup{Mode: order.Count, NWarmup: &three} }, ""},
		"bare":    {func(o *order.Order) { o.Precision.Repetitions = order.Times(5) }, "/precision/repetitions"},
		"inside out": {func(o *order.Order) {
			o.Precision.Repetitions.Levels = []order.Level{{Unit: Value, N: 1}, {Unit: Process, N: 1}}
		}, "/precision/repetitions/levels/1/unit"},
		"another unit":    {func(o *order.Order) { o.Precision.Repetitions.Levels[0].Unit = "round" }, "/precision/repetitions/levels/0/unit"},
		"warm-up by time": {func(o *order.Order) { o.Precision.Warmup = &order.Warmup{Mode: order.Time, Seconds: 1} }, "/precision/warmup/mode"},
		"peak memory":     {func(o *order.Order) { o.Quantities = []string{"peak-rss"} }, "/quantities/0"},
		"build":           {func(o *order.Order) { o.Target.Kind = order.BuildTree }, "/target/kind"},
	} {
		o := treeOrder("/tree", "bench.py", "python")
		tc.change(&o)
		err := order.Check(o, Adapter{}.Capabilities())
		if e, _ := fault.As(err); (err == nil) != (tc.pointer == "") || err != nil && e.Pointer != tc.pointer {
			t.Errorf("%s: got %v, want %q", name, err, tc.pointer)
		}
	}
}
