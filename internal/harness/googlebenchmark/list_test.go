package googlebenchmark

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/runner/proc"
)

// listed is every case of the sample, in order.
var listed = []string{
	"BM_Quiet/64", "BM_Quiet/1024", "BM_t", "BM_thr/threads:2", `we.ird[x]+$^|(y)*?{1}\ é`, "BM_t/iterations:50", "BM_repeats/repeats:4",
	"BM_process/process_time/real_time", "BM_ms", "BM_s", "BM_aggregates/repeats:3", "BM_named/a:1/b/c:2", "BM_template<double>", "BM_counters",
	"BM_not_finite", "BM_error", "BM_flaky/iterations:100", "BM_clash", "BM_label", "BM_manual/manual_time", "BM_zero/iterations:10/manual_time",
	"BM_complexity/64", "BM_complexity/128", "BM_complexity/256", "BM_behave/iterations:10",
}

func names(cases []order.Case) []string {
	var out []string
	for _, c := range cases {
		out = append(out, c.Name)
	}
	return out
}

func TestCases(t *testing.T) {
	t.Parallel()
	s := harness.Suite{Filter: "BM_.*"}
	ok := proc.Result{Cause: proc.Exited}
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"a real listing":  {string(fixture(t, "list.txt")), listed},
		"blank lines":     {"\nBM_a\r\n  \nBM b \n", []string{"BM_a", "BM b "}},
		"no line feed":    {"BM_a", []string{"BM_a"}},
		"nothing":         {"", nil},
		"JSON":            {`{"benchmarks": [{"name": "BM_a\"x", "new": [1]}, {"name": "BM_b"}], "context": {}}` + "\n", []string{`BM_a"x`, "BM_b"}},
		"nothing in JSON": {`{"benchmarks": []}`, nil},
	} {
		got, err := Adapter{}.Cases(s, []harness.Output{{Result: ok, Stdout: []byte(tc.text)}})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(tc.want, names(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if len(got) > 0 && got[0].From != "BM_.*" {
			t.Errorf("%s: from %q", name, got[0].From)
		}
	}
}

func TestAListingThatFailed(t *testing.T) {
	t.Parallel()
	ok := proc.Result{Cause: proc.Exited}
	for name, tc := range map[string]struct {
		out  harness.Output
		want fault.Code
	}{
		"status":        {harness.Output{Result: proc.Result{Cause: proc.Exited, Exit: 1}, Stdout: []byte("BM_a\n"), Stderr: []byte("no such flag")}, fault.Harness},
		"time limit":    {harness.Output{Result: proc.Result{Cause: proc.TimedOut}, Stdout: []byte("BM_a\n")}, fault.Harness},
		"no expression": {harness.Output{Result: ok, Stderr: []byte("Could not compile benchmark re: Unmatched ( or \\(\n")}, fault.Harness},
		"no UTF-8":      {harness.Output{Result: ok, Stdout: []byte("BM_\xff\n")}, fault.Harness},
		"cut JSON":      {harness.Output{Result: ok, Stdout: []byte(`{"benchmarks": [{"name": "a"}`)}, fault.Malformed},
		"other JSON":    {harness.Output{Result: ok, Stdout: []byte(`{"stray": true}`)}, fault.Malformed},
		"no name":       {harness.Output{Result: ok, Stdout: []byte(`{"benchmarks": [{}]}`)}, fault.Harness},
		"two names":     {harness.Output{Result: ok, Stdout: []byte(`{"benchmarks": [{"name":"a","name":"b"}]}`)}, fault.Malformed},
	} {
		got, err := Adapter{}.Cases(harness.Suite{}, []harness.Output{tc.out})
		if fault.CodeOf(err) != tc.want {
			t.Errorf("%s: %d cases, %v", name, len(got), err)
		}
	}
	if _, err := (Adapter{}).Cases(harness.Suite{}, nil); fault.CodeOf(err) != fault.Internal {
		t.Errorf("no listing: %v", err)
	}
}

func TestPattern(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"BM_t": "^BM_t$", "-x": "^-x$", "a.b": `^a\.b$`, "f<int, 8>/a:1": "^f<int, 8>/a:1$",
		`we.ird[x]+$^|(y)*?{1}\ é`: `^we\.ird\[x]\+\$\^\|\(y\)\*\?\{1}\\ é$`,
	} {
		if got := Pattern(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

func TestListing(t *testing.T) {
	t.Parallel()
	s := probed(t, "1.7")
	want := []harness.Invocation{{Argv: []string{"/b/sample", "--benchmark_list_tests=true", "--benchmark_filter=."}, Dir: "/b", Variables: map[string]string{"LC_ALL": "C"}}}
	if diff := cmp.Diff(want, Adapter{}.Listing(s)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s.Filter = "-BM_x"
	delete(s.Traits, traitLocale)
	if got := (Adapter{}).Listing(s)[0]; got.Argv[2] != "--benchmark_filter=-BM_x" || got.Variables != nil {
		t.Errorf("got %+v", got)
	}
}

// TestInvocation is the precision matrix: flags by version of the library, or the
// place in the order that cannot be honoured.
func TestInvocation(t *testing.T) {
	t.Parallel()
	precision := func(c *order.Calibration, w *order.Warmup) order.Precision {
		return order.Precision{Repetitions: order.Times(5), Calibration: c, Warmup: w}
	}
	adaptive := func(s float64) *order.Calibration {
		return &order.Calibration{Mode: order.Adaptive, MinimumSampleSeconds: s}
	}
	two := 2
	hundred := &order.Calibration{Mode: order.Fixed, NIterations: 100}
	for name, tc := range map[string]struct {
		version string
		p       order.Precision
		want    string // flags of precision, or
		refused string // pointer
	}{
		"defaults, 1.7":     {"1.7", precision(nil, nil), "--benchmark_repetitions=5 --benchmark_min_time=0.5 --benchmark_min_warmup_time=0", ""},
		"defaults, 1.9":     {"1.9", precision(nil, nil), "--benchmark_repetitions=5 --benchmark_min_time=0.5s --benchmark_min_warmup_time=0", ""},
		"defaults, unknown": {"", precision(nil, nil), "--benchmark_repetitions=5 --benchmark_min_time=0.5", ""},
		"time, 1.7":         {"1.7", precision(adaptive(1e-6), nil), "--benchmark_repetitions=5 --benchmark_min_time=0.000001 --benchmark_min_warmup_time=0", ""},
		"count, 1.9":        {"1.9", precision(hundred, nil), "--benchmark_repetitions=5 --benchmark_min_time=100x --benchmark_min_warmup_time=0", ""},
		"count, 1.7":        {"1.7", precision(hundred, nil), "", "/precision/calibration/mode"},
		"count, unknown":    {"", precision(hundred, nil), "", "/precision/calibration/mode"},
		"no warm-up":        {"1.9", precision(nil, &order.Warmup{Mode: order.None}), "--benchmark_repetitions=5 --benchmark_min_time=0.5s --benchmark_min_warmup_time=0", ""},
		"warm-up":           {"1.7", precision(nil, &order.Warmup{Mode: order.Time, Seconds: 0.25}), "--benchmark_repetitions=5 --benchmark_min_time=0.5 --benchmark_min_warmup_time=0.25", ""},
		"warm-up, unknown":  {"", precision(nil, &order.Warmup{Mode: order.Time, Seconds: 0.25}), "", "/precision/warmup/mode"},
		"warm-up by count":  {"1.9", precision(nil, &order.Warmup{Mode: order.Count, NWarmup: &two}), "", "/precision/warmup/mode"},
		"endless warm-up":   {"1.9", precision(nil, &order.Warmup{Mode: order.Time, Seconds: 1e9}), "", "/precision/warmup/seconds"},
		"no time":           {"1.9", precision(adaptive(1e-12), nil), "", "/precision/calibration/minimum_sample_seconds"},
		"endless":           {"1.9", precision(adaptive(1e300), nil), "", "/precision/calibration/minimum_sample_seconds"},
		"level":             {"1.9", order.Precision{Repetitions: order.Repetitions{Levels: []order.Level{{Unit: "repetition", N: 2}}}}, "--benchmark_repetitions=2 --benchmark_min_time=0.5s --benchmark_min_warmup_time=0", ""},
		"two levels":        {"1.9", order.Precision{Repetitions: order.Repetitions{Levels: []order.Level{{Unit: "repetition", N: 2}, {Unit: "repetition", N: 2}}}}, "", "/precision/repetitions/levels/1"},
		"too many":          {"1.9", times(1 << 21), "", "/precision/repetitions"},
	} {
		s := harness.Suite{Program: "/b/sample", Dir: "/b"}
		if tc.version != "" {
			s = probed(t, tc.version)
		}
		inv, err := Adapter{}.Invocation(s, "BM_t", tc.p)
		if tc.refused != "" {
			e, _ := fault.As(err)
			if fault.CodeOf(err) != fault.Refused || e.Pointer != tc.refused {
				t.Errorf("%s: got %v, want a refusal at %s", name, err, tc.refused)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := strings.Join(inv.Argv[4:], " "); !strings.HasPrefix(got, tc.want) || tc.version == "" && got != tc.want {
			t.Errorf("%s: got %s\nwant %s", name, got, tc.want)
		}
	}
	s := probed(t, "1.9")
	inv, err := Adapter{}.Invocation(s, "a.b", times(1))
	if err != nil {
		t.Fatal(err)
	}
	want := harness.Invocation{
		Argv: []string{
			"/b/sample", `--benchmark_filter=^a\.b$`, "--benchmark_out=" + harness.Exchange + "/benchmark.json", "--benchmark_out_format=json",
			"--benchmark_repetitions=1", "--benchmark_min_time=0.5s", "--benchmark_min_warmup_time=0",
			"--benchmark_report_aggregates_only=false", "--benchmark_display_aggregates_only=false", "--benchmark_enable_random_interleaving=false",
			"--benchmark_dry_run=false", "--benchmark_color=false", "--benchmark_counters_tabular=false", "--benchmark_format=console",
		},
		Dir: "/b", Variables: map[string]string{"LC_ALL": "C"},
		Outputs: []harness.File{{Name: "benchmark.json", Kind: result.ArtifactNative, MediaType: "application/json"}},
	}
	if diff := cmp.Diff(want, inv); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, bad := range []string{"", "a\nb", "a\x00", "\xff"} {
		if _, err := (Adapter{}).Invocation(s, bad, times(1)); fault.CodeOf(err) != fault.Refused {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestSettle(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{"1.7": "1.6.2+", "1.9": "1.8+"} {
		if got := probed(t, version); got.Version != want || got.Traits[traitLocale] != "C" {
			t.Errorf("%s: %+v", version, got)
		}
	}
	old, err := Adapter{}.Settle(harness.Suite{}, []harness.Output{{Stderr: []byte("benchmark [--benchmark_filter=<regex>]\n [--benchmark_min_time=<min_time>]\n [--benchmark_out=<f>]\n")}})
	if err != nil || old.Version != "1.5+" || knows(old, "benchmark_min_warmup_time") {
		t.Errorf("an old library: %+v %v", old, err)
	}
	for _, told := range []string{"", "usage: other [--help]\n", "[--benchmark_filter=x]"} {
		if _, err := (Adapter{}).Settle(harness.Suite{}, []harness.Output{{Stdout: []byte(told)}}); fault.CodeOf(err) != fault.Target {
			t.Errorf("%q: %v", told, err)
		}
	}
	if _, err := (Adapter{}).Settle(harness.Suite{}, nil); fault.CodeOf(err) != fault.Internal {
		t.Errorf("no probe: %v", err)
	}
	if got := (Adapter{}).Probes(probed(t, "1.9")); len(got) != 1 || got[0].Argv[1] != "--help" {
		t.Errorf("probes %+v", got)
	}
}
