package lane

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/journal"
	"writ/internal/ledger"
)

func TestAChangeFromAskToLanding(t *testing.T) {
	t.Parallel()
	w := setup(t)
	run, lane := w.ask(as(ann), solo.ID, doc{"autonomy": 2, "label": "tuner"})
	w.must(as(soloAgent), journal.RunAccepted, doc{"run_id": run, "attempt": 1})
	w.must(as(soloAgent), journal.RunStarted, doc{"run_id": run, "attempt": 1})
	w.must(as(soloAgent), journal.MessagePosted, doc{"lane_id": lane, "run_id": run, "body": "here is a proposal"})

	// The server takes the run over once the proposal is admitted.
	for _, p := range []journal.Payload{
		journal.AcceptedUntil(zero), journal.Started(), journal.Progress("list", "3 cases", 10),
		journal.ApprovalRequested("operator-task-hil:1", "write 2 files", "", "operator-task-hil:1"),
		journal.ApprovalDecided("operator-task-hil:1", true, ann.ID, "writ-human-answer:1"),
		journal.Progress("compare", "round 1 of 10", 50),
		journal.Completion{Summary: "landed", CandidateID: "c1", Outcome: "merged", TerminalRoot: "sha256:0", LandedCommit: "abc"}.Payload(),
	} {
		if _, err := w.server(run, p); err != nil {
			t.Fatalf("%s: %v", p.Type, detail(err))
		}
		if p.Type == journal.RunStarted {
			e := w.fails(fault.Fenced, as(soloAgent), journal.RunProgress, doc{"run_id": run, "attempt": 1})
			if e.Get("attempt") != "2" {
				t.Errorf("the harness learns of attempt %q", e.Get("attempt"))
			}
		}
	}
	want := []string{
		"lane.opened", "run.requested", "run.accepted", "run.started", "message.posted",
		"run.accepted", "run.started", "run.progress", "run.approval_requested", "run.approval_decided", "run.progress",
		"run.completed", "lane.closed",
	}
	if diff := cmp.Diff(want, w.types(0)); diff != "" {
		t.Errorf("journal differs (-want +got):\n%s", diff)
	}
	if r, l := w.run(run), w.lane(lane); r.Status != Completed || l.Status != Closed || l.Outcome != "done" {
		t.Errorf("run is %s, lane is %s with outcome %q", r.Status, l.Status, l.Outcome)
	}
	if got, ok := journal.ReadCompletion(w.mem.events[11].Body); !ok || got.CandidateID != "c1" || got.LandedCommit != "abc" {
		t.Errorf("completion is %+v", got)
	}
	w.valid()
}

func TestABlockedGateFailsTheRun(t *testing.T) {
	t.Parallel()
	w := setup(t)
	run, lane := w.ask(as(ann), solo.ID, nil)
	if _, err := w.server(run, journal.Failed(string(fault.Blocked), "slower: +12 % [9, 15]", false)); err != nil {
		t.Fatal(detail(err))
	}
	last := w.mem.events[len(w.mem.events)-2]
	if !bytes.Contains(last.Body, []byte(`"code":"gate_blocked"`)) || !bytes.Contains(last.Body, []byte(`"message":"slower: +12 % [9, 15]"`)) {
		t.Errorf("last run event is %s", last.Body)
	}
	if l := w.lane(lane); l.Status != Closed || l.Outcome != "failed" {
		t.Errorf("lane is %s, %s", l.Status, l.Outcome)
	}
	w.valid()
}

