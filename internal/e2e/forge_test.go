//go:build !race

package e2e

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"writ/internal/canon"
	"writ/internal/docket"
	"writ/internal/ledger"
	"writ/internal/order"
	"writ/internal/proposal"
	"writ/internal/result"
	"writ/internal/taskpack"
	"writ/internal/verdict"
)

// forger is a host that measured something else than it had to and makes the rest
// fit: it judges again, writes the facts of the run again, signs another record,
// and seals it all.
type forger struct {
	x       exhibit
	t       *testing.T
	b       *docket.Bundle
	renamed map[string]string
	orders  []order.Order
	results []result.Result
	policy  verdict.GatePolicy
}

func newForger(t *testing.T, x exhibit) *forger {
	t.Helper()
	f := &forger{x: x, t: t, b: clone(x.b), renamed: map[string]string{}}
	for _, d := range f.b.Documents {
		switch d.Kind {
		case ledger.KindOrder:
			f.orders = append(f.orders, must(order.Parse([]byte(d.Body)))(t))
		case ledger.KindResult:
			f.results = append(f.results, must(result.Parse([]byte(d.Body)))(t))
		case ledger.KindGatePolicy:
			f.policy = must(verdict.ParsePolicy([]byte(d.Body)))(t)
		}
	}
	return f
}

func must[T any](x T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
}

// replace puts another body under another ref in a document's place.
func (f *forger) replace(ref, to string, body []byte) {
	for i := range f.b.Documents {
		if d := &f.b.Documents[i]; d.Ref == ref {
			d.Ref, d.Body = to, string(body)
			f.renamed[ref] = to
		}
	}
}

// drop takes a document out, and the event that accepted it.
func (f *forger) drop(ref string) {
	at := acceptance(f.b, ref)
	f.b.Events = slices.Delete(f.b.Events, at, at+1)
	f.b.Documents = slices.DeleteFunc(f.b.Documents, func(d docket.Document) bool { return d.Ref == ref })
}

// fewer drops the last round.
func (f *forger) fewer() {
	last := len(f.orders)/2 - 1
	f.orders = slices.DeleteFunc(f.orders, func(o order.Order) bool {
		if *o.Round == last {
			f.drop(o.Ref())
		}
		return *o.Round == last
	})
	f.results = slices.DeleteFunc(f.results, func(r result.Result) bool {
		if *r.Procedure.Round == last {
			f.drop(docket.ResultRef(r.Digest()))
		}
		return *r.Procedure.Round == last
	})
}

// swapped exchanges the slots of the two sides in every round.
func (f *forger) swapped() {
	for i, r := range f.results {
		d, slot := r.Document, *r.Procedure.Slot^1
		d.Procedure.Slot, d.IngestKey = &slot, ""
		f.result(i, must(result.New(d))(f.t))
	}
}

func (f *forger) result(i int, r result.Result) {
	f.replace(docket.ResultRef(f.results[i].Digest()), docket.ResultRef(r.Digest()), r.Raw())
	f.results[i] = r
}

// reordered measures under other orders, which say replace in the place of what.
func (f *forger) reordered(what, with string) {
	refs := map[string]order.Order{}
	for i, o := range f.orders {
		changed := must(order.Parse([]byte(strings.ReplaceAll(string(o.Raw()), what, with))))(f.t)
		refs[o.Ref()] = changed
		f.replace(o.Ref(), changed.Ref(), changed.Raw())
		f.orders[i] = changed
	}
	for i, r := range f.results {
		o := refs[r.WorkOrder()]
		body := strings.ReplaceAll(strings.ReplaceAll(string(r.Raw()), what, with), r.WorkOrder(), o.Ref())
		d := must(result.Parse([]byte(body)))(f.t).Document
		d.AttemptKey = result.AttemptKey(o.Digest(), 0)
		f.result(i, must(result.New(d))(f.t))
	}
}

// finish judges, writes the facts again, signs the record and seals.
func (f *forger) finish() *docket.Bundle {
	f.t.Helper()
	old := map[string]docket.Document{}
	for _, d := range f.b.Documents {
		old[d.Kind] = d // there is one of each kind that is asked for
	}
	compared := must(canon.Parse([]byte(old[ledger.KindComparison].Body)))(f.t)
	claimed, _, err := verdict.ParseVerdict([]byte(old[ledger.KindVerdict].Body))
	if err != nil {
		f.t.Fatal(err)
	}
	o := must(verdict.Judge(verdict.Params{
		Results: f.results, Policy: f.policy, RunKey: claimed.RunKey, Baseline: compared.Str("baseline"),
		Planned: verdict.Planned(f.orders...), Rounds: len(f.orders) / 2,
	}))(f.t)
	gate := must(verdict.Gate(f.policy, o.Verdict.Canonical()))(f.t)
	bodies := map[string][]byte{
		ledger.KindComparison: o.Comparison.Canonical(), ledger.KindResultSet: o.ResultSet.Canonical(),
		ledger.KindVerdict: o.Verdict.Canonical(), ledger.KindGate: gate.Raw(),
	}
	for kind, body := range bodies {
		f.replace(old[kind].Ref, docket.BytesRef(kind, body), body)
	}
	f.record(bodies)
	rehash(f.t, f.b, f.renamed)
	f.x.reseal(f.t, f.b)
	return f.b
}

