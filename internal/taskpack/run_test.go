package taskpack

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/proposal"
)

// model says, in other words than Run, which facts may follow which.
type model struct {
	steps     []PlanStep
	admitted  bool
	env       bool
	open      bool     // the last of done is running
	done      []string // outcomes of the first steps
	refusal   Code
	evaluated int // 0 no, 1 failed, 2 passed
	cancel    bool
	outcome   string
	confirmed bool
}

func (m *model) last() string {
	if len(m.done) == 0 || m.open {
		return ""
	}
	return m.done[len(m.done)-1]
}

func (m *model) allows(f Fact) bool {
	healthy := m.last() == "" || m.last() == StepCompleted
	next := ""
	if !m.open && healthy && len(m.done) < len(m.steps) {
		next = m.steps[len(m.done)].ID
	}
	all := !m.open && len(m.done) == len(m.steps) && m.last() == StepCompleted
	if f.Kind == FactAdmitted || !m.admitted {
		return f.Kind == FactAdmitted && !m.admitted
	}
	if f.Kind == FactDestruction || m.outcome != "" {
		return f.Kind == FactDestruction && m.outcome != "" && !m.confirmed
	}
	switch f.Kind {
	case FactAllocated:
		return !m.env && !m.cancel
	case FactStarted:
		return m.env && !m.cancel && next != "" && f.Step == next
	case FactOutcome:
		if !m.open {
			return f.Outcome == StepRefused && next != "" && f.Step == next
		}
		s := m.steps[len(m.done)-1]
		return f.Step == s.ID && (f.Outcome != StepCompleted || !s.Answer || f.Answer != "")
	case FactEvaluated:
		return all && m.evaluated == 0
	case FactCancel:
		return !m.cancel
	case FactConcluded:
		switch {
		case m.open:
			return false
		case f.Outcome == proposal.OutcomeVerified:
			return m.evaluated == 2
		case f.Outcome == proposal.OutcomeFailed:
			return m.evaluated == 1
		case f.Outcome == proposal.OutcomeCancel:
			return m.cancel && healthy
		case f.Outcome == proposal.OutcomeUnknown:
			return m.last() != StepRefused
		}
		return m.last() != StepUnknown && m.evaluated == 0 && (m.last() != StepRefused || f.Refusal == m.refusal)
	}
	return false
}

func (m *model) apply(f Fact) {
	switch f.Kind {
	case FactAdmitted:
		m.admitted = true
	case FactAllocated:
		m.env = true
	case FactStarted:
		m.open, m.done = true, append(m.done, "")
	case FactOutcome:
		if !m.open {
			m.done = append(m.done, "")
		}
		m.open, m.refusal, m.done[len(m.done)-1] = false, f.Refusal, f.Outcome
	case FactEvaluated:
		m.evaluated = 1
		if f.Passed {
			m.evaluated = 2
		}
	case FactCancel:
		m.cancel = true
	case FactConcluded:
		m.outcome = f.Outcome
	case FactDestruction:
		m.confirmed = true
	}
}

func (m *model) phase() Phase {
	switch {
	case !m.admitted:
		return PhaseNone
	case m.outcome == "":
		return PhaseRunning
	case !m.confirmed:
		return PhaseRollback
	}
	return PhaseTerminal
}

func drawFact(t *rapid.T, w world) Fact {
	f := Fact{Kind: rapid.SampledFrom([]FactKind{
		FactAdmitted, FactAllocated, FactStarted, FactStarted, FactOutcome, FactOutcome, FactOutcome, FactEvaluated, FactCancel, FactConcluded, FactDestruction,
	}).Draw(t, "kind")}
	step := rapid.SampledFrom([]string{List, Change, Check, Compare}).Draw(t, "step")
	switch f.Kind {
	case FactAdmitted:
		return must(Admit(w.admit()))
	case FactAllocated:
		f.Environment = environment
	case FactStarted:
		f.Step = step
	case FactOutcome:
		f.Step = step
		f.Outcome = rapid.SampledFrom([]string{StepCompleted, StepCompleted, StepCompleted, StepRefused, StepUnknown}).Draw(t, "outcome")
		if rapid.IntRange(0, 3).Draw(t, "answered") > 0 {
			f.Answer = "writ-human-answer:x"
		}
	case FactEvaluated:
		f.Result, f.Evaluation, f.Passed = "artifact:r", "artifact:e", rapid.Bool().Draw(t, "passed")
	case FactConcluded:
		f.Outcome = rapid.SampledFrom([]string{
			proposal.OutcomeVerified, proposal.OutcomeFailed, proposal.OutcomeRefused, proposal.OutcomeCancel, proposal.OutcomeUnknown,
		}).Draw(t, "outcome")
	case FactDestruction:
		f.Confirmation = "confirmation:x"
	}
	if f.Outcome == StepRefused {
		f.Refusal = rapid.SampledFrom([]Code{HILDenied, HILExpired}).Draw(t, "code")
	}
	return f
}

