package verdict

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/result"
	"writ/internal/schema"
)

const base = 1e-3

// g1Run has the ten golden log ratios as its only case.
func g1Run(t testing.TB) *run {
	b := steady(base, 10)
	return newRun(t).add("A", "wall-time", b, scaled(b, g1...))
}

func TestGoldenVerdicts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		theta  float64
		want   Word
		reason string
	}{
		{.003, Slower, ""}, {.006, Inconclusive, reasonSize}, {.015, NoDifference, ""},
	} {
		o := judge(t, params(t, g1Run(t), policy(t, c.theta)))
		row := o.Document.Rows[0]
		if row.Verdict != c.want || row.Reason != c.reason {
			t.Errorf("threshold %v: %s (%s), want %s (%s)", c.theta, row.Verdict, row.Reason, c.want, c.reason)
		}
		near(t, "effect", *row.Effect, 1.01005, 1e-6)
		near(t, "lower", row.Interval[0], 1.005515, 1e-6)
		near(t, "upper", row.Interval[1], 1.014098, 1e-6)
		if *row.Level != .951171875 || row.N != 10 || row.Dropped != 0 {
			t.Errorf("level %v n %d dropped %d", *row.Level, row.N, row.Dropped)
		}
		near(t, "sd", *row.SD, .00607454, 1e-6)
	}
}

func TestEveryVerdict(t *testing.T) {
	t.Parallel()
	ten, five := steady(base, 10), steady(base, 5)
	up := func(b []float64, by float64) []float64 {
		out := slices.Clone(b)
		for i := range out {
			out[i] *= by * (1 + float64((i*5)%7)*1e-4)
		}
		return out
	}
	file := func(d *result.Document) {
		d.Provenance.Artifacts = []result.Artifact{{Kind: result.ArtifactTarget, MediaType: "x", URI: "file:///x", SHA256: strings.Repeat("a", 64)}}
	}
	noisy := []float64{.1, -.12, .09, -.08, .15, -.2, .02, -.03, .2, -.1}
	for _, c := range []struct {
		name           string
		run            *run
		want           Word
		reason, answer string
	}{
		{"slower", newRun(t).add("A", "wall-time", ten, up(ten, 1.1)), Slower, "", "block"},
		{"faster", newRun(t).add("A", "wall-time", ten, up(ten, .9)), Faster, "", "pass"},
		{"no difference", newRun(t).add("A", "wall-time", ten, up(ten, 1.001)), NoDifference, "", "pass"},
		{"throughput falls", newRun(t).add("A", "throughput-bytes", ten, up(ten, .9)), Slower, "", "block"},
		{"throughput rises", newRun(t).add("A", "throughput-bytes", ten, up(ten, 1.1)), Faster, "", "pass"},
		{"noise", newRun(t).add("A", "wall-time", ten, scaled(ten, noisy...)), Inconclusive, reasonNoise, "hold"},
		{"five rounds", newRun(t).add("A", "wall-time", five, up(five, 2)), Underpowered, reasonFew, "hold"},
		{"no direction", newRun(t).add("A", "cpu-frequency", ten, up(ten, 1.1)), Inconclusive, reasonUndirected, "hold"},
		{"identical file", newRun(t).add("A", "wall-time", ten, up(ten, 1.1)).each(file), Identical, "", "pass"},
		{"no contender", newRun(t).add("A", "wall-time", ten, up(ten, 1)).add("B", "wall-time", ten, nil), Invalid, reasonMissing, "invalid"},
		{"no baseline", newRun(t).add("A", "wall-time", ten, up(ten, 1)).add("B", "wall-time", nil, ten), Invalid, reasonMissing, "invalid"},
		{"zero time", newRun(t).add("A", "wall-time", make([]float64, 10), ten), Invalid, reasonDropped, "invalid"},
		{"negative time", newRun(t).add("A", "wall-time", up(ten, -1), ten), Invalid, reasonDropped, "invalid"},
		{"allocations appear", newRun(t).add("A", "allocations", make([]float64, 10), slices.Repeat([]float64{3}, 10)), Slower, "", "block"},
		{"allocations stay", newRun(t).add("A", "allocations", slices.Repeat([]float64{3}, 10), slices.Repeat([]float64{3}, 10)), NoDifference, "", "pass"},
		{"allocations are unclear", newRun(t).add("A", "allocations", slices.Repeat([]float64{1}, 10), []float64{1, 2, 1, 1, 2, 1, 1, 1, 1, 2}), Inconclusive, reasonNoise, "hold"},
		{"allocations go", newRun(t).add("A", "allocations", slices.Repeat([]float64{3}, 10), make([]float64, 10)), Faster, "", "pass"},
	} {
		pol := policy(t, .02, func(p *GatePolicy) {
			p.Quantities = map[string]Threshold{"allocations": {Relative: .02, Absolute: .5}}
		})
		o := judge(t, params(t, c.run, pol))
		row := o.Document.Rows[len(o.Document.Rows)-1]
		if row.Verdict != c.want || row.Reason != c.reason {
			t.Errorf("%s: %s (%s), want %s (%s)\n%s", c.name, row.Verdict, row.Reason, c.want, c.reason, Render(o.Document))
		}
		if o.Document.Overall != c.want {
			t.Errorf("%s: overall %s, want %s", c.name, o.Document.Overall, c.want)
		}
		answer, err := Gate(pol, o.Verdict.Canonical())
		if err != nil || string(answer.Answer) != c.answer {
			t.Errorf("%s: gate %s %v, want %s", c.name, answer.Answer, err, c.answer)
		}
		valid(t, c.name, o, answer)
	}
}

