package verdict

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestGoldenTwoSamples(t *testing.T) {
	t.Parallel()
	span := func(from, to float64) (out []float64) {
		for x := from; x <= to; x++ {
			out = append(out, x)
		}
		return out
	}
	for _, c := range []struct {
		name string
		a, b []float64
		u, p float64
	}{
		{"far apart", span(100, 105), span(110, 115), 36, .002164502164502165},
		{"ties across", span(1, 5), span(2, 6), 17, .4444444444444444},
		{"ties within", []float64{10, 10, 10, 11, 11}, []float64{10, 11, 11, 12, 12}, 19.5, .23809523809523808},
		{"exact middle", []float64{1.1, 2.2, 3.3}, []float64{.9, 2.1, 3, 4.5}, 6, 1},
		{"all the same", []float64{5, 5, 5}, []float64{5, 5, 5}, 4.5, 1},
		{"constant side", []float64{115, 114, 115, 115, 115}, slices.Repeat([]float64{78.8}, 5), 0, .007936507936507936},
	} {
		got := MannWhitney(c.a, c.b)
		if got.U != c.u || math.Abs(got.P-c.p) > 1e-15 || !got.Exact {
			t.Errorf("%s: U %v p %v exact %v, want %v and %v", c.name, got.U, got.P, got.Exact, c.u, c.p)
		}
		if back := MannWhitney(c.b, c.a); back.P != got.P || back.U != float64(len(c.a)*len(c.b))-c.u {
			t.Errorf("%s: swapped U %v p %v", c.name, back.U, back.P)
		}
	}
	centre, ci := HodgesLehmannTwo(span(100, 105), span(110, 115), .05)
	if centre != 10 || ci.Lower != 7 || ci.Upper != 13 || ci.Order != 6 {
		t.Errorf("centre %v interval %v, want 10 and [7, 13] by order 6", centre, ci)
	}
}

func TestSmallestTwoSampleP(t *testing.T) {
	t.Parallel()
	want := []float64{1, .333333, .1, .0285714, .00793651, .00216450, .000582751, .000155400, 4.11353e-5, 1.08251e-5}
	for i, p := range want {
		n := i + 1
		var a, b []float64
		for j := range n {
			a, b = append(a, float64(j)), append(b, float64(100+j))
		}
		if got := MannWhitney(a, b).P; math.Abs(got/p-1) > 1e-5 {
			t.Errorf("n=%d: p %v, want %v", n, got, p)
		}
	}
}

func TestCriticalOrderTwoTable(t *testing.T) {
	t.Parallel()
	for alpha, row := range map[float64]map[int]int{
		.05: {4: 1, 5: 3, 6: 6, 7: 9, 8: 14, 9: 18, 10: 24, 11: 31, 12: 38, 13: 46, 14: 56, 15: 65, 16: 76, 17: 88, 18: 100, 19: 114, 20: 128, 25: 212, 30: 318},
		.01: {4: 0, 5: 1, 6: 3, 7: 5, 8: 8, 9: 12, 10: 17, 11: 22, 12: 28, 13: 35, 14: 43, 15: 52, 16: 61, 17: 71, 18: 82, 19: 94, 20: 106, 25: 181, 30: 277},
	} {
		for n, want := range row {
			if k, level := CriticalOrderTwo(n, n, alpha); k != want || level < 1-alpha {
				t.Errorf("n=%d alpha=%v: order %d level %v, want %d", n, alpha, k, level, want)
			}
		}
	}
}

