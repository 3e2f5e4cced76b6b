package verdict

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The simpler rules that this package does not use, on code that did not change.
// Each entry returns whether the rule calls one comparison a difference.
func TestSimplerRulesCallUnchangedCodeChanged(t *testing.T) {
	t.Parallel()
	const trials = 500
	for _, c := range []struct {
		name     string
		flags    func(*rand.Rand) bool
		low, top float64 // bounds of the share that is flagged
	}{
		{"samples of five processes pooled, three of each", func(r *rand.Rand) bool { return MannWhitney(pooled(r, 5, 3), pooled(r, 5, 3)).P <= .05 }, .12, .3},
		{"the same, one number per process", func(r *rand.Rand) bool { return MannWhitney(centres(r, 5, 3), centres(r, 5, 3)).P <= .05 }, 0, .06},
		{"samples of one process", func(r *rand.Rand) bool { return MannWhitney(pooled(r, 1, 10), pooled(r, 1, 10)).P <= .05 }, .7, 1},
		{"ten runs, then ten runs, on a drifting machine", func(r *rand.Rand) bool {
			trace := drifting(r, 20)
			return MannWhitney(trace[:10], trace[10:]).P <= .05
		}, .12, .6},
		{"the same machine in ten seeded rounds", func(r *rand.Rand) bool { return !holdsZero(SignedRankInterval(paired(r, drifting(r, 20)), .05)) }, 0, .065},
		{"medians more than 5 % apart, noise of 15 %", func(r *rand.Rand) bool {
			return math.Abs(median(noise(r, 10, .15))-median(noise(r, 10, .15))) > .05
		}, .3, .7},
		{"bootstrap interval of the mean, ten rounds", func(r *rand.Rand) bool { return !bootstrapHolds(r, stalled(r, 10)) }, .07, .4},
		{"the exact interval on the same rounds", func(r *rand.Rand) bool { return !holdsZero(SignedRankInterval(stalled(r, 10), .05)) }, 0, .065},
		{"five tries until one finds something", func(r *rand.Rand) bool {
			for range 5 {
				if !holdsZero(SignedRankInterval(noise(r, 10, 1), .05)) {
					return true
				}
			}
			return false
		}, .15, .27},
	} {
		rng := rand.New(rand.NewPCG(41, 1))
		flagged := 0
		for range trials {
			if c.flags(rng) {
				flagged++
			}
		}
		share := float64(flagged) / trials
		if share < c.low || share > c.top {
			t.Errorf("%s: %.1f %% flagged, want %.0f to %.0f", c.name, 100*share, 100*c.low, 100*c.top)
		}
		t.Logf("%4.1f %% flagged: %s", 100*share, c.name)
	}
}

func holdsZero(i Interval) bool { return i.Lower <= 0 && 0 <= i.Upper }

func noise(r *rand.Rand, n int, sd float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = sd * r.NormFloat64()
	}
	return out
}

// pooled returns the samples of processes that differ by 1 % among each other and
// by half a percent inside.
func pooled(r *rand.Rand, processes, samples int) []float64 {
	var out []float64
	for range processes {
		own := .01 * r.NormFloat64()
		for range samples {
			out = append(out, own+.005*r.NormFloat64())
		}
	}
	return out
}

func centres(r *rand.Rand, processes, samples int) []float64 {
	all := pooled(r, processes, samples)
	out := make([]float64, 0, processes)
	for i := range processes {
		out = append(out, median(all[i*samples:(i+1)*samples]))
	}
	return out
}

// drifting returns run times of one program on a machine whose speed wanders.
func drifting(r *rand.Rand, n int) []float64 {
	out := noise(r, n, 1)
	level := 1.2 * r.NormFloat64()
	for i := range out {
		level = .95*level + math.Sqrt(1-.95*.95)*1.2*r.NormFloat64()
		out[i] += level
	}
	return out
}

// paired gives neighbouring runs to the two sides in random order.
func paired(r *rand.Rand, trace []float64) []float64 {
	d := make([]float64, len(trace)/2)
	for i := range d {
		d[i] = trace[2*i+1] - trace[2*i]
		if r.IntN(2) == 0 {
			d[i] = -d[i]
		}
	}
	return d
}

// stalled returns differences of which one in ten is disturbed on one side.
func stalled(r *rand.Rand, n int) []float64 {
	d := noise(r, n, 1)
	for i := range d {
		if r.IntN(10) == 0 {
			d[i] += 20 * r.NormFloat64()
		}
	}
	return d
}

func bootstrapHolds(r *rand.Rand, d []float64) bool {
	means := make([]float64, 400)
	for i := range means {
		sum := 0.0
		for range d {
			sum += d[r.IntN(len(d))]
		}
		means[i] = sum / float64(len(d))
	}
	slices.Sort(means)
	return means[10] <= 0 && 0 <= means[389]
}
