package history

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"writ/internal/result"
	"writ/internal/verdict"
)

// labelled is a series and where several people say that it changes.
type labelled struct {
	steps  []Step
	labels [][]int // by person
}

// label makes a series of the shape of public labelled ones, such as the Turing
// Change Point Dataset: some dozens to some hundreds of values, none to four
// changes of a few percent to a third, noise that is normal, skewed, of two modes
// or with stalls, and five people who place a change a little apart and sometimes
// do not see a small one.
func label(rng *rand.Rand) (l labelled) {
	cv := .005 + .02*rng.Float64()
	noise := []func() float64{
		func() float64 { return rng.NormFloat64() },
		func() float64 { return math.Exp(.6*rng.NormFloat64()) - 1.2 },
		func() float64 { return 2*float64(rng.IntN(2)) - 1 + .3*rng.NormFloat64() },
		func() float64 {
			if rng.IntN(40) == 0 {
				return 15
			}
			return rng.NormFloat64()
		},
	}[rng.IntN(4)]
	level := math.Exp(3 * rng.NormFloat64())
	l.labels = make([][]int, 5)
	for stretch := range rng.IntN(5) + 1 {
		shift := 1.0
		if stretch > 0 {
			shift = 1 + cv*(1.5+8*rng.Float64()*rng.Float64())
			if rng.IntN(2) == 0 {
				shift = 1 / shift
			}
			for i := range l.labels {
				if small := math.Abs(math.Log(shift)) < 2*cv; !small || rng.IntN(2) == 0 {
					l.labels[i] = append(l.labels[i], len(l.steps)+rng.IntN(3)-1)
				}
			}
		}
		level *= shift
		for range 20 + rng.IntN(50) {
			l.steps = append(l.steps, Step{Value: level * (1 + cv*noise())})
		}
	}
	return l
}

// score is how well found places agree with labels: F1 of the precision against what
// anybody labelled and the mean recall over people, both within a margin of five.
// The beginning of the series counts as a change that everybody sees.
func score(found []int, labels [][]int) float64 {
	const margin = 5
	near := func(places []int, at int) bool {
		return slices.ContainsFunc(places, func(x int) bool { return math.Abs(float64(x-at)) <= margin })
	}
	found = append([]int{0}, found...)
	all, recall := []int{0}, 0.0
	for _, l := range labels {
		own, hit := append([]int{0}, l...), 0
		for _, at := range own {
			if near(found, at) {
				hit++
			}
		}
		recall += float64(hit) / float64(len(own)) / float64(len(labels))
		all = append(all, own...)
	}
	right := 0
	for _, at := range found {
		if near(all, at) {
			right++
		}
	}
	precision := float64(right) / float64(len(found))
	return 2 * precision * recall / (precision + recall)
}

func TestChangesAgreeWithLabels(t *testing.T) {
	t.Parallel()
	const count = 20
	rng := rand.New(rand.NewPCG(11, 12))
	sum, none, quiet := 0.0, 0.0, 0
	for i := range count {
		l := label(rng)
		changes, err := Changes(l.steps, result.LowerIsBetter, verdict.ChangeParams{Permutations: 199, Seed: uint64(i)})
		if err != nil {
			t.Fatal(err)
		}
		var found []int
		for _, c := range changes {
			found = append(found, c.First)
		}
		if len(found) == 0 {
			quiet++
		}
		sum += score(found, l.labels)
		none += score(nil, l.labels)
	}
	t.Logf("mean F1 %.3f over %d series; finding nothing has %.3f; %d series left whole", sum/count, count, none/count, quiet)
	if sum/count < .85 || sum/count < none/count+.1 {
		t.Errorf("mean F1 is %.3f, and finding nothing has %.3f", sum/count, none/count)
	}
}

func TestScore(t *testing.T) {
	t.Parallel()
	labels := [][]int{{50}, {52, 100}}
	for _, c := range []struct {
		found []int
		want  float64
	}{
		{nil, 2 * (5.0 / 12) / (1 + 5.0/12)},
		{[]int{51, 99}, 1},
		{[]int{51}, 2 * (5.0 / 6) / (1 + 5.0/6)},
		{[]int{51, 70, 99}, 2 * .75 / 1.75},
	} {
		if got := score(c.found, labels); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v: %v, want %v", c.found, got, c.want)
		}
	}
}
