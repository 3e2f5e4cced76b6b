package verdict

import (
	"fmt"
	"math"
)

// adjust corrects the p-values of the gating rows for their number, in both
// directions, and gives rows that only report a rate of false discoveries.
func adjust(all []measured, gates func(i int) bool, family int) {
	var gating, report []int
	for i := range all {
		switch m := &all[i]; {
		case m.invalid != "" || m.identical || m.n == 0:
		case gates(i):
			gating = append(gating, i)
		default:
			report = append(report, i)
		}
	}
	slower, faster := make([]float64, len(gating)), make([]float64, len(gating))
	for k, i := range gating {
		slower[k], faster[k] = all[i].pSlower, all[i].pFaster
	}
	slower, faster = holm(slower, family), holm(faster, family)
	for k, i := range gating {
		all[i].slower, all[i].faster = slower[k], faster[k]
	}
	q := make([]float64, len(report))
	for k, i := range report {
		q[k] = all[i].pSlower
	}
	for k, v := range BenjaminiHochberg(q) {
		all[report[k]].q = v
	}
}

// finisher writes into rows what was measured and decided. It remembers
// quantiles, and is not safe for concurrent use.
type finisher struct {
	policy    GatePolicy
	family    int
	sigma     func(Pair) (float64, bool)
	quantiles map[quantile]float64
}

type quantile struct {
	n     int
	alpha float64
}

func newFinisher(p GatePolicy, family int, sigma func(Pair) (float64, bool)) *finisher {
	return &finisher{p, family, sigma, map[quantile]float64{}}
}

// finish writes what was measured and decided into the row.
func (f *finisher) finish(row *Row, m *measured) {
	row.Verdict, row.Reason, row.Hint = m.word()
	if row.Verdict == Underpowered {
		row.Need = m.need
	}
	if m.invalid != "" || m.n == 0 {
		return
	}
	row.Effect, row.Baseline, row.Contender = number(m.effect), number(m.baseline), number(m.contender)
	row.SD = number(digits(m.sd, 6))
	if m.shown.Finite() && !math.IsInf(m.shown.Lower, 0) && !math.IsInf(m.shown.Upper, 0) { // a ratio may be beyond all numbers
		row.Interval = []float64{digits(m.shown.Lower, 12), digits(m.shown.Upper, 12)}
		row.Level = number(m.shown.Level)
	}
	f.power(row, m)
	if m.identical {
		return
	}
	row.PSlower, row.PFaster = number(m.pSlower), number(m.pFaster)
	if row.Gating {
		row.PHolm, row.PFasterHolm = number(m.slower), number(m.faster)
	} else {
		row.QSlower = number(m.q)
	}
}

// lowPower is the code of the note that a row could not have seen what matters.
const lowPower = "low-power"

// power says how small an effect these rounds could have seen.
func (f *finisher) power(row *Row, m *measured) {
	sigma, alpha := m.robust, f.policy.Level()
	if f.sigma != nil {
		if known, ok := f.sigma(Pair{row.Workload, row.Parameters, row.Quantity}); ok && known >= 0 {
			sigma, row.Sigma = known, &known
		}
	}
	if row.Gating {
		alpha = min(alpha, 2*alpha/float64(f.family))
	}
	smallest := minimumEffect(f.quantile(m.n, alpha), m.n, sigma)
	limit := m.tau
	if row.Measure == Ratio {
		smallest, limit = exp(smallest)-1, row.Threshold
	}
	if math.IsInf(smallest, 0) || math.IsNaN(smallest) {
		return
	}
	row.MDE = number(digits(smallest, 6))
	if smallest > limit {
		row.Warnings = append(row.Warnings, Note{lowPower, fmt.Sprintf("sees %s at best, the threshold is %s",
			row.change(smallest), row.change(limit))})
	}
}

func (f *finisher) quantile(n int, alpha float64) float64 {
	key := quantile{n, alpha}
	t, ok := f.quantiles[key]
	if !ok {
		t = effectQuantile(n, alpha, f.policy.Power)
		f.quantiles[key] = t
	}
	return t
}
