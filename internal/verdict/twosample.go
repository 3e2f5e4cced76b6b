package verdict

import (
	"math"
	"slices"
)

// TwoSample is the Mann-Whitney test of two files that were not measured in
// rounds. Whatever it says is confounded with the order of the runs, and whoever
// shows it says so.
type TwoSample struct {
	U       float64 // pairs in which the second sample is larger, ties counting half
	P       float64 // two-sided
	Exact   bool    // by the permutation distribution, not the normal approximation
	AllSame bool    // every value of both samples is equal; P is 1
}

// MannWhitney tests whether b tends to be larger or smaller than a. It is exact
// up to 50 values a side without ties and 25 with them, conditional on the ties;
// beyond that it is the normal approximation with both corrections. The
// two-sided value doubles the smaller tail and is 1 in the exact middle. P is
// NaN when a sample is empty.
func MannWhitney(a, b []float64) TwoSample { return newTables().mannWhitney(a, b) }

// mannWhitney is MannWhitney with remembered distributions.
func (t *tables) mannWhitney(a, b []float64) TwoSample {
	n, m := len(a), len(b)
	if n == 0 || m == 0 {
		return TwoSample{P: math.NaN()}
	}
	both := slices.Concat(a, b)
	ranks := midRanks(both)
	rankSum := 0.0
	for _, r := range ranks[n:] {
		rankSum += r
	}
	nm := float64(n * m)
	out := TwoSample{U: rankSum - float64(m*(m+1))/2}
	groups := tieGroups(both)
	if len(groups) == 1 {
		out.P, out.Exact, out.AllSame = 1, true, true
		return out
	}
	if tooLarge(n, m, groups) {
		out.P = normalU(out.U, float64(n), float64(m), groups)
		return out
	}
	out.Exact = true
	if out.U == nm-out.U {
		out.P = 1
		return out
	}
	lower := t.uLower(n, m, groups)
	out.P = min(1, 2*lower[int(2*min(out.U, nm-out.U))])
	return out
}

// tieGroups returns how many values share each distinct value, in ascending
// order.
func tieGroups(x []float64) []int {
	sorted := slices.Clone(x)
	slices.Sort(sorted)
	var out []int
	for i := 0; i < len(sorted); {
		j := i + 1
		for j < len(sorted) && sorted[j] == sorted[i] {
			j++
		}
		out = append(out, j-i)
		i = j
	}
	return out
}

// uCumulative returns P(2U <= u) for u = 0 … 2nm, when the m values of the second
// sample are a random choice among all n+m values, which fall into the given
// groups of equal ones.
func uCumulative(n, m int, groups []int) []float64 {
	// ways[k][u]: choices of k values from the groups so far with 2U = u.
	ways := make([][]float64, m+1)
	width := 2*n*m + 1
	for k := range ways {
		ways[k] = make([]float64, width)
	}
	ways[0][0] = 1
	seen := 0
	for _, size := range groups {
		for k := min(m, seen+size); k >= 1; k-- {
			for take := min(size, k); take >= 1; take-- {
				if k-take > seen {
					continue
				}
				choose := binomial(size, take)
				// Each taken value beats the earlier values of the other sample and
				// ties with those of its own group that were left out.
				shift := 2*take*(seen-(k-take)) + take*(size-take)
				for u := width - 1; u >= shift; u-- {
					ways[k][u] += float64(choose * ways[k-take][u-shift])
				}
			}
		}
		seen += size
	}
	out := ways[m]
	for u := 1; u < len(out); u++ {
		out[u] += out[u-1]
	}
	all := out[len(out)-1]
	for u := range out {
		out[u] /= all
	}
	return out
}

// binomial returns n choose k as a float, exact while it fits 53 bits.
func binomial(n, k int) float64 {
	out := 1.0
	for i := 1; i <= k; i++ {
		out = out * float64(n-k+i) / float64(i)
	}
	return out
}

// normalU is the two-sided normal approximation with the corrections for ties
// and continuity.
func normalU(u, n, m float64, groups []int) float64 {
	z := (math.Abs(u-n*m/2) - 0.5) / math.Sqrt(varianceU(n, m, groups))
	return min(1, math.Erfc(max(0, z)/math.Sqrt2))
}

// varianceU is the variance of U under the null, given its ties.
func varianceU(n, m float64, groups []int) float64 {
	total := n + m
	ties := 0.0
	for _, g := range groups {
		t := float64(g)
		ties += t*t*t - t
	}
	return n * m / 12 * ((total + 1) - ties/(total*(total-1)))
}

// HodgesLehmannTwo returns the median of all differences b-a and the interval
// that inverts the untied Mann-Whitney test at level 1-alpha. NaN, and an
// infinite interval, when a sample is empty.
func HodgesLehmannTwo(a, b []float64, alpha float64) (float64, Interval) {
	if len(a) == 0 || len(b) == 0 {
		return math.NaN(), infinite()
	}
	d := differences(nil, a, b)
	k, level := CriticalOrderTwo(len(a), len(b), alpha)
	if k == 0 {
		return middle(d), infinite()
	}
	return middle(d), Interval{Lower: d[k-1], Upper: d[len(d)-k], Level: level, Order: k}
}

func infinite() Interval { return Interval{Lower: math.Inf(-1), Upper: math.Inf(1), Level: 1} }

// differences writes all b-a, sorted, into buf and returns it.
func differences(buf, a, b []float64) []float64 {
	buf = buf[:0]
	for _, y := range b {
		for _, x := range a {
			buf = append(buf, y-x)
		}
	}
	slices.Sort(buf)
	return buf
}

// CriticalOrderTwo returns the order statistic of the differences of two samples
// that bounds their interval at level 1-alpha, and the level attained: exact up
// to 50 values a side, by the normal approximation beyond. 0 when the samples are
// too small.
func CriticalOrderTwo(n, m int, alpha float64) (k int, level float64) {
	return newTables().orderApart(n, m, alpha)
}

// orderOf reads the order statistic off the cumulative distribution of 2U.
func orderOf(lower []float64, nm int, alpha float64) (k int, level float64) {
	level = 1
	for k < nm/2 {
		miss := 2 * lower[2*k]
		if miss > alpha {
			break
		}
		k++
		level = 1 - miss
	}
	return k, level
}
