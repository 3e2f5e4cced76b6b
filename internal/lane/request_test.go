package lane

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/journal"
)

func TestWhoIsAsked(t *testing.T) {
	t.Parallel()
	lead := Participant{ID: id("agt_", 50), Kind: journal.Agent, Name: "helper", HarnessID: solo.ID}
	tests := map[string]struct {
		person bool // a person asks, else solo does, from a run
		ask    doc
		want   [2]string // harness and agent; "" for a minted one
		code   fault.Code
		at     string
	}{
		"harness id, its only agent": {true, doc{"specialist_id": pair.ID, "agent_id": pairB.ID}, [2]string{pair.ID, pairB.ID}, "", ""},
		"harness name":               {true, doc{"specialist_id": "pair", "agent_id": pairA.ID}, [2]string{pair.ID, pairA.ID}, "", ""},
		"agent id":                   {true, doc{"specialist_id": pairA.ID}, [2]string{pair.ID, pairA.ID}, "", ""},
		"agent name":                 {true, doc{"specialist_id": "left"}, [2]string{pair.ID, pairA.ID}, "", ""},
		"harness without agents":     {true, doc{"specialist_id": bare.ID}, [2]string{bare.ID, ""}, "", ""},
		"two agents, none named":     {true, doc{"specialist_id": pair.ID}, [2]string{}, fault.Ambiguous, "/agent_id"},
		"two of one name":            {true, doc{"specialist_id": "twin"}, [2]string{}, fault.Ambiguous, "/specialist_id"},
		"agent of another harness":   {true, doc{"specialist_id": pair.ID, "agent_id": soloAgent.ID}, [2]string{}, fault.NotFound, "/agent_id"},
		"two different agents":       {true, doc{"specialist_id": pairA.ID, "agent_id": pairB.ID}, [2]string{}, fault.Invalid, "/agent_id"},
		"a person":                   {true, doc{"specialist_id": bob.ID}, [2]string{}, fault.Invalid, "/specialist_id"},
		"nobody":                     {true, doc{"specialist_id": "nobody"}, [2]string{}, fault.NotFound, "/specialist_id"},
		"own agent by label":         {false, doc{"specialist_id": "any", "label": "helper"}, [2]string{solo.ID, lead.ID}, "", ""},
		"own child by type":          {false, doc{"specialist_id": "reviewer"}, [2]string{solo.ID, ""}, "", ""},
		"nobody, agent named":        {false, doc{"specialist_id": "nobody", "agent_id": pairA.ID}, [2]string{}, fault.NotFound, "/specialist_id"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.enrol(lead,
				Participant{ID: id("hrn_", 60), Kind: journal.Harness, Name: "twin"},
				Participant{ID: id("hrn_", 61), Kind: journal.Harness, Name: "twin"})
			tc.ask["goal"] = "x"
			by := as(ann)
			if !tc.person {
				by = as(solo)
				run, _ := w.ask(as(ann), solo.ID, doc{"agent_id": soloAgent.ID})
				w.must(by, journal.RunAccepted, doc{"run_id": run, "attempt": 1})
				tc.ask["parent_run_id"] = run
			}
			if tc.code != "" {
				if e := w.fails(tc.code, by, journal.RunRequested, tc.ask); e.Pointer != tc.at {
					t.Errorf("refused at %q, want %q", e.Pointer, tc.at)
				}
				return
			}
			from := len(w.mem.events)
			v := w.must(by, journal.RunRequested, tc.ask)
			if got := v.Str("specialist_id"); got != tc.want[0] {
				t.Errorf("specialist is %s, want %s", got, tc.want[0])
			}
			want := []string{"lane.opened", "run.requested"}
			if tc.want[1] == "" {
				want = append([]string{"agent.minted"}, want...)
				a, err := ReadParticipant(w.mem.cells[[2]string{"participant", v.Str("agent_id")}])
				if err != nil || a.HarnessID != tc.want[0] || !a.Ephemeral || a.ForLane != v.Str("lane_id") {
					t.Errorf("minted %+v, %v", a, err)
				}
			} else if got := v.Str("agent_id"); got != tc.want[1] {
				t.Errorf("agent is %s, want %s", got, tc.want[1])
			}
			if diff := cmp.Diff(want, w.types(from)); diff != "" {
				t.Errorf("events differ (-want +got):\n%s", diff)
			}
			if given := tc.ask["specialist_id"]; given != tc.want[0] && v.Str("specialist_name") != given {
				t.Errorf("the name %q as given is not kept: %s", given, v.Canonical())
			}
			w.valid()
		})
	}
}

