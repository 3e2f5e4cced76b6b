package pyperf

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"writ/internal/fault"
)

func file(runs string) []byte {
	return []byte(`{"benchmarks":[{"runs":[` + runs + `]}],"metadata":{"name":"f","unit":"second","loops":4},"version":"1.0"}`)
}

func TestParse(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]Benchmark{
		"levels.json": {{"bench_sum", "second", []Run{{[]float64{0.0012, 0.0011}, 1, 50, 1, "aa"}, {[]float64{0.00125, 0.00115}, 1, 50, 1, "aa"}}}},
		"calibrated.json": {{"bench_sum", "second", []Run{
			{nil, 7, 64, 2, "aa"}, {[]float64{9.1e-6, 9.2e-6}, 1, 64, 2, "aa"}, {[]float64{9.3e-6, 9.4e-6}, 1, 64, 2, "aa"},
		}}},
		"two.json":   {{"bench_sum", "second", []Run{{[]float64{1.5}, 0, 1, 1, "aa"}, {[]float64{2.5}, 0, 1, 1, "aa"}}}, {"bench_other", "second", []Run{{[]float64{9}, 0, 1, 1, ""}}}},
		"bytes.json": {{"bench_sum", "byte", []Run{{[]float64{7401472}, 0, 1, 1, ""}}}},
	} {
		got, err := Parse(fixture(t, name))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got.Benchmarks); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	got, err := Parse(fixture(t, "levels.json"))
	if err != nil || got.Facts["perf_version"] != "2.10.0" || got.Facts["cpu_count"] != "2" || got.Facts["tags"] != "" {
		t.Errorf("facts %v %v", got.Facts, err)
	}
	inner := []byte(`{"version":"1.0","metadata":{"name":"a","loops":2,"benchx_env_sha256":"outer"},"benchmarks":[{"metadata":{"loops":3},"runs":[{"values":[1]},{"metadata":{"loops":5,"inner_loops":7,"benchx_env_sha256":"inner"},"values":[1]}]}]}`)
	want := []Benchmark{{"a", "second", []Run{{[]float64{1}, 0, 3, 1, "outer"}, {[]float64{1}, 0, 5, 7, "inner"}}}}
	if got, err := Parse(inner); err != nil || !cmp.Equal(want, got.Benchmarks) {
		t.Errorf("which level wins: %+v %v", got, err)
	}
}

func TestParseStrictly(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text []byte
		want fault.Code // "" for fine
	}{
		"a run":               {file(`{"values":[1]}`), ""},
		"no runs":             {file(""), fault.Malformed}, // nothing has a name then
		"calibration":         {file(`{"warmups":[[1,0.5]]}`), ""},
		"unknown members":     {[]byte(`{"new":[{}],"version":"1.0","metadata":{"name":"f","new":[1]},"benchmarks":[{"new":1,"runs":[{"values":[1],"new":{"x":null}}]}]}`), ""},
		"bare words":          {file(`{"values":[NaN,Infinity],"metadata":{"load_avg_1min":NaN}}`), ""},
		"nothing":             {nil, fault.Nothing},
		"a list":              {[]byte("[]"), fault.Malformed},
		"byte order mark":     {append([]byte("\xef\xbb\xbf"), file(`{"values":[1]}`)...), fault.Malformed},
		"two files in one":    {append(file(`{"values":[1]}`), file(`{"values":[1]}`)...), fault.Malformed},
		"an older format":     {[]byte(`{"version":6,"benchmarks":[]}`), fault.Malformed},
		"another format":      {[]byte(`{"version":"2.0","benchmarks":[]}`), fault.Malformed},
		"no version":          {[]byte(`{"benchmarks":[]}`), fault.Malformed},
		"no benchmarks":       {[]byte(`{"version":"1.0"}`), fault.Malformed},
		"no name":             {[]byte(`{"version":"1.0","benchmarks":[{"runs":[{"values":[1]}]}]}`), fault.Malformed},
		"an empty run":        {file(`{}`), fault.Malformed},
		"two names":           {file(`{"values":[1]},{"metadata":{"name":"g"},"values":[1]}`), fault.Malformed},
		"two units":           {file(`{"values":[1]},{"metadata":{"unit":"byte"},"values":[1]}`), fault.Malformed},
		"values as text":      {file(`{"values":["1"]}`), fault.Malformed},
		"values twice":        {file(`{"values":[1],"values":[2]}`), fault.Malformed},
		"warm-up of one":      {file(`{"warmups":[[1]]}`), fault.Malformed},
		"warm-up of three":    {file(`{"warmups":[[1,2,3]]}`), fault.Malformed},
		"warm-up as number":   {file(`{"warmups":[1]}`), fault.Malformed},
		"no loops":            {file(`{"metadata":{"loops":0},"values":[1]}`), fault.Malformed},
		"half a loop":         {file(`{"metadata":{"inner_loops":0.5},"values":[1]}`), fault.Malformed},
		"thousands separator": {file(`{"metadata":{"loops":1,024},"values":[1]}`), fault.Malformed},
	} {
		if got, err := Parse(tc.text); fault.CodeOf(err) != tc.want {
			t.Errorf("%s: got %+v %v, want %q", name, got, err, tc.want)
		}
	}
}

func TestMemoryIsBounded(t *testing.T) {
	many := func(n int, s string) []byte { return file(strings.Repeat(s+",", n) + s) }
	for name, text := range map[string][]byte{
		"small runs":     many(50000, `{"values":[1]}`),
		"with metadata":  many(50000, `{"values":[1],"metadata":{}}`),
		"many values":    file(`{"values":[` + strings.Repeat("1,", 300000) + `1]}`),
		"many warm-ups":  file(`{"warmups":[` + strings.Repeat("[1,1],", 100000) + `[1,1]]}`),
		"many of a file": []byte(`{"version":"1.0","metadata":{"name":"f"},"benchmarks":[` + strings.Repeat(`{"runs":[{"values":[1]}]},`, 50000) + `{"runs":[{"values":[1]}]}]}`),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Parse(text)
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; err != nil || got > uint64(16*len(text)) {
			t.Errorf("%s: %d bytes for a file of %d, %v", name, got, len(text), err)
		}
	}
}

// FuzzParse: no input makes the parser panic, give a run of nothing, or answer
// differently the second time.
func FuzzParse(f *testing.F) {
	paths, err := filepath.Glob("testdata/*.json")
	if err != nil || len(paths) == 0 {
		f.Fatal("no fixtures", err)
	}
	for _, path := range paths {
		f.Add(fixture(f, filepath.Base(path)))
	}
	f.Add(file(`{"values":[NaN],"metadata":{"date":"x"}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := Parse(b)
		again, second := Parse(b)
		if fault.CodeOf(err) != fault.CodeOf(second) || !cmp.Equal(d, again, cmpopts.EquateNaNs()) {
			t.Error("the same bytes gave another answer")
		}
		for _, one := range d.Benchmarks {
			if one.Name == "" || one.Unit == "" {
				t.Errorf("benchmark %+v", one)
			}
			for _, r := range one.Runs {
				if r.Loops < 1 || r.Inner < 1 || len(r.Values)+r.Warmups == 0 {
					t.Errorf("run %+v", r)
				}
			}
		}
	})
}
