package verdict

import (
	"math"
	"slices"
)

// apart is the one-sided Mann-Whitney test of one shift, in both directions: is
// b - delta larger, or smaller, than a? It is exact, conditional on ties, within
// the sizes of MannWhitney.
func (t *tables) apart(a, b []float64, delta float64) shiftTest {
	both := make([]float64, 0, len(a)+len(b))
	both = append(both, a...)
	for _, y := range b {
		both = append(both, y-delta)
	}
	n, m := len(a), len(b)
	sum := 0.0
	for _, r := range midRanks(both)[n:] {
		sum += r
	}
	u := sum - float64(m*(m+1))/2
	groups := tieGroups(both)
	if len(groups) == 1 {
		return shiftTest{greater: 1, less: 1}
	}
	if tooLarge(n, m, groups) {
		return shiftTest{greater: upperU(u, float64(n), float64(m), groups), less: upperU(float64(n*m)-u, float64(n), float64(m), groups)}
	}
	lower := t.uLower(n, m, groups)
	twice := int(2 * u)
	return shiftTest{greater: lower[2*n*m-twice], less: lower[twice]} // the null distribution is symmetric, ties or not
}

// tooLarge reports whether two samples are beyond the exact test.
func tooLarge(n, m int, groups []int) bool {
	limit := 50
	if len(groups) < n+m {
		limit = 25
	}
	return n > limit || m > limit
}

// uLower is uCumulative, remembered for samples without ties.
func (t *tables) uLower(n, m int, groups []int) []float64 {
	if len(groups) < n+m {
		return uCumulative(n, m, groups)
	}
	key := [2]int{n, m}
	if t.apartLower[key] == nil {
		if t.apartLower == nil {
			t.apartLower = map[[2]int][]float64{}
		}
		t.apartLower[key] = uCumulative(n, m, groups)
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
	ones := slices.Repeat([]int{1}, n+m)
	if !tooLarge(n, m, ones) {
		return orderOf(t.uLower(n, m, ones), n*m, alpha)
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
