package gobench

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/harness"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/runner/proc"
)

var suite = harness.Suite{Program: "/s.test", Dir: "/", Processors: 2}

func times(n int) order.Precision {
	return order.Precision{Repetitions: order.Times(n), Calibration: &order.Calibration{Mode: order.Fixed, NIterations: 100}}
}

func warm(n, warmups int) order.Precision {
	p := times(n)
	p.Warmup = &order.Warmup{Mode: order.Count, NWarmup: &warmups}
	return p
}

var all = quantityNames()

func TestReadOutcomes(t *testing.T) {
	t.Parallel()
	failed := func(reason string) harness.Measured { return harness.Measured{Status: result.Failed, Reason: reason} }
	for name, tc := range map[string]struct {
		file, bench string
		exit        int
		p           order.Precision
		want        map[string]harness.Measured // of status, reason and count of values
		message     string
	}{
		"success": {"sum.txt", "BenchmarkSum", 0, times(5), map[string]harness.Measured{
			"wall-time": {Status: result.Success}, "allocations": {Status: result.Success}, "allocated-bytes": {Status: result.Success},
			"throughput-bytes": failed(result.ReasonNoOutput)}, ""},
		"fewer than ordered":  {"sum.txt", "BenchmarkSum", 0, times(6), map[string]harness.Measured{"wall-time": {Status: result.Partial, Reason: result.ReasonPartial}}, ""},
		"more than ordered":   {"sum.txt", "BenchmarkSum", 0, times(4), map[string]harness.Measured{"wall-time": failed(result.ReasonMapping)}, "5 result lines for 4 repetitions"},
		"warm-ups":            {"sum.txt", "BenchmarkSum", 0, warm(3, 2), map[string]harness.Measured{"wall-time": {Status: result.Success}}, ""},
		"only warm-ups":       {"sum.txt", "BenchmarkSum", 0, warm(3, 5), map[string]harness.Measured{"wall-time": failed(result.ReasonNoOutput)}, ""},
		"bad exit vetoes":     {"sum.txt", "BenchmarkSum", 3, times(5), map[string]harness.Measured{"wall-time": {Status: result.Partial, Reason: result.ReasonPartial}}, "ended with status 3"},
		"failed in between":   {"flaky.txt", "BenchmarkFlaky", 0, times(5), map[string]harness.Measured{"wall-time": {Status: result.Partial, Reason: result.ReasonPartial}}, "work_test.go:115: third time unlucky"},
		"failed though full":  {"flaky.txt", "BenchmarkFlaky", 0, times(4), map[string]harness.Measured{"wall-time": {Status: result.Partial, Reason: result.ReasonPartial}}, "work_test.go:115: third time unlucky"},
		"fatal":               {"fail.txt", "BenchmarkFail", 1, times(3), map[string]harness.Measured{"wall-time": failed(result.ReasonHarnessError)}, "work_test.go:86: broken here"},
		"skipped":             {"skip.txt", "BenchmarkSkip", 0, times(3), map[string]harness.Measured{"wall-time": {Status: result.Skipped, Reason: result.ReasonSkipped}}, "work_test.go:97: not on this machine"},
		"exit in between":     {"exit.txt", "BenchmarkBehave", 0, times(2), map[string]harness.Measured{"wall-time": failed(result.ReasonHarnessError)}, "ended with status 0 and no result"},
		"another case":        {"sum.txt", "BenchmarkSu", 0, times(5), map[string]harness.Measured{"wall-time": failed(result.ReasonNoOutput)}, ""},
		"stray text":          {"stray-text.txt", "BenchmarkStrayText", 0, times(3), map[string]harness.Measured{"wall-time": failed(result.ReasonNoOutput)}, ""},
		"stray line, quietly": {"stray-quiet.txt", "BenchmarkStrayLine", 0, times(3), map[string]harness.Measured{"wall-time": {Status: result.Partial, Reason: result.ReasonPartial}}, ""},
		"a message follows":   {"quiet.txt", "BenchmarkLog", 1, times(2), map[string]harness.Measured{"wall-time": {Status: result.Partial, Reason: result.ReasonPartial}}, "work_test.go:94: wrong sum"},
		"not finite": {"metric.txt", "BenchmarkMetric", 0, times(2), map[string]harness.Measured{
			"wall-time": failed(result.ReasonNoOutput), "allocated-bytes": failed(result.ReasonHarnessError), "allocations": failed(result.ReasonHarnessError)}, ""},
		"panic that Go lost": {"panic-lost.txt", "BenchmarkBehave", 0, times(1), map[string]harness.Measured{
			"wall-time": failed(result.ReasonNoOutput), "allocations": failed(result.ReasonHarnessError)}, ""},
	} {
		quantities := make([]string, 0, len(tc.want))
		for q := range tc.want {
			quantities = append(quantities, q)
		}
		got := Adapter{}.Read(suite, tc.bench, tc.p, quantities, ended(tc.exit, fixture(t, tc.file)))
		if got.Message != tc.message {
			t.Errorf("%s: message %q, want %q", name, got.Message, tc.message)
		}
		if len(got.Quantities) != len(tc.want) {
			t.Errorf("%s: %d outcomes for %d quantities", name, len(got.Quantities), len(tc.want))
		}
		for q, want := range tc.want {
			m := got.Quantities[q]
			if m.Status != want.Status || m.Reason != want.Reason {
				t.Errorf("%s: %s is %s %s (%s), want %s %s", name, q, m.Status, m.Reason, m.Message, want.Status, want.Reason)
			}
			if evidence := m.Status == result.Success || m.Status == result.Partial; evidence != (len(m.Values) > 0) || (m.Reason == "") != (m.Status == result.Success) {
				t.Errorf("%s: %s: %+v", name, q, m)
			}
		}
	}
}

