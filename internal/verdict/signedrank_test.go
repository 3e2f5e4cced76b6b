package verdict

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// The order statistics of the exact interval and the levels they attain, for 6
// to 30 rounds.
func TestCriticalOrderTable(t *testing.T) {
	t.Parallel()
	want05 := []int{1, 3, 4, 6, 9, 11, 14, 18, 22, 26, 30, 35, 41, 47, 53, 59, 66, 74, 82, 90, 99, 108, 117, 127, 138}
	want01 := []int{0, 0, 1, 2, 4, 6, 8, 10, 13, 16, 20, 24, 28, 33, 38, 43, 49, 55, 62, 69, 76, 84, 92, 101, 110}
	want001 := []int{0, 0, 0, 0, 0, 1, 2, 3, 5, 7, 9, 12, 15, 19, 22, 26, 31, 36, 41, 46, 52, 58, 65, 72, 79}
	levels := []float64{.9688, .9531, .9609, .9609, .9512, .9580, .9575, .9521, .9506, .9521, .9557, .9552, .9517, .9506,
		.9516, .9540, .9538, .9516, .9509, .9517, .9507, .9509, .9523, .9520, .9503}
	var got05, got01, got001 []int
	var got []float64
	for n := 6; n <= 30; n++ {
		k, level := CriticalOrder(n, .05)
		got05, got = append(got05, k), append(got, level)
		k, _ = CriticalOrder(n, .01)
		got01 = append(got01, k)
		k, _ = CriticalOrder(n, .001)
		got001 = append(got001, k)
	}
	if d := cmp.Diff(want05, got05); d != "" {
		t.Errorf("alpha .05 (-want +got):\n%s", d)
	}
	if d := cmp.Diff(want01, got01); d != "" {
		t.Errorf("alpha .01 (-want +got):\n%s", d)
	}
	if d := cmp.Diff(want001, got001); d != "" {
		t.Errorf("alpha .001 (-want +got):\n%s", d)
	}
	if d := cmp.Diff(levels, got, cmpopts.EquateApprox(0, .00005001)); d != "" {
		t.Errorf("attained levels (-want +got):\n%s", d)
	}
}

var g1 = []float64{.012, .008, .015, -.002, .011, .009, .020, .004, .013, .007}

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got-want) <= within) {
		t.Errorf("%s = %v, want %v within %g", what, got, want, within)
	}
}

func TestGoldenTenRounds(t *testing.T) {
	t.Parallel()
	near(t, "centre", HodgesLehmann(g1), .010, 1e-15)
	ci := SignedRankInterval(g1, .05)
	if ci.Order != 9 || ci.Level != .951171875 {
		t.Errorf("95 %% interval: order %d level %v, want 9 and .951171875", ci.Order, ci.Level)
	}
	near(t, "lower", ci.Lower, .0055, 1e-15)
	near(t, "upper", ci.Upper, .014, 1e-15)
	ci = SignedRankInterval(g1, .1)
	if ci.Order != 11 || ci.Level != .916015625 {
		t.Errorf("90 %% interval: order %d level %v, want 11 and .916015625", ci.Order, ci.Level)
	}
	near(t, "lower 90", ci.Lower, .006, 1e-15)
	near(t, "upper 90", ci.Upper, .0135, 1e-15)
	if got := PTwoSided(g1, 0); got != .00390625 {
		t.Errorf("two-sided p = %v, want .00390625", got)
	}
	for _, c := range []struct{ delta, p float64 }{{.0048, 19. / 1024}, {.0031, 7. / 1024}, {.0096, .5}} {
		if got := PGreater(g1, c.delta); got != c.p {
			t.Errorf("p above %v = %v, want %v", c.delta, got, c.p)
		}
	}
	near(t, "sd", sampleSD(g1), .00607454, 5e-9)
	near(t, "mean", mean(g1), .0097, 1e-15)
	near(t, "ratio", exp(HodgesLehmann(g1)), 1.01005, 1e-6)
	half := studentQuantile(.975, 9) * sampleSD(g1) / math.Sqrt(10)
	near(t, "t", studentQuantile(.975, 9), 2.262157, 5e-7)
	near(t, "t interval", mean(g1)-half, .00535454, 5e-9)
}

// enumerate returns the one-sided p-values by trying all sign patterns.
func enumerate(d []float64, delta float64) (greater, less float64) {
	e := make([]float64, len(d))
	size := make([]float64, len(d))
	for i, x := range d {
		e[i] = x - delta
		size[i] = math.Abs(e[i])
	}
	ranks := midRanks(size)
	var below, above float64
	for i, r := range ranks {
		if e[i] < 0 {
			below += r
		} else if e[i] > 0 {
			above += r
		}
	}
	all := 1 << len(d)
	for pattern := range all {
		sum := 0.0
		for i, r := range ranks {
			if pattern>>i&1 == 1 && e[i] != 0 {
				sum += r
			}
		}
		if sum <= below {
			greater++
		}
		if sum <= above {
			less++
		}
	}
	return greater / float64(all), less / float64(all)
}

func TestShiftedTestEqualsEnumeration(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 1; n <= 12; n++ {
		for trial := range 12 {
			d := make([]float64, n)
			for i := range d {
				switch trial % 3 {
				case 0:
					d[i] = rng.NormFloat64()
				case 1:
					d[i] = float64(rng.IntN(5) - 2) // many ties, some zeros
				default:
					d[i] = float64(rng.IntN(2)) // ties and zeros only
				}
			}
			delta := []float64{0, .5, 1}[trial%3]
			greater, less := enumerate(d, delta)
			if got := PGreater(d, delta); got != greater {
				t.Errorf("n=%d d=%v delta=%v: p above = %v, want %v", n, d, delta, got, greater)
			}
			if got := PLess(d, delta); got != less {
				t.Errorf("n=%d d=%v delta=%v: p below = %v, want %v", n, d, delta, got, less)
			}
		}
	}
}

