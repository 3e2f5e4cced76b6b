package noise

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"writ/internal/canon"
	"writ/internal/verdict"
)

// Rate is how often something happened that should not, with its exact interval at
// 95 %.
type Rate struct {
	Count  int     `json:"count"`
	Of     int     `json:"of"`
	Lower  float64 `json:"lower"`
	Upper  float64 `json:"upper"`
	Answer Answer  `json:"answer,omitempty"` // "" where many are good
}

// Answer says what a rate shows about the share that was promised.
type Answer string

// The answers.
const (
	Kept    Answer = "kept"    // shown: at most twice the share, or none in as many tries as show that it is below
	Broken  Answer = "broken"  // shown: above the share
	Unknown Answer = "unknown" // too few suites for either
)

const confidence = 0.05 // two-sided level of intervals of rates

func rate(count, of int, alpha float64) Rate {
	r := Rate{Count: count, Of: of, Answer: Unknown}
	r.Lower, r.Upper = verdict.ClopperPearson(count, of, confidence)
	switch {
	case r.Lower > alpha:
		r.Answer = Broken
	case r.Upper <= 2*alpha || count == 0 && of >= verdict.NeedTries(alpha, confidence):
		r.Answer = Kept
	}
	r.Lower, r.Upper = digits(r.Lower), digits(r.Upper)
	return r
}

// Summary is what all suites of a document come to.
type Summary struct {
	Suites  int          `json:"suites"`
	Alpha   float64      `json:"alpha"`   // the share that was promised
	Blocked Rate         `json:"blocked"` // suites with a gating row that was called slower
	Rows    []RowSummary `json:"rows"`
}

// RowSummary is what all suites say about one case and quantity at one precision.
type RowSummary struct {
	Workload   string                 `json:"workload"`
	Parameters map[string]canon.Value `json:"parameters,omitempty"`
	Quantity   string                 `json:"quantity"`
	Precision  string                 `json:"precision"`
	Measure    string                 `json:"measure"`

	Flagged Rate `json:"flagged"` // called slower or faster, beyond the threshold
	Differs Rate `json:"differs"` // the interval at 1-alpha leaves out no difference at all
	Planted Rate `json:"planted"` // the interval shows a change of one and a half thresholds that was added to these very rounds; here many are good

	Rounds  int       `json:"rounds"`            // over all suites
	Sigma   float64   `json:"sigma"`             // of the differences, robust
	MDE     *float64  `json:"mde,omitempty"`     // for as many rounds as a suite has: share of the baseline, or a difference
	Lag1    float64   `json:"lag1"`              // autocorrelation of neighbouring rounds; far from 0 means that rounds are no repetitions
	Slot    *Slot     `json:"slot,omitempty"`    // what going second does
	Between *float64  `json:"between,omitempty"` // median share of the spread that lies between processes
	Doubts  []string  `json:"doubts"`
	seen    []Row     // one per suite
	turns   []string  // beside seen
	all     []float64 // differences of all suites
	second  []float64 // the same, turned so that the second slot is against the first
}

// Slot is the effect of going second: the median of second against first, and an
// interval of 95 % for the centre.
type Slot struct {
	Median float64 `json:"median"`
	Lower  float64 `json:"lower"`
	Upper  float64 `json:"upper"`
}

const (
	tooSimilar = 0.2 // autocorrelation from which neighbouring rounds are suspicious
	maxWalsh   = 400 // rounds that the interval of the slot is computed from; its cost grows with their square
)

// Summary adds all suites up. alpha and power are those of the policy.
func (d Document) Summary(alpha, power float64) Summary {
	s := Summary{Suites: len(d.Suites), Alpha: alpha, Rows: []RowSummary{}}
	at := map[string]int{}
	blocked := 0
	for _, suite := range d.Suites {
		hit := false
		for _, r := range suite.Rows {
			hit = hit || r.Gating && r.Word == verdict.Slower
			key := keyOf(r.Workload, r.Parameters, r.Quantity) + r.Precision + r.Measure
			i, known := at[key]
			if !known {
				i = len(s.Rows)
				at[key] = i
				s.Rows = append(s.Rows, RowSummary{
					Workload: r.Workload, Parameters: r.Parameters, Quantity: r.Quantity, Precision: r.Precision, Measure: r.Measure,
				})
			}
			s.Rows[i].seen, s.Rows[i].turns = append(s.Rows[i].seen, r), append(s.Rows[i].turns, suite.First)
		}
		if hit {
			blocked++
		}
	}
	s.Blocked = rate(blocked, len(d.Suites), alpha)
	for i := range s.Rows {
		s.Rows[i].add(alpha, power)
	}
	slices.SortStableFunc(s.Rows, func(a, b RowSummary) int {
		return cmp.Or(cmp.Compare(a.Workload, b.Workload), cmp.Compare(a.Quantity, b.Quantity), cmp.Compare(a.Precision, b.Precision))
	})
	return s
}

