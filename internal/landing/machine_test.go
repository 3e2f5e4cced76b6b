package landing

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"writ/internal/fault"
)

// model is what the machine promises, kept as simply as possible: who was ever
// submitted, how they ended, who was granted what, and who was overtaken.
type model struct {
	ended    map[string]Status
	known    []string
	tokens   map[string]bool
	leases   int64
	warrants int64
	passed   map[string]int64 // times that a younger candidate was granted the warrant
}

// see checks one transition against the promises and remembers it.
func (m *model) see(t tb, k *desk, before State, tr Transition) {
	s := tr.State
	if s.QualificationCounter < m.leases || s.LandingCounter < m.warrants {
		t.Fatalf("%s: a counter went back", tr.Action)
	}
	landing := 0
	for _, c := range s.Candidates {
		if c.Status == Landing {
			landing++
		}
		if was, ok := m.ended[c.CandidateID]; ok && was != c.Status {
			t.Fatalf("%s: %s was %s and is %s", tr.Action, c.CandidateID, was, c.Status)
		}
		if c.Status.Terminal() {
			m.ended[c.CandidateID] = c.Status
		}
		if !slices.Contains(m.known, c.CandidateID) {
			m.known = append(m.known, c.CandidateID)
		}
	}
	if landing > 1 || (landing == 1) != (s.Warrant != nil) {
		t.Fatalf("%s: %d candidates are landing", tr.Action, landing)
	}
	switch tr.Action {
	case LeaseAcquired:
		m.grant(t, tr.Lease.Token, tr.Lease.Generation, &m.leases)
	case WarrantAcquired:
		m.grant(t, tr.Warrant.Token, tr.Warrant.Generation, &m.warrants)
		holder, _ := before.Candidate(tr.Warrant.CandidateID)
		for _, c := range before.Candidates {
			if !c.Status.Terminal() && older(&c, &holder) {
				m.passed[c.CandidateID]++
			}
		}
	}
	for _, id := range m.known {
		c, here := s.Candidate(id)
		if !here && m.ended[id] == "" {
			t.Fatalf("%s: candidate %s is lost", tr.Action, id)
		}
		if here && (c.Overtakes() != m.passed[id] || m.passed[id] > s.Policy.Overtakes()) {
			t.Fatalf("%s: %s was overtaken %d times, document says %d", tr.Action, id, m.passed[id], c.Overtakes())
		}
	}
	m.moves(t, tr)
}

func (m *model) grant(t tb, token string, generation int64, last *int64) {
	if m.tokens[token] || generation != *last+1 {
		t.Fatalf("fence %s generation %d was used before or skips", token, generation)
	}
	m.tokens[token], *last = true, generation
}

// moves: while something is live and nothing is granted, something can be
// granted. No mix of domains, ages and overtakes may wedge the queue (W1).
func (m *model) moves(t tb, tr Transition) {
	s := tr.State
	live := slices.ContainsFunc(s.Candidates, func(c Candidate) bool { return !c.Status.Terminal() })
	if live && s.Warrant == nil && len(s.Leases) == 0 && tr.Wake.Landing == "" && len(tr.Wake.Qualification) == 0 {
		t.Fatalf("%s: nothing can move: %+v", tr.Action, tr.Wake)
	}
}

// TestMachine runs random courses in one dialect after the other.
func TestMachine(t *testing.T) {
	t.Parallel()
	for _, d := range Dialects() {
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) { course(t, d) })
		})
	}
}

