package gobench

import (
	"bytes"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestParseARealRun(t *testing.T) {
	t.Parallel()
	got, err := Parse(fixture(t, "flaky.txt"))
	if err != nil {
		t.Fatal(err)
	}
	row := func(ns float64) Row {
		return Row{Name: "BenchmarkFlaky-2", Iterations: 100, Values: []Metric{{"ns/op", ns}, {"B/op", 0}, {"allocs/op", 0}}}
	}
	want := Text{
		Config: map[string]string{"goos": "linux", "goarch": "amd64", "pkg": "example.org/sample/pkg", "cpu": "AMD EPYC"},
		Rows:   []Row{row(3.010), row(3.210), row(2.300), row(2.410)},
		Names:  []string{"BenchmarkFlaky"},
		Marks:  []Mark{{"FAIL", "BenchmarkFlaky", "work_test.go:115: third time unlucky"}, {"FAIL", "BenchmarkFlaky-2", ""}},
		End:    "PASS",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestParseLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 200<<10)
	for name, tc := range map[string]struct {
		line string
		want []Row
	}{
		"plain":              {"BenchmarkA-8   \t100\t 5.5 ns/op", []Row{{"BenchmarkA-8", 100, []Metric{{"ns/op", 5.5}}}}},
		"no values":          {"BenchmarkA-8   \t100", []Row{{"BenchmarkA-8", 100, nil}}},
		"carriage return":    {"BenchmarkA 1 2 ns/op\r", []Row{{"BenchmarkA", 1, []Metric{{"ns/op", 2}}}}},
		"odd units":          {"BenchmarkA 1 2 µs:%/x", []Row{{"BenchmarkA", 1, []Metric{{"µs:%/x", 2}}}}},
		"longer than 64 KiB": {"Benchmark_" + long + " 1 2 ns/op", []Row{{"Benchmark_" + long, 1, []Metric{{"ns/op", 2}}}}},
		"not finite":         {"BenchmarkA 1 NaN a/op +Inf b/op -Inf c/op", []Row{{"BenchmarkA", 1, []Metric{{"a/op", math.NaN()}, {"b/op", math.Inf(1)}, {"c/op", math.Inf(-1)}}}}},
		"exponent":           {"BenchmarkA 1 1e+06 ns/op", []Row{{"BenchmarkA", 1, []Metric{{"ns/op", 1e6}}}}},
		"stray before name":  {"stray BenchmarkA 1 2 ns/op", nil},
		"stray after name":   {"BenchmarkA-2   \tstray 1 2 ns/op", nil},
		"stray number":       {"BenchmarkA-2   \t7   100\t 92 ns/op", nil},
		"name only":          {"BenchmarkA", nil},
		"announced":          {"BenchmarkA   \tstray", nil},
		"odd count":          {"BenchmarkA 1 2", nil},
		"no iterations":      {"BenchmarkA 0 2 ns/op", nil},
		"negative":           {"BenchmarkA -5 2 ns/op", nil},
		"signed":             {"BenchmarkA +5 2 ns/op", nil},
		"huge iterations":    {"BenchmarkA 99999999999999999999 2 ns/op", nil},
		"huge value":         {"BenchmarkA 1 1e999 ns/op", nil},
		"hexadecimal":        {"BenchmarkA 1 0x1p-2 ns/op", nil},
		"underscore":         {"BenchmarkA 1 1_000 ns/op", nil},
		"thousands":          {"BenchmarkA 1 1,234 ns/op", nil},
		"other infinity":     {"BenchmarkA 1 Infinity ns/op", nil},
		"lower-case name":    {"Benchmarking 1 2 ns/op", nil},
		"no-break space":     {"BenchmarkA\u00a0B 1 2 ns/op", nil},
		"bad UTF-8":          {"BenchmarkA\xff 1 2 ns/op", nil},
		"an event":           {`{"Action":"output","Package":"a","Test":"BenchmarkA","Output":"BenchmarkA-2 100 92 ns/op\n"}`, nil},
		"indented":           {"    BenchmarkA 1 2 ns/op", nil},
	} {
		got, err := Parse([]byte(tc.line + "\n"))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(tc.want, got.Rows, cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestParseEnd(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"PASS\n":                                "PASS",
		"FAIL\n":                                "FAIL",
		"PASS\ncoverage: 12.0% of statements\n": "PASS",
		"PASS\n\n":                              "PASS",
		"PASS":                                  "",
		"PASS\nBenchmarkA 1 2 ns/op\n":          "",
		"PASS\ngoroutine 1 [running]:\n":        "",
		"PASS\n    indented\n":                  "",
		"stray PASS\n":                          "",
		"PASSED\n":                              "",
		"":                                      "",
		"FAIL\nPASS\n":                          "PASS",
		"PASS\nBenchmarkA\nFAIL\n":              "FAIL",
		"--- FAIL: BenchmarkA\nPASS\ncoverage: x\n": "PASS",
	} {
		got, err := Parse([]byte(text))
		if err != nil || got.End != want {
			t.Errorf("%q: got %q %v, want %q", text, got.End, err, want)
		}
	}
}

func TestParseConfig(t *testing.T) {
	t.Parallel()
	got, err := Parse([]byte("pkg: a\npkg: b\ncpu: X @ 2 GHz\nempty:\nUpper: x\nwith space: x\nno-value\nurl:x\n: y\nBenchmark: 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"pkg": "b", "cpu": "X @ 2 GHz", "empty": ""}, got.Config); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestValue(t *testing.T) {
	t.Parallel()
	r := Row{Values: []Metric{{"ns/op", 1}, {"B/op", 2}, {"B/op", 3}}}
	if v, ok := r.Value("ns/op"); !ok || v != 1 {
		t.Errorf("ns/op: %v %t", v, ok)
	}
	for _, unit := range []string{"B/op", "allocs/op"} {
		if v, ok := r.Value(unit); ok {
			t.Errorf("%s: got %v, want nothing", unit, v)
		}
	}
}

func TestBaseName(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name       string
		processors int
		base       string
		ok         bool
	}{
		{"BenchmarkA-2", 2, "BenchmarkA", true},
		{"BenchmarkA/size-4-16", 16, "BenchmarkA/size-4", true},
		{"BenchmarkA/size-4", 1, "BenchmarkA/size-4", true},
		{"BenchmarkA/size-4", 2, "BenchmarkA/size-4", false},
		{"BenchmarkA-12", 2, "BenchmarkA-12", false},
	} {
		if base, ok := BaseName(tc.name, tc.processors); base != tc.base || ok != tc.ok {
			t.Errorf("%+v: got %q %t", tc, base, ok)
		}
	}
}

// FuzzParse: no input makes the parser panic, invent a row that is not on a line
// of its own, or see the end of a text that has none.
func FuzzParse(f *testing.F) {
	names, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(names) == 0 {
		f.Fatal("no fixtures", err)
	}
	for _, n := range names {
		f.Add(fixture(f, filepath.Base(n)))
	}
	f.Add([]byte("BenchmarkA-2   \t7   100\t 92 ns/op\nPASS"))
	f.Fuzz(func(t *testing.T, b []byte) {
		text, err := Parse(b)
		if err != nil {
			return
		}
		lines := bytes.Count(b, []byte("\n"))
		if n := len(text.Rows) + len(text.Names) + len(text.Marks); n > lines {
			t.Errorf("%d facts on %d lines", n, lines)
		}
		if text.End != "" && !bytes.Contains(b, []byte(text.End+"\n")) && !bytes.Contains(b, []byte(text.End+"\r\n")) {
			t.Errorf("end %q is not there", text.End)
		}
		for _, r := range text.Rows {
			if r.Iterations < 1 || !isName(r.Name) || !bytes.Contains(b, []byte(r.Name)) {
				t.Errorf("row %+v", r)
			}
			for _, m := range r.Values {
				if m.Unit == "" || strings.ContainsAny(m.Unit, " \t\n") {
					t.Errorf("unit %q", m.Unit)
				}
			}
		}
		again, err := Parse(b)
		if err != nil || !cmp.Equal(text, again, cmpopts.EquateNaNs()) {
			t.Error("the same bytes gave another answer")
		}
	})
}
