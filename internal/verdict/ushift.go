package verdict

import (
	"math"
	"slices"
)

// apart is the one-sided Mann-Whitney test of one shift, in both directions, of two
// sorted samples: is b - delta larger, or smaller, than a? It is exact, conditional
// on ties, within the sizes of MannWhitney.
func (t *tables) apart(a, b []float64, delta float64) shiftTest {
	n, m := len(a), len(b)
	twice, groups := t.merge(a, b, delta)
	u := float64(twice) / 2
	if len(groups) == 1 {
		return shiftTest{greater: 1, less: 1}
	}
	if tooLarge(n, m, groups) {
		return shiftTest{greater: upperU(u, float64(n), float64(m), groups), less: upperU(float64(n*m)-u, float64(n), float64(m), groups)}
	}
	// With ties and samples of different sizes the distribution is not symmetric.
	// What one sample wins the other loses, so both tails can be had from the shorter
	// end: of the second sample, or of the first.
	if lost := 2*n*m - twice; lost < twice {
		smaller, larger := t.uTails(m, n, groups, lost)
		return shiftTest{greater: smaller, less: larger}
	}
	smaller, larger := t.uTails(n, m, groups, twice)
	return shiftTest{greater: larger, less: smaller}
}

// uTails returns P(2U <= at) and P(2U >= at), U being what the second of two
// samples of n and m values wins.
func (t *tables) uTails(n, m int, groups []int, at int) (smaller, larger float64) {
	if len(groups) == n+m {
		lower := t.uLower(n, m)
		return lower[at], lower[2*n*m-at]
	}
	counts, used := uCounts(n, m, groups, at, t.ways)
	t.ways = used
	all := binomial(n+m, m)
	larger = all
	if at > 0 {
		larger -= counts[at-1]
	}
	return counts[at] / all, larger / all
}

// The largest samples of the exact test, without and with ties.
const untied, tied = 50, 25

// tooLarge reports whether two samples are beyond the exact test.
func tooLarge(n, m int, groups []int) bool {
	limit := untied
	if len(groups) < n+m {
		limit = tied
	}
	return n > limit || m > limit
}

// uLower returns P(2U <= u) for u = 0 … 2nm without ties, remembered.
func (t *tables) uLower(n, m int) []float64 {
	key := [2]int{n, m}
	if t.apartLower[key] == nil {
		if t.apartLower == nil {
			t.apartLower = map[[2]int][]float64{}
		}
		counts, _ := uCounts(n, m, slices.Repeat([]int{1}, n+m), 2*n*m, nil)
		all := counts[len(counts)-1]
		for u := range counts {
			counts[u] /= all
		}
		t.apartLower[key] = counts
	}
	return t.apartLower[key]
}

// orderApart returns the order statistic of the differences of two samples that
// bounds their interval at level 1-alpha, and the level attained: exact up to 50
// values a side, by the normal approximation beyond. 0 when the samples are too
// small.
func (t *tables) orderApart(n, m int, alpha float64) (k int, level float64) {
	if n == 0 || m == 0 {
		return 0, 1
	}
	if n <= untied && m <= untied {
		return orderOf(t.uLower(n, m), n*m, alpha)
	}
	nm := float64(n * m)
	sd := math.Sqrt(nm / 12 * float64(n+m+1))
	miss := func(k int) float64 { return math.Erfc((nm/2 - float64(k-1) - .5) / sd / math.Sqrt2) }
	for k = int(nm / 2); k > 0 && miss(k) > alpha; k-- {
		continue
	}
	if k == 0 {
		return 0, 1
	}
	return k, 1 - miss(k)
}

// upperU is the one-sided normal approximation of P(U >= u).
func upperU(u, n, m float64, groups []int) float64 {
	z := (u - n*m/2 - .5) / math.Sqrt(varianceU(n, m, groups))
	return min(1, math.Erfc(z/math.Sqrt2)/2)
}
