package author

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"writ/client"
	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/proposal"
	"writ/internal/taskpack"
)

func review(ref string) ReviewParams {
	return ReviewParams{Run: runID, Proposal: ref, Verdict: proposal.VerdictAccept, Findings: []string{"same sums"}}
}

// TestTheWholeChain hands in a proposal, a review, a decision and an answer that
// fit together, and finds each again when it is handed in a second time.
func TestTheWholeChain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	solver, critic, ann := w.as("agt_solver", 1), w.as("agt_critic", 2), w.as("per_ann", 3)

	twice := func(what string, do func() (client.DocRef, error)) string {
		t.Helper()
		first, err := do()
		if err != nil || first.Replayed {
			t.Fatalf("%s: %+v %v", what, first, err)
		}
		again, err := do()
		if err != nil || !again.Replayed || again.Ref != first.Ref {
			t.Fatalf("%s again: %+v %v", what, again, err)
		}
		return first.Ref
	}
	pRef := twice("propose", func() (client.DocRef, error) { return Propose(t.Context(), solver.c, solver.key, change()) })
	rRef := twice("review", func() (client.DocRef, error) { return Review(t.Context(), critic.c, critic.key, review("")) })
	at := began.Add(time.Minute)
	dRef := twice("decide", func() (client.DocRef, error) {
		at = at.Add(time.Second) // a second call comes later
		return Decide(t.Context(), ann.c, ann.key, DecideParams{Run: runID, Decision: proposal.DecisionAdmit, Reason: "reviewed", At: at})
	})
	q := w.ask()
	twice("answer", func() (client.DocRef, error) {
		at = at.Add(time.Second)
		return Answer(t.Context(), ann.c, ann.key, AnswerParams{Run: runID, Request: q.Ref, Approve: true, At: at})
	})
	p, err := proposal.AsProposal(w.docs[pRef])
	if err != nil {
		t.Fatal(err)
	}
	r, err := proposal.AsReview(w.docs[rRef])
	if err != nil {
		t.Fatal(err)
	}
	d, err := proposal.AsDecision(w.docs[dRef])
	if err != nil {
		t.Fatal(err)
	}
	if err := proposal.Relate(p, r, d, began.Add(2*time.Minute)); err != nil {
		t.Errorf("the chain does not relate: %v", err)
	}
	if w.posted != 2 {
		t.Errorf("%d messages were posted for one proposal and one review", w.posted)
	}
	if p.Candidate.Ref != "change:sum-add-pairs@"+baseCommit {
		t.Errorf("candidate %q", p.Candidate.Ref)
	}
	if got := p.Until().Sub(p.From()); got != time.Hour {
		t.Errorf("the proposal lives %s", got)
	}
}

func TestOtherWordsAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	solver, critic, ann, bob := w.as("agt_solver", 1), w.as("agt_critic", 2), w.as("per_ann", 3), w.as("per_bob", 4)
	if _, err := Decide(t.Context(), ann.c, ann.key, DecideParams{Run: runID}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("a decision about nothing: %v", err)
	}
	if _, err := Review(t.Context(), critic.c, critic.key, review("")); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("a review of nothing: %v", err)
	}
	if _, err := Propose(t.Context(), solver.c, solver.key, change()); err != nil {
		t.Fatal(err)
	}
	if _, err := Review(t.Context(), solver.c, solver.key, review("")); fault.CodeOf(err) != fault.Relation {
		t.Errorf("the author reviews: %v", err)
	}
	if _, err := Review(t.Context(), critic.c, critic.key, review("")); err != nil {
		t.Fatal(err)
	}
	decide := DecideParams{Run: runID, Decision: proposal.DecisionAdmit, Reason: "reviewed", At: began.Add(time.Minute)}
	if _, err := Decide(t.Context(), ann.c, ann.key, decide); err != nil {
		t.Fatal(err)
	}
	decide.Decision = proposal.DecisionBlock
	if _, err := Decide(t.Context(), ann.c, ann.key, decide); fault.CodeOf(err) != fault.ChangedReplay {
		t.Errorf("another decision by one key: %v", err)
	}
	decide.Run = "run_2"
	if _, err := Decide(t.Context(), bob.c, bob.key, decide); fault.CodeOf(err) != fault.Relation {
		t.Errorf("a decision under another run: %v", err)
	}
	q := w.ask()
	answer := AnswerParams{Run: runID, Request: q.Ref, Approve: false, At: began.Add(time.Minute)}
	if _, err := Answer(t.Context(), ann.c, ann.key, answer); err != nil {
		t.Fatal(err)
	}
	answer.Approve = true
	if _, err := Answer(t.Context(), ann.c, ann.key, answer); fault.CodeOf(err) != fault.ChangedReplay {
		t.Errorf("another answer: %v", err)
	}
	answer.Approve = false
	if _, err := Answer(t.Context(), bob.c, bob.key, answer); fault.CodeOf(err) != fault.ChangedReplay {
		t.Errorf("a second person answers: %v", err)
	}
}

