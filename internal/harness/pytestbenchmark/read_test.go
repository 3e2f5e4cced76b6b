package pytestbenchmark

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/harness"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/runner/proc"
)

var wall = []string{"wall-time"}

func TestReadOutcomes(t *testing.T) {
	t.Parallel()
	failed := func(reason string) harness.Measured { return harness.Measured{Status: result.Failed, Reason: reason} }
	success, partial := harness.Measured{Status: result.Success}, harness.Measured{Status: result.Partial, Reason: result.ReasonPartial}
	for name, tc := range map[string]struct {
		file, test string
		exit       int
		p          order.Precision
		want       harness.Measured // of status and reason
		message    string
	}{
		"success":            {"plain", "test_plain", 0, times(3), success, ""},
		"5.1":                {"v5-plain", "test_plain", 0, times(3), success, ""},
		"odd characters":     {"param", `test_param[\xe9 [x] ::y]`, 0, times(3), success, ""},
		"odd, 5.1":           {"v5-param", `test_param[\xe9 [x] ::y]`, 0, times(3), success, ""},
		"method":             {"method", "TestGroup::test_method", 0, times(3), success, ""},
		"extra NaN":          {"extra", "test_extra", 0, times(3), success, ""},
		"pedantic":           {"pedantic", "test_pedantic", 0, times(3), success, ""},
		"warm-up":            {"plain", "test_plain", 0, warm(2, 1), success, ""},
		"only warm-ups":      {"plain", "test_plain", 0, warm(1, 2), success, ""},
		"fails inside":       {"fails-inside", "test_fails_inside", 1, times(3), failed(result.ReasonHarnessError), "ZeroDivisionError: division by zero"},
		"fails after":        {"fails-after", "test_fails_after", 1, times(3), failed(result.ReasonHarnessError), "assert 4950 == 1"},
		"fails after, 5.1":   {"v5-fails-after", "test_fails_after", 1, times(3), failed(result.ReasonHarnessError), "assert 4950 == 1"},
		"setup":              {"setup", "test_setup", 1, times(3), failed(result.ReasonHarnessError), `failed on setup with "RuntimeError: no such thing"`},
		"teardown":           {"teardown", "test_teardown", 1, times(3), failed(result.ReasonHarnessError), `failed on teardown with "RuntimeError: cannot leave"`},
		"skip":               {"skip", "test_skip", 0, times(3), harness.Measured{Status: result.Skipped, Reason: result.ReasonSkipped}, "not on this machine"},
		"unused":             {"unused", "test_unused", 0, times(3), failed(result.ReasonNoOutput), "the test passed and measured nothing"},
		"no such test":       {"none", "test_none", 4, times(3), failed(result.ReasonHarnessError), "the last words"},
		"nothing collected":  {"none", "test_none", 5, times(3), failed(result.ReasonNoOutput), "the last words"},
		"bad exit vetoes":    {"plain", "test_plain", 2, times(3), partial, "the last words"},
		"another test":       {"plain", "test_plai", 0, times(3), failed(result.ReasonNoOutput), ""},
		"its own rounds":     {"own-rounds", "test_own_rounds", 0, times(5), failed(result.ReasonMapping), "at least 3 rounds, 5 were ordered: the test sets its own"},
		"its own round time": {"own-time", "test_own_time", 0, times(3), failed(result.ReasonMapping), "rounds of 0.001 s, 5e-06 s were ordered: the test sets its own"},
		"its own gc":         {"own-gc", "test_own_gc", 0, times(3), failed(result.ReasonMapping), "without garbage collection: the test sets its own"},
		"fewer were ordered": {"plain", "test_plain", 0, times(2), failed(result.ReasonMapping), "3 rounds in the file, 2 were ordered: the test sets its own"},
	} {
		out := ended(tc.exit, fixture(t, tc.file+".json"), fixture(t, tc.file+".xml"))
		out.Stderr = []byte("the last words\n")
		got := Adapter{}.Read(harness.Suite{}, "test_perf.py::"+tc.test, tc.p, wall, out)
		if got.Message != tc.message {
			t.Errorf("%s: message %q, want %q", name, got.Message, tc.message)
		}
		m := got.Quantities["wall-time"]
		if m.Status != tc.want.Status || m.Reason != tc.want.Reason {
			t.Errorf("%s: got %s %s (%s), want %s %s", name, m.Status, m.Reason, m.Message, tc.want.Status, tc.want.Reason)
		}
		if evidence := m.Status == result.Success || m.Status == result.Partial; evidence != (len(m.Values) > 0) || m.Unit != "s" {
			t.Errorf("%s: %+v", name, m)
		}
		if slices.Contains(got.Warnings, warnExit) != (tc.exit != 0) {
			t.Errorf("%s: warnings %v", name, got.Warnings)
		}
	}
}

