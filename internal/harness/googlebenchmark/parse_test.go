package googlebenchmark

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"writ/internal/fault"
	"writ/internal/harness/nativejson"
)

// row is one row of a hand-made file.
func row(name, rest string) string {
	return fmt.Sprintf(`{"name":%q,"run_name":%q,"run_type":"iteration","iterations":10,"real_time":1.5,"cpu_time":1.25,"time_unit":"ns"%s}`, name, name, rest)
}

func file(rows ...string) []byte {
	return []byte(`{"context":{"library_version":"v1.9.1"},"benchmarks":[` + strings.Join(rows, ",") + `]}`)
}

func TestParseARealRun(t *testing.T) {
	t.Parallel()
	got, err := Parse(fixture(t, "v1.9-fixed.json"), nil)
	if err != nil {
		t.Fatal(err)
	}
	const name = "BM_thr/threads:2"
	plain := func(i int) Row {
		return Row{Name: name, Run: name, Index: i, Threads: 2, Iterations: 100, Unit: "ns"}
	}
	aggregate := func(kind string, ratio bool) Row {
		return Row{Name: name + "_" + kind, Run: name, Aggregate: kind, Ratio: ratio, Index: -1, Threads: 2, Iterations: 2, Unit: "ns"}
	}
	want := []Row{plain(0), plain(1), aggregate("mean", false), aggregate("median", false), aggregate("stddev", false), aggregate("cv", true)}
	if diff := cmp.Diff(want, got.Rows, cmpopts.IgnoreTypes(nativejson.Num{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i, r := range got.Rows {
		if !r.Real.Finite() || r.Real.Value <= 0 || !r.CPU.Finite() {
			t.Errorf("row %d: %+v", i, r)
		}
	}
	for name, want := range map[string]string{"library_version": "1.9.1", "num_cpus": "2", "host_name": "host", "cpu_scaling_enabled": "false", "json_schema_version": "1"} {
		if got.Context[name] != want {
			t.Errorf("%s is %q, want %q", name, got.Context[name], want)
		}
	}
	if words := strings.Fields(got.Context["load_avg"]); len(words) != 3 {
		t.Errorf("load %q", got.Context["load_avg"])
	}
}

// TestParseEveryFixture: what real libraries write is read, except for what is no
// JSON.
func TestParseEveryFixture(t *testing.T) {
	t.Parallel()
	want := map[string]fault.Code{
		"no-match.json": fault.Nothing, "abort.json": fault.Malformed, "clash.json": fault.Malformed, "label.json": fault.Malformed,
	}
	for _, path := range fixtures(t) {
		name := filepath.Base(path)
		d, err := Parse(fixture(t, name), nil)
		if fault.CodeOf(err) != want[name] {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && len(d.Rows) == 0 {
			t.Errorf("%s: no rows", name)
		}
	}
}

func fixtures(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatal("no fixtures", err)
	}
	return paths
}

func TestParseStrictly(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text []byte
		want fault.Code // "" for fine
	}{
		"nothing run":           {file(), ""},
		"a row":                 {file(row("a", "")), ""},
		"unknown members":       {[]byte(`{"new":[{"x":null}],"context":{"new":{}},"benchmarks":[` + row("a", `,"new":{"x":[1,"y"]}`) + `]}`), ""},
		"no context":            {[]byte(`{"benchmarks":[]}`), ""},
		"an old library":        {file(`{"name":"a","iterations":1,"real_time":1,"cpu_time":1}`), ""},
		"bare words":            {file(row("a", `,"x":NaN,"y":-NaN,"z":Infinity`)), ""},
		"scientific iterations": {file(`{"name":"a","iterations":1e3,"real_time":1,"cpu_time":1}`), ""},
		"empty file":            {nil, fault.Nothing},
		"white space only":      {[]byte("\n"), fault.Malformed},
		"no benchmarks":         {[]byte(`{"context":{}}`), fault.Malformed},
		"a list":                {[]byte(`[]`), fault.Malformed},
		"stray line before":     {append([]byte("stray\n"), file()...), fault.Malformed},
		"two files in one":      {append(file(row("a", "")), file(row("a", ""))...), fault.Malformed},
		"byte order mark":       {append([]byte("\xef\xbb\xbf"), file()...), fault.Malformed},
		"thousands separator":   {file(`{"name":"a","iterations":1,234,"real_time":1,"cpu_time":1}`), fault.Malformed},
		"missing comma":         {[]byte(`{"context":{"a":"1" "b":"2"},"benchmarks":[]}`), fault.Malformed},
		"unescaped quote":       {file(`{"name":"say "hi"","iterations":1,"real_time":1,"cpu_time":1}`), fault.Malformed},
		"raw control character": {file(row("a", ",\"label\":\"x\x01y\"")), fault.Malformed},
		"a counter called name": {file(row("a", `,"name":3`)), fault.Malformed},
		"a counter as time":     {file(row("a", `,"real_time":3`)), fault.Malformed},
		"a counter as count":    {file(row("a", `,"iterations":3`)), fault.Malformed},
		"no name":               {file(`{"iterations":1,"real_time":1,"cpu_time":1}`), fault.Malformed},
		"no time":               {file(`{"name":"a","iterations":1,"cpu_time":1}`), fault.Malformed},
		"no iterations":         {file(`{"name":"a","real_time":1,"cpu_time":1}`), fault.Malformed},
		"zero iterations":       {file(`{"name":"a","iterations":0,"real_time":1,"cpu_time":1}`), fault.Malformed},
		"half an iteration":     {file(`{"name":"a","iterations":0.5,"real_time":1,"cpu_time":1}`), fault.Malformed},
		"time as text":          {file(`{"name":"a","iterations":1,"real_time":"1","cpu_time":1}`), fault.Malformed},
		"unknown unit":          {file(row("a", `,"unit":"h"`)), ""},
		"unknown time unit":     {file(`{"name":"a","iterations":1,"real_time":1,"cpu_time":1,"time_unit":"h"}`), fault.Malformed},
		"unknown type":          {file(`{"name":"a","run_type":"other","iterations":1,"real_time":1,"cpu_time":1}`), fault.Malformed},
		"nameless aggregate":    {file(`{"name":"a_mean","run_name":"a","run_type":"aggregate","iterations":1,"real_time":1,"cpu_time":1}`), fault.Malformed},
		"error without times":   {file(`{"name":"a","error_occurred":true,"error_message":"x"}`), ""},
		"error as text":         {file(`{"name":"a","error_occurred":"true"}`), fault.Malformed},
		"row as list":           {file(`[]`), fault.Malformed},
	} {
		if _, err := Parse(tc.text, nil); fault.CodeOf(err) != tc.want {
			t.Errorf("%s: got %v, want %q", name, err, tc.want)
		}
	}
}

func TestCountersAreKeptWhenAsked(t *testing.T) {
	t.Parallel()
	got, err := Parse(file(row("a", `,"x":1,"y":NaN,"z":"text"`)), []string{"x", "y", "absent"})
	if err != nil {
		t.Fatal(err)
	}
	if c := got.Rows[0].Counters; len(c) != 2 || c[0].Name != "x" || c[1].Value.Finite() || got.NonFinite != 1 {
		t.Errorf("got %+v", got)
	}
	if _, err := Parse(file(row("a", `,"z":"text"`)), []string{"z"}); fault.CodeOf(err) != fault.Malformed {
		t.Errorf("a counter of words: %v", err)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	small := `{"name":"a","iterations":1,"real_time":1,"cpu_time":1,"x":1}`
	for name, text := range map[string][]byte{
		"small rows":   file(strings.Repeat(small+",", 50000) + small),
		"escaped keys": file(strings.Repeat(strings.ReplaceAll(small, `"name"`, `"\u006eame"`)+",", 50000) + small),
		"one real":     file(strings.Repeat(row("BM_something", "")+",", 20000) + small),
		"context":      []byte(`{"context":{"load_avg":[` + strings.Repeat("1,", 100000) + `1]},"benchmarks":[]}`),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Parse(text, []string{"x"})
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; err != nil || got > uint64(16*len(text)) {
			t.Errorf("%s: %d bytes for a file of %d, %v", name, got, len(text), err)
		}
	}
}

// FuzzParse: no input makes the parser panic, give a row that no benchmark has, or
// answer differently the second time.
func FuzzParse(f *testing.F) {
	for _, path := range fixtures(f) {
		f.Add(fixture(f, filepath.Base(path)))
	}
	f.Add(file(row("a", `,"x":-NaN`), row("b", `,"skipped":true`)))
	f.Fuzz(func(t *testing.T, b []byte) {
		wanted := []string{"x", "bytes_per_second"}
		d, err := Parse(b, wanted)
		again, second := Parse(b, wanted)
		if fault.CodeOf(err) != fault.CodeOf(second) || !cmp.Equal(d, again, cmpopts.EquateNaNs()) {
			t.Error("the same bytes gave another answer")
		}
		if err != nil {
			return
		}
		for _, r := range d.Rows {
			if r.Name == "" || r.Run == "" || perSecond[r.Unit] == 0 || r.Iterations < 0 || len(r.Counters) > len(wanted) {
				t.Errorf("row %+v", r)
			}
			if r.Aggregate == "" && r.Outcome == Measured && r.Iterations < 1 {
				t.Errorf("a repetition without iterations: %+v", r)
			}
		}
	})
}
