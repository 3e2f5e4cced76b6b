package lane

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"writ/internal/fault"
	"writ/internal/journal"
)

func TestOnlyTheOneAskedTakesTheRun(t *testing.T) {
	t.Parallel()
	w := setup(t)
	run, _ := w.ask(as(ann), pair.ID, doc{"agent_id": pairA.ID})
	accept := doc{"run_id": run, "attempt": 1}
	w.fails(fault.Forbidden, as(solo), journal.RunAccepted, accept)
	w.fails(fault.Forbidden, as(pairB), journal.RunAccepted, accept)
	w.fails(fault.Forbidden, as(pairB), journal.RunDeclined, doc{"run_id": run, "code": "no"})
	w.fails(fault.Fenced, as(pairA), journal.RunAccepted, doc{"run_id": run, "attempt": 2})
	w.fails(fault.State, as(pairA), journal.RunStarted, accept)
	w.must(as(pairA), journal.RunAccepted, accept)
	if e := w.fails(fault.Held, as(pair), journal.RunAccepted, accept); e.Get("holder") != pairA.ID || e.Get("lease_until") != "2026-01-02T03:05:05.000Z" {
		t.Errorf("refusal says %v", e.Data)
	}
	w.fails(fault.State, as(pairA), journal.RunDeclined, doc{"run_id": run, "code": "no"})
	w.fails(fault.Held, as(solo), journal.RunProgress, accept)
	w.must(as(pair), journal.RunProgress, accept) // the harness of the holder
	w.valid()
}

func TestARunStartsOnce(t *testing.T) {
	t.Parallel()
	w := setup(t)
	run, _ := w.work(as(ann), solo, nil)
	at := doc{"run_id": run, "attempt": 1}
	w.must(as(solo), journal.RunStarted, at)
	w.fails(fault.State, as(solo), journal.RunStarted, at)
}

func TestQuestions(t *testing.T) {
	t.Parallel()
	w := setup(t)
	run, _ := w.work(as(ann), solo, nil)
	status := func(want Status) {
		t.Helper()
		if got := w.run(run).Status; got != want {
			t.Errorf("run is %s, want %s", got, want)
		}
	}
	on := func(more doc) doc {
		more["run_id"], more["attempt"] = run, 1
		return more
	}
	w.must(as(solo), journal.RunInputRequested, on(doc{"request_id": "q1", "prompt": "which branch?", "expires_at": "2026-01-02T03:09:05Z"}))
	w.must(as(solo), journal.RunApprovalRequested, on(doc{"request_id": "a1", "action": "push", "risk": "high"}))
	status(Waiting)
	w.fails(fault.State, as(solo), journal.RunInputRequested, on(doc{"request_id": "q1", "prompt": "again?"}))
	w.fails(fault.State, as(ann), journal.RunInputGiven, doc{"run_id": run, "request_id": "a1", "value": 1})
	w.fails(fault.Forbidden, as(solo), journal.RunInputGiven, doc{"run_id": run, "request_id": "q1", "value": 1})
	v := w.must(as(bob), journal.RunInputGiven, doc{"run_id": run, "request_id": "q1", "value": doc{"branch": "main"}})
	if canonical(v, "attempt") != "1" || canonical(v, "value") != `{"branch":"main"}` {
		t.Errorf("answer is %s", v.Canonical())
	}
	status(Waiting)
	for _, p := range []Participant{solo, soloAgent, pair, pairA} {
		w.fails(fault.AgentApproval, as(p), journal.RunApprovalDecided, doc{"run_id": run, "request_id": "a1", "decision": "approve"})
	}
	d := w.must(as(ann), journal.RunApprovalDecided, doc{"run_id": run, "request_id": "a1", "decision": "deny", "by": bob.ID})
	if d.Str("by") != ann.ID {
		t.Errorf("decision is by %s", d.Str("by"))
	}
	status(Running)
	w.fails(fault.State, as(ann), journal.RunApprovalDecided, doc{"run_id": run, "request_id": "a1", "decision": "approve"})

	w.must(as(solo), journal.RunInputRequested, on(doc{"request_id": "q2", "prompt": "?", "expires_at": "2026-01-02T03:09:05Z"}))
	w.clock.add(minutes(5))
	w.fails(fault.Expired, as(ann), journal.RunInputGiven, doc{"run_id": run, "request_id": "q2", "value": 1})
	for i := range 15 {
		w.must(as(solo), journal.RunApprovalRequested, on(doc{"request_id": string(rune('A' + i)), "action": "x"}))
	}
	w.fails(fault.Budget, as(solo), journal.RunApprovalRequested, on(doc{"request_id": "one more", "action": "x"}))
	w.valid()
}