func TestPlainEventsReadNothing(t *testing.T) {
	t.Parallel()
	w := setup(t)
	v := w.must(as(ann), journal.MessagePosted, doc{"body": "hello"})
	if w.mem.reads != 0 {
		t.Errorf("a message took %d reads", w.mem.reads)
	}
	if v.Str("message_id") == "" || v.Str("ts") != "2026-01-02T03:04:05.000Z" {
		t.Errorf("wire form is %s", v.Canonical())
	}
	if s := w.must(as(ann), journal.SpaceCreated, doc{"kind": "plain", "name": "x"}); s.Str("space_id") == "" {
		t.Errorf("space has no id: %s", s.Canonical())
	}
	w.must(as(solo), journal.BudgetCharged, doc{"amount": 1.5, "unit": "usd", "harness_id": pair.ID})
	if got := string(w.mem.events[len(w.mem.events)-1].Body); !strings.Contains(got, `"harness_id":"`+solo.ID) {
		t.Errorf("a harness charges another: %s", got)
	}
	w.valid()
}

func TestAttachmentsAreRefused(t *testing.T) {
	t.Parallel()
	w := setup(t)
	file := doc{"attachments": []any{doc{"attachment_id": id("att_", 1)}}}
	w.fails(fault.Unsupported, as(ann), journal.MessagePosted, doc{"body": "x", "attachments": file["attachments"]})
	w.must(as(ann), journal.MessagePosted, doc{"body": "x", "attachments": []any{}})
}

func TestAHarnessSpeaksOnlyForItsOwnAgents(t *testing.T) {
	t.Parallel()
	w := setup(t)
	v := w.must(as(solo), journal.MessagePosted, doc{"body": "x", "actor": doc{"kind": "agent", "id": soloAgent.ID}})
	if actor, _ := v.Get("actor"); actor.Str("id") != soloAgent.ID || actor.Str("harness_id") != solo.ID {
		t.Errorf("actor is %s", actor.Canonical())
	}
	for _, other := range []string{pairA.ID, id("agt_", 99)} {
		w.fails(fault.NotFound, as(solo), journal.MessagePosted, doc{"body": "x", "actor": doc{"kind": "agent", "id": other}})
	}
}

// A retry gives the first event, also when what it asks for has since become
// impossible because it happened.
func TestRetriesReplay(t *testing.T) {
	t.Parallel()
	w := setup(t)
	run, _ := w.ask(as(ann), solo.ID, nil)
	accept := doc{"run_id": run, "attempt": 1}
	first, err := w.resend("k", as(solo), journal.RunAccepted, accept)
	if err != nil {
		t.Fatal(detail(err))
	}
	w.must(as(solo), journal.RunCompleted, doc{"run_id": run, "attempt": 1, "summary": "done"})
	n := len(w.mem.events)
	again, err := w.resend("k", as(solo), journal.RunAccepted, accept)
	if err != nil || !canon.Equal(first, again) {
		t.Errorf("retry: %v, %s; want %s", detail(err), again.Canonical(), first.Canonical())
	}
	if _, err := w.resend("k", as(solo), journal.RunAccepted, doc{"run_id": run, "attempt": 2}); fault.CodeOf(err) != fault.Idempotency {
		t.Errorf("same key, other content: %v", err)
	}
	if _, err := w.resend("k2", as(solo), journal.RunAccepted, accept); fault.CodeOf(err) != fault.RunTerminal {
		t.Errorf("another key: %v", err)
	}
	if len(w.mem.events) != n {
		t.Errorf("%d events, want %d", len(w.mem.events), n)
	}
}

func TestTheEndingThatStandsIsNamed(t *testing.T) {
	t.Parallel()
	w := setup(t)
	run, _ := w.work(as(ann), solo, nil)
	won := w.must(as(solo), journal.RunCompleted, doc{"run_id": run, "attempt": 1, "summary": "done"})
	e := w.fails(fault.RunTerminal, as(solo), journal.RunFailed, doc{"run_id": run, "attempt": 1, "code": "x", "message": "y", "retryable": false})
	seq, _ := won.Get("seq")
	if e.Get("event_id") != won.Str("id") || e.Get("type") != journal.RunCompleted || e.Get("seq") != string(seq.Canonical()) {
		t.Errorf("refusal names %v, the ending is %s", e.Data, won.Canonical())
	}
}