// valid checks every document against its published schema.
func valid(t testing.TB, name string, o Outcome, a GateAnswer) {
	t.Helper()
	for id, v := range map[schema.ID]canon.Value{
		schema.ComparisonDocument: o.Comparison, schema.ResultSet: o.ResultSet, schema.Verdict: o.Verdict, schema.Gate: must(t, string(a.Raw())),
	} {
		if err := schema.Validate(id, v); err != nil {
			t.Errorf("%s: %s: %v\n%s", name, id, err, v.Canonical())
		}
	}
}

func TestWordsOfTheComparisonDocument(t *testing.T) {
	t.Parallel()
	ten := steady(base, 10)
	all := func(x float64) []float64 { return slices.Repeat([]float64{x}, 10) }
	r := newRun(t).
		add("a-slower", "wall-time", ten, scaled(ten, all(.1)...)).
		add("b-faster", "wall-time", ten, scaled(ten, all(-.1)...)).
		add("c-same", "wall-time", ten, ten).
		add("d-noise", "wall-time", ten, scaled(ten, .1, -.1, .1, -.1, .1, -.1, .1, -.1, .1, -.1)).
		add("e-from-zero", "allocations", all(0), all(5)).
		add("f-half", "wall-time", ten, nil)
	o := judge(t, params(t, r, policy(t, .02)))
	got := map[string]string{}
	units, _ := o.Comparison.Get("units")
	for _, u := range units.Elems() {
		w, _ := u.Get("workload")
		got[w.Str("name")] = u.Str("verdict") + " " + u.Str("reason")
		if u.Str("verdict") != "indeterminate" {
			if _, ok := u.Get("effect"); !ok {
				t.Errorf("%s has no effect", w.Str("name"))
			}
		}
	}
	want := map[string]string{
		"a-slower": "regressed ", "b-faster": "improved ", "c-same": "no-change-detected ", "d-noise": "indeterminate inconclusive: noise",
		"e-from-zero": "regressed ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if x, _ := o.Comparison.At("/missing/0/side"); string(x.Canonical()) != `"contender"` {
		t.Errorf("missing side: %s", x.Canonical())
	}
	if x, _ := o.Comparison.At("/baseline"); string(x.Canonical()) != `"`+baseTree+`"` {
		t.Errorf("baseline: %s", x.Canonical())
	}
}

