package verdict

import (
	"math"
	"strconv"
)

// The standard library's Log and Exp have hand-written machine code on some
// processors, and the compiler may fuse a product and a sum on others. Both
// change last bits. A verdict is recomputed on other machines byte for byte, so
// the two functions below use only operations that IEEE 754 fixes, and every
// product that enters a sum is rounded first: that is what float64(a*b) means.

const (
	ln2High = 6.93147180369123816490e-01 // ln 2 with its lowest 32 bits cleared
	ln2Low  = 1.90821492927058770002e-10 // the rest
)

// ln returns the natural logarithm of a positive finite x, within two units in
// the last place, the same bits everywhere.
func ln(x float64) float64 {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m *= 2
		e--
	}
	// ln m = 2 artanh s, and |s| < 0.172, so twelve terms are below rounding.
	s := (m - 1) / (m + 1)
	z := float64(s * s)
	sum := 0.0
	for k := 23; k >= 3; k -= 2 {
		sum = float64(z * (1/float64(k) + sum))
	}
	series := float64(2*s) + float64(float64(2*s)*sum)
	n := float64(e)
	return float64(n*ln2High) + (series + float64(n*ln2Low))
}

// exp returns e to the x, within two units in the last place, the same bits
// everywhere. It overflows to +Inf and underflows to 0.
func exp(x float64) float64 {
	switch {
	case math.IsNaN(x):
		return x
	case x > 710:
		return math.Inf(1)
	case x < -746:
		return 0
	}
	n := math.RoundToEven(x / math.Ln2)
	r := (x - float64(n*ln2High)) - float64(n*ln2Low)
	sum := 1.0
	for k := 16; k >= 1; k-- {
		sum = 1 + float64(float64(r/float64(k))*sum)
	}
	return math.Ldexp(sum, int(n))
}

// digits rounds x to n significant decimal digits, as documents report it.
func digits(x float64, n int) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return x
	}
	var text [32]byte
	y, err := strconv.ParseFloat(string(strconv.AppendFloat(text[:0], x, 'g', n, 64)), 64)
	if err != nil { // out of range after rounding up: keep the value itself
		return x
	}
	return y + 0 // no negative zero
}
