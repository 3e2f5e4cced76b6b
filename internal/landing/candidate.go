package landing

import (
	"writ/internal/canon"
)

// Status is where a candidate stands. The last four are terminal, and are also
// the outcomes.
type Status string

// The eight states of a candidate.
const (
	Queued          Status = "queued"
	Qualifying      Status = "qualifying"
	Qualified       Status = "qualified"
	Landing         Status = "landing"
	Merged          Status = "merged"
	TerminalFailure Status = "terminal-failure"
	Dequeued        Status = "dequeued"
	Cancelled       Status = "cancelled"
)

// Terminal reports whether nothing more can happen to the candidate.
func (s Status) Terminal() bool {
	return s == Merged || s == TerminalFailure || s == Dequeued || s == Cancelled
}

// Active reports whether the candidate's domains are locked.
func (s Status) Active() bool { return s == Qualifying || s == Qualified || s == Landing }

var outcomes = []Status{Merged, TerminalFailure, Dequeued, Cancelled}

// DeliveryClass says what kind of proof a change needs. It is part of the
// identity and waives the environment and command for NonNativeFast; it has no
// effect on scheduling.
type DeliveryClass string

// The delivery classes.
const (
	NonNativeFast       DeliveryClass = "non-native-fast"
	NativeProofRequired DeliveryClass = "native-proof-required"
	CrossPlatform       DeliveryClass = "cross-platform"
	Release             DeliveryClass = "release"
)

// Candidate is one attempt to land a change.
type Candidate struct {
	Repository    string
	ProtectedBase string
	Submission
	PredecessorCandidateID string // "" for the first attempt of its change
	CandidateID            string
	EnqueuedAt             Timestamp
	UpdatedAt              Timestamp
	Status                 Status
	Qualification          *Qualification
	Terminal               *Terminal
	QualificationAttempts  *int64 // absent in some older documents: counts as 0
	LandingOvertakes       *int64
}

// Attempts is how often qualification was leased.
func (c *Candidate) Attempts() int64 { return orDefault(c.QualificationAttempts, 0) }

// Overtakes is how many younger candidates were granted the warrant before.
func (c *Candidate) Overtakes() int64 { return orDefault(c.LandingOvertakes, 0) }

func orDefault(p *int64, d int64) int64 {
	if p == nil {
		return d
	}
	return *p
}

func intp(n int64) *int64 { return &n }

func (c *Candidate) shape(k *codec) {
	k.repository("repository", &c.Repository)
	k.base("protectedBase", &c.ProtectedBase)
	c.Submission.shape(k)
	semantics := ""
	if c.PredecessorCandidateID != "" {
		semantics = chainedSemantics
	}
	k.str("identitySemantics", &semantics, true, func(s string) string {
		return rule(s == chainedSemantics, "must be "+chainedSemantics)
	})
	k.optRoot("predecessorCandidateId", &c.PredecessorCandidateID)
	if k.err == nil && (semantics == "") != (c.PredecessorCandidateID == "") {
		k.fail("identitySemantics", "and predecessorCandidateId come together or not at all")
	}
	k.root("candidateId", &c.CandidateID)
	k.stamp("enqueuedAt", &c.EnqueuedAt)
	k.stamp("updatedAt", &c.UpdatedAt)
	oneOf(k, "status", &c.Status, Queued, Qualifying, Qualified, Landing, Merged, TerminalFailure, Dequeued, Cancelled)
	orNull(k, "qualification", &c.Qualification)
	orNull(k, "terminal", &c.Terminal)
	k.optCount("qualificationAttempts", &c.QualificationAttempts)
	k.optCount("landingOvertakes", &c.LandingOvertakes)
}

// identity is the candidate's id: the root of what the attempt is about, and of
// its predecessor when the change was tried before. Head, patch, proofs and
// plan are not part of it.
func (c *Candidate) identity() string {
	members := []canon.Member{
		text("repository", c.Repository),
		text("protectedBase", c.ProtectedBase),
		number("pullRequestNumber", c.PullRequestNumber),
		text("sourceRoot", c.SourceRoot),
		text("sourceIdentityRoot", c.SourceIdentityRoot),
		text("deliveryClass", string(c.DeliveryClass)),
	}
	if c.PredecessorCandidateID != "" {
		members = append(members, text("identitySemantics", chainedSemantics),
			text("predecessorCandidateId", c.PredecessorCandidateID))
	}
	return canon.Root(object(members...))
}
