package landing

import (
	"slices"
	"sync"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/schema"
)

// The order of lists is that of UTF-16 code units.
func TestCompareUTF16(t *testing.T) {
	t.Parallel()
	chars := []rune{'a', 'b', 'z', 0xD7FF, 0xE000, 0xFFFD, 0x10000, 0x1F600, 0x10FFFF}
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) string { return string(rapid.SliceOfN(rapid.SampledFrom(chars), 0, 3).Draw(t, name)) }
		a, b := draw("a"), draw("b")
		want := slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		if got := compareUTF16(a, b); got != want {
			t.Fatalf("%q, %q: %d, want %d", a, b, got, want)
		}
	})
}

// Times have one spelling.
func TestTimestamp(t *testing.T) {
	t.Parallel()
	for s, ok := range map[Timestamp]bool{
		"2026-08-12T00:00:00.000Z": true, "2024-02-29T23:59:59.999Z": true,
		"2026-08-12T00:00:00Z": false, "2026-08-12T00:00:00.00Z": false, "2026-08-12T00:00:00.0000Z": false,
		"2026-08-12T00:00:00,000Z": false, "2026-08-12T00:00:00.000+00:00": false, "2026-08-12t00:00:00.000z": false,
		"2026-13-12T00:00:00.000Z": false, "2025-02-29T00:00:00.000Z": false, "2026-08-12T24:00:00.000Z": false, "": false,
	} {
		if s.valid() != ok {
			t.Errorf("%q: valid is %t", s, !ok)
		}
		if !ok && !s.Time().IsZero() && s.valid() {
			t.Errorf("%q has a time", s)
		}
	}
}

// A state may be read, written and worked with by many at once.
func TestStatesAreSharedSafely(t *testing.T) {
	t.Parallel()
	both(t, policy(2, 2, 3), func(t *testing.T, k *desk) {
		k.submit(1, "a")
		k.submit(2, "b")
		k.qualify()
		k.land()
		k.admit()
		want := k.s.StateRoot
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if _, err := k.s.Value(); err != nil {
					t.Error(err)
				}
				if _, err := Submit(k.s, SubmitParams{Submission: k.change(3, "c")}, k.now); err != nil {
					t.Error(err)
				}
				if _, err := LeaseQualification(k.s, LeaseQualificationParams{}, k.now); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		wantText(t, "state root", must(k.s.Value())(t).Str("stateRoot"), want)
	})
}

// A transition never writes to the state that it was given.
func TestTransitionsDoNotWriteToTheirInput(t *testing.T) {
	t.Parallel()
	both(t, policy(2, 2, 3), func(t *testing.T, k *desk) {
		j := travel(k)
		for i, o := range j.operations {
			before := must(j.states[i].Value())(t).Canonical()
			must(Replay(j.states[i], o))(t)
			if after := must(j.states[i].Value())(t).Canonical(); !slices.Equal(before, after) {
				t.Errorf("%s wrote to its input", o.Op)
			}
		}
		changed := k.s
		changed.Generation++
		_, err := Recover(changed, k.now)
		refuses(t, fault.RootDrift, err)
	})
}

// Documents that older writers made lack some members; they are read and kept.
func TestOlderDocuments(t *testing.T) {
	t.Parallel()
	both(t, policy(2, 2, 3), func(t *testing.T, k *desk) {
		k.submit(1, "a")
		k.lease()
		doc := must(k.s.Value())(t).Any().(map[string]any)
		delete(doc["policy"].(map[string]any), "maxLandingOvertakes")
		delete(doc["policy"].(map[string]any), "maxQualificationAttempts")
		delete(doc["qualificationLeases"].([]any)[0].(map[string]any), "heartbeatAt")
		c := doc["candidates"].([]any)[0].(map[string]any)
		for _, m := range []string{"affectedPaths", "shardEvidenceRoots", "qualificationDomains", "qualificationAttempts", "landingOvertakes"} {
			delete(c, m)
		}
		delete(doc, "stateRoot")
		v := must(canon.From(doc))(t)
		v = v.With("stateRoot", canon.StringOf(canon.Root(v)))
		s := must(Parse(v.Canonical(), ReadParams{Strict: true}))(t)
		if !canon.Equal(must(s.Value())(t), v) || s.Policy.Overtakes() != 2 || s.Policy.Attempts() != 3 || s.Candidates[0].Attempts() != 0 {
			t.Fatalf("%s", must(s.Value())(t).Canonical())
		}
		k.s = s
		k.tick(700)
		k.wants(Recovered)(Recover(k.s, k.now))
		if _, ok := k.s.Active(1); !ok {
			t.Fatal("candidate is lost")
		}
		if _, ok := k.s.Active(2); ok {
			t.Fatal("candidate out of nothing")
		}
	})
}

