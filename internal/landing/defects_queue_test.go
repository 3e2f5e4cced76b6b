package landing

import (
	"slices"
	"testing"
	"time"

	"writ/internal/fault"
)

// W1: the two published ways into the deadlock. Without the rule the younger
// overlapping candidate is qualified first, the older one is overtaken to its
// bound, and from then on each blocks the other for good.
func TestW1NoSchedulerDeadlock(t *testing.T) {
	t.Parallel()
	t.Run("overlap", func(t *testing.T) {
		t.Parallel()
		both(t, policy(3, 0, 3), func(t *testing.T, k *desk) {
			k.submit(1, "b")
			k.tick(1)
			k.submit(2, "ab")
			k.tick(1)
			k.submit(3, "a")
			k.lease()
			tr := k.wants(LeaseUnsafe)(LeaseQualification(k.s, LeaseQualificationParams{}, k.now))
			if got := codes(tr.Reasons); !slices.Equal(got, []ReasonCode{OverlappingDomain, OlderWaiting}) {
				t.Fatalf("reasons %v", got)
			}
			drain(t, k)
		})
	})
	t.Run("unknown domains in a busy queue", func(t *testing.T) {
		t.Parallel()
		both(t, policy(3, 2, 3), func(t *testing.T, k *desk) {
			k.submit(1, "a")
			k.tick(1)
			k.submit(2, "")
			for n := int64(3); n < 8; n++ {
				k.tick(1)
				k.submit(n, string("bcdef"[n-3]))
			}
			drain(t, k)
		})
	})
}

// drain lands everything that is in the document and fails when nothing moves.
func drain(t *testing.T, k *desk) {
	t.Helper()
	for round := 0; ; round++ {
		live := 0
		for _, c := range k.s.Candidates {
			if !c.Status.Terminal() {
				live++
			}
		}
		if live == 0 {
			return
		}
		if round > 100 {
			t.Fatalf("%d candidates are stuck: %+v", live, NextWake(k.s))
		}
		before := k.s.StateRoot
		k.tick(1)
		for k.lease().Lease != nil {
		}
		for len(k.s.Leases) > 0 {
			k.complete(k.s.Leases[0].Fence())
		}
		if w := k.land().Warrant; w != nil {
			if w.Admitted == nil {
				k.admit()
			}
			k.settle(Merged)
		}
		if k.s.StateRoot == before {
			t.Fatalf("nothing moves: %+v", NextWake(k.s))
		}
	}
}

// W8: an attempt that was lost does not cost the place in the queue.
func TestW8AgeIsKept(t *testing.T) {
	t.Parallel()
	both(t, policy(2, 2, 3), func(t *testing.T, k *desk) {
		age := k.submit(1, "a").Candidate.EnqueuedAt
		k.qualify()
		k.land()
		k.admit()
		k.settle(Dequeued)
		k.tick(5)
		k.submit(2, "b")
		k.tick(5)
		again := k.wants(Submitted)(Submit(k.s, SubmitParams{Submission: k.change(1, "a"), KeepAge: true}, k.now)).Candidate
		if again.EnqueuedAt != age || again.Attempts() != 0 {
			t.Fatalf("enqueued at %s, want %s", again.EnqueuedAt, age)
		}
		if next := k.lease().Lease; next.CandidateID != again.CandidateID {
			t.Fatal("the older candidate is not first")
		}
		k.complete(k.s.Leases[0].Fence())
		k.land()
		k.admit()
		k.settle(Merged)
		_, err := Submit(k.s, SubmitParams{Submission: k.change(1, "a"), KeepAge: true}, k.now)
		refuses(t, fault.State, err)
		_, err = Submit(k.s, SubmitParams{Submission: k.change(3, "a"), KeepAge: true}, k.now)
		refuses(t, fault.State, err)
	})
}

// W8 with W1: a kept age never puts a candidate before an active one that holds
// its domain; with a bound of 0 each would wait for the other.
func TestW8KeptAgeMakesNoDeadlock(t *testing.T) {
	t.Parallel()
	both(t, policy(2, 0, 3), func(t *testing.T, k *desk) {
		first := *k.submit(1, "a").Candidate
		if _, err := k.end(first, Dequeued, nil); err != nil {
			t.Fatal(err)
		}
		k.tick(5)
		other := k.submit(2, "a").Candidate
		k.qualify()
		k.tick(5)
		again := k.wants(Submitted)(Submit(k.s, SubmitParams{Submission: k.change(1, "a"), KeepAge: true}, k.now)).Candidate
		if again.EnqueuedAt <= other.EnqueuedAt {
			t.Fatalf("enqueued at %s, before %s", again.EnqueuedAt, other.EnqueuedAt)
		}
		drain(t, k)
	})
}

