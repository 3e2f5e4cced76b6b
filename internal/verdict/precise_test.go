package verdict

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"writ/internal/result"
)

func precise(t testing.TB, r *run, p GatePolicy, change ...func(*Params)) bool {
	t.Helper()
	q := params(t, r, p)
	for _, c := range change {
		c(&q)
	}
	ok, err := Precise(q)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

func TestPrecise(t *testing.T) {
	t.Parallel()
	base := steady(1e-3, 8)
	wide := []float64{.2, -.2, .1, -.15, .3, 0, -.25, .05}
	for name, c := range map[string]struct {
		run  *run
		want bool
	}{
		"narrow":            {newRun(t).add("A", "wall-time", base, steady(1e-3, 8)), true},
		"narrow and slower": {newRun(t).add("A", "wall-time", base, steady(2e-3, 8)), true},
		"wide":              {newRun(t).add("A", "wall-time", base, scaled(base, wide...)), false},
		"one of two":        {newRun(t).add("A", "wall-time", base, base).add("B", "wall-time", base, scaled(base, wide...)), false},
		"too few":           {newRun(t).add("A", "wall-time", base[:5], base[:5]), false},
		"one side only":     {newRun(t).add("A", "wall-time", base, base).add("B", "wall-time", base, nil), false},
		"counts":            {newRun(t).add("A", "allocations", []float64{3, 3, 3, 3, 3, 3, 3, 3}, []float64{9, 9, 9, 9, 9, 9, 9, 9}), true},
		"two boots": {newRun(t).add("A", "wall-time", base, base).each(on(contender, 3, func(d *result.Document) {
			d.Coordinates.Environment.Identity = must(t, `{"runner":"other"}`)
		})), false},
	} {
		if got := precise(t, c.run, policy(t, .05)); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	only := policy(t, .05, func(p *GatePolicy) { p.Gating = []string{"cpu-time"} })
	if !precise(t, newRun(t).add("A", "wall-time", base, scaled(base, wide...)), only) {
		t.Error("a row that does not gate keeps the rounds going")
	}
	if _, err := Precise(Params{}); err == nil {
		t.Error("nothing is precise")
	}
}

// The rule does not look at the sign: exchanging the sides, or slowing one of them
// by a factor, never changes when a comparison ends.
func TestPreciseIsBlindToTheEffect(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(6, 14).Draw(rt, "n")
		noise := rapid.Float64Range(0, .1).Draw(rt, "noise")
		value := rapid.Custom(func(rt *rapid.T) float64 {
			return 1e-3 * exp(noise*rapid.Float64Range(-1, 1).Draw(rt, "value"))
		})
		base, cont := rapid.SliceOfN(value, n, n).Draw(rt, "base"), rapid.SliceOfN(value, n, n).Draw(rt, "cont")
		factor := rapid.SampledFrom([]float64{.25, .5, 2, 8}).Draw(rt, "factor")
		times := make([]float64, n)
		for i := range times {
			times[i] = factor * cont[i]
		}
		p := policy(t, .05)
		got := precise(t, newRun(t).add("A", "wall-time", base, cont), p)
		if swapped := precise(t, newRun(t).add("A", "wall-time", cont, base), p); swapped != got {
			rt.Fatalf("%v one way, %v the other", got, swapped)
		}
		if slower := precise(t, newRun(t).add("A", "wall-time", base, times), p); slower != got {
			rt.Fatalf("%v, and %v when one side takes %g times as long", got, slower, factor)
		}
	})
}

func TestRoundsFor(t *testing.T) {
	t.Parallel()
	p := policy(t, .05, func(p *GatePolicy) { p.Gating = []string{"wall-time"} })
	for m, want := range map[int]int{0: 6, 1: 6, 10: 8, 50: 10, 200: 12} {
		planned := []Pair{{Workload: "X", Quantity: "cpu-time"}}
		for i := range m {
			planned = append(planned, Pair{Workload: string(rune('a' + i)), Quantity: "wall-time"})
		}
		if got := RoundsFor(p, planned); got != want {
			t.Errorf("%d rows: %d rounds, want %d", m, got, want)
		}
	}
}

// Whatever ended the rounds is told with every row.
func TestLooksAreNoted(t *testing.T) {
	t.Parallel()
	for label, want := range map[string]string{LabelStages: "two-looks", LabelStopping: "stopped-when-precise"} {
		value := map[string]string{LabelStages: "8+8", LabelStopping: StopPrecise}[label]
		r := newRun(t).add("A", "wall-time", steady(1, 8), steady(1, 8)).each(func(d *result.Document) { d.Provenance.Labels = map[string]string{label: value} })
		row := judge(t, params(t, r, policy(t, .05))).Document.Rows[0]
		if len(row.Warnings) != 1 || row.Warnings[0].Code != want {
			t.Errorf("%s: %v", label, row.Warnings)
		}
	}
}

// Rounds that end by their spread are a little more often wrong than a fixed number
// of them, and block unchanged code no more often than alpha: slower asks the
// two-sided interval too. The median spread here ends them half way.
func TestStoppingWhenPreciseKeepsAlpha(t *testing.T) {
	t.Parallel()
	const trials, most, alpha = 3000, 30, .05
	limit := Threshold{Relative: .02}
	tau := ln(1.02)
	rng := rand.New(rand.NewPCG(3, 9))
	sc := &scale{tables: newTables(), alpha: alpha}
	flagged, blocked, rounds := 0, 0, 0
	for range trials {
		d := make([]float64, 0, most)
		for len(d) < most {
			d = append(d, tau+.02*rng.NormFloat64())
			if len(d) < NeedRounds(2, alpha) {
				continue
			}
			if _, wide, _ := sc.intervals(d); (wide.Upper-wide.Lower)/2 <= tau/2 {
				break
			}
		}
		rounds += len(d)
		ones := make([]float64, len(d))
		for i := range ones {
			ones[i] = 1
		}
		m := sc.measure(ones, scaled(ones, d...), Ratio, result.LowerIsBetter, limit)
		if m.pSlower <= alpha {
			flagged++
		}
		if w, _, _ := m.word(); w == Slower {
			blocked++
		}
	}
	share := func(n int) float64 { return 100 * float64(n) / trials }
	t.Logf("after %.1f rounds %.2f %% have a p of at most .05, and %.2f %% are called slower", float64(rounds)/trials, share(flagged), share(blocked))
	error3 := 300 * math.Sqrt(alpha*(1-alpha)/trials)
	if share(blocked) > 100*alpha+error3 || share(flagged) > 100*alpha+2+error3 {
		t.Errorf("%.2f %% of unchanged cases are flagged, %.2f %% blocked", share(flagged), share(blocked))
	}
}
