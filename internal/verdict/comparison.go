package verdict

import (
	"math"
	"sync"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/order"
	"writ/internal/result"
)

// comparison is a comparison document 0.1.0 in run mode.
type comparison struct {
	Version          int               `json:"comparison_version"`
	Mode             string            `json:"mode"`
	Method           comparisonMethod  `json:"method"`
	Estimator        result.Estimator  `json:"estimator"`
	IdentitySchema   string            `json:"identity_schema"`
	LocalOnly        bool              `json:"local_only"`
	RunKey           string            `json:"run_key"`
	Profile          Profile           `json:"profile"`
	Varying          string            `json:"varying"`
	Baseline         string            `json:"baseline"`
	Contender        string            `json:"contender,omitempty"`
	Pairing          string            `json:"pairing"`
	Units            []comparisonUnit  `json:"units"`
	Missing          []missing         `json:"missing"`
	Exclusions       []exclusion       `json:"exclusions"`
	FailedInvariants []failedInvariant `json:"failed_invariants"`
	Inputs           []result.Ref      `json:"inputs"`
}

type comparisonMethod struct {
	Name          string `json:"name"`
	Version       string `json:"version"`
	EffectMeasure string `json:"effect_measure"`
	Configuration any    `json:"configuration"` // everything else that the words depend on
}

// comparisonSettings are the configuration of Judge's own method.
type comparisonSettings struct {
	Alpha        float64   `json:"alpha"`
	Multiplicity string    `json:"multiplicity"`
	Family       int       `json:"family"`
	Rounds       int       `json:"rounds"`
	Policy       PolicyRef `json:"policy"`
}

type comparisonUnit struct {
	Workload           workloadRef `json:"workload"`
	Quantity           string      `json:"quantity"`
	Verdict            string      `json:"verdict"`
	ReferenceEstimate  *float64    `json:"reference_estimate,omitempty"`
	Effect             *float64    `json:"effect,omitempty"` // change as a share of the baseline
	Noise              *float64    `json:"noise,omitempty"`
	NoiseSource        string      `json:"noise_source,omitempty"`
	Threshold          *float64    `json:"threshold,omitempty"`
	Reason             string      `json:"reason,omitempty"`
	ContextDifferences *[]string   `json:"observed_context_differences,omitempty"`
	Caveats            []string    `json:"caveats,omitempty"`
	Rounds             int         `json:"rounds"`
	Series             *seriesPair `json:"series,omitempty"`
}

type seriesPair struct {
	Baseline  string `json:"baseline"` // hex
	Contender string `json:"contender"`
}

type failedInvariant struct {
	Invariant string       `json:"invariant"`
	Detail    string       `json:"detail"`
	Workload  *workloadRef `json:"workload,omitempty"`
	Quantity  string       `json:"quantity,omitempty"`
}

// Centre is the estimator that turns the observations of one process into one
// number: the median, except where a mean or a maximum is what the quantity
// means.
func centreEstimator() result.Estimator {
	return result.Estimator{
		Name: "process-centre", MethodVersion: "writ/process-centre/v1", InputLevel: "observations",
		Parameters: canon.MustFrom(map[string]any{
			"default": string(result.Median), "mean": []string{"allocated-bytes", "allocations", "energy"},
			"maximum": []string{"gpu-peak-memory", "peak-rss"},
		}),
	}
}

// documents writes the three documents of a judgement.
func (j *judgement) documents() (Outcome, error) {
	var set, compared written
	var both sync.WaitGroup
	both.Go(func() { set.write(j.resultSet()) })
	both.Go(func() { compared.write(j.comparison()) })
	doc := j.verdict()
	both.Wait()
	if set.err != nil {
		return Outcome{}, inDocument(set.err, "result set")
	}
	if compared.err != nil {
		return Outcome{}, inDocument(compared.err, "comparison")
	}
	doc.Comparison, doc.ResultSet = compared.ref, set.ref
	v, err := canon.From(doc)
	if err != nil {
		return Outcome{}, inDocument(err, "verdict")
	}
	out := Outcome{Comparison: compared.v, ResultSet: set.v, Verdict: v, Document: doc}
	for _, m := range j.words {
		out.Samples, out.Rounds = append(out.Samples, m.samples), append(out.Rounds, m.rounds)
	}
	return out, nil
}

// written is a document with its digest.
type written struct {
	v   canon.Value
	ref string
	err error
}

func (w *written) write(x any) {
	if w.v, w.err = canon.From(x); w.err == nil {
		w.ref = canon.PlainRef(w.v)
	}
}

func inDocument(err error, name string) error {
	return fault.Wrap(err, fault.Invalid, "judge", "the %s cannot be written", name)
}

func (j *judgement) resultSet() ResultSet {
	out := ResultSet{Schema: ResultSetSchema, Items: []SetItem{}}
	for _, r := range j.set.results {
		out.Items = append(out.Items, SetItem{r.Producer.Name, r.IngestKey, r.Digest().Hex(), r.WorkOrder()})
	}
	return out
}

