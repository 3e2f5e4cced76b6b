package e2e

import (
	"strings"
	"testing"
	"time"

	"writ/client"
	"writ/internal/canon"
	"writ/internal/ledger"
	"writ/internal/proposal"
	"writ/internal/taskpack"
)

func (w *world) askToStop(run, why string) {
	if _, _, err := w.ann.c.Append(w.t.Context(), client.NewKey(), "run.cancel_requested", map[string]any{"run_id": run, "reason": why}); err != nil {
		w.t.Errorf("ask to stop: %v", err)
	}
}

// stopped checks how a run ended that was asked to stop.
func (w *world) stopped(run string, end told, why string) {
	w.t.Helper()
	if end.Type != "run.cancelled" || !strings.Contains(end.Reason, why) {
		w.t.Errorf("ended %s %s %s %s", end.Type, end.Code, end.Message, end.Reason)
	}
	if w.tip() != w.sample.head {
		w.t.Errorf("main moved to %s", w.tip())
	}
	if r := w.verified(run); r.Landed != "" || r.Outcome != "cancelled" {
		w.t.Errorf("the docket says %s %s", r.Outcome, r.Landed)
	}
}

// TestAskedToStop: a run goes no further when somebody asks it to stop, wherever
// it is, and what it holds is given back.
func TestAskedToStop(t *testing.T) {
	t.Parallel()
	t.Run("while a human is asked", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		run := w.admit("fast")
		w.until(run, func(e told) bool { return e.RequestID == "approve-compare" })
		w.askToStop(run, "not today")
		w.stopped(run, w.until(run, func(e told) bool { return isEnd(e.Type) }), "not today")
		if outcome, _, _ := w.outcomeOf(run, taskpack.Change); outcome != proposal.OutcomeCancel {
			t.Errorf("the record says %s", outcome)
		}
		if n := len(w.documents(run, ledger.KindDestruction)); n != 1 {
			t.Errorf("%d environments were destroyed", n)
		}
	})
	t.Run("while it waits to land", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		var run string
		w.at(qualified, func() { w.askToStop(run, "after all not") })
		run = w.admit("fast")
		w.stopped(run, w.follow(run), "after all not")
		for _, a := range attemptsOf(t, w.bundle(run)) {
			if a.status != "cancelled" {
				t.Errorf("candidate %s is %s", a.id, a.status)
			}
		}
	})
	t.Run("by who lands, while it is qualified", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		var run string
		w.at("committed lease-qualification", func() {
			for _, a := range attemptsOf(t, w.bundle(run)) {
				if err := w.ann.c.CancelLanding(t.Context(), "e2e/sample", "main", a.id, "withdrawn"); err != nil {
					t.Error(err)
				}
			}
		})
		run = w.admit("fast")
		w.stopped(run, w.follow(run), "withdrawn")
	})
	t.Run("by its deadline", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.deadline = time.Hour
		run := w.admit("fast")
		w.until(run, func(e told) bool { return e.RequestID == "approve-compare" })
		w.clock.forward(time.Hour)
		w.stopped(run, w.until(run, func(e told) bool { return isEnd(e.Type) }), "deadline")
	})
}

// TestALapsedLease: whoever proposed may be gone by the time a human decides. The
// run was offered again meanwhile; the decision takes it over all the same.
func TestALapsedLease(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e, _, err := w.admin.Append(t.Context(), client.NewKey(), "space.created", map[string]any{"kind": "plain", "name": "a room of their own"})
	if err != nil {
		t.Fatal(err)
	}
	w.space = e.SpaceID
	run := w.ask()
	if _, err := w.propose(run, "fast"); err != nil {
		t.Fatal(err)
	}
	w.clock.forward(10 * time.Minute)
	requests := 0
	w.until(run, func(e told) bool {
		if e.Type == "run.requested" {
			requests++
		}
		return requests == 2
	})
	if _, err := w.review(run, proposal.VerdictAccept); err != nil {
		t.Fatal(err)
	}
	if _, err := w.decide(run); err != nil {
		t.Fatal(err)
	}
	if end := w.follow(run); end.Type != "run.completed" {
		t.Errorf("ended %s %s %s", end.Type, end.Code, end.Message)
	}
	if r := w.verified(run); r.Outcome != "landed" {
		t.Errorf("the docket says %s", r.Outcome)
	}
}

// TestOtherRules: a run whose plan the host would not compile any more goes no
// further, and where runs are to land is not changed under them.
func TestOtherRules(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.admit("fast")
	w.until(run, func(e told) bool { return e.RequestID == "approve-compare" })
	w.refused("another branch under an open run", "wrong_state", 0, func() error {
		config, err := canon.Marshal(map[string]any{"remote": w.sample.repo.Dir, "base": "other"})
		if err != nil {
			return err
		}
		_, err = w.admin.PutRepository(t.Context(), "e2e", "sample", config)
		return err
	})
	w.rounds = 7
	w.configure(lenient())
	end := w.until(run, func(e told) bool { return isEnd(e.Type) })
	outcome, refusal, _ := w.outcomeOf(run, taskpack.Change)
	if end.Type != "run.failed" || outcome != proposal.OutcomeRefused || refusal != "local-binding/revision-stale" {
		t.Errorf("ended %s %s %s; the record says %s %s", end.Type, end.Code, end.Message, outcome, refusal)
	}
	w.verified(run)
}
