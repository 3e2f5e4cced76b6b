package verdict

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestClopperPearsonValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		x, n         int
		lower, upper float64
	}{
		{0, 20, 0, .16843}, {0, 59, 0, .06061}, {1, 100, .00025, .05446}, {5, 100, .01643, .11283}, {8, 100, .03517, .15156},
		{12, 100, .06357, .20024}, {0, 299, 0, .01226}, {20, 20, 1 - .16843, 1}, {0, 0, 0, 1}, {3, 2, 0, 1}, {-1, 5, 0, 1},
	} {
		lower, upper := ClopperPearson(c.x, c.n, .05)
		if math.Abs(lower-c.lower) > 6e-6 || math.Abs(upper-c.upper) > 6e-6 {
			t.Errorf("%d of %d: [%.5f, %.5f], want [%.5f, %.5f]", c.x, c.n, lower, upper, c.lower, c.upper)
		}
	}
	for p, want := range map[float64]int{.05: 59, .02: 149, .01: 299, .005: 598} {
		if got := NeedTries(p, .05); got != want {
			t.Errorf("%g: %d tries, want %d", p, got, want)
		}
	}
}

// The bounds are those where the tails of the binomial distribution hold alpha/2.
func TestClopperPearsonInvertsTheBinomial(t *testing.T) {
	t.Parallel()
	atMost := func(x, n int, p float64) (sum float64) {
		for k := 0; k <= x; k++ {
			a, _ := math.Lgamma(float64(n + 1))
			b, _ := math.Lgamma(float64(k + 1))
			c, _ := math.Lgamma(float64(n - k + 1))
			sum += math.Exp(a - b - c + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
		}
		return sum
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 200).Draw(t, "n")
		x := rapid.IntRange(0, n).Draw(t, "x")
		alpha := rapid.SampledFrom([]float64{.01, .05, .2}).Draw(t, "alpha")
		lower, upper := ClopperPearson(x, n, alpha)
		share := float64(x) / float64(n)
		if lower > share || upper < share {
			t.Fatalf("[%g, %g] is without %g", lower, upper, share)
		}
		if x < n && math.Abs(atMost(x, n, upper)-alpha/2) > 1e-8 {
			t.Fatalf("P(X <= %d) at %g is %g", x, upper, atMost(x, n, upper))
		}
		if x > 0 && math.Abs(1-atMost(x-1, n, lower)-alpha/2) > 1e-8 {
			t.Fatalf("P(X >= %d) at %g is %g", x, lower, 1-atMost(x-1, n, lower))
		}
	})
}
