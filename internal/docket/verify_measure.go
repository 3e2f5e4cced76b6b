package docket

import (
	"fmt"
	"strings"

	"writ/internal/canon"
	"writ/internal/ledger"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/verdict"
)

// measured is what the comparison of the compare step established.
type measured struct {
	comparison, resultSet, verdict, gate string // refs
	comparisonDigest, resultSetDigest    string // "sha256:" and hex
	answer                               verdict.Answer
	baseline, contender                  string // commits
	baselineTree, contenderTree          string
	orders                               []string // "sha256:" and hex, of the compare step
	identity                             string   // of the environment
}

// comparison is one comparison of the run: its orders, results and judgement.
type comparison struct {
	key     string // run key
	orders  map[string]order.Order
	results []result.Result
	verdict Document
	set     Document
	compare Document
	gate    Document
	policy  verdict.GatePolicy
}

// measure opens every order and result, checks that each planned entry has
// exactly one result, and judges again: comparison, result set, verdict and
// gate answer have to come out byte for byte.
func (v *verifier) measure() error {
	verdicts := v.of(ledger.KindVerdict)
	if len(verdicts) == 0 {
		if len(v.of(ledger.KindOrder))+len(v.of(ledger.KindResult)) > 0 {
			v.say("orders or results without a verdict: the measurement did not end")
		}
		return v.missing()
	}
	all, err := v.comparisons(verdicts)
	if err != nil {
		return err
	}
	for _, c := range all {
		if err := v.rejudge(c); err != nil {
			return err
		}
		step := strings.TrimPrefix(c.key, v.b.Run+".")
		v.say(fmt.Sprintf("%s: %d results of %d orders, judged again: gate %s", step, len(c.results), len(c.orders), gateAnswer(c)))
		if strings.HasPrefix(step, "compare.") {
			if err := v.takeMeasured(c); err != nil {
				return err
			}
		}
	}
	return nil
}

func gateAnswer(c *comparison) string {
	body, err := canon.Parse([]byte(c.gate.Body))
	if err != nil {
		return ""
	}
	return body.Str("answer")
}

// comparisons sorts the documents of measuring by their run key.
func (v *verifier) comparisons(verdicts []Document) ([]*comparison, error) {
	byKey := map[string]*comparison{}
	var out []*comparison
	for _, d := range verdicts {
		doc, _, err := verdict.ParseVerdict([]byte(d.Body))
		if err != nil {
			return nil, at(d.Kind, d.Ref, err)
		}
		if !strings.HasPrefix(doc.RunKey, v.b.Run+".") {
			return nil, wrong(d.Kind, d.Ref, "its run key %s is not of run %s", doc.RunKey, v.b.Run)
		}
		if byKey[doc.RunKey] != nil {
			return nil, wrong(d.Kind, d.Ref, "there are two verdicts for %s", doc.RunKey)
		}
		c := &comparison{key: doc.RunKey, orders: map[string]order.Order{}, verdict: d}
		byKey[doc.RunKey] = c
		out = append(out, c)
		if c.compare, err = v.named(ledger.KindComparison, doc.Comparison); err != nil {
			return nil, err
		}
		if c.set, err = v.named(ledger.KindResultSet, doc.ResultSet); err != nil {
			return nil, err
		}
		if c.policy, err = v.policy(d, doc.Policy); err != nil {
			return nil, err
		}
	}
	for _, d := range v.of(ledger.KindGate) {
		body, err := canon.Parse([]byte(d.Body))
		if err != nil {
			return nil, at(d.Kind, d.Ref, err)
		}
		c := byKey[body.Str("run_key")]
		if c == nil {
			return nil, wrong(d.Kind, d.Ref, "it answers no verdict of this docket")
		}
		c.gate = d
	}
	return out, v.fill(byKey)
}

