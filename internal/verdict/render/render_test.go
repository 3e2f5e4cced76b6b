package render

import (
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"html"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/perf/benchfmt"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/verdict"
	"writ/internal/verdict/benchfile"
)

var update = flag.Bool("update", false, "write what the formats give now into testdata")

func of(x float64) *float64 { return &x }

// sample is a report with every word, and names that would be markup elsewhere.
func sample() verdict.Report {
	row := func(name string, word verdict.Word, effect, lower, upper float64) verdict.Row {
		return verdict.Row{
			Workload: name, Quantity: "wall-time", Unit: "s", Direction: "lower-is-better", Gating: true, Measure: verdict.Ratio, Verdict: word,
			Effect: of(effect), Interval: []float64{lower, upper}, Level: of(.951171875), Baseline: of(1e-3), Contender: of(1e-3 * effect),
			Threshold: .02, N: 10, PSlower: of(.001), PHolm: of(.004), Warnings: []verdict.Note{},
		}
	}
	slower := row("BenchmarkParse/size=1|k-8", verdict.Slower, 1.3, 1.25, 1.34)
	slower.Warnings = []verdict.Note{{Code: "drift", Detail: "the difference moves with the round, p = 0.002"}}
	few := row("=cmd|' /C calc'!A0", verdict.Underpowered, 1.1, 0, 0)
	few.Interval, few.Level, few.Reason, few.Need, few.N, few.Dropped = nil, nil, "too-few-rounds", 6, 4, 1
	noise := row("<script>alert(1)</script> @all", verdict.Inconclusive, 1.01, .9, 1.2)
	noise.Reason, noise.Hint = "noise", "slower"
	gone := verdict.Row{Workload: "BenchmarkGone", Quantity: "wall-time", Unit: "s", Gating: true, Measure: verdict.Ratio, Verdict: verdict.Invalid, Reason: "missing", Threshold: .02, Warnings: []verdict.Note{}}
	allocs := row("lower", verdict.NoDifference, 0, -1, 1)
	allocs.Quantity, allocs.Unit, allocs.Measure, allocs.Gating, allocs.PHolm = "allocations", "1", verdict.Difference, false, nil
	allocs.Parameters = map[string]canon.Value{"n": canon.IntOf(7)}
	d := verdict.Document{
		RunKey: "run_1.compare.1", Method: verdict.Method{Name: "writ/paired-signed-rank", Version: "1", Alpha: .05, Multiplicity: "holm", Family: 6, Schedule: "random"},
		Policy: verdict.PolicyRef{Name: "writ/default", Version: "1"}, Overall: verdict.Invalid,
		Rows: []verdict.Row{
			slower, few, noise, gone, row("B_Faster", verdict.Faster, .8, .78, .83), row("same", verdict.NoDifference, 1.001, .999, 1.003),
			row("file", verdict.Identical, 1, 1, 1), allocs,
		},
		Failed: []verdict.Failure{{Invariant: "coverage", Detail: "the contender has no result", Workload: "BenchmarkGone", Quantity: "wall-time"}},
	}
	r := d.Report()
	r.Baseline, r.Contender = "1111", "2222"
	r.Exclusions = []string{"run:k:slot-3 of writ/go-test: harness.error"}
	for i := range r.Rows {
		if r.Rows[i].Word != string(verdict.Invalid) {
			r.Rows[i].Samples = [2][]float64{{.001, .0011}, {.0013, .00131}}
		}
	}
	return r
}

// gated is the sample with the answer of a gate.
func gated() verdict.Report {
	return sample().WithGate(verdict.DefaultPolicy(), verdict.GateAnswer{
		Answer: verdict.Block, Reasons: []string{"block: BenchmarkParse/size=1|k-8 wall-time: slower", "pass: 3 of 7 gating rows"},
		Policy: verdict.PolicyRef{Name: "writ/default", Version: "1"},
	})
}

