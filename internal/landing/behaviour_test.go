package landing

import (
	"slices"
	"testing"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
)

// Only three documents that belong together complete a qualification.
func TestCompletionNeedsItsDocuments(t *testing.T) {
	t.Parallel()
	both(t, policy(2, 2, 3), func(t *testing.T, k *desk) {
		k.submit(1, "a")
		f := k.lease().Lease.Fence()
		k.tick(3)
		good := k.documents(f)
		try := func(p CompleteQualificationParams) error {
			_, err := CompleteQualification(k.s, p, k.now)
			return err
		}
		p := good
		p.SourceProof = object(text("evidenceRoot", root("1")))
		if err := try(p); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("bare evidence: %v", err)
		}
		other := k.s.Candidates[0]
		command := must(NewCommand("true"))(t)
		other.Command = &command
		twin := *k
		twin.s.Candidates = []Candidate{other}
		p = good
		p.NativeProof = twin.documents(f).NativeProof
		refuses(t, fault.Evidence, try(p))
		for name, forge := range map[string]func(*CompleteQualificationParams){
			"source proof of another patch": func(p *CompleteQualificationParams) {
				x := must(ParseSourceProof(p.SourceProof))(t)
				x.SourcePatchRoot = root("0")
				_, v, err := BuildSourceProof(x)
				p.SourceProof = must(v, err)(t)
			},
			"more evidence": func(p *CompleteQualificationParams) {
				x := must(ParseNativeProof(p.NativeProof))(t)
				x.ShardEvidenceRoots = append(x.ShardEvidenceRoots, root("0"))
				_, v, err := BuildNativeProof(x)
				p.NativeProof = must(v, err)(t)
			},
			"contract of another lease": func(p *CompleteQualificationParams) {
				g := f
				g.Generation++
				n := must(ParseNativeProof(p.NativeProof))(t)
				_, v, err := BuildContract(k.s.Candidates[0], g, n)
				p.Contract = must(v, err)(t)
			},
		} {
			p := good
			forge(&p)
			if err := try(p); fault.CodeOf(err) != fault.Evidence {
				t.Errorf("%s: %v", name, err)
			}
		}
		p = good
		p.NativeProof = p.NativeProof.With("schema", canon.StringOf("kungfu.buildchain.native-qualification-proof/v3"))
		refuses(t, fault.Invalid, try(p))
		p = good
		p.Contract = p.Contract.With("planRoot", canon.StringOf(root("0")))
		refuses(t, fault.RootDrift, try(p))

		p = good
		members := slices.Clone(p.Contract.Members())
		slices.Reverse(members)
		p.Contract = object(members...)
		k.wants(QualificationCompleted)(CompleteQualification(k.s, p, k.now))
		refuses(t, fault.StaleToken, try(good))
	})
}

// A candidate without a native command cannot complete, and says why.
func TestCompletionNeedsACommand(t *testing.T) {
	t.Parallel()
	both(t, policy(2, 2, 3), func(t *testing.T, k *desk) {
		s := k.change(1, "a")
		documents := func() CompleteQualificationParams { // of the same change with a command
			twin := newDesk(t, k.d, k.s.Policy)
			twin.submit(1, "a")
			return twin.documents(twin.lease().Lease.Fence())
		}()
		s.Command, s.EnvironmentRoot, s.DeliveryClass = nil, "", NonNativeFast
		k.must(Submit(k.s, SubmitParams{Submission: s}, k.now))
		documents.Fence = k.lease().Lease.Fence()
		_, err := CompleteQualification(k.s, documents, k.now)
		refuses(t, fault.State, err)
	})
}