// TestRunAgainstModel offers random facts to the fold and to the model: both
// accept and refuse the same ones, and agree on where the run stands.
func TestRunAgainstModel(t *testing.T) {
	t.Parallel()
	w := newWorld()
	rapid.Check(t, func(t *rapid.T) {
		r, m := NewRun(w.plan, w.run), &model{steps: w.plan.Steps}
		var facts []Fact
		if rapid.IntRange(0, 9).Draw(t, "begin") > 0 { // mostly get past the first two facts
			for _, f := range []Fact{must(Admit(w.admit())), {Kind: FactAllocated, Environment: environment}} {
				var written Fact
				r, written, _ = r.Append(f, at(1))
				m.apply(f)
				facts = append(facts, written)
			}
		}
		for range rapid.IntRange(0, 40).Draw(t, "facts") {
			f := drawFact(t, w)
			before := r
			next, written, err := r.Append(f, at(1))
			if (err == nil) != m.allows(f) {
				t.Fatalf("%s %s %s at %+v: fold says %v, model says %v", f.Kind, f.Step, f.Outcome, *m, err, m.allows(f))
			}
			if diff := cmp.Diff(before.Steps, r.Steps); diff != "" {
				t.Fatalf("Apply changed its receiver: %s", diff)
			}
			if err != nil {
				if fault.CodeOf(err) != fault.State {
					t.Fatalf("%s: %v", f.Kind, err)
				}
				continue
			}
			m.apply(f)
			r, facts = next, append(facts, written)
			if r.Phase() != m.phase() {
				t.Fatalf("phase %s, model %s", r.Phase(), m.phase())
			}
			if _, open := r.Open(); open != m.open {
				t.Fatalf("open %v, model %v", open, m.open)
			}
		}
		if diff := cmp.Diff(r.Steps, must(Fold(w.plan, w.run, facts)).Steps); diff != "" {
			t.Fatalf("the same facts fold into something else: %s", diff)
		}
		if r.Outcome != "" {
			if _, err := Project(r); err != nil {
				t.Fatalf("a concluded run has a result: %v", err)
			}
		}
	})
}

// TestCrashesNeverRepeatAStep drives runs by Next, killing the driver at random
// points: between any two facts, and in the middle of a step. Whatever happens,
// no step is carried out twice, an interrupted one ends as unknown and so does
// its run, and every run ends terminal.
func TestCrashesNeverRepeatAStep(t *testing.T) {
	t.Parallel()
	w := newWorld()
	rapid.Check(t, func(t *rapid.T) {
		var log []Fact              // what the store holds
		started := map[string]int{} // what really happened
		store := func(f Fact) Run {
			r := must(Fold(w.plan, w.run, log))
			r, f, err := r.Append(f, at(len(log)))
			if err != nil {
				t.Fatal(err)
			}
			log = append(log, f)
			return r
		}
		store(must(Admit(w.admit())))
		interrupted, restarted := false, false
		for range 60 {
			r := must(Fold(w.plan, w.run, log))
			if !restarted && r.Phase() == PhaseRunning && !r.Cancel && rapid.IntRange(0, 9).Draw(t, "cancel") == 9 {
				r = store(Fact{Kind: FactCancel})
			}
			a, err := r.Next(NextFacts{Restarted: restarted, Standing: rapid.SampledFrom([]Standing{Approved, Approved, Approved, Approved, Denied, Late, Pending}).Draw(t, "standing")})
			if err != nil {
				t.Fatal(err)
			}
			restarted = false
			switch a.Do {
			case DoNothing:
				if r.Phase() != PhaseTerminal {
					t.Fatalf("nothing to do in phase %s", r.Phase())
				}
				if interrupted != (r.Outcome == proposal.OutcomeUnknown) {
					t.Fatalf("interrupted %v, concluded %s", interrupted, r.Outcome)
				}
				return
			case DoAllocate:
				store(Fact{Kind: FactAllocated, Environment: environment})
			case DoStart:
				store(Fact{Kind: FactStarted, Step: a.Step.ID})
				if started[a.Step.ID]++; started[a.Step.ID] > 1 {
					t.Fatalf("step %s was carried out twice", a.Step.ID)
				}
				if rapid.IntRange(0, 9).Draw(t, "crash") == 0 {
					interrupted, restarted = true, true
					continue
				}
				store(Fact{Kind: FactOutcome, Step: a.Step.ID, Outcome: StepCompleted, Answer: "writ-human-answer:x"})
			case DoVerify:
				store(Fact{Kind: FactEvaluated, Result: "artifact:r", Evaluation: "artifact:e", Passed: rapid.Bool().Draw(t, "passed")})
			case DoRecord:
				store(a.Fact)
			case DoDestroy:
				store(Fact{Kind: FactDestruction, Confirmation: "confirmation:x"})
			}
		}
	})
}

func TestApplyRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld()
	r, facts, _, _ := w.complete(true)
	mid := must(Fold(w.plan, w.run, facts[:4]))
	_, err := mid.Apply(facts[3])
	wantFault(t, err, fault.Conflict, "")
	_, err = mid.Apply(facts[5])
	wantFault(t, err, fault.Invalid, "/sequence")
	foreign := facts[4]
	foreign.Run = "operator-task-run:other"
	_, err = mid.Apply(foreign)
	wantFault(t, err, fault.Relation, "")
	next := w.CompileParams
	next.Generation = 2
	_, err = NewRun(must(Compile(next)), w.run).Apply(facts[0])
	wantFault(t, err, fault.Relation, "/fact")
	_, err = r.Apply(Fact{Run: w.run, Sequence: r.Last + 1, Kind: FactCancel})
	wantFault(t, err, fault.State, "")
	_, _, err = mid.Append(Fact{Kind: "rumour"}, at(1))
	if fault.CodeOf(err) != fault.Invalid {
		t.Errorf("a fact of no kind: %v", err)
	}
	_, _, err = mid.Append(Fact{Kind: FactOutcome, Step: List, Outcome: StepCompleted, Refusal: HILDenied}, at(1))
	if fault.CodeOf(err) != fault.Invalid {
		t.Errorf("completed with a refusal: %v", err)
	}
	if _, err := Project(mid); fault.CodeOf(err) != fault.State {
		t.Errorf("result of a running run: %v", err)
	}
}