// Every way to break an invariant of the whole comparison or of a row.
func TestBrokenEvidenceIsInvalid(t *testing.T) {
	t.Parallel()
	ten := steady(base, 10)
	fresh := func() *run { return newRun(t).add("A", "wall-time", ten, ten).add("B", "wall-time", ten, ten) }
	sequential := must(t, `{"protocol":{"schedule":{"kind":"sequential"}}}`)
	for _, c := range []struct {
		name, invariant string
		run             *run
	}{
		{"another run key", "run-key", fresh().each(on(contender, 3, func(d *result.Document) { d.Provenance.RunKey, d.IngestKey = "other", "k" }))},
		{"a third side", "two-sides", fresh().each(on(contender, 3, func(d *result.Document) {
			d.Provenance.SubjectTree, d.Provenance.BenchmarkTree = strings.Repeat("3", 40), strings.Repeat("3", 40)
		}))},
		{"one side only", "two-sides", newRun(t).add("A", "wall-time", ten, nil)},
		{"no tree", "sides", fresh().each(on(contender, 3, func(d *result.Document) { d.Provenance.SubjectDirty, d.Provenance.SubjectTree = "unknown", "" }))},
		{"another machine", "environment", fresh().each(on(contender, -1, func(d *result.Document) { d.Coordinates.Environment.Identity = must(t, `{"runner":"i"}`) }))},
		{"another kernel", "environment", fresh().each(on(contender, 2, func(d *result.Document) { d.Coordinates.Environment.System = must(t, `{"kernel":"2"}`) }))},
		{"another build", "sides-agree", fresh().each(on(contender, -1, func(d *result.Document) { d.Coordinates.Subject.Configuration = must(t, `{"O":3}`) }))},
		{"side changes commit", "side-stable", fresh().each(on(contender, 5, func(d *result.Document) { d.Revision.Key = "other" }))},
		{"file changes", "side-stable", fresh().each(on(contender, 5, func(d *result.Document) {
			d.Provenance.Artifacts = []result.Artifact{{Kind: result.ArtifactTarget, MediaType: "x", URI: "file:///x", SHA256: strings.Repeat("a", 64)}}
		}))},
		{"no round", "rounds", fresh().each(on(baseline, 4, func(d *result.Document) { d.Procedure.Round = nil }))},
		{"a round too many", "rounds", newRun(t).add("A", "wall-time", steady(base, 12), steady(base, 12))},
		{"lost round", "rounds", newRun(t).add("A", "wall-time", ten, ten[:9])},
		{"two orders in a round", "rounds", fresh().each(on(baseline, 4, func(d *result.Document) {
			d.Provenance.Info = map[string]canon.Value{result.InfoWorkOrder: canon.StringOf(canon.Sum([]byte(d.IngestKey + d.Coordinates.Workload.Name)).String())}
		}))},
		{"round twice", "no-duplicates", fresh().each(on(baseline, 4, func(d *result.Document) { d.Procedure.Round = at(5) }))},
		{"one attempt, two commits", "attempts", fresh().each(func(d *result.Document) { d.AttemptKey = "same" })},
		{"no slot", "slots", fresh().each(on(baseline, 4, func(d *result.Document) { d.Procedure.Slot = nil }))},
		{"far slots", "slots", fresh().each(on(contender, -1, func(d *result.Document) { *d.Procedure.Slot += 40 }))},
		{"one slot for both", "slots", fresh().each(on(contender, 1, func(d *result.Document) { d.Procedure.Slot = at(2) })).each(on(baseline, 1, func(d *result.Document) { d.Procedure.Slot, d.IngestKey = at(2), "k"+d.Coordinates.Workload.Name }))},
		{"two schedules", "schedule", fresh().each(on(contender, -1, func(d *result.Document) { d.Coordinates.ComparisonContext = sequential }))},
		{"schedule of another form", "schedule", fresh().each(func(d *result.Document) {
			d.Coordinates.ComparisonContext = must(t, `{"protocol":{"schedule":{"kind":7}}}`)
		})},
		{"two protocols", "comparison-context", fresh().each(on(contender, 3, func(d *result.Document) {
			d.Coordinates.ComparisonContext = must(t, `{"harness":{"version":"2"},"protocol":{"schedule":{"kind":"random","seed":7}}}`)
		}))},
		{"two units", "units", fresh().each(on(contender, 3, func(d *result.Document) { d.Coordinates.Quantity.Unit = "ms" }))},
		{"a case without contender", "coverage", fresh().add("C", "wall-time", ten, nil)},
		{"zero", "complete-rounds", newRun(t).add("A", "wall-time", append([]float64{0, 0}, ten[2:]...), ten)},
		{"negative", "complete-rounds", newRun(t).add("A", "wall-time", ten, append([]float64{-1, -2}, ten[2:]...))},
		{"too many failures", "complete-rounds", fresh().each(func(d *result.Document) {
			if *d.Procedure.Round < 2 {
				d.Measurement = result.Measurement{Status: result.Failed, Reason: result.ReasonTimeout}
			}
		})},
	} {
		p := params(t, c.run, policy(t, .02))
		p.Rounds = 10
		o := judge(t, p)
		if !slices.ContainsFunc(o.Document.Failed, func(f Failure) bool { return f.Invariant == c.invariant }) {
			t.Errorf("%s: failures %v, want %s", c.name, o.Document.Failed, c.invariant)
		}
		if o.Document.Overall != Invalid {
			t.Errorf("%s: overall %s, want invalid", c.name, o.Document.Overall)
		}
		whole := slices.ContainsFunc(o.Document.Failed, func(f Failure) bool { return f.Workload == "" })
		for _, r := range o.Document.Rows {
			if whole && (r.Verdict != Invalid || r.Effect != nil) {
				t.Errorf("%s: row %s is %s with effect %v", c.name, r.Workload, r.Verdict, r.Effect)
			}
		}
		answer, err := Gate(p.Policy, o.Verdict.Canonical())
		if err != nil || answer.Answer != NotJudged || len(answer.Reasons) == 0 {
			t.Errorf("%s: gate %s %v %v, want invalid", c.name, answer.Answer, answer.Reasons, err)
		}
		valid(t, c.name, o, answer)
	}
}