// Every split of the pooled values into two samples is equally likely: the exact
// test counts them.
func TestMannWhitneyEqualsEnumeration(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	u2 := func(a, b []float64) (u int) {
		for _, y := range b {
			for _, x := range a {
				if y > x {
					u += 2
				} else if y == x {
					u++
				}
			}
		}
		return u
	}
	for n := 1; n <= 6; n++ {
		for m := 1; m <= 6; m++ {
			both := make([]float64, n+m)
			for i := range both {
				both[i] = float64(rng.IntN(7))
			}
			both[0], both[n+m-1] = 7, 8 // three groups at least, or two
			a, b := both[:n], both[n:]
			seen := u2(a, b)
			low := min(seen, 2*n*m-seen)
			var tail, above, below, all float64
			for pattern := range 1 << (n + m) {
				var x, y []float64
				for i, v := range both {
					if pattern>>i&1 == 1 {
						y = append(y, v)
					} else {
						x = append(x, v)
					}
				}
				if len(y) != m {
					continue
				}
				all++
				if 2*n*m-u2(x, y) <= low { // what the first sample wins, as benchstat has it
					tail++
				}
				if u2(x, y) >= seen {
					above++
				}
				if u2(x, y) <= seen {
					below++
				}
			}
			if got := newTables().apart(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)), 0); len(slices.Compact(slices.Sorted(slices.Values(both)))) > 1 &&
				(math.Abs(got.greater-above/all) > 1e-12 || math.Abs(got.less-below/all) > 1e-12) {
				t.Errorf("%v and %v: %+v, want %v and %v", a, b, got, above/all, below/all)
			}
			want := 2 * tail / all
			if 2*low == 2*n*m {
				want = 1
			}
			if got := MannWhitney(a, b).P; math.Abs(got-want) > 1e-12 {
				t.Errorf("%v and %v: p %v, want %v", a, b, got, want)
			}
		}
	}
}

func TestNormalApproximationIsCloseToExact(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	var a, b []float64
	for range 60 {
		a, b = append(a, rng.NormFloat64()), append(b, rng.NormFloat64()+.4)
	}
	large := MannWhitney(a, b)
	if large.Exact {
		t.Fatal("60 values a side are beyond the exact limit")
	}
	exact := min(1, 2*newTables().uLower(60, 60)[int(2*min(large.U, 3600-large.U))])
	if math.Abs(large.P-exact) > .1*exact {
		t.Errorf("approximate p %v, exact %v", large.P, exact)
	}
}

func TestGoldenLevels(t *testing.T) {
	t.Parallel()
	l, ok := SplitLevels([][]float64{{10, 10.2, 9.9, 10.1}, {10.6, 10.5, 10.7, 10.4}, {9.8, 9.9, 9.7, 9.8}})
	if !ok {
		t.Fatal("three groups of four are enough")
	}
	near(t, "within", l.Within, .0133333, 5e-8)
	near(t, "between", l.Between, .1458333, 5e-8)
	near(t, "component", l.Component, .1425, 1e-10)
	near(t, "mean", l.Mean, 10.133333, 5e-7)
	near(t, "half-width", l.HalfWidth(3, .05), .948646, 5e-7)
	if a, b := l.BestSamples(50), l.BestSamples(5); a != 3 || b != 1 {
		t.Errorf("best samples %d and %d, want 3 and 1", a, b)
	}
	lower, upper, ok := Fieller(102.5, 1.9633144, 112.5, 1.9633144)
	if !ok {
		t.Fatal("the denominator is far from zero")
	}
	near(t, "ratio lower", lower, 1.0695154, 5e-8)
	near(t, "ratio upper", upper, 1.1264122, 5e-8)
	if _, _, ok := Fieller(1, 2, 1, 1); ok {
		t.Error("a denominator that may be zero has no ratio")
	}
}

func TestStudentQuantiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ p, nu, want float64 }{
		{.975, 1, 12.7062047}, {.975, 2, 4.302653}, {.975, 9, 2.262157}, {.8, 9, .883404}, {.995, 29, 2.756386}, {.5, 3, 0}, {.025, 9, -2.262157},
	} {
		near(t, fmt.Sprintf("t(%v, %v)", c.p, c.nu), studentQuantile(c.p, c.nu), c.want, 1e-6)
	}
}
