package verdict

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/order"
	"writ/internal/result"
)

func mixedRun(t testing.TB) *run {
	b := steady(base, 10)
	return newRun(t).add("A", "wall-time", b, scaled(b, g1...)).add("B", "wall-time", b, b).
		add("B", "allocations", []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, []float64{1, 2, 1, 1, 1, 1, 1, 1, 1, 2}).add("C", "wall-time", b, b[:9])
}

func claim(t testing.TB, p Params) (Claimed, Outcome) {
	t.Helper()
	o := judge(t, p)
	a, err := Gate(p.Policy, o.Verdict.Canonical())
	if err != nil {
		t.Fatal(err)
	}
	return Claimed{o.Comparison.Canonical(), o.ResultSet.Canonical(), o.Verdict.Canonical(), a.Raw()}, o
}

func TestJudgingAgainGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	p := params(t, mixedRun(t), policy(t, .003))
	p.Sigma = func(pair Pair) (float64, bool) { return .0123, pair.Workload == "A" }
	want, _ := claim(t, p)
	rng := rand.New(rand.NewPCG(8, 9))
	for range 5 {
		rng.Shuffle(len(p.Results), func(i, j int) { p.Results[i], p.Results[j] = p.Results[j], p.Results[i] })
		// Also through their bytes.
		for i, r := range p.Results {
			back, err := result.Parse(r.Raw())
			if err != nil {
				t.Fatal(err)
			}
			p.Results[i] = back
		}
		got, _ := claim(t, p)
		if !bytes.Equal(got.Comparison, want.Comparison) || !bytes.Equal(got.ResultSet, want.ResultSet) || !bytes.Equal(got.Verdict, want.Verdict) || !bytes.Equal(got.Gate, want.Gate) {
			t.Fatal("the order of arrival changes a document")
		}
		if err := Recheck(got, p.Results, p.Policy); err != nil {
			t.Fatalf("recheck: %v", err)
		}
	}
}

// The documents of a known comparison, bit for bit: a change here means that
// dockets of earlier builds no longer verify.
func TestDigestsOfAKnownComparison(t *testing.T) {
	t.Parallel()
	c, _ := claim(t, params(t, mixedRun(t), DefaultPolicy()))
	for name, d := range map[string]struct {
		raw  []byte
		want string
	}{
		"result set": {c.ResultSet, "76b6f03a1759e822"}, "comparison": {c.Comparison, "fa01ff6de955fb4e"}, "verdict": {c.Verdict, "cd5eef28de2cfbb1"}, "gate": {c.Gate, "d66e9d8701eb14f4"},
	} {
		if got := canon.Sum(d.raw).Hex()[:16]; got != d.want {
			t.Errorf("%s %s, want %s\n%s", name, got, d.want, d.raw)
		}
	}
}