func TestReadValues(t *testing.T) {
	t.Parallel()
	v := func(x float64) *float64 { return &x }
	text := file(record("a::t", `,"min":0.125,"max":0.5,"median":0.25,"q1":NaN,"ld15iqr":0.125,"hd15iqr":0.5`))
	got := Adapter{}.Read(harness.Suite{}, "a::t", times(3), append(wall, "energy"), ended(0, text, []byte(passed)))
	estimate := func(name string) result.Summary {
		return result.Summary{Type: "estimate", Source: "producer", Value: v(0.25), Estimator: &result.Estimator{Name: name, MethodVersion: "pytest-benchmark/" + name, InputLevel: "observations"}}
	}
	statistic := func(name string, x float64) result.Summary {
		return result.Summary{Type: "statistic", Source: "producer", Name: name, Value: v(x)}
	}
	want := harness.Reading{
		Quantities: map[string]harness.Measured{
			"wall-time": {Status: result.Success, Values: []float64{0.25, 0.5, 0.125}, Unit: "s", OriginalUnit: "s", Summaries: []result.Summary{
				estimate("mean"), estimate("median"), statistic("stddev", 0.1), statistic("min", 0.125), statistic("max", 0.5),
				{Type: "source_bounds", Source: "producer", Label: "within 1.5 iqr of the quartiles", Lower: v(0.125), Upper: v(0.5)},
			}},
			"energy": {Status: result.Failed, Reason: result.ReasonMapping, Unit: "J"},
		},
		InnerIterations: []int{2, 2, 2}, Attempted: 3, Facts: map[string]string{"python_version": "3.11.2", "pytest_benchmark": "5.1.0"}, Warnings: []string{warnNonFinite},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	warmed := Adapter{}.Read(harness.Suite{}, "a::t", warm(2, 1), wall, ended(0, text, []byte(passed)))
	if m := warmed.Quantities["wall-time"]; !slices.Equal(m.Values, []float64{0.5, 0.125}) || warmed.Warmups != 1 || len(m.Summaries) > 0 || m.Status != result.Success {
		t.Errorf("warm-up: %+v", warmed)
	}
}

func TestReadUsesNoBrokenValue(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]struct {
		status result.Status
		values int
	}{
		"[1,2,3]": {result.Success, 3}, "[1,0,3]": {result.Partial, 2}, "[NaN,-1,Infinity]": {result.Failed, 0}, "[1,NaN,2]": {result.Partial, 2}, "[1e999,1,1]": {result.Partial, 2},
	} {
		text := strings.Replace(string(file(record("a::t", ""))), "[0.25,0.5,0.125]", data, 1)
		m := Adapter{}.Read(harness.Suite{}, "a::t", times(3), wall, ended(0, []byte(text), []byte(passed))).Quantities["wall-time"]
		if m.Status != want.status || len(m.Values) != want.values || (m.Message == "") != (want.values == 3) {
			t.Errorf("%s: %+v", data, m)
		}
	}
}

