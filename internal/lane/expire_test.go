package lane

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"writ/internal/fault"
	"writ/internal/journal"
)

// quiet checks that nothing is due before the clock moves on by d, and exactly
// one run is after that.
func (w *world) quiet(d time.Duration) {
	w.t.Helper()
	w.clock.add(d - time.Millisecond)
	if n := w.sweep(); n != 0 {
		w.t.Fatalf("%d runs moved too early", n)
	}
	w.clock.add(time.Millisecond)
	if n := w.sweep(); n != 1 {
		w.t.Fatalf("%d runs moved, want 1", n)
	}
}

func TestALapsedLeaseOffersTheRunAgain(t *testing.T) {
	t.Parallel()
	w := setup(t)
	run, lane := w.work(as(ann), solo, doc{"label": "tuner", "constraints": []any{"no cgo"}})
	w.clock.add(50 * time.Second)
	if r, err := w.desk.Renew(t.Context(), as(solo), run, 1); err != nil || journal.Stamp(r.LeaseUntil) != "2026-01-02T03:05:55.000Z" {
		t.Fatalf("renewed until %s, %v", r.LeaseUntil, err)
	}
	n := len(w.mem.events)
	w.quiet(time.Minute)
	if got := w.types(n); len(got) != 1 || got[0] != journal.RunRequested {
		t.Fatalf("events are %v", got)
	}
	offer := w.mem.events[n]
	for _, part := range []string{`"attempt":2`, `"actor":{"id":"system","kind":"system"}`, `"constraints":["no cgo"]`, `"requested_by":"` + ann.ID, `"label":"tuner"`, lane} {
		if !bytes.Contains(offer.Body, []byte(part)) {
			t.Errorf("the new offer lacks %s: %s", part, offer.Body)
		}
	}
	w.fails(fault.Fenced, as(solo), journal.RunCompleted, doc{"run_id": run, "attempt": 1, "summary": "late"})
	if _, err := w.desk.Renew(t.Context(), as(solo), run, 1); fault.CodeOf(err) != fault.Fenced {
		t.Errorf("a stale lease is renewed: %v", err)
	}
	w.must(as(solo), journal.RunAccepted, doc{"run_id": run, "attempt": 2})
	w.quiet(time.Minute)
	w.must(as(solo), journal.RunAccepted, doc{"run_id": run, "attempt": 3})
	n = len(w.mem.events)
	w.quiet(time.Minute)
	if diff := cmp.Diff([]string{journal.RunFailed, journal.LaneClosed}, w.types(n)); diff != "" {
		t.Errorf("events differ (-want +got):\n%s", diff)
	}
	if !bytes.Contains(w.mem.events[n].Body, []byte(`"code":"attempts_exhausted"`)) || w.lane(lane).Outcome != journal.OutcomeFailed {
		t.Errorf("last event is %s", w.mem.events[n].Body)
	}
	w.valid()
}

func TestWorkThatCannotBeRepeatedExpires(t *testing.T) {
	t.Parallel()
	w := setup(t)
	run, lane := w.ask(as(ann), solo.ID, nil)
	w.must(as(solo), journal.RunAccepted, doc{"run_id": run, "attempt": 1, "retryable": false})
	w.quiet(time.Minute)
	if r := w.run(run); r.Status != Expired || w.lane(lane).Outcome != journal.OutcomeExpired {
		t.Errorf("run is %s", r.Status)
	}
	if body := w.mem.events[len(w.mem.events)-2].Body; !bytes.Contains(body, []byte(`"cause":"lease"`)) {
		t.Errorf("event is %s", body)
	}
	w.valid()
}

func TestTheDeadlineAsksAndThenEnds(t *testing.T) {
	t.Parallel()
	w := setup(t)
	run, _ := w.work(as(ann), solo, doc{"deadline": "2026-01-02T03:04:35Z"}) // 30 s from now
	w.quiet(30 * time.Second)
	if r := w.run(run); r.Status != Accepted || r.Cancel == nil || r.Cancel.By != journal.Server {
		t.Fatalf("run is %s, asked to stop: %+v", r.Status, r.Cancel)
	}
	if _, err := w.desk.Renew(t.Context(), as(solo), run, 1); err != nil {
		t.Error(err)
	}
	w.quiet(30 * time.Second)
	if body := w.mem.events[len(w.mem.events)-2].Body; w.run(run).Status != Expired || !bytes.Contains(body, []byte(`"cause":"deadline"`)) {
		t.Errorf("event is %s", body)
	}
	w.valid()
}

func TestTheDeadlineEndsWhatNobodyTook(t *testing.T) {
	t.Parallel()
	w := setup(t)
	run, _ := w.ask(as(ann), solo.ID, doc{"deadline": "2026-01-02T03:04:35Z"})
	w.quiet(30 * time.Second)
	if got := w.run(run).Status; got != Expired {
		t.Errorf("run is %s", got)
	}
}

