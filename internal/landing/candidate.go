package landing

import (
	"slices"

	"writ/internal/canon"
	"writ/internal/fault"
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

// Command is the native command that qualifies and lands a change, run as
// bash -lc.
type Command struct {
	Command string
	Root    string
}

// NewCommand builds the contract of a command; spaces around it do not count.
func NewCommand(command string) (Command, error) {
	c := Command{Command: trim(command)}
	_, err := write(nil, &c)
	return c, err
}

// Value returns the contract document.
func (c Command) Value() (canon.Value, error) { return write(nil, &c) }

func (c *Command) shape(k *codec) {
	k.constant("schema", commandSchema)
	k.constant("runner", "bash-lc")
	k.text("command", &c.Command)
	k.self("commandRoot", &c.Root)
}

// Submission is what a producer says about a change. The roots are opaque here:
// their form is checked and they are compared, never recomputed. Optional
// members are absent when "" or nil.
type Submission struct {
	PullRequestNumber    int64 // or the change number, on plain git
	SourceHead           string
	SourceRoot           string
	SourceIdentityRoot   string
	SourcePatchRoot      string
	SourceProofRoot      string
	PlanRoot             string
	ClosureRoot          string
	DependencyRoot       string
	ToolchainRoot        string
	EnvironmentRoot      string // optional
	DeliveryClass        DeliveryClass
	Command              *Command // optional
	AffectedPaths        []string // optional
	ShardEvidenceRoots   []string // optional
	QualificationDomains []string // empty: unknown, overlaps everything
}

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

func (s *Submission) shape(c *codec) {
	c.positive("pullRequestNumber", &s.PullRequestNumber)
	c.root("sourceRoot", &s.SourceRoot)
	c.root("sourceIdentityRoot", &s.SourceIdentityRoot)
	oneOf(c, "deliveryClass", &s.DeliveryClass, NonNativeFast, NativeProofRequired, CrossPlatform, Release)
	c.sha("sourceHead", &s.SourceHead)
	c.root("sourcePatchRoot", &s.SourcePatchRoot)
	c.root("sourceProofRoot", &s.SourceProofRoot)
	c.root("planRoot", &s.PlanRoot)
	c.root("closureRoot", &s.ClosureRoot)
	c.root("dependencyRoot", &s.DependencyRoot)
	c.root("toolchainRoot", &s.ToolchainRoot)
	c.optRoot("environmentRoot", &s.EnvironmentRoot)
	optNested(c, "nativeCommandContract", &s.Command)
	c.optTexts("affectedPaths", &s.AffectedPaths)
	c.optRoots("shardEvidenceRoots", &s.ShardEvidenceRoots)
	c.optRoots("qualificationDomains", &s.QualificationDomains)
}

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

// normal brings a producer's input into the form that documents hold.
func (s Submission) normal() Submission {
	for _, p := range []*string{
		&s.SourceHead, &s.SourceRoot, &s.SourceIdentityRoot, &s.SourcePatchRoot, &s.SourceProofRoot,
		&s.PlanRoot, &s.ClosureRoot, &s.DependencyRoot, &s.ToolchainRoot, &s.EnvironmentRoot,
	} {
		*p = lower(*p)
	}
	s.AffectedPaths = sortedSet(s.AffectedPaths)
	s.ShardEvidenceRoots = sortedSet(s.ShardEvidenceRoots)
	s.QualificationDomains = sortedSet(s.QualificationDomains)
	if s.QualificationDomains == nil {
		s.QualificationDomains = []string{}
	}
	if s.Command != nil {
		s.Command = &Command{Command: trim(s.Command.Command), Root: s.Command.Root}
	}
	return s
}

// check applies what the class asks for.
func (s Submission) check() error {
	if s.DeliveryClass == NonNativeFast {
		return nil
	}
	if s.EnvironmentRoot == "" {
		return fault.New(fault.Invalid, "submit candidate", "class %s needs an environment root", s.DeliveryClass).At("/environmentRoot")
	}
	if s.Command == nil {
		return fault.New(fault.Invalid, "submit candidate", "class %s needs a native command", s.DeliveryClass).At("/nativeCommandContract")
	}
	return nil
}

// Qualification is the record of a completed native qualification.
type Qualification struct {
	EvidenceRoot               string // optional, of older documents
	ReceiptRoot                string
	SourceProofRoot            string
	NativeProofRoot            string
	NativeExecutionBindingRoot string
	NativeExecutionReceiptRoot string
	NativeCommandRoot          string
	ContractRoot               string
	QualifiedAt                Timestamp
}

func (q *Qualification) shape(c *codec) {
	c.constant("schema", qualificationSchema)
	c.constant("authority", "verified-native-qualification")
	c.flag("nativeProofAuthority", true)
	c.optRoot("evidenceRoot", &q.EvidenceRoot)
	c.root("qualificationReceiptRoot", &q.ReceiptRoot)
	c.root("sourceProofRoot", &q.SourceProofRoot)
	c.root("nativeProofRoot", &q.NativeProofRoot)
	c.root("nativeExecutionBindingRoot", &q.NativeExecutionBindingRoot)
	c.root("nativeExecutionReceiptRoot", &q.NativeExecutionReceiptRoot)
	c.root("nativeCommandRoot", &q.NativeCommandRoot)
	c.root("qualificationContractRoot", &q.ContractRoot)
	c.stamp("qualifiedAt", &q.QualifiedAt)
}

// FailureBinding ties a terminal failure to the transfer and the two jobs that
// proved it.
type FailureBinding struct {
	TransferRoot          string
	FinalizerBoundaryRoot string
	NativeJobID           int64
	SealJobID             int64
}

// Terminal says how a candidate ended.
type Terminal struct {
	Outcome      Status
	EvidenceRoot string
	Reason       string // may be empty
	SettledAt    Timestamp
	Failure      *FailureBinding
	Attempt      *Attempt // the attempt that landed or failed
	ReadbackRoot string   // root of the readback that settled it
}

func (t *Terminal) shape(c *codec) {
	oneOf(c, "outcome", &t.Outcome, outcomes...)
	c.root("evidenceRoot", &t.EvidenceRoot)
	c.mayEmpty("reason", &t.Reason)
	c.stamp("settledAt", &t.SettledAt)
	if c.reading && slices.ContainsFunc([]string{"transferRoot", "finalizerBoundaryRoot", "nativeJobId", "sealJobId"}, c.in.Has) {
		t.Failure = new(FailureBinding)
	}
	if t.Failure != nil {
		t.Failure.shape(c)
	}
	optNested(c, "providerAttempt", &t.Attempt)
	c.optRoot("providerTerminalReadbackRoot", &t.ReadbackRoot)
}

// shape is the four members of a failure binding, all or none.
func (b *FailureBinding) shape(c *codec) {
	c.root("transferRoot", &b.TransferRoot)
	c.root("finalizerBoundaryRoot", &b.FinalizerBoundaryRoot)
	c.positive("nativeJobId", &b.NativeJobID)
	c.positive("sealJobId", &b.SealJobID)
	if c.err == nil && b.NativeJobID == b.SealJobID {
		c.fail("sealJobId", "must differ from nativeJobId")
	}
}