// TestNext pins the transitions that the random walks do not pin by name.
func TestNext(t *testing.T) {
	t.Parallel()
	w := newWorld()
	_, facts, _, _ := w.complete(true)
	fold := func(n int, extra ...Fact) Run {
		r := must(Fold(w.plan, w.run, facts[:n]))
		for _, f := range extra {
			var err error
			if r, _, err = r.Append(f, at(50)); err != nil {
				t.Fatal(err)
			}
		}
		return r
	}
	notContained := Containment{}.Check()
	for _, row := range []struct {
		name string
		run  Run
		f    NextFacts
		want Action
	}{
		{"allocates after the fence", fold(1), NextFacts{}, Action{Do: DoAllocate}},
		{"fence refuses before the allocation", fold(1), NextFacts{Fence: notContained}, conclude(proposal.OutcomeRefused, NotContained)},
		{"observation asks nobody", fold(2), NextFacts{Standing: Pending}, Action{Do: DoStart, Step: w.plan.Steps[0]}},
		{"crash leaves the step unknown", fold(3), NextFacts{Restarted: true}, record(Fact{Kind: FactOutcome, Step: List, Outcome: StepUnknown})},
		{"mutation asks", fold(4), NextFacts{Standing: Pending}, Action{Do: DoAsk, Step: w.plan.Steps[1]}},
		{"no standing asks", fold(4), NextFacts{}, Action{Do: DoAsk, Step: w.plan.Steps[1]}},
		{"yes starts", fold(4), NextFacts{Standing: Approved}, Action{Do: DoStart, Step: w.plan.Steps[1]}},
		{"no refuses the step", fold(4), NextFacts{Standing: Denied}, record(Fact{Kind: FactOutcome, Step: Change, Outcome: StepRefused, Refusal: HILDenied})},
		{"silence refuses the step", fold(4), NextFacts{Standing: Late}, record(Fact{Kind: FactOutcome, Step: Change, Outcome: StepRefused, Refusal: HILExpired})},
		{"a refused step ends the run", fold(4, Fact{Kind: FactOutcome, Step: Change, Outcome: StepRefused, Refusal: HILDenied}), NextFacts{}, conclude(proposal.OutcomeRefused, HILDenied)},
		{"yes does not help against the fence", fold(4), NextFacts{Standing: Approved, Fence: notContained}, conclude(proposal.OutcomeRefused, NotContained)},
		{"cancel at the boundary", fold(4, Fact{Kind: FactCancel}), NextFacts{Standing: Approved}, conclude(proposal.OutcomeCancel, "")},
		{"an unknown step ends the run", fold(3, Fact{Kind: FactOutcome, Step: List, Outcome: StepUnknown}), NextFacts{}, conclude(proposal.OutcomeUnknown, "")},
		{"verifies at the end", fold(10), NextFacts{}, Action{Do: DoVerify}},
		{"concludes", fold(11), NextFacts{}, conclude(proposal.OutcomeVerified, "")},
		{"destroys", fold(12), NextFacts{}, Action{Do: DoDestroy}},
		{"rests", fold(13), NextFacts{}, Action{Do: DoNothing}},
	} {
		got, err := row.run.Next(row.f)
		if err != nil {
			t.Errorf("%s: %v", row.name, err)
			continue
		}
		if diff := cmp.Diff(row.want, got); diff != "" {
			t.Errorf("%s:\n%s", row.name, diff)
		}
	}
	_, err := NewRun(w.plan, w.run).Next(NextFacts{})
	wantFault(t, err, fault.State, "")
	_, err = fold(3).Next(NextFacts{})
	wantFault(t, err, fault.State, "")
	_, err = fold(4).Next(NextFacts{Fence: fault.New(fault.Unavailable, "x", "tables cannot be read")})
	wantFault(t, err, fault.Unavailable, "")
	if err := fold(12).DestroyOverdue(fold(12).Ends.Add(DestroyLimit - time.Millisecond)); err != nil {
		t.Error(err)
	}
	wantRefusal(t, fold(12).DestroyOverdue(fold(12).Ends.Add(DestroyLimit)), "rollback/destroy-unconfirmed")
}

func TestProjection(t *testing.T) {
	t.Parallel()
	w := newWorld()
	_, facts, _, _ := w.complete(true)
	r := must(Fold(w.plan, w.run, facts[:4]))
	for _, f := range []Fact{
		{Kind: FactOutcome, Step: Change, Outcome: StepRefused, Refusal: HILDenied, Answer: "writ-human-answer:no"},
		{Kind: FactConcluded, Outcome: proposal.OutcomeRefused, Refusal: HILDenied},
	} {
		var err error
		if r, _, err = r.Append(f, at(40)); err != nil {
			t.Fatal(err)
		}
	}
	got := must(Project(r))
	for pointer, want := range map[string]string{
		"/outcome": "refused", "/refusal~1code": "hil/denied", "/steps/0/outcome": "completed",
		"/steps/1/outcome": "refused", "/steps/1/refusal~1code": "hil/denied", "/steps/1/hil~1decision-ref": "writ-human-answer:no",
		"/steps/2/outcome": "not-run", "/steps/3/outcome": "not-run", "/rollback/outcome": "rollback-pending",
	} {
		v, _ := got.Value.At(pointer)
		if s, _ := v.String(); s != want {
			t.Errorf("%s is %q, want %q", pointer, s, want)
		}
	}
	if _, there := got.Value.Get("verifier"); there {
		t.Error("nothing was verified")
	}
	done, _, err := r.Append(Fact{Kind: FactDestruction, Confirmation: "confirmation:gone"}, at(41))
	if err != nil {
		t.Fatal(err)
	}
	record, err := Record(RecordParams{Proposal: w.proposal, Review: w.review, Decision: w.decision, Run: done, At: at(50)}, w.host)
	if err != nil || record.Refusal != string(HILDenied) || len(record.Evidence) != 0 {
		t.Errorf("record of a refused run: %+v, %v", record.Refusal, err)
	}
	if err := RelateRecord(record, done); err != nil {
		t.Error(err)
	}
	if must(Project(done)).Digest() == got.Digest() {
		t.Error("the confirmed destruction does not show in the result")
	}
	if !canon.Equal(must(Project(done)).Value, must(canon.Parse(must(Project(done)).Bytes))) {
		t.Error("the bytes are not those of the value")
	}
}
