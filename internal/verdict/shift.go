package verdict

import (
	"cmp"
	"math"
	"slices"
)

// PGreater is the exact one-sided p-value for "the centre of d is above delta":
// the chance, over all sign patterns, of ranks below delta summing to no more
// than they do here. Ties share the mean of their ranks, and a difference equal
// to delta keeps its place in the ranking but takes no side; both are handled by
// the distribution conditional on them, so the test stays exact. 1 when d is
// empty.
func PGreater(d []float64, delta float64) float64 {
	return newTables().shifted(d, delta).greater
}

// PLess is the exact one-sided p-value for "the centre of d is below delta".
func PLess(d []float64, delta float64) float64 {
	return newTables().shifted(d, delta).less
}

// PTwoSided is the exact two-sided p-value for "the centre of d is not delta":
// twice the smaller one-sided value, at most 1.
func PTwoSided(d []float64, delta float64) float64 {
	s := newTables().shifted(d, delta)
	return min(1, 2*min(s.greater, s.less))
}

// shiftTest is the signed-rank test of one shift, in both directions.
type shiftTest struct {
	below, above  int     // doubled rank sums of values below and above the shift
	greater, less float64 // one-sided p-values
}

// shifted ranks d around delta and compares both rank sums with the
// distribution that the ranks themselves have under random signs.
func (t *tables) shifted(d []float64, delta float64) shiftTest {
	type item struct{ size, side float64 }
	var few [fewValues]item
	items := few[:0]
	for _, x := range d {
		e := x - delta
		items = append(items, item{math.Abs(e), e})
	}
	slices.SortFunc(items, func(a, b item) int { return cmp.Compare(a.size, b.size) })

	// Doubled mid-ranks are integers: ranks i+1 … j share (i+1+j)/2.
	var s shiftTest
	var fewRanks [fewValues]int
	weights := fewRanks[:0]
	plain := true
	for i := 0; i < len(items); {
		j := i + 1
		for j < len(items) && items[j].size == items[i].size {
			j++
		}
		rank := i + 1 + j
		plain = plain && j == i+1 && items[i].size > 0
		for _, it := range items[i:j] {
			switch {
			case it.side < 0:
				s.below += rank
			case it.side > 0:
				s.above += rank
			default:
				continue
			}
			weights = append(weights, rank)
		}
		i = j
	}
	if plain && len(weights) > 0 {
		c := t.cumulative(len(weights))
		s.greater = atMost(c, s.below/2, s.above/2)
		s.less = atMost(c, s.above/2, s.below/2)
		return s
	}
	c := lowerTail(weights, (s.below+s.above)/2)
	s.greater = atMost(c, s.below, s.above)
	s.less = atMost(c, s.above, s.below)
	return s
}

// atMost returns P(W <= w) from a lower tail that may stop at the middle of the
// symmetric distribution; other is the rank sum of the opposite sign, so that
// P(W <= w) = 1 - P(W <= other - 1).
func atMost(lower []float64, w, other int) float64 {
	if w < len(lower) {
		return lower[w]
	}
	if other == 0 {
		return 1
	}
	return 1 - lower[other-1]
}
