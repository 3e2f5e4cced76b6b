package verdict

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/result"
)

// The paired-relative rule as others run it: the mean relative change over the
// rounds against a multiple of its standard error. It has no level, no least
// effect and no correction for many cases; it is here so that its documents can
// be made and checked, and Judge is what gates.
const (
	RelativeMethod  = "benchx/paired-relative"
	RelativeVersion = "v1"
)

// Defaults of the paired-relative rule.
const (
	DefaultK         = 3.0
	DefaultMinRounds = 3
)

// Words of comparison documents.
const (
	Regressed     = "regressed"
	Improved      = "improved"
	Changed       = "changed" // neither way is better
	NoChange      = "no-change-detected"
	Indeterminate = "indeterminate"
)

// RelativeParams is everything that a comparison by the paired-relative rule
// depends on. Results of other run keys are left alone.
type RelativeParams struct {
	Results   []result.Result
	RunKey    string
	Profile   Profile // "" is Revisions
	Varying   string  // see Params
	Baseline  string
	K         float64 // times the noise; 0 is DefaultK
	MinRounds int     // 0 is DefaultMinRounds
}

// relativeSettings are the whole configuration of the rule.
type relativeSettings struct {
	K         float64 `json:"k"`
	MinRounds int     `json:"min_rounds"`
}

// medianEstimator is the estimator of the rule.
func medianEstimator() result.Estimator {
	return result.Estimator{Name: string(result.Median), MethodVersion: "benchx/median/v1", InputLevel: "observations"}
}

// Relative is a comparison by the paired-relative rule.
type Relative struct {
	Comparison canon.Value    // comparison document 0.1.0
	Samples    [][2][]float64 // what was judged, beside the document's units

	doc comparison
}

// JudgeRelative compares by the paired-relative rule. Broken invariants are in the document, which has no units then;
// an error means that there are no results (fault.Nothing), that the baseline is
// not exactly one side (fault.Incomparable), or that the parameters make no sense
// (fault.Usage).
func JudgeRelative(p RelativeParams) (Relative, error) {
	if err := p.complete(); err != nil {
		return Relative{}, err
	}
	r, err := newRelative(p)
	if err != nil {
		return Relative{}, err
	}
	if r.invariants() {
		r.judge()
	}
	v, err := canon.From(r.doc)
	if err != nil {
		return Relative{}, inDocument(err, "comparison")
	}
	return Relative{Comparison: v, Samples: r.samples, doc: r.doc}, nil
}

func (p *RelativeParams) complete() error {
	p.Profile = cmp.Or(p.Profile, Revisions)
	p.Varying = cmp.Or(p.Varying, p.Profile.varying())
	p.K, p.MinRounds = cmp.Or(p.K, DefaultK), cmp.Or(p.MinRounds, DefaultMinRounds)
	usage := func(format string, args ...any) error {
		return fault.New(fault.Usage, "judge", format, args...)
	}
	switch {
	case p.RunKey == "":
		return usage("no run key")
	case p.Baseline == "":
		return usage("no baseline")
	case !(p.K > 0) || math.IsInf(p.K, 0):
		return usage("k must be above zero")
	case p.MinRounds < 2:
		return usage("one round has no noise: at least two rounds")
	}
	if p.Profile == CrossMachine {
		return usage("the paired-relative rule needs rounds, which machines do not share")
	}
	return p.Profile.check(p.Varying)
}

// relative is one comparison by the rule.
type relative struct {
	RelativeParams
	results []*result.Result
	values  []string // of the varying path, one per result
	doc     comparison
	samples [][2][]float64 // beside doc.Units
}

// judge fills in units, missing and exclusions.
func (r *relative) judge() {
	units := map[pairKey]*unit{}
	for i, x := range r.results {
		pair := r.Profile.pair(x)
		u := units[pair.key()]
		if u == nil {
			u = &unit{pair: pair}
			units[pair.key()] = u
		}
		at := baseline
		if r.values[i] != r.doc.Baseline {
			at = contender
		}
		u.got[at] = append(u.got[at], x)
	}
	for _, k := range slices.SortedFunc(maps.Keys(units), compareKeys) {
		r.unit(units[k])
	}
}

