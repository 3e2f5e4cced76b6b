package verdict

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/order"
	"writ/internal/result"
)

// The method that this package implements.
const (
	MethodName    = "writ/paired-signed-rank"
	MethodVersion = "1"
)

// Params is everything that a judgement depends on.
type Params struct {
	Results   []result.Result
	Policy    GatePolicy
	RunKey    string
	Profile   Profile // "" is Revisions
	Varying   string  // VaryingTree or VaryingLabel(name); "" is VaryingTree
	Baseline  string  // value of the varying path; a beginning of tree or commit is enough for VaryingTree
	Contender string  // "" is the other side
	Planned   []Pair  // what had to be measured; nil takes what was
	Rounds    int     // rounds that were planned; 0 takes what is there

	// Unpaired compares two samples instead of rounds, and says so in every row.
	// The results may be of several run keys. CrossMachine always is.
	Unpaired bool

	// Sigma gives the standard deviation of the differences per round that the
	// history of this machine shows, for minimum detectable effects. nil means no
	// history.
	Sigma func(Pair) (sd float64, ok bool)
}

// Outcome is a judgement: three documents that belong together.
type Outcome struct {
	Comparison canon.Value // comparison document 0.1.0
	ResultSet  canon.Value // writ.result-set/v1
	Verdict    canon.Value // writ.verdict/v1
	Document   Document    // the verdict, typed

	// Samples are the values that the rows rest on, beside Document.Rows: of the
	// baseline and of the contender, in the order of rounds. Empty for rows that
	// were not measured.
	Samples [][2][]float64
	Rounds  [][]int // beside Samples: which rounds they are of
}

// Judge compares the two sides of one run key. Evidence that breaks an invariant
// gives documents that say so, with the verdict invalid; an error means that
// there is nothing to judge (fault.Nothing), that baseline or contender name no
// side (fault.Incomparable), or that the parameters are not complete
// (fault.Usage).
func Judge(p Params) (Outcome, error) {
	if err := p.complete(); err != nil {
		return Outcome{}, err
	}
	s, failed, err := gather(p)
	if err != nil {
		return Outcome{}, err
	}
	j := judgement{params: p, set: s}
	j.anchors, failed = s.anchorsOf(p, failed)
	j.failed = append(failed, s.invariants(p)...)
	j.rows = make([]Row, 0, len(s.units))
	j.judge()
	return j.documents()
}

func (p *Params) complete() error {
	p.Profile = cmp.Or(p.Profile, Revisions)
	p.Varying = cmp.Or(p.Varying, p.Profile.varying())
	p.Unpaired = p.Unpaired || p.Profile == CrossMachine
	usage := func(format string, args ...any) error { return fault.New(fault.Usage, "judge", format, args...) }
	switch {
	case len(p.Results) == 0:
		return fault.New(fault.Nothing, "judge", "no results of %q", p.RunKey)
	case p.RunKey == "":
		return usage("no run key")
	case p.Baseline == "":
		return usage("no baseline")
	case p.Policy.value.IsNull():
		return usage("no gate policy")
	case p.Rounds < 0:
		return usage("negative number of rounds")
	}
	return p.Profile.check(p.Varying)
}

// judgement is one run of Judge.
type judgement struct {
	anchors    anchors
	params     Params
	set        *evidenceSet
	failed     []Failure
	rows       []Row
	words      []measured // beside rows
	family     int
	exclusions []exclusion
	missing    []missing
}

type exclusion struct {
	Result result.Ref `json:"result"`
	Reason string     `json:"reason"`
}

type missing struct {
	Workload workloadRef `json:"workload"`
	Quantity string      `json:"quantity"`
	Side     string      `json:"side"`
}

type workloadRef struct {
	Name       string                 `json:"name"`
	Parameters map[string]canon.Value `json:"parameters,omitempty"`
}

