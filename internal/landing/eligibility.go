package landing

import (
	"cmp"
	"slices"
)

// byAge is the order of everything: enqueued first, then smaller id.
func byAge(a, b *Candidate) int {
	return cmp.Or(cmp.Compare(a.EnqueuedAt, b.EnqueuedAt), cmp.Compare(a.CandidateID, b.CandidateID))
}

func older(a, b *Candidate) bool { return byAge(a, b) < 0 }

// with returns the candidates that keep accepts, oldest first.
func (s *State) with(keep func(*Candidate) bool) []*Candidate {
	var out []*Candidate
	for i := range s.Candidates {
		if keep(&s.Candidates[i]) {
			out = append(out, &s.Candidates[i])
		}
	}
	slices.SortFunc(out, byAge)
	return out
}

func filter(in []*Candidate, keep func(*Candidate) bool) []*Candidate {
	var out []*Candidate
	for _, c := range in {
		if keep(c) {
			out = append(out, c)
		}
	}
	return out
}

// overlap reports whether two candidates must not be active together. Unknown
// domains overlap everything.
func overlap(a, b *Candidate) bool {
	if len(a.QualificationDomains) == 0 || len(b.QualificationDomains) == 0 {
		return true
	}
	return shared(a, b)
}

func shared(a, b *Candidate) bool {
	return slices.ContainsFunc(a.QualificationDomains, func(d string) bool {
		return slices.Contains(b.QualificationDomains, d)
	})
}

// qualificationOrder walks the queue by age and picks who would be granted the
// next slots, each grant joining the active ones. It stops when the slots are
// used up, so reasons cover those who were passed over before that. Root is the
// state that the reasons speak about.
func (s *State) qualificationOrder(slots int64, root string) (grants []*Candidate, blocked []Reason) {
	active := s.with(func(c *Candidate) bool { return c.Status.Active() })
	qualified := filter(active, func(c *Candidate) bool { return c.Status == Qualified })
	var waiting []*Candidate
	for _, c := range s.with(func(c *Candidate) bool { return c.Status == Queued }) {
		if int64(len(grants)) >= slots {
			return grants, blocked
		}
		if why := notLeasable(c, active, waiting, qualified, root); why != nil {
			blocked = append(blocked, *why)
			waiting = append(waiting, c)
			continue
		}
		grants = append(grants, c)
		active = append(active, c)
	}
	return grants, blocked
}

// notLeasable says why a queued candidate may not be qualified now; nil when it
// may. Waiting are the older ones that were passed over.
//
// W1: a younger candidate must not lock a domain that an older one waits for.
// Otherwise the older one, once its overtakes are used up, blocks every landing
// while the younger one, qualified and never expiring, blocks its qualification.
//
// W12: finished qualifications are bounded. Whoever is older than all of them is
// let through, or the bound would make the same deadlock.
func notLeasable(c *Candidate, active, waiting, qualified []*Candidate, root string) *Reason {
	because := func(code ReasonCode, message string, conflicts []*Candidate) *Reason {
		r := newReason(code, c, root, message, conflicts...)
		return &r
	}
	if len(active) > 0 {
		if len(c.QualificationDomains) == 0 {
			return because(UnknownDomain, "Candidate has no known qualification domain and others are active.", active)
		}
		if unknown := filter(active, func(a *Candidate) bool { return len(a.QualificationDomains) == 0 }); unknown != nil {
			return because(ActiveUnknownDomain, "An active candidate has no known qualification domain.", unknown)
		}
		if same := filter(active, func(a *Candidate) bool { return shared(a, c) }); same != nil {
			return because(OverlappingDomain, "An active candidate holds one of the qualification domains.", same)
		}
	}
	if before := filter(waiting, func(w *Candidate) bool { return overlap(w, c) }); before != nil {
		return because(OlderWaiting, "An older candidate waits for one of the qualification domains.", before)
	}
	if len(qualified) >= MaxQualifiedBacklog && older(qualified[0], c) {
		return because(BacklogFull, "Enough older candidates are qualified and wait to land.", qualified)
	}
	return nil
}

// landingOrder returns the candidate that the warrant would go to, or why the
// qualified ones must wait. A qualified candidate may pass older ones only while
// none of them has used up its overtakes.
func (s *State) landingOrder(root string) (*Candidate, []Reason) {
	live := s.with(func(c *Candidate) bool { return !c.Status.Terminal() })
	var blocked []Reason
	var exhausted []*Candidate
	for _, c := range live {
		if c.Status == Qualified {
			if len(exhausted) == 0 {
				return c, nil
			}
			blocked = append(blocked, newReason(OvertakeBound, c, root,
				"An older candidate has been overtaken as often as the policy allows.", exhausted...))
		}
		if c.Overtakes() >= s.Policy.Overtakes() {
			exhausted = append(exhausted, c)
		}
	}
	return nil, blocked
}
