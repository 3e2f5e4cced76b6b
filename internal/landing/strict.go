package landing

import "writ/internal/canon"

// Strict checks what the original reader leaves unchecked and every transition
// of ours keeps: counters, fences, the order of times, the admission root and
// the attempt against the state. A document that an older writer made may break
// one of them without being corrupt, so it is asked for by name.
func (s State) Strict() error {
	for _, check := range []func() error{s.counterRules, s.fenceRules, s.admissionRules, s.terminalRules} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (s *State) counterRules() error {
	if s.QualificationCounter+s.LandingCounter > s.Generation {
		return broken("/generation", "is less than the grants that were minted")
	}
	for i, l := range s.Leases {
		if l.Generation > s.QualificationCounter {
			return broken(canon.PointerToIndex("/qualificationLeases", i), "has a generation above the counter")
		}
	}
	if w := s.Warrant; w != nil && w.Generation > s.LandingCounter {
		return broken("/landingWarrant/generation", "is above the counter")
	}
	return nil
}

func (s *State) fenceRules() error {
	tokens, generations := map[string]bool{}, map[int64]bool{}
	for i, l := range s.Leases {
		at := canon.PointerToIndex("/qualificationLeases", i)
		if tokens[l.Token] || generations[l.Generation] {
			return broken(at, "repeats the token or generation of another lease")
		}
		tokens[l.Token], generations[l.Generation] = true, true
		if !inOrder(l.IssuedAt, l.HeartbeatAt, l.ExpiresAt) {
			return broken(at, "has times out of order")
		}
	}
	w := s.Warrant
	if w == nil {
		return nil
	}
	if tokens[w.Token] {
		return broken("/landingWarrant/token", "repeats the token of a lease")
	}
	if !inOrder(w.IssuedAt, w.HeartbeatAt, w.ExpiresAt) {
		return broken("/landingWarrant", "has times out of order")
	}
	return nil
}

func inOrder(issued, heartbeat, expires Timestamp) bool {
	if heartbeat == "" {
		heartbeat = issued
	}
	return issued <= heartbeat && heartbeat < expires
}

func (s *State) admissionRules() error {
	w := s.Warrant
	if w == nil || w.Admitted == nil {
		return nil
	}
	if w.Admitted.AdmittedAt < w.IssuedAt {
		return broken("/landingWarrant/admittedAt", "is before the warrant was issued")
	}
	if err := s.attemptRules("/landingWarrant/providerAttempt", w.Admitted.Attempt, s.landing()); err != nil {
		return err
	}
	a, err := RecomputeAdmission(*s)
	if err != nil {
		return err
	}
	if a.Root != w.Admitted.AdmissionRoot {
		return drift("/landingWarrant/mergeGroupAdmissionRoot", w.Admitted.AdmissionRoot, a.Root)
	}
	return nil
}

func (s *State) attemptRules(at string, a Attempt, c *Candidate) error {
	x := a.coordinates()
	if x.repository != s.Repository || x.base != s.ProtectedBase || x.sourceHead != c.SourceHead {
		return broken(at, "is about another repository, base or head")
	}
	return nil
}

func (s *State) terminalRules() error {
	for i := range s.Candidates {
		c := &s.Candidates[i]
		if c.Terminal == nil {
			continue
		}
		at := candidateAt(i) + "/terminal"
		if c.Terminal.Failure != nil && c.Status != TerminalFailure {
			return broken(at, "binds a failure but is %s", c.Status)
		}
		if a := c.Terminal.Attempt; a != nil {
			if err := s.attemptRules(at+"/providerAttempt", *a, c); err != nil {
				return err
			}
		}
	}
	return nil
}
