package verdict

import "math"

// relativeEfficiency is that of the signed-rank test beside the t-test under
// normal noise, 3/pi rounded as the power table uses it.
const relativeEfficiency = 0.955

// MinimumEffect returns the smallest shift that n rounds of differences with
// standard deviation sigma detect with the given power at two-sided level alpha:
// in the unit of sigma. It is for normal noise, and an approximation unless n is the
// smallest number that reaches alpha. +Inf when n
// rounds cannot reach alpha at all.
func MinimumEffect(n int, sigma, alpha, power float64) float64 {
	return minimumEffect(effectQuantile(n, alpha, power), n, sigma)
}

// effectQuantile is the part of the effect that depends on the sizes alone: the
// quantiles of the test and of its power. +Inf when n rounds cannot reach alpha.
func effectQuantile(n int, alpha, power float64) float64 {
	if n < 2 || alpha <= 0 || alpha >= 1 || power <= 0 || power >= 1 || 2*math.Ldexp(1, -n) > alpha {
		return math.Inf(1)
	}
	if k, _ := CriticalOrder(n, alpha); k == 1 {
		// The interval begins at the smallest difference, so all have to be above
		// zero: that has a closed form, which the approximation is far from.
		each := math.Pow(power, 1/float64(n))
		return math.Sqrt2 * math.Erfinv(2*each-1) * math.Sqrt(float64(n)*relativeEfficiency)
	}
	nu := float64(n - 1)
	return studentQuantile(1-alpha/2, nu) + studentQuantile(power, nu)
}

func minimumEffect(quantile float64, n int, sigma float64) float64 {
	if math.IsInf(quantile, 1) {
		return quantile
	}
	return quantile * sigma / math.Sqrt(float64(n)*relativeEfficiency)
}

// Foreseen is a gating row whose rounds will not see a change of its threshold.
// Both numbers are shares of the baseline.
type Foreseen struct {
	Pair
	Smallest, Threshold float64
}

// Foresee tells, before anything is measured, for which gating rows a number of
// rounds sees changes only that are larger than their threshold, at the power of
// the policy and the level that the family leaves for one row. sigma is what is
// known of the spread; rows of which nothing is known, and those that compare
// differences, are left out.
func Foresee(p GatePolicy, planned []Pair, rounds int, sigma func(Pair) (sd float64, ok bool)) (out []Foreseen) {
	family := 0
	for _, pair := range planned {
		if p.gates(pair.Quantity) {
			family++
		}
	}
	for _, pair := range planned {
		sd, known := sigma(pair)
		if !known || !p.gates(pair.Quantity) || p.Measure(pair.Workload, pair.Quantity) != Ratio {
			continue
		}
		smallest := exp(MinimumEffect(rounds, sd, min(p.Level(), 2*p.Level()/float64(family)), p.Power)) - 1
		if limit := p.threshold(pair.Workload, pair.Quantity).Relative; smallest > limit {
			out = append(out, Foreseen{pair, digits(smallest, 6), limit})
		}
	}
	return out
}
