package noise

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/result"
	"writ/internal/verdict"
)

var some = Conditions{Machine: strings.Repeat("a", 64), Kernel: "6.1", Runner: "writ 1", Policy: verdict.DefaultPolicy().Ref()}

// suite makes a suite of one row.
func suite(n int, first string, word verdict.Word, d ...float64) Suite {
	return Suite{RunKey: "s" + strconv.Itoa(n), First: first, At: "2026-01-02T03:04:05Z", Rows: []Row{{
		Workload: "A", Quantity: "wall-time", Precision: "{}", Gating: true, Measure: verdict.Ratio, Threshold: .05, Word: word, Differences: d,
	}}}
}

func document(t testing.TB, suites ...Suite) Document {
	t.Helper()
	d := New(some)
	for _, s := range suites {
		var err error
		if d, err = d.Add(s); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func TestConditions(t *testing.T) {
	t.Parallel()
	seen := func(status, kernel string) result.Environment {
		v, err := canon.Parse([]byte(`{"kernel.release":{"status":"` + status + `","value":"` + kernel + `","when":"before"},"cpu.microcode":{"status":"unavailable","when":"before"}}`))
		if err != nil {
			t.Fatal(err)
		}
		return result.Environment{Schema: "machine/v1", Identity: canon.MustFrom(map[string]string{"runner": "h"}), System: v}
	}
	p := verdict.DefaultPolicy()
	a := ConditionsOf(seen(result.SeenOK, "6.1"), result.Runner{Name: "writ", Version: "1"}, p.Ref())
	if a.Kernel != "6.1" || a.Microcode != "" || a.Runner != "writ 1" || len(a.Machine) != 64 {
		t.Errorf("%+v", a)
	}
	if b := ConditionsOf(seen("error", "6.1"), result.Runner{Name: "writ", Version: "1"}, p.Ref()); b.Kernel != "" || a.SameMachine(b) {
		t.Errorf("what was not seen counts: %+v", b)
	}
	other := a
	other.Policy.Version = "2"
	if !a.SameMachine(other) || a.Key() == other.Key() || len(a.Key()) != 16 {
		t.Error("a policy is no machine, and has a file of its own")
	}
	for name, change := range map[string]func(*Conditions){
		"machine": func(c *Conditions) { c.Machine = strings.Repeat("b", 64) }, "kernel": func(c *Conditions) { c.Kernel = "6.2" },
		"microcode": func(c *Conditions) { c.Microcode = "0x1" }, "runner": func(c *Conditions) { c.Runner = "writ 2" },
	} {
		other := a
		if change(&other); a.SameMachine(other) {
			t.Errorf("another %s is the same machine", name)
		}
	}
}

func TestRates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		count, of int
		want      Answer
	}{{0, 20, Unknown}, {0, 58, Kept}, {0, 59, Kept}, {1, 100, Kept}, {5, 100, Unknown}, {12, 100, Broken}, {0, 0, Unknown}, {3, 3, Broken}} {
		if r := rate(c.count, c.of, .05); r.Answer != c.want || r.Count != c.count || r.Of != c.of {
			t.Errorf("%d of %d: %+v, want %s", c.count, c.of, r, c.want)
		}
	}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	up := []float64{.2, .21, .19, .22, .18, .2}
	d := document(t,
		suite(1, "bcbcbc", verdict.Slower, up...),
		suite(2, "bcbcbc", verdict.NoDifference, .01, -.01, .012, -.012, .002, -.003),
		suite(3, "bcbcbc", verdict.Underpowered, .01, -.01),
	)
	s := d.Summary(.05, .8)
	if s.Suites != 3 || s.Blocked.Count != 1 || s.Blocked.Of != 3 || len(s.Rows) != 1 {
		t.Fatalf("%+v", s)
	}
	r := s.Rows[0]
	if r.Flagged.Count != 1 || r.Flagged.Of != 3 || r.Differs.Count != 1 || r.Differs.Of != 2 || r.Planted.Of != 2 || r.Planted.Count != 2 || r.Rounds != 14 {
		t.Errorf("flagged %+v, differs %+v, planted %+v, rounds %d", r.Flagged, r.Differs, r.Planted, r.Rounds)
	}
	if r.MDE == nil || *r.MDE <= 0 || r.Sigma <= 0 {
		t.Errorf("sigma %g, mde %v", r.Sigma, r.MDE)
	}
}

// Going second costs 3 %, whichever side does.
func TestTheSecondSlotIsSeen(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	var suites []Suite
	for n := range 10 {
		first, d := "", []float64{}
		for range 10 {
			if rng.IntN(2) == 0 {
				first, d = first+"b", append(d, .03+.004*rng.NormFloat64())
			} else {
				first, d = first+"c", append(d, -.03+.004*rng.NormFloat64())
			}
		}
		suites = append(suites, suite(n, first, verdict.NoDifference, d...))
	}
	r := document(t, suites...).Summary(.05, .8).Rows[0]
	if r.Slot == nil || math.Abs(r.Slot.Median-.03) > .002 || r.Slot.Lower > .03 || r.Slot.Upper < .03 || len(r.Doubts) != 1 {
		t.Errorf("slot %+v, doubts %v", r.Slot, r.Doubts)
	}
}

func TestRoundsThatResembleEachOther(t *testing.T) {
	t.Parallel()
	wave := make([]float64, 40)
	for i := range wave {
		wave[i] = math.Sin(float64(i) / 6)
	}
	r := document(t, suite(1, strings.Repeat("b", 40), verdict.Inconclusive, wave...)).Summary(.05, .8).Rows[0]
	if r.Lag1 < .9 || !slices.ContainsFunc(r.Doubts, func(s string) bool { return strings.HasPrefix(s, "neighbouring rounds") }) {
		t.Errorf("lag %g, doubts %v", r.Lag1, r.Doubts)
	}
}