func TestOnlyPeopleStartSomething(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for _, p := range []Participant{solo, soloAgent} {
		if e := w.fails(fault.Forbidden, as(p), journal.RunRequested, doc{"goal": "x", "specialist_id": solo.ID}); e.Pointer != "/parent_run_id" {
			t.Errorf("refused at %q", e.Pointer)
		}
	}
	if _, err := w.server("", journal.Payload{Type: journal.RunRequested, Members: []canon.Member{textOf("goal", "x"), textOf("specialist_id", solo.ID)}}); fault.CodeOf(err) != fault.Event {
		t.Errorf("the server in nobody's name: %v", err)
	}
	e, err := w.server("", journal.Payload{Type: journal.RunRequested, Members: []canon.Member{
		textOf("goal", "x"), textOf("specialist_id", solo.ID), textOf("on_behalf_of", ann.ID), textOf("origin", id("msg_", 1)),
	}})
	if err != nil {
		t.Fatal(detail(err))
	}
	v, _ := canon.Parse(e.Body)
	if want := fmt.Sprintf(`[{"goal":"x","participant_id":%q}]`, ann.ID); v.Str("on_behalf_of") != ann.ID || v.Str("requested_by") != ann.ID || canonical(v, "trail") != want {
		t.Errorf("request is %s", e.Body)
	}
	w.valid()
}

func canonical(v canon.Value, member string) string {
	x, _ := v.Get(member)
	return string(x.Canonical())
}

func TestForgedRoutingIsReplaced(t *testing.T) {
	t.Parallel()
	w := setup(t)
	forged := doc{
		"trail": []any{doc{"participant_id": bob.ID, "goal": "forged"}}, "on_behalf_of": bob.ID, "requested_by": bob.ID,
		"actor": doc{"kind": "person", "id": bob.ID}, "run_id": id("run_", 1), "attempt": 7, "seq": 99, "ts": "1999-01-01T00:00:00Z",
	}
	run, _ := w.ask(as(ann), solo.ID, forged)
	w.must(as(solo), journal.RunAccepted, doc{"run_id": run, "attempt": 1})
	forged["parent_run_id"] = run
	_, _ = w.ask(as(solo), bare.ID, forged)
	for i, want := range []string{
		fmt.Sprintf(`[{"goal":"make it fast","participant_id":%q}]`, ann.ID),
		fmt.Sprintf(`[{"goal":"make it fast","participant_id":%q},{"goal":"make it fast","participant_id":%q,"run_id":%q}]`, ann.ID, solo.ID, run),
	} {
		e := w.mem.events[[]int{1, 5}[i]]
		v, _ := canon.Parse(e.Body)
		if got := canonical(v, "trail"); got != want {
			t.Errorf("trail is %s, want %s", got, want)
		}
		if v.Str("on_behalf_of") != ann.ID || v.Str("requested_by") != []string{ann.ID, solo.ID}[i] || strings.Contains(string(e.Body), bob.ID) {
			t.Errorf("request is %s", e.Body)
		}
	}
	w.valid()
}