func (r *RowSummary) add(alpha, power float64) {
	flagged, differs, planted, judged, planned, longest := 0, 0, 0, 0, 0, 0
	var before, after, shares []float64
	for i, row := range r.seen {
		d := row.Differences
		r.all, longest = append(r.all, d...), max(longest, len(d))
		if len(d) == len(r.turns[i]) {
			for k, side := range r.turns[i] {
				r.second = append(r.second, map[rune]float64{'b': d[k], 'c': -d[k]}[side])
			}
		}
		for k := 1; k < len(d); k++ {
			before, after = append(before, d[k-1]), append(after, d[k])
		}
		if row.Between != nil {
			shares = append(shares, *row.Between)
		}
		if row.Word == verdict.Slower || row.Word == verdict.Faster {
			flagged++
		}
		interval := verdict.SignedRankInterval(d, alpha)
		if !interval.Finite() {
			continue
		}
		judged++
		if interval.Lower > 0 || interval.Upper < 0 {
			differs++
		}
		if row.Measure == verdict.Ratio && row.Threshold > 0 {
			planned++
			if interval.Lower+math.Log1p(1.5*row.Threshold) > math.Log1p(row.Threshold) {
				planted++
			}
		}
	}
	r.Flagged, r.Differs = rate(flagged, len(r.seen), alpha), rate(differs, judged, alpha)
	r.Planted = rate(planted, planned, alpha)
	r.Planted.Answer = ""
	r.Rounds, r.Sigma, r.Lag1 = len(r.all), digits(verdict.RobustSD(r.all)), digits(correlation(before, after))
	if len(shares) > 0 {
		m := digits(median(shares))
		r.Between = &m
	}
	if longest > 1 {
		mde := verdict.MinimumEffect(longest, r.Sigma, alpha, power)
		if r.Measure == verdict.Ratio {
			mde = math.Expm1(mde)
		}
		if !math.IsInf(mde, 0) {
			mde = digits(mde)
			r.MDE = &mde
		}
	}
	r.slot()
	r.doubt()
}

// slot measures what going second does.
func (r *RowSummary) slot() {
	sample := r.second
	if len(sample) > maxWalsh { // evenly over all of them
		sample = make([]float64, maxWalsh)
		for i := range sample {
			sample[i] = r.second[i*len(r.second)/maxWalsh]
		}
	}
	if i := verdict.SignedRankInterval(sample, confidence); i.Finite() {
		r.Slot = &Slot{digits(verdict.HodgesLehmann(sample)), digits(i.Lower), digits(i.Upper)}
	}
}

func (r *RowSummary) doubt() {
	r.Doubts = []string{}
	if math.Abs(r.Lag1) > tooSimilar && len(r.all) >= 30 {
		r.Doubts = append(r.Doubts, "neighbouring rounds resemble each other: the pairs are too far apart, or the machine changes slowly")
	}
	if r.Slot != nil && (r.Slot.Lower > 0 || r.Slot.Upper < 0) {
		r.Doubts = append(r.Doubts, "the second slot differs from the first: a fixed order would be biased")
	}
}

// Sigma gives the spread that the document knows for rounds of a precision. measure
// says which differences a policy takes for a case and quantity; where it is not the
// one that was measured, nothing is known.
func (d Document) Sigma(precision string, measure func(workload, quantity string) string) func(verdict.Pair) (float64, bool) {
	known := map[string][]float64{}
	for _, suite := range d.Suites {
		for _, r := range suite.Rows {
			if r.Precision == precision && r.Measure == measure(r.Workload, r.Quantity) {
				key := keyOf(r.Workload, r.Parameters, r.Quantity)
				known[key] = append(known[key], r.Differences...)
			}
		}
	}
	return func(p verdict.Pair) (float64, bool) {
		all := known[keyOf(p.Workload, p.Parameters, p.Quantity)]
		return digits(verdict.RobustSD(all)), len(all) >= fewest
	}
}

// fewest is how many rounds have to be known before they stand for a machine.
const fewest = 20

func median(x []float64) float64 {
	sorted := slices.Sorted(slices.Values(x))
	if n := len(sorted); n%2 == 0 {
		return (sorted[n/2-1] + sorted[n/2]) / 2
	}
	return sorted[len(sorted)/2]
}

// correlation is Pearson's, 0 when either side does not vary.
func correlation(x, y []float64) float64 {
	if len(x) < 2 {
		return 0
	}
	mean := func(v []float64) (m float64) {
		for _, a := range v {
			m += a / float64(len(v))
		}
		return m
	}
	mx, my := mean(x), mean(y)
	var xx, yy, xy float64
	for i := range x {
		xx += (x[i] - mx) * (x[i] - mx)
		yy += (y[i] - my) * (y[i] - my)
		xy += (x[i] - mx) * (y[i] - my)
	}
	if xx == 0 || yy == 0 {
		return 0
	}
	return xy / math.Sqrt(xx*yy)
}

// digits keeps six digits: what a machine knows, and no more than documents of
// another machine can repeat.
func digits(x float64) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 6, 64), 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return y + 0 // no negative zero
}
