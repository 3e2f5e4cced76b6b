package verdict

import (
	"fmt"

	"writ/internal/canon"
	"writ/internal/order"
	"writ/internal/result"
)

// invariants returns what makes the whole comparison meaningless, each kind of
// failure once, with its first example.
func (s *evidenceSet) invariants(p Params) []Failure {
	c := collector{seen: map[string]bool{}}
	s.checkKeys(p, &c)
	s.checkAgreement(p, &c)
	if p.Unpaired {
		return c.failed
	}
	s.checkRounds(&c)
	s.checkSchedule(&c)
	s.checkSlots(&c)
	return c.failed
}

// collector keeps the first failure of each invariant.
type collector struct {
	failed []Failure
	seen   map[string]bool
}

func (c *collector) add(invariant, format string, args ...any) {
	if !c.seen[invariant] {
		c.seen[invariant] = true
		c.failed = append(c.failed, Failure{Invariant: invariant, Detail: fmt.Sprintf(format, args...)})
	}
}

func (s *evidenceSet) checkKeys(p Params, c *collector) {
	attempts := make(map[string]*result.Result, len(s.results))
	for i, r := range s.results {
		if r.Provenance.RunKey != p.RunKey && !p.Unpaired {
			c.add("run-key", "%s belongs to %q", r.IngestKey, r.Provenance.RunKey)
		}
		if i > 0 && s.results[i-1].Ref() == r.Ref() { // sorted by it
			c.add("no-duplicates", "%s of %s comes twice", r.IngestKey, r.Producer.Name)
		}
		if first := attempts[r.AttemptKey]; first == nil {
			attempts[r.AttemptKey] = r
		} else if !result.SameAttempt(first, r) {
			c.add("attempts", "%s and %s are of one attempt and disagree", first.IngestKey, r.IngestKey)
		}
	}
}

// checkAgreement compares what may not differ inside a side, and between sides.
func (s *evidenceSet) checkAgreement(p Params, c *collector) {
	var first [2]*result.Result
	type program struct {
		at       side
		workload string
	}
	files := map[program]*result.Result{}
	for _, r := range s.results {
		at, ok := s.sideOf[r]
		if ok && first[at] == nil {
			first[at] = r
		}
		beside := s.results[0]
		if ok && p.Profile == CrossMachine {
			beside = first[at]
		}
		if !p.together(beside, r) {
			c.add("environment", "%s and %s come from different environments", beside.IngestKey, r.IngestKey)
		}
		if !ok {
			continue
		}
		f := first[at]
		if f.Provenance.SubjectTree != r.Provenance.SubjectTree || f.Revision.Key != r.Revision.Key || !result.SameSubject(f, r) {
			c.add("side-stable", "the %s changes between %s and %s", at, f.IngestKey, r.IngestKey)
		}
		file := program{at, r.Coordinates.Workload.Name}
		if known := files[file]; known == nil {
			files[file] = r
		} else if known.Target() != r.Target() {
			c.add("side-stable", "the file of the %s changes between %s and %s", at, known.IngestKey, r.IngestKey)
		}
	}
	b, o := first[baseline], first[contender]
	if b == nil || o == nil {
		return
	}
	switch p.Profile {
	case Revisions:
		if !result.SameSubject(b, o) {
			c.add("sides-agree", "the sides differ in more than the revision: source, parts or build configuration")
		}
	case Environments, Variants, CrossMachine:
		if b.Revision.Key != o.Revision.Key || b.Provenance.SubjectTree != o.Provenance.SubjectTree {
			c.add("sides-agree", "the sides are not of one revision")
		}
		if p.Profile != Environments && !result.SameSubject(b, o) {
			c.add("sides-agree", "the sides differ in source, parts or build configuration")
		}
	}
}

// together reports whether two results may be of one side or comparison, as far
// as the machine goes. Results of two boots are never paired.
func (p Params) together(a, b *result.Result) bool {
	if p.Unpaired {
		return result.SameEnvironment(a, b)
	}
	return result.SameMachine(a, b)
}

