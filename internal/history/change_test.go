package history

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"writ/internal/fault"
	"writ/internal/result"
	"writ/internal/verdict"
)

// walk makes steps whose values are level times noise of one percent.
func walk(seed uint64, levels ...float64) []Step {
	rng := rand.New(rand.NewPCG(seed, 1))
	out := make([]Step, len(levels))
	for i, l := range levels {
		out[i] = Step{Revision: strconv.Itoa(i), Value: l * math.Exp(.01*rng.NormFloat64()), Points: 1, Started: time.Unix(int64(i), 0)}
	}
	return out
}

// stretch is long enough that a rise which goes back again is told from chance.
const stretch = 20

func levels(parts ...float64) (out []float64) {
	for _, l := range parts {
		for range stretch {
			out = append(out, l)
		}
	}
	return out
}

// TestChangesOfASeries looks for planted changes, at three sizes of the unit.
func TestChangesOfASeries(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		levels    []float64
		direction string
		words     []string
	}{
		"none":             {levels(1, 1, 1), result.LowerIsBetter, nil},
		"slower":           {levels(1, 1.08), result.LowerIsBetter, []string{Worse}},
		"less throughput":  {levels(1.08, 1), result.HigherIsBetter, []string{Worse}},
		"there and back":   {levels(1, 1.1, 1), result.LowerIsBetter, []string{Worse, Better}},
		"no direction":     {levels(1, 2), "", []string{Changed}},
		"from and to less": {levels(-1, -2), result.LowerIsBetter, []string{Better}},
	} {
		for _, scale := range []float64{1e-9, 1e12} {
			steps := walk(7, c.levels...)
			for i := range steps {
				steps[i].Value *= scale
			}
			got, err := Changes(steps, c.direction, verdict.ChangeParams{Permutations: 199})
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != len(c.words) {
				t.Errorf("%s: %+v", name, got)
				continue
			}
			for i, g := range got {
				if want := stretch * (i + 1); g.Word != c.words[i] || g.First != want || g.Last != want-1 || g.P > .01 {
					t.Errorf("%s at %g: %+v", name, scale, g)
				}
				if ratio := c.levels[g.First] / c.levels[g.Last]; c.levels[0] > 0 && math.Abs(g.Ratio()/ratio-1) > .02 {
					t.Errorf("%s at %g: ratio %v, want %v", name, scale, g.Ratio(), ratio)
				}
			}
		}
	}
	if _, err := Changes(walk(1, 1, 2), "", verdict.ChangeParams{Least: 1}); fault.CodeOf(err) != fault.Usage {
		t.Errorf("stretches of one: %v", err)
	}
	if r := (Change{Before: 0, After: 1}).Ratio(); !math.IsNaN(r) {
		t.Errorf("from zero: %v", r)
	}
}

// TestChangesDoNotDependOnTheUnit: a series in other units changes at the same
// places.
func TestChangesDoNotDependOnTheUnit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		steps := walk(rapid.Uint64().Draw(t, "seed"), levels(1, rapid.Float64Range(1, 1.1).Draw(t, "level"))...)
		power := rapid.IntRange(-40, 40).Draw(t, "power")
		scaled := make([]Step, len(steps))
		for i, s := range steps {
			s.Value = math.Ldexp(s.Value, power)
			scaled[i] = s
		}
		p := verdict.ChangeParams{Permutations: 39, Alpha: .05}
		a, err := Changes(steps, result.LowerIsBetter, p)
		b, err2 := Changes(scaled, result.LowerIsBetter, p)
		if err != nil || err2 != nil || len(a) != len(b) {
			t.Fatalf("%v and %v: %d and %d changes", err, err2, len(a), len(b))
		}
		for i := range a {
			if a[i].First != b[i].First || a[i].Word != b[i].Word {
				t.Fatalf("%+v and %+v", a[i], b[i])
			}
		}
	})
}

// rounds are the points of a comparison of n rounds, with a given noise of the
// differences and effect of the contender.
func rounds(rng *rand.Rand, run string, n int, sigma, effect float64) (out []Point) {
	for i := range n {
		mood := math.Exp(.3 * rng.NormFloat64()) // of the machine, the same for both sides
		for side, tree := range []string{"base", "head"} {
			round := i
			v := mood * math.Exp(sigma/math.Sqrt2*rng.NormFloat64())
			if side == 1 {
				v *= effect
			}
			out = append(out, Point{Value: v, RunKey: run, Tree: tree, Round: &round})
		}
	}
	return out
}

// TestNoiseIsFoundAgain: neither effects nor moods of the machine count as noise.
func TestNoiseIsFoundAgain(t *testing.T) {
	t.Parallel()
	const sigma = .02
	rng := rand.New(rand.NewPCG(3, 4))
	var points []Point
	for i, effect := range []float64{1, 1.5, .8, 1, 1.02, 3} {
		points = append(points, rounds(rng, string(rune('a'+i)), 20, sigma, effect)...)
	}
	n, ok := NoiseOf(points, "wall-time")
	if !ok || n.Rounds != 120 || n.Runs != 6 || n.SD < .8*sigma || n.SD > 1.2*sigma {
		t.Errorf("%+v, %v", n, ok)
	}
	without, ok := NoiseOf(points, "wall-time", "a", "b")
	if !ok || without.Runs != 4 || without.Rounds != 80 {
		t.Errorf("without two runs: %+v, %v", without, ok)
	}
	for name, some := range map[string][]Point{
		"nothing":          nil,
		"one side":         points[:1],
		"too few":          rounds(rng, "z", 5, sigma, 1),
		"three sides":      append(rounds(rng, "z", 20, sigma, 1), Point{Value: 1, RunKey: "z", Tree: "third", Round: new(int)}),
		"no rounds":        {{Value: 1, RunKey: "z", Tree: "a"}, {Value: 2, RunKey: "z", Tree: "b"}},
		"no run":           rounds(rng, "", 20, sigma, 1),
		"nothing positive": withValues(rounds(rng, "z", 20, sigma, 1), -1),
	} {
		if n, ok := NoiseOf(some, "wall-time"); ok {
			t.Errorf("%s: %+v", name, n)
		}
	}
	counts := withValues(rounds(rng, "z", 20, sigma, 1), 0)
	if n, ok := NoiseOf(counts, "allocations"); !ok || n.SD != 0 || n.Rounds != 20 {
		t.Errorf("counts that are zero: %+v, %v", n, ok)
	}
}

func withValues(points []Point, v float64) []Point {
	for i := range points {
		points[i].Value = v
	}
	return points
}

// TestNoiseDependsOnThePointsAlone: not on their order, nor on the unit, nor on
// which side is which.
func TestNoiseDependsOnThePointsAlone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 5))
		points := append(rounds(rng, "a", 8, .05, 1.1), rounds(rng, "b", 6, .05, .9)...)
		want, ok := NoiseOf(points, "wall-time")
		shuffled := rapid.Permutation(points).Draw(t, "arrived")
		got, ok2 := NoiseOf(shuffled, "wall-time")
		if !ok || !ok2 || got != want {
			t.Fatalf("%+v and %+v", want, got)
		}
		other := make([]Point, len(points))
		for i, p := range points {
			p.Value *= 1000
			p.Tree = map[string]string{"base": "head", "head": "base"}[p.Tree]
			other[i] = p
		}
		if got, _ := NoiseOf(other, "wall-time"); math.Abs(got.SD/want.SD-1) > 1e-9 {
			t.Fatalf("%+v and %+v", want, got)
		}
	})
}
