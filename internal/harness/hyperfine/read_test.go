package hyperfine

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/harness"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/runner/proc"
)

var all = []string{"wall-time", "cpu-user-time", "cpu-system-time"}

// TestReadOutcomes has a fixture for each known trap of the format.
func TestReadOutcomes(t *testing.T) {
	t.Parallel()
	failed := func(reason string) harness.Measured { return harness.Measured{Status: result.Failed, Reason: reason} }
	success, partial := harness.Measured{Status: result.Success}, harness.Measured{Status: result.Partial, Reason: result.ReasonPartial}
	for name, tc := range map[string]struct {
		file, test string
		exit       int
		expected   string
		p          order.Precision
		want       harness.Measured // of status and reason, for wall-time
		values     int
		message    string
	}{
		"success":                 {"plain", "plain", 0, "0", times(3), success, 3, ""},
		"one run, no deviation":   {"single", "single", 0, "0", times(1), success, 1, ""},
		"1.20 with memory":        {"v1.20-memory", "plain", 0, "0", times(3), success, 3, ""},
		"1.10 without exit codes": {"v1.10-parameter", "plain", 0, "0", times(3), failed(result.ReasonMapping), 0, "hyperfine wrote no exit codes: repetitions that failed cannot be told from others"},
		"1.5 without exit codes":  {"v1.5-times", "plain", 0, "0", times(3), failed(result.ReasonMapping), 0, "hyperfine wrote no exit codes: repetitions that failed cannot be told from others"},
		"all fail":                {"fails", "fails", 0, "0", times(3), failed(result.ReasonHarnessError), 0, "repetition 1 ended with status 3"},
		"failing is expected":     {"fails", "fails", 0, "0 3", times(3), success, 3, ""},
		"one fails":               {"flaky", "flaky", 0, "0", times(4), partial, 3, "repetition 3 ended with status 1"},
		"signal as 128 and more":  {"killed", "killed", 0, "0", times(3), failed(result.ReasonHarnessError), 0, "repetition 1 ended with status 137"},
		"signal as null":          {"null-exit", "plain", 0, "0", times(3), partial, 2, "repetition 2 was killed by a signal"},
		"null is never expected":  {"null-exit", "plain", 0, "1 2", times(3), failed(result.ReasonHarnessError), 0, "repetition 1 ended with status 0"},
		"times of nothing":        {"shell", "shell", 0, "0", times(5), failed(result.ReasonMapping), 0, ""},
		"some times of nothing":   {"clamped", "plain", 0, "0", times(3), partial, 2, ""},
		"rc 1 and earlier only":   {"earlier", "later", 1, "0", times(2), failed(result.ReasonNoOutput), 0, `the file is about "earlier"`},
		"rc 1 and nothing":        {"", "plain", 1, "0", times(3), failed(result.ReasonHarnessError), 0, "the last words"},
		"rc 1 and no results":     {"empty", "plain", 1, "0", times(3), failed(result.ReasonHarnessError), 0, "the last words"},
		"no results":              {"empty", "plain", 0, "0", times(3), failed(result.ReasonNoOutput), 0, "the last words"},
		"empty file":              {"", "plain", 0, "0", times(3), failed(result.ReasonNoOutput), 0, "the last words"},
		"the same name twice":     {"two", "same", 0, "0", times(2), failed(result.ReasonMapping), 0, "2 commands in the file, one was ordered"},
		"swept parameters":        {"parameters", "plain", 0, "0", times(2), failed(result.ReasonMapping), 0, "2 commands in the file, one was ordered"},
		"another name":            {"plain", "plai", 0, "0", times(3), failed(result.ReasonNoOutput), 0, `the file is about "plain"`},
		"more than ordered":       {"plain", "plain", 0, "0", times(2), failed(result.ReasonMapping), 0, "3 times in the file, 2 were ordered"},
		"fewer than ordered":      {"plain", "plain", 0, "0", times(4), partial, 3, ""},
		"bad exit vetoes":         {"plain", "plain", 2, "0", times(3), partial, 3, "the last words"},
	} {
		native := []byte(`{"results":[]}`)
		switch tc.file {
		case "":
			native = []byte{}
		case "empty":
		default:
			native = fixture(t, tc.file+".json")
		}
		out := ended(tc.exit, native)
		out.Stderr = []byte("the last words\n")
		got := Adapter{}.Read(expecting(tc.expected), tc.test, tc.p, all, out)
		m := got.Quantities["wall-time"]
		if got.Message != tc.message || m.Status != tc.want.Status || m.Reason != tc.want.Reason || len(m.Values) != tc.values {
			t.Errorf("%s: got %s %s (%s) with %d values, %q", name, m.Status, m.Reason, m.Message, len(m.Values), got.Message)
		}
		for _, q := range []string{"cpu-user-time", "cpu-system-time"} {
			x := got.Quantities[q]
			whole := tc.want.Status == result.Success || name == "times of nothing" || name == "some times of nothing" // their means are measured
			if whole != (x.Status == result.Success) || whole != (len(x.Summaries) == 1) || len(x.Values) > 0 || x.Unit != "s" {
				t.Errorf("%s: %s: %+v", name, q, x)
			}
		}
		if slices.Contains(got.Warnings, warnExit) != (tc.exit != 0) || got.Attempted != tc.p.Repetitions.Total() {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestReadValues(t *testing.T) {
	t.Parallel()
	v := func(x float64) *float64 { return &x }
	statistic := func(name string, x float64) result.Summary {
		return result.Summary{Type: "statistic", Source: "producer", Name: name, Value: v(x)}
	}
	got := Adapter{}.Read(expecting("0"), "plain", warm(times(3), 2), append(slices.Clone(all), "energy"), ended(0, fixture(t, "v1.20-memory.json")))
	want := harness.Reading{
		Quantities: map[string]harness.Measured{
			"wall-time": {Status: result.Success, Values: []float64{0.25, 0.5, 0.75}, Unit: "s", OriginalUnit: "s", Summaries: []result.Summary{
				estimate("mean", 0.5), statistic("stddev", 0.25), estimate("median", 0.5), statistic("min", 0.25), statistic("max", 0.75),
			}},
			"cpu-user-time":   {Status: result.Success, Unit: "s", OriginalUnit: "s", Summaries: []result.Summary{estimate("mean", 0.125)}},
			"cpu-system-time": {Status: result.Success, Unit: "s", OriginalUnit: "s", Summaries: []result.Summary{estimate("mean", 0.0625)}},
			"energy":          {Status: result.Failed, Reason: result.ReasonMapping, Unit: "J"},
		},
		Attempted: 3, Warmups: 2, InnerIterations: []int{1, 1, 1}, Levels: []result.LevelCounts{{Unit: "repetition", Attempted: 3, Completed: 3}},
		Facts: map[string]string{"memory_usage_byte_max": "1064960"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReadUsesNoBrokenValue(t *testing.T) {
	t.Parallel()
	whole := fixture(t, "v1.20-memory.json")
	for data, want := range map[string]struct {
		status result.Status
		values int
	}{
		"[1,2,3]": {result.Success, 3}, "[1,0,3]": {result.Partial, 2}, "[NaN,-1,Infinity]": {result.Failed, 0}, "[1,nan,2]": {result.Partial, 2}, "[1e999,1,1]": {result.Partial, 2},
	} {
		text := bytes.Replace(whole, []byte("[0.25, 0.5, 0.75]"), []byte(data), 1)
		m := Adapter{}.Read(expecting("0"), "plain", times(3), all, ended(0, text)).Quantities["wall-time"]
		if m.Status != want.status || len(m.Values) != want.values || (m.Message == "") != (want.values == 3) {
			t.Errorf("%s: %+v", data, m)
		}
	}
	for mean, ok := range map[string]bool{"0.125": true, "0": true, "NaN": false, "-1": false, "null": false} {
		text := bytes.Replace(whole, []byte(`"user": 0.125`), []byte(`"user": `+mean), 1)
		m := Adapter{}.Read(expecting("0"), "plain", times(3), all, ended(0, text)).Quantities["cpu-user-time"]
		if (m.Status == result.Success) != ok || (m.Message == "") != ok {
			t.Errorf("a mean of %s: %+v", mean, m)
		}
	}
}

// TestReadDoubtsTheProcess: whatever is in the file, a process that was stopped has
// measured nothing.
func TestReadDoubtsTheProcess(t *testing.T) {
	t.Parallel()
	for cause, reason := range map[proc.Cause]string{proc.TimedOut: result.ReasonTimeout, proc.OutputLimit: result.ReasonHarnessError, proc.Cancelled: result.ReasonHarnessError} {
		out := ended(-1, fixture(t, "plain.json"))
		out.Result.Cause = cause
		if m := (Adapter{}).Read(expecting("0"), "plain", times(3), all, out).Quantities["wall-time"]; m.Reason != reason || len(m.Values) > 0 {
			t.Errorf("%s: %+v", cause, m)
		}
	}
	out := ended(0, nil)
	out.Unread = map[string]string{nativeFile: "no ordinary file"}
	if got := (Adapter{}).Read(expecting("0"), "plain", times(3), all, out); got.Message != "the result file is no ordinary file" {
		t.Errorf("got %+v", got)
	}
}
