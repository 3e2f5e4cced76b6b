package verdict

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/result"
	"writ/internal/schema"
)

func gate(t *testing.T, p GatePolicy, o Outcome) GateAnswer {
	t.Helper()
	a, err := Gate(p, o.Verdict.Canonical())
	if err != nil {
		t.Fatal(err)
	}
	valid(t, string(a.Answer), o, a)
	return a
}

func TestOneSlowerRowBlocks(t *testing.T) {
	t.Parallel()
	ten := steady(base, 10)
	noise := []float64{.1, -.1, .1, -.1, .1, -.1, .1, -.1, .1, -.1}
	p := policy(t, .02)
	o := judge(t, params(t, newRun(t).
		add("A", "wall-time", ten, scaled(ten, slices.Repeat([]float64{.1}, 10)...)).
		add("B", "wall-time", ten, ten).add("C", "wall-time", ten, scaled(ten, noise...)).add("D", "wall-time", ten, nil), p))
	a := gate(t, p, o)
	if a.Answer != Block || a.Verdict != canon.PlainRef(o.Verdict) || a.Policy != p.Ref() || a.RunKey != testRun {
		t.Errorf("answer %+v", a)
	}
	if diff := cmp.Diff(map[Answer]int{Block: 1, Pass: 1, Hold: 1, NotJudged: 1}, a.Counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	want := []string{"block: A wall-time: slower, 1.001 ms -> 1.106 ms, x1.105 [1.105, 1.105] 95.1 %", "invalid: coverage: D wall-time: the contender has no result", "hold: C wall-time: ? inconclusive (noise)", "pass: 1 of 4 gating rows: 1 no-difference"}
	for i, w := range want {
		if i >= len(a.Reasons) || !strings.HasPrefix(a.Reasons[i], w) {
			t.Errorf("reason %d: %v, want %s…", i, a.Reasons, w)
		}
	}
	if len(a.Reasons) != len(want) {
		t.Errorf("%d reasons, want %d", len(a.Reasons), len(want))
	}
	if !strings.Contains(a.Reasons[0], "p = 0.00391 (holm over 4)") || !strings.Contains(a.Reasons[0], "n = 10") {
		t.Errorf("numbers are missing: %s", a.Reasons[0])
	}
}

func TestAnswersAsFaults(t *testing.T) {
	t.Parallel()
	for answer, code := range map[Answer]fault.Code{Pass: "", Hold: fault.OnHold, Block: fault.Blocked, NotJudged: fault.Incomparable} {
		if got := fault.CodeOf(GateAnswer{Answer: answer}.Err()); got != code {
			t.Errorf("%s: %q, want %q", answer, got, code)
		}
	}
}

// A difference that is clear alone may be chance among many.
func TestFamilyOfManyNeedsMore(t *testing.T) {
	t.Parallel()
	b := steady(base, 10)
	clear := newRun(t).add("A", "wall-time", b, scaled(b, g1...))
	for _, w := range strings.Split("B C D E F G H I J K L M N O P Q R S T U", " ") {
		clear.add(w, "wall-time", b, b)
	}
	row := judge(t, params(t, clear, policy(t, .003))).Document.Rows[0]
	if row.Verdict != Inconclusive || row.Reason != reasonFamily || row.Hint != "slower" || *row.PSlower > .05/2 || *row.PHolm <= .05 {
		t.Errorf("among 21: %s (%s, %s) p %v Holm %v", row.Verdict, row.Reason, row.Hint, *row.PSlower, *row.PHolm)
	}
}

func TestTooFewRoundsForTheFamily(t *testing.T) {
	t.Parallel()
	b := steady(base, 7)
	r := newRun(t)
	for _, w := range strings.Split("A B C D E F G H I J", " ") {
		r.add(w, "wall-time", b, scaled(b, slices.Repeat([]float64{.5}, 7)...))
	}
	doc := judge(t, params(t, r, policy(t, .02))).Document
	if row := doc.Rows[0]; row.Verdict != Underpowered || row.Need != 8 || len(row.Interval) != 2 {
		t.Errorf("%s, needs %d, interval %v; want underpowered, 8 and the interval", row.Verdict, row.Need, row.Interval)
	}
	// The same rounds are enough when a quantity only reports.
	only := policy(t, .02, func(p *GatePolicy) { p.Gating = []string{"cpu-time"} })
	o := judge(t, params(t, r, only))
	row := o.Document.Rows[0]
	if row.Verdict != Slower || row.Gating || row.QSlower == nil || row.PHolm != nil {
		t.Errorf("reporting row: %+v", row)
	}
	if a := gate(t, only, o); a.Answer != NotJudged || !strings.Contains(a.Reasons[0], "nothing was checked") {
		t.Errorf("a gate that checks nothing says %s %v", a.Answer, a.Reasons)
	}
}

func TestReportingRowsDoNotStopAChange(t *testing.T) {
	t.Parallel()
	b := steady(base, 10)
	p := policy(t, .02, func(p *GatePolicy) { p.Gating = []string{"wall-time"} })
	r := newRun(t).add("A", "wall-time", b, b).add("A", "cpu-time", b, scaled(b, slices.Repeat([]float64{.5}, 10)...)).
		add("B", "cpu-time", make([]float64, 10), b)
	o := judge(t, params(t, r, p))
	if a := gate(t, p, o); a.Answer != Pass || o.Document.Overall != NoDifference {
		t.Errorf("gate %s %v, overall %s", a.Answer, a.Reasons, o.Document.Overall)
	}
	// A planned quantity that was never measured does.
	r.add("B", "wall-time", nil, nil)
	pr := params(t, r, p)
	pr.Planned = []Pair{{Workload: "A", Quantity: "wall-time"}, {Workload: "C", Quantity: "cpu-time"}}
	if a := gate(t, p, judge(t, pr)); a.Answer != NotJudged {
		t.Errorf("missing planned case: %s", a.Answer)
	}
}

func TestOneSideBeforeTheOtherIsOnlyAHold(t *testing.T) {
	t.Parallel()
	b := steady(base, 10)
	for by, word := range map[float64]Word{.2: Slower, 0: NoDifference} {
		r := newRun(t).add("A", "wall-time", b, scaled(b, slices.Repeat([]float64{by}, 10)...)).each(func(d *result.Document) {
			d.Coordinates.ComparisonContext = must(t, `{"protocol":{"schedule":{"kind":"sequential"}}}`)
			*d.Procedure.Slot = *d.Procedure.Round
			if d.Provenance.SubjectTree == headTree {
				*d.Procedure.Slot += 10
			}
		})
		p := policy(t, .02)
		o := judge(t, params(t, r, p))
		row := o.Document.Rows[0]
		if row.Verdict != word || !hasNote(row, orderConfounded) {
			t.Errorf("%v: %s %v", by, row.Verdict, row.Warnings)
		}
		if a := gate(t, p, o); a.Answer != Hold {
			t.Errorf("%v: gate %s, want hold", by, a.Answer)
		}
	}
}

func hasNote(r Row, code string) bool {
	return slices.ContainsFunc(r.Warnings, func(n Note) bool { return n.Code == code })
}

func TestDoubts(t *testing.T) {
	t.Parallel()
	b := steady(base, 12)
	drifting := make([]float64, 12)
	wild := slices.Repeat([]float64{0}, 12)
	for i := range drifting {
		drifting[i] = float64(i) * .001
	}
	wild[2], wild[5], wild[9] = 2, -2, 2
	slots := func(kind string) func(d *result.Document) {
		return func(d *result.Document) {
			d.Coordinates.ComparisonContext = must(t, `{"protocol":{"schedule":{"kind":"`+kind+`"}}}`)
			*d.Procedure.Slot = 2 * *d.Procedure.Round
			if d.Provenance.SubjectTree == headTree {
				*d.Procedure.Slot++
			}
		}
	}
	for _, c := range []struct {
		code string
		run  *run
		want bool
	}{
		{"drift", newRun(t).add("A", "wall-time", b, scaled(b, drifting...)), true},
		{"drift", newRun(t).add("A", "wall-time", b, b), false},
		{"outliers", newRun(t).add("A", "wall-time", b, scaled(b, wild...)), true},
		{"resolution-limited", newRun(t).add("A", "wall-time", slices.Repeat([]float64{1}, 12), b), true},
		{"resolution-limited", newRun(t).add("A", "allocations", slices.Repeat([]float64{1}, 12), slices.Repeat([]float64{1}, 12)), false},
		{"order-fixed", newRun(t).add("A", "wall-time", b, b).each(slots("alternating")), true},
		{"order-fixed", newRun(t).add("A", "wall-time", b, b).each(slots("random")), false},
		{"order-fixed", newRun(t).add("A", "wall-time", b, b), false},
		{"dirty-tree", newRun(t).add("A", "wall-time", b, b).each(on(contender, -1, func(d *result.Document) { d.Provenance.SubjectDirty = result.Dirty })), true},
		{"collector-failed", newRun(t).add("A", "wall-time", b, b).each(on(contender, 1, func(d *result.Document) { d.Quality = &result.Quality{Warnings: []string{"collector-failed"}} })), true},
		{reasonDropped, newRun(t).add("A", "wall-time", b, b).each(on(contender, 1, func(d *result.Document) {
			d.Measurement = result.Measurement{Status: result.Failed, Reason: result.ReasonTimeout}
		})), true},
		{"low-power", newRun(t).add("A", "wall-time", b, scaled(b, .1, -.1, .2, -.2, .1, -.1, .2, -.2, .1, -.1, .2, -.2)), true},
		{"low-power", newRun(t).add("A", "wall-time", b, b), false},
	} {
		doc := judge(t, params(t, c.run, policy(t, .02))).Document
		if got := hasNote(doc.Rows[0], c.code); got != c.want {
			t.Errorf("%s: %v, want %v (%v)", c.code, got, c.want, doc.Rows[0].Warnings)
		}
		if c.want && !strings.Contains(Render(doc), c.code) {
			t.Errorf("%s is not in the text:\n%s", c.code, Render(doc))
		}
	}
}

func TestFloorsAndCases(t *testing.T) {
	t.Parallel()
	b := steady(100e-9, 10)
	slower := scaled(b, slices.Repeat([]float64{.1}, 10)...)
	for _, c := range []struct {
		name   string
		t      Threshold
		want   Word
		reason string
	}{
		{"no floor", Threshold{Relative: .02}, Slower, ""},
		{"floor above the change", Threshold{Relative: .02, Absolute: 50e-9}, NoDifference, reasonBelowFloor},
		{"floor below the change", Threshold{Relative: .02, Absolute: 5e-9}, Slower, ""},
		{"wide threshold", Threshold{Relative: .2}, NoDifference, ""},
	} {
		p := policy(t, .5, func(p *GatePolicy) { p.Cases = []CaseThreshold{{Workload: "A", Quantity: "wall-time", Threshold: c.t}} })
		o := judge(t, params(t, newRun(t).add("A", "wall-time", b, slower).add("B", "wall-time", b, slower), p))
		if r := o.Document.Rows[0]; r.Verdict != c.want || r.Reason != c.reason {
			t.Errorf("%s: %s (%s), want %s (%s)", c.name, r.Verdict, r.Reason, c.want, c.reason)
		}
		if r := o.Document.Rows[1]; r.Verdict != NoDifference {
			t.Errorf("%s: the other case is %s", c.name, r.Verdict)
		}
	}
	// A change as large as the floor, clear in relation and unclear in size.
	mixed := make([]float64, 10)
	for i := range mixed {
		mixed[i] = .02 + .018*float64(i)
	}
	p := policy(t, .02, func(p *GatePolicy) { p.Default.Absolute = 12e-9 })
	o := judge(t, params(t, newRun(t).add("A", "wall-time", b, scaled(b, mixed...)), p))
	if r := o.Document.Rows[0]; r.Verdict != Inconclusive || r.Reason != reasonBelowFloor {
		t.Errorf("around the floor: %s (%s)", r.Verdict, r.Reason)
	}
}

func TestGateOfAnotherPolicy(t *testing.T) {
	t.Parallel()
	b := steady(base, 10)
	o := judge(t, params(t, newRun(t).add("A", "wall-time", b, b), policy(t, .02)))
	if _, err := Gate(policy(t, .03), o.Verdict.Canonical()); fault.CodeOf(err) != fault.Relation {
		t.Errorf("%v, want a mismatch of policies", err)
	}
	if _, err := Gate(GatePolicy{}, o.Verdict.Canonical()); fault.CodeOf(err) != fault.Usage {
		t.Errorf("no policy: %v", err)
	}
	for name, raw := range map[string]string{
		"not JSON": "{", "another schema": `{"schema":"x"}`, "unknown member": string(o.Verdict.With("more", canon.Null()).Canonical()),
		"unknown word": strings.Replace(string(o.Verdict.Canonical()), `"verdict":"no-difference"`, `"verdict":"fine"`, 1),
	} {
		if _, err := Gate(policy(t, .02), []byte(raw)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestDefaultPolicyIsAPolicy(t *testing.T) {
	t.Parallel()
	p := DefaultPolicy()
	back, err := ParsePolicy(p.Raw())
	if err != nil {
		t.Fatal(err)
	}
	if back.Ref() != p.Ref() || p.Ref().SHA256 != canon.Sum(p.Raw()).Hex() {
		t.Error("the policy has two digests")
	}
	if err := schema.Validate(schema.GatePolicy, must(t, string(p.Raw()))); err != nil {
		t.Errorf("schema: %v", err)
	}
}

func TestPoliciesThatAreRefused(t *testing.T) {
	t.Parallel()
	raw := must(t, string(DefaultPolicy().Raw()))
	for pointer, c := range map[string]struct{ member, value string }{
		"/alpha":            {"alpha", "0.9"},
		"/power":            {"power", "1"},
		"/name":             {"name", `"a b"`},
		"/version":          {"version", `""`},
		"/gating":           {"gating", "[]"},
		"/default":          {"default", `{"relative":0,"absolute":0}`},
		"/default/measure":  {"default", `{"relative":1,"absolute":0,"measure":"log"}`},
		"/quantities/q":     {"quantities", `{"q":{"relative":-1,"absolute":0}}`},
		"/cases/0/workload": {"cases", `[{"workload":"","relative":1,"absolute":0}]`},
		"/dropped":          {"dropped", `{"rounds":-1,"share":0}`},
		"/actions/faster":   {"actions", `{"slower":"block","no-difference":"pass","identical":"pass","inconclusive":"hold","underpowered":"hold"}`},
		"/actions/invalid":  {"actions", `{"invalid":"pass","faster":"pass","slower":"block","no-difference":"pass","identical":"pass","inconclusive":"hold","underpowered":"hold"}`},
		"/actions/quick":    {"actions", `{"quick":"pass","faster":"pass","slower":"block","no-difference":"pass","identical":"pass","inconclusive":"hold","underpowered":"hold"}`},
	} {
		_, err := ParsePolicy(raw.With(c.member, must(t, c.value)).Canonical())
		if e, ok := fault.As(err); !ok || e.Code != fault.Invalid || e.Pointer != pointer {
			t.Errorf("%s: %v", pointer, err)
		}
	}
	if _, err := ParsePolicy(raw.With("schema", canon.StringOf("x")).Canonical()); fault.CodeOf(err) != fault.UnknownKind {
		t.Errorf("another kind: %v", err)
	}
	if _, err := ParsePolicy(raw.With("more", canon.Null()).Canonical()); fault.CodeOf(err) != fault.Invalid {
		t.Errorf("unknown member: %v", err)
	}
}

func FuzzParsePolicy(f *testing.F) {
	f.Add(DefaultPolicy().Raw())
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := ParsePolicy(b)
		if err != nil {
			if e, ok := fault.As(err); !ok || e.Code == fault.Internal {
				t.Fatalf("not a refusal: %v", err)
			}
			return
		}
		if again, err := ParsePolicy(p.Raw()); err != nil || again.Ref() != p.Ref() {
			t.Fatalf("canonical form is another policy: %v", err)
		}
	})
}
