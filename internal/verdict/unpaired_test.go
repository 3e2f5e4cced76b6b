package verdict

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"writ/internal/canon"
	"writ/internal/result"
)

// loose takes the rounds out of a run, as if its sides had been measured on
// different days.
func loose(r *run) *run {
	return r.each(func(d *result.Document) {
		d.IngestKey = result.IngestKey(d.Provenance.RunKey, d.Coordinates.Workload, d.Coordinates.Quantity.Name, d.Procedure.Slot)
		d.Procedure.Round, d.Procedure.Slot = nil, nil
		d.Coordinates.ComparisonContext = must(r.t, `{}`)
	})
}

func unpaired(t testing.TB, r *run, p GatePolicy) Params {
	out := params(t, r, p)
	out.Unpaired = true
	return out
}

func TestTwoSamplesAreJudgedAndLabelled(t *testing.T) {
	t.Parallel()
	b := steady(base, 12)
	for _, c := range []struct {
		name string
		cont []float64
		want Word
	}{
		{"slower", scaled(b, slices.Repeat([]float64{.1}, 12)...), Slower},
		{"faster", scaled(b, slices.Repeat([]float64{-.1}, 12)...), Faster},
		{"same", b, NoDifference},
		{"noise", scaled(b, .1, -.1, .1, -.1, .1, -.1, .1, -.1, .1, -.1, .1, -.1), Inconclusive},
		{"two of them", scaled(b, slices.Repeat([]float64{.1}, 12)...)[:2], Underpowered},
		{"none", nil, Invalid},
	} {
		p := policy(t, .02)
		params := unpaired(t, loose(newRun(t).add("A", "wall-time", b, c.cont)), p)
		if InRounds(params.Results) {
			t.Errorf("%s: results without rounds count as rounds", c.name)
		}
		o, err := Judge(params)
		if c.cont == nil { // no second side at all
			if err != nil || o.Document.Overall != Invalid {
				t.Errorf("%s: %v %s", c.name, err, o.Document.Overall)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		row := o.Document.Rows[0]
		if row.Verdict != c.want {
			t.Errorf("%s: %s (%s), want %s", c.name, row.Verdict, row.Reason, c.want)
		}
		if !hasNote(row, "unpaired") || !strings.Contains(Render(o.Document), "unpaired: order-confounded") || o.Document.Method.Name != TwoSampleName {
			t.Errorf("%s: nothing says that it is unpaired\n%s", c.name, Render(o.Document))
		}
		a := gate(t, p, o)
		if a.Answer != Hold && c.want != Invalid {
			t.Errorf("%s: the gate answers %s to sides that did not take turns", c.name, a.Answer)
		}
		valid(t, c.name, o, a)
		claimed := Claimed{Comparison: o.Comparison.Canonical(), ResultSet: o.ResultSet.Canonical(), Verdict: o.Verdict.Canonical(), Gate: a.Raw()}
		if err := Recheck(claimed, params.Results, p); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if units, _ := o.Comparison.Get("units"); len(units.Elems()) != 0 {
			t.Errorf("%s: units of rounds that do not exist", c.name)
		}
	}
}

// Whoever does not ask for two samples does not get them.
func TestResultsWithoutRoundsAreNotPaired(t *testing.T) {
	t.Parallel()
	b := steady(base, 12)
	o := judge(t, params(t, loose(newRun(t).add("A", "wall-time", b, b)), policy(t, .02)))
	if o.Document.Overall != Invalid {
		t.Errorf("paired by nothing: %s", o.Document.Overall)
	}
}

func TestTwoSamplesOfTwoRunsAndBoots(t *testing.T) {
	t.Parallel()
	b := steady(base, 10)
	r := newRun(t).add("A", "wall-time", b, scaled(b, slices.Repeat([]float64{.1}, 10)...)).each(on(contender, -1, func(d *result.Document) {
		d.Provenance.RunKey = "run_2.compare.1"
		d.Coordinates.Environment.Condition = map[string]result.Observed{result.BootID: result.Saw(canon.StringOf("b"), "", result.Before, "x")}
	}))
	if InRounds(r.build()) {
		t.Error("rounds of two runs are no pairs")
	}
	if o := judge(t, unpaired(t, r, policy(t, .02))); o.Document.Rows[0].Verdict != Slower {
		t.Errorf("two runs: %s", o.Document.Rows[0].Verdict)
	}
	r.each(on(contender, -1, func(d *result.Document) { d.Coordinates.Environment.Identity = must(t, `{"runner":"i"}`) }))
	if o := judge(t, unpaired(t, r, policy(t, .02))); o.Document.Overall != Invalid {
		t.Errorf("two machines: %s", o.Document.Overall)
	}
}

func TestTwoMachinesAreHeldTogetherByAnAnchor(t *testing.T) {
	t.Parallel()
	const n = 10
	b := steady(base, n)
	far := times(3, b...) // a machine that is three times slower
	machines := func(anchored, factor float64) *run {
		r := newRun(t).add("A", "wall-time", b, times(factor, far...)).add("Anchor", "wall-time", []float64{1}, []float64{anchored})
		return r.each(func(d *result.Document) {
			name := "near"
			if d.Provenance.SubjectTree == headTree {
				name = "far"
				d.Coordinates.Environment.Identity = must(t, `{"runner":"far"}`)
			}
			d.Revision.Key, d.Provenance.SubjectTree = "base", baseTree
			d.IngestKey = name + ":" + d.Coordinates.Workload.Name
			if d.Coordinates.Workload.Name == "A" {
				d.IngestKey += ":" + string(rune('a'+*d.Procedure.Round))
				d.Provenance.References = []result.Reference{{Role: "anchor", Result: result.Ref{Producer: d.Producer.Name, IngestKey: name + ":Anchor"}}}
			}
		})
	}
	ask := func(r *run) Outcome {
		p := params(t, r, policy(t, .02))
		p.Profile, p.Baseline = CrossMachine, "h"
		return judge(t, p)
	}
	o := ask(machines(3, 1))
	if len(o.Document.Rows) != 1 || o.Document.Rows[0].Verdict != NoDifference {
		t.Errorf("three times slower, as the anchor says: %s", Render(o.Document))
	}
	if o := ask(machines(3, 1.1)); o.Document.Rows[0].Verdict != Slower {
		t.Errorf("a tenth slower beside the anchor: %s", Render(o.Document))
	}
	for name, change := range map[string]func(*result.Document){
		"no anchor":     func(d *result.Document) { d.Provenance.References = nil },
		"anchor absent": func(d *result.Document) { d.IngestKey = strings.Replace(d.IngestKey, "near:Anchor", "lost", 1) },
		"two workloads": on(baseline, 0, func(d *result.Document) {
			if d.IngestKey == "near:Anchor" {
				d.Coordinates.Workload.Name = "Other"
			}
		}),
	} {
		if o := ask(machines(3, 1).each(change)); o.Document.Overall != Invalid || o.Document.Failed[0].Invariant != "anchor" {
			t.Errorf("%s: %s %v", name, o.Document.Overall, o.Document.Failed)
		}
	}
}

func TestVariantsAreToldApartByTheirRole(t *testing.T) {
	t.Parallel()
	b := steady(base, 10)
	r := newRun(t).add("A", "wall-time", b, scaled(b, slices.Repeat([]float64{.1}, 10)...)).each(func(d *result.Document) {
		name := "old"
		if d.Provenance.SubjectTree == headTree {
			name = "new"
		}
		d.Coordinates.Workload.Parameters = map[string]canon.Value{"role": canon.StringOf(name)}
		d.Provenance.SubjectTree, d.Revision.Key = baseTree, "base"
		d.Provenance.Artifacts = []result.Artifact{{Kind: result.ArtifactTarget, MediaType: "x", URI: "file:///x", SHA256: strings.Repeat("a", 64)}}
	})
	p := params(t, r, policy(t, .02))
	p.Profile, p.Baseline = Variants, "old"
	o := judge(t, p)
	if row := o.Document.Rows[0]; row.Verdict != Slower || len(row.Parameters) != 0 {
		t.Errorf("two cases of one file are not identical: %s", Render(o.Document))
	}
}

// The shifted test is the plain one when nothing is shifted, and its sides add up
// to what two-sided tests double.
func TestShiftedTwoSamples(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 9))
	for range 200 {
		a, b := make([]float64, 1+rng.IntN(8)), make([]float64, 1+rng.IntN(8))
		for _, x := range [][]float64{a, b} {
			for i := range x {
				x[i] = float64(rng.IntN(6))
			}
		}
		got, want := newTables().apart(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)), 0), MannWhitney(a, b)
		if p := min(1, 2*min(got.greater, got.less)); len(a) == len(b) && 2*want.U != float64(len(a)*len(b)) && math.Abs(p-want.P) > 1e-12 {
			t.Errorf("%v and %v: doubled %v, two-sided %v", a, b, p, want.P)
		}
		moved := slices.Clone(b)
		for i := range moved {
			moved[i] += 2
		}
		if again := newTables().apart(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(moved)), 2); again.greater != got.greater || again.less != got.less {
			t.Errorf("%v and %v: a shift that is taken back changes the test", a, b)
		}
	}
	large := make([]float64, 60)
	up := make([]float64, 60)
	for i := range large {
		large[i], up[i] = rng.NormFloat64(), rng.NormFloat64()+.4
	}
	got, want := newTables().apart(slices.Sorted(slices.Values(large)), slices.Sorted(slices.Values(up)), 0), MannWhitney(large, up)
	if p := 2 * min(got.greater, got.less); math.Abs(p-want.P) > 1e-12 {
		t.Errorf("60 a side: %v, want %v", p, want.P)
	}
	if k, level := CriticalOrderTwo(51, 51, .05); math.Abs(float64(k)-1009) > 15 || level < .95 {
		t.Errorf("51 a side: order %d level %v", k, level)
	}
	if n, m := needApart(1, .05), needApart(50, .05); n != 4 || m != 7 {
		t.Errorf("needs %d and %d a side", n, m)
	}
}
