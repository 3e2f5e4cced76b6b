package verdict

import (
	"testing"

	"writ/internal/fault"
)

func TestMidway(t *testing.T) {
	t.Parallel()
	p := policy(t, .05)
	for name, c := range map[string]struct {
		row                Row
		relative, absolute float64
	}{
		"four times":      {Row{Workload: "A", Quantity: "wall-time", Measure: Ratio, Effect: at(4.0), Floor: 5e-9}, 1, 5e-9},
		"a quarter":       {Row{Workload: "A", Quantity: "throughput", Measure: Ratio, Effect: at(.25)}, 1, 0},
		"ten allocations": {Row{Workload: "A", Quantity: "allocations", Measure: Difference, Effect: at(10.0)}, 0, 5},
	} {
		m, err := p.Midway(c.row)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := m.threshold("A", c.row.Quantity)
		if got.Relative != c.relative || got.Absolute != c.absolute || m.threshold("B", c.row.Quantity).Relative != .05 {
			t.Errorf("%s: %+v", name, got)
		}
		if m.Ref() == p.Ref() || len(p.Cases) > 0 {
			t.Errorf("%s: the policy it came from has changed", name)
		}
	}
	for _, effect := range []*float64{nil, at(1.0)} {
		if _, err := p.Midway(Row{Workload: "A", Quantity: "wall-time", Measure: Ratio, Effect: effect}); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("nothing changed: %v", err)
		}
	}
}

// Where the noise hides the usual threshold, half of a large change still parts
// what has it from what has not.
func TestMidwayPartsWhatThePolicyCannot(t *testing.T) {
	t.Parallel()
	base := steady(1e-3, 8)
	noise := []float64{.2, -.2, .1, -.15, .3, 0, -.25, .05}
	slow := make([]float64, len(noise))
	for i, d := range noise {
		slow[i] = ln(40) + d
	}
	p := policy(t, .05)
	first := judge(t, params(t, newRun(t).add("A", "wall-time", base, scaled(base, slow...)), p)).Document.Rows[0]
	m, err := p.Midway(first)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		d     []float64
		p     GatePolicy
		wants Word
	}{
		"unchanged, as usual": {noise, p, Inconclusive}, "unchanged, midway": {noise, m, NoDifference}, "slow, midway": {slow, m, Slower},
	} {
		if row := judge(t, params(t, newRun(t).add("A", "wall-time", base, scaled(base, c.d...)), c.p)).Document.Rows[0]; row.Verdict != c.wants {
			t.Errorf("%s: %s, want %s", name, row.Verdict, c.wants)
		}
	}
}
