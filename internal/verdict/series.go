package verdict

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"writ/internal/fault"
	"writ/internal/order"
	"writ/internal/result"
)

// Series is one case and quantity as plain numbers: what benchmark lines say, and
// all that a verdict needs of results.
type Series struct {
	Pair
	Unit, Direction string       // as in results
	Samples         [2][]float64 // of the baseline, of the contender
	Rounds          [2][]uint16  // beside the samples; those of one round, which is one process, follow each other. nil: not in rounds
	Invalid         string       // why there is nothing to judge, a code; "" when there is
}

// SeriesParams is everything that a judgement of series depends on.
type SeriesParams struct {
	Series   []Series // each pair once; rows are in their order
	Policy   GatePolicy
	RunKey   string
	Rounds   int            // 0 judges two samples instead, and every row says so
	Schedule order.Schedule // of the rounds
	Fixed    bool           // the same side ran first in every round
	Unknown  bool           // nothing says which side did
	Failed   []Failure      // what is known to be wrong already; without a workload it spoils all
	Sigma    func(Pair) (sd float64, ok bool)
}

// JudgeSeries judges series by the rules of Judge: the same numbers give the same
// rows. Series are judged side by side, so Sigma has to be safe for that.
// fault.Nothing without series, fault.Usage without a policy.
func JudgeSeries(p SeriesParams) (*SeriesOutcome, error) {
	switch {
	case len(p.Series) == 0:
		return nil, fault.New(fault.Nothing, "judge", "there is nothing to compare")
	case p.Policy.value.IsNull():
		return nil, fault.New(fault.Usage, "judge", "no gate policy")
	}
	o := &SeriesOutcome{params: p, failed: slices.Clone(p.Failed), all: make([]measured, len(p.Series)), notes: make([]seriesNote, len(p.Series))}
	if p.Rounds > MaxRounds {
		o.failed = append(o.failed, Failure{Invariant: "rounds", Detail: fmt.Sprintf("%d rounds, at most %d can be judged", p.Rounds, MaxRounds)})
	}
	for _, f := range o.failed {
		if f.Workload == "" {
			o.spoilt = f.Invariant
			break
		}
	}
	for i := range p.Series {
		if p.Policy.gates(p.Series[i].Quantity) {
			o.family++
		}
	}
	o.measure()
	adjust(o.all, func(i int) bool { return p.Policy.gates(p.Series[i].Quantity) }, o.family)
	o.count()
	return o, nil
}

// SeriesOutcome is a judgement of series. Its rows are made when they are asked
// for, so that a hundred thousand of them need not be held at once.
type SeriesOutcome struct {
	params   SeriesParams
	all      []measured
	notes    []seriesNote // beside all
	failed   []Failure
	excluded []excludedValue
	spoilt   string
	family   int
	counts   map[Word]int
	overall  Word
}

type seriesNote struct {
	n, dropped int
	warnings   []Note
}

// excludedValue is one process that counts for nothing.
type excludedValue struct {
	series, round int
	side          side
	reason        string
}

// batch is how many series one worker takes at a time.
const batch = 256

// sideBySide calls f for every batch of n items, on as many workers as there are
// processors; each has the state that start gives it.
func sideBySide[S any](n int, start func() S, f func(s S, from, to int)) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (n+batch-1)/batch) {
		workers.Go(func() {
			s := start()
			for {
				from := int(next.Add(batch)) - batch
				if from >= n {
					return
				}
				f(s, from, min(from+batch, n))
			}
		})
	}
	workers.Wait()
}

// seriesScale is what one worker has.
type seriesScale struct {
	scale
	values   [2][]float64 // by round, or one after the other
	have     [2][]bool
	complete []int
	failed   []failedSeries
	excluded []excludedValue
}

type failedSeries struct {
	series int
	Failure
}

func (s *seriesScale) fail(i int, x *Series, invariant, detail string) {
	s.failed = append(s.failed, failedSeries{i, Failure{
		Invariant: invariant, Detail: detail, Workload: x.Workload, Parameters: x.Parameters, Quantity: x.Quantity,
	}})
}

func (o *SeriesOutcome) measure() {
	var mine sync.Mutex
	var started []*seriesScale
	sideBySide(len(o.all), func() *seriesScale {
		s := &seriesScale{scale: scale{tables: newTables(), alpha: o.params.Policy.Level()}}
		mine.Lock()
		started = append(started, s)
		mine.Unlock()
		return s
	}, func(s *seriesScale, from, to int) {
		for i := from; i < to; i++ {
			o.all[i] = s.series(o, i)
			o.all[i].d, o.all[i].samples, o.all[i].rounds = nil, [2][]float64{}, nil
		}
	})
	var failed []failedSeries
	for _, s := range started {
		failed, o.excluded = append(failed, s.failed...), append(o.excluded, s.excluded...)
	}
	slices.SortStableFunc(failed, func(a, b failedSeries) int { return cmp.Compare(a.series, b.series) })
	for _, f := range failed {
		o.failed = append(o.failed, f.Failure)
	}
	slices.SortStableFunc(o.excluded, func(a, b excludedValue) int {
		return cmp.Or(cmp.Compare(a.series, b.series), cmp.Compare(a.side, b.side), cmp.Compare(a.round, b.round))
	})
}

