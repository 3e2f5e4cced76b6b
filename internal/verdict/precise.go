package verdict

import (
	"math"

	"writ/internal/result"
)

// LabelStopping is the label of orders whose rounds end by a rule that was settled
// before the first of them, and StopPrecise its value for the rule of Precise.
const (
	LabelStopping = "stopping"
	StopPrecise   = "precise"
)

// Precise reports whether every gating row is known as exactly as its threshold
// asks: its interval reaches at most half the threshold to either side of its
// middle, with as many rounds as the family needs. It depends on spreads alone, so
// that it stops a comparison as readily when nothing changed as when much did:
// exchanging the sides or slowing one of them by a factor does not change the
// answer. Evidence that breaks an invariant is never precise.
func Precise(p Params) (bool, error) {
	if err := p.complete(); err != nil {
		return false, err
	}
	s, failed, err := gather(p)
	if err != nil {
		return false, err
	}
	if len(failed) > 0 || len(s.invariants(p)) > 0 || p.Unpaired {
		return false, nil
	}
	j := judgement{params: p, set: s}
	var pairs []Pair
	for _, k := range s.keys() {
		pairs = append(pairs, s.units[k].pair)
	}
	need := RoundsFor(p.Policy, pairs)
	sc := &scale{tables: newTables(), alpha: p.Policy.Level()}
	for _, k := range s.keys() {
		if p.Policy.gates(k.quantity) && !j.narrow(sc, s.units[k], need) {
			return false, nil
		}
	}
	return true, nil
}

// narrow looks at one unit, which needs a number of rounds.
func (j *judgement) narrow(sc *scale, u *unit, need int) bool {
	p := j.params.Policy
	t := p.threshold(u.pair.Workload, u.pair.Quantity)
	info, _ := result.Known(u.pair.Quantity)
	measure := p.Measure(u.pair.Workload, u.pair.Quantity)
	base, cont, _ := j.pairUp(u, info.Centre, measure)
	if len(base) < need {
		return false
	}
	d := make([]float64, len(base))
	for i := range d {
		if d[i] = cont[i] - base[i]; measure == Ratio {
			d[i] = ln(cont[i]) - ln(base[i])
		}
	}
	tau := ln(1 + t.Relative)
	if measure == Difference {
		tau = max(t.Absolute, t.Relative*min(math.Abs(median(base)), math.Abs(median(cont))))
	}
	_, wide, _ := sc.intervals(d)
	return wide.Finite() && (wide.Upper-wide.Lower)/2 <= tau/2
}
