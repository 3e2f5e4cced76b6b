package landing

import (
	"slices"
	"testing"
	"time"

	"writ/internal/fault"
)

func codes(list []Reason) []ReasonCode {
	out := make([]ReasonCode, len(list))
	for i, r := range list {
		out[i] = r.Code
	}
	return out
}

// Two leases on disjoint domains; a lease is no warrant; the warrant is given
// again, not twice.
func TestLeasesAndWarrantAreDifferentRights(t *testing.T) {
	t.Parallel()
	both(t, policy(2, 2, 3), func(t *testing.T, k *desk) {
		k.submit(1, "a")
		k.submit(2, "b")
		first, second := k.lease(), k.lease()
		if len(k.s.Leases) != 2 || first.Lease.Token == second.Lease.Token {
			t.Fatalf("leases: %+v", k.s.Leases)
		}
		k.complete(first.Lease.Fence())
		granted := k.land()
		p := k.admission(k.attempt())
		p.Fence = second.Lease.Fence()
		_, err := Admit(k.s, p, k.now)
		refuses(t, fault.StaleToken, err)
		k.tick(1)
		again := k.wants(WarrantRetained)(LeaseLanding(k.s, LeaseLandingParams{}, k.now))
		if again.Warrant.Token != granted.Warrant.Token || again.Changed {
			t.Fatalf("retained %+v, granted %+v", again.Warrant, granted.Warrant)
		}
	})
}