// TestNothingIsSignedUnread: a server that hands out other bytes than it was
// asked for gets no signature.
func TestNothingIsSignedUnread(t *testing.T) {
	t.Parallel()
	other := bytes.NewBufferString("other bytes").Bytes()
	for name, c := range map[string]struct {
		lie  func(w *world)
		do   func(t *testing.T, w *world, solver, critic, ann person) error
		want fault.Code
	}{
		"a turn that says something else": {
			func(w *world) { w.turnText = func(string) string { return "delete everything" } },
			func(t *testing.T, _ *world, solver, _, _ person) error {
				c := change()
				c.Message = "another message"
				_, err := Propose(t.Context(), solver.c, solver.key, c)
				return err
			}, fault.Relation,
		},
		"another proposal than the one asked for": {
			func(w *world) {
				w.document = func(ref string, raw []byte) []byte {
					if !strings.HasPrefix(ref, "corpus-experiment:") {
						return raw
					}
					for have, d := range w.docs {
						if d.Kind == proposal.KindProposal && have != ref {
							return d.Raw
						}
					}
					return raw
				}
			},
			func(t *testing.T, _ *world, _, critic, _ person) error {
				_, err := Review(t.Context(), critic.c, critic.key, review(""))
				return err
			}, fault.Relation,
		},
		"other bytes for the candidate": {
			func(w *world) { w.blob = func([]byte) []byte { return other } },
			func(t *testing.T, _ *world, _, critic, _ person) error {
				_, err := Review(t.Context(), critic.c, critic.key, review(""))
				return err
			}, fault.Internal, // no code of a server's: the client refuses the bytes
		},
		"evidence of another proposal": {
			func(w *world) { none := canon.StringOf("none"); w.shown = &none },
			func(t *testing.T, _ *world, _, critic, _ person) error {
				_, err := Review(t.Context(), critic.c, critic.key, review(""))
				return err
			}, fault.Relation,
		},
		"another question": {
			func(w *world) {
				q := w.ask()
				w.document = func(ref string, raw []byte) []byte {
					if strings.HasPrefix(ref, "operator-task-hil-request:") {
						return q.Bytes
					}
					return raw
				}
			},
			func(t *testing.T, _ *world, _, _, ann person) error {
				_, err := Answer(t.Context(), ann.c, ann.key, AnswerParams{Run: runID, Request: taskpack.QuestionRef("run", "step"), Approve: true, At: began})
				return err
			}, fault.Relation,
		},
		"a candidate that is too large": {
			func(w *world) { w.blob = func(raw []byte) []byte { return make([]byte, 4*taskpack.MaxPatch) } },
			func(t *testing.T, _ *world, _, critic, _ person) error {
				_, err := Review(t.Context(), critic.c, critic.key, review(""))
				return err
			}, fault.TooLarge,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			solver, critic, ann := w.as("agt_solver", 1), w.as("agt_critic", 2), w.as("per_ann", 3)
			for _, words := range []string{"first", "second"} {
				p := change()
				p.Message = words
				if _, err := Propose(t.Context(), solver.c, solver.key, p); err != nil {
					t.Fatal(err)
				}
			}
			before := w.handedIn
			c.lie(w)
			if err := c.do(t, w, solver, critic, ann); fault.CodeOf(err) != c.want {
				t.Errorf("%v, want %s", err, c.want)
			}
			if w.handedIn != before {
				t.Error("something was signed and handed in")
			}
		})
	}
}

// TestProposalsThatNoHostWouldCompile fail before anything is sent.
func TestProposalsThatNoHostWouldCompile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	solver := w.as("agt_solver", 1)
	for name, c := range map[string]struct {
		change func(*ProposeParams)
		want   fault.Code
	}{
		"short base":        {func(p *ProposeParams) { p.Base = "0123456" }, fault.Invalid},
		"branch as base":    {func(p *ProposeParams) { p.Base = "main" }, fault.Invalid},
		"no message":        {func(p *ProposeParams) { p.Message = " \n" }, fault.Invalid},
		"no files":          {func(p *ProposeParams) { p.Files = nil }, fault.Invalid},
		"outside the root":  {func(p *ProposeParams) { p.Files[0].Path = "../sum.go" }, fault.Invalid},
		"one file twice":    {func(p *ProposeParams) { p.Files = append(p.Files, p.Files[0]) }, fault.Invalid},
		"a flag as package": {func(p *ProposeParams) { p.Packages = []string{"-exec=sh"} }, fault.Plan},
		"no such pattern":   {func(p *ProposeParams) { p.Benchmarks = "(" }, fault.Plan},
	} {
		p := change()
		c.change(&p)
		if _, err := Propose(t.Context(), solver.c, solver.key, p); fault.CodeOf(err) != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if w.posted != 0 || len(w.blobs) != 0 {
		t.Errorf("%d messages and %d blobs were sent", w.posted, len(w.blobs))
	}
	w.noTarget = true
	if _, err := Propose(t.Context(), solver.c, solver.key, change()); fault.CodeOf(err) != fault.State || w.posted != 0 {
		t.Errorf("a workspace without a repository: %v", err)
	}
}

// TestKeysTellCallsApart: no two different calls share an idempotency key,
// wherever their parts are cut.
func TestKeysTellCallsApart(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, parts := range [][]string{{"ab", "c"}, {"a", "bc"}, {"abc"}, {"abc", ""}, {"", "abc"}, {"1:a", "b"}, {"1:a1:b"}, {}} {
		k := keyOf("x", parts...)
		if seen[k] {
			t.Errorf("%q has the key of another call", parts)
		}
		seen[k] = true
	}
	first, again := keyOf("x", "a"), keyOf("x", "a")
	if first != again || first == keyOf("y", "a") {
		t.Error("a key is not a function of what is said")
	}
}