// One warrant admits one head and one attempt, and says so again.
func TestAdmissionIsForLife(t *testing.T) {
	t.Parallel()
	both(t, policy(2, 2, 3), func(t *testing.T, k *desk) {
		k.submit(1, "a")
		k.qualify()
		k.land()
		a := k.attempt()
		first := k.wants(HeadAdmitted)(Admit(k.s, k.admission(a), k.now))
		k.tick(1)
		again := k.wants(HeadAdmittedDuplicate)(Admit(k.s, k.admission(a), k.now))
		wantText(t, "admission root", again.ReceiptRoot, first.ReceiptRoot)
		wantText(t, "recomputed root", must(RecomputeAdmission(k.s))(t).Root, k.s.Warrant.Admitted.AdmissionRoot)

		other := k.attempt()
		switch {
		case other.GitHub != nil:
			other.GitHub.MergeGroupHead = hex40("9")
		default:
			other.Git.MergeGroupHead = hex40("9")
		}
		_, err := Admit(k.s, k.admission(other), k.now)
		refuses(t, fault.Held, err)
		rerun := k.attempt()
		if rerun.GitHub != nil {
			rerun.GitHub.RunAttempt++
		} else {
			rerun.Git.RunAttempt++
		}
		_, err = Admit(k.s, k.admission(rerun), k.now)
		refuses(t, fault.Held, err)
	})
}

// Fences: an older generation and a replaced token are told apart.
func TestFencesAreExact(t *testing.T) {
	t.Parallel()
	both(t, policy(2, 2, 3), func(t *testing.T, k *desk) {
		k.submit(1, "a")
		f := k.lease().Lease.Fence()
		k.tick(1)
		beat := func(f Fence) error {
			_, err := HeartbeatQualification(k.s, HeartbeatQualificationParams{Fence: f}, k.now)
			return err
		}
		g := f
		g.Generation++
		refuses(t, fault.Fenced, beat(g))
		g = f
		g.Token = root("0")
		refuses(t, fault.StaleToken, beat(g))
		g = f
		g.CandidateID = root("0")
		refuses(t, fault.StaleToken, beat(g))
		k.wants(LeaseRenewed)(HeartbeatQualification(k.s, HeartbeatQualificationParams{Fence: f}, k.now))
		k.wants(LeaseRenewedDuplicate)(HeartbeatQualification(k.s, HeartbeatQualificationParams{Fence: f}, k.now))
		k.tick(600)
		refuses(t, fault.LeaseExpired, beat(f))
	})
}

// A change has one attempt at a time, and it does not change on the way.
func TestActiveAttemptIsFixed(t *testing.T) {
	t.Parallel()
	both(t, policy(2, 2, 3), func(t *testing.T, k *desk) {
		k.submit(1, "a")
		if tr := k.submit(1, "a"); tr.Action != SubmitDuplicate || tr.Changed {
			t.Fatalf("same again: %s", tr.Action)
		}
		for name, change := range map[string]func(*Submission){
			"toolchain":   func(s *Submission) { s.ToolchainRoot = root("0") },
			"environment": func(s *Submission) { s.EnvironmentRoot = root("0") },
			"head":        func(s *Submission) { s.SourceHead = hex40("0") },
			"domains":     func(s *Submission) { s.QualificationDomains = []string{root("0")} },
			"identity":    func(s *Submission) { s.SourceIdentityRoot = root("0") },
		} {
			s := k.change(1, "a")
			change(&s)
			if _, err := Submit(k.s, SubmitParams{Submission: s}, k.now); fault.CodeOf(err) != fault.Active {
				t.Errorf("%s: %v", name, err)
			}
		}
		s := k.change(2, "b")
		s.EnvironmentRoot = ""
		_, err := Submit(k.s, SubmitParams{Submission: s}, k.now)
		refuses(t, fault.Invalid, err)
		s = k.change(2, "b")
		s.Command = nil
		_, err = Submit(k.s, SubmitParams{Submission: s}, k.now)
		refuses(t, fault.Invalid, err)
		s = k.change(2, "b")
		s.Command = &Command{Command: "make check", Root: root("0")}
		_, err = Submit(k.s, SubmitParams{Submission: s}, k.now)
		refuses(t, fault.RootDrift, err)
		_, err = Submit(k.s, SubmitParams{Submission: k.change(2, "b"), CandidateID: root("0")}, k.now)
		refuses(t, fault.Invalid, err)
		_, err = Settle(k.s, SettleParams{CandidateID: k.s.Candidates[0].CandidateID, Outcome: Merged, Evidence: object(text("says", "merged"))}, k.now)
		refuses(t, fault.NoReadback, err)
	})
}

