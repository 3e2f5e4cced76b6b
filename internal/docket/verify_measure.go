package docket

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"writ/internal/canon"
	"writ/internal/ledger"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/taskpack"
	"writ/internal/verdict"
)

// measured is what one comparison established.
type measured struct {
	comparison, resultSet, gate Document
	answer                      verdict.Answer
	baseline, contender         string // commits
	baselineTree, contenderTree string
	orders                      []string // "sha256:" and hex, sorted
	identity                    string   // of the environment
}

// remeasured are the comparisons of the landing step, by the tree of the contender.
type remeasured map[string]measured

// comparison is one comparison of the run: its orders, results and judgement.
type comparison struct {
	key     string // run key
	step    string
	n       int // of the step's comparisons, from 0
	orders  map[string]order.Order
	results []result.Result
	verdict Document
	set     Document
	compare Document
	gate    Document
	policy  verdict.GatePolicy
}

// measure opens every order and result, checks that each planned entry has
// exactly one result in the slot that the seed drew for it, and judges again:
// comparison, result set, verdict and gate answer have to come out byte for byte.
func (v *verifier) measure() error {
	v.remeasured = remeasured{}
	verdicts := v.of(ledger.KindVerdict)
	all, err := v.comparisons(verdicts)
	if err != nil {
		return err
	}
	if len(verdicts) == 0 {
		if len(v.of(ledger.KindOrder))+len(v.of(ledger.KindResult)) > 0 {
			v.say("orders or results without a verdict: the measurement did not end")
		}
		return v.missing()
	}
	for _, c := range all {
		if err := v.rejudge(c); err != nil {
			return err
		}
		m, err := v.scheduled(c)
		if err != nil {
			return err
		}
		v.say(fmt.Sprintf("%s: %d results of %d orders, judged again: gate %s", strings.TrimPrefix(c.key, v.b.Run+"."), len(c.results), len(c.orders), m.answer))
		switch {
		case c.step == taskpack.Compare && v.measured.contender == "":
			v.measured = m
		case c.step == LandingStep:
			v.remeasured[m.contenderTree] = m
		default:
			return wrong(ledger.KindVerdict, c.verdict.Ref, "no step of the run makes comparison %s", c.key)
		}
	}
	return nil
}

// LandingStep names the comparisons that are made of the merged tree when a base
// has moved.
const LandingStep = "landing"

// comparisons sorts the documents of measuring by their run key.
func (v *verifier) comparisons(verdicts []Document) ([]*comparison, error) {
	byKey := map[string]*comparison{}
	var out []*comparison
	count := map[string]int{}
	for _, d := range verdicts {
		doc, _, err := verdict.ParseVerdict([]byte(d.Body))
		if err != nil {
			return nil, at(d.Kind, d.Ref, err)
		}
		if err := d.named(BytesRef(d.Kind, []byte(d.Body))); err != nil {
			return nil, err
		}
		step, ok := strings.CutPrefix(doc.RunKey, v.b.Run+".")
		if !ok {
			return nil, wrong(d.Kind, d.Ref, "its run key %s is not of run %s", doc.RunKey, v.b.Run)
		}
		step, _, _ = strings.Cut(step, ".")
		c := &comparison{key: doc.RunKey, step: step, n: count[step], orders: map[string]order.Order{}, verdict: d}
		count[step]++
		if want := order.RunKey(v.b.Run, step, count[step]); doc.RunKey != want {
			return nil, wrong(d.Kind, d.Ref, "its run key is %s, the comparison is %s", doc.RunKey, want)
		}
		byKey[doc.RunKey] = c
		out = append(out, c)
		if c.compare, err = v.bytesOf(ledger.KindComparison, doc.Comparison); err != nil {
			return nil, err
		}
		if c.set, err = v.bytesOf(ledger.KindResultSet, doc.ResultSet); err != nil {
			return nil, err
		}
		if c.policy, err = v.policy(d, doc.Policy); err != nil {
			return nil, err
		}
		v.use(d)
	}
	if err := v.gates(byKey); err != nil {
		return nil, err
	}
	if err := v.fill(byKey); err != nil {
		return nil, err
	}
	return out, complete(out)
}

func (v *verifier) gates(byKey map[string]*comparison) error {
	for _, d := range v.of(ledger.KindGate) {
		body, err := canon.Parse([]byte(d.Body))
		if err != nil {
			return at(d.Kind, d.Ref, err)
		}
		if err := d.named(BytesRef(d.Kind, []byte(d.Body))); err != nil {
			return err
		}
		c := byKey[body.Str("run_key")]
		if c == nil || c.gate.Ref != "" {
			return wrong(d.Kind, d.Ref, "it answers no verdict of this docket, or one that was answered")
		}
		c.gate = d
		v.use(d)
	}
	return nil
}

// bytesOf finds a document by the "sha256:" and hex digest of its bytes.
func (v *verifier) bytesOf(kind, digest string) (Document, error) {
	sum, err := digestOf(kind, digest, digest)
	if err != nil {
		return Document{}, err
	}
	d, err := v.sum(kind, sum)
	if err != nil {
		return d, err
	}
	return d, d.named(BytesRef(kind, []byte(d.Body)))
}

func (v *verifier) policy(d Document, ref verdict.PolicyRef) (verdict.GatePolicy, error) {
	doc, ok := v.bySum[ref.SHA256]
	if !ok || doc.Kind != ledger.KindGatePolicy {
		return verdict.GatePolicy{}, wrong(d.Kind, d.Ref, "its policy %s %s is not in the docket", ref.Name, ref.Version)
	}
	if err := doc.named(PolicyRef(ref.SHA256, v.b.Run)); err != nil {
		return verdict.GatePolicy{}, err
	}
	v.use(doc)
	p, err := verdict.ParsePolicy([]byte(doc.Body))
	return p, at(doc.Kind, doc.Ref, err)
}

