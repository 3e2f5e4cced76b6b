package landing

import (
	"slices"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
)

// Policy bounds the machine. It is set when the document is created and has no
// update. The two pointers may be absent in older documents and then count as
// their defaults.
type Policy struct {
	MaxQualificationLeases    int64 // live leases at a time
	QualificationLeaseSeconds int64
	LandingLeaseSeconds       int64
	MaxLandingOvertakes       *int64 // how often a candidate may be overtaken; 0 is strict order of age
	MaxQualificationAttempts  *int64 // the expiry of this attempt is the end of the candidate
}

const (
	defaultOvertakes = 2
	defaultAttempts  = 3
)

// DefaultPolicy is what a new document gets for what its creator leaves out.
func DefaultPolicy() Policy {
	return Policy{
		MaxQualificationLeases: 2, QualificationLeaseSeconds: 3600, LandingLeaseSeconds: 900,
		MaxLandingOvertakes: intp(defaultOvertakes), MaxQualificationAttempts: intp(defaultAttempts),
	}
}

// Overtakes is the fairness bound.
func (p Policy) Overtakes() int64 { return orDefault(p.MaxLandingOvertakes, defaultOvertakes) }

// Attempts is the bound of qualification attempts.
func (p Policy) Attempts() int64 { return orDefault(p.MaxQualificationAttempts, defaultAttempts) }

func (p *Policy) shape(c *codec) {
	c.positive("maxQualificationLeases", &p.MaxQualificationLeases)
	c.positive("qualificationLeaseSeconds", &p.QualificationLeaseSeconds)
	c.positive("landingLeaseSeconds", &p.LandingLeaseSeconds)
	c.optCount("maxLandingOvertakes", &p.MaxLandingOvertakes)
	c.optPositive("maxQualificationAttempts", &p.MaxQualificationAttempts)
}

// Fence names one grant. A caller that holds it may act for the candidate until
// the grant is replaced or over. It is a coordinate, not a secret.
type Fence struct {
	CandidateID string
	Token       string
	Generation  int64
}

func (f *Fence) shape(c *codec) {
	c.root("candidateId", &f.CandidateID)
	c.root("token", &f.Token)
	c.positive("generation", &f.Generation)
}

func (f Fence) normal() Fence {
	return Fence{lower(f.CandidateID), lower(f.Token), f.Generation}
}

// Lease is the right to spend compute on qualifying one candidate. It gives no
// right to land.
type Lease struct {
	CandidateID string
	Token       string
	Generation  int64
	IssuedAt    Timestamp
	HeartbeatAt Timestamp // optional in older documents
	ExpiresAt   Timestamp // the first instant that is outside
}

// Fence returns the coordinate of the lease.
func (l Lease) Fence() Fence { return Fence{l.CandidateID, l.Token, l.Generation} }

func (l *Lease) shape(c *codec) {
	c.constant("schema", leaseSchema)
	c.constant("authority", "qualification-only")
	c.flag("mergeGroupAdmission", false)
	c.root("candidateId", &l.CandidateID)
	c.root("token", &l.Token)
	c.positive("generation", &l.Generation)
	c.stamp("issuedAt", &l.IssuedAt)
	c.optStamp("heartbeatAt", &l.HeartbeatAt)
	c.stamp("expiresAt", &l.ExpiresAt)
}

// Warrant is the exclusive right to land one candidate. Admitted is nil until
// the one attempt that may use it is known.
type Warrant struct {
	CandidateID string
	Token       string
	Generation  int64
	IssuedAt    Timestamp
	HeartbeatAt Timestamp
	ExpiresAt   Timestamp
	Admitted    *AdmittedAttempt
}

// AdmittedAttempt are the five members that admission adds to a warrant.
type AdmittedAttempt struct {
	MergeGroupHead    string
	AdmissionRoot     string
	ExpectedStateRoot string // root of the state just before admission
	AdmittedAt        Timestamp
	Attempt           Attempt
}

// Fence returns the coordinate of the warrant.
func (w Warrant) Fence() Fence { return Fence{w.CandidateID, w.Token, w.Generation} }

func (w *Warrant) shape(c *codec) {
	c.constant("schema", warrantSchema)
	c.constant("authority", "merge-group-admission")
	c.flag("mergeGroupAdmission", true)
	c.root("candidateId", &w.CandidateID)
	c.root("token", &w.Token)
	c.positive("generation", &w.Generation)
	c.stamp("issuedAt", &w.IssuedAt)
	c.optStamp("heartbeatAt", &w.HeartbeatAt)
	c.stamp("expiresAt", &w.ExpiresAt)
	if c.reading {
		if !slices.ContainsFunc([]string{
			"mergeGroupHead", "mergeGroupAdmissionRoot", "expectedAdmissionStateRoot", "admittedAt", "providerAttempt",
		}, c.in.Has) {
			return
		}
		w.Admitted = new(AdmittedAttempt)
	}
	if a := w.Admitted; a != nil {
		c.sha("mergeGroupHead", &a.MergeGroupHead)
		c.root("mergeGroupAdmissionRoot", &a.AdmissionRoot)
		c.root("expectedAdmissionStateRoot", &a.ExpectedStateRoot)
		c.stamp("admittedAt", &a.AdmittedAt)
		nested(c, "providerAttempt", &a.Attempt)
	}
}

