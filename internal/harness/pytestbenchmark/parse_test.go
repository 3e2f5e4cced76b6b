package pytestbenchmark

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"writ/internal/fault"
)

const options = `"options":{"disable_gc":false,"timer":"perf_counter","min_rounds":3,"max_time":1e-09,"min_time":5e-06,"warmup":false}`

// record is one test of a hand-made file, with three rounds.
func record(name, rest string) string {
	return fmt.Sprintf(`{"fullname":%q,%s,"stats":{"rounds":3,"data":[0.25,0.5,0.125],"iterations":2,"mean":0.25,"stddev":0.1%s}}`, name, options, rest)
}

func file(records ...string) []byte {
	return []byte(`{"machine_info":{"python_version":"3.11.2","cpu":{"flags":["x"]}},"benchmarks":[` + strings.Join(records, ",") + `],"version":"5.1.0"}`)
}

func TestParseARealFile(t *testing.T) {
	t.Parallel()
	got, err := Parse(fixture(t, "plain.json"))
	if err != nil {
		t.Fatal(err)
	}
	want := Document{
		Version: "3.2.2",
		Facts: map[string]string{"processor": "", "machine": "x86_64", "python_compiler": "GCC 12.2.0", "python_implementation": "CPython",
			"python_version": "3.11.2", "release": "6.1.0", "system": "Linux"},
		Records: []Record{{FullName: "test_perf.py::test_plain", Options: Options{MinRounds: 3, MinTime: 5e-6, Timer: "perf_counter"}}},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Record{}, "Data", "Iterations", "Stats")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if r := got.Records[0]; len(r.Data) != 3 || r.Iterations < 1 || r.Stats["mean"] <= 0 || len(r.Stats) != len(statNames) {
		t.Errorf("record %+v", r)
	}
}

func fixtures(t testing.TB, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/" + pattern)
	if err != nil || len(paths) == 0 {
		t.Fatal("no fixtures", err)
	}
	return paths
}

func TestParseEveryFixture(t *testing.T) {
	t.Parallel()
	for _, path := range fixtures(t, "*.json") {
		text := fixture(t, filepath.Base(path))
		want := fault.Code("")
		if len(text) == 0 {
			want = fault.Nothing
		}
		d, err := Parse(text)
		if fault.CodeOf(err) != want || err == nil && len(d.Records) != 1 {
			t.Errorf("%s: %d records, %v", path, len(d.Records), err)
		}
		if odd := strings.Contains(path, "extra"); odd != (d.NonFinite > 0) {
			t.Errorf("%s: %d numbers are not finite", path, d.NonFinite)
		}
	}
}

func TestParseStrictly(t *testing.T) {
	t.Parallel()
	stats := func(s string) []byte { return file(`{"fullname":"a",` + options + `,"stats":{` + s + `}}`) }
	for name, tc := range map[string]struct {
		text []byte
		want fault.Code // "" for fine
	}{
		"nothing measured":      {file(), ""},
		"a record":              {file(record("a", "")), ""},
		"bare words":            {file(record("a", `,"ops":Infinity,"q1":NaN`)), ""},
		"unknown members":       {[]byte(`{"new":{"x":[1]},"benchmarks":[` + record("a", `,"new":[{}]`) + `]}`), ""},
		"parameters":            {file(`{"params":{"o":{"deep":[1,{"x":null}]}},` + record("a", "")[1:]), ""},
		"no params":             {file(`{"params":null,"param":null,` + record("a", "")[1:]), ""},
		"warm-up as a count":    {file(strings.Replace(record("a", ""), `"warmup":false`, `"warmup":100000`, 1)), ""},
		"nothing":               {nil, fault.Nothing},
		"a list":                {[]byte(`[]`), fault.Malformed},
		"no benchmarks":         {[]byte(`{"version":"5"}`), fault.Malformed},
		"byte order mark":       {append([]byte("\xef\xbb\xbf"), file()...), fault.Malformed},
		"two files in one":      {append(file(), file()...), fault.Malformed},
		"no name":               {file(`{` + options + `,"stats":{"rounds":0,"data":[],"iterations":1}}`), fault.Malformed},
		"no options":            {file(`{"fullname":"a","stats":{"rounds":0,"data":[],"iterations":1}}`), fault.Malformed},
		"no stats":              {file(`{"fullname":"a",` + options + `}`), fault.Malformed},
		"no data":               {stats(`"rounds":0,"iterations":1`), fault.Malformed},
		"no iterations":         {stats(`"rounds":1,"data":[1]`), fault.Malformed},
		"zero iterations":       {stats(`"rounds":1,"data":[1],"iterations":0`), fault.Malformed},
		"half an iteration":     {stats(`"rounds":1,"data":[1],"iterations":0.5`), fault.Malformed},
		"rounds without values": {stats(`"rounds":2,"data":[1],"iterations":1`), fault.Malformed},
		"values as text":        {stats(`"rounds":1,"data":["1"],"iterations":1`), fault.Malformed},
		"values as null":        {stats(`"rounds":1,"data":[null],"iterations":1`), fault.Malformed},
		"twice the same":        {stats(`"rounds":1,"data":[1],"iterations":1,"data":[2]`), fault.Malformed},
		"a mean of words":       {stats(`"rounds":1,"data":[1],"iterations":1,"mean":"1"`), fault.Malformed},
	} {
		if _, err := Parse(tc.text); fault.CodeOf(err) != tc.want {
			t.Errorf("%s: got %v, want %q", name, err, tc.want)
		}
	}
}