// fill puts orders and results to their comparisons.
func (v *verifier) fill(byKey map[string]*comparison) error {
	orders := map[string]order.Order{}
	for _, d := range v.of(ledger.KindOrder) {
		o, err := order.Parse([]byte(d.Body))
		if err != nil {
			return at(d.Kind, d.Ref, err)
		}
		if err := d.named(o.Ref()); err != nil {
			return err
		}
		if err := v.ordered(o); err != nil {
			return err
		}
		orders[o.Ref()] = o
		if c := byKey[o.RunKey]; c != nil {
			c.orders[o.Ref()] = o
		} // else it is of a measurement that did not end
		v.use(d)
	}
	seen := map[string]bool{}
	for _, d := range v.of(ledger.KindResult) {
		r, err := result.Parse([]byte(d.Body))
		if err != nil {
			return at(d.Kind, d.Ref, err)
		}
		if err := d.named(ResultRef(r.Digest())); err != nil {
			return err
		}
		o, ok := orders[r.WorkOrder()]
		entry := o.Ref() + "#" + r.PlanEntry()
		switch {
		case !ok:
			return wrong(d.Kind, d.Ref, "it names order %s, which is not in the docket", r.WorkOrder())
		case r.Provenance.RunKey != o.RunKey:
			return wrong(d.Kind, d.Ref, "it is of comparison %s, its order of %s", r.Provenance.RunKey, o.RunKey)
		case seen[entry]:
			return wrong(d.Kind, d.Ref, "plan entry %s of its order has two results", r.PlanEntry())
		case !slices.ContainsFunc(o.Plan, func(e order.Entry) bool { return e.ID == r.PlanEntry() }):
			return wrong(d.Kind, d.Ref, "its order has no plan entry %s", r.PlanEntry())
		}
		seen[entry] = true
		if c := byKey[o.RunKey]; c != nil {
			c.results = append(c.results, r)
		}
		v.use(d)
	}
	return nil
}

// complete checks that every planned entry of a judged comparison has a result.
func complete(all []*comparison) error {
	for _, c := range all {
		have := map[string]bool{}
		for _, r := range c.results {
			have[r.WorkOrder()+"#"+r.PlanEntry()] = true
		}
		for _, ref := range slices.Sorted(maps.Keys(c.orders)) {
			for _, e := range c.orders[ref].Plan {
				if !have[ref+"#"+e.ID] {
					return wrong(ledger.KindOrder, ref, "plan entry %s has no result", e.ID)
				}
			}
		}
	}
	return nil
}

// ordered checks the joints of an order: run, proposal, step, and who asked.
func (v *verifier) ordered(o order.Order) error {
	step, ok := strings.CutPrefix(o.RunKey, v.b.Run+".")
	if !ok {
		return wrong(ledger.KindOrder, o.Ref(), "its run key %s is not of run %s", o.RunKey, v.b.Run)
	}
	step, _, _ = strings.Cut(step, ".")
	for name, want := range map[string]string{"run": v.b.Run, "proposal": v.proposal.Ref, "step": step} {
		if o.Labels[name] != want {
			return wrong(ledger.KindOrder, o.Ref(), "its label %s is %q, not %q", name, o.Labels[name], want)
		}
	}
	if o.Requester.Kind != order.Scheduler || o.Requester.Name != v.proposal.Ref {
		return wrong(ledger.KindOrder, o.Ref(), "it was requested by %s %s, not for the proposal", o.Requester.Kind, o.Requester.Name)
	}
	return nil
}

// rejudge judges the results again, and checks that nothing that was planned is
// missing from the verdict.
func (v *verifier) rejudge(c *comparison) error {
	if c.gate.Ref == "" {
		return wrong(ledger.KindVerdict, c.verdict.Ref, "no gate answered it")
	}
	claimed := verdict.Claimed{
		Comparison: []byte(c.compare.Body), ResultSet: []byte(c.set.Body), Verdict: []byte(c.verdict.Body), Gate: []byte(c.gate.Body),
	}
	if err := verdict.Recheck(claimed, c.results, c.policy); err != nil {
		return at(ledger.KindVerdict, c.verdict.Ref, err)
	}
	doc, _, err := verdict.ParseVerdict([]byte(c.verdict.Body))
	if err != nil {
		return at(ledger.KindVerdict, c.verdict.Ref, err)
	}
	judged := map[string]bool{}
	for _, r := range doc.Rows {
		judged[pairName(r.Workload, r.Parameters, r.Quantity)] = true
	}
	for _, o := range c.orders {
		for _, p := range verdict.Planned(o) {
			if !judged[pairName(p.Workload, p.Parameters, p.Quantity)] {
				return wrong(ledger.KindVerdict, c.verdict.Ref, "%s %s was planned and is not judged", p.Workload, p.Quantity)
			}
		}
	}
	return nil
}

func pairName(workload string, parameters map[string]canon.Value, quantity string) string {
	return string(canon.MustFrom([]any{workload, parameters, quantity}).Canonical())
}

// EnvironmentIdentity names the environment that a result was measured in: the
// plain digest of its schema and identity.
func EnvironmentIdentity(r result.Result) string {
	e := r.Coordinates.Environment
	return canon.PlainRef(canon.MustFrom(map[string]any{"schema": e.Schema, "identity": e.Identity}))
}
