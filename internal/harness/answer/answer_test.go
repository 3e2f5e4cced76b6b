package answer

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/result"
	"writ/internal/runner/proc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func ended(exit int, words string) harness.Output {
	return harness.Output{Result: proc.Result{Cause: proc.Exited, Exit: exit}, Stderr: []byte(words)}
}

func TestRead(t *testing.T) {
	t.Parallel()
	summaries := []result.Summary{Statistic("stddev", 1)}
	for name, tc := range map[string]struct {
		out    harness.Output
		series Series
		want   harness.Measured
		counts []int
	}{
		"whole": {ended(0, ""), Series{Values: []float64{1, 2}, Iterations: []int{3, 4}, Groups: []string{"a", "b"}, Unit: "x", Summaries: summaries},
			harness.Measured{Status: result.Success, Values: []float64{1, 2}, Groups: []string{"a", "b"}, Unit: "s", OriginalUnit: "x", Summaries: summaries}, []int{3, 4}},
		"fewer":                   {ended(0, ""), Series{Values: []float64{1}, Summaries: summaries}, harness.Measured{Status: result.Partial, Reason: result.ReasonPartial, Values: []float64{1}, Unit: "s"}, nil},
		"status":                  {ended(1, ""), Series{Values: []float64{1, 2}}, harness.Measured{Status: result.Partial, Reason: result.ReasonPartial, Values: []float64{1, 2}, Unit: "s"}, nil},
		"more":                    {ended(0, ""), Series{Values: []float64{1, 2, 3}}, harness.Measured{Status: result.Failed, Reason: result.ReasonMapping, Unit: "s", Message: "3 values in the file, 2 were ordered: the benchmark sets its own"}, nil},
		"as many as there can be": {ended(0, ""), Series{Values: []float64{1}, Expected: 1}, harness.Measured{Status: result.Success, Values: []float64{1}, Unit: "s"}, nil},
		"one is broken": {ended(0, ""), Series{Values: []float64{math.NaN(), 2}, Iterations: []int{3, 4}, Groups: []string{"a", "b"}},
			harness.Measured{Status: result.Partial, Reason: result.ReasonPartial, Values: []float64{2}, Groups: []string{"b"}, Unit: "s", Message: "wall-time of NaN cannot be used"}, []int{4}},
		"all are broken": {ended(0, ""), Series{Values: []float64{0, -1}}, harness.Measured{Status: result.Failed, Reason: result.ReasonMapping, Unit: "s", Message: "wall-time of -1 cannot be used"}, nil},
		"zero is legal":  {ended(0, ""), Series{Values: []float64{0, 0}, Zero: true}, harness.Measured{Status: result.Success, Values: []float64{0, 0}, Unit: "s"}, nil},
		"less is legal":  {ended(0, ""), Series{Values: []float64{-1, 1}, Negative: true}, harness.Measured{Status: result.Success, Values: []float64{-1, 1}, Unit: "s"}, nil},
		"none":           {ended(0, ""), Series{}, harness.Measured{Status: result.Failed, Reason: result.ReasonNoOutput, Unit: "s"}, nil},
		"none, status":   {ended(1, ""), Series{}, harness.Measured{Status: result.Failed, Reason: result.ReasonHarnessError, Unit: "s"}, nil},
	} {
		got := Case{Quantities: []string{"wall-time"}, Out: tc.out, Attempted: 2}.Read(map[string]Series{"wall-time": tc.series})
		if diff := cmp.Diff(tc.want, got.Quantities["wall-time"]); diff != "" || got.Attempted != 2 || !cmp.Equal(tc.counts, got.InnerIterations) {
			t.Errorf("%s: %v (-want +got):\n%s", name, got.InnerIterations, diff)
		}
	}
}

func TestWithoutValues(t *testing.T) {
	t.Parallel()
	unread := ended(0, "")
	unread.Unread = map[string]string{"f": "no ordinary file"}
	nothing, malformed := fault.New(fault.Nothing, "read", "empty"), fault.New(fault.Malformed, "read", "odd")
	read := func(out harness.Output, words string) Case {
		return Case{Quantities: []string{"wall-time", "new"}, Out: out, Words: words}
	}
	end := func(out harness.Output) harness.Reading {
		r, ok := read(out, "").Ended("f")
		if !ok {
			t.Errorf("%+v has something to read", out)
		}
		return r
	}
	for name, tc := range map[string]struct {
		got    harness.Reading
		reason string
		says   string
	}{
		"timeout":          {end(harness.Output{Result: proc.Result{Cause: proc.TimedOut}}), result.ReasonTimeout, ""},
		"cancelled":        {end(harness.Output{Result: proc.Result{Cause: proc.Cancelled}}), result.ReasonHarnessError, "the benchmark stopped from outside"},
		"unread":           {end(unread), result.ReasonMapping, "f is no ordinary file"},
		"silent":           {read(ended(0, "a\nlast\n"), "").Silent(), result.ReasonNoOutput, "last"},
		"silent, status":   {read(ended(2, ""), "").Silent(), result.ReasonHarnessError, "ended with status 2"},
		"silent, words":    {read(ended(0, "last"), "its words").Silent(), result.ReasonHarnessError, "its words"},
		"empty":            {read(ended(0, ""), "").Unreadable(nothing), result.ReasonNoOutput, ""},
		"malformed":        {read(ended(0, "last"), "").Unreadable(malformed), result.ReasonMapping, "odd"},
		"malformed, death": {read(ended(2, "last"), "").Unreadable(malformed), result.ReasonHarnessError, "last"},
	} {
		if tc.got.Message != tc.says && !(name == "malformed" && tc.got.Message == malformed.Error()) {
			t.Errorf("%s: says %q, want %q", name, tc.got.Message, tc.says)
		}
		for _, q := range []string{"wall-time", "new"} {
			if m := tc.got.Quantities[q]; m.Status != result.Failed || m.Reason != tc.reason {
				t.Errorf("%s: %+v", name, m)
			}
		}
	}
	if _, ok := read(ended(3, ""), "").Ended("f"); ok {
		t.Error("a status alone is not the end")
	}
	r := Warn(harness.Reading{Warnings: []string{"b"}}, map[string]bool{"a": true, "b": true, "c": false})
	if !cmp.Equal([]string{"a", "b"}, r.Warnings) {
		t.Errorf("warnings %v", r.Warnings)
	}
}
