package criterion

import (
	"bytes"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/result"
	"writ/internal/runner/proc"
)

func TestParseStrictly(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]fault.Code{
		`{"sampling_mode":"Linear","iters":[1.0,2.0],"times":[10.0,20.0]}`: "",
		`{"times":[10],"iters":[1],"new":[{"a":null}]}`:                    "",
		`[[1.0,2.0],[10.0,20.0]]`:                                          "", // before 0.3.3
		`{"iters":[1],"times":[NaN]}`:                                      "",
		``:                                                                 fault.Nothing,
		`{}`:                                                               fault.Malformed,
		`[]`:                                                               fault.Malformed,
		`[[1],[1],[1]]`:                                                    fault.Malformed,
		`[[1]]`:                                                            fault.Malformed,
		`{"iters":[1,2],"times":[1]}`:                                      fault.Malformed,
		`{"iters":[0],"times":[1]}`:                                        fault.Malformed,
		`{"iters":[1.5],"times":[1]}`:                                      fault.Malformed,
		`{"iters":[NaN],"times":[1]}`:                                      fault.Malformed,
		`{"iters":[1],"times":[1],"times":[2]}`:                            fault.Malformed,
		`{"iters":[1],"times":["1"]}`:                                      fault.Malformed,
		`{"iters":[1],"times":[1,]}`:                                       fault.Malformed,
		`{"iters":[1],"times":[1]}{}`:                                      fault.Malformed,
		`{"iters":[1,234],"times":[1,234.5.6]}`:                            fault.Malformed,
		"\xef\xbb\xbf" + `{"iters":[1],"times":[1]}`:                       fault.Malformed,
	} {
		if s, err := ParseSample([]byte(text)); fault.CodeOf(err) != want {
			t.Errorf("%s: %+v %v", text, s, err)
		}
	}
	for text, want := range map[string]Identity{
		`{"full_id":"a/b","throughput":{"Elements":7}}`:    {"a/b", "Elements 7"},
		`{"throughput":null,"full_id":"a"}`:                {"a", ""},
		`{"full_id":"a","throughput":{"BytesDecimal":16}}`: {"a", "BytesDecimal 16"},
		`{"full_id":"a","throughput":{"Bytes":1.5}}`:       {"a", ""},
	} {
		if got, err := ParseIdentity([]byte(text)); err != nil || got != want {
			t.Errorf("%s: %+v %v", text, got, err)
		}
	}
	for _, text := range []string{`{}`, `{"full_id":""}`, `{"full_id":null}`, `{"full_id":"a"}x`, `[]`} {
		if got, err := ParseIdentity([]byte(text)); fault.CodeOf(err) != fault.Malformed {
			t.Errorf("%s: %+v %v", text, got, err)
		}
	}
	e := `{"confidence_interval":{"confidence_level":0.9,"lower_bound":1.0,"upper_bound":3.0},"point_estimate":2.0,"standard_error":0.5}`
	for text, want := range map[string][]Estimate{
		`{"mean":` + e + `,"slope":null,"new":1}`: {{"mean", 2, 1, 3, 0.9}},
		`{"Slope":` + e + `,"StdDev":` + e + `}`:  {{"slope", 2, 1, 3, 0.9}, {"std_dev", 2, 1, 3, 0.9}}, // before 0.3.3
		`{}`:                                      nil,
	} {
		if got, err := ParseEstimates([]byte(text)); err != nil || !cmp.Equal(want, got) {
			t.Errorf("%s: %+v %v", text, got, err)
		}
	}
	for _, text := range []string{`{"mean":1}`, `{"mean":{"point_estimate":"2"}}`, `[]`, `{"mean":{}` + strings.Repeat(`,"mean":{}`, 20) + `}`} {
		if got, err := ParseEstimates([]byte(text)); fault.CodeOf(err) != fault.Malformed {
			t.Errorf("%s: %+v %v", text, got, err)
		}
	}
}