// deep opens a chain of lanes, each harness asking the next, and returns the
// runs and lanes on the way.
func deep(w *world, n int) (runs, lanes []string, chain []Participant) {
	w.t.Helper()
	for i := range n {
		p := Participant{ID: id("hrn_", 100+i), Kind: journal.Harness, Name: fmt.Sprintf("h%d", i)}
		w.enrol(p)
		chain = append(chain, p)
		by, more := as(ann), doc{"autonomy": 2, "goal": fmt.Sprintf("goal %d", i)}
		if i > 0 {
			by, more["parent_run_id"] = as(chain[i-1]), runs[i-1]
		}
		run, lane := w.work(by, p, more)
		runs, lanes = append(runs, run), append(lanes, lane)
	}
	return runs, lanes, chain
}

func TestTheFourthLaneBecomesAStep(t *testing.T) {
	t.Parallel()
	w := setup(t)
	runs, lanes, chain := deep(w, 3)
	for i, l := range lanes {
		if got := w.lane(l); got.Depth != int64(i+1) || len(got.Path) != i+1 {
			t.Errorf("lane %d is at depth %d with a path of %d", i, got.Depth, len(got.Path))
		}
	}
	from := len(w.mem.events)
	v := w.must(as(chain[2]), journal.RunRequested, doc{"goal": "deeper", "specialist_id": solo.ID, "parent_run_id": runs[2]})
	if diff := cmp.Diff([]string{"lane.flattened", "run.requested"}, w.types(from)); diff != "" {
		t.Errorf("events differ (-want +got):\n%s", diff)
	}
	if flat := string(w.mem.events[from].Body); !strings.Contains(flat, `"cause":"depth"`) || !strings.Contains(flat, `"wanted_depth":4`) || !strings.Contains(flat, lanes[2]) {
		t.Errorf("lane.flattened is %s", flat)
	}
	if v.Str("lane_id") != lanes[2] || v.Str("specialist_id") != chain[2].ID || v.Str("label") != solo.ID {
		t.Errorf("step is %s", v.Canonical())
	}
	if hops, _ := v.Get("trail"); hops.Len() != 4 {
		t.Errorf("trail has %d hops, want 4", hops.Len())
	}
	// The step is worked on from within the run that asked for it.
	step := v.Str("run_id")
	w.must(as(chain[2]), journal.RunAccepted, doc{"run_id": step, "attempt": 1})
	w.must(as(chain[2]), journal.RunCompleted, doc{"run_id": runs[2], "attempt": 1, "summary": "early"})
	if l := w.lane(lanes[2]); l.Status != Open {
		t.Error("the lane closed with a step in it")
	}
	w.must(as(chain[2]), journal.RunCompleted, doc{"run_id": step, "attempt": 1, "summary": "late"})
	if l := w.lane(lanes[2]); l.Status != Closed {
		t.Error("the lane stays open")
	}
	w.valid()
}

func TestALaneWorksOnOneRunAtATime(t *testing.T) {
	t.Parallel()
	w := setup(t)
	runs, _, chain := deep(w, 3)
	a, _ := w.ask(as(chain[2]), solo.ID, doc{"parent_run_id": runs[2]})
	b, _ := w.ask(as(chain[2]), solo.ID, doc{"parent_run_id": runs[2]})
	w.must(as(chain[2]), journal.RunAccepted, doc{"run_id": a, "attempt": 1})
	if e := w.fails(fault.Held, as(chain[2]), journal.RunAccepted, doc{"run_id": b, "attempt": 1}); e.Get("run_id") != a {
		t.Errorf("held by %q, want %s", e.Get("run_id"), a)
	}
	w.must(as(chain[2]), journal.RunCompleted, doc{"run_id": a, "attempt": 1, "summary": "x"})
	w.must(as(chain[2]), journal.RunAccepted, doc{"run_id": b, "attempt": 1})
}

