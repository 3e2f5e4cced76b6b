package landing

import (
	"slices"
	"testing"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
)

// W2: a warrant that nobody used is given back, by its fence or after its time,
// and its candidate can be cancelled then.
func TestW2UnadmittedWarrantIsReleased(t *testing.T) {
	t.Parallel()
	both(t, policy(2, 2, 3), func(t *testing.T, k *desk) {
		k.submit(1, "a")
		k.qualify()
		k.land()
		_, err := k.end(*k.s.landing(), Cancelled, nil)
		refuses(t, fault.NoReadback, err)
		_, err = ReleaseUnadmitted(k.s, ReleaseParams{}, k.now)
		refuses(t, fault.Held, err)
		f := k.s.Warrant.Fence()
		wrong := f
		wrong.Token = root("0")
		_, err = ReleaseUnadmitted(k.s, ReleaseParams{Fence: &wrong}, k.now)
		refuses(t, fault.StaleToken, err)
		tr := k.wants(WarrantReleased)(ReleaseUnadmitted(k.s, ReleaseParams{Fence: &f}, k.now))
		if tr.Candidate.Status != Qualified || tr.Wake.Landing != f.CandidateID {
			t.Fatalf("%s, wake %+v", tr.Candidate.Status, tr.Wake)
		}
		_, err = ReleaseUnadmitted(k.s, ReleaseParams{}, k.now)
		refuses(t, fault.State, err)

		k.tick(1)
		second := k.land().Warrant
		if second.Generation != f.Generation+1 || second.Token == f.Token {
			t.Fatalf("fence %+v was used again", second.Fence())
		}
		k.tick(300)
		k.wants(WarrantReleased)(ReleaseUnadmitted(k.s, ReleaseParams{}, k.now))
		if _, err := k.end(k.s.Candidates[0], Cancelled, nil); err != nil {
			t.Fatal(err)
		}
	})
}

// W3: every conclusion has an outcome as soon as the remote is done with it.
func TestW3OutcomesOfGitHub(t *testing.T) {
	t.Parallel()
	k := landedOn(t, V2)
	ours := landedOn(t, Writ1)
	for _, c := range []struct {
		name   string
		change func(*GitHubFacts)
		want   Status // "" refused in both dialects
		ours   Status // when it differs
	}{
		{"merged and contained", func(f *GitHubFacts) { f.Pull.State, f.Pull.Merged, f.Contained = "closed", true, true }, Merged, ""},
		{"merged but not contained", func(f *GitHubFacts) { f.Pull.State, f.Pull.Merged = "closed", true }, Dequeued, ""},
		{"closed", func(f *GitHubFacts) { f.Pull.State = "closed" }, Cancelled, ""},
		{"cancelled", func(f *GitHubFacts) { f.Job.Conclusion = "cancelled" }, Cancelled, ""},
		{"timed out", func(f *GitHubFacts) { f.Job.Conclusion = "timed_out" }, TerminalFailure, ""},
		{"skipped", func(f *GitHubFacts) { f.Job.Conclusion = "skipped" }, Dequeued, ""},
		{"success, still queued", func(*GitHubFacts) {}, "", ""},
		{"success, run failed elsewhere", func(f *GitHubFacts) { f.Run.Conclusion = "failure" }, TerminalFailure, ""},
		{"success, left the queue", func(f *GitHubFacts) { f.Pull.InQueue = false }, Dequeued, ""},
		{"neutral", func(f *GitHubFacts) { f.Job.Conclusion = "neutral" }, "", Dequeued},
		{"unknown", func(f *GitHubFacts) { f.Job.Conclusion = "odd" }, "", ""},
		{"running", func(f *GitHubFacts) { f.Job.Status = "in_progress" }, "", ""},
		{"no run conclusion", func(f *GitHubFacts) {
			f.Run.Conclusion, f.Pull.State = "", "closed"
		}, "", ""},
		{"no job conclusion", func(f *GitHubFacts) { f.Job.Conclusion, f.Pull.State = "", "closed" }, "", ""},
		{"other run", func(f *GitHubFacts) { f.Run.HeadSHA = hex40("0"); f.Pull.State = "closed" }, "", ""},
		{"other job", func(f *GitHubFacts) { f.Job.ID++; f.Pull.State = "closed" }, "", ""},
		{"other labels", func(f *GitHubFacts) { f.Job.Labels = nil; f.Pull.State = "closed" }, "", ""},
		{"odd state", func(f *GitHubFacts) { f.Pull.State, f.Pull.Merged, f.Contained = "merged", true, true }, "", ""},
		{"ended in the future", func(f *GitHubFacts) {
			f.Job.CompletedAt, f.Pull.State = At(f.ObservedAt.Add(time.Hour)), "closed"
		}, "", ""},
	} {
		for d, k := range map[*Dialect]*desk{V2: k, Writ1: ours} {
			f := gitHubFacts(k.s, "success", k.now.Add(40*time.Second))
			c.change(&f)
			want := c.want
			if d == Writ1 && c.ours != "" {
				want = c.ours
			}
			r, err := SealGitHub(f)
			if (err != nil) != (want == "") || err == nil && r.View().Outcome != want {
				t.Errorf("%s, %s: outcome %q, %v; want %q", d.Name, c.name, r.View().Outcome, err, want)
			}
		}
	}
}

