package e2e

import (
	"testing"

	"writ/client"
	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ledger"
	"writ/internal/proposal"
	"writ/internal/taskpack"
)

// elements are the elements of an array in a JSON text.
func elements(t testing.TB, body, name string) []canon.Value {
	t.Helper()
	v, err := canon.Parse([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	list, _ := v.Get(name)
	return list.Elems()
}

// refused checks that nothing was written, apart from what allowed counts, and
// that the refusal has the documented code.
func (w *world) refused(what, code string, allowed int64, do func() error) {
	w.t.Helper()
	before := w.head()
	err := do()
	got := client.Code(err) // of the server
	if got == "" && err != nil {
		got = string(fault.CodeOf(err)) // or of whoever would not even sign
	}
	if got != code {
		w.t.Errorf("%s: refused with %q (%v), not %s", what, got, err, code)
	}
	if after := w.head(); after != before+allowed {
		w.t.Errorf("%s: %d events were written, not %d", what, after-before, allowed)
	}
}

// outcomeOf reads the outcome and the refusal of the run's execution record, and
// of one of its steps.
func (w *world) outcomeOf(run, step string) (outcome, refusal, stepRefusal string) {
	w.t.Helper()
	docs := w.documents(run, ledger.KindExecution, ledger.KindExperimentResult)
	for _, d := range docs {
		raw, err := w.ann.c.Document(w.t.Context(), d.Ref)
		if err != nil {
			w.t.Fatal(err)
		}
		v, err := canon.Parse(raw)
		if err != nil {
			w.t.Fatal(err)
		}
		if d.Kind == ledger.KindExecution {
			outcome, refusal = v.Str("outcome"), v.Str("refusal/code")
			continue
		}
		steps, _ := v.Get("steps")
		for _, s := range steps.Elems() {
			if s.Str("step/id") == step {
				stepRefusal = s.Str("refusal/code")
			}
		}
	}
	return outcome, refusal, stepRefusal
}

// TestNo: a human who says no is obeyed, and nothing of the change was written.
func TestNo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.admit("fast")
	end := w.watch(run, func(e told) bool {
		if e.Type == "run.approval_requested" && e.RequestID == "approve-change" {
			if _, err := w.answer(run, e.Ref, false); err != nil {
				t.Fatal(err)
			}
		}
		return isEnd(e.Type)
	})
	outcome, refusal, step := w.outcomeOf(run, taskpack.Change)
	if end.Type != "run.failed" || outcome != proposal.OutcomeRefused || refusal != "hil/denied" || step != "hil/denied" {
		t.Errorf("ended %s %s; the record says %s %s, the step %s", end.Type, end.Code, outcome, refusal, step)
	}
	if n := len(w.documents(run, ledger.KindOrder, ledger.KindResult, ledger.KindLandingStep)); n != 0 || w.tip() != w.sample.head {
		t.Errorf("%d documents of measuring and landing, main at %s", n, w.tip())
	}
	if r := w.verified(run); r.Outcome == "landed" {
		t.Errorf("the docket says %s", r.Outcome)
	}
}

// TestNobodyAnswers: a question that nobody answers in time refuses its step.
func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.admit("fast")
	w.until(run, func(e told) bool { return e.RequestID == "approve-compare" })
	w.clock.forward(answerWindow)
	// somebody else's run wakes the host: nothing tells it that time has passed
	if _, err := w.propose(w.ask(), "fast"); err != nil {
		t.Fatal(err)
	}
	end := w.until(run, func(e told) bool { return isEnd(e.Type) })
	outcome, refusal, step := w.outcomeOf(run, taskpack.Change)
	if end.Type != "run.failed" || outcome != proposal.OutcomeRefused || refusal != "hil/expired" || step != "hil/expired" {
		t.Errorf("ended %s %s; the record says %s %s, the step %s", end.Type, end.Code, outcome, refusal, step)
	}
	w.verified(run)
}

const answerWindow = 24 * 60 * 60 * 1e9 // of the host, in nanoseconds
