package verdict

import "math"

// ClopperPearson returns the exact interval for a probability of which x of n tries
// showed the event, at two-sided level 1-alpha. Nothing is known of no tries:
// [0, 1].
func ClopperPearson(x, n int, alpha float64) (lower, upper float64) {
	if n <= 0 || x < 0 || x > n {
		return 0, 1
	}
	upper = 1
	if x > 0 {
		lower = betaQuantile(alpha/2, float64(x), float64(n-x+1))
	}
	if x < n {
		upper = betaQuantile(1-alpha/2, float64(x+1), float64(n-x))
	}
	return lower, upper
}

// NeedTries returns how many tries without an event show that its probability is
// below p, at level 1-alpha: 59 for 5 % at alpha .05. p and alpha lie between 0
// and 1.
func NeedTries(p, alpha float64) int {
	return int(math.Ceil(math.Log(alpha) / math.Log1p(-p)))
}

// betaQuantile returns the x with I_x(a, b) = p, by halving.
func betaQuantile(p, a, b float64) float64 {
	lo, hi := 0.0, 1.0
	for range 200 {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			break
		}
		if betaRatio(mid, a, b) < p {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo + (hi-lo)/2
}
