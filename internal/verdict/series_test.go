package verdict

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/order"
	"writ/internal/result"
)

// evidenceOf draws a comparison as results: several cases and quantities, several
// values of a process, and some that no ratio can be made of.
func evidenceOf(t *rapid.T, tb testing.TB, rounds int, unpaired bool) []result.Result {
	var out []result.Result
	for _, workload := range []string{"BenchmarkA", "BenchmarkB"}[:rapid.IntRange(1, 2).Draw(t, "workloads")] {
		for _, quantity := range []string{"wall-time", "allocations", "throughput-bytes"}[:rapid.IntRange(1, 3).Draw(t, "quantities")] {
			centre := rapid.SampledFrom([]float64{2e-9, 1e-3, 40}).Draw(t, "centre")
			effect := rapid.SampledFrom([]float64{1, 1.01, 1.2, .8}).Draw(t, "effect")
			spread := rapid.SampledFrom([]float64{0, .001, .05}).Draw(t, "spread")
			for round := range rounds {
				for _, at := range []side{baseline, contender} {
					values := make([]float64, rapid.IntRange(1, 3).Draw(t, "values"))
					if unpaired {
						values = values[:1]
					}
					for i := range values {
						values[i] = centre * (1 + spread*float64(rapid.IntRange(-9, 9).Draw(t, "noise"))/9)
						if at == contender {
							values[i] *= effect
						}
						if rapid.IntRange(0, 60).Draw(t, "bad") == 60 {
							values[i] = -values[i] * float64(rapid.IntRange(0, 1).Draw(t, "sign"))
						}
					}
					d := document(tb, at, round, workload, quantity, values...)
					if unpaired {
						slot := 2*round + int(at)
						d.Procedure.Round, d.Procedure.Slot = nil, nil
						d.IngestKey = result.IngestKey(testRun, d.Coordinates.Workload, quantity, &slot)
					}
					r, err := result.New(d)
					if err != nil {
						t.Fatal(err)
					}
					out = append(out, r)
				}
			}
		}
	}
	return out
}

// seriesOf is the same evidence as plain numbers.
func seriesOf(results []result.Result, unpaired bool) []Series {
	sorted := slices.Clone(results)
	slices.SortFunc(sorted, func(a, b result.Result) int { return result.Compare(&a, &b) })
	if !unpaired {
		slices.SortStableFunc(sorted, func(a, b result.Result) int { return cmp.Compare(*a.Procedure.Round, *b.Procedure.Round) })
	}
	var out []Series
	for i := range sorted {
		r := &sorted[i]
		pair := Revisions.pair(r)
		k := slices.IndexFunc(out, func(s Series) bool { return s.key() == pair.key() })
		if k < 0 {
			k = len(out)
			out = append(out, Series{Pair: pair, Unit: r.Coordinates.Quantity.Unit, Direction: r.Coordinates.Quantity.Direction})
		}
		at := baseline
		if r.Provenance.SubjectTree == headTree {
			at = contender
		}
		for _, v := range r.Measurement.Counted() {
			out[k].Samples[at] = append(out[k].Samples[at], v)
			if !unpaired {
				out[k].Rounds[at] = append(out[k].Rounds[at], uint16(*r.Procedure.Round))
			}
		}
	}
	slices.SortFunc(out, func(a, b Series) int { return compareKeys(a.key(), b.key()) })
	return out
}

// The fast way gives the very rows of the slow one.
func TestSeriesAreJudgedAsResults(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		unpaired := rapid.Bool().Draw(rt, "unpaired")
		rounds := rapid.IntRange(1, 13).Draw(rt, "rounds")
		p := policy(t, rapid.SampledFrom([]float64{.003, .05}).Draw(rt, "threshold"), func(p *GatePolicy) {
			p.Gating = rapid.SampledFrom([][]string{{"*"}, {"wall-time"}, {"nothing"}}).Draw(rt, "gating")
			p.Default.Absolute = rapid.SampledFrom([]float64{0, 1e-9, 1e-4}).Draw(rt, "floor")
			p.Attempts = rapid.IntRange(0, 2).Draw(rt, "attempts")
		})
		results := evidenceOf(rt, t, rounds, unpaired)
		slow, err := Judge(Params{Results: results, Policy: p, RunKey: testRun, Baseline: baseTree, Unpaired: unpaired})
		if err != nil {
			rt.Fatal(err)
		}
		seed := int64(7)
		params := SeriesParams{Series: seriesOf(results, unpaired), Policy: p, RunKey: testRun}
		if !unpaired {
			params.Rounds, params.Schedule = rounds, order.Schedule{Kind: order.Random, Seed: &seed}
		}
		fast, err := JudgeSeries(params)
		if err != nil {
			rt.Fatal(err)
		}
		got, want := fast.Document(), slow.Document
		if diff := gocmp.Diff(want.Rows, got.Rows); diff != "" {
			rt.Fatalf("rows (-results +series):\n%s", diff)
		}
		if diff := gocmp.Diff(want.Failed, got.Failed); diff != "" {
			rt.Fatalf("failures (-results +series):\n%s", diff)
		}
		if got.Overall != want.Overall || gocmp.Diff(want.Counts, got.Counts) != "" || gocmp.Diff(want.Method, got.Method) != "" {
			rt.Fatalf("%v %v %v, want %v %v %v", got.Overall, got.Counts, got.Method, want.Overall, want.Counts, want.Method)
		}
		var table strings.Builder
		if err := fast.WriteTable(&table, SeriesView{}); err != nil {
			rt.Fatal(err)
		}
		report := fast.Report(SeriesView{})
		if diff := gocmp.Diff(report.Table(), table.String()); diff != "" {
			rt.Fatalf("the table of a stream (-report +stream):\n%s", diff)
		}
		for i, theirs := range slow.Report().Rows {
			row := report.Rows[i]
			if diff := gocmp.Diff([]any{theirs.Samples, theirs.SampleRounds}, []any{row.Samples, row.SampleRounds}, cmpopts.EquateEmpty()); diff != "" && row.Word != string(Invalid) && !unpaired {
				rt.Fatalf("samples (-results +series):\n%s", diff)
			}
		}
	})
}