// checkRounds wants every round to have exactly one order on each side, and every
// pair at most one result of it.
func (s *evidenceSet) checkRounds(c *collector) {
	if s.rounds > MaxRounds {
		c.add("rounds", "%d rounds, at most %d can be judged", s.rounds, MaxRounds)
		return
	}
	orders := [2]map[int]string{{}, {}}
	for _, r := range s.results {
		if r.Procedure.Round == nil {
			c.add("rounds", "%s has no round", r.IngestKey)
			continue
		}
		round := *r.Procedure.Round
		if round < 0 || round >= s.rounds {
			c.add("rounds", "%s is of round %d of %d", r.IngestKey, round, s.rounds)
		}
		if at, ok := s.sideOf[r]; ok {
			known, seen := orders[at][round]
			if seen && known != r.WorkOrder() {
				c.add("rounds", "round %d has two orders on the %s", round, at)
			}
			orders[at][round] = r.WorkOrder()
		}
	}
	for at, seen := range orders {
		for round := range s.rounds {
			if _, ok := seen[round]; !ok {
				c.add("rounds", "round %d has no result on the %s", round, side(at))
			}
		}
	}
	for _, key := range s.keys() {
		for at, got := range s.units[key].got {
			seen := map[int]bool{}
			for _, r := range got {
				if r.Procedure.Round == nil {
					continue
				}
				if seen[*r.Procedure.Round] {
					c.add("no-duplicates", "%s %s has two results in round %d of the %s", key.workload, key.quantity, *r.Procedure.Round, side(at))
				}
				seen[*r.Procedure.Round] = true
			}
		}
	}
}

// checkSchedule reads the schedule that the results record; all must record the
// same.
func (s *evidenceSet) checkSchedule(c *collector) {
	var known string
	for i, r := range s.results {
		if i > 0 && result.SameSettings(s.results[i-1], r) {
			continue // the schedule is part of the settings
		}
		v, _ := r.Coordinates.ComparisonContext.At("/protocol/schedule")
		text := string(v.Canonical())
		if i == 0 {
			known = text
			if v.Kind() == canon.Object && v.Decode(&s.schedule) != nil {
				c.add("schedule", "%s records a schedule of another form", r.IngestKey)
			}
		}
		if text != known {
			c.add("schedule", "results record different schedules")
		}
	}
}

// checkSlots wants the two processes of a round to have run next to each other,
// unless the schedule says openly that one side ran before the other.
func (s *evidenceSet) checkSlots(c *collector) {
	for _, key := range s.keys() {
		taken := map[int]side{}
		for at, got := range s.units[key].got {
			for _, r := range got {
				if r.Procedure.Slot == nil {
					c.add("slots", "%s has no slot", r.IngestKey)
					continue
				}
				slot := *r.Procedure.Slot
				if _, twice := taken[slot]; twice {
					c.add("slots", "%s %s has two results in slot %d", key.workload, key.quantity, slot)
				}
				taken[slot] = side(at)
				if r.Procedure.Round != nil && s.schedule.Kind != order.Sequential && slot/2 != *r.Procedure.Round {
					c.add("slots", "%s is in slot %d, which is not of round %d", r.IngestKey, slot, *r.Procedure.Round)
				}
			}
		}
	}
}

// settings returns the failure of one pair whose results were not taken under
// the same conditions.
func (u *unit) settings() *Failure {
	var first *result.Result
	for _, got := range u.got {
		for _, r := range got {
			if first == nil {
				first = r
				continue
			}
			a, b := first.Coordinates.Quantity, r.Coordinates.Quantity
			switch {
			case a.Unit != b.Unit || a.Direction != b.Direction:
				return u.failure("units", fmt.Sprintf("%s %s and %s %s", a.Unit, a.Direction, b.Unit, b.Direction))
			case !result.SameSettings(first, r):
				return u.failure("comparison-context", fmt.Sprintf("%s and %s differ in harness, protocol, runtime, resources or data set", first.IngestKey, r.IngestKey))
			}
		}
	}
	return nil
}

func (u *unit) failure(invariant, detail string) *Failure {
	return &Failure{Invariant: invariant, Detail: detail, Workload: u.pair.Workload, Parameters: u.pair.Parameters, Quantity: u.pair.Quantity}
}