// landedOn is a desk whose candidate was admitted for a GitHub attempt.
func landedOn(t *testing.T, d *Dialect) *desk {
	t.Helper()
	k := newDesk(t, d, policy(2, 2, 3))
	k.submit(1, "a")
	k.qualify()
	k.tick(1)
	k.land()
	k.tick(2)
	k.must(Admit(k.s, k.admission(gitHubAttempt(k.s, *k.s.landing(), commit(77))), k.now))
	return k
}

// W4: a job that began before the warrant is refused at admission, not when it
// is too late; the same second is in time.
func TestW4JobMustBeYoungerThanTheWarrant(t *testing.T) {
	t.Parallel()
	both(t, policy(2, 2, 3), func(t *testing.T, k *desk) {
		k.submit(1, "a")
		k.qualify()
		k.now = k.now.Add(1700 * time.Millisecond)
		k.land()
		p := k.admission(k.attempt())
		p.JobStartedAt = At(second(0))
		_, err := Admit(k.s, p, k.now)
		refuses(t, fault.Evidence, err)
		if k.d == V2 {
			p.JobStartedAt = ""
			_, err = Admit(k.s, p, k.now)
			refuses(t, fault.Evidence, err)
		}
		p.JobStartedAt = At(second(1)) // issued at 1.7 s, reported by the second
		k.must(Admit(k.s, p, k.now))
		if k.d == V2 {
			k.tick(20)
			f := gitHubFacts(k.s, "failure", k.now)
			f.Job.StartedAt = At(second(1))
			must(SealGitHub(f))(t)
			f.Job.StartedAt = At(second(0))
			_, err := SealGitHub(f)
			refuses(t, fault.Evidence, err)
		}
	})
}

// W5: the merge group must be this change's own and contain it.
func TestW5MergeGroupMustBeOfTheChange(t *testing.T) {
	t.Parallel()
	both(t, policy(2, 2, 3), func(t *testing.T, k *desk) {
		k.submit(1, "a")
		k.qualify()
		k.land()
		p := k.admission(k.attempt())
		p.SourceContained = false
		_, err := Admit(k.s, p, k.now)
		refuses(t, fault.Evidence, err)
		if k.d == V2 {
			for _, branch := range []string{"", "gh-readonly-queue/dev/v4/v4.0/pr-11-" + hex40("d"), "gh-readonly-queue/main/pr-1-" + hex40("d")} {
				p := k.admission(k.attempt())
				p.HeadBranch = branch
				if _, err := Admit(k.s, p, k.now); fault.CodeOf(err) != fault.Evidence {
					t.Errorf("branch %q: %v", branch, err)
				}
			}
		}
		for name, change := range map[string]func(*coordinates){
			"head":       func(c *coordinates) { c.sourceHead = hex40("0") },
			"repository": func(c *coordinates) { c.repository = "acme/gadgets" },
			"base":       func(c *coordinates) { c.base = "dev/v9/v9.9" },
		} {
			a := k.attempt()
			x := a.coordinates()
			change(&x)
			if a.GitHub != nil {
				a.GitHub.SourceHead, a.GitHub.Repository, a.GitHub.ProtectedBase = x.sourceHead, x.repository, x.base
			} else {
				a.Git.SourceHead, a.Git.Repository, a.Git.ProtectedBase = x.sourceHead, x.repository, x.base
			}
			if _, err := Admit(k.s, k.admission(a), k.now); fault.CodeOf(err) != fault.Evidence {
				t.Errorf("attempt with another %s: %v", name, err)
			}
		}
	})
}

