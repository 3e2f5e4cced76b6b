package verdict

import (
	"math"
	"slices"
)

// Interval is an exact confidence interval. Bounds are infinite when there were
// too few rounds for the level that was asked for.
type Interval struct {
	Lower, Upper float64
	Level        float64 // what is attained, at least what was asked for
	Order        int     // order statistic of the Walsh averages; 0 when infinite
}

// Finite reports whether the interval says anything.
func (i Interval) Finite() bool { return i.Order > 0 }

// walsh writes the sorted averages of all pairs i <= j of d into buf and
// returns it: n(n+1)/2 numbers.
func walsh(buf, d []float64) []float64 {
	buf = buf[:0]
	if n := len(d); n <= fewRounds {
		// Averages of sorted values come nearly sorted by the sum of their places.
		var few [fewRounds]float64
		sorted := append(few[:0], d...)
		slices.Sort(sorted)
		for sum := range 2*n - 1 {
			for i := max(0, sum-n+1); 2*i <= sum; i++ {
				buf = append(buf, sorted[i]/2+sorted[sum-i]/2)
			}
		}
		return insert(buf)
	}
	for i, x := range d {
		for _, y := range d[i:] {
			buf = append(buf, x/2+y/2)
		}
	}
	slices.Sort(buf)
	return buf
}

// fewRounds is how many rounds have so few averages that sorting nearly sorted ones
// by insertion is fastest.
const fewRounds = 16

// insert sorts by insertion.
func insert(x []float64) []float64 {
	for i := 1; i < len(x); i++ {
		v, k := x[i], i
		for k > 0 && x[k-1] > v {
			x[k] = x[k-1]
			k--
		}
		x[k] = v
	}
	return x
}

// middle returns the median of a sorted, non-empty slice.
func middle(sorted []float64) float64 {
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return sorted[n/2-1]/2 + sorted[n/2]/2
}

// HodgesLehmann returns the median of all pairwise averages of d: the centre of
// the differences, which up to 29 % wild values cannot move far. NaN when d is
// empty.
func HodgesLehmann(d []float64) float64 {
	if len(d) == 0 {
		return math.NaN()
	}
	return middle(walsh(nil, d))
}

// SignedRankInterval returns the interval for the centre of d that inverts the
// exact signed-rank test at two-sided level 1-alpha.
func SignedRankInterval(d []float64, alpha float64) Interval {
	return newTables().interval(walsh(nil, d), len(d), alpha)
}

// interval reads the interval of n rounds off their sorted Walsh averages.
func (t *tables) interval(w []float64, n int, alpha float64) Interval {
	k := 0
	level := 1.0
	if n > 0 {
		k, level = t.order(n, alpha)
	}
	if k == 0 {
		return Interval{Lower: math.Inf(-1), Upper: math.Inf(1), Level: 1}
	}
	return Interval{Lower: w[k-1], Upper: w[len(w)-k], Level: level, Order: k}
}
