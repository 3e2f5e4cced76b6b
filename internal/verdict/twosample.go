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
// two-sided value doubles the smaller tail and is 1 in the exact middle, as
// benchstat has it: with ties and samples of different sizes the tail is always
// that of the first sample, and twice it may be above 1. Package verdict itself
// judges by one-sided tests, which are exact there too. P is NaN when a sample is empty
// or holds NaN.
func MannWhitney(a, b []float64) TwoSample { return newTables().mannWhitney(a, b) }

// mannWhitney is MannWhitney with remembered distributions.
func (t *tables) mannWhitney(a, b []float64) TwoSample {
	n, m := len(a), len(b)
	if n == 0 || m == 0 || slices.ContainsFunc(a, math.IsNaN) || slices.ContainsFunc(b, math.IsNaN) {
		return TwoSample{P: math.NaN()}
	}
	nm := float64(n * m)
	twice, groups := t.merge(sortedInto(&t.first, a), sortedInto(&t.second, b), 0)
	out := TwoSample{U: float64(twice) / 2}
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
	lost := int(2 * min(out.U, nm-out.U))
	smaller, _ := t.uTails(m, n, groups, lost)
	if len(groups) == 2 {
		smaller = twoGroups(n, groups, lost)
	}
	out.P = 2 * smaller
	return out
}

// twoGroups is P(2U <= lost) of n of the values of two groups of equal ones as
// benchstat counts it: its quotient is cut towards zero, so that where no choice
// loses as little, the one that loses least still counts.
func twoGroups(n int, groups []int, lost int) float64 {
	all := groups[0] + groups[1]
	ways := 0.0
	for upper := max(0, n-groups[0]); upper <= (lost-n*(groups[0]-n))/all && upper <= min(n, groups[1]); upper++ {
		ways += float64(binomial(groups[0], n-upper) * binomial(groups[1], upper))
	}
	return ways / binomial(all, n)
}

// merge goes through two sorted samples, the second one moved back by delta. It
// returns twice the number of pairs in which the second is larger, ties counting
// half, and how many values share each distinct value, in ascending order. The
// groups are valid until the next call.
func (t *tables) merge(a, b []float64, delta float64) (twice int, groups []int) {
	groups = t.groups[:0]
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		v := math.Inf(1)
		if i < len(a) {
			v = a[i]
		}
		if j < len(b) {
			v = min(v, b[j]-delta)
		}
		below, from := i, j
		for i < len(a) && a[i] == v {
			i++
		}
		for j < len(b) && b[j]-delta == v {
			j++
		}
		twice += (j - from) * (2*below + (i - below))
		groups = append(groups, i-below+j-from)
	}
	t.groups = groups
	return twice, groups
}

// sortedInto returns the values of x in order, in the memory of buf.
func sortedInto(buf *[]float64, x []float64) []float64 {
	*buf = append((*buf)[:0], x...)
	slices.Sort(*buf)
	return *buf
}

// uCounts returns in how many ways 2U <= u, for u = 0 … upTo, when the m values of
// the second sample are any of all n+m values, which fall into the given groups of
// equal ones. The counts are exact while they fit 53 bits. buf is used when it is
// large enough.
func uCounts(n, m int, groups []int, upTo int, buf []float64) (counts, used []float64) {
	// ways[k*width+u]: choices of k values from the groups so far with 2U = u.
	width := upTo + 1
	ways := resize(buf, (m+1)*width)
	ways[0] = 1
	seen := 0
	for _, size := range groups {
		for k := min(m, seen+size); k >= 1; k-- {
			to := ways[k*width : (k+1)*width]
			for take := min(size, k); take >= 1; take-- {
				left := k - take // chosen before
				if left > seen {
					continue
				}
				choose := binomial(size, take)
				// Each taken value beats the earlier values of the other sample and
				// ties with those of its own group that were left out.
				shift := 2*take*(seen-left) + take*(size-take)
				if shift > upTo {
					continue
				}
				from := ways[left*width:]
				last := min(upTo-shift, 2*left*(seen-left)) // beyond it there is nothing yet
				into := to[shift : shift+last+1]
				for u, w := range from[:last+1] {
					into[u] += float64(choose * w)
				}
			}
		}
		seen += size
	}
	counts = ways[m*width : (m+1)*width]
	for u := 1; u < len(counts); u++ {
		counts[u] += counts[u-1]
	}
	return counts, ways
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
