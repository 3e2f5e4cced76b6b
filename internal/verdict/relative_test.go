package verdict

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/result"
	"writ/internal/schema"
)

// alternating is a comparison as its rule wants it: the baseline first in every
// round.
func alternating(t testing.TB, workload string, base, cont []float64) *run {
	return newRun(t).add(workload, "wall-time", base, cont).each(func(d *result.Document) {
		slot := 2 * *d.Procedure.Round
		if d.Provenance.SubjectTree == headTree {
			slot++
		}
		d.Procedure.Slot = &slot
		d.ObservedContext = must(t, `{"kernel":"6.8"}`)
	})
}

func times(x float64, values ...float64) []float64 {
	out := slices.Clone(values)
	for i := range out {
		out[i] *= x
	}
	return out
}

func relatively(t testing.TB, r *run, change ...func(*RelativeParams)) canon.Value {
	t.Helper()
	p := RelativeParams{Results: r.build(), RunKey: testRun, Baseline: baseTree}
	for _, c := range change {
		c(&p)
	}
	judged, err := JudgeRelative(p)
	if err != nil {
		t.Fatal(err)
	}
	v := judged.Comparison
	if err := schema.Validate(schema.ComparisonDocument, v); err != nil {
		t.Errorf("%v\n%s", err, v.Canonical())
	}
	return v
}

// outline is what the cases below look at.
type outline struct {
	Words, Failed, Missing, Excluded, Conditions []string
	Rounds                                       []int64
}

func outlineOf(v canon.Value) (o outline) {
	list := func(name string) []canon.Value { x, _ := v.Get(name); return x.Elems() }
	for _, u := range list("units") {
		word := u.Str("verdict")
		if u.Str("reason") != "" {
			word += " " + u.Str("reason")
		}
		o.Words = append(o.Words, word)
		n, _ := u.Get("rounds")
		rounds, _ := n.Int()
		o.Rounds = append(o.Rounds, rounds)
		differences, _ := u.Get("observed_context_differences")
		for _, d := range differences.Elems() {
			s, _ := d.String()
			o.Conditions = append(o.Conditions, s)
		}
	}
	for _, f := range list("failed_invariants") {
		o.Failed = append(o.Failed, f.Str("invariant"))
	}
	for _, m := range list("missing") {
		w, _ := m.Get("workload")
		o.Missing = append(o.Missing, w.Str("name")+" "+m.Str("side"))
	}
	for _, e := range list("exclusions") {
		o.Excluded = append(o.Excluded, e.Str("reason"))
	}
	return o
}

