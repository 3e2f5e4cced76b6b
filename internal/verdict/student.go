package verdict

import "math"

// studentCDF returns P(T <= t) of Student's distribution with nu degrees of
// freedom, nu > 0.
func studentCDF(t, nu float64) float64 {
	if math.IsInf(t, 0) {
		if t > 0 {
			return 1
		}
		return 0
	}
	tail := betaRatio(nu/(nu+t*t), nu/2, 0.5) / 2
	if t > 0 {
		return 1 - tail
	}
	return tail
}

// studentQuantile returns the t with P(T <= t) = p, for 0 < p < 1 and nu > 0, by
// halving an interval until it cannot get narrower.
func studentQuantile(p, nu float64) float64 {
	if p == 0.5 {
		return 0
	}
	if p < 0.5 {
		return -studentQuantile(1-p, nu)
	}
	lo, hi := 0.0, 1.0
	for studentCDF(hi, nu) < p && hi < math.MaxFloat64/2 {
		lo, hi = hi, hi*2
	}
	for range 200 {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			break
		}
		if studentCDF(mid, nu) < p {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo + (hi-lo)/2
}

// betaRatio is the regularised incomplete beta function I_x(a, b), by its
// continued fraction, evaluated from the side where it converges fast.
func betaRatio(x, a, b float64) float64 {
	if x <= 0 {
		return 0
	}
	if x >= 1 {
		return 1
	}
	if x > (a+1)/(a+b+2) {
		return 1 - betaRatio(1-x, b, a)
	}
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	front := math.Exp(lab-la-lb+a*math.Log(x)+b*math.Log1p(-x)) / a

	// Modified Lentz evaluation.
	const tiny = 1e-300
	nudge := func(v float64) float64 {
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c := 1.0
	d := 1 / nudge(1-(a+b)*x/(a+1))
	f := d
	for m := 1.0; m <= 500; m++ {
		even := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		d = 1 / nudge(1+even*d)
		c = nudge(1 + even/c)
		f *= d * c
		odd := -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		d = 1 / nudge(1+odd*d)
		c = nudge(1 + odd/c)
		step := d * c
		f *= step
		if math.Abs(step-1) < 1e-15 {
			break
		}
	}
	return front * f
}
