package jmh

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/harness/harnesstest"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/runner/proc"
	"writ/internal/testkit"
)

func TestReadValues(t *testing.T) {
	t.Parallel()
	got := Adapter{}.Read(harness.Suite{}, caseName, ordered(2, 3), []string{"wall-time", "allocated-bytes", "energy"}, ended(0, fixture(t)))
	groups := []string{"0", "0", "0", "1", "1", "1"}
	want := harness.Reading{
		Quantities: map[string]harness.Measured{
			"wall-time": {Status: result.Success, Values: []float64{1e-9, 2e-9, 3e-9, 4e-9, 5e-9, 6e-9}, Groups: groups, Unit: "s", OriginalUnit: "ns/op", Summaries: []result.Summary{
				summary("mean", 3.5e-9), interval(2.75e-9, 4.25e-9),
			}},
			"allocated-bytes": {Status: result.Success, Values: []float64{24, 24, 24, 24, 24, 24}, Groups: groups, Unit: "By", OriginalUnit: "B/op", Summaries: []result.Summary{summary("mean", 24)}},
			"energy":          {Status: result.Failed, Reason: result.ReasonMapping, Unit: "J"},
		},
		Attempted: 6, Warmups: 2, Levels: []result.LevelCounts{{Unit: Process, Attempted: 2, Completed: 2}, {Unit: Iteration, Attempted: 6, Completed: 6}},
		Facts: map[string]string{"threads": "1", "forks": "2", "mode": "avgt", "jmhVersion": "1.37", "jvm": "/usr/lib/jvm/java-17/bin/java", "jdkVersion": "17.0.15", "vmName": "OpenJDK 64-Bit Server VM", "vmVersion": "17.0.15+6"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// A batch of ten calls is one value: E-53 is the name of older versions.
	text := strings.NewReplacer(`"avgt"`, `"ss"`, `"measurementBatchSize" : 1`, `"measurementBatchSize" : 10`, `"gc.alloc.rate.norm"`, "\"\u00b7gc.alloc.rate.norm\"").Replace(fixture(t))
	p := ordered(2, 3)
	p.Calibration = &order.Calibration{Mode: order.Fixed, NIterations: 10}
	batch := Adapter{}.Read(harness.Suite{}, caseName, p, []string{"wall-time", "allocated-bytes"}, ended(0, text))
	if m := batch.Quantities["wall-time"]; m.Status != result.Success || m.Values[0] != 1e-10 || batch.InnerIterations[5] != 10 || batch.Quantities["allocated-bytes"].Values[0] != 2.4 {
		t.Errorf("%+v", batch)
	}
	bare := order.Precision{Repetitions: order.Times(3), Calibration: ordered(1, 1).Calibration, Warmup: ordered(1, 1).Warmup}
	one := strings.NewReplacer(`"forks" : 2`, `"forks" : 1`).Replace(fixture(t))
	if r := (Adapter{}).Read(harness.Suite{}, caseName, bare, wall, ended(0, one)); r.Quantities["wall-time"].Reason != result.ReasonMapping || r.Levels != nil {
		t.Errorf("one fork was ordered, two are there: %+v", r)
	}
}

func summary(name string, v float64) result.Summary {
	return result.Summary{Type: "estimate", Source: "producer", Value: &v, Estimator: &result.Estimator{Name: name, MethodVersion: "jmh/" + name, InputLevel: "observations"}}
}

func interval(lower, upper float64) result.Summary {
	level := 0.999
	return result.Summary{Type: "confidence_interval", Source: "producer", Statistic: "mean", Level: &level, Lower: &lower, Upper: &upper, Method: "student's t"}
}

func TestReadOutcomes(t *testing.T) {
	t.Parallel()
	whole := fixture(t)
	change := func(pairs ...string) harness.Output { return ended(0, strings.NewReplacer(pairs...).Replace(whole)) }
	cutFork := strings.Index(whole, "4.0,") // the second fork of the primary metric
	lost := whole[:cutFork] + strings.Replace(whole[cutFork:], "4.0,\n                    5.0,\n", "", 1)
	thrown := ended(1, "")
	thrown.Stdout = []byte("# Fork: 1 of 1\n# Warmup Iteration   1: <failure>\n\njava.lang.IllegalStateException: no good\n\tat org.sample\n")
	died := ended(1, "")
	died.Stderr = []byte("Exception in thread \"main\" org.openjdk.jmh.runner.RunnerException: ERROR: no such thing\n")
	stopped := harness.Output{Result: proc.Result{Cause: proc.TimedOut}}
	for name, tc := range map[string]struct {
		out    harness.Output
		status result.Status
		reason string
		says   string
		warn   string
	}{
		"whole":                   {ended(0, whole), result.Success, "", "", ""},
		"status":                  {ended(1, whole), result.Partial, result.ReasonPartial, "ended with status 1", answerExit},
		"iterations lost":         {ended(0, lost), result.Partial, result.ReasonPartial, "", ""},
		"not finite (E-49)":       {change("4.0,\n                    5.0", "\"+INF\",\n                    \"NaN\""), result.Partial, result.ReasonPartial, "cannot be used", "non-finite-number"},
		"score not finite (E-49)": {change(`"scoreError" : 0.75`, `"scoreError" : "NaN"`, "2.75,\n                4.25", "\"NaN\",\n                \"NaN\""), result.Success, "", "", ""},
		"failed (E-51)":           {thrown, result.Failed, result.ReasonHarnessError, "no good", answerExit},
		"died":                    {died, result.Failed, result.ReasonHarnessError, "no such thing", answerExit},
		"absent (E-51)":           {ended(0, "[\n\n]\n"), result.Failed, result.ReasonNoOutput, "", ""},
		"no raw data (E-52)":      {ended(0, whole[:strings.Index(whole, `"rawData" : [`)]+`"rawData" : []}}]`), result.Failed, result.ReasonMapping, "only a score", ""},
		"no file (E-55)":          {ended(0, ""), result.Failed, result.ReasonNoOutput, "", ""},
		"cut off (E-55)":          {ended(0, whole[:900]), result.Failed, result.ReasonMapping, "", ""},
		"no fork (E-54)":          {change(`"forks" : 2`, `"forks" : 0`), result.Failed, result.ReasonMapping, "virtual machine of the harness", ""},
		"other forks":             {change(`"forks" : 2`, `"forks" : 3`), result.Failed, result.ReasonMapping, "others were ordered", ""},
		"other warm-up":           {change(`"warmupIterations" : 1`, `"warmupIterations" : 5`), result.Failed, result.ReasonMapping, "others were ordered", ""},
		"throughput":              {change(`"avgt"`, `"thrpt"`, `"ns/op"`, `"ops/ns"`), result.Failed, result.ReasonMapping, "the mode is thrpt, avgt was ordered", ""},
		"another unit":            {change(`"ns/op"`, `"fortnights/op"`), result.Failed, result.ReasonMapping, "are no times of a call", ""},
		"unescaped (E-50)":        {change(`"a b"`, `"a "b"`), result.Failed, result.ReasonMapping, "byte", ""},
		"broken text (E-50)":      {change(`"a b"`, "\"a,\nb\""), result.Failed, result.ReasonMapping, "control character", ""},
		"other parameters":        {change(`"size" : "10"`, `"size" : "100"`), result.Failed, result.ReasonNoOutput, "", "unplanned-case"},
		"fewer parameters":        {change(`"size" : "10",`, ""), result.Failed, result.ReasonNoOutput, "", "unplanned-case"},
		"twice":                   {ended(0, strings.TrimSuffix(strings.TrimSpace(whole), "]")+","+strings.TrimPrefix(strings.TrimSpace(whole), "[")), result.Failed, result.ReasonMapping, "2 times", ""},
		"timeout":                 {stopped, result.Failed, result.ReasonTimeout, "", ""},
		"zero":                    {change("1.0,\n                    2.0", "0.0,\n                    2.0"), result.Partial, result.ReasonPartial, "wall-time of 0", ""},
	} {
		got := Adapter{}.Read(harness.Suite{}, caseName, ordered(2, 3), wall, tc.out)
		m := got.Quantities["wall-time"]
		if m.Status != tc.status || m.Reason != tc.reason || !strings.Contains(got.Message+m.Message, tc.says) {
			t.Errorf("%s: %+v", name, got)
		}
		if evidence := m.Status == result.Success || m.Status == result.Partial; evidence != (len(m.Values) > 0) || len(got.Levels) != 2 || got.Levels[1].Completed != len(m.Values) {
			t.Errorf("%s: %+v", name, got)
		}
		if tc.warn != "" && !slices.Contains(got.Warnings, tc.warn) {
			t.Errorf("%s: warnings %v", name, got.Warnings)
		}
	}
	fixed := harness.Suite{Traits: map[string]string{traitFixed + "size": "10"}}
	if m := (Adapter{}).Read(fixed, "org.sample.Sums.loop:text=a b", ordered(2, 3), wall, ended(0, whole)).Quantities["wall-time"]; m.Status != result.Success {
		t.Errorf("a parameter of the order: %+v", m)
	}
	fixed.Traits[traitFixed+"depth"] = "1"
	if r := (Adapter{}).Read(fixed, "org.sample.Sums.loop:text=a b", ordered(2, 3), wall, ended(0, whole)); !strings.Contains(r.Message, `no parameter "depth"`) {
		t.Errorf("a parameter that the benchmark does not have: %+v", r)
	}
}

const answerExit = "harness-exit-status"

// TestTruncatedFileIsNeverASuccess cuts it at every byte.
func TestTruncatedFileIsNeverASuccess(t *testing.T) {
	t.Parallel()
	whole := strings.TrimSpace(fixture(t))
	for cut := range whole {
		if m := (Adapter{}).Read(harness.Suite{}, caseName, ordered(2, 3), wall, ended(0, whole[:cut])).Quantities["wall-time"]; m.Status != result.Failed {
			t.Fatalf("cut at byte %d: %+v", cut, m)
		}
	}
}

// TestWhatChangesNothing: other benchmarks before and behind, other members, units
// and line ends.
func TestWhatChangesNothing(t *testing.T) {
	t.Parallel()
	whole := strings.TrimSpace(fixture(t))
	values := func(text string) []float64 {
		return Adapter{}.Read(harness.Suite{}, caseName, ordered(2, 3), wall, ended(0, text)).Quantities["wall-time"].Values
	}
	want := values(whole)
	other := strings.Replace(whole[1:len(whole)-1], "Sums.loop", "Sums.other", 1)
	for name, text := range map[string]string{
		"others":           "[" + other + "," + whole[1:len(whole)-1] + "," + strings.Replace(other, "other", "more", 1) + "]",
		"unknown members":  strings.Replace(whole, `"mode"`, `"new" : [{"x" : null}], "mode"`, 1),
		"carriage returns": strings.ReplaceAll(whole, "\n", "\r\n"),
		"microseconds":     strings.NewReplacer("ns/op", "us/op", "1.0,\n                    2.0,\n                    3.0", "0.001,0.002,0.003", "4.0,\n                    5.0,\n                    6.0", "0.004,0.005,0.006").Replace(whole),
	} {
		if diff := cmp.Diff(want, values(text)); diff != "" || len(want) != 6 {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestMemoryIsBounded(t *testing.T) {
	small := `{"benchmark":"a","mode":"b","primaryMetric":{"scoreUnit":"c"}}`
	for name, text := range map[string]string{
		"small entries": "[" + strings.Repeat(small+",", 30000) + small + "]",
		"facts":         "[" + strings.Repeat(small[:len(small)-1]+`,"jvm":"","vmName":"","vmVersion":"","params":{"a":"b"}},`, 30000) + small + "]",
		"values":        `[{"benchmark":"a","mode":"b","primaryMetric":{"scoreUnit":"c","rawData":[[` + strings.Repeat("1,", 300000) + `1]]}}]`,
		"empty forks":   `[{"benchmark":"a","mode":"b","primaryMetric":{"scoreUnit":"c","rawData":[` + strings.Repeat("[],", 300000) + `[1]]}}]`,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Parse([]byte(text))
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; err != nil || got > uint64(16*len(text)) {
			t.Errorf("%s: %d bytes for a file of %d, %v", name, got, len(text), err)
		}
	}
}

// FuzzParse: no input makes the parser panic, give an entry without what makes it one,
// or answer differently the second time.
func FuzzParse(f *testing.F) {
	f.Add([]byte(fixture(f)))
	f.Add([]byte(`[{"benchmark":"a","mode":"ss","primaryMetric":{"scoreUnit":"c","score":"-INF","scoreConfidence":["NaN","+INF"]}}]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		entries, err := Parse(b)
		again, second := Parse(b)
		if fault.CodeOf(err) != fault.CodeOf(second) || fmt.Sprint(entries) != fmt.Sprint(again) {
			t.Error("the same bytes gave another answer")
		}
		for _, e := range entries {
			sum := 0
			for _, n := range e.Primary.Forks {
				sum += n
			}
			if e.Benchmark == "" || e.Mode == "" || sum != len(e.Primary.Values) {
				t.Errorf("entry %+v", e)
			}
		}
	})
}

// standin speaks the command line of JMH behind java -jar, as far as the adapter
// relies on it, and writes the file that was recorded.
const standin = `#!/bin/sh
if [ "$*" = "-XshowSettings:properties -version" ]; then
	printf 'Property settings:\n    java.vendor = Nobody\n    java.version = 17.0.15\n    java.vm.name = A VM\n\n' >&2
	exit 0
fi
[ "$1" = -jar ] && [ -f "$2" ] || { echo "Unable to access jarfile $2" >&2; exit 1; }
[ -z "$JAVA_TOOL_OPTIONS" ] || exit 9
shift 2
include= out= forks= iterations= warmups= size= text= list=
while [ $# -gt 0 ]; do
	case $1 in
	-lp) list=1 ;;
	-rff) shift; out=$1 ;; -f) shift; forks=$1 ;; -i) shift; iterations=$1 ;; -wi) shift; warmups=$1 ;;
	-p) shift; case $1 in size=*) size=${1#*=} ;; text=*) text=${1#*=} ;; esac ;;
	-bm) shift; [ "$1" = avgt ] || exit 8 ;;
	-tu|-foe|-rf|-r|-w|-prof|-jvmArgs) shift ;;
	-*) echo "$1 is not a recognized option" >&2; exit 1 ;;
	*) include=$1 ;;
	esac
	shift
