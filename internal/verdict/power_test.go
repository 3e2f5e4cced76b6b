package verdict

import (
	"math"
	"testing"
)

func TestForesee(t *testing.T) {
	t.Parallel()
	p := policy(t, .05, func(p *GatePolicy) { p.Gating = []string{"wall-time", "allocations"} })
	planned := []Pair{{Workload: "quiet", Quantity: "wall-time"}, {Workload: "loud", Quantity: "wall-time"}, {Workload: "new", Quantity: "wall-time"}, {Workload: "loud", Quantity: "cpu-time"}, {Workload: "loud", Quantity: "allocations"}}
	sigma := func(p Pair) (float64, bool) {
		sd, ok := map[string]float64{"quiet": .001, "loud": .2}[p.Workload]
		return sd, ok
	}
	got := Foresee(p, planned, 10, sigma)
	if len(got) != 1 || got[0].Workload != "loud" || got[0].Quantity != "wall-time" || got[0].Threshold != .05 {
		t.Fatalf("foreseen: %+v", got)
	}
	want := exp(MinimumEffect(10, .2, 2*.05/4, .8)) - 1 // four rows gate
	if math.Abs(got[0].Smallest-want) > 1e-5 {
		t.Errorf("smallest %g, want %g", got[0].Smallest, want)
	}
	if got := Foresee(p, planned, 3, sigma); len(got) != 2 {
		t.Errorf("three rounds see nothing at all: %+v", got)
	}
}
