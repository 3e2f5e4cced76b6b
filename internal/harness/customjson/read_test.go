package customjson

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/harness/harnesstest"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/runner/proc"
)

func chmod(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
}

// document has three samples of a quantity, and more members.
func document(more string) string {
	return `{"schema":"writ.samples/v1","quantities":{"wall-time":{"unit":"ms","samples":[1.5,2,2.5]}}` + more + `}`
}

func TestParseStrictly(t *testing.T) {
	t.Parallel()
	of := func(series string) string { return `{"schema":"writ.samples/v1","quantities":{` + series + `}}` }
	for name, tc := range map[string]struct {
		text string
		want fault.Code // "" for fine
	}{
		"whole":              {document(`,"case":"a","iterations":[1,2,3],"warmups":0,"facts":{"a":"b","c":1.5,"d":true}`), ""},
		"order of members":   {`{"quantities":{"score":{"samples":[0],"unit":"1"}},"schema":"writ.samples/v1"}`, ""},
		"skipped":            {`{"schema":"writ.samples/v1","skipped":"no such device"}`, ""},
		"nothing":            {"", fault.Nothing},
		"no schema":          {`{"quantities":{"wall-time":{"unit":"s","samples":[1]}}}`, fault.Malformed},
		"another schema":     {strings.Replace(document(""), "/v1", "/v2", 1), fault.Malformed},
		"no quantities":      {`{"schema":"writ.samples/v1"}`, fault.Malformed},
		"empty quantities":   {of(""), fault.Malformed},
		"no unit":            {of(`"wall-time":{"samples":[1]}`), fault.Malformed},
		"no samples":         {of(`"wall-time":{"unit":"s","samples":[]}`), fault.Malformed},
		"text samples":       {of(`"wall-time":{"unit":"s","samples":["1"]}`), fault.Malformed},
		"null samples":       {of(`"wall-time":{"unit":"s","samples":[null]}`), fault.Malformed},
		"NaN":                {of(`"wall-time":{"unit":"s","samples":[NaN]}`), fault.Malformed},
		"too large":          {of(`"wall-time":{"unit":"s","samples":[1e999]}`), fault.Malformed},
		"misspelt":           {of(`"wall-time":{"unit":"s","sample":[1]}`), fault.Malformed},
		"more members":       {document(`,"repetitions":3`), fault.Malformed},
		"twice":              {document(`,"quantities":{}`), fault.Malformed},
		"twice the quantity": {of(`"wall-time":{"unit":"s","samples":[1]},"wall-time":{"unit":"s","samples":[1]}`), fault.Malformed},
		"thousands":          {of(`"wall-time":{"unit":"s","samples":[1,234.5.6]}`), fault.Malformed},
		"half an iteration":  {document(`,"iterations":0.5`), fault.Malformed},
		"no iterations":      {document(`,"iterations":[1,0,1]`), fault.Malformed},
		"negative warm-ups":  {document(`,"warmups":-1`), fault.Malformed},
		"deep facts":         {document(`,"facts":{"a":[1]}`), fault.Malformed},
		"empty reason":       {`{"schema":"writ.samples/v1","skipped":""}`, fault.Malformed},
		"two documents":      {document("") + document(""), fault.Malformed},
		"byte order mark":    {"\xef\xbb\xbf" + document(""), fault.Malformed},
		"a list":             {`[]`, fault.Malformed},
	} {
		_, err := Parse([]byte(tc.text))
		if fault.CodeOf(err) != tc.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReadValues(t *testing.T) {
	t.Parallel()
	text := `{"schema":"writ.samples/v1","case":"a","iterations":8,"warmups":1,"facts":{"k":"v"},"quantities":{` +
		`"wall-time":{"unit":"ms","samples":[1.5,2,2.5]},"allocations":{"unit":"1","samples":[0,0,0]},"throughput-bytes":{"unit":"MiB/s","samples":[1,2,3]},` +
		`"peak-rss":{"unit":"ms","samples":[1,2,3]},"temperature":{"unit":"Cel","samples":[-1,0,1]},"energy":{"unit":"J","samples":[1,-2,3]}}}`
	got := Adapter{}.Read(suite(`{}`), "a", times(3), []string{"wall-time", "allocations", "throughput-bytes", "peak-rss", "temperature", "energy", "power", "new"}, ended(0, text))
	ok := func(unit, original string, values ...float64) harness.Measured {
		return harness.Measured{Status: result.Success, Values: values, Unit: unit, OriginalUnit: original}
	}
	want := harness.Reading{
		Quantities: map[string]harness.Measured{
			"wall-time": ok("s", "ms", 0.0015, 0.002, 0.0025), "allocations": ok("1", "1", 0, 0, 0), "throughput-bytes": ok("By/s", "MiB/s", 1<<20, 2<<20, 3<<20), "temperature": ok("Cel", "Cel", -1, 0, 1),
			"peak-rss": {Status: result.Failed, Reason: result.ReasonMapping, Unit: "By", Message: `"ms" is no unit of peak-rss, whose unit is "By"`},
			"energy":   {Status: result.Partial, Reason: result.ReasonPartial, Values: []float64{1, 3}, Unit: "J", OriginalUnit: "J", Message: "energy of -2 cannot be used"},
			"power":    {Status: result.Failed, Reason: result.ReasonNoOutput, Unit: "W", Message: "the document has no power"},
			"new":      {Status: result.Failed, Reason: result.ReasonMapping},
		},
		InnerIterations: []int{8, 8, 8}, Attempted: 3, Warmups: 1, Facts: map[string]string{"k": "v"},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReadOutcomes(t *testing.T) {
	t.Parallel()
	two := 2
	fixed := order.Precision{Repetitions: order.Times(3), Calibration: &order.Calibration{Mode: order.Fixed, NIterations: 5}}
	warm := order.Precision{Repetitions: order.Times(3), Warmup: &order.Warmup{Mode: order.Count, NWarmup: &two}}
	dead := harness.Output{Result: proc.Result{Cause: proc.Exited, Exit: -1, Signal: 9}}
	words := ended(3, "")
	words.Stderr = []byte("first\ncannot open the device\n")
	words.Files = nil
	for name, tc := range map[string]struct {
		p      order.Precision
		out    harness.Output
		status result.Status
		reason string
		says   string
	}{
		"whole":               {times(3), ended(0, document("")), result.Success, "", ""},
		"fewer":               {times(4), ended(0, document("")), result.Partial, result.ReasonPartial, ""},
		"more":                {times(2), ended(0, document("")), result.Failed, result.ReasonMapping, "3 values in the file, 2 were ordered"},
		"failed at the end":   {times(3), ended(1, document("")), result.Partial, result.ReasonPartial, "ended with status 1"},
		"skipped":             {times(3), ended(0, `{"schema":"writ.samples/v1","skipped":"no such device"}`), result.Skipped, result.ReasonSkipped, "no such device"},
		"its own error":       {times(3), ended(0, document(`,"error":"wrong answer"`)), result.Failed, result.ReasonHarnessError, "wrong answer"},
		"no document":         {times(3), ended(0, ""), result.Failed, result.ReasonNoOutput, ""},
		"crash":               {times(3), dead, result.Failed, result.ReasonHarnessError, "killed by signal 9"},
		"crash with words":    {times(3), words, result.Failed, result.ReasonHarnessError, "cannot open the device"},
		"cut off":             {times(3), ended(0, document("")[:60]), result.Failed, result.ReasonMapping, ""},
		"cut off, crash":      {times(3), ended(1, document("")[:60]), result.Failed, result.ReasonHarnessError, "ended with status 1"},
		"another case":        {times(3), ended(0, document(`,"case":"b"`)), result.Failed, result.ReasonMapping, `of the case "b"`},
		"another count":       {fixed, ended(0, document(`,"iterations":4`)), result.Failed, result.ReasonMapping, "5 iterations were ordered"},
		"the count":           {fixed, ended(0, document(`,"iterations":5`)), result.Success, "", ""},
		"another warm-up":     {warm, ended(0, document(`,"warmups":1`)), result.Failed, result.ReasonMapping, "1 warm-ups in the document, 2 were ordered"},
		"the warm-up":         {warm, ended(0, document(`,"warmups":2`)), result.Success, "", ""},
		"odd iterations":      {times(3), ended(0, document(`,"iterations":[1,2]`)), result.Failed, result.ReasonMapping, ""},
		"timeout":             {times(3), harness.Output{Result: proc.Result{Cause: proc.TimedOut}}, result.Failed, result.ReasonTimeout, ""},
		"endless":             {times(3), harness.Output{Result: proc.Result{Cause: proc.OutputLimit}}, result.Failed, result.ReasonHarnessError, "wrote without end"},
		"no ordinary file":    {times(3), harness.Output{Result: proc.Result{Cause: proc.Exited}, Unread: map[string]string{nativeFile: "no ordinary file"}}, result.Failed, result.ReasonMapping, "no ordinary file"},
		"zero is no time":     {times(3), ended(0, strings.Replace(document(""), "1.5", "0", 1)), result.Partial, result.ReasonPartial, ""},
		"never planned: seen": {order.Precision{Repetitions: order.Repetitions{Levels: []order.Level{{Unit: "x", N: 1}, {Unit: "y", N: 1}}}}, ended(0, document("")), result.Failed, result.ReasonMapping, "one level"},
	} {
		got := Adapter{}.Read(suite(`{}`), "a", tc.p, wall, tc.out)
		m := got.Quantities["wall-time"]
		if m.Status != tc.status || m.Reason != tc.reason || !strings.Contains(got.Message+m.Message, tc.says) {
			t.Errorf("%s: %+v", name, got)
		}
		if evidence := m.Status == result.Success || m.Status == result.Partial; evidence != (len(m.Values) > 0) || m.Unit != "s" {
			t.Errorf("%s: %+v", name, m)
		}
		if slices.Contains(got.Warnings, "harness-exit-status") != (tc.out.Result.Exit != 0) {
			t.Errorf("%s: warnings %v", name, got.Warnings)
		}
	}
}

// TestTruncatedDocumentIsNeverASuccess cuts it at every byte.
func TestTruncatedDocumentIsNeverASuccess(t *testing.T) {
	t.Parallel()
	whole := document(`,"iterations":[1,2,3],"facts":{"a":"é"}`)
	for cut := range whole {
		if m := (Adapter{}).Read(suite(`{}`), "a", times(3), wall, ended(0, whole[:cut])).Quantities["wall-time"]; m.Status != result.Failed {
			t.Fatalf("cut at byte %d: %+v", cut, m)
		}
	}
	if m := (Adapter{}).Read(suite(`{}`), "a", times(3), wall, ended(0, whole)).Quantities["wall-time"]; m.Status != result.Success {
		t.Errorf("whole: %+v", m)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	var quantities strings.Builder
	for i := range maxSeries - 1 {
		fmt.Fprintf(&quantities, `"q%d":{"unit":"s","samples":[1]},`, i)
	}
	for name, text := range map[string]string{
		"many samples":    `{"schema":"writ.samples/v1","quantities":{"a":{"unit":"s","samples":[` + strings.Repeat("0,", 300000) + `0]}}}`,
		"many iterations": document(`,"iterations":[` + strings.Repeat("1,", 300000) + `1]`),
		"many quantities": `{"schema":"writ.samples/v1","quantities":{` + quantities.String() + `"z":{"unit":"s","samples":[1]}}}`,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Parse([]byte(text))
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; err != nil || got > uint64(16*len(text)) {
			t.Errorf("%s: %d bytes for a document of %d, %v", name, got, len(text), err)
		}
	}
}

// FuzzParse: no input makes the parser panic, give a series without what makes it
// one, or answer differently the second time.
func FuzzParse(f *testing.F) {
	for _, more := range []string{"", `,"iterations":[1,2,3]`, `,"iterations":7,"warmups":2,"facts":{"a":1}`, `,"skipped":"x"`, `,"error":"y"`} {
		f.Add([]byte(document(more)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := Parse(b)
		again, second := Parse(b)
		if fault.CodeOf(err) != fault.CodeOf(second) || !cmp.Equal(d, again) {
			t.Error("the same bytes gave another answer")
		}
		for _, s := range d.Series {
			if s.Unit == "" || len(s.Samples) == 0 {
				t.Errorf("series %+v", s)
			}
		}
	})
}

// program follows the convention, as a shell can.
const program = `#!/bin/sh
[ "$1" = --list ] && { printf 'quick\nslow\nbroken\nskip\n'; exit; }
echo "noise of $2, $4 times, $SIZE"
case $2 in
quick) printf '{"schema":"writ.samples/v1","case":"quick","iterations":%s,"quantities":{"wall-time":{"unit":"us","samples":[1,2,3]}}}' "$8" >"$6" ;;
slow) exec sleep 600 ;;
broken) echo cannot run >&2; exit 3 ;;
skip) printf '{"schema":"writ.samples/v1","skipped":"not here"}' >"$6" ;;
esac
`

// TestAProgramOfTheConvention is driven as a runner drives it, through a file and
// through standard output.
func TestAProgramOfTheConvention(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"bench": program, "printer": "echo '" + document(`,"case":"one"`) + "'\n"})
	d := harnesstest.Drive(t, Adapter{}, "PATH="+os.Getenv("PATH"))
	s, err := d.Suite(treeOrder(t, dir, "bench", `{}`))
	if err != nil {
		t.Fatal(err)
	}
	cases, err := d.Cases(s)
	if err != nil || len(cases) != 4 {
		t.Fatalf("%v %v", cases, err)
	}
	p := order.Precision{Repetitions: order.Times(3), Calibration: &order.Calibration{Mode: order.Fixed, NIterations: 9}}
	limit := d.Timeout
	for name, reason := range map[string]string{"quick": "", "slow": result.ReasonTimeout, "broken": result.ReasonHarnessError, "skip": result.ReasonSkipped} {
		if d.Timeout = limit; name == "slow" {
			d.Timeout = limit / 300
		}
		got, out := d.Measure(s, name, p, "wall-time")
		if m := got.Quantities["wall-time"]; m.Reason != reason || (m.Status == result.Success) != (reason == "") || reason == "" && (len(m.Values) != 3 || got.InnerIterations[0] != 9) {
			t.Errorf("%s: %+v\n%s", name, got, out.Stderr)
		}
	}
	d.Timeout = limit
	printing := treeOrder(t, dir, "printer", `{"command":["sh","{suite}"],"cases":["one"],"run":[]}`)
	if s, err = d.Suite(printing); err != nil {
		t.Fatal(err)
	}
	if cases, err := d.Cases(s); err != nil || len(cases) != 1 || cases[0].Name != "one" {
		t.Errorf("%v %v", cases, err)
	}
	if got, out := d.Measure(s, "one", times(3), "wall-time"); got.Quantities["wall-time"].Status != result.Success {
		t.Errorf("%+v\n%s", got, out.Stdout)
	}
}