// W9: a repeated lease request gets the same lease, not a second one.
func TestW9LeaseRequestsAreRepeatable(t *testing.T) {
	t.Parallel()
	both(t, policy(2, 2, 3), func(t *testing.T, k *desk) {
		k.submit(1, "a")
		k.submit(2, "b")
		p := LeaseQualificationParams{RequestID: " worker-7/1 "}
		first := k.wants(LeaseAcquired)(LeaseQualification(k.s, p, k.now))
		kept := must(ParseGrant(must(first.Grant.Value())(t)))(t)
		if kept != *first.Grant || kept.RequestID != "worker-7/1" {
			t.Fatalf("%+v", kept)
		}
		k.tick(1)
		p.Granted = &kept
		again := k.wants(LeaseRetained)(LeaseQualification(k.s, p, k.now))
		if again.Lease.Token != first.Lease.Token || len(k.s.Leases) != 1 {
			t.Fatalf("%+v", k.s.Leases)
		}
		_, err := LeaseQualification(k.s, LeaseQualificationParams{RequestID: "other", Granted: &kept}, k.now)
		refuses(t, fault.Invalid, err)
		k.tick(600)
		_, err = LeaseQualification(k.s, p, k.now)
		refuses(t, fault.LeaseExpired, err)
		k.must(Recover(k.s, k.now))
		_, err = LeaseQualification(k.s, p, k.now)
		refuses(t, fault.StaleToken, err)
	})
}

// W10: lease times are bounded and time does not run backwards.
func TestW10TimesAreBounded(t *testing.T) {
	t.Parallel()
	pol := policy(2, 2, 3)
	pol.LandingLeaseSeconds = MaxLeaseSeconds + 1
	_, err := Create(CreateParams{Dialect: Writ1, Repository: "a/b", ProtectedBase: "main", Policy: pol}, second(0))
	refuses(t, fault.Invalid, err)
	both(t, policy(2, 2, 3), func(t *testing.T, k *desk) {
		k.tick(3600)
		k.submit(1, "a")
		_, err := LeaseQualification(k.s, LeaseQualificationParams{LeaseSeconds: 601}, k.now)
		refuses(t, fault.Invalid, err)
		_, err = LeaseQualification(k.s, LeaseQualificationParams{LeaseSeconds: -1}, k.now)
		refuses(t, fault.Invalid, err)
		short := k.must(LeaseQualification(k.s, LeaseQualificationParams{LeaseSeconds: 5}, k.now)).Lease
		wantText(t, "expiry", string(short.ExpiresAt), string(At(k.now.Add(5*time.Second))))
		late := k.now
		k.now = late.Add(-4 * time.Second) // a clock a little behind
		tr := k.must(HeartbeatQualification(k.s, HeartbeatQualificationParams{Fence: short.Fence()}, k.now))
		if tr.Changed {
			t.Fatalf("time ran backwards: %s", tr.Lease.HeartbeatAt)
		}
		_, err = HeartbeatQualification(k.s, HeartbeatQualificationParams{Fence: short.Fence()}, late.Add(-time.Hour))
		refuses(t, fault.Unavailable, err)
		_, err = LeaseLanding(k.s, LeaseLandingParams{LeaseSeconds: 301}, late)
		refuses(t, fault.Invalid, err)
	})
}

// W12: finished qualifications are bounded, and can be made to count no longer.
func TestW12BacklogIsBounded(t *testing.T) {
	t.Parallel()
	both(t, policy(1, 2, 3), func(t *testing.T, k *desk) {
		k.light = true
		k.submit(1000, "")
		if _, err := k.end(k.s.Candidates[0], Dequeued, nil); err != nil {
			t.Fatal(err)
		}
		for n := int64(1); n <= MaxQualifiedBacklog+1; n++ {
			k.tick(1)
			s := k.change(n, "")
			s.QualificationDomains = []string{rootOf(n)}
			k.must(Submit(k.s, SubmitParams{Submission: s}, k.now))
		}
		for range MaxQualifiedBacklog {
			k.qualify()
		}
		k.light = false
		tr := k.wants(LeaseUnsafe)(LeaseQualification(k.s, LeaseQualificationParams{}, k.now))
		if got := codes(tr.Reasons); !slices.Equal(got, []ReasonCode{BacklogFull}) {
			t.Fatalf("reasons %v", got)
		}
		oldest := k.change(1000, "")
		oldest.QualificationDomains = []string{rootOf(1000)}
		kept := k.must(Submit(k.s, SubmitParams{Submission: oldest, KeepAge: true}, k.now)).Candidate
		if tr := k.lease(); tr.Lease == nil || tr.Lease.CandidateID != kept.CandidateID {
			t.Fatalf("the oldest candidate waits behind the backlog: %v", codes(tr.Reasons))
		}

		k.tick(1)
		k.wants(NothingToRequeue)(RequeueQualified(k.s, RequeueParams{QualifiedBefore: At(second(0))}, k.now))
		one := k.s.Candidates[1]
		k.wants(Requeued)(RequeueQualified(k.s, RequeueParams{CandidateID: one.CandidateID}, k.now))
		back, _ := k.s.Candidate(one.CandidateID)
		if back.Status != Queued || back.Qualification != nil || back.EnqueuedAt != one.EnqueuedAt || back.Attempts() != 1 {
			t.Fatalf("%+v", back)
		}
		k.wants(Requeued)(RequeueQualified(k.s, RequeueParams{QualifiedBefore: At(k.now)}, k.now))
	})
}