func TestTheServerDecidesInAPersonsNameOnly(t *testing.T) {
	t.Parallel()
	w := setup(t)
	run, _ := w.work(as(ann), solo, nil)
	if _, err := w.server(run, journal.ApprovalRequested("a1", "push", "", "")); err != nil {
		t.Fatal(detail(err))
	}
	for by, want := range map[string]fault.Code{journal.Server: fault.Event, solo.ID: fault.SelfApproval} {
		if _, err := w.server(run, journal.ApprovalDecided("a1", true, by, "")); fault.CodeOf(err) != want {
			t.Errorf("by %s: %v, want %s", by, err, want)
		}
	}
	if _, err := w.server(run, journal.ApprovalDecided("a1", true, bob.ID, "writ-human-answer:x")); err != nil {
		t.Error(detail(err))
	}
	w.valid()
}

func TestCancelIsCooperative(t *testing.T) {
	t.Parallel()
	w := setup(t)
	run, lane := w.work(as(ann), solo, nil)
	w.fails(fault.State, as(solo), journal.RunCancelled, doc{"run_id": run, "attempt": 1})
	w.fails(fault.Forbidden, as(pair), journal.RunCancelRequested, doc{"run_id": run})
	v := w.must(as(bob), journal.RunCancelRequested, doc{"run_id": run, "reason": "wrong repository", "by": ann.ID})
	if v.Str("by") != bob.ID {
		t.Errorf("cancelled by %s", v.Str("by"))
	}
	if e := w.fails(fault.State, as(ann), journal.RunCancelRequested, doc{"run_id": run}); e.Get("by") != bob.ID {
		t.Errorf("refusal says %v", e.Data)
	}
	r, err := w.desk.Renew(t.Context(), as(solo), run, 1)
	if err != nil || r.Cancel == nil || r.Cancel.Reason != "wrong repository" {
		t.Errorf("the holder learns %+v, %v", r.Cancel, err)
	}
	if w.run(run).Status != Accepted {
		t.Error("the request moved the run")
	}
	w.must(as(solo), journal.RunCompleted, doc{"run_id": run, "attempt": 1, "summary": "was faster"})
	if l := w.lane(lane); l.Outcome != journal.OutcomeDone {
		t.Errorf("lane ended as %s", l.Outcome)
	}
	w.valid()
}

func TestCancelOfARunThatNobodyWorksOn(t *testing.T) {
	t.Parallel()
	w := setup(t)
	run, _ := w.ask(as(ann), solo.ID, nil)
	w.must(as(ann), journal.RunCancelRequested, doc{"run_id": run})
	if diff := cmp.Diff([]string{"run.cancel_requested", "run.cancelled", "lane.closed"}, w.types(2)); diff != "" {
		t.Errorf("events differ (-want +got):\n%s", diff)
	}
	w.fails(fault.RunTerminal, as(solo), journal.RunAccepted, doc{"run_id": run, "attempt": 1})
	w.valid()
}

func TestClosingALaneStopsWhatIsBelow(t *testing.T) {
	t.Parallel()
	w := setup(t)
	top, _ := w.work(as(ann), solo, nil)
	mid, midLane := w.work(as(solo), pairA, doc{"parent_run_id": top})
	low, lowLane := w.ask(as(pairA), bare.ID, doc{"parent_run_id": mid})
	minted := w.run(low).AgentID
	idle, idleLane := w.work(as(solo), bare, doc{"parent_run_id": top})
	w.must(as(bare), journal.RunFailed, doc{"run_id": idle, "attempt": 1, "code": "x", "message": "y", "retryable": true})

	w.must(as(solo), journal.RunCompleted, doc{"run_id": top, "attempt": 1, "summary": "done"})
	if r := w.run(mid); r.Status != Accepted || r.Cancel == nil || r.Cancel.By != journal.Server {
		t.Errorf("the run in between is %s, asked to stop: %+v", r.Status, r.Cancel)
	}
	if r, l := w.run(low), w.lane(lowLane); r.Status != Cancelled || l.Status != Closed || l.Outcome != journal.OutcomeCancelled {
		t.Errorf("the run that nobody took is %s, its lane %s", r.Status, l.Status)
	}
	if l := w.lane(idleLane); l.Status != Closed {
		t.Errorf("the lane without runs is %s", l.Status)
	}
	if _, err := w.mem.Cell(t.Context(), workspace, "participant", minted); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("the agent of the closed lane is still here: %v", err)
	}
	if got := w.run(top).Tree; *got != (Tree{Runs: 4, OpenLanes: 1}) {
		t.Errorf("tree counts %+v", *got)
	}
	w.must(as(pairA), journal.RunCancelled, doc{"run_id": mid, "attempt": 1})
	if l, got := w.lane(midLane), w.run(top).Tree; l.Status != Closed || got.OpenLanes != 0 {
		t.Errorf("lane is %s, %d are open", l.Status, got.OpenLanes)
	}
	w.valid()
}

