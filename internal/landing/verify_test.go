package landing

import (
	"slices"
	"testing"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/schema"
)

// journey is one candidate from submission to its end, with every document.
type journey struct {
	candidate           Candidate
	docs                QualificationDocuments
	admission, readback canon.Value
	operations          []Operation
	states              []State
}

func travel(k *desk) journey {
	var j journey
	keep := func(tr Transition) Transition {
		j.operations = append(j.operations, tr.Operation)
		j.states = append(j.states, tr.State)
		return tr
	}
	j.states = append(j.states, k.s)
	keep(k.submit(1, "a"))
	f := keep(k.lease()).Lease.Fence()
	k.tick(1)
	p := k.documents(f)
	done := keep(k.must(CompleteQualification(k.s, p, k.now)))
	j.docs = QualificationDocuments{SourceProof: p.SourceProof, NativeProof: p.NativeProof, Contract: p.Contract, Receipt: done.Receipt}
	keep(k.land())
	j.admission = keep(k.admit()).Receipt
	k.tick(1)
	r := k.readback(Merged)
	j.readback = r.Document()
	j.candidate = *keep(k.must(Settle(k.s, SettleParams{Readback: r}, k.now))).Candidate
	return j
}

// Everything that a docket keeps can be checked again from the documents alone,
// and a change of any of them is found.
func TestDocumentsOfAnEndedCandidate(t *testing.T) {
	t.Parallel()
	both(t, policy(2, 2, 3), func(t *testing.T, k *desk) {
		j := travel(k)
		if err := VerifyQualification(j.candidate, j.docs); err != nil {
			t.Fatal(err)
		}
		if err := VerifyLanding(j.candidate, j.admission, j.readback); err != nil {
			t.Fatal(err)
		}
		for id, doc := range map[schema.ID]canon.Value{
			schema.SourceProofV1: j.docs.SourceProof, schema.NativeProof: j.docs.NativeProof,
			schema.QualificationContract: j.docs.Contract, schema.QualificationReceipt: j.docs.Receipt, schema.Admission: j.admission,
		} {
			if err := schema.Validate(id, doc); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		}
		other := newDesk(t, k.d, k.s.Policy)
		other.tick(100)
		o := travel(other)
		for name, err := range map[string]error{
			"receipt of another":   VerifyQualification(j.candidate, QualificationDocuments{j.docs.SourceProof, j.docs.NativeProof, j.docs.Contract, o.docs.Receipt}),
			"contract of another":  VerifyQualification(j.candidate, QualificationDocuments{j.docs.SourceProof, j.docs.NativeProof, o.docs.Contract, j.docs.Receipt}),
			"documents of another": VerifyQualification(j.candidate, o.docs),
			"admission of another": VerifyLanding(j.candidate, o.admission, j.readback),
			"readback of another":  VerifyLanding(j.candidate, j.admission, o.readback),
			"landing of another":   VerifyLanding(j.candidate, o.admission, o.readback),
		} {
			if err == nil {
				t.Errorf("%s: accepted", name)
			}
		}
		bare := j.candidate
		bare.Qualification, bare.Terminal = nil, nil
		refuses(t, fault.State, VerifyQualification(bare, j.docs))
		refuses(t, fault.State, VerifyLanding(bare, j.admission, j.readback))
		moved := j.candidate
		term := *moved.Terminal
		term.Reason = "other"
		moved.Terminal = &term
		refuses(t, fault.Evidence, VerifyLanding(moved, j.admission, j.readback))
	})
}

// The recorded operations lead from the first state to the last.
func TestReplay(t *testing.T) {
	t.Parallel()
	both(t, policy(2, 2, 3), func(t *testing.T, k *desk) {
		j := travel(k)
		s := j.states[0]
		for i, o := range j.operations {
			if err := CheckTransition(s, o, j.states[i+1]); err != nil {
				t.Fatalf("%s: %v", o.Op, err)
			}
			s = must(Replay(s, o))(t).State
		}
		wantText(t, "last root", s.StateRoot, k.s.StateRoot)
		refuses(t, fault.RootDrift, CheckTransition(j.states[0], j.operations[0], j.states[2]))
		late := j.operations[0]
		late.Now = At(second(5))
		refuses(t, fault.RootDrift, CheckTransition(j.states[0], late, j.states[1]))
		_, err := Replay(s, Operation{Op: "merge"})
		refuses(t, fault.UnknownKind, err)
		_, err = Replay(s, Operation{Op: OpRecover, Params: object(number("more", 1)), Now: At(k.now)})
		refuses(t, fault.Invalid, err)
		v := must(j.operations[0].Value())(t)
		if _, err := ParseOperation(v.With("op", canon.StringOf("merge"))); err == nil {
			t.Error("an unknown operation was read")
		}
	})
}