func course(t *rapid.T, d *Dialect) {
	pol := policy(rapid.Int64Range(1, 3).Draw(t, "slots"), rapid.Int64Range(0, 2).Draw(t, "overtakes"), rapid.Int64Range(1, 3).Draw(t, "attempts"))
	k := newDesk(t, d, pol)
	m := &model{ended: map[string]Status{}, tokens: map[string]bool{}, passed: map[string]int64{}}
	step := func(tr Transition, err error) {
		before := k.s
		tr, err = k.take(tr, err)
		if err == nil {
			m.see(t, k, before, tr)
			return
		}
		if fault.CodeOf(err) == fault.Internal {
			t.Fatalf("the machine broke a document: %v", err)
		}
	}
	pick := func(want ...Status) (Candidate, bool) {
		var list []Candidate
		for _, c := range k.s.Candidates {
			if slices.Contains(want, c.Status) {
				list = append(list, c)
			}
		}
		if len(list) == 0 {
			return Candidate{}, false
		}
		return rapid.SampledFrom(list).Draw(t, "candidate"), true
	}
	heldLease := func() (Fence, bool) {
		if len(k.s.Leases) == 0 {
			return Fence{}, false
		}
		return rapid.SampledFrom(k.s.Leases).Draw(t, "lease").Fence(), true
	}
	submit := func(t *rapid.T) {
		n := rapid.Int64Range(1, 6).Draw(t, "change")
		p := SubmitParams{
			Submission: k.change(n, rapid.SampledFrom([]string{"", "a", "b", "c", "ab", "bc", "abc"}).Draw(t, "domains")),
			KeepAge:    rapid.Bool().Draw(t, "keep age"),
		}
		if a, ok := k.archive[n]; ok {
			p.Archived = &a
		}
		step(Submit(k.s, p, k.now))
	}
	lease := func(*rapid.T) { step(LeaseQualification(k.s, LeaseQualificationParams{}, k.now)) }
	complete := func(*rapid.T) {
		if f, ok := heldLease(); ok {
			step(CompleteQualification(k.s, k.documents(f), k.now))
		}
	}
	land := func(*rapid.T) { step(LeaseLanding(k.s, LeaseLandingParams{}, k.now)) }
	t.Repeat(map[string]func(*rapid.T){
		"submit": submit, "submit too": submit,
		"lease": lease, "lease too": lease,
		"complete": complete, "complete too": complete,
		"land": land, "land too": land,
		"pass time": func(t *rapid.T) { k.tick(rapid.SampledFrom([]int{0, 1, 250, 700}).Draw(t, "seconds")) },
		"heartbeat": func(*rapid.T) {
			if f, ok := heldLease(); ok {
				step(HeartbeatQualification(k.s, HeartbeatQualificationParams{Fence: f}, k.now))
			}
		},
		"recover": func(*rapid.T) { step(Recover(k.s, k.now)) },
		"admit": func(*rapid.T) {
			if k.s.Warrant != nil {
				step(Admit(k.s, k.admission(k.attempt()), k.now))
			}
		},
		"landing heartbeat": func(*rapid.T) {
			if k.s.Warrant != nil {
				a := k.attempt()
				step(HeartbeatLanding(k.s, HeartbeatLandingParams{Fence: k.s.Warrant.Fence(), Attempt: a, Live: running(k.s, k.now)}, k.now))
			}
		},
		"settle": func(t *rapid.T) {
			if k.s.Warrant != nil && k.s.Warrant.Admitted != nil {
				step(Settle(k.s, SettleParams{Readback: k.readback(rapid.SampledFrom(outcomes).Draw(t, "outcome"))}, k.now))
			}
		},
		"end": func(t *rapid.T) {
			if c, ok := pick(Queued, Qualified, Qualifying); ok {
				var f *Fence
				if i := k.s.lease(c.CandidateID); i >= 0 {
					held := k.s.Leases[i].Fence()
					f = &held
				}
				before := k.s
				tr, err := k.end(c, rapid.SampledFrom(outcomes[1:]).Draw(t, "outcome"), f)
				if err != nil {
					t.Fatal(err)
				}
				m.see(t, k, before, tr)
			}
		},
		"release": func(*rapid.T) { step(ReleaseUnadmitted(k.s, ReleaseParams{}, k.now)) },
		"moved base": func(t *rapid.T) {
			if c := k.s.landing(); c != nil {
				tree := commit(rapid.Int64Range(100, 200).Draw(t, "tree"))
				step(ReleaseForMovedBase(k.s, MovedBaseParams{Fence: k.s.Warrant.Fence(), ObservedBase: hex40("f"), MergedTree: tree,
					Next: k.changeOn(c.PullRequestNumber, rapid.SampledFrom([]string{"", "a", "bc"}).Draw(t, "domains"), tree)}, k.now))
			}
		},
		"requeue": func(*rapid.T) {
			if c, ok := pick(Qualified); ok {
				step(RequeueQualified(k.s, RequeueParams{CandidateID: c.CandidateID}, k.now))
			}
		},
		"archive": func(*rapid.T) { step(Archive(k.s, ArchiveParams{}, k.now)) },
	})
	finish(t, k)
}

// finish: from wherever a course ended, patient workers land what is left.
func finish(t *rapid.T, k *desk) {
	for round := 0; slices.ContainsFunc(k.s.Candidates, func(c Candidate) bool { return !c.Status.Terminal() }); round++ {
		if round > 60 {
			t.Fatalf("stuck: %+v", NextWake(k.s))
		}
		k.tick(1)
		k.must(Recover(k.s, k.now))
		if w := k.s.Warrant; w != nil && w.Admitted == nil && w.ExpiresAt.expired(At(k.now)) {
			k.must(ReleaseUnadmitted(k.s, ReleaseParams{}, k.now))
		}
		for k.lease().Lease != nil {
		}
		for len(k.s.Leases) > 0 {
			k.complete(k.s.Leases[0].Fence())
		}
		if k.land(); k.s.Warrant != nil {
			if k.s.Warrant.Admitted == nil {
				p := k.admission(k.attempt())
				p.MergedTree = "" // trees differ after moved bases; the law need not know them
				if k.d == Writ1 {
					p.Attempt = gitHubAttempt(k.s, *k.s.landing(), p.MergeGroupHead)
				}
				k.must(Admit(k.s, p, k.now))
			}
			k.settle(Cancelled)
		}
	}
}
