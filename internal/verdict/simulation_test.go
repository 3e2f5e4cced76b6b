package verdict

import (
	"math/rand/v2"
	"testing"
)

// blocks reports whether one of the cases, each given by its log ratios per
// round, comes out slower: the decision path of Judge without its documents.
func blocks(cases [][]float64, t Threshold) bool {
	sc := &scale{tables: newTables(), alpha: .05}
	all := make([]measured, len(cases))
	p := make([]float64, len(cases))
	for i, d := range cases {
		b := make([]float64, len(d))
		for j := range b {
			b[j] = 1
		}
		all[i] = sc.measure(b, scaled(b, d...), Ratio, "lower-is-better", t)
		p[i] = all[i].pSlower
	}
	for i, holm := range Holm(p) {
		all[i].slower, all[i].need = holm, NeedRounds(len(cases), .05)
		if w, _, _ := all[i].word(); w == Slower {
			return true
		}
	}
	return false
}

// Suites without any slower case are blocked in no more than alpha of all
// comparisons: at the worst place, where every case is exactly at the threshold.
func TestUnchangedSuitesAreRarelyBlocked(t *testing.T) {
	t.Parallel()
	const trials = 4000
	for _, c := range []struct {
		name   string
		cases  int
		rounds int
		shared float64 // noise that all cases of a round have in common
		heavy  bool    // a round in ten is disturbed by a factor
	}{
		{"one case", 1, 10, 0, false}, {"ten cases", 10, 10, 0, false}, {"ten cases that move together", 10, 10, .02, false}, {"one case with stalls", 1, 12, 0, true},
	} {
		rng := rand.New(rand.NewPCG(11, uint64(c.cases+c.rounds)))
		blocked := 0
		for range trials {
			suite := make([][]float64, c.cases)
			for i := range suite {
				suite[i] = make([]float64, c.rounds)
			}
			for round := range c.rounds {
				together := c.shared * rng.NormFloat64()
				for i := range suite {
					suite[i][round] = ln(1.02) + together + .01*rng.NormFloat64()
					if c.heavy && rng.IntN(10) == 0 {
						suite[i][round] += 2 * rng.NormFloat64()
					}
				}
			}
			if blocks(suite, Threshold{Relative: .02}) {
				blocked++
			}
		}
		if share := float64(blocked) / trials; share > .06 {
			t.Errorf("%s: %.2f %% blocked, at most 6 %% may be", c.name, 100*share)
		} else {
			t.Logf("%s: %.2f %% of %d unchanged suites blocked", c.name, 100*share, trials)
		}
	}
}

func TestIntervalsCoverTheTruth(t *testing.T) {
	t.Parallel()
	const trials = 4000
	for _, n := range []int{6, 10, 20} {
		rng := rand.New(rand.NewPCG(21, uint64(n)))
		covered := 0
		d := make([]float64, n)
		for range trials {
			for i := range d {
				d[i] = .3 + rng.NormFloat64()
			}
			if ci := SignedRankInterval(d, .05); ci.Lower <= .3 && .3 <= ci.Upper {
				covered++
			}
		}
		share := float64(covered) / trials
		if _, level := CriticalOrder(n, .05); share < .94 || share > level+.02 {
			t.Errorf("n=%d: %.2f %% covered, attained level %.2f %%", n, 100*share, 100*level)
		} else {
			t.Logf("n=%d: %.2f %% covered, attained level %.2f %%", n, 100*share, 100*level)
		}
	}
}

// The minimum detectable effect is what it says: at it, about four of five runs
// leave zero out of the interval.
func TestPowerAtTheMinimumEffect(t *testing.T) {
	t.Parallel()
	const trials = 4000
	for _, n := range []int{6, 10, 20, 30} {
		rng := rand.New(rand.NewPCG(31, uint64(n)))
		effect := MinimumEffect(n, 1, .05, .8)
		seen := 0
		d := make([]float64, n)
		for range trials {
			for i := range d {
				d[i] = effect + rng.NormFloat64()
			}
			if SignedRankInterval(d, .05).Lower > 0 {
				seen++
			}
		}
		if share := float64(seen) / trials; share < .77 || share > .83 {
			t.Errorf("n=%d: seen in %.1f %%, want 80 within 3", n, 100*share)
		} else {
			t.Logf("n=%d: %.3f sigma seen in %.1f %%", n, effect, 100*share)
		}
	}
}