// The heartbeat of a landing is for the admitted attempt while it runs.
func TestLandingHeartbeat(t *testing.T) {
	t.Parallel()
	both(t, policy(2, 2, 3), func(t *testing.T, k *desk) {
		k.submit(1, "a")
		k.qualify()
		k.land()
		a := k.attempt()
		started := k.now
		beat := func(a Attempt, l Liveness) (Transition, error) {
			return HeartbeatLanding(k.s, HeartbeatLandingParams{Fence: k.s.Warrant.Fence(), Attempt: a, Live: l}, k.now)
		}
		_, err := beat(a, running(k.s, started))
		refuses(t, fault.State, err)
		k.admit()
		k.wants(WarrantRenewedDup)(beat(a, running(k.s, started)))
		k.tick(10)
		other := k.attempt()
		if other.GitHub != nil {
			other.GitHub.RunAttempt = 2
		} else {
			other.Git.RunAttempt = 2
		}
		_, err = beat(other, running(k.s, started))
		refuses(t, fault.Fenced, err)
		_, err = beat(a, Liveness{RunnerID: "somebody"})
		refuses(t, fault.Evidence, err)
		if k.d == V2 {
			for name, change := range map[string]func(*GitHubSnapshot){
				"job ended":        func(s *GitHubSnapshot) { s.Job.Status, s.Job.Conclusion = "completed", "success" },
				"run ended":        func(s *GitHubSnapshot) { s.Run.Status = "completed" },
				"other run":        func(s *GitHubSnapshot) { s.Run.ID++ },
				"other job":        func(s *GitHubSnapshot) { s.Job.ID++ },
				"other runner":     func(s *GitHubSnapshot) { s.Job.RunnerName = "other" },
				"other labels":     func(s *GitHubSnapshot) { s.Job.Labels = []string{"X64"} },
				"new head":         func(s *GitHubSnapshot) { s.Pull.HeadSHA = hex40("0") },
				"job from before":  func(s *GitHubSnapshot) { s.Job.StartedAt = At(second(0).Add(-time.Second)) },
				"job without time": func(s *GitHubSnapshot) { s.Job.StartedAt = "" },
			} {
				l := running(k.s, started)
				change(l.GitHub)
				if _, err := beat(a, l); fault.CodeOf(err) != fault.Evidence {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		k.wants(WarrantRenewed)(beat(a, running(k.s, started)))
		k.tick(300)
		_, err = beat(a, running(k.s, started))
		refuses(t, fault.LeaseExpired, err)
	})
}

// Domains decide who may be qualified beside whom.
func TestDomainsLimitLeases(t *testing.T) {
	t.Parallel()
	both(t, policy(3, 2, 3), func(t *testing.T, k *desk) {
		for i, d := range []string{"a", "b", "a", ""} {
			k.submit(int64(i+1), d)
			k.tick(1)
		}
		k.lease()
		k.lease()
		before := k.s.StateRoot
		tr := k.wants(LeaseUnsafe)(LeaseQualification(k.s, LeaseQualificationParams{}, k.now))
		if got := codes(tr.Reasons); !slices.Equal(got, []ReasonCode{OverlappingDomain, UnknownDomain}) {
			t.Fatalf("reasons %v", got)
		}
		wantText(t, "state root", tr.State.StateRoot, before)
	})
}

// A slow old candidate is overtaken as often as the policy says, then waited for.
func TestFairness(t *testing.T) {
	t.Parallel()
	both(t, policy(2, 2, 3), func(t *testing.T, k *desk) {
		k.submit(10, "a")
		slow := k.lease().Lease.Fence()
		for n := int64(1); n <= 3; n++ {
			k.tick(1)
			k.submit(n, string("bcd"[n-1]))
			k.qualify()
			if n < 3 {
				k.land()
				k.admit()
				k.settle(Merged)
			}
		}
		if got := k.s.Candidates[0].Overtakes(); got != 2 {
			t.Fatalf("overtaken %d times", got)
		}
		blocked := k.wants(WarrantBlocked)(LeaseLanding(k.s, LeaseLandingParams{}, k.now))
		if got := codes(blocked.Reasons); !slices.Equal(got, []ReasonCode{OvertakeBound}) || blocked.Wake.LandingBlockedReason == nil {
			t.Fatalf("reasons %v", got)
		}
		k.complete(slow)
		if tr := k.land(); tr.Warrant.CandidateID != slow.CandidateID {
			t.Fatalf("warrant went to %s", tr.Warrant.CandidateID)
		}
	})
}

// With a bound of 0 the order of age is kept strictly.
func TestStrictOrder(t *testing.T) {
	t.Parallel()
	both(t, policy(2, 0, 3), func(t *testing.T, k *desk) {
		k.submit(1, "a")
		first := k.lease().Lease.Fence()
		k.tick(1)
		k.submit(2, "b")
		k.qualify()
		k.wants(WarrantBlocked)(LeaseLanding(k.s, LeaseLandingParams{}, k.now))
		k.complete(first)
		k.land()
		k.admit()
		k.settle(Merged)
		k.wants(WarrantAcquired)(LeaseLanding(k.s, LeaseLandingParams{}, k.now))
	})
}

// The last attempt's expiry ends a candidate; whoever recovers gets the same root.
func TestExpiryEndsTheLastAttempt(t *testing.T) {
	t.Parallel()
	pol := policy(1, 2, 1)
	pol.QualificationLeaseSeconds = 10
	both(t, pol, func(t *testing.T, k *desk) {
		k.submit(1, "a")
		k.tick(1)
		k.submit(2, "b")
		k.tick(2)
		f := k.lease().Lease.Fence()
		k.tick(5)
		k.must(HeartbeatQualification(k.s, HeartbeatQualificationParams{Fence: f}, k.now))
		k.tick(9)
		k.wants(NothingExpired)(Recover(k.s, k.now))
		k.tick(2)
		one := must(Recover(k.s, k.now))(t)
		two := k.wants(Recovered)(Recover(k.s, k.now))
		wantText(t, "root of the other controller", one.State.StateRoot, two.State.StateRoot)
		c := k.s.Candidates[0]
		if c.Status != TerminalFailure || c.Terminal.Reason != string(HeartbeatExpired) || c.Terminal.EvidenceRoot != two.Reasons[0].Root() {
			t.Fatalf("%+v", c.Terminal)
		}
		if got := two.Wake.Qualification; !slices.Equal(got, []string{k.s.Candidates[1].CandidateID}) {
			t.Fatalf("wake names %v", got)
		}
	})
}

// A lease call recovers first, and says so even when it grants nothing.
func TestLeaseRecoversFirst(t *testing.T) {
	t.Parallel()
	both(t, policy(1, 2, 3), func(t *testing.T, k *desk) {
		k.submit(1, "a")
		k.lease()
		k.wants(LeasesFull)(LeaseQualification(k.s, LeaseQualificationParams{}, k.now))
		k.tick(600)
		again := k.wants(LeaseAcquired)(LeaseQualification(k.s, LeaseQualificationParams{}, k.now))
		if again.Candidate.Attempts() != 2 || again.Lease.Generation != 2 {
			t.Fatalf("%+v", again.Candidate)
		}
		k.complete(again.Lease.Fence())
		k.wants(NothingQueued)(LeaseQualification(k.s, LeaseQualificationParams{}, k.now))
	})
}

// Twenty-four candidates on distinct domains: never two warrants, all merge.
func TestManyCandidatesAllMerge(t *testing.T) {
	t.Parallel()
	both(t, policy(4, 3, 3), func(t *testing.T, k *desk) {
		for n := int64(1); n <= 24; n++ {
			s := k.change(n, "")
			s.QualificationDomains = []string{rootOf(n)}
			k.must(Submit(k.s, SubmitParams{Submission: s}, k.now))
			k.tick(1)
		}
		merged := 0
		for merged < 24 {
			for len(k.s.Leases) < 4 && k.lease().Lease != nil {
			}
			for i := len(k.s.Leases) - 1; i >= 0; i-- { // youngest first
				k.complete(k.s.Leases[i].Fence())
			}
			for k.land().Warrant != nil {
				k.admit()
				k.tick(1)
				k.settle(Merged)
				merged++
			}
		}
		for _, c := range k.s.Candidates {
			if c.Status != Merged {
				t.Fatalf("%s is %s", c.CandidateID, c.Status)
			}
		}
	})
}
