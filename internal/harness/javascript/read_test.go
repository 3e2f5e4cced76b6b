package javascript

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/runner/proc"
)

func TestParseEveryFixture(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		runs int
		unit float64 // of a call, about
	}{"tinybench-6.json": {3, 1e-7}, "tinybench-3.json": {3, 1e-7}, "vitest-4.json": {3, 1e-7}, "mitata-1.json": {3, 1e-6}} {
		d, err := Parse(fixture(t, name))
		if err != nil || len(d.Runs) != tc.runs || d.Version == "" || d.Case == "" {
			t.Errorf("%s: %+v %v", name, d, err)
			continue
		}
		for _, r := range d.Runs {
			if !(r.Mean > tc.unit/10 && r.Mean < tc.unit*10) || r.Calls < 1000 || r.Error != "" || math.Abs(r.Mean*float64(r.Calls)-0.02) > 0.01 {
				t.Errorf("%s: %+v", name, r)
			}
		}
		if !(d.Last.Min > 0 && d.Last.Min <= d.Last.P75 && d.Last.P75 <= d.Last.P99 && d.Last.P99 <= d.Last.Max) {
			t.Errorf("%s: %+v", name, d.Last)
		}
	}
	for name, says := range map[string]string{"tinybench-6-throws.json": "no good", "mitata-1-throws.json": "no good"} {
		if d, err := Parse(fixture(t, name)); err != nil || len(d.Runs) != 1 || d.Runs[0].Error != says {
			t.Errorf("%s: %+v %v", name, d, err)
		}
	}
	if d, err := Parse(fixture(t, "vitest-4-skipped.json")); err != nil || d.Skipped == "" || len(d.Runs) != 0 {
		t.Errorf("skipped: %+v %v", d, err)
	}
}

// file is one of hand-made runs.
func file(runs ...string) []byte {
	return []byte(`{"case":"a","version":"2.1","runs":[` + strings.Join(runs, ",") + `]}`)
}

func TestParseStrictly(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]fault.Code{
		string(file()): "",
		string(file(`{"mean":1,"samplesCount":2}`)):              "",
		string(file(`{"latency":{"mean":null,"rme":null}}`)):     "",
		string(file(`{"stats":{"avg":5,"ticks":1,"new":[{}]}}`)): "",
		string(file(`{"error":{"message":"x","stack":"y"}}`)):    "",
		string(file(`{"error":{}}`)):                             "", // E-68
		string(file(`{"new":{"x":[1]},"mean":1}`)):               "",
		``:                                  fault.Nothing,
		`[]`:                                fault.Malformed,
		`{"case":"a"}`:                      fault.Malformed,
		`{"runs":[]}`:                       fault.Malformed,
		string(file(`{"mean":"1"}`)):        fault.Malformed,
		string(file(`{"mean":1,"mean":2}`)): fault.Malformed,
		string(file(`{"latency":{"mean":1,"samplesCount":1.5}}`)): fault.Malformed,
		string(file(`{"stats":{"ticks":-1}}`)):                    fault.Malformed,
		string(file(`{"stats":null}`)):                            fault.Malformed,
		string(file(`1`)):                                         fault.Malformed,
		string(file(`{}`)):                                        fault.Malformed,
		string(file()) + `{}`:                                     fault.Malformed,
	} {
		if d, err := Parse([]byte(text)); fault.CodeOf(err) != want {
			t.Errorf("%s: %+v %v", text, d, err)
		}
	}
}

