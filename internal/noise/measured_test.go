package noise

import (
	"math"
	"testing"

	"writ/internal/canon"
	"writ/internal/result"
	"writ/internal/verdict"
)

func TestMeasured(t *testing.T) {
	t.Parallel()
	context, err := canon.Parse([]byte(`{"protocol":{"repetitions":{"levels":[{"n":2,"unit":"repetition"}]},"calibration":{"mode":"fixed","n_iterations":7}}}`))
	if err != nil {
		t.Fatal(err)
	}
	process := func(values ...float64) (r result.Result) {
		r.Coordinates.Workload.Name, r.Coordinates.Quantity.Name = "A", "wall-time"
		r.Coordinates.ComparisonContext = context
		r.Measurement = result.Measurement{Status: result.Success, Observations: result.Values(values...)}
		return r
	}
	failed := process()
	failed.Measurement.Status = result.Failed
	other := process(1, 2)
	other.Coordinates.Workload.Name = "B"
	o := verdict.Outcome{
		Document: verdict.Document{RunKey: "k", Rows: []verdict.Row{
			{Workload: "A", Quantity: "wall-time", Measure: verdict.Ratio, Verdict: verdict.NoDifference, Gating: true, Threshold: .05},
			{Workload: "B", Quantity: "wall-time", Measure: verdict.Difference, Verdict: verdict.Invalid},
		}},
		Samples: [][2][]float64{{{1, 2}, {math.E, 2}}, {{3}, {5}}},
	}
	s := Measured(o, []result.Result{process(1, 1.1), process(3, 3.1), failed, other}, []bool{false, true}, 9, "2026-01-02T03:04:05Z")
	if s.RunKey != "k" || s.First != "bc" || s.Seed != 9 || len(s.Rows) != 2 {
		t.Fatalf("%+v", s)
	}
	a, b := s.Rows[0], s.Rows[1]
	if len(a.Differences) != 2 || a.Differences[0] != 1 || a.Differences[1] != 0 || b.Differences[0] != 2 {
		t.Errorf("differences %v %v", a.Differences, b.Differences)
	}
	if want := `{"repetitions":{"levels":[{"n":2,"unit":"repetition"}]}}`; a.Precision != want {
		t.Errorf("precision %s", a.Precision)
	}
	if a.Between == nil || *a.Between < .99 || b.Between != nil {
		t.Errorf("between %v %v", a.Between, b.Between)
	}
}