func TestACircleIsAStepOnceAndRefusedTwice(t *testing.T) {
	t.Parallel()
	w := setup(t)
	runs, lanes, chain := deep(w, 2)
	from := len(w.mem.events)
	v := w.must(as(chain[1]), journal.RunRequested, doc{"goal": "back to you", "specialist_id": chain[0].ID, "parent_run_id": runs[1]})
	if flat := string(w.mem.events[from].Body); !strings.Contains(flat, `"cause":"cycle"`) {
		t.Errorf("lane.flattened is %s", flat)
	}
	if v.Str("lane_id") != lanes[0] || v.Str("specialist_id") != chain[0].ID {
		t.Errorf("step is %s", v.Canonical())
	}
	step := v.Str("run_id")
	w.must(as(chain[0]), journal.RunAccepted, doc{"run_id": step, "attempt": 1})
	w.fails(fault.Cycle, as(chain[0]), journal.RunRequested, doc{"goal": "and back", "specialist_id": chain[0].ID, "parent_run_id": step})
	// A child for a subtask is no circle.
	w.must(as(chain[0]), journal.RunRequested, doc{"goal": "sub", "specialist_id": "reviewer", "parent_run_id": step})
	w.valid()
}

func TestLongTrailsKeepTheirEnds(t *testing.T) {
	t.Parallel()
	w := setup(t)
	runs, _, chain := deep(w, 3)
	parent := runs[2]
	var last canon.Value
	for i := range 8 {
		last = w.must(as(chain[2]), journal.RunRequested, doc{"goal": fmt.Sprintf("step %d", i), "specialist_id": "sub", "parent_run_id": parent})
		parent = last.Str("run_id")
		w.must(as(chain[2]), journal.RunAccepted, doc{"run_id": parent, "attempt": 1})
		w.must(as(chain[2]), journal.RunStarted, doc{"run_id": parent, "attempt": 1})
	}
	hops, _ := last.Get("trail")
	var goals []string
	for _, h := range hops.Elems() {
		goals = append(goals, h.Str("goal"))
	}
	want := []string{"goal 0", "step 1", "step 2", "step 3", "step 4", "step 5", "step 6", "step 7"}
	if diff := cmp.Diff(want, goals); diff != "" {
		t.Errorf("trail differs (-want +got):\n%s", diff)
	}
	whole, err := w.desk.Trail(t.Context(), workspace, last.Str("lane_id"))
	if err != nil || len(whole) != 11 || whole[0].ParticipantID != ann.ID || whole[3].Goal != "step 0" {
		t.Errorf("whole trail has %d hops: %+v, %v", len(whole), whole, err)
	}
	w.valid()
}

func TestHopGoalsAreNeverSplit(t *testing.T) {
	t.Parallel()
	w := setup(t)
	long := "x" + strings.Repeat("😀", 1999) // 3999 units
	run, _ := w.work(as(ann), solo, doc{"goal": long})
	v := w.must(as(solo), journal.RunRequested, doc{"goal": long, "specialist_id": bare.ID, "parent_run_id": run})
	hops, _ := v.Get("trail")
	for _, h := range hops.Elems() {
		got := h.Str("goal")
		if !utf8.ValidString(got) || got != "x"+strings.Repeat("😀", 999) {
			t.Errorf("goal of a hop has %d bytes, want %d", len(got), 1+4*999)
		}
	}
	w.valid()
}

func TestAutonomyNeverRises(t *testing.T) {
	t.Parallel()
	w := setup(t)
	run, lane := w.work(as(ann), solo, nil)
	if got := w.run(run).Autonomy; got != DefaultAutonomy {
		t.Errorf("a request without a level is at %d", got)
	}
	if e := w.fails(fault.Autonomy, as(solo), journal.RunRequested, doc{"goal": "x", "specialist_id": bare.ID, "parent_run_id": run, "autonomy": 2}); e.Get("most") != "1" {
		t.Errorf("most is %q", e.Get("most"))
	}
	child, childLane := w.ask(as(solo), bare.ID, doc{"parent_run_id": run})
	if got := w.run(child).Autonomy; got != 1 {
		t.Errorf("child is at %d", got)
	}
	w.fails(fault.Autonomy, as(ann), journal.AutonomyChanged, doc{"scope": childLane, "to": 2})
	w.fails(fault.Forbidden, as(solo), journal.AutonomyChanged, doc{"scope": lane, "to": 3})
	v := w.must(as(ann), journal.AutonomyChanged, doc{"scope": lane, "to": 3, "from": 0, "by": bob.ID})
	if canonical(v, "from") != "1" || v.Str("by") != ann.ID {
		t.Errorf("event is %s", v.Canonical())
	}
	w.must(as(solo), journal.RunRequested, doc{"goal": "x", "specialist_id": pairA.ID, "parent_run_id": run, "autonomy": 3})
	w.must(as(bob), journal.AutonomyChanged, doc{"scope": lane, "to": 0})
	for _, c := range w.mem.cells {
		if c.Kind == "lane" {
			if l, err := ReadLane(c); err != nil || l.Autonomy != 0 {
				t.Errorf("lane %s is at %d, %v", c.Key, l.Autonomy, err)
			}
		}
		if c.Kind == "run" {
			if r, err := ReadRun(c); err != nil || r.Autonomy != 0 {
				t.Errorf("run %s is at %d, %v", c.Key, r.Autonomy, err)
			}
		}
	}
	w.valid()
}

