package landing

import (
	"slices"

	"writ/internal/canon"
)

// ReasonCode says in one word why a candidate was passed over or ended.
type ReasonCode string

// The reason codes.
const (
	UnknownDomain       ReasonCode = "unknown-qualification-domain"
	ActiveUnknownDomain ReasonCode = "active-unknown-qualification-domain"
	OverlappingDomain   ReasonCode = "overlapping-qualification-domain"
	OlderWaiting        ReasonCode = "older-overlapping-candidate-waiting" // W1
	BacklogFull         ReasonCode = "qualified-backlog-full"              // W12
	OvertakeBound       ReasonCode = "landing-overtake-bound-reached"
	HeartbeatExpired    ReasonCode = "qualification-heartbeat-expired-terminal"
)

// Reason is a rooted explanation, so that nobody has to guess why a candidate
// waits or was ended.
type Reason struct {
	Code        ReasonCode
	CandidateID string   // "" when it is about no single one
	Conflicts   []string // ids of the candidates in the way, sorted
	StateRoot   string   // state that it speaks about: inside a mutation the old one
	Message     string
}

func newReason(code ReasonCode, c *Candidate, root, message string, conflicts ...*Candidate) Reason {
	r := Reason{Code: code, CandidateID: c.CandidateID, Conflicts: []string{}, StateRoot: root, Message: message}
	for _, x := range conflicts {
		r.Conflicts = append(r.Conflicts, x.CandidateID)
	}
	slices.Sort(r.Conflicts)
	r.Conflicts = slices.Compact(r.Conflicts)
	return r
}

// Value returns the rooted body.
func (r Reason) Value() canon.Value {
	return object(
		text("schema", reasonSchema),
		text("code", string(r.Code)),
		textOrNull("candidateId", r.CandidateID),
		textList("conflictingCandidateIds", r.Conflicts),
		text("stateRoot", r.StateRoot),
		text("message", r.Message),
	)
}

// Root returns the root of the reason.
func (r Reason) Root() string { return canon.Root(r.Value()) }

func (r Reason) withRoot() canon.Value { return r.Value().With("reasonRoot", canon.StringOf(r.Root())) }

// Wake is advice: whom the next calls would grant something, from the state
// alone. Nothing is stored or sent.
type Wake struct {
	StateRoot            string
	Qualification        []string // candidates that a lease would go to, in order
	Landing              string   // candidate that the warrant would go to; ""
	Blocked              []Reason // why candidates before or beside them wait
	LandingBlockedReason *Reason
}

// body is what the wake's root covers: reasons by their roots only.
func (w Wake) body() canon.Value {
	roots := make([]string, len(w.Blocked))
	for i, r := range w.Blocked {
		roots[i] = r.Root()
	}
	blocked := ""
	if w.LandingBlockedReason != nil {
		blocked = w.LandingBlockedReason.Root()
	}
	return object(
		text("schema", wakeSchema),
		text("stateRoot", w.StateRoot),
		textList("qualificationCandidateIds", w.Qualification),
		textOrNull("landingCandidateId", w.Landing),
		textList("blockedReasonRoots", roots),
		textOrNull("landingBlockedReasonRoot", blocked),
	)
}

// Root returns the root of the wake.
func (w Wake) Root() string { return canon.Root(w.body()) }

// Value returns the wake with its root and the full reasons.
func (w Wake) Value() canon.Value {
	v := w.body().With("wakeRoot", canon.StringOf(w.Root()))
	reasons := make([]canon.Value, len(w.Blocked))
	for i, r := range w.Blocked {
		reasons[i] = r.withRoot()
	}
	blocked := canon.Null()
	if w.LandingBlockedReason != nil {
		blocked = w.LandingBlockedReason.withRoot()
	}
	return v.With("blockedReasons", canon.ArrayOf(reasons...)).With("landingBlockedReason", blocked)
}

// NextWake computes the advice for a state.
func NextWake(s State) Wake {
	w := Wake{StateRoot: s.StateRoot, Qualification: []string{}}
	grants, blocked := s.qualificationOrder(s.Policy.MaxQualificationLeases-int64(len(s.Leases)), s.StateRoot)
	for _, c := range grants {
		w.Qualification = append(w.Qualification, c.CandidateID)
	}
	w.Blocked = blocked
	if s.Warrant == nil {
		next, why := s.landingOrder(s.StateRoot)
		if next != nil {
			w.Landing = next.CandidateID
		} else if len(why) > 0 {
			w.LandingBlockedReason = &why[0]
		}
	}
	return w
}
