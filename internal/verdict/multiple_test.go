package verdict

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func TestGoldenAdjustments(t *testing.T) {
	t.Parallel()
	p := []float64{.001, .008, .012, .02, .04, .3}
	close := cmpopts.EquateApprox(0, 1e-12)
	if d := cmp.Diff([]float64{.006, .04, .048, .06, .08, .3}, Holm(p), close); d != "" {
		t.Errorf("Holm (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]float64{.006, .024, .024, .03, .048, .3}, BenjaminiHochberg(p), close); d != "" {
		t.Errorf("Benjamini-Hochberg (-want +got):\n%s", d)
	}
}

func TestAdjustmentsFollowTheirInput(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 20).Draw(t, "p")
		holm, bh := Holm(p), BenjaminiHochberg(p)
		for i := range p {
			if !(p[i] <= bh[i]+1e-15 && bh[i] <= holm[i]+1e-15 && holm[i] <= 1) {
				t.Fatalf("p %v, BH %v, Holm %v", p[i], bh[i], holm[i])
			}
			for j := range p {
				if p[i] < p[j] && (holm[i] > holm[j] || bh[i] > bh[j]) {
					t.Fatalf("order of %v and %v is not kept", p[i], p[j])
				}
			}
		}
		if len(p) == 1 && (holm[0] != p[0] || bh[0] != p[0]) {
			t.Fatalf("a single value changes: %v %v", holm, bh)
		}
	})
}

// Tests without a p-value still count in the family.
func TestHolmKeepsTheSizeOfTheFamily(t *testing.T) {
	t.Parallel()
	if d := cmp.Diff([]float64{.05, .09}, holm([]float64{.005, .01}, 10), cmpopts.EquateApprox(0, 1e-15)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestNeedRounds(t *testing.T) {
	t.Parallel()
	for m, want := range map[int]int{0: 0, 1: 5, 10: 8, 50: 10, 200: 12, 1000: 15} {
		if got := NeedRounds(m, .05); got != want {
			t.Errorf("%d pairs need %d rounds, want %d", m, got, want)
		}
	}
}

func TestMinimumEffectMatchesSimulatedPower(t *testing.T) {
	t.Parallel()
	// 80 % power by simulation, in units of sigma; +Inf where n cannot reach alpha.
	// The formula is for many rounds: near the fewest possible it is optimistic.
	for _, c := range []struct {
		n              int
		a05, a01, a001 float64
	}{
		{8, 1.25, 1.92, math.Inf(1)}, {10, 1.03, 1.39, math.Inf(1)}, {15, .80, 1.03, 1.40}, {20, .68, .87, 1.12}, {30, .54, .68, .86},
	} {
		for alpha, want := range map[float64]float64{.05: c.a05, .01: c.a01, .001: c.a001} {
			got := MinimumEffect(c.n, 1, alpha, .8)
			if math.IsInf(want, 1) != math.IsInf(got, 1) || (!math.IsInf(want, 1) && math.Abs(got/want-1) > .2) {
				t.Errorf("n=%d alpha=%v: %v sigma, simulated %v", c.n, alpha, got, want)
			}
		}
	}
	if got := MinimumEffect(5, 1, .05, .8); !math.IsInf(got, 1) {
		t.Errorf("five rounds see %v, want +Inf", got)
	}
}
