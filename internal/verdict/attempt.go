package verdict

import (
	"fmt"

	"writ/internal/fault"
)

// MaxAttempts bounds how often a policy may have one change judged.
const MaxAttempts = 20

// Level is the chance of a false block that one judgement may take: alpha, divided
// over all attempts that the policy allows (Bonferroni). It does not depend on how
// many were made, so nobody gains by trying again.
func (p GatePolicy) Level() float64 { return p.Alpha / float64(max(1, p.Attempts)) }

// Retry tells whether a change may be judged again, under a run key, after earlier
// attempts, and describes each of them. A policy allows more than one attempt, or
// one; all are under the same policy, of different runs, and ended without an answer:
// a change that was blocked has to change, and one that passed has passed.
// fault.Refused when it may not.
func (p GatePolicy) Retry(runKey string, earlier []GateAnswer) (notes []string, err error) {
	const op = "judge again"
	allowed := max(1, p.Attempts)
	if len(earlier) >= allowed {
		return nil, fault.New(fault.Refused, op, "policy %s %s allows %d attempts, and %d were made", p.Name, p.Version, allowed, len(earlier)).
			Help("change the code, or let a person decide")
	}
	keys := map[string]bool{runKey: true}
	for i, a := range earlier {
		switch {
		case a.Policy != p.Ref():
			return nil, fault.New(fault.Relation, op, "attempt %d was judged under %s %s, not under %s %s", i+1, a.Policy.Name, a.Policy.Version, p.Name, p.Version).
				Help("attempts of one change are judged under one policy")
		case keys[a.RunKey]:
			return nil, fault.New(fault.Refused, op, "attempt %d is of run %s, which is looked at twice", i+1, a.RunKey).Help("an attempt measures anew")
		case a.Answer == Block:
			return nil, fault.New(fault.Refused, op, "attempt %d was blocked", i+1).Help("change the code: what was found slower is not measured again until it is not")
		case a.Answer == Pass:
			return nil, fault.New(fault.Refused, op, "attempt %d has passed", i+1)
		}
		keys[a.RunKey] = true
		first := ""
		if len(a.Reasons) > 0 {
			first = ": " + a.Reasons[0]
		}
		notes = append(notes, fmt.Sprintf("attempt %d, run %s, verdict %s: %s%s", i+1, a.RunKey, a.Verdict, a.Answer, first))
	}
	if allowed > 1 {
		notes = append(notes, fmt.Sprintf("attempt %d of %d, each judged at level %s", len(earlier)+1, allowed, percent(p.Level())))
	}
	return notes, nil
}