func TestReadARealRun(t *testing.T) {
	t.Parallel()
	got := Adapter{}.Read(suite(""), "fib 10", ordered(10), append(wall, "cpu-time"), recorded(t, 0, "plain"))
	m := got.Quantities["wall-time"]
	// The first sample is 64243 iterations in 17490735 ns.
	if m.Status != result.Success || len(m.Values) != 10 || m.Values[0] != 17490735.0/64243/1e9 || m.Unit != "s" || m.OriginalUnit != "ns" {
		t.Errorf("%+v", m)
	}
	if got.Attempted != 10 || got.InnerIterations[0] != 64243 || got.InnerIterations[9] != 642430 || got.Facts["sampling_mode"] != "Linear" || len(got.Warnings) != 0 {
		t.Errorf("%+v", got)
	}
	if other := got.Quantities["cpu-time"]; other.Reason != result.ReasonMapping {
		t.Errorf("%+v", other)
	}
	var names []string
	for _, s := range m.Summaries {
		switch {
		case s.Estimator != nil:
			names = append(names, s.Estimator.Name)
		default:
			names = append(names, s.Type+" "+s.Name+s.Statistic)
		}
	}
	want := []string{
		"mean", "confidence_interval mean", "median", "confidence_interval median", "statistic median-abs-dev", "confidence_interval median-abs-dev",
		"slope", "confidence_interval slope", "statistic stddev", "confidence_interval stddev",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("summaries (-want +got):\n%s", diff)
	}
	if mean := m.Summaries[0]; *mean.Value != 301.6751126013605/1e9 || *m.Summaries[1].Level != 0.95 {
		t.Errorf("mean %v", *mean.Value)
	}
	flat := Adapter{}.Read(suite(""), "flat/one", ordered(10), wall, recorded(t, 0, "flat"))
	if m := flat.Quantities["wall-time"]; m.Status != result.Success || flat.Facts["sampling_mode"] != "Flat" || len(m.Summaries) != 8 {
		t.Errorf("without a slope: %+v", flat)
	}
	through := Adapter{}.Read(suite(""), "sum/all/bytes/16", ordered(10), wall, recorded(t, 0, "throughput"))
	if through.Quantities["wall-time"].Status != result.Success || through.Facts["throughput"] != "Bytes 16" {
		t.Errorf("the folder has another name than the case: %+v", through)
	}
}