// judge fills the rows: first each by itself, then the family together.
func (j *judgement) judge() {
	keys := j.set.keys()
	spoilt := ""
	if len(j.failed) > 0 {
		spoilt = j.failed[0].Invariant
	}
	for _, k := range keys {
		if j.params.Policy.gates(k.quantity) {
			j.family++
		}
	}
	sc := &scale{tables: newTables(), alpha: j.params.Policy.Level()}
	for _, k := range keys {
		row, m := j.row(sc, j.set.units[k], spoilt)
		j.rows, j.words = append(j.rows, row), append(j.words, m)
	}
	for _, r := range j.set.results {
		k := j.params.Profile.pair(r).key()
		if _, is := j.anchors[r.Ref()]; is {
			j.exclusions = append(j.exclusions, exclusion{r.Ref(), anchorRole})
		} else if !j.set.units[k].planned {
			j.exclusions = append(j.exclusions, exclusion{r.Ref(), "not-planned"})
		}
	}
	slices.SortFunc(j.exclusions, func(a, b exclusion) int {
		return cmp.Or(cmp.Compare(a.Result.Producer, b.Result.Producer), cmp.Compare(a.Result.IngestKey, b.Result.IngestKey), cmp.Compare(a.Reason, b.Reason))
	})
	adjust(j.words, func(i int) bool { return j.rows[i].Gating }, j.family)
	f := newFinisher(j.params.Policy, j.family, j.params.Sigma)
	for i := range j.rows {
		f.finish(&j.rows[i], &j.words[i])
	}
}

// row measures one unit, or says why that is not possible.
func (j *judgement) row(sc *scale, u *unit, spoilt string) (Row, measured) {
	p := j.params.Policy
	info, _ := result.Known(u.pair.Quantity)
	unit, direction := info.Unit, info.Direction
	for _, got := range u.got {
		if len(got) > 0 {
			q := got[0].Coordinates.Quantity
			unit, direction = q.Unit, q.Direction
			break
		}
	}
	row, t := p.blank(u.pair, unit, direction)
	m := measured{evidence: evidence{invalid: spoilt}}
	if spoilt != "" {
		return row, m
	}
	if f := u.settings(); f != nil {
		j.failed = append(j.failed, *f)
		m.invalid = f.Invariant
		return row, m
	}
	if j.coverage(u) {
		m.invalid = reasonMissing
		return row, m
	}
	if j.params.Unpaired {
		m = j.apart(sc, &row, u, info.Centre, t)
		return row, m
	}
	base, cont, complete := j.pairUp(u, info.Centre, row.Measure)
	row.N, row.Dropped = len(base), j.set.rounds-len(base)
	if p.Dropped.exceeds(row.Dropped, j.set.rounds) {
		m.invalid = reasonDropped
		if row.Gating {
			j.failed = append(j.failed, *u.failure("complete-rounds",
				fmt.Sprintf("%d of %d rounds lack a side", row.Dropped, j.set.rounds)))
		}
		return row, m
	}
	if len(base) > 0 {
		m = sc.measure(base, cont, row.Measure, row.Direction, t)
	}
	m.samples, m.rounds = [2][]float64{base, cont}, complete
	m.identical = u.identical(j.params.Profile)
	m.need = p.need(row.Gating, j.family)
	kind := j.set.schedule.Kind
	row.doubts(turns{schedule: kind, fixed: kind != order.Random && fixedOrder(u)}, j.set.rounds, base, cont, m.d)
	m.d = nil
	j.looked(&row, u)
	for _, code := range u.tokens() {
		row.note(code, "")
	}
	return row, m
}

// blank is the row of a pair before anything is known of it, with the threshold
// that applies.
func (p GatePolicy) blank(pair Pair, unit, direction string) (Row, Threshold) {
	t := p.threshold(pair.Workload, pair.Quantity)
	row := Row{
		Workload: pair.Workload, Parameters: pair.Parameters, Quantity: pair.Quantity, Unit: unit, Direction: direction,
		Gating: p.gates(pair.Quantity), Threshold: t.Relative, Floor: t.Absolute, Measure: p.Measure(pair.Workload, pair.Quantity), Warnings: []Note{},
	}
	return row, t
}

