package landing

import (
	"writ/internal/canon"
	"writ/internal/fault"
)

// ReadParams says what else a stored document must satisfy. Empty members are
// not asked for.
type ReadParams struct {
	Repository    string // expected
	ProtectedBase string // expected
	Strict        bool   // also what the original reader leaves unchecked, see Strict
}

// Parse reads the bytes of a stored document; the rest is Normalise.
func Parse(raw []byte, p ReadParams) (State, error) {
	v, err := canon.Parse(raw)
	if err != nil {
		return State{}, err
	}
	return Normalise(v, p)
}

// Normalise reads a stored document: every member known and in normal form, its
// root recomputed (fault.RootDrift), and the rules that hold between members.
func Normalise(v canon.Value, p ReadParams) (State, error) {
	if v.Has("migration") {
		return State{}, refuse("/migration", "a migrated document is not accepted")
	}
	var s State
	if err := read(nil, v, &s); err != nil {
		return State{}, err
	}
	if p.Repository != "" && p.Repository != s.Repository {
		return State{}, refuse("/repository", "is %s, not %s", s.Repository, p.Repository)
	}
	if want := BranchName(p.ProtectedBase); want != "" && want != s.ProtectedBase {
		return State{}, refuse("/protectedBase", "is %s, not %s", s.ProtectedBase, want)
	}
	if err := s.rules(); err != nil {
		return State{}, err
	}
	if p.Strict {
		if err := s.Strict(); err != nil {
			return State{}, err
		}
	}
	return s, nil
}

// Check applies to a state in memory what Normalise applies to a stored one.
func (s State) Check() error {
	if _, err := s.Value(); err != nil {
		return err
	}
	return s.rules()
}

func broken(at, format string, args ...any) error {
	return fault.New(fault.Invalid, "check landing state", format, args...).At(at)
}

func candidateAt(i int) string { return canon.PointerToIndex("/candidates", i) }

// rules are the rules between members, in the order of the original reader.
func (s *State) rules() error {
	for _, check := range []func() error{
		s.identityRules, s.chainRules, s.leaseRules, s.warrantRules, s.statusRules, s.domainRules, s.fairnessRule,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (s *State) identityRules() error {
	for i := range s.Candidates {
		c := &s.Candidates[i]
		if c.Repository != s.Repository || c.ProtectedBase != s.ProtectedBase {
			return broken(candidateAt(i), "is about %s %s", c.Repository, c.ProtectedBase)
		}
		if c.identity() != c.CandidateID {
			return broken(candidateAt(i)+"/candidateId", "is not the root of the candidate's identity")
		}
	}
	return nil
}

// chainRules: a later attempt of a change names the latest earlier one, which
// has ended. So a change has at most one attempt under way.
func (s *State) chainRules() error {
	latest := map[int64]*Candidate{}
	ids := make(map[string]bool, len(s.Candidates))
	for i := range s.Candidates {
		c := &s.Candidates[i]
		before := latest[c.PullRequestNumber]
		switch {
		case before == nil && c.PredecessorCandidateID != "":
			return broken(candidateAt(i), "names a predecessor that is not there")
		case before != nil && c.PredecessorCandidateID != before.CandidateID:
			return broken(candidateAt(i), "must be chained to the latest earlier attempt of change %d", c.PullRequestNumber)
		case before != nil && !before.Status.Terminal():
			return broken(candidateAt(i), "follows an attempt of change %d that has not ended", c.PullRequestNumber)
		case ids[c.CandidateID]:
			return broken(candidateAt(i), "has the id of an earlier candidate")
		}
		latest[c.PullRequestNumber], ids[c.CandidateID] = c, true
	}
	return nil
}

func (s *State) leaseRules() error {
	if int64(len(s.Leases)) > s.Policy.MaxQualificationLeases {
		return broken("/qualificationLeases", "are more than the policy's %d", s.Policy.MaxQualificationLeases)
	}
	holders := make(map[string]bool, len(s.Leases))
	for i, l := range s.Leases {
		at := canon.PointerToIndex("/qualificationLeases", i)
		c := s.find(l.CandidateID)
		switch {
		case holders[l.CandidateID]:
			return broken(at, "is the second lease of its candidate")
		case c == nil || c.Status != Qualifying:
			return broken(at, "is held by no qualifying candidate")
		}
		holders[l.CandidateID] = true
	}
	return nil
}

func (s *State) warrantRules() error {
	if s.Warrant == nil {
		return nil
	}
	if c := s.landing(); c == nil || c.Status != Landing {
		return broken("/landingWarrant", "is held by no landing candidate")
	}
	if a := s.Warrant.Admitted; a != nil && a.Attempt.coordinates().mergeGroupHead != a.MergeGroupHead {
		return broken("/landingWarrant/providerAttempt/mergeGroupHead", "is not the admitted head")
	}
	return nil
}

func (s *State) statusRules() error {
	for i := range s.Candidates {
		c := &s.Candidates[i]
		at := candidateAt(i)
		switch {
		case c.Status == Qualifying && s.lease(c.CandidateID) < 0:
			return broken(at, "is qualifying without a lease")
		case c.Status == Landing && (s.Warrant == nil || s.Warrant.CandidateID != c.CandidateID):
			return broken(at, "is landing without the warrant")
		case (c.Status == Qualified || c.Status == Landing) && c.Qualification == nil:
			return broken(at, "is %s without a qualification", c.Status)
		case (c.Status == Queued || c.Status == Qualifying) && c.Qualification != nil:
			return broken(at, "is %s and has a qualification", c.Status)
		case !c.Status.Terminal() && c.Terminal != nil:
			return broken(at, "is %s and has a terminal record", c.Status)
		case c.Status.Terminal() && (c.Terminal == nil || c.Terminal.Outcome != c.Status):
			return broken(at, "is %s without a terminal record that says so", c.Status)
		}
	}
	return nil
}

// domainRules: the domains of active candidates are known and disjoint, unless
// there is only one.
func (s *State) domainRules() error {
	var active []int
	for i := range s.Candidates {
		if s.Candidates[i].Status.Active() {
			active = append(active, i)
		}
	}
	if len(active) < 2 {
		return nil
	}
	owner := map[string]bool{}
	for _, i := range active {
		domains := s.Candidates[i].QualificationDomains
		if len(domains) == 0 {
			return broken(candidateAt(i), "is active beside others with unknown domains")
		}
		for _, d := range domains {
			if owner[d] {
				return broken(candidateAt(i), "shares a domain with another active candidate")
			}
			owner[d] = true
		}
	}
	return nil
}

func (s *State) fairnessRule() error {
	for i := range s.Candidates {
		if n := s.Candidates[i].Overtakes(); n > s.Policy.Overtakes() {
			return broken(candidateAt(i)+"/landingOvertakes", "is more than the policy's %d", s.Policy.Overtakes())
		}
	}
	return nil
}