// unit judges one case and quantity, or says why there is no verdict.
func (r *relative) unit(u *unit) {
	where := workloadRef{u.pair.Workload, u.pair.Parameters}
	for at, got := range u.got {
		if len(got) == 0 {
			r.doc.Missing = append(r.doc.Missing, missing{where, u.pair.Quantity, side(at).String()})
			return
		}
	}
	if b, c := len(u.got[baseline]), len(u.got[contender]); b != c {
		r.doc.FailedInvariants = append(r.doc.FailedInvariants, failedInvariant{
			Invariant: "equal-attempts", Detail: fmt.Sprintf("%d against %d", b, c), Workload: &where, Quantity: u.pair.Quantity,
		})
		return
	}
	base, cont := r.pairUp(u)
	conditions := u.contextDifferences()
	quantity := u.got[baseline][0].Coordinates.Quantity
	out := comparisonUnit{
		Workload: where, Quantity: u.pair.Quantity, Rounds: len(base), Series: series(u), NoiseSource: "paired-rounds",
		ContextDifferences: &conditions, Verdict: Indeterminate,
	}
	if len(base) > 0 {
		m := median(base)
		out.ReferenceEstimate = &m
	}
	switch {
	case quantity.Deterministic != nil && *quantity.Deterministic:
		out.Reason = "deterministic-deferred"
	case len(base) < r.MinRounds:
		out.Reason = "insufficient-rounds"
	case slices.Contains(base, 0):
		out.Reason = "zero-baseline"
	default:
		effect, noise := relativeChange(base, cont)
		threshold := r.K * noise
		if math.IsInf(effect, 0) || math.IsNaN(effect) || math.IsInf(threshold, 0) || math.IsNaN(threshold) {
			out.Reason = "not-finite"
			break
		}
		out.Effect, out.Noise, out.Threshold = &effect, &noise, &threshold
		out.Verdict = relativeWord(effect, threshold, quantity.Direction)
	}
	r.doc.Units, r.samples = append(r.doc.Units, out), append(r.samples, [2][]float64{base, cont})
}

// pairUp returns the estimates of both sides of every complete round, in the
// order of rounds, and lists what does not count.
func (r *relative) pairUp(u *unit) (base, cont []float64) {
	rounds := map[int]*[2]*result.Result{}
	leave := func(x *result.Result, reason string) {
		r.doc.Exclusions = append(r.doc.Exclusions, exclusion{x.Ref(), reason})
	}
	for at, got := range u.got {
		for _, x := range got {
			switch {
			case x.Measurement.Status != result.Success:
				leave(x, cmp.Or(x.Measurement.Reason, string(x.Measurement.Status)))
				continue
			case x.Procedure.Round == nil:
				leave(x, "no-round")
				continue
			case len(x.Measurement.Counted()) == 0:
				leave(x, "no-observations")
				continue
			}
			pair := rounds[*x.Procedure.Round]
			if pair == nil {
				pair = &[2]*result.Result{}
				rounds[*x.Procedure.Round] = pair
			}
			if pair[at] != nil { // the later one by name counts
				leave(pair[at], "second-in-round")
			}
			pair[at] = x
		}
	}
	gaps := findGaps(r.results)
	for _, round := range slices.Sorted(maps.Keys(rounds)) {
		pair := rounds[round]
		switch {
		case pair[baseline] == nil || pair[contender] == nil:
		case gaps.between(round, pair[baseline], pair[contender]):
			leave(pair[baseline], reasonGap)
			leave(pair[contender], reasonGap)
		default:
			base = append(base, median(pair[baseline].Measurement.Counted()))
			cont = append(cont, median(pair[contender].Measurement.Counted()))
		}
	}
	return base, cont
}

// relativeChange returns the mean of c/b-1 over the rounds and its standard
// error. Sums are exact and rounded once, so that every machine and every other
// program that does the same gets the same bits. NaN when a ratio is not finite.
func relativeChange(base, cont []float64) (effect, noise float64) {
	n := int64(len(base))
	d := make([]*big.Rat, n)
	sum := new(big.Rat)
	for i := range base {
		x := new(big.Rat).SetFloat64(cont[i]/base[i] - 1)
		if x == nil {
			return math.NaN(), math.NaN()
		}
		d[i] = x
		sum.Add(sum, x)
	}
	total, _ := sum.Float64()
	squares := new(big.Rat)
	centre := new(big.Rat).Quo(sum, new(big.Rat).SetInt64(n))
	for _, x := range d {
		off := new(big.Rat).Sub(x, centre)
		squares.Add(squares, off.Mul(off, off))
	}
	squares.Quo(squares, new(big.Rat).SetInt64(n-1))
	root := new(big.Float).SetPrec(200).SetRat(squares)
	sd, _ := root.Sqrt(root).Float64()
	return total / float64(n), sd / math.Sqrt(float64(n))
}

func relativeWord(effect, threshold float64, direction string) string {
	switch {
	case math.Abs(effect) <= threshold:
		return NoChange
	case direction == "":
		return Changed
	case (effect > 0) == (direction == higherIsBetter):
		return Improved
	}
	return Regressed
}

// series names the histories that both sides of a unit belong to.
func series(u *unit) *seriesPair {
	print := func(s side) string {
		d := u.got[s][0].Document
		return result.SeriesPrint(result.ComparisonPrint(d, result.ImplicitProject(d)), result.EstimatorPrint(medianEstimator())).Hex()
	}
	return &seriesPair{print(baseline), print(contender)}
}