// named finds a document by the "sha256:" and hex digest of its bytes.
func (v *verifier) named(kind, digest string) (Document, error) {
	d, err := digestOf(kind, digest, digest)
	if err != nil {
		return Document{}, err
	}
	return v.sum(kind, d)
}

func (v *verifier) policy(d Document, ref verdict.PolicyRef) (verdict.GatePolicy, error) {
	doc, ok := v.bySum[ref.SHA256]
	if !ok || doc.Kind != ledger.KindGatePolicy {
		return verdict.GatePolicy{}, wrong(d.Kind, d.Ref, "its policy %s %s is not in the docket", ref.Name, ref.Version)
	}
	v.counted[doc.Ref] = true
	p, err := verdict.ParsePolicy([]byte(doc.Body))
	return p, at(doc.Kind, doc.Ref, err)
}

// fill puts orders and results to their comparisons.
func (v *verifier) fill(byKey map[string]*comparison) error {
	for _, d := range v.of(ledger.KindOrder) {
		o, err := order.Parse([]byte(d.Body))
		if err != nil {
			return at(d.Kind, d.Ref, err)
		}
		c := byKey[o.RunKey]
		if c == nil {
			continue // an order of a measurement that did not end
		}
		if err := v.ordered(o); err != nil {
			return at(d.Kind, d.Ref, err)
		}
		c.orders[o.Ref()] = o
	}
	seen := map[string]bool{}
	for _, d := range v.of(ledger.KindResult) {
		r, err := result.Parse([]byte(d.Body))
		if err != nil {
			return at(d.Kind, d.Ref, err)
		}
		c := byKey[r.Provenance.RunKey]
		if c == nil {
			continue
		}
		o, ok := c.orders[r.WorkOrder()]
		if !ok {
			return wrong(d.Kind, d.Ref, "it names order %s, which is not in the docket", r.WorkOrder())
		}
		entry := o.Ref() + "#" + r.PlanEntry()
		if seen[entry] {
			return wrong(d.Kind, d.Ref, "plan entry %s of its order has two results", r.PlanEntry())
		}
		seen[entry] = true
		c.results = append(c.results, r)
	}
	for _, c := range byKey {
		for ref, o := range c.orders {
			for _, e := range o.Plan {
				if !seen[ref+"#"+e.ID] {
					return wrong(ledger.KindOrder, ref, "plan entry %s has no result", e.ID)
				}
			}
		}
	}
	return nil
}

// ordered checks the joints of an order: run, proposal, step, and who asked.
func (v *verifier) ordered(o order.Order) error {
	step := strings.TrimPrefix(o.RunKey, v.b.Run+".")
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

// takeMeasured notes what later stations build on.
func (v *verifier) takeMeasured(c *comparison) error {
	body, err := canon.Parse([]byte(c.compare.Body))
	if err != nil {
		return at(c.compare.Kind, c.compare.Ref, err)
	}
	m := measured{
		comparison: c.compare.Ref, resultSet: c.set.Ref, verdict: c.verdict.Ref, gate: c.gate.Ref,
		comparisonDigest: "sha256:" + c.compare.SHA256, resultSetDigest: "sha256:" + c.set.SHA256,
		answer: verdict.Answer(gateAnswer(c)), baselineTree: body.Str("baseline"),
	}
	for ref := range c.orders {
		m.orders = append(m.orders, ref)
	}
	for _, r := range c.results {
		if r.Provenance.SubjectTree == m.baselineTree {
			m.baseline = r.Revision.Key
		} else {
			m.contender, m.contenderTree = r.Revision.Key, r.Provenance.SubjectTree
		}
		m.identity = EnvironmentIdentity(r)
	}
	v.measured = m
	return nil
}

// EnvironmentIdentity names the environment that a result was measured in: the
// plain digest of its schema and identity.
func EnvironmentIdentity(r result.Result) string {
	e := r.Coordinates.Environment
	return canon.PlainRef(canon.MustFrom(map[string]any{"schema": e.Schema, "identity": e.Identity}))
}