// A person who asked early has waited long enough at the deadline and its grace.
func TestTheGraceStartsAtTheLaterOfTheTwo(t *testing.T) {
	t.Parallel()
	w := setup(t)
	run, _ := w.work(as(ann), solo, doc{"deadline": "2026-01-02T03:04:35Z"})
	w.must(as(ann), journal.RunCancelRequested, doc{"run_id": run})
	w.quiet(time.Minute) // 30 s to the deadline and 30 s of grace; the lease lapses then as well
	if got := w.run(run).Status; got != Expired {
		t.Errorf("run is %s", got)
	}
}

func TestSilence(t *testing.T) {
	t.Parallel()
	beating := func(w *world, run string, d time.Duration) {
		for ; d > 0; d -= 30 * time.Second {
			w.clock.add(min(d, 30*time.Second))
			if _, err := w.desk.Renew(t.Context(), as(solo), run, 1); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Run("of a harness that only beats", func(t *testing.T) {
		t.Parallel()
		w := setup(t)
		run, _ := w.work(as(ann), solo, nil)
		beating(w, run, 2*time.Hour-time.Second)
		w.quiet(time.Second)
		if body := w.mem.events[len(w.mem.events)-2].Body; !bytes.Contains(body, []byte(`"cause":"silence"`)) {
			t.Errorf("event is %s", body)
		}
	})
	t.Run("while a person thinks", func(t *testing.T) {
		t.Parallel()
		w := setup(t)
		run, _ := w.work(as(ann), solo, nil)
		w.must(as(solo), journal.RunApprovalRequested, doc{"run_id": run, "attempt": 1, "request_id": "a", "action": "push"})
		beating(w, run, 3*time.Hour)
		if n := w.sweep(); n != 0 {
			t.Errorf("%d runs moved", n)
		}
		w.must(as(ann), journal.RunApprovalDecided, doc{"run_id": run, "request_id": "a", "decision": "approve"})
		beating(w, run, 2*time.Hour-time.Second)
		w.quiet(time.Second)
	})
	t.Run("of a harness that is away", func(t *testing.T) {
		t.Parallel()
		w := setup(t)
		run, _ := w.ask(as(ann), solo.ID, nil)
		w.quiet(7 * 24 * time.Hour)
		if got := w.run(run).Status; got != Expired {
			t.Errorf("run is %s", got)
		}
	})
	t.Run("of the server does not count", func(t *testing.T) {
		t.Parallel()
		w := setup(t)
		run, _ := w.ask(as(ann), solo.ID, nil)
		if _, err := w.server(run, journal.AcceptedUntil(zero)); err != nil {
			t.Fatal(err)
		}
		w.clock.add(30 * 24 * time.Hour)
		if n := w.sweep(); n != 0 || w.run(run).Status != Accepted {
			t.Errorf("%d runs moved, run is %s", n, w.run(run).Status)
		}
	})
}

func TestAnInputThatNobodyGave(t *testing.T) {
	t.Parallel()
	w := setup(t)
	run, _ := w.work(as(ann), solo, nil)
	w.must(as(solo), journal.RunInputRequested, doc{"run_id": run, "attempt": 1, "request_id": "q", "prompt": "?", "expires_at": "2026-01-02T03:04:25Z"})
	w.quiet(20 * time.Second)
	last := w.mem.events[len(w.mem.events)-1]
	if w.run(run).Status != Running || !bytes.Contains(last.Body, []byte(`"cancelled":true`)) {
		t.Errorf("run is %s after %s", w.run(run).Status, last.Body)
	}
	w.valid()
}

func TestASweepThatLosesARaceTriesLater(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.work(as(ann), solo, nil)
	w.clock.add(time.Minute)
	w.mem.races = 1
	if n := w.sweep(); n != 0 {
		t.Errorf("%d runs moved", n)
	}
	if n := w.sweep(); n != 1 {
		t.Errorf("%d runs moved, want 1", n)
	}
}

func TestRenewNeedsTheScope(t *testing.T) {
	t.Parallel()
	w := setup(t)
	run, _ := w.work(as(ann), solo, nil)
	p := as(solo)
	p.Scopes = []string{journal.ScopeWrite}
	if _, err := w.desk.Renew(t.Context(), p, run, 1); fault.CodeOf(err) != fault.Forbidden {
		t.Errorf("without the scope: %v", err)
	}
	if _, err := w.desk.Renew(t.Context(), as(pair), run, 1); fault.CodeOf(err) != fault.Held {
		t.Errorf("of another's run: %v", err)
	}
	w.mem.races = 1
	if _, err := w.desk.Renew(t.Context(), as(solo), run, 1); err != nil {
		t.Errorf("after a lost race: %v", err)
	}
	w.must(as(solo), journal.RunCompleted, doc{"run_id": run, "attempt": 1, "summary": "x"})
	if _, err := w.desk.Renew(t.Context(), as(solo), run, 1); fault.CodeOf(err) != fault.RunTerminal {
		t.Errorf("of a run that ended: %v", err)
	}
}
