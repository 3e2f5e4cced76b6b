package history

import (
	"math"
	"slices"
	"time"

	"writ/internal/result"
	"writ/internal/verdict"
)

// Step is what one comparison or run says about one state of the code: the median
// of its points. Rounds of one run share the mood of the machine, so they are one
// step and not many.
type Step struct {
	Revision string
	Tree     string
	Dirty    string
	RunKey   string
	Started  time.Time // of its first point
	Value    float64
	Points   int
}

// Steps sums up points, in the order of the first point of each.
func Steps(points []Point) []Step {
	type state struct{ revision, tree, dirty, run string }
	at := map[state]int{}
	var out []Step
	var values [][]float64
	for _, p := range points {
		s := state{p.Revision, p.Tree, p.Dirty, p.RunKey}
		i, ok := at[s]
		if !ok {
			i = len(out)
			at[s] = i
			out = append(out, Step{Revision: p.Revision, Tree: p.Tree, Dirty: p.Dirty, RunKey: p.RunKey, Started: p.Started})
			values = append(values, nil)
		}
		if p.Started.Before(out[i].Started) {
			out[i].Started = p.Started
		}
		values[i] = append(values[i], p.Value)
	}
	for i, v := range values {
		out[i].Value, out[i].Points = median(v), len(v)
	}
	return out
}

// Words of a change.
const (
	Worse   = "worse"
	Better  = "better"
	Changed = "changed" // neither direction is better
)

// Change is a place where a series starts to be another one. The cause lies after
// the last commit before it, up to and with the first commit after it.
type Change struct {
	Last, First   int     // indices of the last step before and the first step after
	Before, After float64 // medians of the stretches around it, in the unit
	Word          string
	P             float64 // of the permutation test
	Energy        float64
}

// Ratio is after over before; NaN when they are not both positive.
func (c Change) Ratio() float64 {
	if c.Before > 0 && c.After > 0 {
		return c.After / c.Before
	}
	return math.NaN()
}

// Changes finds where the values of steps change, see verdict.ChangePoints. Values
// that are all positive are compared as logarithms, so that the same change in
// percent counts the same at every size. direction is that of the quantity.
func Changes(steps []Step, direction string, p verdict.ChangeParams) ([]Change, error) {
	values := make([]float64, len(steps))
	positive := true
	for i, s := range steps {
		values[i] = s.Value
		positive = positive && s.Value > 0
	}
	plain := slices.Clone(values)
	if positive {
		for i, v := range values {
			values[i] = math.Log(v)
		}
	}
	found, err := verdict.ChangePoints(values, p)
	if err != nil {
		return nil, err
	}
	ends := []int{0}
	for _, f := range found {
		ends = append(ends, f.At)
	}
	ends = append(ends, len(steps))
	var out []Change
	for i, f := range found {
		c := Change{
			Last: f.At - 1, First: f.At, P: f.P, Energy: f.Energy,
			Before: median(plain[ends[i]:ends[i+1]]), After: median(plain[ends[i+1]:ends[i+2]]),
		}
		c.Word = word(c.Before, c.After, direction)
		out = append(out, c)
	}
	return out, nil
}

// word names a change by its medians. Stretches may differ in spread alone: then the
// medians say nothing, and so does the word.
func word(before, after float64, direction string) string {
	switch {
	case direction == "" || before == after:
		return Changed
	case (after > before) == (direction == result.LowerIsBetter):
		return Worse
	}
	return Better
}
