package asv

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/harness"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/runner/proc"
)

func TestReadValues(t *testing.T) {
	t.Parallel()
	v := func(x float64) *float64 { return &x }
	estimate := result.Summary{Type: "estimate", Source: "producer", Value: v(0.25), Estimator: &result.Estimator{Name: "median", MethodVersion: "asv/median", InputLevel: "observations"}}
	got := Adapter{}.Read(harness.Suite{}, "sums.time_plain", ordered(3), append(wall, "peak-rss"), left(0, fixture(t, "results.json"), fixture(t, "benchmarks.json")))
	want := harness.Reading{
		Quantities: map[string]harness.Measured{
			"wall-time": {Status: result.Success, Values: []float64{0.25, 0.5, 0.125}, Unit: "s", OriginalUnit: "seconds", Summaries: []result.Summary{
				estimate, {Type: "confidence_interval", Source: "producer", Statistic: "median", Level: v(0.99), Lower: v(0.125), Upper: v(0.5), Method: "of the tool"},
				{Type: "statistic", Source: "producer", Name: "q1", Value: v(0.1875)}, {Type: "statistic", Source: "producer", Name: "q3", Value: v(0.375)},
			}},
			"peak-rss": {Status: result.Failed, Reason: result.ReasonMapping, Unit: "By"},
		},
		InnerIterations: []int{4, 4, 4}, Attempted: 3, Warnings: []string{"unplanned-case"},
		Facts: map[string]string{"python": "3.11", "env_name": "existing-py_usr_bin_python3", "commit_hash": "0123abcd"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// The last parameter changes fastest.
	if m := (Adapter{}).Read(harness.Suite{}, "sums.time_sized(1000, 'b')", ordered(3), wall, left(0, fixture(t, "results.json"), fixture(t, "benchmarks.json"))).Quantities["wall-time"]; !slices.Equal(m.Values, []float64{2, 1, 4}) {
		t.Errorf("%+v", m)
	}
}

func TestReadOutcomes(t *testing.T) {
	t.Parallel()
	results, benchmarks := fixture(t, "results.json"), fixture(t, "benchmarks.json")
	whole := left(0, results, benchmarks)
	change := func(pairs ...string) harness.Output {
		r := strings.NewReplacer(pairs...)
		return left(0, r.Replace(results), benchmarks)
	}
	failed := left(2, results, benchmarks)
	failed.Stdout = []byte("  For time_fails:\n     Traceback (most recent call last):\n       File x\n     ValueError: no good\n")
	fixed := ordered(3)
	fixed.Calibration = &order.Calibration{Mode: order.Fixed, NIterations: 5}
	const plain = "sums.time_plain"
	for name, tc := range map[string]struct {
		test   string
		p      order.Precision
		out    harness.Output
		status result.Status
		reason string
		says   string
		warn   string
	}{
		"whole":                     {plain, ordered(3), whole, result.Success, "", "", ""},
		"fewer":                     {plain, ordered(4), whole, result.Partial, result.ReasonPartial, "", ""},
		"more":                      {plain, ordered(2), whole, result.Failed, result.ReasonMapping, "3 values in the file, 2 were ordered", ""},
		"status":                    {plain, ordered(3), failed, result.Partial, result.ReasonPartial, "no good", "harness-exit-status"},
		"trailing nulls (E-56)":     {"sums.time_fails", ordered(3), failed, result.Failed, result.ReasonHarnessError, "ValueError: no good", ""},
		"NaN (E-57)":                {"sums.time_sized(10, 'b')", ordered(3), whole, result.Skipped, result.ReasonNotApplicable, "skipped", ""},
		"null":                      {"sums.time_sized(1000, 'a')", ordered(3), whole, result.Failed, result.ReasonHarnessError, "the benchmark failed", ""},
		"stale (E-58)":              {"sums.time_stale", ordered(3), whole, result.Failed, result.ReasonNoOutput, "", "stale-result"},
		"not saved (E-59)":          {plain, ordered(3), left(0, "", benchmarks), result.Failed, result.ReasonNoOutput, "", ""},
		"only a median":             {"sums.time_median", ordered(3), whole, result.Failed, result.ReasonMapping, "no samples", ""},
		"another combination":       {"sums.time_sized(7, 'a')", ordered(3), whole, result.Failed, result.ReasonNoOutput, "", ""},
		"absent":                    {"sums.time_gone", ordered(3), whole, result.Failed, result.ReasonNoOutput, "", "unplanned-case"},
		"no time":                   {"sums.track_size", ordered(3), change("sums.time_plain", "sums.track_size"), result.Failed, result.ReasonMapping, "no timing benchmark", ""},
		"another unit":              {plain, ordered(3), left(0, results, strings.Replace(benchmarks, `"seconds"`, `"fortnights"`, 1)), result.Failed, result.ReasonMapping, "fortnights", ""},
		"other calls":               {plain, fixed, whole, result.Failed, result.ReasonMapping, "4 calls in the file, 5 were ordered", ""},
		"too few results":           {"sums.time_sized(10, 'a')", ordered(3), change("[0.5, NaN, null, 2.0]", "[0.5]"), result.Failed, result.ReasonMapping, "1 results for 4 combinations", ""},
		"not finite":                {plain, ordered(3), change("[0.25, 0.5, 0.125]", "[0.25, NaN, 0.125]"), result.Partial, result.ReasonPartial, "wall-time of NaN", "non-finite-number"},
		"zero":                      {plain, ordered(3), change("[0.25, 0.5, 0.125]", "[0.25, 0.0, 0.125]"), result.Partial, result.ReasonPartial, "wall-time of 0", ""},
		"short":                     {plain, ordered(3), change("[0.25, 0.5, 0.125]", "[0.25, 0.5, 1e-6]"), result.Success, "", "", "short-sample"},
		"another format":            {plain, ordered(3), change(`"version": 2}`, `"version": 3}`), result.Failed, result.ReasonMapping, "version 3", ""},
		"more values than columns":  {plain, ordered(3), change(`, "profile"]`, `]`, "[[0.25, 0.5, 0.125]]", "[[0.25, 0.5, 0.125]], 1"), result.Failed, result.ReasonMapping, "more values than columns", ""},
		"columns in another order":  {plain, ordered(3), change(`"result", "params"`, `"params", "result"`, "[[0.25], []", "[[], [0.25]", "[[0.5, NaN, null, 2.0], [[\"10\", \"1000\"], [\"'a'\", \"'b'\"]]", "[[], []", "[null, []", "[[], null"), result.Success, "", "", ""},
		"benchmarks.json missing":   {plain, ordered(3), left(0, results, ""), result.Failed, result.ReasonNoOutput, "", ""},
		"benchmarks.json malformed": {plain, ordered(3), left(0, results, benchmarks[:99]), result.Failed, result.ReasonMapping, "", ""},
		"timeout":                   {plain, ordered(3), harness.Output{Result: proc.Result{Cause: proc.TimedOut}}, result.Failed, result.ReasonTimeout, "", ""},
		"never planned":             {plain, order.Precision{Repetitions: order.Times(1 << 21)}, whole, result.Failed, result.ReasonMapping, "", ""},
	} {
		got := Adapter{}.Read(harness.Suite{}, tc.test, tc.p, wall, tc.out)
		m := got.Quantities["wall-time"]
		if m.Status != tc.status || m.Reason != tc.reason || !strings.Contains(got.Message+m.Message, tc.says) {
			t.Errorf("%s: %+v", name, got)
		}
		if evidence := m.Status == result.Success || m.Status == result.Partial; evidence != (len(m.Values) > 0) {
			t.Errorf("%s: %+v", name, m)
		}
		if tc.warn != "" && !slices.Contains(got.Warnings, tc.warn) {
			t.Errorf("%s: warnings %v", name, got.Warnings)
		}
	}
}

// TestTruncatedFileIsNeverASuccess cuts both files at every byte.
func TestTruncatedFileIsNeverASuccess(t *testing.T) {
	t.Parallel()
	results, benchmarks := strings.TrimSpace(fixture(t, "results.json")), strings.TrimSpace(fixture(t, "benchmarks.json"))
	read := func(results, benchmarks string) result.Status {
		return Adapter{}.Read(harness.Suite{}, "sums.time_plain", ordered(3), wall, left(0, results, benchmarks)).Quantities["wall-time"].Status
	}
	for cut := range results {
		if got := read(results[:cut], benchmarks); got != result.Failed {
			t.Fatalf("results cut at byte %d: %s", cut, got)
		}
	}
	for cut := range benchmarks {
		if got := read(results, benchmarks[:cut]); got != result.Failed {
			t.Fatalf("benchmarks cut at byte %d: %s", cut, got)
		}
	}
}

// TestWhatChangesNothing: other members, the place of the columns and line ends.
func TestWhatChangesNothing(t *testing.T) {
	t.Parallel()
	results, benchmarks := fixture(t, "results.json"), fixture(t, "benchmarks.json")
	read := func(results string) []float64 {
		return Adapter{}.Read(harness.Suite{}, "sums.time_sized(1000, 'b')", ordered(3), wall, left(0, results, benchmarks)).Quantities["wall-time"].Values
	}
	want := read(results)
	from, to := strings.Index(results, `"result_columns"`), strings.Index(results, `"results"`)
	for name, text := range map[string]string{
		"unknown members":   strings.Replace(results, "{", `{"new": [{"x": NaN}], `, 1),
		"columns at an end": strings.TrimSuffix(strings.TrimSpace(results[:from]+results[to:]), "}") + ", " + strings.TrimRight(results[from:to], ", \n") + "}",
		"line ends":         strings.ReplaceAll(results, "\n", "\r\n"),
	} {
		if diff := cmp.Diff(want, read(text)); diff != "" || len(want) != 3 {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestMemoryIsBounded(t *testing.T) {
	row := func(values string) []byte {
		return []byte(`{"result_columns":["result","params","samples"],"results":{"a":` + values + `},"version":2}`)
	}
	results := map[string][]byte{
		"samples":      row(`[[1],[],[[` + strings.Repeat("1,", 300000) + `1]]]`),
		"results":      row(`[[` + strings.Repeat("1,", 300000) + `1],[],[]]`),
		"empty lists":  row(`[[1],[],[` + strings.Repeat("[],", 300000) + `[]]]`),
		"parameters":   row(`[[1],[` + strings.Repeat(`["x"],`, 100000) + `["x"]],[]]`),
		"empty values": row(`[[1],[[` + strings.Repeat(`"",`, 300000) + `""]],[]]`),
	}
	for name, text := range results {
		if got, err := allocated(func() error { _, err := Parse(text, "a"); return err }); err != nil || got > uint64(16*len(text)) {
			t.Errorf("%s: %d bytes for a file of %d, %v", name, got, len(text), err)
		}
	}
	small := []byte(`{` + manyBenchmarks(30000) + `"version":2}`)
	if got, err := allocated(func() error { _, err := ParseBenchmarks(small); return err }); err != nil || got > uint64(16*len(small)) {
		t.Errorf("benchmarks: %d bytes for a file of %d, %v", got, len(small), err)
	}
}

func manyBenchmarks(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"%d":{"type":"time"},`, i)
	}
	return b.String()
}

func allocated(f func() error) (uint64, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, err
}

// FuzzParse: no input makes the parser panic, find a case in the wrong place, or
// answer differently the second time.
func FuzzParse(f *testing.F) {
	f.Add([]byte(fixture(f, "results.json")), []byte(fixture(f, "benchmarks.json")))
	f.Fuzz(func(t *testing.T, results, benchmarks []byte) {
		all := func() string {
			d, err1 := Parse(results, "sums.time_sized")
			known, err2 := ParseBenchmarks(benchmarks)
			if n := d.Row.Parameters.combinations(); n <= 50 {
				for i := range n {
					if at := d.Row.Parameters.find("b", d.Row.Parameters.name("b", i)); at < 0 || at > i {
						t.Errorf("combination %d is found at %d", i, at)
					}
					d.Row.Samples.at(i)
				}
			}
			return fmt.Sprint(d, known, err1, err2)
		}
		if first, second := all(), all(); first != second {
			t.Error("the same bytes gave another answer")
		}
	})
}