// A run may be at a lower level than its lane; what it asks for is bound by the
// run.
func TestARunAtALowerLevelThanItsLane(t *testing.T) {
	t.Parallel()
	w := setup(t)
	run, lane := w.work(as(ann), solo, doc{"autonomy": 2})
	w.must(as(solo), journal.RunFailed, doc{"run_id": run, "attempt": 1, "code": "x", "message": "y", "retryable": true})
	again, _ := w.work(as(ann), solo, doc{"lane_id": lane, "autonomy": 1})
	if e := w.fails(fault.Autonomy, as(solo), journal.RunRequested, doc{"goal": "x", "specialist_id": bare.ID, "parent_run_id": again, "autonomy": 2}); e.Get("most") != "1" {
		t.Errorf("most is %q", e.Get("most"))
	}
}

func TestBudgets(t *testing.T) {
	t.Parallel()
	t.Run("fan-out", func(t *testing.T) {
		t.Parallel()
		w := setup(t)
		run, _ := w.work(as(ann), solo, nil)
		for range 8 {
			w.ask(as(solo), bare.ID, doc{"parent_run_id": run})
		}
		if e := w.fails(fault.Budget, as(solo), journal.RunRequested, doc{"goal": "x", "specialist_id": bare.ID, "parent_run_id": run}); e.Get("budget") != "fan_out" {
			t.Errorf("budget is %q", e.Get("budget"))
		}
	})
	t.Run("open lanes", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, Limits{OpenLanes: 3})
		w.enrol(ann, solo, bare)
		run, _ := w.work(as(ann), solo, nil)
		a, _ := w.ask(as(solo), bare.ID, doc{"parent_run_id": run})
		w.ask(as(solo), bare.ID, doc{"parent_run_id": run})
		third := doc{"goal": "x", "specialist_id": bare.ID, "parent_run_id": run}
		if e := w.fails(fault.Budget, as(solo), journal.RunRequested, third); e.Get("budget") != "open_lanes" {
			t.Errorf("budget is %q", e.Get("budget"))
		}
		w.must(as(bare), journal.RunDeclined, doc{"run_id": a, "code": "busy"})
		w.must(as(solo), journal.RunRequested, third)
	})
	t.Run("runs, which no ending gives back", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, Limits{Runs: 3})
		w.enrol(ann, solo, bare)
		run, _ := w.work(as(ann), solo, nil)
		for range 2 {
			child, _ := w.ask(as(solo), bare.ID, doc{"parent_run_id": run})
			w.must(as(bare), journal.RunDeclined, doc{"run_id": child, "code": "busy"})
		}
		if e := w.fails(fault.Budget, as(solo), journal.RunRequested, doc{"goal": "x", "specialist_id": bare.ID, "parent_run_id": run}); e.Get("budget") != "runs" {
			t.Errorf("budget is %q", e.Get("budget"))
		}
		w.ask(as(ann), solo.ID, nil) // another tree has its own
	})
}