func TestReadValues(t *testing.T) {
	t.Parallel()
	text := file(`{"latency":{"mean":2,"samplesCount":10,"min":1,"max":9,"p50":2,"p75":3,"p99":8,"sd":0.5,"rme":null},"mean":77,"state":"completed"}`)
	got := some.Read(harness.Suite{}, "a", ordered(1), append(wall, "cpu-time"), ended(0, text))
	v := func(x float64) *float64 { return &x }
	statistic := func(name string, x float64) result.Summary {
		return result.Summary{Type: "statistic", Source: "producer", Name: name, Value: v(x), Method: "of single calls"}
	}
	want := harness.Reading{
		Quantities: map[string]harness.Measured{
			"wall-time": {Status: result.Success, Values: []float64{0.002}, Unit: "s", OriginalUnit: "ms", Summaries: []result.Summary{
				statistic("min", 0.001), statistic("median", 0.002), statistic("p75", 0.003), statistic("p99", 0.008), statistic("max", 0.009), statistic("stddev", 0.0005),
			}},
			"cpu-time": {Status: result.Failed, Reason: result.ReasonMapping, Unit: "s"},
		},
		InnerIterations: []int{10}, Attempted: 1, Facts: map[string]string{"some": "2.1"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	two := 2
	warm := ordered(1)
	warm.Warmup = &order.Warmup{Mode: order.Count, NWarmup: &two}
	d, err := Parse(fixture(t, "tinybench-6.json"))
	if err != nil {
		t.Fatal(err)
	}
	warmed := some.Read(harness.Suite{}, "sum > loop", warm, wall, ended(0, fixture(t, "tinybench-6.json")))
	if m := warmed.Quantities["wall-time"]; m.Status != result.Success || !slices.Equal(m.Values, []float64{d.Runs[2].Mean}) || warmed.Warmups != 2 || len(m.Summaries) > 0 {
		t.Errorf("warm-up: %+v", warmed)
	}
	ns := some
	ns.Spec.Nanoseconds = true
	if m := ns.Read(harness.Suite{}, "sums > loop(1000, x)", ordered(3), wall, ended(0, fixture(t, "mitata-1.json"))).Quantities["wall-time"]; m.Status != result.Success || m.OriginalUnit != "ns" || len(m.Values) != 3 {
		t.Errorf("mitata: %+v", m)
	}
}

func TestReadOutcomes(t *testing.T) {
	t.Parallel()
	const good = `{"mean":2,"samplesCount":10}`
	fixed := order.Precision{Repetitions: order.Times(2), Calibration: &order.Calibration{Mode: order.Fixed, NIterations: 9}, Warmup: &order.Warmup{Mode: order.None}}
	died := ended(1, nil)
	died.Stderr = []byte("Error: first\nError: last\n")
	for name, tc := range map[string]struct {
		p      order.Precision
		out    harness.Output
		status result.Status
		reason string
		says   string
		warn   string
	}{
		"whole":            {ordered(2), ended(0, file(good, good)), result.Success, "", "", ""},
		"fewer":            {ordered(3), ended(0, file(good, good)), result.Partial, result.ReasonPartial, "", ""},
		"more":             {ordered(1), ended(0, file(good, good)), result.Failed, result.ReasonMapping, "2 repetitions in the file, 1 were ordered", ""},
		"failed (E-65)":    {ordered(2), ended(0, file(`{"error":{"message":"no good"}}`)), result.Failed, result.ReasonHarnessError, "no good", ""},
		"mute (E-68)":      {ordered(2), ended(0, file(`{"error":{}}`)), result.Failed, result.ReasonHarnessError, "without a word", ""},
		"failed later":     {ordered(2), ended(0, file(good, `{"error":"no good"}`)), result.Partial, result.ReasonPartial, "no good", ""},
		"aborted":          {ordered(2), ended(0, file(`{"state":"aborted-with-statistics","latency":{"mean":1,"samplesCount":1}}`)), result.Failed, result.ReasonHarnessError, "aborted", ""},
		"aborted, older":   {ordered(2), ended(0, file(`{"aborted":true,"mean":1}`)), result.Failed, result.ReasonHarnessError, "aborted", ""},
		"nothing (E-66)":   {ordered(2), ended(0, nil), result.Failed, result.ReasonNoOutput, "", ""},
		"no match (E-66)":  {ordered(2), ended(1, file()), result.Failed, result.ReasonHarnessError, "", "harness-exit-status"},
		"died":             {ordered(2), died, result.Failed, result.ReasonHarnessError, "last", "harness-exit-status"},
		"another case":     {ordered(2), ended(0, bytes.Replace(file(good), []byte(`"a"`), []byte(`"b"`), 1)), result.Failed, result.ReasonNoOutput, "", "unplanned-case"},
		"skipped":          {ordered(2), ended(0, []byte(`{"case":"a","skipped":"marked as todo","runs":[]}`)), result.Skipped, result.ReasonSkipped, "marked as todo", ""},
		"other calls":      {fixed, ended(0, file(good, good)), result.Failed, result.ReasonMapping, "10 calls in the file, 9 were ordered", ""},
		"no number":        {ordered(2), ended(0, file(good, `{"mean":null,"samplesCount":10}`)), result.Partial, result.ReasonPartial, "wall-time of NaN", ""},
		"below the timer":  {ordered(2), ended(0, file(`{"mean":0,"samplesCount":10}`, `{"mean":0,"samplesCount":10}`)), result.Failed, result.ReasonMapping, "wall-time of 0", "short-sample"},
		"short":            {ordered(2), ended(0, file(`{"mean":0.1,"samplesCount":10}`, good)), result.Success, "", "", "short-sample"},
		"cut off":          {ordered(2), ended(0, file(good, good)[:50]), result.Failed, result.ReasonMapping, "", ""},
		"cut off, died":    {ordered(2), ended(1, file(good, good)[:50]), result.Failed, result.ReasonHarnessError, "", ""},
		"timeout":          {ordered(2), harness.Output{Result: proc.Result{Cause: proc.TimedOut}}, result.Failed, result.ReasonTimeout, "", ""},
		"never planned":    {order.Precision{Repetitions: order.Times(1 << 20)}, ended(0, file(good)), result.Failed, result.ReasonMapping, "", ""},
		"failed at an end": {ordered(2), ended(1, file(good, good)), result.Partial, result.ReasonPartial, "ended with status 1", "harness-exit-status"},
	} {
		got := some.Read(harness.Suite{}, "a", tc.p, wall, tc.out)
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

// TestTruncatedFileIsNeverASuccess cuts real files at every byte.
func TestTruncatedFileIsNeverASuccess(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]string{"tinybench-6.json": "sum > loop", "vitest-4.json": "bench/sum.bench.ts > top", "mitata-1.json": "sums > loop(1000, x)"} {
		whole := fixture(t, name)
		read := func(text []byte) harness.Measured {
			return some.Read(harness.Suite{}, test, ordered(3), wall, ended(0, text)).Quantities["wall-time"]
		}
		for cut := range whole {
			if m := read(whole[:cut]); m.Status != result.Failed {
				t.Fatalf("%s cut at byte %d: %+v", name, cut, m)
			}
		}
		if m := read(whole); m.Status != result.Success {
			t.Errorf("%s: %+v", name, m)
		}
		if m := read(bytes.ReplaceAll(bytes.Replace(whole, []byte("{"), []byte(`{"new":[{"x":null}],`), 1), []byte(`,"`), []byte(",\r\n\""))); m.Status != result.Success {
			t.Errorf("%s with other members and line ends: %+v", name, m)
		}
	}
}

func TestMemoryIsBounded(t *testing.T) {
	for name, text := range map[string][]byte{"small runs": file(strings.Repeat(`{"avg":1},`, 50000) + `{"avg":1}`), "errors": file(strings.Repeat(`{"error":{}},`, 50000) + `{"avg":1}`),
		"nested": file(strings.Repeat(`{"stats":{"avg":1}},`, 50000) + `{"avg":1}`)} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Parse(text)
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; err != nil || got > uint64(16*len(text)) {
			t.Errorf("%s: %d bytes for a file of %d, %v", name, got, len(text), err)
		}
	}
}

// FuzzParse: no input makes the parser panic, give a case without a name, or answer
// differently the second time.
func FuzzParse(f *testing.F) {
	paths, err := filepath.Glob("testdata/*.json")
	if err != nil || len(paths) == 0 {
		f.Fatal("no fixtures", err)
	}
	for _, path := range paths {
		f.Add(fixture(f, filepath.Base(path)))
	}
	f.Add(file(`{"error":{}}`, `{"stats":{"avg":1e999}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := Parse(b)
		again, second := Parse(b)
		if fault.CodeOf(err) != fault.CodeOf(second) || fmt.Sprint(d) != fmt.Sprint(again) {
			t.Error("the same bytes gave another answer")
		}
		if err == nil && d.Case == "" {
			t.Errorf("no case: %+v", d)
		}
	})
}
