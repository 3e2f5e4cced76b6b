package e2e

import (
	"strings"
	"testing"

	"writ/internal/docket"
	"writ/internal/proposal"
	"writ/internal/taskpack"
	"writ/internal/verdict"
)

// landed goes the whole way, and nothing goes wrong.
func (w *world) landed() (run string) {
	w.t.Helper()
	run = w.admit("fast")
	end := w.follow(run)
	if end.Type != "run.completed" || end.LandedCommit != w.tip() || end.LandedCommit == w.sample.head {
		w.t.Errorf("ended %s %s %s; main is at %s", end.Type, end.Code, end.Message, w.tip())
	}
	r := w.verified(run)
	if r.Outcome != "landed" || r.Landed != w.tip() || r.Documents == 0 {
		w.t.Errorf("the docket says %s %s, %d documents", r.Outcome, r.Landed, r.Documents)
	}
	if docket.Verify(w.bundle(run), nil).Answer != docket.Consistent {
		w.t.Error("without pins a docket is consistent and no more")
	}
	return run
}

// blocked goes the way with a change that is slower, under the shipped policy.
func (w *world) blocked() (run string) {
	w.t.Helper()
	w.configure(verdict.DefaultPolicy())
	return w.fails("slower", "gate_blocked", taskpack.Compare, "", "the gate answered")
}

// fails goes the way with a change that must not land, and checks how the run and
// its record end, and that main stays.
func (w *world) fails(form, code, step, refusal, says string) (run string) {
	w.t.Helper()
	run = w.admit(form)
	end := w.follow(run)
	if end.Type != "run.failed" || end.Code != code || !strings.Contains(end.Message, says) {
		w.t.Errorf("ended %s %s: %s", end.Type, end.Code, end.Message)
	}
	outcome, _, of := w.outcomeOf(run, step)
	want := proposal.OutcomeRefused
	if refusal == "" {
		want = proposal.OutcomeFailed
	}
	if outcome != want || of != refusal {
		w.t.Errorf("the record says %s, step %s %q", outcome, step, of)
	}
	if w.tip() != w.sample.head {
		w.t.Errorf("main moved to %s", w.tip())
	}
	if r := w.verified(run); r.Outcome != code {
		w.t.Errorf("the docket says %s", r.Outcome)
	}
	return run
}

// TestChangesThatDoNotPass: tests that fail and code that does not compile end
// their runs, with the reason and what the tools said.
func TestChangesThatDoNotPass(t *testing.T) {
	t.Parallel()
	for form, says := range map[string]string{"wrong": "Distinct gives [3 1 3 2 1]", "broken": "undefined: xss"} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			newWorld(t).fails(form, "checks_failed", taskpack.Check, "verifier/check-missing", says)
		})
	}
}