func TestReadOddFiles(t *testing.T) {
	t.Parallel()
	good, ok := file(record("a::t", "")), proc.Result{Cause: proc.Exited}
	short := strings.Replace(strings.Replace(string(good), "[0.25,0.5,0.125]", "[1e-9,1e-9,1e-9]", 1), `"iterations":2`, `"iterations":1`, 1)
	files := func(native, report string) map[string][]byte {
		return map[string][]byte{nativeFile: []byte(native), junitFile: []byte(report)}
	}
	for name, tc := range map[string]struct {
		out    harness.Output
		reason string
		warn   string
	}{
		"timeout":            {harness.Output{Result: proc.Result{Cause: proc.TimedOut}, Files: files(string(good), passed)}, result.ReasonTimeout, ""},
		"endless output":     {harness.Output{Result: proc.Result{Cause: proc.OutputLimit}, Files: files(string(good), passed)}, result.ReasonHarnessError, ""},
		"no ordinary file":   {harness.Output{Result: ok, Unread: map[string]string{junitFile: "no ordinary file"}}, result.ReasonMapping, ""},
		"no files, crash":    {harness.Output{Result: proc.Result{Cause: proc.Exited, Exit: -1, Signal: 6}}, result.ReasonHarnessError, warnExit},
		"no files":           {harness.Output{Result: ok}, result.ReasonMapping, ""},
		"report cut off":     {harness.Output{Result: ok, Files: files(string(good), passed[:90])}, result.ReasonMapping, ""},
		"report cut, crash":  {harness.Output{Result: proc.Result{Cause: proc.Exited, Exit: 3}, Files: files(string(good), passed[:90])}, result.ReasonHarnessError, warnExit},
		"file cut off":       {harness.Output{Result: ok, Files: files(string(good[:40]), passed)}, result.ReasonMapping, ""},
		"file cut, crash":    {harness.Output{Result: proc.Result{Cause: proc.Exited, Exit: 3}, Files: files(string(good[:40]), passed)}, result.ReasonHarnessError, warnExit},
		"twice":              {harness.Output{Result: ok, Files: files(string(file(record("a::t", ""), record("a::t", ""))), passed)}, result.ReasonMapping, ""},
		"others too":         {harness.Output{Result: ok, Files: files(string(file(record("b::t", ""), record("a::t", ""))), passed)}, "", warnStranger},
		"another timer":      {harness.Output{Result: ok, Files: files(strings.Replace(string(good), "perf_counter", "process_time", 1), passed)}, result.ReasonMapping, ""},
		"warm-up of its own": {harness.Output{Result: ok, Files: files(strings.Replace(string(good), `"warmup":false`, `"warmup":5`, 1), passed)}, result.ReasonMapping, ""},
		"short rounds":       {harness.Output{Result: ok, Files: files(short, passed)}, "", warnShort},
	} {
		got := Adapter{}.Read(harness.Suite{}, "a::t", times(3), wall, tc.out)
		if m := got.Quantities["wall-time"]; m.Reason != tc.reason || (m.Status == result.Success) != (tc.reason == "") {
			t.Errorf("%s: %+v", name, got)
		}
		if tc.warn != "" && !slices.Contains(got.Warnings, tc.warn) {
			t.Errorf("%s: warnings %v", name, got.Warnings)
		}
	}
	fixedCount := order.Precision{Repetitions: order.Times(1), Calibration: &order.Calibration{Mode: order.Fixed, NIterations: 5}}
	if m := (Adapter{}).Read(harness.Suite{}, "a::t", fixedCount, wall, ended(0, good, []byte(passed))).Quantities["wall-time"]; m.Reason != result.ReasonMapping {
		t.Errorf("precision that was never planned: %+v", m)
	}
}

// TestTruncatedFileIsNeverASuccess cuts both files at every byte.
func TestTruncatedFileIsNeverASuccess(t *testing.T) {
	t.Parallel()
	native, report := bytes.TrimSpace(fixture(t, "plain.json")), bytes.TrimSpace(fixture(t, "plain.xml"))
	read := func(native, report []byte) harness.Measured {
		return Adapter{}.Read(harness.Suite{}, "test_perf.py::test_plain", times(3), wall, ended(0, native, report)).Quantities["wall-time"]
	}
	for cut := range native {
		if m := read(native[:cut], report); m.Status != result.Failed {
			t.Fatalf("cut at byte %d: %+v", cut, m)
		}
	}
	for cut := range report {
		if m := read(native, report[:cut]); m.Status != result.Failed {
			t.Fatalf("report cut at byte %d: %+v", cut, m)
		}
	}
	if m := read(native, report); m.Status != result.Success {
		t.Errorf("whole: %+v", m)
	}
}

// TestWhatChangesNothing: the order of records, other members and line ends.
func TestWhatChangesNothing(t *testing.T) {
	t.Parallel()
	read := func(text []byte) harness.Reading {
		r := Adapter{}.Read(harness.Suite{}, "a::t", times(3), wall, ended(0, text, []byte(passed)))
		r.Warnings = nil
		return r
	}
	want := read(file(record("a::t", "")))
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		records := []string{record("a::t", ""), record("a::t1", ""), record("b::t", `,"new":NaN`), record("a::t::x", "")}
		rng.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
		if diff := cmp.Diff(want, read(file(records...))); diff != "" {
			t.Fatalf("shuffled (-want +got):\n%s", diff)
		}
	}
	for name, text := range map[string][]byte{
		"unknown members":  file(strings.Replace(record("a::t", `,"new":{"y":[null]}`), "{", `{"new":{"x":[NaN,true]},`, 1)),
		"carriage returns": bytes.ReplaceAll(file(record("a::t", "")), []byte(","), []byte(",\r\n\t")),
	} {
		if diff := cmp.Diff(want, read(text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
