package verdict

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func ulps(a, b float64) float64 {
	if a == b {
		return 0
	}
	return math.Abs(a-b) / (math.Nextafter(math.Abs(b), math.Inf(1)) - math.Abs(b))
}

func TestLogarithmAgreesWithTheLibrary(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x := math.Exp(rapid.Float64Range(-700, 700).Draw(t, "log"))
		if got, want := ln(x), math.Log(x); ulps(got, want) > 3 {
			t.Fatalf("ln(%v) = %v, want %v", x, got, want)
		}
		near := 1 + rapid.Float64Range(-1e-3, 1e-3).Draw(t, "near one")
		if got, want := ln(near), math.Log(near); ulps(got, want) > 3 {
			t.Fatalf("ln(%v) = %v, want %v", near, got, want)
		}
	})
	if ln(1) != 0 {
		t.Errorf("ln(1) = %v, want 0", ln(1))
	}
}

func TestExponentialAgreesWithTheLibrary(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(-700, 709).Draw(t, "x")
		if got, want := exp(x), math.Exp(x); ulps(got, want) > 3 {
			t.Fatalf("exp(%v) = %v, want %v", x, got, want)
		}
	})
	if exp(0) != 1 || !math.IsInf(exp(800), 1) || exp(-800) != 0 {
		t.Errorf("exp at 0, 800, -800 = %v %v %v", exp(0), exp(800), exp(-800))
	}
}

func TestDigitsRoundsToSignificantDigits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   float64
		n    int
		want float64
	}{
		{1.23456789, 3, 1.23}, {0.000123456, 2, 0.00012}, {-5, 12, -5}, {0, 4, 0},
		{math.Copysign(0, -1), 4, 0}, {math.Inf(1), 4, math.Inf(1)},
	} {
		if got := digits(c.in, c.n); got != c.want || math.Signbit(got) != math.Signbit(c.want) {
			t.Errorf("digits(%v, %d) = %v, want %v", c.in, c.n, got, c.want)
		}
	}
}
