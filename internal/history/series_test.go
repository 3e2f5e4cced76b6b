package history

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"writ/internal/canon"
	"writ/internal/result"
)

// TestWhatSplitsASeries: conditions, metadata, a drawn seed and a count that was
// found by calibrating do not; what was chosen does.
func TestWhatSplitsASeries(t *testing.T) {
	t.Parallel()
	first := build(t, nil)
	want := Comparison(&first)
	context := func(text string) func(*result.Document) {
		return func(d *result.Document) { d.Coordinates.ComparisonContext = value(t, text) }
	}
	const harness = `"harness":{"name":"go","version":"1.26"}`
	for name, c := range map[string]struct {
		change func(*result.Document)
		same   bool
	}{
		"revision":   {func(d *result.Document) { d.Revision.Key, d.Benchmark.Revision = "def", &result.Revision{Key: "def"} }, true},
		"conditions": {func(d *result.Document) { d.Coordinates.Environment.Condition = nil }, true},
		"metadata":   {func(d *result.Document) { d.Coordinates.Environment.Metadata = canon.Value{} }, true},
		"seed and calibrated count": {context(`{` + harness + `,"protocol":{"schedule":{"kind":"random","seed":2},
			"calibration":{"mode":"fixed","n_iterations":117,"calibrated_seconds":0.05}}}`), true},
		"labels": {func(d *result.Document) { d.Provenance.Labels = map[string]string{"side": "contender"} }, true},
		"run and time": {func(d *result.Document) {
			d.Provenance.RunKey, d.Provenance.StartedAt = "run-2", "2027-01-02T03:04:05Z"
		}, true},
		"source spelled": {func(d *result.Document) {
			d.Source.URI, d.Coordinates.Subject.Components[0].Source = "https://example.org/demo.git", ""
		}, false}, // components are as reported

		"schedule": {context(`{` + harness + `,"protocol":{"schedule":{"kind":"sequential","seed":1},
			"calibration":{"mode":"fixed","n_iterations":100,"calibrated_seconds":0.05}}}`), false},
		"ordered count": {context(`{` + harness + `,"protocol":{"schedule":{"kind":"random","seed":1},
			"calibration":{"mode":"fixed","n_iterations":100}}}`), false},
		"sample time": {context(`{` + harness + `,"protocol":{"schedule":{"kind":"random","seed":1},
			"calibration":{"mode":"fixed","n_iterations":100,"calibrated_seconds":0.1}}}`), false},
		"harness": {context(`{"harness":{"name":"go","version":"1.27"},"protocol":{"schedule":{"kind":"random","seed":1},
			"calibration":{"mode":"fixed","n_iterations":100,"calibrated_seconds":0.05}}}`), false},
		"machine": {func(d *result.Document) { d.Coordinates.Environment.Identity = value(t, `{"runner":"other"}`) }, false},
		"system":  {func(d *result.Document) { d.Coordinates.Environment.System = value(t, `{"kernel":"6.2"}`) }, false},
		"parameters": {func(d *result.Document) {
			d.Coordinates.Workload.Parameters = map[string]canon.Value{"n": canon.IntOf(1)}
		}, false},
		"configuration": {func(d *result.Document) { d.Coordinates.Subject.Configuration = value(t, `{"build_type":"Debug"}`) }, false},
		"project":       {func(d *result.Document) { d.Project = "other" }, false},
	} {
		r := build(t, c.change)
		if got := Comparison(&r); (got == want) != c.same {
			t.Errorf("%s: same series is %v, want %v", name, got == want, c.same)
		}
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	one := 0.25
	mean := result.Estimator{Name: "mean", MethodVersion: "google-benchmark/mean", InputLevel: "observations"}
	r := build(t, func(d *result.Document) {
		no := false
		d.Measurement.Observations = append(d.Measurement.Observations, result.Observation{Value: 9, Included: &no})
		d.Measurement.Summaries = []result.Summary{{Type: "estimate", Source: "producer", Estimator: &mean, Value: &one}, {Type: "statistic", Source: "producer", Name: "stddev", Value: &one}}
	})
	got := Values(&r)
	if len(got) != 2 || got[0].Value != 2e-3 || !got[0].Series.Derived || got[1].Value != one || got[1].Series.Derived {
		t.Fatalf("%+v", got)
	}
	if got[0].Series.Comparison != got[1].Series.Comparison || got[0].Series.Print == got[1].Series.Print {
		t.Error("one comparison identity, and a series for each estimator")
	}
	if got[0].Series.Print != result.SeriesPrint(Comparison(&r), result.EstimatorPrint(MedianEstimator)) {
		t.Error("the series has another print")
	}
	partial := build(t, func(d *result.Document) {
		d.Measurement.Status, d.Measurement.Reason = result.Partial, result.ReasonPartial
	})
	failed := build(t, func(d *result.Document) {
		d.Measurement = result.Measurement{Status: result.Failed, Reason: result.ReasonTimeout}
	})
	if len(Values(&partial)) != 1 || len(Values(&failed)) != 0 {
		t.Error("partial results have a value, failed ones have none")
	}
}

func point(revision string, minute int, v float64) Point {
	return Point{
		Value: v, Revision: revision, Dirty: result.Clean, RunKey: "run", Started: time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC),
		Result: result.Ref{Producer: "p", IngestKey: revision + string(rune('a'+minute))},
	}
}