// W6: the attempt of the warrant is not copied to a candidate that never held it.
func TestW6AttemptStaysWithItsCandidate(t *testing.T) {
	t.Parallel()
	both(t, policy(2, 2, 3), func(t *testing.T, k *desk) {
		k.submit(1, "a")
		k.submit(2, "b")
		k.qualify()
		k.land()
		k.admit()
		other := slices.IndexFunc(k.s.Candidates, func(c Candidate) bool { return c.Status == Queued })
		tr, err := k.end(k.s.Candidates[other], Dequeued, nil)
		if err != nil {
			t.Fatal(err)
		}
		if tr.Candidate.Terminal.Attempt != nil || tr.State.Warrant == nil {
			t.Fatalf("%+v", tr.Candidate.Terminal)
		}
		if done := k.settle(Merged); done.Candidate.Terminal.Attempt == nil {
			t.Fatal("the landing candidate lost its attempt")
		}
	})
}

// W7: a bare root is no evidence, and a merge by somebody else is recorded by
// what the remote shows.
func TestW7EvidenceIsADocument(t *testing.T) {
	t.Parallel()
	both(t, policy(2, 2, 3), func(t *testing.T, k *desk) {
		k.submit(1, "a")
		k.submit(2, "b")
		c := k.s.Candidates[0]
		_, err := Settle(k.s, SettleParams{CandidateID: c.CandidateID, Outcome: Cancelled, EvidenceRoot: root("1")}, k.now)
		refuses(t, fault.Evidence, err)

		facts := OutsideFacts{State: k.s, CandidateID: c.CandidateID, BaseHead: hex40("e"), ObservedAt: k.now}
		_, err = SealOutside(facts)
		refuses(t, fault.Evidence, err)
		facts.Contained = true
		seen := must(SealOutside(facts))(t)
		if v := must(RecomputeReadback(seen.Document()))(t); v.Outcome != Merged || v.Root != seen.View().Root {
			t.Fatalf("%+v", v)
		}
		k.lease()
		k.lease() // the state moved on since
		_, err = Settle(k.s, SettleParams{Readback: seen}, k.now)
		refuses(t, fault.Evidence, err)
		facts.State = k.s
		tr := k.wants(Settled)(Settle(k.s, SettleParams{Readback: must(SealOutside(facts))(t)}, k.now))
		if tr.Candidate.Status != Merged || len(k.s.Leases) != 1 || tr.Candidate.Terminal.ReadbackRoot == "" {
			t.Fatalf("%+v", tr.Candidate.Terminal)
		}
		k.complete(k.s.Leases[0].Fence())
		k.land()
		_, err = SealOutside(OutsideFacts{State: k.s, CandidateID: k.s.Warrant.CandidateID, BaseHead: hex40("e"), Contained: true, ObservedAt: k.now})
		refuses(t, fault.State, err)
		_, err = SealOutside(OutsideFacts{State: k.s, CandidateID: root("0"), BaseHead: hex40("e"), Contained: true, ObservedAt: k.now})
		refuses(t, fault.NotFound, err)
	})
}