func TestAChildIsAskedForByWhoWorks(t *testing.T) {
	t.Parallel()
	w := setup(t)
	run, _ := w.ask(as(ann), solo.ID, nil)
	child := doc{"goal": "x", "specialist_id": bare.ID, "parent_run_id": run}
	w.fails(fault.State, as(solo), journal.RunRequested, child)
	w.must(as(solo), journal.RunAccepted, doc{"run_id": run, "attempt": 1})
	w.fails(fault.Held, as(bare), journal.RunRequested, child)
	w.fails(fault.Held, as(ann), journal.RunRequested, child)
	child["parent_attempt"] = 2
	w.fails(fault.Fenced, as(solo), journal.RunRequested, child)
	child["parent_attempt"] = 1
	w.must(as(solo), journal.RunRequested, child)
	w.must(as(ann), journal.RunCancelRequested, doc{"run_id": run})
	w.fails(fault.State, as(solo), journal.RunRequested, child)
	w.must(as(solo), journal.RunCancelled, doc{"run_id": run, "attempt": 1})
	w.fails(fault.RunTerminal, as(solo), journal.RunRequested, child)
}

func TestAnotherRunInALaneThatStayedOpen(t *testing.T) {
	t.Parallel()
	w := setup(t)
	run, lane := w.work(as(ann), solo, doc{"autonomy": 2, "space_id": id("spc_", 1)})
	again := doc{"goal": "once more", "specialist_id": solo.ID, "lane_id": lane, "space_id": id("spc_", 2)}
	w.fails(fault.Held, as(ann), journal.RunRequested, again)
	w.must(as(solo), journal.RunFailed, doc{"run_id": run, "attempt": 1, "code": "flaky", "message": "try again", "retryable": true})
	if l := w.lane(lane); l.Status != Open {
		t.Fatal("a failure that can be retried closed the lane")
	}
	w.fails(fault.Forbidden, as(bare), journal.RunRequested, again)
	w.fails(fault.Autonomy, as(ann), journal.RunRequested, doc{"goal": "x", "specialist_id": solo.ID, "lane_id": lane, "autonomy": 3})
	v := w.must(as(bob), journal.RunRequested, again)
	if v.Str("lane_id") != lane || v.Str("on_behalf_of") != ann.ID || v.Str("requested_by") != bob.ID || v.Str("space_id") != id("spc_", 1) {
		t.Errorf("request is %s", v.Canonical())
	}
	if hops, _ := v.Get("trail"); hops.Len() != 2 {
		t.Errorf("trail is %s", hops.Canonical())
	}
	if got := w.run(run).Tree.Runs; got != 2 {
		t.Errorf("the tree counts %d runs, want 2", got)
	}
	w.must(as(soloAgent), journal.RunDeclined, doc{"run_id": v.Str("run_id"), "code": "no"})
	w.fails(fault.State, as(ann), journal.RunRequested, again)
	w.valid()
}

func TestDeadlinesLieAhead(t *testing.T) {
	t.Parallel()
	w := setup(t)
	if e := w.fails(fault.Event, as(ann), journal.RunRequested, doc{"goal": "x", "specialist_id": solo.ID, "deadline": "2026-01-02T05:04:05+02:00"}); e.Pointer != "/deadline" {
		t.Errorf("refused at %q", e.Pointer)
	}
	run, _ := w.ask(as(ann), solo.ID, doc{"deadline": "2026-01-02T05:05:05+02:00"})
	if got := journal.Stamp(w.run(run).Deadline); got != "2026-01-02T03:05:05.000Z" {
		t.Errorf("deadline is %s", got)
	}
}

func TestLinkedSpacesAreTold(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.ask(as(ann), solo.ID, doc{"link_to": []any{id("spc_", 1), id("spc_", 2), id("spc_", 1)}})
	if diff := cmp.Diff([]string{"lane.opened", "run.requested", "space.linked", "space.linked"}, w.types(0)); diff != "" {
		t.Errorf("events differ (-want +got):\n%s", diff)
	}
	w.valid()
}
