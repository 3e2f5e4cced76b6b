package verdict

import (
	"math"
)

// evidence is what the verdict on one row rests on. Differences are oriented so
// that positive is worse; for a quantity without a direction positive is larger.
type evidence struct {
	identical bool   // the same bytes ran on both sides
	invalid   string // reason, or "" when the row may be judged

	n, need      int // complete rounds, and how many the family needs
	alpha        float64
	wide, narrow Interval // of the differences, at two-sided levels 1-alpha and 1-2 alpha

	tau      float64  // the threshold, in the unit of the differences
	shift    float64  // typical absolute change, in the quantity's unit
	floor    float64  // absolute changes up to here never matter
	absolute Interval // of the absolute changes, at 1-2 alpha; infinite unless differences are ratios and there is a floor

	slower, faster float64 // p-values beyond the threshold, adjusted for the family
	directed       bool
}

// Reasons of verdicts that need one.
const (
	reasonFew        = "too-few-rounds"
	reasonBelowFloor = "below-floor"    // certain, and too small to matter
	reasonFamily     = "multiplicity"   // clear alone, not among this many cases
	reasonUndirected = "no-direction"   // differs, and neither way is better
	reasonSize       = "size-unclear"   // differs, and may be on either side of the threshold
	reasonNoise      = "noise"          // the interval holds both no difference and one that matters
	reasonMissing    = "missing"        // a planned case has no result on a side
	reasonDropped    = "dropped-rounds" // too many rounds lack a side
)

// word applies the table of verdicts, row by row.
func (e evidence) word() (w Word, reason, hint string) {
	matters := math.Abs(e.shift) > e.floor
	above, below := e.wide.Lower > e.tau, e.wide.Upper < -e.tau
	switch {
	case e.identical:
		return Identical, "", ""
	case e.invalid != "":
		return Invalid, e.invalid, ""
	case !e.wide.Finite() || e.n < e.need:
		return Underpowered, reasonFew, ""
	case above && matters && e.directed && e.slower <= e.alpha:
		return Slower, "", ""
	case below && matters && e.directed && e.faster <= e.alpha:
		return Faster, "", ""
	case -e.tau < e.narrow.Lower && e.narrow.Upper < e.tau:
		return NoDifference, "", ""
	case e.absolute.Finite() && -e.floor < e.absolute.Lower && e.absolute.Upper < e.floor:
		return NoDifference, reasonBelowFloor, ""
	}
	if e.directed && e.wide.Lower > 0 {
		hint = string(Slower)
	} else if e.directed && e.wide.Upper < 0 {
		hint = string(Faster)
	}
	switch {
	case (above || below) && !matters:
		reason = reasonBelowFloor
	case (above || below) && !e.directed:
		reason = reasonUndirected
	case above || below:
		reason = reasonFamily
	case e.wide.Lower > 0 || e.wide.Upper < 0:
		reason = reasonSize
	default:
		reason = reasonNoise
	}
	return Inconclusive, reason, hint
}

// scale computes evidence from rounds. It belongs to one judgement and reuses
// its buffers.
type scale struct {
	*tables
	walsh                   []float64
	alpha                   float64
	change, ratios, towards []float64 // of the rounds that are looked at
	left, right             []float64 // the samples that are looked at
}

// intervals returns the estimate and both intervals of d.
func (s *scale) intervals(d []float64) (centre float64, wide, narrow Interval) {
	s.walsh = walsh(s.walsh, d)
	return middle(s.walsh), s.interval(s.walsh, len(d), s.alpha), s.interval(s.walsh, len(d), 2*s.alpha)
}

// mayBeBelowPaired reports whether the interval of the absolute changes can be within
// a floor: enough of their averages have to be. It saves sorting them where not.
func (s *scale) mayBeBelowPaired(change []float64, floor float64) bool {
	if floor <= 0 {
		return false
	}
	k, _ := s.order(len(change), 2*s.alpha)
	inside := 0
	for i, x := range change {
		for _, y := range change[i:] {
			if math.Abs(x/2+y/2) < floor {
				inside++
			}
		}
	}
	n := len(change)
	return k > 0 && inside >= n*(n+1)/2-2*(k-1)
}

// flip returns the interval of the negated differences.
func (i Interval) flip() Interval {
	i.Lower, i.Upper = -i.Upper, -i.Lower
	return i
}

// measured is one row's numbers: contender against baseline, not oriented.
type measured struct {
	evidence
	d                   []float64 // differences per round, in the order of rounds; until the next row is measured
	effect              float64   // ratio, or difference
	shown               Interval
	baseline, contender float64
	sd, robust          float64
	pSlower, pFaster    float64
	q                   float64 // rate of false discoveries, of rows that only report
	samples             [2][]float64
	rounds              []int // of the samples
}

// measure judges n complete rounds, base[i] and cont[i] being the centres of the
// two processes of round i.
func (s *scale) measure(base, cont []float64, kind, direction string, t Threshold) measured {
	n := len(base)
	s.change, s.ratios = resize(s.change, n), resize(s.ratios, n)
	d, change := s.ratios, s.change
	for i := range base {
		change[i] = cont[i] - base[i]
		d[i] = change[i]
		if kind == Ratio {
			d[i] = ln(cont[i]) - ln(base[i])
		}
	}
	m := measured{d: d, baseline: median(base), contender: median(cont), sd: sampleSD(d), robust: robustSD(d)}
	m.n, m.alpha, m.floor = n, s.alpha, t.Absolute
	m.directed = direction != ""
	m.shift = median(change)
	m.tau = ln(1 + t.Relative)
	if kind == Difference {
		m.tau = max(t.Absolute, t.Relative*math.Abs(m.baseline))
	}

	if kind == Ratio && s.mayBeBelowPaired(change, t.Absolute) {
		_, _, m.absolute = s.intervals(change)
	}
	centre, wide, narrow := s.intervals(d)
	m.effect, m.shown = centre, wide
	if kind == Ratio {
		m.effect, m.shown.Lower, m.shown.Upper = exp(centre), exp(wide.Lower), exp(wide.Upper)
	}

	s.towards = append(s.towards[:0], d...)
	worse := s.towards
	m.wide, m.narrow = wide, narrow
	if direction == higherIsBetter {
		m.wide, m.narrow, m.absolute, m.shift = wide.flip(), narrow.flip(), m.absolute.flip(), -m.shift
		for i := range worse {
			worse[i] = -worse[i]
		}
	}
	m.pSlower, m.pFaster = s.shifted(worse, m.tau).greater, s.shifted(worse, -m.tau).less
	m.slower, m.faster = m.pSlower, m.pFaster
	return m
}
