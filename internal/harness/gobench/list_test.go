package gobench

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/order"
	"writ/internal/runner/proc"
)

// listed is every case of the sample, in order.
var listed = []string{
	"BenchmarkSum", "BenchmarkAlloc", "BenchmarkBytes",
	"BenchmarkSize/small", "BenchmarkSize/small-2", "BenchmarkSize/big_one", "BenchmarkSize/a/b", "BenchmarkSize/a/b#01",
	"BenchmarkSize/re.[x]+$|(y)", `BenchmarkSize/é\x01`, "BenchmarkSize/#00",
	"BenchmarkInput", "BenchmarkStrayLine", "BenchmarkStrayText", "BenchmarkFail", "BenchmarkMixed/good", "BenchmarkMixed/bad",
	"BenchmarkSkip", "BenchmarkMetric", "BenchmarkFlaky", "BenchmarkLog", "BenchmarkBehave",
}

func names(cases []order.Case) []string {
	var out []string
	for _, c := range cases {
		out = append(out, c.Name)
	}
	return out
}

func TestCasesOfARealListing(t *testing.T) {
	t.Parallel()
	outs := []harness.Output{ended(0, fixture(t, "functions.txt")), ended(1, fixture(t, "listing.txt"))}
	got, err := Adapter{}.Cases(suite, outs)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(listed, names(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCasesUnderAFilter(t *testing.T) {
	t.Parallel()
	s := suite
	s.Filter = "Outer/x"
	text := "BenchmarkOuter\nBenchmarkOuter/x\nBenchmarkOuter/x-2 1 5 ns/op\nBenchmarkOuterEmpty\nPASS\n"
	got, err := Adapter{}.Cases(s, []harness.Output{ended(0, []byte("BenchmarkOuter\nBenchmarkOuterEmpty\nBenchmarkOther\n")), ended(0, []byte(text))})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]order.Case{{Name: "BenchmarkOuter/x", From: "Outer/x"}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSelects(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		filter, name string
		want         bool
	}{
		{"", "BenchmarkA", true}, {".", "BenchmarkA/b", true}, {"A", "BenchmarkA", true}, {"A", "BenchmarkB", false},
		{"A/b", "BenchmarkA", false}, {"A/b", "BenchmarkA/b", true}, {"A/b", "BenchmarkA/b/c", true}, {"A/b", "BenchmarkA/c", false},
		{"A|B/c", "BenchmarkA", true}, {"A|B/c", "BenchmarkB", false}, {"A|B/c", "BenchmarkB/c", true},
		{"(A|B/c)", "BenchmarkA", true}, {"[/|]", "BenchmarkA", false}, {`A\|B`, "BenchmarkA", false}, {"A[]/]b", "BenchmarkA", false}, {"(", "BenchmarkA", false},
	} {
		if got := selects(tc.filter, tc.name); got != tc.want {
			t.Errorf("%q selects %q: %t", tc.filter, tc.name, got)
		}
	}
}

func TestCasesIgnoreNamesThatTheBinaryDoesNotHave(t *testing.T) {
	t.Parallel()
	text := "BenchmarkA\nBenchmarkInvented\nBenchmarkA-2 1 5 ns/op\nPASS\n"
	got, err := Adapter{}.Cases(suite, []harness.Output{ended(0, []byte("BenchmarkA\nok\n")), ended(0, []byte(text))})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"BenchmarkA"}, names(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAListingThatBrokeOffIsNone(t *testing.T) {
	t.Parallel()
	functions, listing := ended(0, fixture(t, "functions.txt")), fixture(t, "listing.txt")
	timedOut := ended(1, listing)
	timedOut.Result.Cause = proc.TimedOut
	crashed := ended(2, fixture(t, "panic.txt"))
	crashed.Stderr = fixture(t, "panic.stderr.txt")
	for name, out := range map[string]harness.Output{
		"cut off": ended(1, listing[:len(listing)-3]), "time limit": timedOut, "panic": crashed,
		"panic after FAIL": ended(2, listing), "exit": ended(0, fixture(t, "exit.txt")), "PASS with status 1": ended(1, []byte("PASS\n")), "FAIL with status 0": ended(0, []byte("FAIL\n")),
	} {
		got, err := Adapter{}.Cases(suite, []harness.Output{functions, out})
		if fault.CodeOf(err) != fault.Harness {
			t.Errorf("%s: got %d cases, %v", name, len(got), err)
		}
		if name == "panic" && !strings.Contains(err.Error(), "panic: boom") {
			t.Errorf("the message does not say why: %v", err)
		}
	}
	if _, err := (Adapter{}).Cases(suite, []harness.Output{ended(1, nil), ended(0, []byte("PASS\n"))}); fault.CodeOf(err) != fault.Harness {
		t.Errorf("no functions: got %v", err)
	}
}

// TestPatternSelectsOneCase matches patterns the way the testing package does:
// level by level.
func TestPatternSelectsOneCase(t *testing.T) {
	t.Parallel()
	for _, name := range listed {
		levels := strings.Split(Pattern(name), "/")
		for _, other := range listed {
			parts := strings.Split(other, "/")
			match := len(parts) >= len(levels)
			for i := 0; match && i < len(levels); i++ {
				ok, err := regexp.MatchString(levels[i], parts[i])
				if err != nil {
					t.Fatal(err)
				}
				match = ok
			}
			if match != (name == other) {
				t.Errorf("%s: the pattern %s selects %s: %t", name, Pattern(name), other, match)
			}
		}
	}
}

func TestInvocation(t *testing.T) {
	t.Parallel()
	s := harness.Suite{Program: "/b/s.test", Dir: "/src/pkg", Processors: 4}
	flags := []string{"/b/s.test", "-test.run=^$", `-test.bench=^BenchmarkA$/^b\.c$`, "-test.benchmem", "-test.v", "-test.timeout=0", "-test.cpu=4"}
	for name, tc := range map[string]struct {
		p    order.Precision
		want []string
	}{
		"defaults": {order.Precision{Repetitions: order.Times(3)}, []string{"-test.benchtime=1s", "-test.count=3"}},
		"adaptive": {order.Precision{Repetitions: order.Times(1), Calibration: &order.Calibration{Mode: order.Adaptive, MinimumSampleSeconds: 0.0125}}, []string{"-test.benchtime=0.0125s", "-test.count=1"}},
		"fixed":    {times(5), []string{"-test.benchtime=100x", "-test.count=5"}},
		"warm-ups": {warm(5, 2), []string{"-test.benchtime=100x", "-test.count=7"}},
		"level":    {order.Precision{Repetitions: order.Repetitions{Levels: []order.Level{{Unit: "repetition", N: 2}}}}, []string{"-test.benchtime=1s", "-test.count=2"}},
	} {
		got, err := Adapter{}.Invocation(s, "BenchmarkA/b.c", tc.p)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := harness.Invocation{Argv: append(append([]string{}, flags...), tc.want...), Dir: "/src/pkg"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	tiny := order.Precision{Repetitions: order.Times(1), Calibration: &order.Calibration{Mode: order.Adaptive, MinimumSampleSeconds: 1e-12}}
	for name, tc := range map[string]struct {
		bench string
		p     order.Precision
	}{"no name": {"TestA", times(1)}, "blank": {"BenchmarkA b", times(1)}, "no time": {"BenchmarkA", tiny}, "too many": {"BenchmarkA", times(1 << 21)}} {
		if _, err := (Adapter{}).Invocation(s, tc.bench, tc.p); fault.CodeOf(err) != fault.Refused {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