func TestALaneIsClosedByHandOnlyWithoutRuns(t *testing.T) {
	t.Parallel()
	w := setup(t)
	run, lane := w.work(as(ann), solo, nil)
	w.fails(fault.State, as(ann), journal.LaneClosed, doc{"lane_id": lane})
	w.must(as(solo), journal.RunFailed, doc{"run_id": run, "attempt": 1, "code": "x", "message": "y", "retryable": true})
	w.fails(fault.Forbidden, as(pair), journal.LaneClosed, doc{"lane_id": lane})
	v := w.must(as(bob), journal.LaneClosed, doc{"lane_id": lane})
	if v.Str("outcome") != journal.OutcomeFailed {
		t.Errorf("event is %s", v.Canonical())
	}
	w.fails(fault.State, as(ann), journal.LaneClosed, doc{"lane_id": lane})
	w.fails(fault.State, as(ann), journal.AutonomyChanged, doc{"scope": lane, "to": 1})
	if got := w.run(run).Tree.OpenLanes; got != 0 {
		t.Errorf("%d lanes are open", got)
	}
	w.valid()
}

func TestProgressHasAPace(t *testing.T) {
	t.Parallel()
	w := setup(t)
	run, _ := w.work(as(ann), solo, nil)
	report := func(step string) doc { return doc{"run_id": run, "attempt": 1, "step": step} }
	w.must(as(solo), journal.RunProgress, report("build"))
	if r := w.run(run); r.Status != Running || r.Step != "build" {
		t.Errorf("run is %s in step %q", r.Status, r.Step)
	}
	w.clock.add(400 * time.Millisecond)
	if e := w.fails(fault.RateLimited, as(solo), journal.RunProgress, report("build")); e.Get("retry_after_ms") != "601" {
		t.Errorf("retry after %s ms", e.Get("retry_after_ms"))
	}
	w.must(as(solo), journal.RunProgress, report("test"))
	w.clock.add(time.Second)
	w.must(as(solo), journal.RunProgress, report("test"))
}

func TestHandOff(t *testing.T) {
	t.Parallel()
	w := setup(t)
	run, lane := w.work(as(ann), pairA, doc{"deadline": "2026-01-03T00:00:00Z", "constraints": []any{"no cgo"}, "label": "left"})
	from := len(w.mem.events)
	w.fails(fault.NotFound, as(pairA), journal.RunHandedOff, doc{"run_id": run, "attempt": 1, "to_agent_id": id("agt_", 77)})
	w.fails(fault.Fenced, as(pairA), journal.RunHandedOff, doc{"run_id": run, "attempt": 2, "to_agent_id": pairB.ID})
	w.fails(fault.Held, as(solo), journal.RunHandedOff, doc{"run_id": run, "attempt": 1, "to_agent_id": pairB.ID})
	v := w.must(as(pairA), journal.RunHandedOff, doc{"run_id": run, "attempt": 1, "to_agent_id": pairB.ID, "goal": "finish it"})
	if diff := cmp.Diff([]string{"run.handed_off", "run.completed", "run.requested"}, w.types(from)); diff != "" {
		t.Errorf("events differ (-want +got):\n%s", diff)
	}
	next := v.Str("new_run_id")
	r := w.run(next)
	if r.LaneID != lane || r.AgentID != pairB.ID || r.Goal != "finish it" || r.OnBehalfOf != ann.ID || r.RequestedBy != pairA.ID || r.Deadline.IsZero() {
		t.Errorf("new run is %+v", r)
	}
	if l := w.lane(lane); l.Status != Open || l.AgentID != pairB.ID || l.LastRunID != next {
		t.Errorf("lane is %+v", l)
	}
	if got := w.run(run).Tree.Runs; got != 2 {
		t.Errorf("the tree counts %d runs", got)
	}
	w.must(as(pairB), journal.RunAccepted, doc{"run_id": next, "attempt": 1})
	// On to a harness without agents: it gets one for this lane.
	w.must(as(pairB), journal.RunHandedOff, doc{"run_id": next, "attempt": 1, "to_specialist_id": "bare"})
	last := w.lane(lane).LastRunID
	if got := w.run(last); got.SpecialistID != bare.ID || len(w.lane(lane).Minted) != 1 || got.Goal != "finish it" {
		t.Errorf("last run is %+v", got)
	}
	w.must(as(bare), journal.RunAccepted, doc{"run_id": last, "attempt": 1})
	w.must(as(bare), journal.RunCompleted, doc{"run_id": last, "attempt": 1, "summary": "done"})
	if l := w.lane(lane); l.Status != Closed {
		t.Errorf("lane is %s", l.Status)
	}
	w.valid()
}
