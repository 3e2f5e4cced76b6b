package verdict

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"writ/internal/result"
)

func TestStagesSpendAlpha(t *testing.T) {
	t.Parallel()
	first, second := Stages{10, 10}.Spend(.05)
	if math.Abs(first-.0052) > 5e-5 || math.Abs(second-.0480) > 5e-5 {
		t.Errorf("%g and %g, want .0052 and .0480", first, second)
	}
	rapid.Check(t, func(t *rapid.T) {
		s := Stages{rapid.IntRange(1, 60).Draw(t, "first"), rapid.IntRange(1, 60).Draw(t, "second")}
		alpha := rapid.SampledFrom([]float64{.001, .01, .05, .2}).Draw(t, "alpha")
		first, second := s.Spend(alpha)
		if first > second || second > alpha+1e-6 || first+second < alpha-1e-6 {
			t.Fatalf("%v of %g: %g and %g", s, alpha, first, second)
		}
		again, err := ParseStages(s.String())
		if err != nil || again != s || s.Look(s.First) != 1 || s.Look(s.First+1) != 2 {
			t.Fatalf("%v: %v %v", s, again, err)
		}
	})
	for _, bad := range []string{"", "8", "8+", "+8", "0+8", "8+0", "-1+8", "08+8", "8+8+8", "8 + 8", "999+999"} {
		if s, err := ParseStages(bad); err == nil {
			t.Errorf("%q is read as %v", bad, s)
		}
	}
}

func TestStagePolicies(t *testing.T) {
	t.Parallel()
	p, s := DefaultPolicy(), Stages{10, 10}
	one, two := s.At(p, 1), s.At(p, 2)
	if one.Ref() == two.Ref() || one.Ref() == p.Ref() || one.Alpha >= two.Alpha || two.Alpha >= p.Alpha {
		t.Errorf("alphas %g %g of %g", one.Alpha, two.Alpha, p.Alpha)
	}
	again, err := ParsePolicy(one.Raw())
	if err != nil || again.Ref() != one.Ref() {
		t.Errorf("the policy of a look is no policy: %v", err)
	}
}

// Two looks at unchanged code are wrong no more often than one.
func TestTwoLooksKeepAlpha(t *testing.T) {
	t.Parallel()
	const trials = 4000
	s := Stages{10, 10}
	first, second := s.Spend(.05)
	limit := Threshold{Relative: .02}
	wrong := func(d []float64, alpha float64) bool {
		base := make([]float64, len(d))
		for i := range base {
			base[i] = 1
		}
		m := (&scale{tables: newTables(), alpha: alpha}).measure(base, scaled(base, d...), Ratio, result.LowerIsBetter, limit)
		return m.pSlower <= alpha
	}
	rng := rand.New(rand.NewPCG(5, 8))
	flagged := 0
	for range trials {
		d := make([]float64, 20)
		for i := range d {
			d[i] = ln(1.02) + .01*rng.NormFloat64()
		}
		if wrong(d[:10], first) || wrong(d, second) {
			flagged++
		}
	}
	share := float64(flagged) / trials
	if share > .05+3*math.Sqrt(.05*.95/trials) {
		t.Errorf("%.2f %% of unchanged cases are flagged", 100*share)
	}
	t.Logf("%.2f %% of unchanged cases are flagged at two looks", 100*share)
}