// record writes facts, result and execution record for the new comparison.
func (f *forger) record(bodies map[string][]byte) {
	f.t.Helper()
	var plan taskpack.Plan
	var facts []docket.Document
	var chain taskpack.RecordParams
	var result, execution docket.Document
	for _, d := range f.b.Documents {
		doc := func(kind proposal.Kind) proposal.Document { return must(proposal.Open(kind, []byte(d.Body)))(f.t) }
		switch d.Kind {
		case ledger.KindPlan:
			plan = must(taskpack.ParsePlan([]byte(d.Body)))(f.t)
		case ledger.KindProposal:
			chain.Proposal = must(proposal.AsProposal(doc(proposal.KindProposal)))(f.t)
		case ledger.KindReview:
			chain.Review = must(proposal.AsReview(doc(proposal.KindReview)))(f.t)
		case ledger.KindDecision:
			chain.Decision = must(proposal.AsDecision(doc(proposal.KindDecision)))(f.t)
		case ledger.KindRunFact:
			facts = append(facts, d)
		case ledger.KindExperimentResult:
			result = d
		case ledger.KindExecution:
			execution = d
			chain.At = must(proposal.AsExecution(doc(proposal.KindExecution)))(f.t).From()
		}
	}
	sum := func(kind string) canon.Digest { return canon.Sum(bodies[kind]) }
	run := taskpack.NewRun(plan, taskpack.RunRef(plan.Ref, taskpack.RunKey(chain.Proposal)))
	for _, d := range facts {
		fact := must(taskpack.ParseFact([]byte(d.Body)))(f.t)
		switch {
		case fact.Kind == taskpack.FactOutcome && fact.Step == taskpack.Compare:
			fact.Evidence = []string{canon.ObjectRef(sum(ledger.KindComparison)), canon.ObjectRef(sum(ledger.KindResultSet)), canon.ObjectRef(sum(ledger.KindGate))}
		case fact.Kind == taskpack.FactEvaluated:
			fact.Result = docket.BytesRef(ledger.KindGate, bodies[ledger.KindGate])
		}
		next, fact, err := run.Append(fact, fact.At)
		if err != nil {
			f.t.Fatal(err)
		}
		run = next
		f.replace(d.Ref, fact.Ref(), fact.Bytes)
	}
	chain.Run = run
	chain.Proof = &taskpack.Proof{Comparison: sum(ledger.KindComparison), ResultSet: sum(ledger.KindResultSet), Gate: sum(ledger.KindGate)}
	projected := must(taskpack.Project(run))(f.t)
	f.replace(result.Ref, docket.ExperimentRef(projected.Digest()), projected.Bytes)
	e := must(taskpack.Record(chain, f.x.key))(f.t)
	f.replace(execution.Ref, e.Ref, e.Raw)
}

// forged checks what a host cannot do that has its own key and nobody else's.
func (x exhibit) forged(t *testing.T) {
	seed := *newForger(t, x).orders[0].Schedule.Seed
	for _, c := range []struct {
		what    string
		do      func(*forger)
		station string
		says    string
	}{
		{"nothing", func(*forger) {}, "", ""},
		{"a verdict over fewer rounds", (*forger).fewer, "measure", "the plan wants 6"},
		{"slots that the seed did not draw", (*forger).swapped, "measure", "out of its slot"},
		{"a seed of its own", func(f *forger) { f.reordered(strconv.FormatInt(seed, 10), strconv.FormatInt(seed+1, 10)) }, "measure", "which follows from the plan"},
		{"orders of another proposal", func(f *forger) {
			f.reordered(f.proposal(), strings.Replace(f.proposal(), "sha256:", "sha256:A", 1)[:len(f.proposal())])
		}, "measure", "label proposal"},
		{"cases that were not listed", func(f *forger) { f.reordered("BenchmarkDistinct", "BenchmarkDistant") }, "measure", "listed before"},
		{"the results of another commit", func(f *forger) { f.reordered(f.base(), strings.Repeat("0123", 10)) }, "commit", "the proposal changes"},
	} {
		f := newForger(t, x)
		c.do(f)
		b := f.finish()
		if c.station == "" { // the forger works: what it makes of the same results is as good
			if err := verify(b, x.trust); err != nil {
				t.Fatalf("forging %s: %v", c.what, err)
			}
			continue
		}
		if s := x.found(t, c.what, b); s.Name != c.station || !strings.Contains(s.Why, c.says) {
			t.Errorf("%s: found at %s as %s %s: %s", c.what, s.Name, s.Kind, s.Document, s.Why)
		}
	}
	x.recordedTwice(t)
}

func (f *forger) proposal() string { return f.orders[0].Labels["proposal"] }

// base is the commit that the baseline was measured on.
func (f *forger) base() string {
	for _, d := range f.b.Documents {
		if d.Kind == ledger.KindProposal {
			c, _ := must(canon.Parse([]byte(d.Body)))(f.t).Get("candidate")
			_, commit, _ := strings.Cut(c.Str("ref"), "@")
			return commit
		}
	}
	return ""
}

// recordedTwice adds a second execution record, signed by the host a second later.
func (x exhibit) recordedTwice(t *testing.T) {
	for _, d := range x.b.Documents {
		if d.Kind != ledger.KindExecution {
			continue
		}
		v := must(canon.Parse([]byte(d.Body)))(t)
		e := must(proposal.Open(proposal.KindExecution, []byte(d.Body)))(t)
		later := v.With("recorded-at", canon.StringOf(proposal.Instant(e.From().Add(1e9))))
		again, err := proposal.Sign(proposal.KindExecution, later, x.key)
		if err != nil {
			t.Fatal(err)
		}
		b := clone(x.b)
		b.Documents = append(b.Documents, docket.Document{Kind: d.Kind, Ref: again.Ref, SHA256: canon.Sum(again.Raw).Hex(), Body: string(again.Raw)})
		x.accept(t, b, b.Documents[len(b.Documents)-1])
		if s := x.found(t, "a second record", b); s.Document != again.Ref {
			t.Errorf("a second record: found as %s %s: %s", s.Kind, s.Document, s.Why)
		}
	}
}
