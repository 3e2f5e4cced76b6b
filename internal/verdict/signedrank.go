package verdict

import "sort"

// MaxRounds bounds the rounds of one comparison. The exact tables grow with the
// square of it; a comparison that needs more has a noise problem that rounds
// cannot solve.
const MaxRounds = 1000

// tables remembers the cumulative null distributions of both tests. It
// belongs to one judgement and is not safe for concurrent use.
type tables struct {
	lower      map[int][]float64
	apartLower map[[2]int][]float64 // of doubled U, by both sample sizes

	// Scratch of the two-sample test.
	ways, first, second []float64
	groups              []int
	medians             map[int][2]int // order statistics of the median's interval, by sample size
}

func newTables() *tables { return &tables{lower: map[int][]float64{}} }

// cumulative returns P(W <= s) for s = 0, 1, … over n untied pairs, where W is
// the sum of the ranks with one sign and every sign pattern is equally likely.
// Up to 52 pairs the values are exact multiples of 2^-n. The slice stops where
// the distribution passes one half.
func (t *tables) cumulative(n int) []float64 {
	if c, ok := t.lower[n]; ok {
		return c
	}
	weights := make([]int, n)
	for i := range weights {
		weights[i] = i + 1
	}
	c := lowerTail(weights, n*(n+1)/4+1)
	t.lower[n] = c
	return c
}

// lowerTail returns P(W <= s) for s = 0 … upTo, where W sums a random subset of
// weights, each taken with probability one half. Halving is exact in binary, so
// the answer is exact as long as 2^len(weights) fits a float's 53 bits.
func lowerTail(weights []int, upTo int) []float64 {
	p := make([]float64, upTo+1)
	p[0] = 1
	top := 0
	for _, w := range weights {
		top = min(top+w, upTo)
		for s := top; s >= 0; s-- {
			taken := 0.0
			if s >= w {
				taken = p[s-w]
			}
			p[s] = (p[s] + taken) / 2
		}
	}
	for s := 1; s <= upTo; s++ {
		p[s] += p[s-1]
	}
	return p
}

// order returns k, the largest order statistic of the Walsh averages whose
// interval keeps a two-sided level of at least 1-alpha, and the level that it
// attains. k is 0 when n rounds allow no finite interval at this level.
func (t *tables) order(n int, alpha float64) (k int, level float64) {
	c := t.cumulative(n)
	// The k-th interval misses with probability 2 P(W <= k-1).
	k = sort.Search(len(c), func(i int) bool { return 2*c[i] > alpha })
	if k == 0 {
		return 0, 1
	}
	return k, 1 - 2*c[k-1]
}

// CriticalOrder returns the order statistic k of the Walsh averages of n rounds
// that bounds the exact two-sided interval at level 1-alpha, and the level that
// the interval really has. k is 0, with level 1, when n is too small: the
// interval is then infinite. n is between 1 and MaxRounds.
func CriticalOrder(n int, alpha float64) (k int, level float64) {
	return newTables().order(n, alpha)
}