func TestParseReport(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Report{
		"plain": {Tests: 1}, "v5-plain": {Tests: 1}, "unused": {Tests: 1}, "none": {},
		"fails-after":  {Tests: 1, Failed: true, Message: "assert 4950 == 1"},
		"fails-inside": {Tests: 1, Failed: true, Message: "ZeroDivisionError: division by zero"},
		"setup":        {Tests: 1, Failed: true, Message: `failed on setup with "RuntimeError: no such thing"`},
		"teardown":     {Tests: 1, Failed: true, Message: `failed on teardown with "RuntimeError: cannot leave"`},
		"skip":         {Tests: 1, Skipped: true, Message: "not on this machine"},
		"v5-skip":      {Tests: 1, Skipped: true, Message: "not on this machine"},
	} {
		got, err := ParseReport(fixture(t, name+".xml"))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	inside := func(s string) string { return `<testsuite><testcase name="a">` + s + `</testcase></testsuite>` }
	for text, want := range map[string]Report{
		`<testsuite><testcase/><testcase/></testsuite>`:            {Tests: 2},
		inside(`<error message="a&#10;b"/><failure message="c"/>`): {Tests: 1, Failed: true, Message: "a"},
		inside(`<new/>`): {Tests: 1, Failed: true},
		inside(`<properties><property name="failure"/></properties>`):                     {Tests: 1},
		inside(`<system-out>&lt;failure/&gt;</system-out>`):                               {Tests: 1},
		`<testsuite><properties><testcase><failure/></testcase></properties></testsuite>`: {Failed: true},
	} {
		if got, err := ParseReport([]byte(text)); err != nil || got != want {
			t.Errorf("%s: %+v %v", text, got, err)
		}
	}
	for name, text := range map[string]string{
		"nothing": "", "words": "passed", "other root": "<html/>", "cut off": passed[:len(passed)-3], "text before": "x" + passed, "text after": passed + "x",
		"entity": inside("&nbsp;"), "bad UTF-8": inside("\xff"), "crossed": "<testsuite><testcase></testsuite></testcase>", "deep": strings.Repeat("<testsuite>", 20),
	} {
		if got, err := ParseReport([]byte(text)); fault.CodeOf(err) != fault.Malformed {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
	if _, err := ParseReport(make([]byte, maxReport+1)); fault.CodeOf(err) != fault.TooLarge {
		t.Errorf("a large report: %v", err)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	small := `{"fullname":"a","options":{},"stats":{"rounds":1,"data":[1],"iterations":1,"min":1}}`
	for name, text := range map[string][]byte{
		"small records": file(strings.Repeat(small+",", 30000) + small),
		"many rounds":   file(`{"fullname":"a","options":{},"stats":{"rounds":300001,"data":[` + strings.Repeat("0,", 300000) + `0],"iterations":1}}`),
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

// FuzzParse: no input makes the parser panic, give a record without what makes it
// one, or answer differently the second time.
func FuzzParse(f *testing.F) {
	for _, path := range fixtures(f, "*.json") {
		f.Add(fixture(f, filepath.Base(path)))
	}
	f.Add(file(record("a", `,"q1":NaN`), record("b", "")))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := Parse(b)
		again, second := Parse(b)
		if fault.CodeOf(err) != fault.CodeOf(second) || !cmp.Equal(d, again, cmpopts.EquateNaNs()) {
			t.Error("the same bytes gave another answer")
		}
		for _, r := range d.Records {
			if r.FullName == "" || r.Iterations < 1 || r.Stats == nil {
				t.Errorf("record %+v", r)
			}
		}
	})
}

// FuzzParseReport: a report that is accepted counts what it holds.
func FuzzParseReport(f *testing.F) {
	for _, path := range fixtures(f, "*.xml") {
		f.Add(fixture(f, filepath.Base(path)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := ParseReport(b)
		if err == nil && strings.Count(string(b), "<testcase") < r.Tests {
			t.Errorf("%d tests in %q", r.Tests, b)
		}
	})
}
