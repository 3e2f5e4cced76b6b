package e2e

import (
	"testing"

	"writ/internal/author"
	"writ/internal/ledger"
	"writ/internal/proposal"
	"writ/internal/taskpack"
)

// TestTwoRuns: one workspace carries out one run at a time, and lands them one
// after the other, the second on top of the first. Their journal is one; each has
// a docket of its own that verifies.
func TestTwoRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.admit("fast")
	second := w.ask()
	if _, err := author.Propose(t.Context(), w.solver.c, w.solver.key, author.ProposeParams{
		Run: second, Base: w.sample.head, Message: "sample: say more",
		Files: []taskpack.File{{Path: "more.go", Op: taskpack.OpWrite, Content: []byte("package sample\n\n// More says more.\nconst More = 1\n")}},
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.review(second, proposal.VerdictAccept); err != nil {
		t.Fatal(err)
	}
	w.until(first, func(e told) bool { return e.RequestID == "approve-compare" })
	w.refused("a second run while one is open", "plan_refused", 0, func() error { _, err := w.decide(second); return err })

	// as soon as the first is recorded the second may begin, while the first lands
	w.watch(first, func(e told) bool {
		if e.Type == "run.approval_requested" {
			if _, err := w.answer(first, e.Ref, true); err != nil {
				t.Fatal(err)
			}
		}
		return e.Kind == ledger.KindExecution
	})
	if _, err := w.decide(second); err != nil {
		t.Fatal(err)
	}
	ends := map[string]told{first: w.follow(first), second: w.follow(second)}
	for run, end := range ends {
		if end.Type != "run.completed" {
			t.Errorf("%s ended %s %s %s", run, end.Type, end.Code, end.Message)
		}
		if r := w.verified(run); r.Landed != end.LandedCommit || r.Outcome != "landed" {
			t.Errorf("the docket of %s says %s %s", run, r.Outcome, r.Landed)
		}
	}
	if p := w.parents(w.tip()); ends[second].LandedCommit != w.tip() || len(p) != 2 || p[0] != ends[first].LandedCommit {
		t.Errorf("main is at %s on top of %v", w.tip(), p)
	}
}
