package benchfile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/fault"
	"writ/internal/result"
	"writ/internal/verdict"
)

func read(t *testing.T, name, text string) *File {
	t.Helper()
	f, err := Read(name, strings.NewReader(text), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func gather(t *testing.T, old, changed string) Gathered {
	t.Helper()
	g, err := Gather(read(t, "old", old), read(t, "new", changed))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// inRounds writes rounds of one benchmark; head is put before each.
func inRounds(rounds int, side int, line string) string {
	var b strings.Builder
	for r := range rounds {
		fmt.Fprintf(&b, "round: %d\nslot: %d\n%s\n", r, 2*r+(side+r)%2, line)
	}
	return b.String()
}

const oneLine = "BenchmarkA-8 100 12 ns/op"

// What the files say wrongly spoils what it is about, with the reason, and no
// number is made of it.
func TestWhatCannotBeComparedIsInvalid(t *testing.T) {
	t.Parallel()
	ten := strings.Repeat(oneLine+"\n", 10)
	fine := [2]string{inRounds(8, 0, oneLine), inRounds(8, 1, oneLine)}
	for name, c := range map[string]struct {
		old, new string
		reason   string // of the row of BenchmarkA
		detail   string // of the failure
	}{
		"other unit":              {ten, strings.ReplaceAll(ten, "ns/op", "x"), "missing", "the contender has no result"},
		"one-sided":               {ten, strings.ReplaceAll(ten, "A-8", "B-8"), "missing", "the contender has no result"},
		"other machine":           {"cpu: X\n" + ten, "cpu: Y\n" + ten, "environment", `cpu is "X" and "Y"`},
		"another system":          {"goos: linux\n" + ten, "goos: darwin\n" + ten, "environment", "goos"},
		"machine changes inside":  {"cpu: X\n" + ten + "cpu: Y\n" + ten, "cpu: X\n" + ten, "environment", "cpu"},
		"protocol":                {"protocol: 1\n" + ten, "protocol: 2\n" + ten, "environment", "protocol"},
		"units better both ways":  {"Unit ns/op better=lower\n" + ten, "Unit ns/op better=higher\n" + ten, "units", "better the other way round"},
		"no number":               {ten, strings.ReplaceAll(ten, "12", "NaN"), "dropped-rounds", ""},
		"zero":                    {ten, strings.ReplaceAll(ten, "12", "0"), "dropped-rounds", ""},
		"negative":                {ten, strings.ReplaceAll(ten, "12", "-12"), "dropped-rounds", ""},
		"infinite":                {strings.ReplaceAll(ten, "12", "+Inf"), ten, "dropped-rounds", ""},
		"broken line":             {ten, ten + "BenchmarkA-8 x 12 ns/op\n", "broken-line", "new:11: parsing iteration count: invalid syntax"},
		"mixed with output":       {ten + "BenchmarkA-8 hello\n", ten, "broken-line", "old:11: parsing iteration count"},
		"cut off":                 {ten, ten + "BenchmarkA-8 100 1", "broken-line", "new:11: missing units"},
		"no iterations":           {ten, ten + "BenchmarkA-8 0 12 ns/op\n", "broken-line", "not positive"},
		"unit twice in a line":    {ten, ten + "BenchmarkA-8 1 12 ns/op 13 ns/op\n", "broken-line", "ns/op comes twice"},
		"rounds of one side only": {fine[0], ten, "rounds", "new says nothing about rounds"},
		"values of no round":      {oneLine + "\n" + fine[0], fine[1], "rounds", "old has values of no round"},
		"round twice":             {fine[0] + "round: 3\n" + oneLine + "\n", fine[1], "rounds", "round 3 begins twice"},
		"round missing":           {fine[0], strings.Replace(fine[1], "round: 3", "round: 8", 1), "rounds", "round 8 has no result in old"},
		"round of another name":   {fine[0], strings.Replace(fine[1], "round: 3", "round: three", 1), "rounds", `round "three" is no number`},
		"slot missing":            {fine[0], strings.Replace(fine[1], "slot: ", "x: ", 1), "slots", "15 rounds have a slot and 1 have none"},
		"slot of another round":   {fine[0], strings.Replace(fine[1], "slot: 1", "slot: 9", 1), "slots", "slot 9 is not of round 0"},
		"one slot for both":       {fine[0], strings.Replace(fine[1], "slot: 1", "slot: 0", 1), "slots", "both sides of round 0 are in slot 0"},
		"slot before any round":   {"slot: 3\n" + fine[0], fine[1], "rounds", "belongs to no round"},
		"schedules differ":        {"schedule: random\n" + fine[0], fine[1], "schedule", "different schedules"},
		"no such schedule":        {"schedule: x\n" + fine[0], "schedule: x\n" + fine[1], "schedule", `no schedule "x"`},
		"seed":                    {"schedule: random\nseed: x\n" + fine[0], "schedule: random\nseed: x\n" + fine[1], "schedule", `the seed "x" is no number`},
	} {
		g := gather(t, c.old, c.new)
		g.Policy = verdict.DefaultPolicy()
		o, err := verdict.JudgeSeries(g.SeriesParams)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		d := o.Document()
		if r := d.Rows[0]; r.Verdict != verdict.Invalid || r.Reason != c.reason || r.Effect != nil || r.PSlower != nil || r.Baseline != nil || len(r.Interval) > 0 || d.Overall != verdict.Invalid {
			t.Errorf("%s: all %s, %+v", name, d.Overall, r)
		}
		text := ""
		for _, f := range d.Failed {
			text += f.Text() + "\n"
		}
		if !strings.Contains(text, c.detail) || c.detail != "" && text == "" {
			t.Errorf("%s: failures %q, want %q", name, text, c.detail)
		}
	}
}

// Broken lines spoil their own case and no other.
func TestABrokenLineSpoilsItsCase(t *testing.T) {
	t.Parallel()
	both := strings.Repeat(oneLine+"\nBenchmarkB-8 1 3 ns/op 4 B/op\n", 6)
	g := gather(t, both+"BenchmarkA-8 what\nBenchmarks are fine\nBenchmarkNew\nBenchmarkC x\n", both)
	got := map[string]string{}
	for _, s := range g.Series {
		got[s.Workload+" "+s.Quantity] = s.Invalid
	}
	want := map[string]string{"BenchmarkA-8 wall-time": "broken-line", "BenchmarkB-8 wall-time": "", "BenchmarkB-8 allocated-bytes": ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(g.Failed) != 2 || g.Failed[1].Workload != "BenchmarkC" {
		t.Errorf("failures %+v", g.Failed)
	}
}

func TestFilesThatHoldNoTwoSides(t *testing.T) {
	t.Parallel()
	sides := "side: baseline\n" + oneLine + "\nside: contender\n" + oneLine + "\n"
	for name, c := range map[string]struct {
		old, new string
		code     fault.Code
	}{
		"nothing":          {"PASS\n", oneLine, fault.Nothing},
		"nothing in new":   {oneLine, "", fault.Nothing},
		"only broken":      {oneLine, "BenchmarkA x\n", fault.Nothing},
		"two sides in one": {sides, oneLine, fault.Incomparable},
		"one alone":        {oneLine, "-", fault.Incomparable},
		"other names":      {strings.ReplaceAll(sides, "baseline", "main"), "-", fault.Incomparable},
		"three sides":      {sides + "side: third\n" + oneLine, "-", fault.Incomparable},
		"both in one":      {sides, "-", ""},
	} {
		var second *File
		if c.new != "-" {
			second = read(t, "new", c.new)
		}
		if _, err := Gather(read(t, "old", c.old), second); fault.CodeOf(err) != c.code && (err != nil || c.code != "") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Values come in base units, in the words of results, in their rounds; the lines of
// one round are one process.
func TestWhatFilesMean(t *testing.T) {
	t.Parallel()
	text := func(side int) string {
		return "schedule: random\nseed: 7\nUnit hits better=higher\npkg: p\nnote: " + fmt.Sprint(side) + "\n" +
			inRounds(2, side, "BenchmarkA 1 1500 ns/op 2 MB/s 3 hits 4 peak-rss-By\nBenchmarkA 1 2500 ns/op\npkg: q\nBenchmarkA 1 7 B/op\npkg: p")
	}
	g := gather(t, text(0), text(1))
	type row struct {
		Workload, Pkg, Quantity, Unit, Direction string
		Base                                     []float64
		Rounds                                   []uint16
	}
	var got []row
	for _, s := range g.Series {
		pkg, _ := s.Parameters["pkg"].String()
		got = append(got, row{s.Workload, pkg, s.Quantity, s.Unit, s.Direction, s.Samples[0], s.Rounds[0]})
		if diff := cmp.Diff(s.Samples[0], s.Samples[1]); diff != "" {
			t.Error(diff)
		}
	}
	lower, higher, once := result.LowerIsBetter, result.HigherIsBetter, []uint16{0, 1}
	want := []row{
		{"BenchmarkA", "p", "wall-time", "s", lower, []float64{1500 * 1e-9, 2500 * 1e-9, 1500 * 1e-9, 2500 * 1e-9}, []uint16{0, 0, 1, 1}},
		{"BenchmarkA", "p", "throughput-bytes", "By/s", higher, []float64{2e6, 2e6}, once},
		{"BenchmarkA", "p", "hits", "hits", higher, []float64{3, 3}, once},
		{"BenchmarkA", "p", "peak-rss", "By", lower, []float64{4, 4}, once},
		{"BenchmarkA", "q", "allocated-bytes", "By", lower, []float64{7, 7}, once},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if g.Rounds != 2 || g.Schedule.Kind != "random" || *g.Schedule.Seed != 7 || g.Unknown || g.Fixed || len(g.Failed) > 0 {
		t.Errorf("%d rounds, %+v, unknown %v, fixed %v, failed %v", g.Rounds, g.Schedule, g.Unknown, g.Fixed, g.Failed)
	}
	if diff := cmp.Diff([]string{`context: note is not the same everywhere: "0", "1"`}, g.Remarks); diff != "" {
		t.Error(diff)
	}
}

// Who ran first is told where the files tell it, and doubted where not.
func TestTurns(t *testing.T) {
	t.Parallel()
	first := strings.NewReplacer("slot: 1\n", "slot: 0\n", "slot: 3\n", "slot: 2\n")
	second := strings.NewReplacer("slot: 0\n", "slot: 1\n", "slot: 2\n", "slot: 3\n")
	both := [2]string{inRounds(2, 0, oneLine), inRounds(2, 1, oneLine)}
	if g := gather(t, first.Replace(both[0]), second.Replace(both[1])); !g.Fixed || g.Unknown {
		t.Errorf("the old file first: fixed %v, unknown %v, failed %v", g.Fixed, g.Unknown, g.Failed)
	}
	no := strings.NewReplacer("slot", "place")
	if g := gather(t, no.Replace(both[0]), no.Replace(both[1])); g.Fixed || !g.Unknown {
		t.Errorf("no slots: fixed %v, unknown %v", g.Fixed, g.Unknown)
	}
}

func TestUnitsThereAndBack(t *testing.T) {
	t.Parallel()
	for _, q := range []string{"wall-time", "cpu-time", "peak-rss", "allocations", "allocated-bytes", "throughput-bytes", "throughput-items", "instructions", "score", "power"} {
		info, ok := result.Known(q)
		if m := meaningOf(Unit(q, info.Unit)); !ok || m != (meaning{q, info.Unit, info.Direction}) {
			t.Errorf("%s is written %s and read %+v", q, Unit(q, info.Unit), m)
		}
	}
	for unit, want := range map[string]string{"ns/op": "sec/op", "MB/s": "B/s", "x-ns/ns": "x-sec/ns", "ns*MB": "sec*B", "ns/a*ns": "sec/a*sec", "nsx": "nsx", "": ""} {
		if got, _ := tidy(unit); got != want {
			t.Errorf("%s becomes %s, want %s", unit, got, want)
		}
	}
	for unit, want := range map[string]bool{"B/op": true, "MB/s": true, "x/B": false, "bytes": true, "x/s*B": true, "sec/op": false} {
		if Binary(unit) != want {
			t.Errorf("%s binary: %v", unit, !want)
		}
	}
}
