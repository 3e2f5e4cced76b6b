package verdict

import (
	"cmp"
	"math"
	"slices"
)

// ascending returns the indices of p from the smallest value to the largest;
// equal values keep their places.
func ascending(p []float64) []int {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	return order
}

// Holm returns p adjusted so that rejecting every value up to alpha keeps the
// chance of any false rejection at alpha, however the tests depend on each
// other. The answer keeps the order of p.
func Holm(p []float64) []float64 { return holm(p, len(p)) }

// holm adjusts p as part of a family of m tests; the m-len(p) tests that have no
// p-value count as never rejected.
func holm(p []float64, m int) []float64 {
	out := make([]float64, len(p))
	highest := 0.0
	for i, at := range ascending(p) {
		highest = max(highest, min(1, float64(m-i)*p[at]))
		out[at] = highest
	}
	return out
}

// BenjaminiHochberg returns p adjusted so that rejecting every value up to q
// keeps the expected share of false rejections among them at q. It is for
// reading a long report, not for gating. The answer keeps the order of p.
func BenjaminiHochberg(p []float64) []float64 {
	out := make([]float64, len(p))
	lowest := 1.0
	order := ascending(p)
	for i := len(order) - 1; i >= 0; i-- {
		lowest = min(lowest, float64(len(p))*p[order[i]]/float64(i+1))
		out[order[i]] = lowest
	}
	return out
}

// NeedRounds returns the smallest number of rounds with which one of m gated
// pairs can be called slower at level alpha at all: the smallest one-sided
// signed-rank p-value of n rounds is 2^-n, and it has to reach alpha/m. 0 when m
// is 0.
func NeedRounds(m int, alpha float64) int {
	if m <= 0 {
		return 0
	}
	n := 0
	for p := 1.0; p*float64(m) > alpha && n < MaxRounds; p = math.Ldexp(p, -1) {
		n++
	}
	return n
}

// RoundsFor returns how many rounds a comparison of these pairs needs under a
// policy before any of its rows can be called slower or faster at all.
func RoundsFor(p GatePolicy, planned []Pair) int {
	m := 0
	for _, pair := range planned {
		if p.gates(pair.Quantity) {
			m++
		}
	}
	return max(NeedRounds(2, p.Level()), NeedRounds(m, p.Level())) // 2: the interval is two-sided
}
