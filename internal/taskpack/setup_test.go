package taskpack

import (
	"testing"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ident"
	"writ/internal/proposal"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

var start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

func at(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }

func key(n byte) ident.PrivateKey { return ident.FromSeed([32]byte{n, 0x57}) }

// contained is an environment that satisfies the whole predicate.
func contained() Containment {
	return Containment{
		Exclusive: true, Pinned: true, Network: NetworkNone, Destroyable: true, Confirms: true, EnvironmentOf: EnvironmentWorktree,
	}
}

func goPatch() Patch {
	return must(NewPatch(PolicyModuleSources,
		File{Root: RootModule, Path: "canon/encode.go", Op: OpWrite, Content: []byte("package canon\n")},
		File{Root: RootModule, Path: "canon/old.go", Op: OpDelete},
	))
}

func compileParams() CompileParams {
	patch := goPatch()
	return CompileParams{
		Candidate:  must(GoChange(patch.Ref, nil, []string{"./canon", "bench=Encode"})),
		Profile:    GoChangeProfile(),
		Binding:    must(LocalBinding("ws_01J00000000000000000000001", "workspace-root:repository.1")),
		Generation: 1,
		Tables:     ShippedTables(contained(), patch),
	}
}

// world is a whole chain around one compiled plan, from fixed seeds.
type world struct {
	CompileParams
	plan     Plan
	patch    Patch
	author   ident.PrivateKey
	host     ident.PrivateKey
	operator ident.PrivateKey

	solverRole, reviewerRole proposal.Assignment
	turn, reviewTurn         proposal.Turn
	manifest                 proposal.Manifest
	proposal                 proposal.Proposal
	review                   proposal.Review
	decision                 proposal.Decision
	run                      string
}

func newWorld() world {
	w := world{CompileParams: compileParams(), patch: goPatch(), author: key(1), host: key(4), operator: key(5)}
	w.plan = must(Compile(w.CompileParams))
	const runID, lane = "run_01J00000000000000000000001", "lane_01J00000000000000000000001"
	assign := func(id, role string) proposal.Assignment {
		return must(proposal.Assign(proposal.AssignParams{
			RunID: runID, LaneID: lane, Participant: proposal.Participant(id), Role: role,
			By: proposal.Participant("per_01J0000000000000000000000C"), At: at(0), Until: at(600),
		}))
	}
	say := func(a proposal.Assignment, event, text string, minute int) proposal.Turn {
		return must(proposal.TurnFrom(proposal.Message{
			EventID: event, RunID: runID, LaneID: lane, Assignment: a, No: 1, Content: text,
			Class: proposal.Community, At: at(minute), Until: at(400),
		}))
	}
	w.solverRole = assign("agt_01J0000000000000000000000A", proposal.RoleImplementer)
	w.reviewerRole = assign("per_01J0000000000000000000000B", proposal.RoleReviewer)
	w.turn = say(w.solverRole, "evt_01J00000000000000000000001", "Encode without the copy.", 1)
	w.reviewTurn = say(w.reviewerRole, "evt_01J00000000000000000000002", "The copy is not needed.", 6)
	w.proposal = must(proposal.SignProposal(proposal.ProposalParams{
		Turn: w.turn, Candidate: w.Candidate.Named("candidate/" + runID), Target: w.Profile.Target(w.Binding),
		At: at(5), Until: at(300), Key: "propose-1",
	}, w.author))
	w.manifest = must(proposal.NewManifest(proposal.ManifestParams{
		Query: w.proposal.Query, Room: w.proposal.Room, Reader: w.reviewerRole.Participant, Flow: "flow-binding:writ.review",
		Items: []proposal.Item{
			{Kind: "candidate", Ref: w.proposal.Candidate.Ref, Digest: w.proposal.Candidate.Digest, Required: true, Included: true},
		},
		Content: w.Candidate.Bytes, Class: proposal.Community, Target: &w.proposal,
	}))
	w.review = must(proposal.SignReview(proposal.ReviewParams{
		Proposal: w.proposal, Turn: w.reviewTurn, Evidence: w.manifest, Verdict: proposal.VerdictAccept,
		Findings: []string{"The buffer does not escape."}, At: at(10), Until: at(300), Key: "review-1",
	}, key(2)))
	w.decision = must(proposal.SignDecision(proposal.DecisionParams{
		Proposal: w.proposal, Review: w.review, Chair: proposal.Participant("per_01J0000000000000000000000C"),
		Decision: proposal.DecisionAdmit, Reason: "reviewed", At: at(15), Until: at(200),
	}, key(3)))
	w.run = RunRef(w.plan.Ref, RunKey(w.proposal))
	return w
}

func (w world) admit() AdmitParams {
	return AdmitParams{Plan: w.plan, Profile: w.Profile, Binding: w.Binding, Generation: w.Generation, Tables: w.Tables}
}

func (w world) ask(step string, minute int) Question {
	a := AskParams{Plan: w.plan, Run: w.run, Binding: w.Binding, Profile: w.Profile, Step: step, At: at(minute), Expires: at(minute + 20)}
	if step == Change {
		a.Patch = &w.patch
	}
	return must(Ask(a))
}

func (w world) answer(q Question, decision string, minute int) proposal.Answer {
	return must(proposal.SignAnswer(proposal.AnswerParams{
		Request: q.Ref, Operator: proposal.OperatorBinding("ws_01J00000000000000000000001", "per_01J0000000000000000000000D"),
		Decision: decision, At: at(minute), Until: at(minute + 30),
	}, w.operator))
}

const environment = "environment:writ-worktree.1"

// complete drives a run to its end, all answers being yes. It returns the run,
// its facts, and the questions and answers on the way.
func (w world) complete(passed bool) (Run, []Fact, []Question, []proposal.Answer) {
	r := NewRun(w.plan, w.run)
	var facts []Fact
	var questions []Question
	var answers []proposal.Answer
	minute := 20
	add := func(f Fact) {
		minute++
		var err error
		if r, f, err = r.Append(f, at(minute)); err != nil {
			panic(err)
		}
		facts = append(facts, f)
	}
	add(must(Admit(w.admit())))
	standing := Standing(Pending)
	answered := ""
	for {
		a := must(r.Next(NextFacts{Standing: standing}))
		switch a.Do {
		case DoAllocate:
			add(Fact{Kind: FactAllocated, Environment: environment})
		case DoAsk:
			q := w.ask(a.Step.ID, minute)
			yes := w.answer(q, proposal.AnswerApprove, minute)
			questions, answers = append(questions, q), append(answers, yes)
			standing, answered = q.Stand(&yes, at(minute)), yes.Ref
		case DoStart:
			add(Fact{Kind: FactStarted, Step: a.Step.ID})
			add(Fact{Kind: FactOutcome, Step: a.Step.ID, Outcome: StepCompleted, Answer: answered, Evidence: []string{"artifact:" + a.Step.ID}})
			standing, answered = Pending, ""
		case DoVerify:
			add(Fact{Kind: FactEvaluated, Result: "artifact:gate", Evaluation: "artifact:verdict", Passed: passed})
		case DoRecord:
			add(a.Fact)
		case DoDestroy:
			add(Fact{Kind: FactDestruction, Confirmation: "confirmation:writ-worktree.1"})
		case DoNothing:
			return r, facts, questions, answers
		}
	}
}

func proof() *Proof {
	return &Proof{Comparison: canon.Sum([]byte("comparison")), ResultSet: canon.Sum([]byte("result set")), Gate: canon.Sum([]byte("gate"))}
}

func wantFault(t *testing.T, err error, code fault.Code, pointer string) {
	t.Helper()
	f, ok := fault.As(err)
	if !ok || f.Code != code || f.Pointer != pointer {
		t.Fatalf("got %v (code %s), want %s at %q", err, fault.CodeOf(err), code, pointer)
	}
}

func wantRefusal(t *testing.T, err error, code Code) {
	t.Helper()
	if got := CodeOf(err); got != code {
		t.Fatalf("got %v (refusal %q), want %q", err, got, code)
	}
}
