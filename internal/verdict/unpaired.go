package verdict

import (
	"cmp"
	"math"
	"slices"

	"writ/internal/result"
)

// The method for results that were not measured in rounds. It sees the same
// thresholds, words and family as the paired one, and every row says that what it
// found may be the order of the runs.
const (
	TwoSampleName    = "writ/two-sample"
	TwoSampleVersion = "1"
)

// unpairedNote is the label of every row of the two-sample method.
var unpairedNote = Note{"unpaired", orderConfounded}

// InRounds reports whether results can be paired at all: of one run, and each of
// a round. Other ones may only be compared as two samples; nothing else, such as
// their order, makes pairs of them.
func InRounds(results []result.Result) bool {
	for i := range results {
		if results[i].Procedure.Round == nil || results[i].Provenance.RunKey != results[0].Provenance.RunKey {
			return false
		}
	}
	return true
}

// apart measures a pair whose sides have nothing in common but their case.
func (j *judgement) apart(sc *scale, row *Row, u *unit, centre result.Centre, t Threshold) (m measured) {
	var values [2][]float64
	for at, got := range u.got {
		failed := 0
		for _, r := range got {
			v, reason := attempt(r, centre, row.Measure)
			if reason == "" && row.Measure == Ratio && j.params.Profile == CrossMachine {
				v, reason = j.anchors.scale(r, v, row.Measure)
			}
			if reason != "" {
				failed++
				j.exclusions = append(j.exclusions, exclusion{r.Ref(), reason})
				continue
			}
			values[at] = append(values[at], v)
		}
		row.Dropped = max(row.Dropped, failed)
		if j.params.Policy.Dropped.exceeds(failed, len(got)) {
			m.invalid = reasonDropped
		}
	}
	base, cont := values[baseline], values[contender]
	row.N = min(len(base), len(cont))
	if m.invalid != "" || row.N == 0 {
		m.invalid = cmp.Or(m.invalid, reasonDropped)
		return m
	}
	m = sc.measureApart(base, cont, row.Measure, row.Direction, t)
	m.samples = values
	m.need = needApart(1, sc.alpha)
	if row.Gating {
		m.need = needApart(j.family, sc.alpha)
	}
	row.apartDoubts(base, cont)
	for _, code := range u.tokens() {
		row.note(code, "")
	}
	return m
}

// apartDoubts notes what a reader of two samples should know.
func (r *Row) apartDoubts(base, cont []float64) {
	r.Warnings = append(r.Warnings, unpairedNote,
		Note{orderConfounded, "the sides were not measured in rounds: anything else that changed between them looks like a change"})
	if len(base) != len(cont) {
		r.note("unequal", "%d against %d processes", len(base), len(cont))
	}
	if r.Dropped > 0 {
		r.note(reasonDropped, "%d processes of a side gave no value", r.Dropped)
	}
	if wild := max(wildShare(base), wildShare(cont)); wild > 0.2 {
		r.note("outliers", "%s %% of a side's processes are far from the others", short(100*wild))
	}
}

// measureApart judges two samples as measure judges rounds: intervals by
// inverting the Mann-Whitney test, and that test beyond the threshold.
func (s *scale) measureApart(base, cont []float64, kind, direction string, t Threshold) measured {
	s.left, s.right = append(s.left[:0], base...), append(s.right[:0], cont...)
	a, b := s.left, s.right
	if kind == Ratio {
		for i := range a {
			a[i] = ln(a[i])
		}
		for i := range b {
			b[i] = ln(b[i])
		}
	}
	m := measured{
		baseline: median(base), contender: median(cont),
		sd: math.Hypot(sampleSD(a), sampleSD(b)), robust: math.Hypot(robustSD(a), robustSD(b)),
	}
	m.n, m.alpha, m.floor, m.directed = min(len(a), len(b)), s.alpha, t.Absolute, direction != ""
	m.shift = m.contender - m.baseline
	m.tau = ln(1 + t.Relative)
	if kind == Difference {
		m.tau = max(t.Absolute, t.Relative*math.Abs(m.baseline))
	}
	if kind == Ratio && s.mayBeBelow(base, cont, t.Absolute) {
		_, _, m.absolute = s.intervalsApart(base, cont)
	}
	centre, wide, narrow := s.intervalsApart(a, b)
	m.effect, m.shown = centre, wide
	if kind == Ratio {
		m.effect, m.shown.Lower, m.shown.Upper = exp(centre), exp(wide.Lower), exp(wide.Upper)
	}
	m.wide, m.narrow = wide, narrow
	if direction == higherIsBetter {
		m.wide, m.narrow, m.absolute, m.shift = wide.flip(), narrow.flip(), m.absolute.flip(), -m.shift
		for _, x := range [][]float64{a, b} {
			for i := range x {
				x[i] = -x[i]
			}
		}
	}
	slices.Sort(a)
	slices.Sort(b)
	m.pSlower, m.pFaster = s.apart(a, b, m.tau).greater, s.apart(a, b, -m.tau).less
	m.slower, m.faster = m.pSlower, m.pFaster
	return m
}

// intervalsApart returns the median of all differences b-a and both intervals.
func (s *scale) intervalsApart(a, b []float64) (centre float64, wide, narrow Interval) {
	s.walsh = differences(s.walsh, a, b)
	read := func(alpha float64) Interval {
		k, level := s.orderApart(len(a), len(b), alpha)
		if k == 0 {
			return infinite()
		}
		return Interval{Lower: s.walsh[k-1], Upper: s.walsh[len(s.walsh)-k], Level: level, Order: k}
	}
	return middle(s.walsh), read(s.alpha), read(2 * s.alpha)
}

// mayBeBelow reports whether the interval of the absolute changes can be within a
// floor: enough of the differences have to be. It saves sorting them where not.
func (s *scale) mayBeBelow(a, b []float64, floor float64) bool {
	if floor <= 0 {
		return false
	}
	k, _ := s.orderApart(len(a), len(b), 2*s.alpha)
	inside := 0
	for _, y := range b {
		for _, x := range a {
			if math.Abs(y-x) < floor {
				inside++
			}
		}
	}
	return k > 0 && inside >= len(a)*len(b)-2*(k-1)
}

// needApart returns the processes a side with which one of m gated pairs can be
// called slower at level alpha: one arrangement of two equal samples in
// (2n choose n), and at least the smallest size with a finite interval. 0 when m
// is 0.
func needApart(m int, alpha float64) int {
	if m == 0 {
		return 0
	}
	n := 1
	for arrangements := 2.0; arrangements < math.Max(2, float64(m))/alpha; n++ {
		arrangements *= float64(2*(2*n+1)) / float64(n+1)
	}
	return n
}
