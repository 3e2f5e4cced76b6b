package verdict

import (
	"cmp"
	"math"
	"slices"
)

// madScale makes the median absolute deviation of normal noise its standard
// deviation.
const madScale = 1.4826

// median returns the median of x without changing it; NaN when x is empty.
func median(x []float64) float64 {
	switch len(x) {
	case 0:
		return math.NaN()
	case 1:
		return x[0]
	}
	var few [fewValues]float64
	sorted := append(few[:0], x...)
	slices.Sort(sorted)
	return middle(sorted)
}

// fewValues is how many values are put in order without memory of their own.
const fewValues = 64

// mean returns the arithmetic mean of x; NaN when x is empty.
func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// sampleSD returns the standard deviation of x with n-1 in the denominator; 0
// for fewer than two values.
func sampleSD(x []float64) float64 {
	if len(x) < 2 {
		return 0
	}
	centre := mean(x)
	squares := 0.0
	for _, v := range x {
		squares += float64((v - centre) * (v - centre))
	}
	return math.Sqrt(squares / float64(len(x)-1))
}

// robustSD estimates the standard deviation of x so that single wild values do
// not move it; where more than half of the values are equal it falls back to the
// sample standard deviation.
func robustSD(x []float64) float64 {
	if len(x) < 2 {
		return 0
	}
	return robustAbout(x, median(x))
}

// robustAbout is robustSD of at least two values with a known median.
func robustAbout(x []float64, centre float64) float64 {
	var few [fewValues]float64
	off := few[:0]
	for _, v := range x {
		off = append(off, math.Abs(v-centre))
	}
	if mad := median(off); mad > 0 {
		return madScale * mad
	}
	return sampleSD(x)
}

// wildShare returns the share of x that lies more than 3.5 robust standard
// deviations from the median. Such values are reported and never removed.
func wildShare(x []float64) float64 {
	if len(x) < 2 {
		return 0
	}
	centre := median(x)
	sd := robustAbout(x, centre)
	if sd == 0 {
		return 0
	}
	wild := 0
	for _, v := range x {
		if math.Abs(v-centre) > float64(3.5*sd) {
			wild++
		}
	}
	return float64(wild) / float64(len(x))
}

// distinct counts the different values of x.
func distinct(x []float64) int {
	var few [fewValues]float64
	sorted := append(few[:0], x...)
	slices.Sort(sorted)
	return len(slices.Compact(sorted))
}

// drifts reports whether x moves with the order of its values at level .01, and its
// p-value then.
func drifts(x []float64) (p float64, ok bool) {
	if t, _ := driftT(x); t < 2.5 { // a t of 2.5 is above .01 however many values there are
		return 1, false
	}
	p = driftP(x)
	return p, p < .01
}

// driftP returns the two-sided p-value of Spearman's rank correlation between x
// and the order of its values, by Student's approximation; 1 for fewer than five
// values or when all are equal.
func driftP(x []float64) float64 {
	t, nu := driftT(x)
	switch {
	case math.IsInf(t, 1):
		return 0
	case t == 0:
		return 1
	}
	return 2 * (1 - studentCDF(t, nu))
}

// driftT is Student's statistic of that correlation, without its sign, and its degrees
// of freedom: 0 for fewer than five values or when all are equal, +Inf when all are in
// order.
func driftT(x []float64) (t, nu float64) {
	n := float64(len(x))
	if len(x) < 5 {
		return 0, 0
	}
	ranks := midRanks(x)
	centre := (n + 1) / 2
	var rr, tt, rt float64
	for i, r := range ranks {
		a, b := r-centre, float64(i+1)-centre
		rr += float64(a * a)
		tt += float64(b * b)
		rt += float64(a * b)
	}
	if rr == 0 {
		return 0, 0
	}
	rho := rt / math.Sqrt(rr*tt)
	if math.Abs(rho) >= 1 {
		return math.Inf(1), n - 2
	}
	return math.Abs(rho) * math.Sqrt((n-2)/(1-rho*rho)), n - 2
}

// midRanks returns the rank of every value of x, from 1; equal values share the
// mean of their ranks.
func midRanks(x []float64) []float64 {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	out := make([]float64, len(x))
	for i := 0; i < len(order); {
		j := i + 1
		for j < len(order) && x[order[j]] == x[order[i]] {
			j++
		}
		for _, at := range order[i:j] {
			out[at] = float64(i+1+j) / 2
		}
		i = j
	}
	return out
}

// RobustSD estimates the standard deviation of x so that single wild values do not
// move it: 1.4826 times the median absolute deviation, or the plain estimate where
// more than half of the values are equal. 0 for fewer than two values.
func RobustSD(x []float64) float64 { return robustSD(x) }