// Rules between members, each broken alone.
func TestBrokenRules(t *testing.T) {
	t.Parallel()
	k := newDesk(t, Writ1, policy(2, 2, 3))
	k.submit(1, "a")
	k.submit(2, "b")
	k.qualify()
	k.lease()
	k.land()
	first, second := 0, 1
	if k.s.Candidates[0].Status != Landing {
		first, second = 1, 0
	}
	end := &Terminal{Outcome: Cancelled, EvidenceRoot: root("1"), SettledAt: k.s.UpdatedAt}
	for name, breakIt := range map[string]func(*State){
		"two leases of one":             func(s *State) { s.Leases = append(s.Leases, s.Leases[0]) },
		"too many leases":               func(s *State) { s.Leases = append(s.Leases, s.Leases[0], s.Leases[0]) },
		"lease of nobody":               func(s *State) { s.Leases[0].CandidateID = root("0") },
		"lease of one who is landing":   func(s *State) { s.Leases[0].CandidateID = s.Candidates[first].CandidateID },
		"qualifying without a lease":    func(s *State) { s.Leases = nil },
		"warrant of nobody":             func(s *State) { s.Warrant.CandidateID = root("0") },
		"landing without the warrant":   func(s *State) { s.Warrant = nil },
		"qualifying with qualification": func(s *State) { s.Candidates[second].Qualification = s.Candidates[first].Qualification },
		"landing without qualification": func(s *State) { s.Candidates[first].Qualification = nil },
		"live with a terminal record":   func(s *State) { s.Candidates[first].Terminal = end },
		"other outcome": func(s *State) {
			s.Leases, s.Candidates[second].Status, s.Candidates[second].Terminal = nil, Dequeued, end
		},
		"id twice": func(s *State) { s.Candidates = append(s.Candidates, s.Candidates[0]) },
		"chained to nobody": func(s *State) {
			c := &s.Candidates[second]
			c.PredecessorCandidateID = root("0")
			c.CandidateID = c.identity()
			s.Leases[0].CandidateID = c.CandidateID
		},
		"attempt after a live one": func(s *State) {
			c := s.Candidates[second]
			c.PredecessorCandidateID, c.Status = c.CandidateID, Queued
			c.CandidateID = c.identity()
			s.Candidates = append(s.Candidates, c)
		},
		"chained to another": func(s *State) {
			c := s.Candidates[second]
			c.PredecessorCandidateID, c.Status = root("0"), Queued
			c.CandidateID = c.identity()
			s.Candidates = append(s.Candidates, c)
		},
		"identity": func(s *State) { s.Candidates[0].SourceRoot = root("0") },
	} {
		s := k.s
		s.Leases, s.Candidates = slices.Clone(s.Leases), slices.Clone(s.Candidates)
		w := *s.Warrant
		s.Warrant = &w
		breakIt(&s)
		s.StateRoot = ""
		doc := must(s.Value())(t)
		if _, err := Normalise(doc, ReadParams{}); fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%s: %v", name, err)
		}
		if independent(doc.Any().(map[string]any)) == "" {
			t.Errorf("%s: the independent checker takes it", name)
		}
	}
}

