package verdict

import (
	"strings"
	"testing"

	"writ/internal/canon"
	"writ/internal/result"
)

const (
	baseTree = "1111111111111111111111111111111111111111"
	headTree = "2222222222222222222222222222222222222222"
	testRun  = "run_1.compare.1"
)

func at[T any](x T) *T { return &x }

func must(t testing.TB, text string) canon.Value {
	t.Helper()
	v, err := canon.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// run is a comparison in the making: per workload and quantity, the value of
// every round on both sides.
type run struct {
	t       testing.TB
	results []result.Document
}

// shape says what all results of a run have in common.
func document(t testing.TB, s side, round int, workload, quantity string, values ...float64) result.Document {
	tree, key := baseTree, "base"
	if s == contender {
		tree, key = headTree, "head"
	}
	info, _ := result.Known(quantity)
	slot := 2 * round
	if (s == contender) == (round%3 != 0) { // an order that is not fixed
		slot++
	}
	d := result.Document{
		Producer:   result.Producer{Name: "writ/go-test", Version: "1", MappingVersion: "1"},
		AttemptKey: "urn:benchx:attempt:" + key + ":" + workload + ":" + string(rune('a'+round%26)) + strings.Repeat("z", round/26),
		Project:    "demo", Source: result.Source{URI: "https://example.org/demo"}, Revision: result.Revision{Key: key},
		Coordinates: result.Coordinates{
			Workload: result.Workload{Name: workload}, Subject: result.Subject{Name: "demo", Components: []result.Component{{Role: result.Primary}}},
			Quantity:          result.Quantity{Name: quantity, Unit: info.Unit, Direction: info.Direction},
			ComparisonContext: must(t, `{"protocol":{"schedule":{"kind":"random","seed":7}}}`),
			Environment:       result.Environment{Schema: "machine/v1", Identity: must(t, `{"runner":"h"}`)},
		},
		Measurement: result.Measurement{Status: result.Success, Observations: result.Values(values...)},
		Procedure:   result.Procedure{Round: at(round), Slot: at(slot)},
		Provenance: result.Provenance{
			RunKey: testRun, StartedAt: "2026-01-02T03:04:05Z", SubjectDirty: result.Clean, BenchmarkDirty: result.Clean,
			SubjectTree: tree, BenchmarkTree: tree, Labels: map[string]string{"side": key},
			Info: map[string]canon.Value{result.InfoWorkOrder: canon.StringOf(canon.Sum([]byte(key + string(rune(round)))).String())},
		},
	}
	if d.Coordinates.Quantity.Unit == "" {
		d.Coordinates.Quantity.Unit = "1"
	}
	return d
}

func newRun(t testing.TB) *run { return &run{t: t} }

// add gives a pair its values: rounds of the baseline, and of the contender.
func (r *run) add(workload, quantity string, base, cont []float64) *run {
	for round, v := range base {
		r.results = append(r.results, document(r.t, baseline, round, workload, quantity, v))
	}
	for round, v := range cont {
		r.results = append(r.results, document(r.t, contender, round, workload, quantity, v))
	}
	return r
}

// each changes every result in place.
func (r *run) each(change func(d *result.Document)) *run {
	for i := range r.results {
		change(&r.results[i])
	}
	return r
}

// on restricts a change to one side and round; -1 means every round.
func on(s side, round int, change func(d *result.Document)) func(d *result.Document) {
	tree := map[side]string{baseline: baseTree, contender: headTree}[s]
	return func(d *result.Document) {
		if d.Provenance.SubjectTree == tree && (round < 0 || *d.Procedure.Round == round) {
			change(d)
		}
	}
}

func (r *run) build() []result.Result {
	r.t.Helper()
	out := make([]result.Result, len(r.results))
	for i, d := range r.results {
		built, err := result.New(d)
		if err != nil {
			r.t.Fatalf("result %d: %v", i, err)
		}
		out[i] = built
	}
	return out
}

// policy gates on everything with the given relative threshold and no floors.
func policy(t testing.TB, relative float64, change ...func(*GatePolicy)) GatePolicy {
	t.Helper()
	p := DefaultPolicy()
	p.Name, p.Default, p.Quantities = "test", Threshold{Relative: relative}, nil
	for _, c := range change {
		c(&p)
	}
	p, err := NewPolicy(p)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func params(t testing.TB, r *run, p GatePolicy) Params {
	return Params{Results: r.build(), Policy: p, RunKey: testRun, Baseline: baseTree}
}

func judge(t testing.TB, p Params) Outcome {
	t.Helper()
	o, err := Judge(p)
	if err != nil {
		t.Fatalf("judge: %v", err)
	}
	return o
}

// scaled returns base times exp(d): rounds whose log ratios are d.
func scaled(base []float64, d ...float64) []float64 {
	out := make([]float64, len(base))
	for i := range base {
		out[i] = base[i] * exp(d[i])
	}
	return out
}

// steady returns n values near x that are all different.
func steady(x float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = x * (1 + float64(float64((i*7)%11)*1e-4))
	}
	return out
}
