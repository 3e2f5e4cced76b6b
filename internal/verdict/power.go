package verdict

import "math"

// relativeEfficiency is that of the signed-rank test beside the t-test under
// normal noise, 3/pi rounded as the power table uses it.
const relativeEfficiency = 0.955

// MinimumEffect returns the smallest shift that n rounds of differences with
// standard deviation sigma detect with the given power at two-sided level alpha:
// in the unit of sigma. It is an approximation for normal noise. +Inf when n
// rounds cannot reach alpha at all.
func MinimumEffect(n int, sigma, alpha, power float64) float64 {
	if n < 2 || alpha <= 0 || alpha >= 1 || power <= 0 || power >= 1 || 2*math.Ldexp(1, -n) > alpha {
		return math.Inf(1)
	}
	nu := float64(n - 1)
	t := studentQuantile(1-alpha/2, nu) + studentQuantile(power, nu)
	return t * sigma / math.Sqrt(float64(n)*relativeEfficiency)
}