// series measures one series, or says why that is not possible.
func (s *seriesScale) series(o *SeriesOutcome, i int) (m measured) {
	x, note := &o.params.Series[i], &o.notes[i]
	p := o.params.Policy
	if m.invalid = o.spoilt; m.invalid != "" {
		return m
	}
	if m.invalid = x.Invalid; m.invalid != "" {
		return m
	}
	row, t := p.blank(x.Pair, x.Unit, x.Direction)
	for at, seen := range x.Samples {
		if len(seen) == 0 {
			m.invalid = reasonMissing
			s.fail(i, x, "coverage", "the "+side(at).String()+" has no result")
		}
	}
	if m.invalid != "" {
		return m
	}
	defer func() { note.n, note.dropped, note.warnings = row.N, row.Dropped, row.Warnings }()
	if o.params.Rounds == 0 {
		return s.apartSeries(p, i, o.family, x, &row, t)
	}
	base, cont, _ := s.pairUp(o.params.Rounds, i, x, row.Measure)
	row.N, row.Dropped = len(base), o.params.Rounds-len(base)
	if p.Dropped.exceeds(row.Dropped, o.params.Rounds) {
		m.invalid = reasonDropped
		if row.Gating {
			s.fail(i, x, "complete-rounds", fmt.Sprintf("%d of %d rounds lack a side", row.Dropped, o.params.Rounds))
		}
		return m
	}
	if len(base) > 0 {
		m = s.scale.measure(base, cont, row.Measure, row.Direction, t)
	}
	m.need = p.need(row.Gating, o.family)
	row.doubts(turns{schedule: o.params.Schedule.Kind, fixed: o.params.Fixed, unknown: o.params.Unknown}, o.params.Rounds, base, cont, m.d)
	return m
}

// pairUp returns the centres of both processes of every complete round, and which
// rounds those are.
func (s *seriesScale) pairUp(rounds, i int, x *Series, measure string) (base, cont []float64, complete []int) {
	info, _ := result.Known(x.Quantity)
	for at, seen := range x.Samples {
		s.values[at], s.have[at] = resize(s.values[at], rounds), resize(s.have[at], rounds)
		for from := 0; from < len(seen); {
			to, round := from+1, x.Rounds[at][from]
			for to < len(seen) && x.Rounds[at][to] == round {
				to++
			}
			v, reason := centreOf(seen[from:to], info.Centre, measure)
			if from = to; reason != "" {
				s.excluded = append(s.excluded, excludedValue{i, int(round), side(at), reason})
			} else if int(round) < rounds {
				s.values[at][round], s.have[at][round] = v, true
			}
		}
	}
	base, cont = s.values[baseline][:0], s.values[contender][:0]
	s.complete = s.complete[:0]
	for round := range rounds {
		if s.have[baseline][round] && s.have[contender][round] {
			base, cont = append(base, s.values[baseline][round]), append(cont, s.values[contender][round])
			s.complete = append(s.complete, round)
		}
	}
	return base, cont, s.complete
}

// samples are the values that a row rests on, with their rounds where there are
// any.
func (s *seriesScale) samples(o *SeriesOutcome, i int) (out [2][]float64, rounds []int) {
	x := &o.params.Series[i]
	if o.all[i].invalid != "" {
		return out, nil
	}
	row, _ := o.params.Policy.blank(x.Pair, x.Unit, x.Direction)
	if o.Paired() {
		base, cont, complete := s.pairUp(o.params.Rounds, i, x, row.Measure)
		return [2][]float64{slices.Clone(base), slices.Clone(cont)}, slices.Clone(complete)
	}
	info, _ := result.Known(x.Quantity)
	for at, seen := range x.Samples {
		for k := range seen {
			if v, reason := centreOf(seen[k:k+1], info.Centre, row.Measure); reason == "" {
				out[at] = append(out[at], v)
			}
		}
	}
	return out, nil
}

// resize returns n zero values, in buf when it is large enough.
func resize[T any](buf []T, n int) []T {
	if cap(buf) < n {
		return make([]T, n)
	}
	buf = buf[:n]
	clear(buf)
	return buf
}

// apartSeries measures two samples; every line counts as a process of its own.
func (s *seriesScale) apartSeries(p GatePolicy, i, family int, x *Series, row *Row, t Threshold) (m measured) {
	info, _ := result.Known(x.Quantity)
	for at, seen := range x.Samples {
		s.values[at] = s.values[at][:0]
		failed := 0
		for k := range seen {
			v, reason := centreOf(seen[k:k+1], info.Centre, row.Measure)
			if reason != "" {
				failed++
				s.excluded = append(s.excluded, excludedValue{i, -1, side(at), reason})
				continue
			}
			s.values[at] = append(s.values[at], v)
		}
		row.Dropped = max(row.Dropped, failed)
		if p.Dropped.exceeds(failed, len(seen)) {
			m.invalid = reasonDropped
		}
	}
	base, cont := s.values[baseline], s.values[contender]
	row.N = min(len(base), len(cont))
	if m.invalid != "" || row.N == 0 {
		m.invalid = cmp.Or(m.invalid, reasonDropped)
		return m
	}
	m = s.measureApart(base, cont, row.Measure, row.Direction, t)
	m.need = needApart(1, s.alpha)
	if row.Gating {
		m.need = needApart(family, s.alpha)
	}
	row.apartDoubts(base, cont)
	return m
}