// An input is brought into normal form before anything is decided.
func TestInputsAreNormalised(t *testing.T) {
	t.Parallel()
	both(t, policy(2, 2, 3), func(t *testing.T, k *desk) {
		s := k.change(1, "ba")
		want := k.submit(1, "ba").State.StateRoot
		twin := newDesk(t, k.d, k.s.Policy)
		s.SourceHead = " " + s.SourceHead + "\n"
		s.SourceRoot = "SHA256:" + s.SourceRoot[7:]
		s.QualificationDomains = []string{root("b"), root("a"), root("a")}
		s.AffectedPaths = []string{" pkg", "pkg"}
		s.Command = &Command{Command: "\tmake check "}
		got := twin.must(Submit(twin.s, SubmitParams{Submission: s}, twin.now))
		wantText(t, "state root", got.State.StateRoot, want)
	})
}

// An expired warrant that was admitted stays until the remote was read back.
func TestExpiredWarrantWaitsForReadback(t *testing.T) {
	t.Parallel()
	both(t, policy(2, 2, 3), func(t *testing.T, k *desk) {
		k.submit(1, "a")
		k.qualify()
		k.tick(4)
		k.must(LeaseLanding(k.s, LeaseLandingParams{LeaseSeconds: 10}, k.now))
		k.tick(1)
		k.admit()
		k.tick(10)
		root := k.s.StateRoot
		tr := k.wants(WarrantExpired)(Recover(k.s, k.now))
		if tr.State.StateRoot != root || tr.Wake.Landing != "" {
			t.Fatalf("recover moved the state or suggests a landing: %+v", tr.Wake)
		}
		if tr := k.land(); tr.Warrant != nil || tr.Action != WarrantExpired {
			t.Fatalf("an expired warrant was handed out: %s", tr.Action)
		}
		c := *k.s.landing()
		_, err := k.end(c, Cancelled, nil)
		refuses(t, fault.NoReadback, err)
		_, err = ReleaseUnadmitted(k.s, ReleaseParams{}, k.now)
		refuses(t, fault.NoReadback, err)

		good := k.readback(Dequeued)
		for name, forge := range map[string]func(*ReadbackView){
			"token":      func(v *ReadbackView) { v.Fence.Token = c.SourceRoot },
			"generation": func(v *ReadbackView) { v.Fence.Generation++ },
			"state":      func(v *ReadbackView) { v.StateRoot = c.SourceRoot },
			"head":       func(v *ReadbackView) { v.SourceHead = hex40("0") },
			"admission":  func(v *ReadbackView) { v.AdmissionRoot = c.SourceRoot },
			"attempt":    func(v *ReadbackView) { v.Attempt = Attempt{} },
			"base":       func(v *ReadbackView) { v.ProtectedBase = "other" },
			"time":       func(v *ReadbackView) { v.ObservedAt = At(k.s.Warrant.IssuedAt.Time().Add(-time.Second)) },
		} {
			forged := good
			forge(&forged.view)
			if _, err := Settle(k.s, SettleParams{Readback: forged}, k.now); fault.CodeOf(err) != fault.Evidence && fault.CodeOf(err) != fault.StaleToken {
				t.Errorf("%s: %v", name, err)
			}
		}
		wrong := k.s.Warrant.Fence()
		wrong.Generation++
		_, err = Settle(k.s, SettleParams{Readback: good, Fence: &wrong}, k.now)
		refuses(t, fault.Fenced, err)
		_, err = Settle(k.s, SettleParams{Readback: good, CandidateID: root[:7] + c.SourceRoot[7:]}, k.now)
		refuses(t, fault.Evidence, err)

		k.tick(2)
		p := SettleParams{
			Readback: good, PullRequestNumber: 1, SourceHead: c.SourceHead, Outcome: Merged, EvidenceRoot: c.SourceRoot, // the caller is ignored
			Failure: nil,
		}
		done := k.wants(Settled)(Settle(k.s, p, k.now))
		term := done.Candidate.Terminal
		if term.Outcome != Dequeued || term.ReadbackRoot != good.View().Root || term.Attempt == nil || done.State.Warrant != nil {
			t.Fatalf("terminal record %+v", term)
		}
		k.tick(1)
		again := k.wants(SettledDuplicate)(Settle(k.s, p, k.now))
		wantText(t, "state root", again.State.StateRoot, done.State.StateRoot)
	})
}