func TestWhatCannotBeJudgedAtAll(t *testing.T) {
	t.Parallel()
	ten := steady(base, 10)
	good := params(t, newRun(t).add("A", "wall-time", ten, ten), policy(t, .02))
	for _, c := range []struct {
		name   string
		change func(*Params)
		code   fault.Code
	}{
		{"no results", func(p *Params) { p.Results = nil }, fault.Nothing},
		{"no run key", func(p *Params) { p.RunKey = "" }, fault.Usage},
		{"no baseline", func(p *Params) { p.Baseline = "" }, fault.Usage},
		{"no policy", func(p *Params) { p.Policy = GatePolicy{} }, fault.Usage},
		{"unknown profile", func(p *Params) { p.Profile = "seasons" }, fault.Usage},
		{"unknown path", func(p *Params) { p.Varying = "provenance.labels." }, fault.Usage},
		{"environments by tree", func(p *Params) { p.Profile = Environments }, fault.Usage},
		{"baseline is neither side", func(p *Params) { p.Baseline = "9" }, fault.Incomparable},
		{"contender is the baseline", func(p *Params) { p.Contender = baseTree }, fault.Incomparable},
		{"contender is neither side", func(p *Params) { p.Contender = "9" }, fault.Incomparable},
	} {
		p := good
		c.change(&p)
		if _, err := Judge(p); fault.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want %s", c.name, err, c.code)
		}
	}
	ambiguous := params(t, newRun(t).add("A", "wall-time", ten, ten).each(func(d *result.Document) {
		d.Provenance.SubjectTree = "11" + d.Provenance.SubjectTree[:38]
	}), policy(t, .02))
	ambiguous.Baseline = "11"
	if _, err := Judge(ambiguous); fault.CodeOf(err) != fault.Incomparable {
		t.Errorf("ambiguous beginning: %v", err)
	}
}

func TestSidesByNameAndByLabel(t *testing.T) {
	t.Parallel()
	ten := steady(base, 10)
	r := newRun(t).add("A", "wall-time", ten, scaled(ten, slices.Repeat([]float64{.1}, 10)...))
	plain := judge(t, params(t, r, policy(t, .02)))
	for _, name := range []string{"1111", "base"} {
		p := params(t, r, policy(t, .02))
		p.Baseline = name
		if o := judge(t, p); o.Document.Rows[0].Verdict != Slower || !canon.Equal(o.Verdict, plain.Verdict) {
			t.Errorf("baseline %q gives another verdict", name)
		}
	}
	p := params(t, r, policy(t, .02))
	p.Varying, p.Baseline, p.Contender = VaryingLabel("side"), "head", "base"
	if o := judge(t, p); o.Document.Rows[0].Verdict != Faster {
		t.Errorf("sides swapped: %s, want faster", o.Document.Rows[0].Verdict)
	}
	// Two environments of one tree.
	same := newRun(t).add("A", "wall-time", ten, ten).each(func(d *result.Document) {
		d.Provenance.SubjectTree, d.Revision.Key, d.IngestKey = baseTree, "base", d.Provenance.Labels["side"]+string(rune('a'+*d.Procedure.Round))
	})
	p = params(t, same, policy(t, .02))
	p.Profile, p.Varying, p.Baseline = Environments, VaryingLabel("side"), "base"
	if o := judge(t, p); o.Document.Rows[0].Verdict != NoDifference {
		t.Errorf("one tree under two labels: %s\n%s", o.Document.Rows[0].Verdict, Render(o.Document))
	}
	p = params(t, r, policy(t, .02))
	p.Profile, p.Varying, p.Baseline = Environments, VaryingLabel("side"), "base"
	if o := judge(t, p); o.Document.Overall != Invalid {
		t.Errorf("two trees are not two environments: %s", o.Document.Overall)
	}
}