// State is the rooted document of one repository and base. Treat it as a value:
// operations return a new one and never write to the old. Candidates are in
// order of arrival, which the chain of attempts depends on.
type State struct {
	SchemaVersion        int64
	Contract             string
	Repository           string
	ProtectedBase        string
	Generation           int64 // durable mutations so far
	QualificationCounter int64 // leases minted so far
	LandingCounter       int64 // warrants minted so far
	Policy               Policy
	Leases               []Lease
	Warrant              *Warrant
	Candidates           []Candidate
	UpdatedAt            Timestamp
	StateRoot            string
}

func (s *State) shape(c *codec) {
	if c.reading {
		d, err := DialectOf(c.in.Str("contract"))
		if err != nil {
			c.err, _ = fault.As(err)
			return
		}
		c.dialect = d
	}
	c.integerConst("schemaVersion", &s.SchemaVersion, c.dialect.SchemaVersion)
	c.str("contract", &s.Contract, false, func(v string) string {
		return rule(v == c.dialect.Contract, "must be "+c.dialect.Contract)
	})
	c.constant("authorityMode", authorityMode)
	c.repository("repository", &s.Repository)
	c.base("protectedBase", &s.ProtectedBase)
	c.count("generation", &s.Generation)
	c.count("qualificationCounter", &s.QualificationCounter)
	c.count("landingCounter", &s.LandingCounter)
	nested(c, "policy", &s.Policy)
	list(c, "qualificationLeases", &s.Leases)
	orNull(c, "landingWarrant", &s.Warrant)
	list(c, "candidates", &s.Candidates)
	c.stamp("updatedAt", &s.UpdatedAt)
	c.self("stateRoot", &s.StateRoot)
}

func (c *codec) integerConst(name string, p *int64, want int64) {
	c.count(name, p)
	if c.err == nil && *p != want {
		c.fail(name, "must be %d", want)
	}
}

// CreateParams says which document to begin.
type CreateParams struct {
	Dialect       *Dialect
	Repository    string // owner/name
	ProtectedBase string // with or without refs/heads/
	Policy        Policy // zero members take the defaults
}

// Create begins an empty document. Leases longer than MaxLeaseSeconds are
// refused (W10).
func Create(p CreateParams, now time.Time) (State, error) {
	if p.Dialect == nil {
		return State{}, fault.New(fault.Invalid, "create landing state", "no dialect given")
	}
	pol, def := p.Policy, DefaultPolicy()
	fill(&pol.MaxQualificationLeases, def.MaxQualificationLeases)
	fill(&pol.QualificationLeaseSeconds, def.QualificationLeaseSeconds)
	fill(&pol.LandingLeaseSeconds, def.LandingLeaseSeconds)
	pol.MaxLandingOvertakes = intp(pol.Overtakes())
	pol.MaxQualificationAttempts = intp(pol.Attempts())
	if max(pol.QualificationLeaseSeconds, pol.LandingLeaseSeconds) > MaxLeaseSeconds {
		return State{}, fault.New(fault.Invalid, "create landing state", "a lease may last %d s at most", MaxLeaseSeconds).At("/policy")
	}
	s := State{
		SchemaVersion: p.Dialect.SchemaVersion, Contract: p.Dialect.Contract,
		Repository: trim(p.Repository), ProtectedBase: BranchName(p.ProtectedBase),
		Policy: pol, Leases: []Lease{}, Candidates: []Candidate{}, UpdatedAt: At(now),
	}
	if _, err := write(p.Dialect, &s); err != nil { // fills the root
		return State{}, err
	}
	return s, nil
}

func fill(p *int64, d int64) {
	if *p == 0 {
		*p = d
	}
}

// Dialect returns the dialect of the document.
func (s State) Dialect() *Dialect { return s.dialect() }

func (s *State) dialect() *Dialect {
	d, err := DialectOf(s.Contract)
	if err != nil {
		return V2 // writing then refuses the contract
	}
	return d
}

// Value returns the document; fault.RootDrift when StateRoot is not its root.
func (s State) Value() (canon.Value, error) { return write(s.dialect(), &s) }

// Candidate finds a candidate by id.
func (s State) Candidate(id string) (Candidate, bool) {
	if c := s.find(id); c != nil {
		return *c, true
	}
	return Candidate{}, false
}

// Active returns the candidate of a change that is not terminal yet.
func (s State) Active(change int64) (Candidate, bool) {
	for _, c := range s.Candidates {
		if c.PullRequestNumber == change && !c.Status.Terminal() {
			return c, true
		}
	}
	return Candidate{}, false
}

func (s *State) find(id string) *Candidate {
	for i := range s.Candidates {
		if s.Candidates[i].CandidateID == id {
			return &s.Candidates[i]
		}
	}
	return nil
}

// landing is the candidate that holds the warrant, or nil.
func (s *State) landing() *Candidate {
	if s.Warrant == nil {
		return nil
	}
	return s.find(s.Warrant.CandidateID)
}

// lease is the index of the candidate's lease, or -1.
func (s *State) lease(id string) int {
	return slices.IndexFunc(s.Leases, func(l Lease) bool { return l.CandidateID == id })
}

func drift(at, stored, computed string) *fault.Error {
	return fault.New(fault.RootDrift, "check root", "stored %s is not the root of the content", stored).
		At(at).With("stored", stored).With("computed", computed)
}