func FuzzParseVerdict(f *testing.F) {
	c, _ := claim(f, params(f, mixedRun(f), DefaultPolicy()))
	f.Add(c.Verdict)
	f.Add([]byte(`{"schema":"writ.verdict/v1"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, _, err := ParseVerdict(b)
		if err != nil {
			if e, ok := fault.As(err); !ok || e.Code == fault.Internal {
				t.Fatalf("not a refusal: %v", err)
			}
			return
		}
		if text := Render(d); !strings.Contains(text, "case") {
			t.Fatalf("no table: %s", text)
		}
		p := DefaultPolicy()
		if _, err := Gate(p, b); err != nil && fault.CodeOf(err) == fault.Internal {
			t.Fatal(err)
		}
	})
}

func TestRecheckOfInvalidEvidence(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]Params{
		"one side":  params(t, newRun(t).add("A", "wall-time", steady(base, 6), nil), policy(t, .02)),
		"two slots": params(t, mixedRun(t).each(on(contender, 2, func(d *result.Document) { d.Procedure.Slot = nil })), policy(t, .02)),
	} {
		c, o := claim(t, p)
		if o.Document.Overall != Invalid {
			t.Errorf("%s: %s", name, o.Document.Overall)
		}
		if err := Recheck(c, p.Results, p.Policy); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRecheckFindsEveryChange(t *testing.T) {
	t.Parallel()
	p := params(t, mixedRun(t), policy(t, .003))
	good, _ := claim(t, p)
	swap := func(b []byte, from, to string) []byte {
		t.Helper()
		out := bytes.Replace(b, []byte(from), []byte(to), 1)
		if bytes.Equal(out, b) {
			t.Fatalf("%s does not occur in %s", from, b)
		}
		return out
	}
	for name, c := range map[string]Claimed{
		"word of the verdict":  {good.Comparison, good.ResultSet, swap(good.Verdict, `"verdict":"slower"`, `"verdict":"faster"`), nil},
		"number of rounds":     {good.Comparison, good.ResultSet, swap(good.Verdict, `"rounds":10`, `"rounds":9`), nil},
		"digest of a result":   {good.Comparison, swap(good.ResultSet, `"sha256":"`, `"sha256":"0000`), good.Verdict, nil},
		"word of a comparison": {swap(good.Comparison, "regressed", "improved"), good.ResultSet, good.Verdict, nil},
		"answer of the gate":   {good.Comparison, good.ResultSet, good.Verdict, swap(good.Gate, `"answer":"block"`, `"answer":"pass"`)},
		"spelling":             {append([]byte(" "), good.Comparison...), good.ResultSet, good.Verdict, nil},
	} {
		if err := Recheck(c, p.Results, p.Policy); fault.CodeOf(err) != fault.Evidence {
			t.Errorf("%s: %v, want an evidence mismatch", name, err)
		}
	}
	// A result with one more digit, and a result that is left out.
	doc := p.Results[3].Document
	doc.Measurement.Observations[0].Value += 1e-12
	other, err := result.New(doc)
	if err != nil {
		t.Fatal(err)
	}
	tampered := append([]result.Result{}, p.Results...)
	tampered[3] = other
	if err := Recheck(good, tampered, p.Policy); fault.CodeOf(err) != fault.Evidence {
		t.Errorf("tampered result: %v", err)
	}
	if err := Recheck(good, p.Results[1:], p.Policy); fault.CodeOf(err) != fault.Evidence {
		t.Errorf("result left out: %v", err)
	}
	if err := Recheck(good, p.Results, policy(t, .004)); fault.CodeOf(err) != fault.Evidence {
		t.Errorf("another policy: %v", err)
	}
	if err := Recheck(Claimed{Comparison: []byte("{"), Verdict: good.Verdict}, p.Results, p.Policy); fault.CodeOf(err) != fault.Malformed {
		t.Errorf("not JSON: %v", err)
	}
}

func TestPlannedSpeaksTheWordsOfResults(t *testing.T) {
	t.Parallel()
	o := order.Order{
		EnvironmentVariables: map[string]string{"N": "1"},
		Plan:                 []order.Entry{{ID: "p0", Case: "b c", Quantity: "q"}, {ID: "p1", Case: "a", Quantity: "q"}},
	}
	var got []string
	for _, p := range Planned(o, o) {
		k := p.key()
		got = append(got, k.workload+k.parameters+k.quantity)
	}
	if s := strings.Join(got, " "); s != `a{"N":"1"}q b%20c{"N":"1"}q` {
		t.Errorf("planned %s", s)
	}
}

func TestRenderedTable(t *testing.T) {
	t.Parallel()
	o := judge(t, params(t, mixedRun(t), policy(t, .003)))
	text := Render(o.Document)
	for _, want := range []string{
		"A     wall-time    1.001 ms  1.01 ms    x1.010  [1.006, 1.014] 95.1 %  10       slower\n",
		"C     wall-time    1.001 ms  1.001 ms   x1.000  [1.000, 1.000] 96.1 %  9 of 10  ~ no-difference\n",
		"\nrun_1.compare.1: slower; intervals at level 95 % or more, holm over 4 gating rows, policy test 1, schedule random\n",
		"\nwarning: C wall-time: dropped-rounds: 1 of 10 rounds lack a side\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	lost := judge(t, params(t, newRun(t).add("A", "wall-time", steady(base, 5), steady(base, 5)).add("B", "wall-time", steady(base, 5), nil), policy(t, .02)))
	for _, want := range []string{
		"A     wall-time  1.001 ms  1.001 ms  x1.000  ?  5  ? underpowered (too-few-rounds, needs 6 rounds)\n",
		"B     wall-time  ?         ?     ?       ?  0  ? invalid (missing)\n", "failed: coverage: B wall-time: the contender has no result\n",
	} {
		if got := Render(lost.Document); !strings.Contains(strings.Join(strings.Fields(got), " "), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	a, err := Gate(policy(t, .003), o.Verdict.Canonical())
	if err != nil {
		t.Fatal(err)
	}
	if got := RenderGate(a); !strings.HasPrefix(got, "gate block (policy test 1)\n  block: A wall-time: slower") {
		t.Errorf("gate text %s", got)
	}
}

func TestAmounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		x    float64
		unit string
		want string
	}{
		{1.5e-9, "s", "1.5 ns"}, {2.5e-6, "s", "2.5 µs"}, {.0123456, "s", "12.35 ms"}, {3, "s", "3 s"}, {0, "s", "0 ns"},
		{2048, "By", "2 KiB"}, {5, "By", "5 B"}, {7, "1", "7"}, {8, "J", "8 J"}, {-1e-3, "s", "-1 ms"},
	} {
		if got := amount(&c.x, c.unit); got != c.want {
			t.Errorf("%v %s: %s, want %s", c.x, c.unit, got, c.want)
		}
	}
	if got := amount(nil, "s"); got != "?" {
		t.Errorf("nothing: %s", got)
	}
}
