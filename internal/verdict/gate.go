package verdict

import (
	"fmt"
	"slices"
	"strings"

	"writ/internal/canon"
	"writ/internal/fault"
)

// ParseVerdict reads a verdict document.
func ParseVerdict(raw []byte) (Document, canon.Value, error) {
	v, err := canon.Parse(raw)
	if err != nil {
		return Document{}, canon.Value{}, err
	}
	d, err := readVerdict(v)
	return d, v, err
}

func readVerdict(v canon.Value) (Document, error) {
	if s := v.Str("schema"); s != VerdictSchema {
		return Document{}, fault.New(fault.UnknownKind, "parse verdict", "schema is %q", s).At("/schema").
			Help("this build reads %s", VerdictSchema)
	}
	var d Document
	if err := v.Decode(&d); err != nil {
		return Document{}, err
	}
	for i, r := range d.Rows {
		if !r.Verdict.Known() {
			return Document{}, fault.New(fault.Invalid, "parse verdict", "there is no verdict %q", r.Verdict).
				At(canon.PointerToIndex("/rows", i) + "/verdict")
		}
	}
	return d, nil
}

// Gate answers a verdict document by the policy that it was judged under. The
// answer depends on nothing else. A verdict under another policy is
// fault.Relation: judge again.
func Gate(p GatePolicy, raw []byte) (GateAnswer, error) {
	d, v, err := ParseVerdict(raw)
	if err != nil {
		return GateAnswer{}, err
	}
	if p.value.IsNull() {
		return GateAnswer{}, fault.New(fault.Usage, "gate", "no gate policy")
	}
	if d.Policy != p.Ref() {
		return GateAnswer{}, fault.New(fault.Relation, "gate", "the verdict was reached under %s %s, not under %s %s",
			d.Policy.Name, d.Policy.Version, p.Name, p.Version).At("/policy").Help("judge again under the policy that is to gate")
	}
	a := GateAnswer{
		Schema: GateSchema, Verdict: canon.PlainRef(v), RunKey: d.RunKey, Policy: p.Ref(),
		Answer: Pass, Reasons: []string{}, Counts: map[Answer]int{},
	}
	a.sum(p, d)
	return a, nil
}

// strength orders answers: a stronger one of one row prevails over those of all
// others.
func (a Answer) strength() int { return slices.Index([]Answer{Pass, Hold, NotJudged, Block}, a) }

type reasoned struct {
	answer Answer
	text   string
}

func (a *GateAnswer) sum(p GatePolicy, d Document) {
	var lines []reasoned
	for _, f := range d.Failed {
		if f.Workload == "" || f.Invariant == "coverage" {
			lines = append(lines, reasoned{NotJudged, f.text()})
		}
	}
	passed := map[Word]int{}
	gating := 0
	for _, r := range d.Rows {
		if !r.Gating {
			continue
		}
		gating++
		answer := p.answer(r)
		a.Counts[answer]++
		switch {
		case answer == Pass:
			passed[r.Verdict]++
		case answer == NotJudged && (r.Reason == reasonMissing || len(lines) > 0 && spoiltBy(d, r.Reason)):
			// said above, once for all
		default:
			lines = append(lines, reasoned{answer, r.sentence(d)})
		}
	}
	if gating == 0 && len(lines) == 0 {
		lines = append(lines, reasoned{NotJudged, "no measured quantity gates: nothing was checked"})
	}
	slices.SortStableFunc(lines, func(x, y reasoned) int { return y.answer.strength() - x.answer.strength() })
	for _, l := range lines {
		if l.answer.strength() > a.Answer.strength() {
			a.Answer = l.answer
		}
		a.Reasons = append(a.Reasons, string(l.answer)+": "+l.text)
	}
	if n := a.Counts[Pass]; n > 0 {
		var parts []string
		for _, w := range Words() {
			if passed[w] > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", passed[w], w))
			}
		}
		a.Reasons = append(a.Reasons, fmt.Sprintf("pass: %d of %d gating rows: %s", n, gating, strings.Join(parts, ", ")))
	}
}

// spoiltBy reports whether reason names a failure of the whole comparison.
func spoiltBy(d Document, reason string) bool {
	return slices.ContainsFunc(d.Failed, func(f Failure) bool { return f.Workload == "" && f.Invariant == reason })
}

// answer is what the policy says about one row. Inference from sides that did
// not take turns is worth what the policy says it is, whichever way it points.
func (p GatePolicy) answer(r Row) Answer {
	switch r.Verdict {
	case Invalid:
		return NotJudged
	case Identical:
		return p.Actions[string(Identical)]
	}
	if worth, ok := p.Actions[orderConfounded]; ok && slices.ContainsFunc(r.Warnings, func(n Note) bool { return n.Code == orderConfounded }) {
		return worth
	}
	return p.Actions[string(r.Verdict)]
}

// sentence says what was found about a row, with its numbers.
func (r Row) sentence(d Document) string {
	s := r.name() + " " + r.Quantity + ": " + r.verdictText()
	if r.Effect != nil {
		s += fmt.Sprintf(", %s -> %s, %s", amount(r.Baseline, r.Unit), amount(r.Contender, r.Unit), r.effectText())
	}
	if len(r.Interval) == 2 {
		s += " " + r.intervalText()
	}
	s += ", n = " + r.roundsText()
	if r.Measure == Ratio {
		s += ", threshold " + percent(r.Threshold)
	} else {
		s += fmt.Sprintf(", threshold %s and %s", percent(r.Threshold), amount(&r.Floor, r.Unit))
	}
	if r.Verdict == Slower && r.PHolm != nil {
		s += fmt.Sprintf(", p = %s (%s over %d)", short(*r.PHolm), d.Method.Multiplicity, d.Method.Family)
	}
	if slices.ContainsFunc(r.Warnings, func(n Note) bool { return n.Code == orderConfounded }) {
		s += ", " + orderConfounded
	}
	return s
}

// Raw returns the canonical bytes of the answer.
func (a GateAnswer) Raw() []byte { return canon.MustFrom(a).Canonical() }

// Ref returns the digest of the answer as documents cite it.
func (a GateAnswer) Ref() string { return canon.PlainRef(canon.MustFrom(a)) }

// Err returns nil for a pass, and for every other answer the fault that a
// command or a landing stops with.
func (a GateAnswer) Err() error {
	text := "gate says " + string(a.Answer)
	if len(a.Reasons) > 0 {
		text = a.Reasons[0]
	}
	switch a.Answer {
	case Pass:
		return nil
	case Hold:
		return fault.New(fault.OnHold, "gate", "%s", text).Help("let a person decide, or measure more rounds")
	case NotJudged:
		return fault.New(fault.Incomparable, "gate", "%s", text)
	}
	return fault.New(fault.Blocked, "gate", "%s", text)
}