func TestDuplicatesAtOnce(t *testing.T) {
	t.Parallel()
	w := setup(t)
	raw, err := json.Marshal(doc{"v": 1, "type": journal.RunRequested, "goal": "x", "specialist_id": solo.ID})
	if err != nil {
		t.Fatal(err)
	}
	const n = 64
	var mu sync.Mutex
	replays, bodies := 0, map[string]int{}
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			b, replayed, err := w.desk.Append(context.Background(), as(ann), raw, "one")
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Errorf("append: %v", err)
			}
			if replayed {
				replays++
			}
			bodies[string(b)]++
		})
	}
	wg.Wait()
	if replays != n-1 || len(bodies) != 1 {
		t.Errorf("%d replays and %d different answers, want %d and 1", replays, len(bodies), n-1)
	}
	if got := w.types(0); len(got) != 2 {
		t.Errorf("journal has %v", got)
	}
}

func TestOneOfManyHarnessesGetsTheRun(t *testing.T) {
	t.Parallel()
	w := setup(t)
	run, _ := w.ask(as(ann), solo.ID, nil)
	var mu sync.Mutex
	codes := map[fault.Code]int{}
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			raw, _ := json.Marshal(doc{"v": 1, "type": journal.RunAccepted, "run_id": run, "attempt": 1})
			_, _, err := w.desk.Append(context.Background(), as(solo), raw, strings.Repeat("k", i+1))
			mu.Lock()
			defer mu.Unlock()
			codes[fault.CodeOf(err)]++
		})
	}
	wg.Wait()
	if diff := cmp.Diff(map[fault.Code]int{"": 1, fault.Held: 15}, codes); diff != "" {
		t.Errorf("answers differ (-want +got):\n%s", diff)
	}
}

func TestLostRacesAreDecidedAnew(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.mem.races = tries - 1
	run, _ := w.ask(as(ann), solo.ID, nil)
	w.mem.races = tries
	_, err := w.send(as(solo), journal.RunAccepted, doc{"run_id": run, "attempt": 1})
	if fault.CodeOf(err) != fault.Conflict {
		t.Errorf("after %d lost races: %v", tries, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	w.mem.races = 2
	raw, _ := json.Marshal(doc{"v": 1, "type": journal.RunAccepted, "run_id": run, "attempt": 1})
	if _, _, err := w.desk.Append(ctx, as(solo), raw, "late"); fault.CodeOf(err) != fault.Conflict || w.mem.races != 1 {
		t.Errorf("cancelled: %v with %d races left", err, w.mem.races)
	}
}

func TestUnknownRunsAndLanes(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.fails(fault.NotFound, as(solo), journal.RunStarted, doc{"run_id": id("run_", 9), "attempt": 1})
	w.fails(fault.NotFound, as(ann), journal.LaneClosed, doc{"lane_id": id("lane_", 9)})
	w.fails(fault.NotFound, as(ann), journal.RunRequested, doc{"goal": "x", "specialist_id": solo.ID, "lane_id": id("lane_", 9)})
	w.fails(fault.NotFound, as(solo), journal.RunRequested, doc{"goal": "x", "specialist_id": solo.ID, "parent_run_id": id("run_", 9)})
	w.fails(fault.NotFound, as(ann), journal.AutonomyChanged, doc{"scope": id("lane_", 9), "to": 1})
}

func TestDamagedCellsAreReported(t *testing.T) {
	t.Parallel()
	w := setup(t)
	run, _ := w.ask(as(ann), solo.ID, nil)
	k := [2]string{ledger.CellRun, run}
	c := w.mem.cells[k]
	c.Value = []byte(`{"surprise":1}`)
	w.mem.cells[k] = c
	w.fails(fault.Corrupt, as(solo), journal.RunAccepted, doc{"run_id": run, "attempt": 1})
}