func TestReadOutcomes(t *testing.T) {
	t.Parallel()
	sample, id := fixture(t, "plain/sample.json"), fixture(t, "plain/benchmark.json")
	estimates := fixture(t, "plain/estimates.json")
	panicked := left(101, nil, nil, nil)
	panicked.Stderr = []byte("thread 'main' panicked at benches/sample.rs:23:84:\nno good\n")
	with := func(r proc.Result) harness.Output { return harness.Output{Result: r} }
	unread := left(0, nil, id, estimates)
	unread.Unread = map[string]string{sampleFile: "not the only file of its kind"}
	for name, tc := range map[string]struct {
		n      int
		out    harness.Output
		status result.Status
		reason string
		says   string
		warn   string
	}{
		"whole":                     {10, recorded(t, 0, "plain"), result.Success, "", "", ""},
		"fewer":                     {11, recorded(t, 0, "plain"), result.Partial, result.ReasonPartial, "", ""},
		"its own size (E-44)":       {10, recorded(t, 0, "own"), result.Failed, result.ReasonMapping, "12 values in the file, 10 were ordered", ""},
		"failed at the end":         {10, recorded(t, 1, "plain"), result.Partial, result.ReasonPartial, "ended with status 1", "harness-exit-status"},
		"panic":                     {10, panicked, result.Failed, result.ReasonHarnessError, "no good", "harness-exit-status"},
		"nothing matched (E-40)":    {10, left(0, nil, nil, nil), result.Failed, result.ReasonNoOutput, "", ""},
		"no identity":               {10, left(0, sample, nil, estimates), result.Failed, result.ReasonNoOutput, "", ""},
		"another case (E-41, E-42)": {10, left(0, sample, bytes.ReplaceAll(id, []byte("fib 10"), []byte("fib_10")), estimates), result.Failed, result.ReasonNoOutput, "", "unplanned-case"},
		"no estimates":              {10, left(0, sample, id, nil), result.Failed, result.ReasonNoOutput, "", ""},
		"two samples":               {10, unread, result.Failed, result.ReasonMapping, "not the only file", ""},
		"cut off":                   {10, left(0, sample[:80], id, estimates), result.Failed, result.ReasonMapping, "", ""},
		"killed":                    {10, left(-1, sample[:80], nil, nil), result.Failed, result.ReasonHarnessError, "", ""},
		"timeout":                   {10, with(proc.Result{Cause: proc.TimedOut}), result.Failed, result.ReasonTimeout, "", ""},
		"endless":                   {10, with(proc.Result{Cause: proc.OutputLimit}), result.Failed, result.ReasonHarnessError, "wrote without end", ""},
		"zero":                      {10, left(0, bytes.Replace(sample, []byte("17490735.0"), []byte("0.0"), 1), id, estimates), result.Partial, result.ReasonPartial, "wall-time of 0", ""},
		"not finite":                {10, left(0, bytes.Replace(sample, []byte("17490735.0"), []byte("NaN"), 1), id, estimates), result.Partial, result.ReasonPartial, "wall-time of NaN", "non-finite-number"},
		"much too short":            {10, left(0, []byte(`{"iters":[1,1,1,1,1,1,1,1,1,1],"times":[9,9,9,9,9,9,9,9,9,9]}`), id, estimates), result.Success, "", "", "short-sample"},
	} {
		caseName := "fib 10"
		if strings.HasPrefix(name, "its own") {
			caseName = "own/size"
		}
		got := Adapter{}.Read(suite(""), caseName, ordered(tc.n), wall, tc.out)
		if tc.n == 11 {
			got = Adapter{}.Read(suite("quick"), caseName, ordered(tc.n), wall, tc.out)
		}
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
	never := ordered(10)
	never.Warmup = nil
	never.Repetitions.Levels[0].N = 3
	if m := (Adapter{}).Read(suite(""), "fib 10", never, wall, recorded(t, 0, "plain")).Quantities["wall-time"]; m.Reason != result.ReasonMapping {
		t.Errorf("precision that was never planned: %+v", m)
	}
}

// TestTruncatedFileIsNeverASuccess cuts each file at every byte.
func TestTruncatedFileIsNeverASuccess(t *testing.T) {
	t.Parallel()
	for _, file := range []string{sampleFile, benchmarkFile, estimatesFile} {
		whole := bytes.TrimSpace(fixture(t, "plain/"+file))
		for cut := range whole {
			out := recorded(t, 0, "plain")
			out.Files[file] = whole[:cut]
			if m := (Adapter{}).Read(suite(""), "fib 10", ordered(10), wall, out).Quantities["wall-time"]; m.Status != result.Failed {
				t.Fatalf("%s cut at byte %d: %+v", file, cut, m)
			}
		}
	}
}

// TestWhatChangesNothing: other members, line ends and the shape of old versions.
func TestWhatChangesNothing(t *testing.T) {
	t.Parallel()
	read := func(sample []byte) []float64 {
		out := recorded(t, 0, "plain")
		out.Files[sampleFile] = sample
		return Adapter{}.Read(suite(""), "fib 10", ordered(10), wall, out).Quantities["wall-time"].Values
	}
	sample := fixture(t, "plain/sample.json")
	want := read(sample)
	text := string(sample)
	old := strings.NewReplacer(`{"sampling_mode":"Linear","iters":`, "[", `,"times":`, ",", "}", "]").Replace(text)
	for name, text := range map[string]string{
		"old shape": old, "unknown members": strings.Replace(text, "{", `{"new":[{"x":null}],`, 1), "carriage returns": strings.ReplaceAll(text, ",", ",\r\n\t"),
	} {
		if diff := cmp.Diff(want, read([]byte(text))); diff != "" || len(want) != 10 {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestMemoryIsBounded(t *testing.T) {
	many := strings.Repeat("1,", 300000) + "1"
	sample := []byte(`{"iters":[` + many + `],"times":[` + many + `]}`)
	estimates := []byte(`{"new":[` + strings.Repeat(`{"mean":{}},`, 30000) + `{}]}`)
	for name, parse := range map[string]func() (int, error){
		"samples":   func() (int, error) { _, err := ParseSample(sample); return len(sample), err },
		"estimates": func() (int, error) { _, err := ParseEstimates(estimates); return len(estimates), err },
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		n, err := parse()
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; err != nil || got > uint64(16*n) {
			t.Errorf("%s: %d bytes for a file of %d, %v", name, got, n, err)
		}
	}
}

// FuzzParse: no input makes a parser panic, give a sample without iterations, or
// answer differently the second time.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/*/*.json"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			f.Fatal("no fixtures", err)
		}
		for _, path := range paths {
			f.Add(fixture(f, strings.TrimPrefix(path, "testdata/")))
		}
	}
	f.Add([]byte(`[[1.0,2.0],[10.0,20.0]]`))
	f.Add([]byte(`{"Mean":{"confidence_interval":{"confidence_level":0.9}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		all := func() string {
			s, err1 := ParseSample(b)
			id, err2 := ParseIdentity(b)
			e, err3 := ParseEstimates(b)
			if err1 == nil && (len(s.Iters) != len(s.Times) || slices.Min(s.Iters) < 1) || err2 == nil && id.FullID == "" {
				t.Errorf("%+v %+v", s, id)
			}
			return fmt.Sprint(s, id, e, err1, err2, err3)
		}
		if first, second := all(), all(); first != second {
			t.Error("the same bytes gave another answer")
		}
	})
}
