package criterion

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/harness/harnesstest"
	"writ/internal/order"
)

func second[T any](_ T, err error) error { return err }

func pointerOf(err error) string {
	if e, ok := fault.As(err); ok && e.Code == fault.Refused {
		return e.Pointer
	}
	return ""
}

func buildOrder(dir, name string) order.Order {
	return order.Order{
		Suites: []order.Suite{{Adapter: Name, Suite: name}}, Quantities: wall, Precision: ordered(10), Target: order.Target{Kind: order.BuildTree, Path: dir},
	}
}

func TestLocate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{
		"deps/parse-0123456789abcdef": 0o755, "deps/parse-0123456789abcdef.d": 0o644, "deps/parse-0123456789abcdee": 0o644, "deps/parser-0123456789abcdef": 0o755,
		"deps/two-0123456789abcdef": 0o755, "deps/two-fedcba9876543210": 0o755, "plain": 0o755,
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, mode)); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"plain": "plain", "deps/parse": "deps/parse-0123456789abcdef", "deps/two-fedcba9876543210": "deps/two-fedcba9876543210"} {
		o := buildOrder(dir, name)
		if s, err := (Adapter{}).Locate(o, o.Suites[0]); err != nil || s.Program != filepath.Join(dir, want) || s.Dir != dir {
			t.Errorf("%s: %+v %v", name, s, err)
		}
	}
	for name, says := range map[string]string{"deps/none": "suite not found", "none/x": "suite not found", "deps/two": "two-0123456789abcdef, two-fedcba9876543210"} {
		o := buildOrder(dir, name)
		if err := second(Adapter{}.Locate(o, o.Suites[0])); fault.CodeOf(err) != fault.Target || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"CRITERION_HOME", "CRITERION_DEBUG", "CARGO_CRITERION_PORT"} {
		o := buildOrder(dir, "plain")
		o.EnvironmentVariables = map[string]string{name: "x"}
		if err := second(Adapter{}.Locate(o, o.Suites[0])); pointerOf(err) != "/environment_variables/"+name {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// libtestHelp is what a program with the built-in harness says.
const libtestHelp = `Usage: [OPTIONS] [FILTERS...]

Options:
        --include-ignored
        --bench         Run benchmarks and not tests
        --list          List all tests and benchmarks
        --exact         Exactly match filters rather than by substring
        --format pretty|terse|json|junit
`

func TestSettle(t *testing.T) {
	t.Parallel()
	newer := string(fixture(t, "help-0.3.txt")) + "\n  --discard-baseline\n  --quick\n"
	for name, tc := range map[string]struct{ help, version, flags string }{
		"0.3": {string(fixture(t, "help-0.3.txt")), "0.3", ""},
		"0.4": {newer, "0.4+", "quick"},
		"0.5": {newer + "  --exact\n  --format <FORMAT>\n", "0.5+", "exact format quick"},
	} {
		out := harnesstest.Ended(0, nil)
		out.Stdout = []byte(tc.help)
		s, err := Adapter{}.Settle(harness.Suite{}, []harness.Output{out})
		if err != nil || s.Version != tc.version || s.Traits[traitFlags] != tc.flags {
			t.Errorf("%s: %+v %v", name, s, err)
		}
	}
	for name, help := range map[string]string{"the built-in harness": libtestHelp, "nothing": ""} {
		out := harnesstest.Ended(0, nil)
		out.Stdout = []byte(help)
		err := second(Adapter{}.Settle(harness.Suite{}, []harness.Output{out}))
		if e, ok := fault.As(err); !ok || e.Code != fault.Target || !strings.Contains(e.Hint, "harness = false") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := second(Adapter{}.Settle(harness.Suite{}, nil)); fault.CodeOf(err) != fault.Internal {
		t.Errorf("no probe: %v", err)
	}
}

func TestCases(t *testing.T) {
	t.Parallel()
	list := func(exit int, text string) []harness.Output {
		out := harnesstest.Ended(exit, nil)
		out.Stdout = []byte(text)
		return []harness.Output{out}
	}
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"0.3": {string(fixture(t, "list-0.3.txt")), []string{"fib 10", "fib 100?", "sum/all/bytes/16", "sum/all/bytes/64", "flat/one", "own/size", "panics"}},
		"0.5": {"fib 10: benchmark\na::b: c/1: benchmark\r\n", []string{"fib 10", "a::b: c/1"}},
		"":    {"", nil},
	} {
		cases, err := Adapter{}.Cases(harness.Suite{Filter: "f"}, list(0, tc.text))
		var got []string
		for _, c := range cases {
			got = append(got, c.Name)
			if c.From != "f" {
				t.Errorf("%s: from %q", c.Name, c.From)
			}
		}
		if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	for name, listed := range map[string][]harness.Output{"failed": list(101, "a: bench\n"), "no id": list(0, ": bench\n")} {
		if cases, err := (Adapter{}).Cases(harness.Suite{}, listed); fault.CodeOf(err) != fault.Harness {
			t.Errorf("%s: %v %v", name, cases, err)
		}
	}
	if err := second(Adapter{}.Cases(harness.Suite{}, nil)); fault.CodeOf(err) != fault.Internal {
		t.Errorf("no listing: %v", err)
	}
	s := suite("format")
	s.Filter = "-x"
	if diff := cmp.Diff([]string{"/build/bench", "--bench", "--list", "--format", "terse", "--", "-x"}, (Adapter{}).Listing(s)[0].Argv); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestInvocation is the precision matrix: flags, or the place in the order that
// cannot be honoured.
func TestInvocation(t *testing.T) {
	t.Parallel()
	with := func(samples int, sample float64, w *order.Warmup) order.Precision {
		return order.Precision{Repetitions: order.Times(samples), Calibration: &order.Calibration{Mode: order.Adaptive, MinimumSampleSeconds: sample}, Warmup: w}
	}
	timed := func(s float64) *order.Warmup { return &order.Warmup{Mode: order.Time, Seconds: s} }
	two := 2
	for name, tc := range map[string]struct {
		flags                 string
		p                     order.Precision
		warmup, time, samples string
		refused               string // pointer
	}{
		"defaults":            {"", order.Precision{Repetitions: order.Times(100)}, "3", "5", "100", ""},
		"defaults, new":       {"exact quick", order.Precision{Repetitions: order.Times(100)}, "3", "5", "100", ""},
		"fractions":           {"quick", with(20, 0.01, timed(0.25)), "0.25", "0.2", "20", ""},
		"whole":               {"", with(10, 0.3, timed(2)), "2", "3", "10", ""},
		"no fractions":        {"", with(10, 0.01, timed(1)), "", "", "", "/precision/calibration/minimum_sample_seconds"},
		"no fraction to warm": {"", with(10, 1, timed(0.5)), "", "", "", "/precision/warmup/seconds"},
		"too few":             {"quick", with(9, 1, timed(1)), "", "", "", "/precision/repetitions"},
		"too many":            {"quick", with(1<<21, 1e-6, timed(1)), "", "", "", "/precision/repetitions"},
		"endless":             {"quick", with(10, 1e9, timed(1)), "", "", "", "/precision/calibration/minimum_sample_seconds"},
		"no warm-up":          {"quick", with(10, 1, &order.Warmup{Mode: order.None}), "", "", "", "/precision/warmup/mode"},
		"warm-up by count":    {"quick", with(10, 1, &order.Warmup{Mode: order.Count, NWarmup: &two}), "", "", "", "/precision/warmup/mode"},
		"fixed":               {"quick", order.Precision{Repetitions: order.Times(10), Calibration: &order.Calibration{Mode: order.Fixed, NIterations: 3}}, "", "", "", "/precision/calibration/mode"},
		"two levels": {"quick", order.Precision{Repetitions: order.Repetitions{Levels: []order.Level{{Unit: "repetition", N: 10}, {Unit: "repetition", N: 3}}}},
			"", "", "", "/precision/repetitions/levels/1"},
	} {
		inv, err := Adapter{}.Invocation(suite(tc.flags), "a+b [c]/1", tc.p)
		if tc.refused != "" {
			if pointerOf(err) != tc.refused {
				t.Errorf("%s: %v, want a refusal at %s", name, err, tc.refused)
			}
			continue
		}
		want := []string{"/build/bench", "--bench", "--noplot", "--warm-up-time", tc.warmup, "--measurement-time", tc.time, "--sample-size", tc.samples}
		if strings.Contains(tc.flags, "exact") {
			want = append(want, "--exact", "--", "a+b [c]/1")
		} else {
			want = append(want, "--", `^a\+b \[c\]/1$`)
		}
		if diff := cmp.Diff(want, inv.Argv); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
		if inv.Variables["CRITERION_HOME"] != harness.InExchange(homeDir) || inv.Variables["CARGO_CRITERION_PORT"] != "" || len(inv.Outputs) != 3 {
			t.Errorf("%s: %+v", name, inv)
		}
	}
	for _, bad := range []string{"", "a\nb", "a\x00", "\xff"} {
		if err := second(Adapter{}.Invocation(suite(""), bad, ordered(10))); pointerOf(err) != "/plan" {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