done
if [ -n "$list" ]; then
	printf 'Benchmarks: \norg.sample.Sums.loop\n  param "size" = {10, 20}\n  param "text" = {a b}\norg.sample.Sums.throws\n'
	exit 0
fi
[ "$forks $iterations $warmups" = '2 3 1' ] || exit 7
case "$include $size $text" in
'^\Qorg.sample.Sums.loop\E$ 10 a b') cp "$FIXTURE" "$out" ;;
'^\Qorg.sample.Sums.loop\E$ 20 a b') head -c 700 "$FIXTURE" >"$out"; kill -9 $$ ;;
'^\Qorg.sample.Sums.throws\E$  ') echo '# Warmup Iteration   1: <failure>'; echo; echo 'java.lang.IllegalStateException: no good'; exit 1 ;;
*) echo 'No matching benchmarks. Miss-spelled regexp?'; exit 1 ;;
esac
`

func TestAStandIn(t *testing.T) {
	t.Parallel()
	fixtureFile, err := filepath.Abs("testdata/avgt.json")
	if err != nil {
		t.Fatal(err)
	}
	dir, bin := project(t), t.TempDir()
	testkit.Program(t, filepath.Join(bin, "java"), []byte(standin))
	d := harnesstest.Drive(t, Adapter{Path: bin}, "PATH="+os.Getenv("PATH"), "FIXTURE="+fixtureFile, "JAVA_TOOL_OPTIONS=-Djmh.json.rawData=false")
	s, err := d.Suite(buildOrder(dir, "wall-time", "allocated-bytes"))
	if err != nil || s.Version != "1.37" || s.Runtime["java.version"] != "17.0.15" {
		t.Fatalf("%+v %v", s, err)
	}
	cases, err := d.Cases(s)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range cases {
		got = append(got, c.Name)
	}
	if diff := cmp.Diff([]string{caseName, "org.sample.Sums.loop:size=20,text=a b", "org.sample.Sums.throws"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, reason := range map[string]string{
		got[0]: "", got[1]: result.ReasonHarnessError, got[2]: result.ReasonHarnessError, "org.sample.Sums.gone": result.ReasonHarnessError,
	} {
		r, out := d.Measure(s, name, ordered(2, 3), "wall-time", "allocated-bytes")
		for q, m := range r.Quantities {
			if m.Reason != reason || (m.Status == result.Success) != (reason == "") {
				t.Errorf("%s: %s: %+v\n%s", name, q, r, out.Stderr)
			}
		}
	}
}