func TestReadValues(t *testing.T) {
	t.Parallel()
	text := "BenchmarkA-2 \t100\t 1234.5 ns/op\t 8.25 MB/s\t 16 B/op\t 1 allocs/op\n" +
		"BenchmarkA-2 \t200\t 100 ns/op\t 9 MB/s\t 0 B/op\t 0 allocs/op\nPASS\n"
	got := Adapter{}.Read(suite, "BenchmarkA", times(2), all, ended(0, []byte(text)))
	want := harness.Reading{
		Quantities: map[string]harness.Measured{
			"wall-time":        {Status: result.Success, Values: []float64{1.2345e-6, 1e-7}, Unit: "s", OriginalUnit: "ns/op"},
			"throughput-bytes": {Status: result.Success, Values: []float64{8.25e6, 9e6}, Unit: "By/s", OriginalUnit: "MB/s"},
			"allocated-bytes":  {Status: result.Success, Values: []float64{16, 0}, Unit: "By", OriginalUnit: "B/op"},
			"allocations":      {Status: result.Success, Values: []float64{1, 0}, Unit: "1", OriginalUnit: "allocs/op"},
		},
		InnerIterations: []int{100, 200}, Attempted: 2, Facts: map[string]string{},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	warmed := Adapter{}.Read(suite, "BenchmarkA", warm(1, 1), []string{"wall-time"}, ended(0, []byte(text)))
	if m := warmed.Quantities["wall-time"]; len(m.Values) != 1 || m.Values[0] != 1e-7 || warmed.Warmups != 1 || m.Status != result.Success {
		t.Errorf("warm-up: %+v", warmed)
	}
}

func TestReadUsesNoBrokenValue(t *testing.T) {
	t.Parallel()
	for values, want := range map[string]result.Status{
		"1 100 0 ns/op":           result.Failed,
		"1 0.0 ns/op":             result.Failed,
		"1 -5 ns/op":              result.Failed,
		"1 NaN ns/op":             result.Failed,
		"1 +Inf ns/op":            result.Failed,
		"1 5 ns/op 6 ns/op":       result.Failed,
		"1 5 ns/op 6 B/op 7 B/op": result.Success,
		"1 5 ns/op":               result.Success,
		"1 0 B/op":                result.Failed,
	} {
		got := Adapter{}.Read(suite, "BenchmarkA", times(1), []string{"wall-time"}, ended(0, []byte("BenchmarkA-2 "+values+"\nPASS\n")))
		if m := got.Quantities["wall-time"]; m.Status != want {
			t.Errorf("%s: got %+v", values, m)
		}
	}
	half := "BenchmarkA-2 1 5 ns/op\nBenchmarkA-2 1 NaN ns/op\nPASS\n"
	got := Adapter{}.Read(suite, "BenchmarkA", times(2), []string{"wall-time"}, ended(0, []byte(half)))
	if m := got.Quantities["wall-time"]; m.Status != result.Partial || len(m.Values) != 1 || m.Message == "" {
		t.Errorf("half a result: %+v", m)
	}
}

func TestReadHowTheProgramEnded(t *testing.T) {
	t.Parallel()
	out := ended(2, fixture(t, "panic.txt"))
	out.Stderr = fixture(t, "panic.stderr.txt")
	got := Adapter{}.Read(suite, "BenchmarkBehave", times(2), all, out)
	if m := got.Quantities["wall-time"]; m.Reason != result.ReasonHarnessError || got.Message != "panic: boom" {
		t.Errorf("panic: %+v", got)
	}
	full := harness.Output{Result: proc.Result{Cause: proc.TimedOut, Exit: -1}, Stdout: fixture(t, "sum.txt")}
	if m := (Adapter{}).Read(suite, "BenchmarkSum", times(5), all, full).Quantities["wall-time"]; m.Reason != result.ReasonTimeout || len(m.Values) > 0 {
		t.Errorf("timeout: %+v", m)
	}
	full.Result.Cause = proc.OutputLimit
	if m := (Adapter{}).Read(suite, "BenchmarkSum", times(5), all, full).Quantities["wall-time"]; m.Status != result.Failed {
		t.Errorf("output limit: %+v", m)
	}
}

// TestTruncatedTextIsNeverASuccess cuts real output at every byte.
func TestTruncatedTextIsNeverASuccess(t *testing.T) {
	t.Parallel()
	text := fixture(t, "sum.txt")
	for cut := range len(text) {
		for _, n := range []int{1, 2, 3, 4, 5} {
			got := Adapter{}.Read(suite, "BenchmarkSum", times(n), all, ended(0, text[:cut]))
			for q, m := range got.Quantities {
				if m.Status == result.Success {
					t.Fatalf("cut at byte %d of %d: %s of %d repetitions is a success", cut, len(text), q, n)
				}
			}
		}
	}
	for _, q := range []string{"wall-time", "allocations"} {
		if m := (Adapter{}).Read(suite, "BenchmarkSum", times(5), all, ended(0, text)).Quantities[q]; m.Status != result.Success {
			t.Errorf("the whole text: %s is %+v", q, m)
		}
	}
}

// TestOtherCasesChangeNothing mixes the rows of three cases in random order.
func TestOtherCasesChangeNothing(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var lines []string
		want := map[string][]float64{}
		for range 12 {
			name := []string{"BenchmarkA", "BenchmarkA/b", "BenchmarkAB"}[rng.IntN(3)]
			ns := float64(1 + rng.IntN(1000))
			lines = append(lines, fmt.Sprintf("%s-2 10 %v ns/op", name, ns))
			want[name] = append(want[name], ns/1e9)
		}
		text := []byte(strings.Join(lines, "\n") + "\nPASS\n")
		for name, values := range want {
			got := Adapter{}.Read(suite, name, times(len(values)), []string{"wall-time"}, ended(0, text))
			if diff := cmp.Diff(values, got.Quantities["wall-time"].Values); diff != "" {
				t.Fatalf("%s in\n%s(-want +got):\n%s", name, text, diff)
			}
			if len(want) > 1 != (len(got.Warnings) == 1) {
				t.Fatalf("warnings %v with %d cases", got.Warnings, len(want))
			}
		}
		crlf := bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
		for name, values := range want {
			got := Adapter{}.Read(suite, name, times(len(values)), []string{"wall-time"}, ended(0, crlf))
			if diff := cmp.Diff(values, got.Quantities["wall-time"].Values); diff != "" {
				t.Fatalf("carriage returns: (-want +got):\n%s", diff)
			}
		}
	}
}
