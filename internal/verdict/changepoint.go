package verdict

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"writ/internal/fault"
)

// ChangeParams say how changes of a series are looked for. Zero fields take the
// defaults.
type ChangeParams struct {
	Alpha        float64 // chance of any change in a series that has none; 0.01
	Permutations int     // of the test; 999. The smallest p-value is 1/(Permutations+1)
	Least        int     // values between two changes; 5
	Seed         uint64  // of the permutations
}

// MaxSeries bounds the length of a series: the search takes time that grows with
// its square.
const MaxSeries = 5000

// ChangePoint is a place where a series starts to be of another distribution.
type ChangePoint struct {
	At            int     // index of the first value after the change
	P             float64 // of the permutation test that found it
	Energy        float64 // scaled energy distance between what is before and after
	Before, After float64 // medians of the stretches on both sides, up to the next changes
}

// ChangePoints finds the places where a series changes: it splits it where the
// energy distance between both parts is largest, as long as a permutation test of
// the largest distance over all stretches says that chance does not do that, and
// goes on in the parts (divisive estimation, with the ends of stretches fixed). It
// makes no assumption about the shape of the noise but that values of one stretch
// may change places; a slow drift breaks that and comes out as steps. Places are
// ascending, and the same series and seed give the same places. fault.Usage for
// values that are not finite, for a series beyond MaxSeries and for parameters
// that cannot find anything.
func ChangePoints(series []float64, p ChangeParams) ([]ChangePoint, error) {
	p.Alpha, p.Permutations, p.Least = cmp.Or(p.Alpha, .01), cmp.Or(p.Permutations, 999), cmp.Or(p.Least, 5)
	usage := func(format string, args ...any) error { return fault.New(fault.Usage, "find changes", format, args...) }
	switch {
	case len(series) > MaxSeries:
		return nil, usage("%d values, at most %d", len(series), MaxSeries)
	case slices.ContainsFunc(series, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }):
		return nil, usage("a value is not finite")
	case p.Least < 2:
		return nil, usage("a stretch has at least two values")
	case !(p.Alpha > 0 && p.Alpha < 1):
		return nil, usage("alpha must be between 0 and 1")
	case float64(p.Permutations+1)*p.Alpha < 1:
		return nil, usage("%d permutations cannot reach %v", p.Permutations, p.Alpha)
	}
	d := division{ChangeParams: p, series: series, shuffled: slices.Clone(series), ends: []int{0, len(series)}, rng: rand.New(rand.NewPCG(p.Seed, 0x77726974))}
	for d.divide() {
		continue
	}
	return d.found(), nil
}

// division is a series on its way to being divided.
type division struct {
	ChangeParams
	series   []float64
	shuffled []float64
	ends     []int // of stretches: 0, the changes so far, the length
	changes  []ChangePoint
	rng      *rand.Rand
}

// divide makes the next split and reports whether there was one.
func (d *division) divide() bool {
	at, energy := d.best(d.series)
	if at < 0 || energy <= 0 {
		return false
	}
	limit := int(d.Alpha*float64(d.Permutations+1)) - 1 // as many may be as large
	larger := 0
	copy(d.shuffled, d.series)
	for range d.Permutations {
		for i := range len(d.ends) - 1 {
			part := d.shuffled[d.ends[i]:d.ends[i+1]]
			d.rng.Shuffle(len(part), func(i, j int) { part[i], part[j] = part[j], part[i] })
		}
		if _, e := d.best(d.shuffled); e >= energy*(1-1e-12) { // sums in another order differ in last bits
			larger++
		}
		if larger > limit {
			return false
		}
	}
	d.changes = append(d.changes, ChangePoint{At: at, P: float64(larger+1) / float64(d.Permutations+1), Energy: energy})
	d.ends = append(d.ends, at)
	slices.Sort(d.ends)
	return true
}

// best returns the split with the largest energy over all stretches, -1 for none.
func (d *division) best(x []float64) (at int, energy float64) {
	at = -1
	for i := range len(d.ends) - 1 {
		from := d.ends[i]
		if k, e := split(x[from:d.ends[i+1]], d.Least); k >= 0 && (at < 0 || e > energy) {
			at, energy = from+k, e
		}
	}
	return at, energy
}

// split returns the place in x where the scaled energy distance between both
// parts is largest: n m/(n+m) times twice the mean distance between the parts
// less the mean distances inside them. -1 when x is too short.
func split(x []float64, least int) (at int, energy float64) {
	at = -1
	if len(x) < 2*least {
		return at, 0
	}
	var inLeft, inRight, across float64 // sums of distances over pairs
	for i, a := range x {
		for _, b := range x[:i] {
			inRight += math.Abs(a - b)
		}
	}
	for k, a := range x[:len(x)-least] { // a moves from the right part to the left one
		var left, right float64
		for _, b := range x[:k] {
			left += math.Abs(a - b)
		}
		for _, b := range x[k+1:] {
			right += math.Abs(a - b)
		}
		inLeft, inRight, across = inLeft+left, inRight-right, across+right-left
		n, m := float64(k+1), float64(len(x)-k-1)
		if k+1 < least {
			continue
		}
		e := n * m / (n + m) * (2*across/(n*m) - 2*inLeft/(n*(n-1)) - 2*inRight/(m*(m-1)))
		if at < 0 || e > energy {
			at, energy = k+1, e
		}
	}
	return at, energy
}

// found returns the changes in order, with what the series was like around them.
func (d *division) found() []ChangePoint {
	slices.SortFunc(d.changes, func(a, b ChangePoint) int { return cmp.Compare(a.At, b.At) })
	for i := range d.changes {
		d.changes[i].Before = median(d.series[d.ends[i]:d.ends[i+1]])
		d.changes[i].After = median(d.series[d.ends[i+1]:d.ends[i+2]])
	}
	return d.changes
}