func TestPairedRelativeCases(t *testing.T) {
	t.Parallel()
	three := []float64{1, 2, 3}
	clean := func() *run { return alternating(t, "BM_W", three, times(1.1, three...)) }
	two := func() *run { return alternating(t, "BM_W", three[:2], times(1.1, three[:2]...)) }
	more := func(r *run, s side, round, slot int, workload string) *run {
		d := document(t, s, round, workload, "wall-time", 4)
		d.Procedure.Slot = &slot
		r.results = append(r.results, d)
		return r
	}
	yes := true
	for _, c := range []struct {
		name   string
		r      *run
		change func(*RelativeParams)
		want   outline
	}{
		{"a tenth slower", clean(), nil, outline{Words: []string{Regressed}, Rounds: []int64{3}}},
		{"third tree", clean().each(on(contender, 2, func(d *result.Document) { d.Provenance.SubjectTree = strings.Repeat("3", 40) })), nil,
			outline{Failed: []string{"two-sides"}}},
		{"another build", clean().each(on(contender, -1, func(d *result.Document) { d.Coordinates.Subject.Configuration = must(t, `{"build_type":"Debug"}`) })), nil,
			outline{Failed: []string{"sides-agree"}}},
		{"another build and machine", clean().each(on(contender, -1, func(d *result.Document) {
			d.Coordinates.Subject.Configuration, d.Coordinates.Environment.Identity = must(t, `{"build_type":"Debug"}`), must(t, `{"runner":"x"}`)
		})), nil, outline{Failed: []string{"sides-agree", "sides-agree"}}},
		{"two rounds", two(), nil, outline{Words: []string{Indeterminate + " insufficient-rounds"}, Rounds: []int64{2}}},
		{"two rounds are enough", two(), func(p *RelativeParams) { p.MinRounds = 2 }, outline{Words: []string{Regressed}, Rounds: []int64{2}}},
		{"deterministic", clean().each(func(d *result.Document) { d.Coordinates.Quantity.Deterministic = &yes }), nil,
			outline{Words: []string{Indeterminate + " deterministic-deferred"}, Rounds: []int64{3}}},
		{"from zero", alternating(t, "BM_W", []float64{1, 0, 1}, three), nil, outline{Words: []string{Indeterminate + " zero-baseline"}, Rounds: []int64{3}}},
		{"one attempt fails", alternating(t, "BM_W", []float64{1, 2, 3, 4}, times(1.1, 1, 2, 3, 4)).each(on(baseline, 1, func(d *result.Document) {
			d.Measurement = result.Measurement{Status: result.Failed, Reason: result.ReasonHarnessError}
		})), nil, outline{Words: []string{Regressed}, Rounds: []int64{3}, Excluded: []string{result.ReasonHarnessError}}},
		{"unequal attempts", more(more(clean(), baseline, 3, 6, "BM_W"), contender, 3, 7, "BM_Other"), nil,
			outline{Failed: []string{"equal-attempts"}, Missing: []string{"BM_Other baseline"}}},
		{"conditions differ", clean().each(on(contender, -1, func(d *result.Document) { d.ObservedContext = must(t, `{"kernel":"6.9","load_avg_1m":3.2}`) })), nil,
			outline{Words: []string{Regressed}, Rounds: []int64{3}, Conditions: []string{"kernel"}}},
		{"one side after the other", clean().each(func(d *result.Document) {
			slot := *d.Procedure.Round
			if d.Provenance.SubjectTree == headTree {
				slot += 3
			}
			d.Procedure.Slot = &slot
		}), nil, outline{Failed: []string{"alternation"}}},
		{"no slot", clean().each(on(contender, 1, func(d *result.Document) { d.Procedure.Slot = nil })), nil, outline{Failed: []string{"alternation"}}},
		{"a slot for both", clean().each(on(contender, 1, func(d *result.Document) { d.Procedure.Slot, d.IngestKey = at(2), "k" })), nil, outline{Failed: []string{"alternation"}}},
		{"dirty tree", clean().each(on(contender, 1, func(d *result.Document) { d.Provenance.SubjectDirty = result.Dirty })), nil, outline{Failed: []string{"clean-tree"}}},
		{"no tree", clean().each(on(contender, 1, func(d *result.Document) {
			d.Provenance.SubjectDirty, d.Provenance.SubjectTree = result.Unknown, ""
		})), nil, outline{Failed: []string{"sides"}}},
		{"neither way is better", clean().each(func(d *result.Document) { d.Coordinates.Quantity.Direction = "" }), nil,
			outline{Words: []string{Changed}, Rounds: []int64{3}}},
		{"higher is better", clean().each(func(d *result.Document) { d.Coordinates.Quantity.Direction = result.HigherIsBetter }), nil,
			outline{Words: []string{Improved}, Rounds: []int64{3}}},
	} {
		v := relatively(t, c.r, func(p *RelativeParams) {
			if c.change != nil {
				c.change(p)
			}
		})
		if diff := cmp.Diff(c.want, outlineOf(v)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// The numbers of the rule, for k = 3.
func TestPairedRelativeNumbers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		base, cont    []float64
		effect, noise float64
		word          string
	}{
		{[]float64{1, 1, 1, 1}, []float64{1.02, 1.01, 1.03, 1.02}, .02, .0040825, Regressed},
		{[]float64{1, 1, 1, 1}, []float64{1.10, .95, 1.05, 1.02}, .03, .031358, NoChange},
		{[]float64{10, 10, 10}, []float64{9.0, 9.1, 8.9}, -.1, .0057735, Improved},
		{[]float64{1, 2, 3}, []float64{1, 2, 3}, 0, 0, NoChange},
	} {
		v := relatively(t, alternating(t, "W", c.base, c.cont))
		unit, _ := v.At("/units/0")
		get := func(name string) float64 { x, _ := unit.Get(name); f, _ := x.Float(); return f }
		near(t, "effect", get("effect"), c.effect, 1e-9)
		near(t, "noise", get("noise"), c.noise, 5e-7)
		if get("threshold") != 3*get("noise") || get("reference_estimate") != median(c.base) || unit.Str("verdict") != c.word {
			t.Errorf("%v and %v: %s", c.base, c.cont, unit.Canonical())
		}
	}
	effect, noise := relativeChange([]float64{1, 3, 7}, times(1.1, 1, 3, 7))
	if effect != .10000000000000009 || noise > 1e-15 {
		t.Errorf("effect %v noise %v: a ratio that is exact leaves the noise of rounding alone", effect, noise)
	}
}

// A result says which round it is of: the order of arrival and of slots does not.
func TestPairedRelativePairsByRound(t *testing.T) {
	t.Parallel()
	r := alternating(t, "BM_W", []float64{1, 2, 3}, times(1.1, 3, 2, 1)).each(on(contender, -1, func(d *result.Document) {
		round := 2 - *d.Procedure.Round
		d.Procedure.Round = &round
	}))
	p := RelativeParams{Results: r.build(), RunKey: testRun, Baseline: baseTree}
	first, err := JudgeRelative(p)
	if err != nil {
		t.Fatal(err)
	}
	effect, _ := first.Comparison.At("/units/0/effect")
	x, _ := effect.Float()
	near(t, "effect", x, .1, 1e-12)
	rng := rand.New(rand.NewPCG(1, 9))
	for range 10 {
		rng.Shuffle(len(p.Results), func(i, j int) { p.Results[i], p.Results[j] = p.Results[j], p.Results[i] })
		if again, err := JudgeRelative(p); err != nil || !canon.Equal(first.Comparison, again.Comparison) {
			t.Fatalf("another order of arrival, another document: %v", err)
		}
	}
}

// The whole document, byte for byte.
func TestPairedRelativeDocument(t *testing.T) {
	t.Parallel()
	v := relatively(t, alternating(t, "BM_W", []float64{1, 1, 1, 1}, []float64{1.5, 1.25, 1.75, 1.5}))
	const series = "SERIES"
	got := string(v.Canonical())
	print, _ := v.At("/units/0/series/baseline")
	hex, _ := print.String()
	got = strings.ReplaceAll(got, hex, series)
	want := `{"baseline":"` + baseTree + `","comparison_version":1,"contender":"` + headTree + `",` +
		`"estimator":{"input_level":"observations","method_version":"benchx/median/v1","name":"median"},"exclusions":[],"failed_invariants":[],` +
		`"identity_schema":"benchx/prototype-identity/v1","inputs":[` + inputs("BM_W", 0, 1, 2, 3, 4, 5, 6, 7) + `],"local_only":false,` +
		`"method":{"configuration":{"k":3,"min_rounds":3},"effect_measure":"relative","name":"benchx/paired-relative","version":"v1"},` +
		`"missing":[],"mode":"run","pairing":"procedure.round","profile":"revisions","run_key":"` + testRun + `","units":[{"effect":0.5,` +
		`"noise":0.10206207261596575,"noise_source":"paired-rounds","observed_context_differences":[],"quantity":"wall-time","reference_estimate":1,"rounds":4,` +
		`"series":{"baseline":"SERIES","contender":"SERIES"},"threshold":0.30618621784789724,"verdict":"regressed","workload":{"name":"BM_W"}}],` +
		`"varying":"provenance.subject_tree"}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func inputs(workload string, slots ...int) string {
	var out []string
	for _, s := range slots {
		key := result.IngestKey(testRun, result.Workload{Name: workload}, "wall-time", &s)
		out = append(out, `{"ingest_key":"`+key+`","producer":"writ/go-test"}`)
	}
	return strings.Join(out, ",")
}

func TestPairedRelativeProfiles(t *testing.T) {
	t.Parallel()
	three := []float64{1, 2, 3}
	labelled := func(configure bool) *run {
		return alternating(t, "W", three, times(1.1, three...)).each(func(d *result.Document) {
			d.Provenance.Labels = map[string]string{"build": "plain"}
			if d.Provenance.SubjectTree == headTree {
				d.Provenance.Labels["build"] = "hardened"
				if configure {
					d.Coordinates.Subject.Configuration = must(t, `{"HARDENED":"ON"}`)
				}
			}
			d.Provenance.SubjectTree, d.Revision.Key = baseTree, "base"
			d.Provenance.SubjectDirty = result.Dirty
		})
	}
	environments := func(p *RelativeParams) {
		p.Profile, p.Varying, p.Baseline = Environments, VaryingLabel("build"), "plain"
	}
	v := relatively(t, labelled(true), environments)
	if got := outlineOf(v); len(got.Failed) > 0 || len(got.Words) != 1 || got.Words[0] != Regressed {
		t.Errorf("environments: %+v", got)
	}
	if local, _ := v.Get("local_only"); !canon.Equal(local, canon.BoolOf(true)) || v.Str("varying") != "provenance.labels.build" {
		t.Errorf("a dirty tree is for here only: %s", v.Canonical())
	}
	if got := outlineOf(relatively(t, labelled(false), environments)); !slices.Equal(got.Failed, []string{"sides-differ"}) {
		t.Errorf("two builds that are one: %+v", got)
	}
	variants := alternating(t, "W", three, times(1.1, three...)).each(func(d *result.Document) {
		name := "old"
		if d.Provenance.SubjectTree == headTree {
			name = "new"
		}
		d.Coordinates.Workload.Parameters = map[string]canon.Value{"role": canon.StringOf(name), "n": canon.IntOf(7)}
		d.Provenance.SubjectTree, d.Revision.Key = baseTree, "base"
	})
	v = relatively(t, variants, func(p *RelativeParams) { p.Profile, p.Baseline = Variants, "old" })
	parameters, _ := v.At("/units/0/workload/parameters")
	if got := outlineOf(v); len(got.Words) != 1 || got.Words[0] != Regressed || string(parameters.Canonical()) != `{"n":7}` {
		t.Errorf("variants: %+v %s", got, parameters.Canonical())
	}
}

func TestPairedRelativeRefusals(t *testing.T) {
	t.Parallel()
	r := alternating(t, "W", []float64{1, 2, 3}, []float64{1, 2, 3}).build()
	for _, c := range []struct {
		name   string
		change func(*RelativeParams)
		code   fault.Code
	}{
		{"no results", func(p *RelativeParams) { p.RunKey = "other" }, fault.Nothing},
		{"no run key", func(p *RelativeParams) { p.RunKey = "" }, fault.Usage},
		{"no baseline", func(p *RelativeParams) { p.Baseline = "" }, fault.Usage},
		{"neither side", func(p *RelativeParams) { p.Baseline = "9" }, fault.Incomparable},
		{"negative k", func(p *RelativeParams) { p.K = -1 }, fault.Usage},
		{"one round", func(p *RelativeParams) { p.MinRounds = 1 }, fault.Usage},
		{"no label", func(p *RelativeParams) { p.Profile = Environments }, fault.Usage},
		{"two machines", func(p *RelativeParams) { p.Profile = CrossMachine }, fault.Usage},
		{"unknown profile", func(p *RelativeParams) { p.Profile = "single-run" }, fault.Usage},
	} {
		p := RelativeParams{Results: r, RunKey: testRun, Baseline: baseTree}
		c.change(&p)
		if _, err := JudgeRelative(p); fault.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want %s", c.name, err, c.code)
		}
	}
	for _, name := range []string{"1", "bas", baseTree} {
		p := RelativeParams{Results: r, RunKey: testRun, Baseline: name}
		if _, err := JudgeRelative(p); err != nil {
			t.Errorf("baseline %q: %v", name, err)
		}
	}
}