// Version 2 of the source proof has more members and the same rooting.
func TestExactSourceProof(t *testing.T) {
	t.Parallel()
	k := newDesk(t, V2, policy(2, 2, 3))
	p := k.sourceProof(k.change(1, "a"))
	_, plain, err := BuildSourceProof(p)
	if err != nil {
		t.Fatal(err)
	}
	p.Exact = &ExactSource{QualifiedBase: hex40("1"), SourceTree: hex40("2"), PolicyRoot: root("3"), RequiredContextRoot: root("4"),
		ControllerReceiptRoot: root("5"), SourceWorkflowRunID: canon.IntOf(7)}
	built, doc, err := BuildSourceProof(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(schema.SourceProof, doc); err != nil {
		t.Fatal(err)
	}
	back := must(ParseSourceProof(doc))(t)
	if back.Root != built.Root || back.Exact == nil || doc.Str("proofRoot") == plain.Str("proofRoot") {
		t.Fatalf("%+v", back)
	}
	p.QualifiedAt = At(second(9))
	later, _, err := BuildSourceProof(p)
	if err != nil || later.Root != built.Root || later.ObservationRoot == built.ObservationRoot {
		t.Fatalf("the time changed what was proven: %v", err)
	}
	for name, bad := range map[string]canon.Value{
		"run id of no kind": doc.With("sourceWorkflowRunId", canon.BoolOf(true)),
		"run id zero":       doc.With("sourceWorkflowRunId", canon.IntOf(0)),
		"no evidence":       doc.With("shardEvidenceRoots", canon.ArrayOf()),
		"observation":       doc.With("observationRoot", canon.StringOf(root("0"))),
		"members of 2 in 1": doc.With("schema", canon.StringOf(sourceProof1)),
	} {
		if _, err := ParseSourceProof(bad); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// Run receipts bind a command, in order of time.
func TestRunReceipt(t *testing.T) {
	t.Parallel()
	r := must(ParseRunReceipt(at(t, vectors(t), "/evidence/nativeExecutionReceipt")))(t)
	bad := r
	bad.CompletedAt = At(second(0))
	if _, _, err := BuildRunReceipt(bad); err == nil {
		t.Error("a run that ended before it began")
	}
	bad = r
	bad.Binding.NativeCommandRoot = "none"
	if _, _, err := BuildRunReceipt(bad); err == nil || bad.Binding.Root() != "" {
		t.Error("a binding without a command")
	}
	doc := at(t, vectors(t), "/evidence/nativeExecutionReceipt").Without("receiptRoot").With("commandRoot", canon.StringOf(root("0")))
	if _, err := ParseRunReceipt(doc.With("receiptRoot", canon.StringOf(canon.Root(doc)))); err == nil {
		t.Error("a receipt of another command than it is bound to")
	}
}

// Attempts are read in either kind and in no other.
func TestParseAttempt(t *testing.T) {
	t.Parallel()
	for _, d := range Dialects() {
		k := landedOn(t, d)
		v := must(k.s.Warrant.Admitted.Attempt.Value())(t)
		if a := must(ParseAttempt(v))(t); !a.Equal(k.s.Warrant.Admitted.Attempt) {
			t.Fatalf("%+v", a)
		}
		for name, bad := range map[string]canon.Value{
			"kind":   v.With("schema", canon.StringOf("other/v1")),
			"path":   v.With("workflowPath", canon.StringOf("ci.yml")),
			"ref":    v.With("workflowRef", canon.StringOf("acme/widgets/.github/workflows/land.yml@refs/heads/a b")),
			"labels": v.With("runnerLabels", canon.ArrayOf()),
			"event":  v.With("event", canon.StringOf("push")),
			"number": v.With("runId", canon.StringOf("1200")),
			"array":  canon.ArrayOf(v),
		} {
			if _, err := ParseAttempt(bad); err == nil {
				t.Errorf("%s: accepted", name)
			}
		}
	}
	if _, err := (Attempt{}).Value(); err == nil {
		t.Error("an attempt of no kind was written")
	}
	if err := V2.CheckBase("main"); fault.CodeOf(err) != fault.Invalid || V2.CheckBase("dev/v1/v1.0") != nil {
		t.Errorf("%v", err)
	}
}