func revisions(points []Point) string {
	var out []string
	for _, p := range points {
		out = append(out, p.Revision)
	}
	return strings.Join(out, " ")
}

func TestOrders(t *testing.T) {
	t.Parallel()
	points := []Point{point("c3", 1, 3), point("c1", 2, 1), point("side", 3, 9), point("c2", 4, 2), point("c1", 0, 1)}
	if got := revisions(ByStart(points)); got != "c1 c3 c1 side c2" {
		t.Errorf("by start: %s", got)
	}
	in, outside := ByAncestry(points, []string{"c1", "c2", "c3"})
	if revisions(in) != "c1 c1 c2 c3" || revisions(outside) != "side" || !in[0].Started.Before(in[1].Started) {
		t.Errorf("by ancestry: %s, outside: %s", revisions(in), revisions(outside))
	}
	dirty := point("c1", 5, 1)
	dirty.Dirty = result.Dirty
	clean, rest := Clean(append(points, dirty))
	if len(clean) != 5 || len(rest) != 1 {
		t.Errorf("%d clean, %d rest", len(clean), len(rest))
	}
}

// TestArrivalDoesNotMatter: order and steps follow from the points alone.
func TestArrivalDoesNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(t, "n")
		var points []Point
		for i := range n {
			p := point(rapid.SampledFrom([]string{"c1", "c2", "c3", "x"}).Draw(t, "revision"), rapid.IntRange(0, 3).Draw(t, "minute"), rapid.Float64Range(-1, 1).Draw(t, "value"))
			p.Result.IngestKey = string(rune('a' + i))
			p.RunKey = rapid.SampledFrom([]string{"r", "s"}).Draw(t, "run")
			points = append(points, p)
		}
		other := rapid.Permutation(points).Draw(t, "arrived")
		commits := []string{"c2", "c1", "c3"}
		a, aOut := ByAncestry(points, commits)
		b, bOut := ByAncestry(other, commits)
		if diff := cmp.Diff(a, b) + cmp.Diff(aOut, bOut) + cmp.Diff(ByStart(points), ByStart(other)) + cmp.Diff(Steps(a), Steps(b)); diff != "" {
			t.Fatal(diff)
		}
		if len(a)+len(aOut) != n {
			t.Fatalf("%d points became %d and %d", n, len(a), len(aOut))
		}
		total := 0
		for _, s := range Steps(points) {
			total += s.Points
		}
		if total != n {
			t.Fatalf("%d points in steps, not %d", total, n)
		}
	})
}

func TestSparkline(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values []float64
		width  int
		want   string
	}{
		{nil, 8, ""},
		{[]float64{1}, 0, ""},
		{[]float64{5}, 8, "▄"},
		{[]float64{2, 2, 2}, 8, "▄▄▄"},
		{[]float64{0, 1, 2, 3, 4, 5, 6, 7}, 8, "▁▂▃▄▅▆▇█"},
		{[]float64{7, 0}, 8, "█▁"},
		{[]float64{1, 1, 9, 9}, 2, "▁█"},
		{[]float64{-math.MaxFloat64, 0, math.MaxFloat64}, 8, "▁▅█"},
	} {
		if got := Sparkline(c.values, c.width); got != c.want {
			t.Errorf("%v in %d: %s, want %s", c.values, c.width, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOf(rapid.Float64().Filter(func(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) })).Draw(t, "values")
		width := rapid.IntRange(1, 20).Draw(t, "width")
		if got := []rune(Sparkline(values, width)); len(got) != min(len(values), width) || slices.ContainsFunc(got, func(r rune) bool { return !slices.Contains(bars, r) }) {
			t.Fatalf("%q", string(got))
		}
	})
}
