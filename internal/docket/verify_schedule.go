package docket

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"writ/internal/canon"
	"writ/internal/ledger"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/taskpack"
	"writ/internal/verdict"
)

// The words by which the orders of a comparison name their sides.
const (
	baselineSide  = "baseline"
	contenderSide = "contender"
)

// scheduled checks that a comparison was carried out as the plan wants it: as
// many rounds, what the list step listed, with the quantities of the pinned
// profile, one order of each side in each round, all of them alike, and in the
// slots that the seed of the plan drew.
func (v *verifier) scheduled(c *comparison) (measured, error) {
	profile := v.commands[taskpack.ProfileBenchmarkCompare]
	if profile.Rounds == 0 {
		return measured{}, wrong(ledger.KindVerdict, c.verdict.Ref, "the plan compares nothing")
	}
	doc, _, err := verdict.ParseVerdict([]byte(c.verdict.Body))
	if err != nil {
		return measured{}, at(ledger.KindVerdict, c.verdict.Ref, err)
	}
	if doc.Rounds != profile.Rounds || len(c.orders) != 2*profile.Rounds {
		return measured{}, wrong(ledger.KindVerdict, c.verdict.Ref, "%d rounds of %d orders were judged, the plan wants %d", doc.Rounds, len(c.orders), profile.Rounds)
	}
	listed, err := v.listedFor(c)
	if err != nil {
		return measured{}, err
	}
	seed := order.Seed(v.plan.Ref, c.n)
	first := order.ContenderFirst(seed, profile.Rounds)
	slots := map[string]int{} // by order
	sides := map[string]string{}
	places := map[string]bool{}
	for _, ref := range slices.Sorted(maps.Keys(c.orders)) {
		o := c.orders[ref]
		side, err := sideOf(o)
		if err != nil {
			return measured{}, err
		}
		round := *o.Round
		place := side + " " + strconv.Itoa(round)
		switch {
		case round < 0 || round >= profile.Rounds || places[place]:
			return measured{}, wrong(ledger.KindOrder, ref, "it is a second order for round %d of the %s, or one too many", round, side)
		case o.Schedule == nil || o.Schedule.Kind != order.Random || o.Schedule.Seed == nil || *o.Schedule.Seed != seed:
			return measured{}, wrong(ledger.KindOrder, ref, "its slots are not drawn from seed %d, which follows from the plan", seed)
		case !slices.Equal(o.Quantities, profile.Quantities):
			return measured{}, wrong(ledger.KindOrder, ref, "it measures %v, the plan wants %v", o.Quantities, profile.Quantities)
		case listed != nil && !slices.Equal(o.Plan, listed):
			return measured{}, wrong(ledger.KindOrder, ref, "it plans other cases than were listed before anything changed")
		}
		places[place] = true
		sides[ref], slots[ref] = side, 2*round
		if first[round] != (side == contenderSide) {
			slots[ref]++
		}
	}
	if err := alike(c); err != nil {
		return measured{}, err
	}
	return v.placed(c, sides, slots)
}

// alike checks that the orders of a comparison differ in side and round only.
func alike(c *comparison) error {
	same := map[string][]string{} // orders by what they have in common
	for _, ref := range slices.Sorted(maps.Keys(c.orders)) {
		common := string(c.orders[ref].Value().Without("work_order_id", "round", "target").Canonical())
		same[common] = append(same[common], ref)
	}
	for _, refs := range same {
		if len(refs)*2 <= len(c.orders) && len(same) > 1 {
			return wrong(ledger.KindOrder, refs[0], "it differs from the other orders of its comparison in more than side and round")
		}
	}
	return nil
}

// listedFor is what a comparison has to measure: for the compare step what the
// list step listed, when it was asked for the same.
func (v *verifier) listedFor(c *comparison) ([]order.Entry, error) {
	if c.step != taskpack.Compare {
		return nil, nil // the base may be another one
	}
	compare, _ := v.plan.Step(taskpack.Compare)
	list, ok := v.plan.Step(taskpack.List)
	if !ok || list.Profile != taskpack.ProfileBenchmarkList || !slices.Equal(list.Arguments, compare.Arguments) {
		return nil, nil
	}
	l, ok, err := v.listing()
	if err != nil || !ok {
		return nil, err
	}
	if approved := baseOf(v.proposal.Candidate.Ref); l.Commit != approved {
		return nil, wrong("case-listing", l.Commit, "commit %s was listed, the proposal changes %s", l.Commit, approved)
	}
	return l.Plan, nil
}

// sideOf reads the side out of the id of an order.
func sideOf(o order.Order) (string, error) {
	if o.Round == nil {
		return "", wrong(ledger.KindOrder, o.Ref(), "it is of no round")
	}
	rest, _ := strings.CutPrefix(o.ID, "urn:writ:order:"+o.RunKey+":")
	side, round, _ := strings.Cut(rest, ":")
	if round != strconv.Itoa(*o.Round) || side != baselineSide && side != contenderSide {
		return "", wrong(ledger.KindOrder, o.Ref(), "its id %s is of no side in round %d", o.ID, *o.Round)
	}
	return side, nil
}

// placed checks that every result was measured in its order's slot, on its
// side's commit and tree, and all of them in one environment.
func (v *verifier) placed(c *comparison, sides map[string]string, slots map[string]int) (measured, error) {
	body, err := canon.Parse([]byte(c.gate.Body))
	if err != nil {
		return measured{}, at(ledger.KindGate, c.gate.Ref, err)
	}
	m := measured{comparison: c.compare, resultSet: c.set, gate: c.gate, answer: verdict.Answer(body.Str("answer"))}
	m.orders = slices.Sorted(maps.Keys(c.orders))
	for i, r := range c.results {
		ref := ResultRef(r.Digest())
		o := c.orders[r.WorkOrder()]
		p := r.Procedure
		if p.Slot == nil || p.Round == nil || *p.Slot != slots[r.WorkOrder()] || *p.Round != *o.Round {
			return m, wrong(ledger.KindResult, ref, "it was measured out of its slot, which is %d", slots[r.WorkOrder()])
		}
		commit, tree := &m.baseline, &m.baselineTree
		if sides[r.WorkOrder()] == contenderSide {
			commit, tree = &m.contender, &m.contenderTree
		}
		identity := EnvironmentIdentity(r)
		if *commit == "" {
			*commit, *tree = r.Revision.Key, r.Provenance.SubjectTree
		}
		switch {
		case r.Revision.Key != *commit || r.Provenance.SubjectTree != *tree || r.Provenance.SubjectDirty != result.Clean:
			return m, wrong(ledger.KindResult, ref, "it measured %s, its side is %s with tree %s", r.Revision.Key, *commit, *tree)
		case i > 0 && identity != m.identity:
			return m, wrong(ledger.KindResult, ref, "it was measured in another environment than the others")
		}
		m.identity = identity
	}
	if m.baseline == "" || m.contender == "" {
		return m, wrong(ledger.KindVerdict, c.verdict.Ref, "one side has no results")
	}
	return m, nil
}