// The same course in both dialects gives the same actions, candidates and
// counters; only the words that name the dialect differ.
func TestDialectsBehaveAlike(t *testing.T) {
	t.Parallel()
	course := func(d *Dialect) (actions []Action, shape []string, k *desk) {
		k = newDesk(t, d, policy(2, 1, 2))
		do := func(tr Transition) Transition {
			actions = append(actions, tr.Action)
			return tr
		}
		do(k.submit(1, "a"))
		k.tick(1)
		do(k.submit(2, ""))
		k.tick(1)
		do(k.submit(3, "b"))
		do(k.lease())
		do(k.lease())
		k.tick(700)
		do(k.must(Recover(k.s, k.now)))
		do(k.lease())
		do(k.complete(k.s.Leases[0].Fence()))
		do(k.land())
		do(k.must(ReleaseUnadmitted(k.s, ReleaseParams{Fence: fenceOf(k.s.Warrant)}, k.now)))
		do(k.land())
		do(k.admit())
		k.tick(1)
		do(k.settle(Dequeued))
		do(k.must(Submit(k.s, SubmitParams{Submission: k.change(1, "a"), KeepAge: true}, k.now)))
		do(k.lease())
		k.tick(700)
		do(k.lease())
		k.tick(700)
		do(k.must(Recover(k.s, k.now)))
		do(k.sweep())
		for _, c := range k.s.Candidates {
			shape = append(shape, string(c.Status)+string(c.EnqueuedAt)+c.SourceHead)
		}
		return actions, shape, k
	}
	a1, s1, k1 := course(V2)
	a2, s2, k2 := course(Writ1)
	if !slices.Equal(a1, a2) || !slices.Equal(s1, s2) {
		t.Fatalf("dialects part ways:\n%v %v\n%v %v", a1, s1, a2, s2)
	}
	if k1.s.Generation != k2.s.Generation || k1.s.QualificationCounter != k2.s.QualificationCounter || k1.s.LandingCounter != k2.s.LandingCounter {
		t.Fatal("counters differ")
	}
	if err := schema.Validate(schema.WritAuthority, must(k1.s.Value())(t)); err == nil {
		t.Error("the law's document was taken for ours")
	}
}

func fenceOf(w *Warrant) *Fence {
	f := w.Fence()
	return &f
}

// The law takes no attempt on plain git and no base but its own.
func TestDialectRules(t *testing.T) {
	t.Parallel()
	law := newDesk(t, V2, policy(2, 2, 3))
	law.submit(1, "a")
	law.qualify()
	law.land()
	p := law.admission(law.attempt())
	p.Attempt = Attempt{Git: &GitAttempt{Repository: law.s.Repository, RunID: "r", RunAttempt: 1, JobID: "j", RunnerID: "x", RunnerName: "x",
		SourceHead: commit(1), MergeGroupHead: p.MergeGroupHead, ProtectedBase: law.s.ProtectedBase}}
	_, err := Admit(law.s, p, law.now)
	refuses(t, fault.Invalid, err)

	for base, want := range map[string][2]bool{ // law, ours
		"dev/v4/v4.0": {true, true}, "refs/heads/dev/v4/v4.0": {true, true}, "main": {false, true}, "a/b.c": {false, true},
		"dev/v4": {false, true}, "": {}, "@": {}, "HEAD": {}, "-x": {}, "a..b": {}, "a b": {}, "a//b": {}, "/a": {}, "a/": {},
		".a": {}, "a/.b": {}, "a.lock": {}, "a.lock/b": {}, "a.": {}, "a@{b": {}, "a~b": {}, "a^b": {}, "a:b": {}, "a?b": {},
		"a*b": {}, "a[b": {}, `a\b`: {}, "a\x01b": {}, "ä": {false, true},
	} {
		for i, d := range []*Dialect{V2, Writ1} {
			_, err := Create(CreateParams{Dialect: d, Repository: "a/b", ProtectedBase: base}, second(0))
			if (err == nil) != want[i] {
				t.Errorf("%s, %q: %v", d.Name, base, err)
			}
		}
	}
	for repository, ok := range map[string]bool{"a/b": true, "a": false, "a/b/c": false, "/b": false, "a/": false, "a /b": false, "a/b\u00a0c": false} {
		if _, err := Create(CreateParams{Dialect: Writ1, Repository: repository, ProtectedBase: "main"}, second(0)); (err == nil) != ok {
			t.Errorf("repository %q: %v", repository, err)
		}
	}
	if DialectFor(true, "refs/heads/dev/v4/v4.0") != V2 || DialectFor(true, "main") != Writ1 || DialectFor(false, "dev/v4/v4.0") != Writ1 {
		t.Error("wrong dialect for a remote")
	}
	_, err = Create(CreateParams{Repository: "a/b", ProtectedBase: "main"}, second(0))
	refuses(t, fault.Invalid, err)
}

// An observation describes a state and is the same for the same state.
func TestObserve(t *testing.T) {
	t.Parallel()
	both(t, policy(2, 2, 3), func(t *testing.T, k *desk) {
		k.submit(1, "a")
		k.submit(2, "b")
		k.qualify()
		k.land()
		v := must(Observe(k.s, k.now))(t)
		wantText(t, "state root", v.Str("stateRoot"), k.s.StateRoot)
		if n, _ := at(t, v, "/states/queued").Int(); n != 1 {
			t.Errorf("%s", v.Canonical())
		}
		if b, _ := at(t, v, "/landing/mergeGroupAdmission").Bool(); !b {
			t.Errorf("%s", v.Canonical())
		}
		w := NextWake(k.s)
		if !canon.Equal(at(t, v, "/wake"), w.Value()) || w.Root() != k.must(Recover(k.s, k.now)).Wake.Root() {
			t.Error("wakes differ")
		}
	})
}