func TestPlanDecidesWhatIsMissing(t *testing.T) {
	t.Parallel()
	ten := steady(base, 10)
	p := params(t, newRun(t).add("A", "wall-time", ten, ten).add("X", "wall-time", ten, ten), policy(t, .02))
	p.Planned = []Pair{{Workload: "A", Quantity: "wall-time"}, {Workload: "B", Quantity: "wall-time"}}
	o := judge(t, p)
	got := map[string]Word{}
	for _, r := range o.Document.Rows {
		got[r.Workload] = r.Verdict
	}
	if diff := cmp.Diff(map[string]Word{"A": NoDifference, "B": Invalid}, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if missing, _ := o.Comparison.Get("missing"); missing.Len() != 2 {
		t.Errorf("missing: %s", missing.Canonical())
	}
	if excluded, _ := o.Comparison.Get("exclusions"); excluded.Len() != 20 {
		t.Errorf("%d exclusions, want the 20 results nobody planned", excluded.Len())
	}
}

func TestDroppedRounds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rounds, fail int
		want         Word
	}{{10, 1, NoDifference}, {10, 2, Invalid}, {25, 2, NoDifference}, {25, 3, Invalid}, {30, 3, NoDifference}, {30, 4, Invalid}} {
		values := steady(base, c.rounds)
		r := newRun(t).add("A", "wall-time", values, values).each(on(contender, -1, func(d *result.Document) {
			if *d.Procedure.Round < c.fail {
				d.Measurement = result.Measurement{Status: result.Partial, Reason: result.ReasonPartial, Observations: result.Values(base)}
			}
		}))
		o := judge(t, params(t, r, policy(t, .02)))
		row := o.Document.Rows[0]
		if row.Verdict != c.want || row.Dropped != c.fail || row.N != c.rounds-c.fail {
			t.Errorf("%d of %d fail: %s, n %d, dropped %d, want %s", c.fail, c.rounds, row.Verdict, row.N, row.Dropped, c.want)
		}
		if excluded, _ := o.Comparison.Get("exclusions"); excluded.Len() != c.fail {
			t.Errorf("%d exclusions, want %d", excluded.Len(), c.fail)
		}
	}
}

// Whatever is broken, no row and no summary of it says anything but invalid.
func TestBrokenInvariantsNeverGiveAVerdict(t *testing.T) {
	t.Parallel()
	breaks := []func(*result.Document){
		func(d *result.Document) { d.Provenance.RunKey = "other" },
		func(d *result.Document) { d.Procedure.Round = nil },
		func(d *result.Document) { *d.Procedure.Slot += 100 },
		func(d *result.Document) { d.Coordinates.Environment.Identity = must(t, `{"runner":"z"}`) },
		func(d *result.Document) { d.Revision.Key = "elsewhere" },
		func(d *result.Document) { *d.Procedure.Round = 99 },
	}
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(6, 8).Draw(rt, "rounds")
		r := newRun(t)
		for _, w := range []string{"A", "B"} {
			b := steady(base, n)
			r.add(w, "wall-time", b, scaled(b, rapid.SliceOfN(rapid.Float64Range(-.5, .5), n, n).Draw(rt, w)...))
		}
		victim := rapid.IntRange(0, len(r.results)-1).Draw(rt, "victim")
		d := &r.results[victim]
		d.IngestKey = "victim"
		breaks[rapid.IntRange(0, len(breaks)-1).Draw(rt, "break")](d)
		p := params(t, r, policy(t, .02))
		p.Rounds = n
		o, err := Judge(p)
		if err != nil {
			rt.Fatal(err)
		}
		if len(o.Document.Failed) == 0 || o.Document.Overall != Invalid || o.Document.Counts[Invalid] != len(o.Document.Rows) {
			rt.Fatalf("%s", Render(o.Document))
		}
		if a, err := Gate(p.Policy, o.Verdict.Canonical()); err != nil || a.Answer != NotJudged {
			rt.Fatalf("gate %s %v", a.Answer, err)
		}
	})
}