func TestSigma(t *testing.T) {
	t.Parallel()
	noise := []float64{.01, -.01, .02, -.02, .005, -.005, .015, -.015, .01, -.01}
	d := document(t, suite(1, "bbbbbbbbbb", verdict.NoDifference, noise...))
	ratio := func(string, string) string { return verdict.Ratio }
	a := verdict.Pair{Workload: "A", Quantity: "wall-time"}
	if _, ok := d.Sigma("{}", ratio)(a); ok {
		t.Error("ten rounds stand for a machine")
	}
	d, err := d.Add(suite(2, "bbbbbbbbbb", verdict.NoDifference, noise...))
	if err != nil {
		t.Fatal(err)
	}
	want := digits(verdict.RobustSD(slices.Concat(noise, noise)))
	if sd, ok := d.Sigma("{}", ratio)(a); !ok || sd != want {
		t.Errorf("%g %v, want %g", sd, ok, want)
	}
	for name, known := range map[string]func(verdict.Pair) (float64, bool){
		"another precision": d.Sigma(`{"repetitions":2}`, ratio),
		"another measure":   d.Sigma("{}", func(string, string) string { return verdict.Difference }),
	} {
		if sd, ok := known(a); ok {
			t.Errorf("%s is known: %g", name, sd)
		}
	}
	for _, p := range []verdict.Pair{{Workload: "B", Quantity: "wall-time"}, {Workload: "A", Quantity: "cpu-time"}, {Workload: "A", Quantity: "wall-time", Parameters: map[string]canon.Value{"n": canon.IntOf(1)}}} {
		if sd, ok := d.Sigma("{}", ratio)(p); ok {
			t.Errorf("%+v is known: %g", p, sd)
		}
	}
	if _, err := d.Add(suite(2, "b", verdict.NoDifference)); fault.CodeOf(err) != fault.Idempotency {
		t.Errorf("a suite counts twice: %v", err)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	good := string(document(t, suite(1, "bc", verdict.NoDifference, .5, -.25)).Raw())
	if _, err := Parse([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		old, new string
		code     fault.Code
		at       string
	}{
		"no JSON":           {"{", "", fault.Malformed, ""},
		"another kind":      {Schema, "writ.noise/v2", fault.UnknownKind, "/schema"},
		"no digest":         {strings.Repeat("a", 64), "abc", fault.Invalid, "/conditions/machine_sha256"},
		"no run key":        {`"run_key":"s1"`, `"run_key":""`, fault.Invalid, "/suites/0/run_key"},
		"a third side":      {`"first":"bc"`, `"first":"bx"`, fault.Invalid, "/suites/0/first"},
		"too few rounds":    {`"first":"bc"`, `"first":"b"`, fault.Invalid, "/suites/0/rows/0"},
		"no workload":       {`"workload":"A"`, `"workload":""`, fault.Invalid, "/suites/0/rows/0"},
		"no such measure":   {`"measure":"ratio"`, `"measure":"share"`, fault.Invalid, "/suites/0/rows/0"},
		"no such verdict":   {`"verdict":"no-difference"`, `"verdict":"fine"`, fault.Invalid, "/suites/0/rows/0"},
		"a share above one": {`"threshold":0.05`, `"between":2,"threshold":0.05`, fault.Invalid, "/suites/0/rows/0"},
		"below zero":        {`"threshold":0.05`, `"threshold":-1`, fault.Invalid, "/suites/0/rows/0"},
	} {
		text := strings.Replace(good, c.old, c.new, 1)
		if text == good {
			t.Fatalf("%s: nothing was changed in %s", name, good)
		}
		_, err := Parse([]byte(text))
		if e, ok := fault.As(err); !ok || e.Code != c.code || e.Pointer != c.at {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is written is read again, and the order of suites changes no figure but
// that of neighbours.
func TestDocumentsSurvive(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var suites []Suite
		for n := range rapid.IntRange(0, 4).Draw(rt, "suites") {
			first := rapid.StringMatching(`[bc]{0,8}`).Draw(rt, "first")
			d := rapid.SliceOfN(rapid.Map(rapid.Float64Range(-1, 1), digits), len(first), len(first)).Draw(rt, "d")
			suites = append(suites, suite(n, first, rapid.SampledFrom(verdict.Words()).Draw(rt, "word"), d...))
		}
		d := document(t, suites...)
		again, err := Parse(d.Raw())
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(string(d.Raw()), string(again.Raw())); diff != "" {
			rt.Fatal(diff)
		}
		slices.Reverse(suites)
		a, b := d.Summary(.05, .8), document(t, suites...).Summary(.05, .8)
		for i := range a.Rows {
			a.Rows[i].Slot, b.Rows[i].Slot, a.Rows[i].Lag1, b.Rows[i].Lag1 = nil, nil, 0, 0 // sums in another order
			a.Rows[i].Doubts, b.Rows[i].Doubts = nil, nil
		}
		one, _ := json.Marshal(a)
		two, _ := json.Marshal(b)
		if diff := cmp.Diff(string(one), string(two)); diff != "" {
			rt.Fatal(diff)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(document(f, suite(1, "bc", verdict.NoDifference, .5, -.25)).Raw()))
	f.Add([]byte(`{"schema":"writ.noise/v1"}`))
	f.Add([]byte(`{`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := Parse(raw)
		if err != nil {
			return
		}
		again, err := Parse(d.Raw())
		if err != nil || string(again.Raw()) != string(d.Raw()) {
			t.Errorf("read again: %v", err)
		}
		d.Summary(.05, .8)
	})
}