// A failure binding goes with a terminal failure and stays the same.
func TestFailureBinding(t *testing.T) {
	t.Parallel()
	both(t, policy(2, 2, 3), func(t *testing.T, k *desk) {
		k.submit(1, "a")
		f := k.lease().Lease.Fence()
		c := k.s.Candidates[0]
		_, doc, err := BuildNativeFailure(NativeFailure{PullRequestNumber: 1, ExpectedHead: c.SourceHead, FencingToken: f.Token,
			LeaseGeneration: f.Generation, NativeAttempts: 1, Reason: "native command failed", WorkerTerminationProven: true})
		if err != nil {
			t.Fatal(err)
		}
		binding := &FailureBinding{TransferRoot: root("1"), FinalizerBoundaryRoot: root("2"), NativeJobID: 501, SealJobID: 502}
		p := SettleParams{CandidateID: c.CandidateID, Outcome: TerminalFailure, Evidence: doc, Fence: &f, Failure: binding, Reason: "native command failed"}
		bad := p
		bad.Outcome = Cancelled
		_, err = Settle(k.s, bad, k.now)
		refuses(t, fault.Invalid, err)
		bad = p
		bad.Failure = &FailureBinding{TransferRoot: root("1"), FinalizerBoundaryRoot: root("2"), NativeJobID: 501, SealJobID: 501}
		_, err = Settle(k.s, bad, k.now)
		refuses(t, fault.Invalid, err)
		bad = p
		bad.Fence = nil
		_, err = Settle(k.s, bad, k.now)
		refuses(t, fault.StaleToken, err)
		bad = p
		bad.EvidenceRoot = root("0")
		_, err = Settle(k.s, bad, k.now)
		refuses(t, fault.RootDrift, err)

		k.tick(700) // the lease is over, its fence still ends the attempt
		k.wants(Settled)(Settle(k.s, p, k.now))
		k.wants(SettledDuplicate)(Settle(k.s, p, k.now))
		bad = p
		bad.Failure = nil
		_, err = Settle(k.s, bad, k.now)
		refuses(t, fault.Terminal, err)
		bad = p
		bad.Outcome, bad.Failure = Dequeued, nil
		_, err = Settle(k.s, bad, k.now)
		refuses(t, fault.Terminal, err)
		bad = p
		bad.CandidateID, bad.PullRequestNumber, bad.SourceHead = "", 9, c.SourceHead
		k.wants(SettleNotApplicable)(Settle(k.s, bad, k.now))
	})
}

// Cancel, then submit a new head: the second attempt is chained to the first.
func TestLaterAttemptsAreChained(t *testing.T) {
	t.Parallel()
	both(t, policy(2, 2, 3), func(t *testing.T, k *desk) {
		first := k.submit(183, "a").Candidate
		if _, err := k.end(*first, Cancelled, nil); err != nil {
			t.Fatal(err)
		}
		s := k.change(183, "a")
		s.SourceHead = hex40("9")
		s.SourceIdentityRoot = root("9")
		second := k.must(Submit(k.s, SubmitParams{Submission: s}, k.now)).Candidate
		wantText(t, "predecessor", second.PredecessorCandidateID, first.CandidateID)
		if _, err := Normalise(edit(t, k.s, "/candidates/1/predecessorCandidateId", nil), ReadParams{}); err == nil {
			t.Error("an unchained second attempt was accepted")
		}
	})
}