func (j *judgement) method() Method {
	m := Method{
		Name: MethodName, Version: MethodVersion, Alpha: j.params.Policy.Level(), Power: j.params.Policy.Power,
		Multiplicity: "holm", Family: j.family, Schedule: j.set.schedule.Kind,
	}
	if j.set.schedule.Kind == order.Random {
		m.Seed = j.set.schedule.Seed
	}
	if j.params.Unpaired {
		m.Name, m.Version, m.Schedule, m.Seed = TwoSampleName, TwoSampleVersion, unpairedNote.Code, nil
	}
	return m
}

func (j *judgement) verdict() Document {
	doc := Document{
		Schema: VerdictSchema, RunKey: j.params.RunKey, Method: j.method(), Policy: j.params.Policy.Ref(),
		Rounds: j.set.rounds, Rows: j.rows, Failed: j.failed, Counts: map[Word]int{}, Overall: j.overall(),
	}
	for _, r := range j.rows {
		doc.Counts[r.Verdict]++
	}
	return doc
}

func (j *judgement) comparison() comparison {
	m := j.method()
	c := comparison{
		Version: 1, Mode: "run",
		Method: comparisonMethod{
			Name: m.Name, Version: m.Version, EffectMeasure: "relative-change",
			Configuration: comparisonSettings{m.Alpha, m.Multiplicity, m.Family, j.set.rounds, j.params.Policy.Ref()},
		},
		Estimator: centreEstimator(), IdentitySchema: result.IdentitySchema, RunKey: j.params.RunKey,
		Profile: j.params.Profile, Varying: j.params.Varying,
		Baseline: j.set.values[baseline], Contender: j.set.values[contender], Pairing: "procedure.round",
		Missing: j.missing, Exclusions: j.exclusions,
	}
	last := result.Ref{}
	for _, r := range j.set.results {
		c.LocalOnly = c.LocalOnly || r.Provenance.SubjectDirty != result.Clean || r.Provenance.BenchmarkDirty != result.Clean
		if r.Ref() != last { // results are sorted, so a second one of the same name follows the first
			c.Inputs = append(c.Inputs, r.Ref())
		}
		last = r.Ref()
	}
	spoilt := false
	for _, f := range j.failed {
		out := failedInvariant{Invariant: f.Invariant, Detail: f.Detail, Quantity: f.Quantity}
		if f.Workload != "" {
			out.Workload = &workloadRef{f.Workload, f.Parameters}
		} else {
			spoilt = true
		}
		c.FailedInvariants = append(c.FailedInvariants, out)
	}
	if j.params.Unpaired { // the document knows units of rounds only; the words are in the verdict
		c.FailedInvariants = append(c.FailedInvariants, failedInvariant{Invariant: "pairing", Detail: unpairedNote.text()})
		spoilt = true
	}
	if spoilt {
		return c
	}
	for _, row := range j.rows {
		if row.Reason == reasonMissing {
			continue // named under missing
		}
		c.Units = append(c.Units, j.unit(row))
	}
	return c
}

// unit spells a row in the words of the comparison document.
func (j *judgement) unit(row Row) comparisonUnit {
	u := comparisonUnit{
		Workload: workloadRef{row.Workload, row.Parameters}, Quantity: row.Quantity, Rounds: row.N,
		ReferenceEstimate: row.Baseline, Threshold: &row.Threshold,
	}
	if other := j.set.units[Pair{row.Workload, row.Parameters, row.Quantity}.key()].contextDifferences(); len(other) > 0 {
		u.ContextDifferences = &other
	}
	u.Effect, u.Noise = row.relative()
	if u.Noise != nil {
		u.NoiseSource = "half-interval"
	}
	for _, w := range row.Warnings {
		u.Caveats = append(u.Caveats, w.Code)
	}
	switch row.Verdict {
	case Slower:
		u.Verdict = "regressed"
	case Faster:
		u.Verdict = "improved"
	case NoDifference, Identical:
		u.Verdict = "no-change-detected"
	default:
		u.Verdict, u.Reason = "indeterminate", string(row.Verdict)
		if row.Reason != "" && row.Verdict != Underpowered {
			u.Reason += ": " + row.Reason
		}
		return u
	}
	if u.Effect == nil { // nothing is a share of zero: give the change itself
		u.Effect = row.Effect
		u.Caveats = append(u.Caveats, "absolute-effect")
	}
	return u
}

// relative returns the effect and half the interval as shares of the baseline.
func (r Row) relative() (effect, noise *float64) {
	if r.Effect == nil {
		return nil, nil
	}
	if r.Measure == Ratio {
		effect = number(*r.Effect - 1)
		if len(r.Interval) == 2 {
			noise = number((r.Interval[1] - r.Interval[0]) / 2)
		}
		return effect, noise
	}
	if *r.Baseline == 0 {
		if *r.Effect == 0 {
			return number(0), nil
		}
		return nil, nil
	}
	whole := math.Abs(*r.Baseline)
	effect = number(*r.Effect / whole)
	if len(r.Interval) == 2 {
		noise = number((r.Interval[1] - r.Interval[0]) / 2 / whole)
	}
	return effect, noise
}
