package landing

import (
	"time"

	"writ/internal/canon"
)

// Observe describes a state to people and dashboards: bounds, grants, fairness,
// counts by status and the wake. It decides nothing.
func Observe(s State, now time.Time) (canon.Value, error) {
	doc, err := s.Value()
	if err != nil {
		return canon.Value{}, err
	}
	leases, _ := doc.Get("qualificationLeases")
	warrant, _ := doc.Get("landingWarrant")
	var fairness, counts []canon.Member
	byStatus := map[Status]int64{}
	var live []canon.Value
	for i := range s.Candidates {
		c := &s.Candidates[i]
		byStatus[c.Status]++
		if !c.Status.Terminal() {
			live = append(live, object(text("candidateId", c.CandidateID), number("landingOvertakes", c.Overtakes())))
		}
	}
	for _, st := range []Status{Queued, Qualifying, Qualified, Landing, Merged, TerminalFailure, Dequeued, Cancelled} {
		if n := byStatus[st]; n > 0 {
			counts = append(counts, number(string(st), n))
		}
	}
	fairness = append(fairness, number("maxLandingOvertakes", s.Policy.Overtakes()), value("candidates", canon.ArrayOf(live...)))
	return object(
		text("schema", observationSchema),
		text("authorityMode", authorityMode),
		text("repository", s.Repository),
		text("protectedBase", s.ProtectedBase),
		text("stateRoot", s.StateRoot),
		number("generation", s.Generation),
		value("qualification", object(
			number("bound", s.Policy.MaxQualificationLeases),
			value("active", leases),
			value("mergeGroupAdmission", canon.BoolOf(false)),
		)),
		value("landing", object(
			number("bound", 1),
			value("active", warrant),
			value("mergeGroupAdmission", canon.BoolOf(s.Warrant != nil)),
		)),
		value("fairness", object(fairness...)),
		value("wake", NextWake(s).Value()),
		value("states", object(counts...)),
		text("observedAt", string(At(now))),
	), nil
}