func write(t *testing.T, format string, r verdict.Report) string {
	t.Helper()
	out, err := Text(format, r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestFormatsAsKept(t *testing.T) {
	t.Parallel()
	for _, format := range Names() {
		file := filepath.Join("testdata", format+".golden")
		got := write(t, format, gated())
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", format, diff)
		}
		if again := write(t, format, gated()); again != got {
			t.Errorf("%s: the same report gives other bytes", format)
		}
	}
	if _, err := Text("pdf", sample()); fault.CodeOf(err) != fault.Usage {
		t.Errorf("unknown format: %v", err)
	}
}

// What a format escapes is undone before it is searched.
var undo = map[string]func(string) string{
	"markdown": func(s string) string { return strings.ReplaceAll(html.UnescapeString(s), `\`, "") },
	"junit":    html.UnescapeString, "svg": html.UnescapeString,
	"sarif": func(s string) string {
		return strings.NewReplacer(`\n`, "\n", `\"`, `"`, `\u003c`, "<", `\u003e`, ">").Replace(s)
	},
}

func TestNothingIsLeftOut(t *testing.T) {
	t.Parallel()
	for _, format := range Names() {
		got := write(t, format, gated())
		if f := undo[format]; f != nil {
			got = f(got)
		}
		for _, want := range []string{
			"drift", "the difference moves with the round, p = 0.002", "the contender has no result", "run:k:slot-3 of writ/go-test: harness.error",
			"too-few-rounds", "inconclusive", "underpowered", "no-difference", "identical", "faster", "slower", "block",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("%s leaves out %q", format, want)
			}
		}
		if format != "csv" && (!strings.Contains(got, "~ no-difference") || !strings.Contains(got, "? inconclusive")) {
			t.Errorf("%s does not mark what is no clear yes", format)
		}
	}
}

func TestCommasAreRecords(t *testing.T) {
	t.Parallel()
	records, err := csv.NewReader(strings.NewReader(write(t, "csv", gated()))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(records) != 1+8+1+1+1 {
		t.Errorf("%d records", len(records))
	}
	for _, r := range records {
		for _, c := range r {
			if strings.HasPrefix(c, "=") || strings.HasPrefix(c, "@") {
				t.Errorf("a spreadsheet would calculate %q", c)
			}
		}
	}
	if got := records[1][4:12]; !slices.Equal(got, []string{"0.001", "0.0013000000000000002", "ratio", "1.3", "1.25", "1.34", "0.951171875", "10"}) {
		t.Errorf("numbers: %v", got)
	}
}

// The reader of the format itself finds every value, under its side.
func TestBenchmarkLinesAreRead(t *testing.T) {
	t.Parallel()
	reader := benchfmt.NewReader(strings.NewReader(write(t, "benchfmt", gated())), "report")
	got := map[string]int{}
	for reader.Scan() {
		switch r := reader.Result().(type) {
		case *benchfmt.Result:
			if len(r.Values) != 1 || r.Iters != 1 {
				t.Errorf("%s: %+v", r.Name, r)
			}
			got[r.GetConfig("side")+" "+string(r.Name)+" "+r.Values[0].Unit]++
			if r.GetConfig("run-key") != "run_1.compare.1" {
				t.Errorf("run key %q", r.GetConfig("run-key"))
			}
		case *benchfmt.SyntaxError:
			t.Error(r)
		}
	}
	if err := reader.Err(); err != nil {
		t.Fatal(err)
	}
	want := map[string]int{}
	for _, side := range []string{"baseline", "contender"} {
		for _, name := range []string{
			"Parse/size=1|k-8 sec/op", "=cmd|'_/C_calc'!A0 sec/op", "<script>alert(1)</script>_@all sec/op", "B_Faster sec/op", "_same sec/op",
			"_file sec/op", "_lower/n=7 allocs/op",
		} {
			want[side+" "+name] = 2
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if m := reader.Units().GetBetter("sec/op"); m != -1 {
		t.Errorf("sec/op is better %d", m)
	}
}

func TestUnitTests(t *testing.T) {
	t.Parallel()
	read := func(r verdict.Report) suites {
		var s suites
		if err := xml.Unmarshal([]byte(write(t, "junit", r)), &s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, c := range []struct {
		name                             string
		r                                verdict.Report
		tests, failures, errors, skipped int
	}{
		{"a gate lets nothing pass that it holds", gated(), 9, 3, 2, 0},
		{"without a gate", sample(), 9, 1, 2, 2},
		{"no row", verdict.Report{RunKey: "r"}, 1, 0, 1, 0},
	} {
		s := read(c.r)
		one := s.Suites[0]
		if one.Tests != c.tests || one.Failures != c.failures || one.Errors != c.errors || one.Skipped != c.skipped || s.Failures != c.failures || s.Errors != c.errors {
			t.Errorf("%s: %d tests, %d failures, %d errors, %d skipped", c.name, one.Tests, one.Failures, one.Errors, one.Skipped)
		}
		if len(one.Cases) != one.Tests {
			t.Errorf("%s: %d cases counted as %d", c.name, len(one.Cases), one.Tests)
		}
		for _, x := range one.Cases {
			if x.Name == "" || x.Class == "" {
				t.Errorf("%s: a case without a name", c.name)
			}
		}
	}
}

func TestScannerResults(t *testing.T) {
	t.Parallel()
	var log struct {
		Schema  string `json:"$schema"`
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct {
					Name  string
					Rules []struct{ ID string }
				}
			}
			Invocations []struct {
				ExecutionSuccessful        *bool
				ToolExecutionNotifications []struct {
					Level   string
					Message struct{ Text string }
				}
			}
			Results []struct {
				RuleID, Kind, Level string
				Message             struct{ Text string }
				Locations           []struct {
					LogicalLocations []struct{ FullyQualifiedName string }
				}
				PartialFingerprints map[string]string
				Properties          map[string]any
			}
		}
	}
	if err := json.Unmarshal([]byte(write(t, "sarif", gated())), &log); err != nil {
		t.Fatal(err)
	}
	if log.Version != "2.1.0" || len(log.Runs) != 1 || log.Runs[0].Tool.Driver.Name != "writ" {
		t.Fatalf("%+v", log)
	}
	run := log.Runs[0]
	rules := map[string]bool{}
	for _, r := range run.Tool.Driver.Rules {
		rules[r.ID] = true
	}
	prints := map[string]bool{}
	levels := map[string]int{}
	for _, r := range run.Results {
		levels[r.Level]++
		if !rules[r.RuleID] || r.Message.Text == "" || r.Locations[0].LogicalLocations[0].FullyQualifiedName == "" {
			t.Errorf("%+v", r)
		}
		if (r.Kind == "fail") == (r.Level == "none") {
			t.Errorf("kind %s with level %s", r.Kind, r.Level)
		}
		prints[r.PartialFingerprints["writCase/v1"]] = true
	}
	if len(prints) != 8 || levels["error"] != 2 || levels["warning"] != 2 || levels["none"] != 4 {
		t.Errorf("%d prints, levels %v", len(prints), levels)
	}
	if n := run.Invocations[0]; *n.ExecutionSuccessful || len(n.ToolExecutionNotifications) != 2 || n.ToolExecutionNotifications[0].Level != "error" {
		t.Errorf("%+v", n)
	}
}

func TestThePictureRunsNothing(t *testing.T) {
	t.Parallel()
	decoder := xml.NewDecoder(strings.NewReader(write(t, "svg", gated())))
	allowed := []string{"svg", "title", "desc", "rect", "line", "circle", "text"}
	described := ""
	inside := ""
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch x := token.(type) {
		case xml.StartElement:
			inside = x.Name.Local
			if !slices.Contains(allowed, inside) {
				t.Errorf("element %s", inside)
			}
			for _, a := range x.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" || a.Name.Local == "style" {
					t.Errorf("attribute %s", a.Name.Local)
				}
			}
		case xml.CharData:
			if inside == "desc" {
				described += string(x)
			}
		}
	}
	for _, row := range gated().Rows {
		if !strings.Contains(described, row.Case) || !strings.Contains(described, row.Text) {
			t.Errorf("the description leaves out %s", row.Case)
		}
	}
}

// What is written in the benchmark format and read again has the same values in the
// same rounds, and so the same numbers.
func TestBenchmarkLinesAreReadAgain(t *testing.T) {
	t.Parallel()
	r := sample()
	kept := r.Rows[:0]
	for _, row := range r.Rows {
		if row.Word != string(verdict.Invalid) {
			row.SampleRounds = []int{0, 2}
			kept = append(kept, row)
		}
	}
	r.Rows, r.Schedule = kept, "random"
	f, err := benchfile.Read("kept.txt", strings.NewReader(write(t, "benchfmt", r)), benchfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g, err := benchfile.Gather(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Series) != len(r.Rows) || g.Schedule.Kind != "random" || g.Rounds != 3 {
		t.Fatalf("%d series in %d rounds, schedule %q", len(g.Series), g.Rounds, g.Schedule.Kind)
	}
	for i, s := range g.Series {
		row := r.Rows[i]
		if s.Quantity != row.Quantity || s.Unit != row.Unit || s.Direction != row.Direction {
			t.Errorf("%s comes back as %s in %s, %s", row.Case, s.Quantity, s.Unit, s.Direction)
		}
		for at := range s.Samples {
			if diff := cmp.Diff(row.Samples[at], s.Samples[at]); diff != "" {
				t.Errorf("%s (-written +read):\n%s", row.Case, diff)
			}
			if diff := cmp.Diff([]uint16{0, 2}, s.Rounds[at]); diff != "" {
				t.Errorf("%s: rounds (-written +read):\n%s", row.Case, diff)
			}
		}
	}
}
