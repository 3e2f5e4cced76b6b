package verdict

import (
	"math"
	"slices"
)

// MedianInterval returns the order statistics, counted from one, that bound the
// interval for the median of n values at the given level, and the level that is
// attained: from the binomial distribution up to 30 values, by its normal
// approximation beyond, and of two equally good intervals the left one, as
// benchstat does. low is 0 or high is n+1 where n values allow no finite bound.
func MedianInterval(n int, level float64) (low, high int, attained float64) {
	if n < 1 {
		return 0, n + 1, 1
	}
	if n > 30 {
		return medianIntervalLarge(n, level)
	}
	mass := func(k int) float64 {
		if k < 0 || k > n {
			return 0
		}
		return math.Ldexp(choices(n, k), -n)
	}
	low = int(math.Ceil(float64(n+1)/2)) - 1
	high = low + 1
	attained = mass(low)
	for attained < level && (mass(low-1) > 0 || mass(high) > 0) {
		if left, right := mass(low-1), mass(high); left >= right {
			attained += left
			low--
		} else {
			attained += right
			high++
		}
	}
	return low, high, attained
}

// choices is n choose k. Beyond 20 it goes through logarithms, whose last bits
// decide between two equally likely neighbours: that is how benchstat's intervals
// of 24 values came to lean to the right.
func choices(n, k int) float64 {
	if n <= 20 || k == 0 || k == n {
		return binomial(n, k)
	}
	all, _ := math.Lgamma(float64(n + 1))
	taken, _ := math.Lgamma(float64(k + 1))
	left, _ := math.Lgamma(float64(n - k + 1))
	return math.Exp(all - taken - left)
}

func medianIntervalLarge(n int, level float64) (low, high int, attained float64) {
	centre, sd := float64(n)/2, math.Sqrt(float64(n))/2
	below := centre - sd*math.Sqrt2*math.Erfinv(level)
	above := 2*centre - below
	low, high = int(math.Floor(below-.5))+1, int(math.Ceil(above-.5))+1
	mass := func(from, to int) float64 {
		at := func(k int) float64 { return math.Erfc((centre-float64(k)+.5)/sd/math.Sqrt2) / 2 }
		return at(to) - at(from)
	}
	attained = mass(low, high)
	if left := mass(low, high-1); left >= level && left < attained {
		high, attained = high-1, left
	}
	if low <= 0 && high > n {
		attained = 1
	}
	return low, high, attained
}

// medianInterval is the interval for the median of x at level 1-alpha; infinite
// when x is too small.
func medianInterval(x []float64, alpha float64) Interval {
	low, high, level := MedianInterval(len(x), 1-alpha)
	if low < 1 || high > len(x) {
		return infinite()
	}
	sorted := slices.Sorted(slices.Values(x))
	return Interval{Lower: sorted[low-1], Upper: sorted[high-1], Level: level, Order: low}
}
