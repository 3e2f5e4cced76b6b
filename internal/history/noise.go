package history

import (
	"cmp"
	"math"
	"slices"

	"writ/internal/result"
	"writ/internal/verdict"
)

// Noise is how much the difference of both sides varies from round to round, as
// earlier comparisons show it.
type Noise struct {
	SD     float64 // of the differences per round: of logarithms, or plain where zero is legal
	Rounds int     // that it rests on
	Runs   int
}

// leastRounds is how many rounds beyond one per run an estimate needs.
const leastRounds = 5

// NoiseOf estimates the noise of a series from its points: for every run in which
// two sides were measured round by round, the differences of the rounds less their
// median, over all runs together, robustly. What the sides differ by drops out, so
// every comparison counts, not only those of equal code. except names run keys that
// do not count: what is judged is no history of itself. ok is false when there are
// too few rounds.
func NoiseOf(points []Point, quantity string, except ...string) (n Noise, ok bool) {
	info, _ := result.Known(quantity)
	byRun := map[string][]Point{}
	for _, p := range points {
		if p.Round != nil && p.RunKey != "" && !slices.Contains(except, p.RunKey) {
			byRun[p.RunKey] = append(byRun[p.RunKey], p)
		}
	}
	var off []float64
	for _, run := range byRun {
		d := differences(run, !info.ZeroLegal)
		if len(d) < 2 {
			continue
		}
		centre := median(d)
		for _, x := range d {
			off = append(off, x-centre)
		}
		n.Runs++
	}
	n.Rounds = len(off)
	free := n.Rounds - n.Runs // one centre was estimated for each run
	if free < leastRounds {
		return n, false
	}
	slices.Sort(off) // sums must not depend on the order of runs
	n.SD = verdict.RobustSD(off) * math.Sqrt(float64(n.Rounds)/float64(free))
	return n, true
}

// differences are those of the two sides of a run, by round; none when there are
// not exactly two.
func differences(run []Point, ratio bool) []float64 {
	type side struct{ tree, label string }
	var sides []side
	for _, p := range run {
		if s := (side{p.Tree, p.Side}); !slices.Contains(sides, s) {
			sides = append(sides, s)
		}
	}
	if len(sides) != 2 {
		return nil
	}
	slices.SortFunc(sides, func(a, b side) int { return cmp.Or(cmp.Compare(a.tree, b.tree), cmp.Compare(a.label, b.label)) })
	byRound := map[int][2][]float64{}
	for _, p := range run {
		at := slices.Index(sides, side{p.Tree, p.Side})
		v := p.Value
		if ratio {
			if v <= 0 {
				continue
			}
			v = math.Log(v)
		}
		r := byRound[*p.Round]
		r[at] = append(r[at], v)
		byRound[*p.Round] = r
	}
	var out []float64
	for _, r := range byRound {
		if len(r[0]) == 1 && len(r[1]) == 1 {
			out = append(out, r[1][0]-r[0][0])
		}
	}
	return out
}
