package taskpack

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/proposal"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGoldenChain makes one whole chain from fixed seeds and holds every
// document of it against the stored one: a change of any format shows here.
func TestGoldenChain(t *testing.T) {
	t.Parallel()
	w := newWorld()
	run, facts, questions, answers := w.complete(true)
	record := must(Record(RecordParams{Proposal: w.proposal, Review: w.review, Decision: w.decision, Run: run, Proof: proof(), At: at(90)}, w.host))
	result := must(Project(run))

	var all []canon.Value
	add := func(name, ref string, v canon.Value) {
		all = append(all, canon.MustFrom(map[string]any{"name": name, "ref": ref, "document": v}))
	}
	add("profile", w.Profile.Digest(), w.Profile.Value)
	add("binding", w.Binding.Digest(), w.Binding.Value)
	add("patch", w.patch.Ref, w.patch.Value)
	add("candidate", w.Candidate.Digest(), w.Candidate.Value)
	for _, d := range []proposal.Document{
		w.solverRole.Document, w.reviewerRole.Document, w.turn.Document, w.reviewTurn.Document,
		w.proposal.Document, w.manifest.Document, w.review.Document, w.decision.Document,
	} {
		add(string(d.Kind), d.Ref, d.Value)
	}
	add("plan", w.plan.Ref, w.plan.Value)
	for i, q := range questions {
		add("question", q.Ref, q.Value)
		add("answer", answers[i].Ref, answers[i].Value)
	}
	for _, f := range facts {
		add("fact", f.Ref(), f.Value)
	}
	add("result", result.Digest(), result.Value)
	add("execution", record.Ref, record.Value)

	var got bytes.Buffer
	if err := json.Indent(&got, canon.ArrayOf(all...).Canonical(), "", " "); err != nil {
		t.Fatal(err)
	}
	got.WriteByte('\n')
	path := filepath.Join("testdata", "chain.golden.json")
	if *update {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("the chain has changed (run with -update if that is meant):\n%s", diff)
	}
}

// TestChainOfDocuments relates every document of the whole chain to the ones it
// names.
func TestChainOfDocuments(t *testing.T) {
	t.Parallel()
	w := newWorld()
	for _, passed := range []bool{true, false} {
		run, facts, questions, answers := w.complete(passed)
		record := must(Record(RecordParams{Proposal: w.proposal, Review: w.review, Decision: w.decision, Run: run, Proof: proof(), At: at(90)}, w.host))
		folded, err := Fold(w.plan, w.run, facts)
		if err != nil {
			t.Fatal(err)
		}
		for name, err := range map[string]error{
			"chain":  proposal.Relate(w.proposal, w.review, w.decision, at(30)),
			"plan":   RelatePlan(w.proposal, w.Candidate, w.Profile, w.Binding, w.plan),
			"record": proposal.RelateExecution(w.proposal, w.review, w.decision, record),
			"facts":  RelateRecord(record, folded),
			"replay": Replay(w.plan, must(Compile(w.CompileParams))),
		} {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		want := map[bool]string{true: proposal.OutcomeVerified, false: proposal.OutcomeFailed}[passed]
		if record.Outcome != want || len(record.Evidence) != 3 {
			t.Errorf("recorded as %s with %d pieces of evidence", record.Outcome, len(record.Evidence))
		}
		if len(questions) != 3 {
			t.Fatalf("%d questions, want one per mutation", len(questions))
		}
		for i, q := range questions {
			s, _ := w.plan.Step(q.Step.ID)
			if err := q.For(w.plan, w.run, s); err != nil {
				t.Errorf("question %d: %v", i, err)
			}
			if answers[i].Request != q.Ref {
				t.Errorf("answer %d names %s", i, answers[i].Request)
			}
		}
	}
}

func TestRecordRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld()
	run, facts, _, _ := w.complete(true)
	p := RecordParams{Proposal: w.proposal, Review: w.review, Decision: w.decision, Run: run, Proof: proof(), At: at(90)}
	with := func(change func(*RecordParams)) RecordParams {
		q := p
		change(&q)
		return q
	}
	for _, row := range []struct {
		name string
		p    RecordParams
		code fault.Code
	}{
		{"destruction not confirmed", with(func(q *RecordParams) { q.Run = must(Fold(w.plan, w.run, facts[:len(facts)-1])) }), fault.State},
		{"not concluded", with(func(q *RecordParams) { q.Run = must(Fold(w.plan, w.run, facts[:3])) }), fault.State},
		{"no evidence", with(func(q *RecordParams) { q.Proof = nil }), fault.Invalid},
		{"run of another proposal", with(func(q *RecordParams) { q.Proposal.Ref = "corpus-experiment:x" }), fault.Relation},
	} {
		if _, err := Record(row.p, w.host); fault.CodeOf(err) != row.code {
			t.Errorf("%s: got %v, want %s", row.name, err, row.code)
		}
	}

	record := must(Record(p, w.host))
	for _, row := range []struct {
		name    string
		change  func(*proposal.Execution)
		pointer string
	}{
		{"plan", func(e *proposal.Execution) { e.PlanDigest = "sha256:x" }, "/plan~1digest"},
		{"run", func(e *proposal.Execution) { e.Run = "operator-task-run:x" }, "/run~1ref"},
		{"environment", func(e *proposal.Execution) { e.Environment = "environment:x" }, "/environment~1ref"},
		{"outcome", func(e *proposal.Execution) { e.Outcome = proposal.OutcomeFailed }, "/outcome"},
		{"refusal", func(e *proposal.Execution) { e.Refusal = string(HILDenied) }, "/refusal~1code"},
		{"result", func(e *proposal.Execution) { e.Result = "sha256:x" }, "/result~1digest"},
		{"two pieces of evidence", func(e *proposal.Execution) { e.Evidence = e.Evidence[:2] }, "/evidence"},
		{"evidence of another step", func(e *proposal.Execution) {
			e.Evidence = []proposal.Evidence{e.Evidence[0], {Step: Check}, e.Evidence[2]}
		}, "/evidence/1/step~1id"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			e := record
			row.change(&e)
			wantFault(t, RelateRecord(e, run), fault.Relation, row.pointer)
		})
	}
}

func TestRelatePlanRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld()
	other := must(GoChange(w.patch.Ref, []string{"./other"}, nil))
	otherParams := w.CompileParams
	otherParams.Candidate = other
	otherPlan := must(Compile(otherParams))
	otherProfile := must(GoChangeProfileWith(append(Commands(), CommandProfile{Ref: "command-profile:more"}), ModuleSources()))
	otherBinding := must(LocalBinding("ws_01J00000000000000000000002", "workspace-root:repository.1"))
	newer := must(BindProfile(w.Profile, BindParams{Workspace: "ws_01J00000000000000000000001", Root: "workspace-root:repository.1", Revision: 2}))
	plain := w.proposal
	plain.Target = nil
	for _, row := range []struct {
		name    string
		err     error
		pointer string
	}{
		{"other candidate", RelatePlan(w.proposal, other, w.Profile, w.Binding, w.plan), "/candidate/digest"},
		{"plan of another candidate", RelatePlan(w.proposal, w.Candidate, w.Profile, w.Binding, otherPlan), "/candidate/digest"},
		{"other profile", RelatePlan(w.proposal, w.Candidate, otherProfile, w.Binding, w.plan), "/target/task-profile~1digest"},
		{"other binding", RelatePlan(w.proposal, w.Candidate, w.Profile, otherBinding, w.plan), "/target/binding~1ref"},
		{"newer revision of the binding", RelatePlan(w.proposal, w.Candidate, w.Profile, newer, w.plan), "/target/binding~1ref"},
		{"no target", RelatePlan(plain, w.Candidate, w.Profile, w.Binding, w.plan), "/target"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			wantFault(t, row.err, fault.Relation, row.pointer)
		})
	}
}

func TestEntries(t *testing.T) {
	t.Parallel()
	w := newWorld()
	_, facts, questions, _ := w.complete(true)
	plan, question, fact := w.plan.Entry("run", "evt"), questions[0].Entry("run", "evt"), facts[2].Entry("run", "evt")
	got := []string{
		w.Candidate.Entry("run", "").Ref, w.patch.Entry("run", "").Ref, w.Profile.Entry("").Ref, w.Binding.Entry("").Identity,
		plan.Ref, plan.Identity, question.Ref, fact.Identity, fact.RunID, fact.Event,
	}
	want := []string{
		w.proposal.Candidate.Artifact, w.patch.Ref, w.Profile.Digest(), "local-binding|" + w.Binding.Ref + "|1",
		w.plan.Ref, "plan|" + w.plan.Ref, questions[0].Ref, "run-fact|" + w.run + "|3", "run", "evt",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if again, err := ParseFact(fact.Body); err != nil || again.Ref() != fact.Ref {
		t.Errorf("fact read back: %v", err)
	}
}