func TestSeriesWithoutAnything(t *testing.T) {
	t.Parallel()
	if _, err := JudgeSeries(SeriesParams{Policy: policy(t, .05)}); fault.CodeOf(err) != fault.Nothing {
		t.Errorf("no series: %v", err)
	}
	if _, err := JudgeSeries(SeriesParams{Series: make([]Series, 1)}); fault.CodeOf(err) != fault.Usage {
		t.Errorf("no policy: %v", err)
	}
}

// What is wrong with the whole spoils every row; what is wrong with one, that one.
func TestBrokenSeriesAreInvalid(t *testing.T) {
	t.Parallel()
	good := func(name string) Series {
		s := Series{Pair: Pair{Workload: name, Quantity: "wall-time"}, Unit: "s", Direction: result.LowerIsBetter}
		for at := range s.Samples {
			s.Samples[at] = steady(1e-3, 12)
			for round := range s.Samples[at] {
				s.Rounds[at] = append(s.Rounds[at], uint16(round))
			}
		}
		return s
	}
	change := func(f func(s *Series)) Series {
		s := good("B")
		f(&s)
		return s
	}
	fill := func(x []float64, v float64) {
		for i := range x[:3] {
			x[i] = v
		}
	}
	for name, c := range map[string]struct {
		series Series
		reason string
	}{
		"one side only": {change(func(s *Series) { s.Samples[contender], s.Rounds[contender] = nil, nil }), reasonMissing},
		"other side":    {change(func(s *Series) { s.Samples[baseline], s.Rounds[baseline] = nil, nil }), reasonMissing},
		"zero":          {change(func(s *Series) { fill(s.Samples[baseline], 0) }), reasonDropped},
		"negative":      {change(func(s *Series) { fill(s.Samples[contender], -1) }), reasonDropped},
		"no number":     {change(func(s *Series) { fill(s.Samples[contender], math.NaN()) }), reasonDropped},
		"infinite":      {change(func(s *Series) { fill(s.Samples[contender], math.Inf(1)) }), reasonDropped},
		"rounds missing": {change(func(s *Series) {
			s.Samples[baseline], s.Rounds[baseline] = s.Samples[baseline][3:], s.Rounds[baseline][3:]
		}), reasonDropped},
		"said to be broken": {change(func(s *Series) { s.Invalid = "broken-line" }), "broken-line"},
	} {
		for _, rounds := range []int{12, 0} {
			if rounds == 0 && name == "rounds missing" {
				continue // two samples may have different sizes
			}
			o, err := JudgeSeries(SeriesParams{
				Series: []Series{good("A"), c.series}, Policy: policy(t, .05), Rounds: rounds,
				Failed: map[bool][]Failure{true: {{Invariant: "broken-line", Workload: "B"}}}[c.series.Invalid != ""],
			})
			if err != nil {
				t.Fatal(err)
			}
			d := o.Document()
			if r := d.Rows[1]; r.Verdict != Invalid || r.Reason != c.reason || r.Effect != nil || r.PSlower != nil || len(r.Interval) > 0 {
				t.Errorf("%s, %d rounds: %+v", name, rounds, r)
			}
			if r := d.Rows[0]; r.Verdict == Invalid || d.Overall != Invalid {
				t.Errorf("%s, %d rounds: the sound row is %s, all is %s", name, rounds, r.Verdict, d.Overall)
			}
		}
	}
	o, err := JudgeSeries(SeriesParams{Series: []Series{good("A")}, Policy: policy(t, .05), Rounds: 12, Failed: []Failure{{Invariant: "environment", Detail: "x"}}})
	if err != nil {
		t.Fatal(err)
	}
	if r := o.Document().Rows[0]; r.Verdict != Invalid || r.Reason != "environment" || r.Effect != nil {
		t.Errorf("a failure of the whole: %+v", r)
	}
	if o, err = JudgeSeries(SeriesParams{Series: []Series{good("A")}, Policy: policy(t, .05), Rounds: MaxRounds + 1}); err != nil || o.Document().Rows[0].Reason != "rounds" {
		t.Errorf("too many rounds: %v", err)
	}
}

// A ratio beyond all numbers has no number in any document.
func TestRatiosBeyondAllNumbers(t *testing.T) {
	t.Parallel()
	s := Series{Pair: Pair{Workload: "A", Quantity: "wall-time"}, Unit: "s", Direction: result.LowerIsBetter}
	for i := range 8 {
		s.Samples[baseline] = append(s.Samples[baseline], 1e-300*float64(i+1))
		s.Samples[contender] = append(s.Samples[contender], 1e300*float64(i+1))
	}
	o, err := JudgeSeries(SeriesParams{Series: []Series{s}, Policy: policy(t, .05)})
	if err != nil {
		t.Fatal(err)
	}
	d := o.Document()
	if _, err := canon.From(d); err != nil || d.Rows[0].Verdict != Slower || d.Rows[0].Effect != nil || d.Rows[0].Interval != nil {
		t.Errorf("%v, %+v", err, d.Rows[0])
	}
	if text := o.Report(SeriesView{}).Table(); strings.Contains(text, "Inf") {
		t.Error(text)
	}
}