// need is how many rounds a row needs for an answer at all, within a family of
// gating rows.
func (p GatePolicy) need(gating bool, family int) int {
	need := NeedRounds(2, p.Level())
	if gating {
		need = max(need, NeedRounds(family, p.Level()))
	}
	return need
}

// coverage reports whether a side has no result at all, and notes it.
func (j *judgement) coverage(u *unit) bool {
	gap := false
	for at, got := range u.got {
		if len(got) == 0 {
			gap = true
			j.missing = append(j.missing, missing{workloadRef{u.pair.Workload, u.pair.Parameters}, u.pair.Quantity, side(at).String()})
			j.failed = append(j.failed, *u.failure("coverage", "the "+side(at).String()+" has no result"))
		}
	}
	return gap
}

// pairUp returns the centres of both processes of every complete round and which
// rounds those are, and notes the results that count for nothing.
func (j *judgement) pairUp(u *unit, centre result.Centre, measure string) (base, cont []float64, complete []int) {
	values := [2][]float64{}
	have := [2][]*result.Result{}
	for at, got := range u.got {
		values[at], have[at] = make([]float64, j.set.rounds), make([]*result.Result, j.set.rounds)
		for _, r := range got {
			v, reason := attempt(r, centre, measure)
			if reason != "" {
				j.exclusions = append(j.exclusions, exclusion{r.Ref(), reason})
				continue
			}
			values[at][*r.Procedure.Round], have[at][*r.Procedure.Round] = v, r
		}
	}
	for round := range j.set.rounds {
		b, c := have[baseline][round], have[contender][round]
		switch {
		case b == nil || c == nil:
		case j.set.gaps.between(round, b, c):
			j.exclusions = append(j.exclusions, exclusion{b.Ref(), reasonGap}, exclusion{c.Ref(), reasonGap})
		default:
			base, cont = append(base, values[baseline][round]), append(cont, values[contender][round])
			complete = append(complete, round)
		}
	}
	return base, cont, complete
}

// attempt turns one process into one number, or says why it cannot.
func attempt(r *result.Result, centre result.Centre, measure string) (v float64, reason string) {
	if r.Measurement.Status != result.Success {
		return 0, cmp.Or(r.Measurement.Reason, string(r.Measurement.Status))
	}
	return centreOf(r.Measurement.Counted(), centre, measure)
}

// centreOf turns the values of one process into one number, or says why it
// cannot.
func centreOf(seen []float64, centre result.Centre, measure string) (v float64, reason string) {
	if len(seen) == 0 {
		return 0, "no-observations"
	}
	switch centre {
	case result.Mean:
		v = mean(seen)
	case result.Maximum:
		v = slices.Max(seen)
	default:
		v = median(seen)
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, "not-finite"
	}
	if measure == Ratio && v <= 0 {
		return 0, "not-positive"
	}
	return v, ""
}

// identical reports whether both sides executed the very same file in the same
// way. Variants and environments do that and differ none the less.
func (u *unit) identical(p Profile) bool {
	if p != Revisions {
		return false
	}
	file := u.got[baseline][0].Target()
	return file != "" && file == u.got[contender][0].Target()
}

// number returns x for a document: rounded to twelve digits, absent when it is
// not finite.
func number(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	x = digits(x, 12)
	return &x
}

// overall sums up the rows: the worst of those that gate, of all when none does.
func (j *judgement) overall() Word {
	if len(j.failed) > 0 {
		return Invalid
	}
	worst, any := Identical, slices.ContainsFunc(j.rows, func(r Row) bool { return r.Gating })
	for _, r := range j.rows {
		if (r.Gating || !any) && r.Verdict.rank() < worst.rank() {
			worst = r.Verdict
		}
	}
	return worst
}