func TestAllValuesAtTheShift(t *testing.T) {
	t.Parallel()
	d := []float64{1, 1, 1}
	if PGreater(d, 1) != 1 || PLess(d, 1) != 1 || PTwoSided(d, 1) != 1 {
		t.Errorf("p = %v %v %v, want 1 everywhere", PGreater(d, 1), PLess(d, 1), PTwoSided(d, 1))
	}
	if PGreater(nil, 0) != 1 {
		t.Errorf("p of nothing = %v, want 1", PGreater(nil, 0))
	}
}

func rounds(t *rapid.T, least int) []float64 {
	return rapid.SliceOfN(rapid.Float64Range(-1, 1), least, 25).Draw(t, "d")
}

func TestSwappingSidesNegates(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := rounds(t, 1)
		swapped := make([]float64, len(d))
		for i, x := range d {
			swapped[i] = -x
		}
		if a, b := HodgesLehmann(d), HodgesLehmann(swapped); a != -b {
			t.Fatalf("centre %v becomes %v", a, b)
		}
		a, b := SignedRankInterval(d, .05), SignedRankInterval(swapped, .05)
		if a.Lower != -b.Upper || a.Upper != -b.Lower || a.Level != b.Level {
			t.Fatalf("interval %v becomes %v", a, b)
		}
		if PGreater(d, .1) != PLess(swapped, -.1) {
			t.Fatalf("p %v becomes %v", PGreater(d, .1), PLess(swapped, -.1))
		}
	})
}

func TestScalingOneSideShifts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := rounds(t, 6)
		c := rapid.Float64Range(.5, 2).Draw(t, "factor")
		shifted := make([]float64, len(d))
		for i, x := range d {
			shifted[i] = ln(c * exp(x))
		}
		a, b := SignedRankInterval(d, .05), SignedRankInterval(shifted, .05)
		for _, pair := range [][2]float64{{HodgesLehmann(d), HodgesLehmann(shifted)}, {a.Lower, b.Lower}, {a.Upper, b.Upper}} {
			if math.Abs(pair[0]+ln(c)-pair[1]) > 1e-12 {
				t.Fatalf("%v shifted by ln %v is %v", pair[0], c, pair[1])
			}
		}
	})
}

func TestOrderOfRoundsIsIrrelevant(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := rounds(t, 1)
		p := rapid.Permutation(d).Draw(t, "permuted")
		if HodgesLehmann(d) != HodgesLehmann(p) || SignedRankInterval(d, .05) != SignedRankInterval(p, .05) ||
			PGreater(d, .01) != PGreater(p, .01) {
			t.Fatalf("%v and %v differ", d, p)
		}
	})
}

func TestIntervalContainsEstimate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := rounds(t, 1)
		alpha := rapid.SampledFrom([]float64{.001, .01, .05, .1, .5, .9}).Draw(t, "alpha")
		ci, centre := SignedRankInterval(d, alpha), HodgesLehmann(d)
		if ci.Lower > centre || centre > ci.Upper {
			t.Fatalf("%v lies outside %v", centre, ci)
		}
		if ci.Level < 1-alpha {
			t.Fatalf("level %v is below %v", ci.Level, 1-alpha)
		}
	})
}

// A shift lies below the interval exactly when the one-sided test rejects it at
// half the level.
func TestIntervalAndTestAreDual(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(6, 16).Draw(t, "n")
		seed := rapid.Uint64().Draw(t, "seed")
		rng := rand.New(rand.NewPCG(seed, 1))
		d := make([]float64, n)
		for i := range d {
			d[i] = rng.NormFloat64()
		}
		delta := rng.NormFloat64()
		ci := SignedRankInterval(d, .05)
		if got, want := PGreater(d, delta) <= .025, delta < ci.Lower; got != want {
			t.Fatalf("rejects below: %v, outside: %v (delta %v, interval %v)", got, want, delta, ci)
		}
		if got, want := PLess(d, delta) <= .025, delta > ci.Upper; got != want {
			t.Fatalf("rejects above: %v, outside: %v (delta %v, interval %v)", got, want, delta, ci)
		}
	})
}

func TestTooFewRoundsGiveAnInfiniteInterval(t *testing.T) {
	t.Parallel()
	for n := range 6 {
		ci := SignedRankInterval(slices.Repeat([]float64{1}, n), .05)
		if ci.Finite() || !math.IsInf(ci.Lower, -1) || !math.IsInf(ci.Upper, 1) {
			t.Errorf("%d rounds: %v, want an infinite interval", n, ci)
		}
	}
}

func TestLargeNumbersOfRounds(t *testing.T) {
	t.Parallel()
	for _, n := range []int{53, 64, 200} {
		k, level := CriticalOrder(n, .05)
		// The normal approximation of the distribution is close here.
		mean := float64(n) * float64(n+1) / 4
		sd := math.Sqrt(float64(n) * float64(n+1) * float64(2*n+1) / 24)
		if want := mean - 1.96*sd; math.Abs(float64(k)-want) > 2 {
			t.Errorf("n=%d: order %d, want about %.1f", n, k, want)
		}
		if level < .95 || level > .9525 {
			t.Errorf("n=%d: level %v", n, level)
		}
	}
}

func ExampleCriticalOrder() {
	k, level := CriticalOrder(10, 0.05)
	fmt.Println(k, level)
	// Output: 9 0.951171875
}