// W11: what is admitted is what was qualified. A moved base with the same merged
// tree is admitted; with another tree the change starts again with its age.
func TestW11MovedBase(t *testing.T) {
	t.Parallel()
	both(t, policy(2, 2, 3), func(t *testing.T, k *desk) {
		first := *k.submit(1, "a").Candidate
		k.tick(1)
		k.submit(2, "b")
		k.qualify()
		k.tick(1)
		k.land()
		moved := commit(4711)
		p := k.admission(k.attempt())
		p.MergedTree = moved
		_, err := Admit(k.s, p, k.now)
		refuses(t, fault.BaseMoved, err)
		if k.d == Writ1 {
			p.MergedTree = ""
			_, err := Admit(k.s, p, k.now)
			refuses(t, fault.Evidence, err)
		}

		m := MovedBaseParams{Fence: k.s.Warrant.Fence(), ObservedBase: hex40("f"), MergedTree: moved, Next: k.changeOn(1, "a", moved)}
		bad := m
		bad.MergedTree = commit(1)
		_, err = ReleaseForMovedBase(k.s, bad, k.now)
		refuses(t, fault.State, err)
		bad = m
		bad.Next = k.changeOn(1, "a", commit(9))
		_, err = ReleaseForMovedBase(k.s, bad, k.now)
		refuses(t, fault.Evidence, err)
		bad = m
		bad.Next = k.changeOn(2, "a", moved)
		_, err = ReleaseForMovedBase(k.s, bad, k.now)
		refuses(t, fault.Invalid, err)

		tr := k.wants(BaseMoved)(ReleaseForMovedBase(k.s, m, k.now))
		old, _ := k.s.Candidate(first.CandidateID)
		if old.Status != Dequeued || old.Terminal.Reason != ReasonBaseMoved || tr.Candidate.EnqueuedAt != first.EnqueuedAt ||
			tr.Candidate.PredecessorCandidateID != first.CandidateID || k.s.Warrant != nil {
			t.Fatalf("old %+v, new %+v", old.Terminal, tr.Candidate)
		}
		e := must(ParseMovedBaseEvidence(tr.Evidence))(t)
		wantText(t, "evidence root", old.Terminal.EvidenceRoot, e.Root)
		if e.ObservedBase != hex40("f") || e.MergedTree != moved {
			t.Fatalf("%+v", e)
		}
		if next := k.lease().Lease; next.CandidateID != tr.Candidate.CandidateID {
			t.Fatal("the change lost its place")
		}
		k.complete(k.s.Leases[0].Fence())
		k.land()
		p = k.admission(k.attempt())
		p.MergedTree = moved
		k.wants(HeadAdmitted)(Admit(k.s, p, k.now))
		_, err = ReleaseForMovedBase(k.s, MovedBaseParams{Fence: k.s.Warrant.Fence(), ObservedBase: hex40("f"), MergedTree: commit(5), Next: k.changeOn(1, "a", commit(5))}, k.now)
		refuses(t, fault.NoReadback, err)
	})
}

// W13: an event that comes late ends the attempt that it is about, not the next
// one at the same head.
func TestW13LateEventsFindTheirAttempt(t *testing.T) {
	t.Parallel()
	both(t, policy(2, 2, 3), func(t *testing.T, k *desk) {
		first := *k.submit(1, "a").Candidate
		evidence := object(text("schema", "test/v1"), text("event", "closed"))
		event := SettleParams{PullRequestNumber: 1, SourceHead: first.SourceHead, Outcome: Cancelled, Evidence: evidence}
		k.wants(Settled)(Settle(k.s, event, k.now))
		k.tick(1)
		second := *k.submit(1, "a").Candidate
		late := k.wants(SettledDuplicate)(Settle(k.s, event, k.now))
		if late.Candidate.CandidateID != first.CandidateID || late.Changed {
			t.Fatalf("late event hit %s", late.Candidate.CandidateID)
		}
		named := event
		named.CandidateID = second.CandidateID
		named.SourceHead = hex40("0")
		_, err := Settle(k.s, named, k.now)
		refuses(t, fault.Invalid, err)
		named.SourceHead = ""
		named.Evidence = evidence.With("event", canon.StringOf("closed again"))
		tr := k.wants(Settled)(Settle(k.s, named, k.now))
		if tr.Candidate.CandidateID != second.CandidateID {
			t.Fatalf("hit %s", tr.Candidate.CandidateID)
		}
		_, err = Settle(k.s, SettleParams{Outcome: Cancelled, Evidence: evidence}, k.now)
		refuses(t, fault.Invalid, err)
	})
}
