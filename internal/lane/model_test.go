package lane

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ident"
	"writ/internal/journal"
	"writ/internal/ledger"
)

// model is what a run should do, in as few words as possible.
type model struct {
	status  Status
	attempt int64
	open    []string // questions, as "kind id"
	cancel  bool
}

// step says whether the event is taken, and moves the model.
func (m *model) step(eventType string, attempt int64, request string) bool {
	if m.status.Over() {
		return false
	}
	held := m.status.Held()
	ours := held && attempt == m.attempt
	switch eventType {
	case journal.RunAccepted:
		if attempt != m.attempt || held {
			return false
		}
		m.status = Accepted
	case journal.RunDeclined:
		if held {
			return false
		}
		m.status = Declined
	case journal.RunStarted:
		if !ours || m.status != Accepted {
			return false
		}
		m.status = Running
	case journal.RunProgress:
		if !ours {
			return false
		}
		if m.status == Accepted {
			m.status = Running
		}
	case journal.RunInputRequested, journal.RunApprovalRequested:
		id := eventType[4:9] + request
		if !ours || slices.Contains(m.open, "input"+request) || slices.Contains(m.open, "appro"+request) {
			return false
		}
		m.open, m.status = append(m.open, id), Waiting
	case journal.RunInputGiven, journal.RunApprovalDecided:
		i := slices.Index(m.open, eventType[4:9]+request)
		if i < 0 {
			return false
		}
		if m.open = slices.Delete(m.open, i, i+1); len(m.open) == 0 {
			m.status = Running
		}
	case journal.RunCancelRequested:
		if m.cancel {
			return false
		}
		if m.cancel = true; !held {
			m.status = Cancelled
		}
	case journal.RunCancelled:
		if !ours || !m.cancel {
			return false
		}
		m.status = Cancelled
	case journal.RunCompleted:
		if !ours {
			return false
		}
		m.status = Completed
	case journal.RunFailed:
		if !ours {
			return false
		}
		m.status = Failed
	}
	return true
}

// lapse is what an hour without a sign of life does.
func (m *model) lapse() {
	switch {
	case !m.status.Held():
	case m.cancel:
		m.status = Expired
	case m.attempt == 3:
		m.status = Failed
	default:
		m.status, m.attempt, m.open = Requested, m.attempt+1, nil
	}
}

var payloads = map[string]doc{
	journal.RunAccepted:          {},
	journal.RunDeclined:          {"code": "busy"},
	journal.RunStarted:           {},
	journal.RunProgress:          {},
	journal.RunInputRequested:    {"prompt": "?"},
	journal.RunApprovalRequested: {"action": "push"},
	journal.RunInputGiven:        {"value": 1},
	journal.RunApprovalDecided:   {"decision": "approve"},
	journal.RunCancelRequested:   {},
	journal.RunCancelled:         {},
	journal.RunCompleted:         {"summary": "done"},
	journal.RunFailed:            {"code": "x", "message": "y", "retryable": false},
}

var byPeople = []string{journal.RunInputGiven, journal.RunApprovalDecided, journal.RunCancelRequested}

// The pure machine does what the model does, ends once, and never lets a stale
// attempt write.
func TestRunFollowsTheModel(t *testing.T) {
	t.Parallel()
	kinds := slices.Sorted(func(yield func(string) bool) {
		for k := range payloads {
			if !yield(k) {
				return
			}
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, Limits{})
		w.enrol(ann, solo, soloAgent)
		run, _ := w.ask(as(ann), solo.ID, nil)
		m := model{status: Requested, attempt: 1}
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			w.clock.add(time.Second)
			if rapid.IntRange(0, 9).Draw(t, "lapse") == 0 {
				w.clock.add(time.Hour)
				w.sweep()
				m.lapse()
			} else {
				kind := rapid.SampledFrom(kinds).Draw(t, "type")
				attempt := rapid.Int64Range(1, 3).Draw(t, "attempt")
				if rapid.Bool().Draw(t, "current") {
					attempt = m.attempt
				}
				request := rapid.SampledFrom([]string{"1", "2"}).Draw(t, "request")
				by := as(solo)
				event := doc{"run_id": run, "request_id": request}
				if slices.Contains(byPeople, kind) {
					by = as(ann)
				} else if kind != journal.RunDeclined {
					event["attempt"] = attempt
				}
				for k, v := range payloads[kind] {
					event[k] = v
				}
				before := m
				before.open = slices.Clone(m.open)
				want := m.step(kind, attempt, request)
				_, err := w.send(by, kind, event)
				if (err == nil) != want {
					t.Fatalf("%s of attempt %d on %+v: %v, want taken: %v", kind, attempt, before, detail(err), want)
				}
				if before.status.Over() && fault.CodeOf(err) != fault.RunTerminal {
					t.Fatalf("%s after the end: %v", kind, err)
				}
				if !before.status.Over() && attempt != before.attempt && event["attempt"] != nil && fault.CodeOf(err) != fault.Fenced {
					t.Fatalf("%s of a stale attempt: %v", kind, err)
				}
			}
			if r := w.run(run); r.Status != m.status || r.Attempt != m.attempt || !m.status.Over() && len(r.Pending) != len(m.open) || (r.Cancel != nil) != m.cancel {
				t.Fatalf("run is %+v, model %+v", r, m)
			}
			w.check()
		}
	})
}

// A tree of lanes and runs keeps its invariants whatever people, harnesses and
// time do to it, and comes to rest when nobody does anything.
func TestTreesKeepTheirInvariants(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, Limits{Runs: 20, OpenLanes: 6, FanOut: 4})
		crew := []Participant{solo, soloAgent, bare, pair, pairA, pairB}
		w.enrol(append(crew, ann, bob)...)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			w.clock.add(time.Duration(rapid.IntRange(0, 40).Draw(t, "seconds")) * time.Second)
			w.act(t, crew)
			w.check()
		}
		for range 40 {
			w.clock.add(8 * 24 * time.Hour)
			w.sweep()
			w.check()
		}
		for _, c := range w.mem.cells {
			if c.Kind == ledger.CellRun && !Status(c.State).Over() {
				t.Fatalf("run %s never comes to rest: %s", c.Key, c.Value)
			}
		}
		w.valid()
	})
}

// act does one thing that somebody might do.
func (w *world) act(t *rapid.T, crew []Participant) {
	people := []Participant{ann, bob}
	who := rapid.SampledFrom(append(slices.Clone(crew), people...)).Draw(t, "who")
	runs := w.keysOf(ledger.CellRun)
	lanes := w.keysOf(ledger.CellLane)
	verb := rapid.IntRange(0, 9).Draw(t, "verb")
	if len(runs) == 0 || verb == 0 {
		_, _ = w.send(as(rapid.SampledFrom(people).Draw(t, "asker")), journal.RunRequested, doc{
			"goal": "root", "specialist_id": rapid.SampledFrom(crew).Draw(t, "to").ID, "autonomy": rapid.IntRange(0, 3).Draw(t, "level"),
		})
		return
	}
	run := rapid.SampledFrom(runs).Draw(t, "run")
	r := w.run(run)
	by := as(who)
	if r.Holder != nil && rapid.IntRange(0, 3).Draw(t, "holder") > 0 {
		for _, p := range crew {
			if p.ID == r.Holder.ID {
				by = as(p)
			}
		}
	}
	switch verb {
	case 1, 2:
		to := rapid.SampledFrom([]string{solo.ID, soloAgent.ID, bare.ID, pairA.ID, pairB.ID, "reviewer"}).Draw(t, "to")
		_, _ = w.send(by, journal.RunRequested, doc{"goal": "child", "specialist_id": to, "parent_run_id": run, "autonomy": rapid.IntRange(0, 2).Draw(t, "level")})
	case 3, 4:
		taker := solo
		for _, p := range crew {
			if p.ID == r.SpecialistID {
				taker = p
			}
		}
		_, _ = w.send(as(taker), journal.RunAccepted, doc{"run_id": run, "attempt": r.Attempt})
	case 5:
		_, _ = w.send(by, journal.RunHandedOff, doc{"run_id": run, "attempt": r.Attempt, "to_specialist_id": rapid.SampledFrom(crew).Draw(t, "to").ID})
	case 6:
		_, _ = w.send(as(ann), journal.AutonomyChanged, doc{"scope": rapid.SampledFrom(lanes).Draw(t, "lane"), "to": rapid.IntRange(0, 3).Draw(t, "level")})
	case 7:
		_, _ = w.send(as(ann), journal.RunRequested, doc{"goal": "again", "specialist_id": solo.ID, "lane_id": rapid.SampledFrom(lanes).Draw(t, "lane")})
	case 8:
		w.sweep()
	default:
		kind := rapid.SampledFrom([]string{journal.RunCompleted, journal.RunFailed, journal.RunCancelRequested, journal.RunCancelled, journal.RunDeclined, journal.LaneClosed, "takeover"}).Draw(t, "type")
		event := doc{"run_id": run, "attempt": r.Attempt}
		switch kind {
		case journal.LaneClosed:
			event = doc{"lane_id": r.LaneID}
		case journal.RunFailed:
			event["retryable"] = rapid.Bool().Draw(t, "retryable")
		case "takeover":
			if _, err := w.server(run, journal.AcceptedUntil(zero)); err == nil && rapid.Bool().Draw(t, "ends") {
				_, _ = w.server(run, journal.Failed("x", "y", false))
			} else if err == nil {
				_, _ = w.server(run, journal.Completion{Summary: "x"}.Payload())
			}
			return
		}
		for k, v := range payloads[kind] {
			if event[k] == nil {
				event[k] = v
			}
		}
		_, _ = w.send(by, kind, event)
	}
}

func (w *world) keysOf(kind string) []string {
	var out []string
	for _, c := range w.mem.cells {
		if c.Kind == kind {
			out = append(out, c.Key)
		}
	}
	// In the order of their making: the ids are random.
	slices.SortFunc(out, func(a, b string) int { return w.born(a) - w.born(b) })
	return out
}

func (w *world) born(key string) int {
	return slices.IndexFunc(w.mem.events, func(e ledger.Event) bool { return e.RunID == key || e.LaneID == key })
}

// check holds the cells against the log and against each other.
func (w *world) check() {
	w.t.Helper()
	runs, lanes := map[string]RunState{}, map[string]LaneState{}
	for _, c := range w.mem.cells {
		switch c.Kind {
		case ledger.CellRun:
			r := w.run(c.Key)
			runs[c.Key] = r
			if string(r.Status) != c.State {
				w.t.Fatalf("run %s is %s, its cell says %s", c.Key, r.Status, c.State)
			}
			if b, err := canon.Marshal(r); err != nil || string(b) != string(c.Value) {
				w.t.Fatalf("run %s does not survive: %s, %s", c.Key, b, c.Value)
			}
		case ledger.CellLane:
			lanes[c.Key] = w.lane(c.Key)
		}
	}
	w.checkLog(runs)
	counted := map[string]Tree{}
	for id, r := range runs {
		t := counted[r.RootRunID]
		t.Runs++
		counted[r.RootRunID] = t
		l := lanes[r.LaneID]
		if slices.Contains(l.Runs, id) == r.Status.Over() || slices.Contains(l.Active, id) != r.Status.Held() {
			w.t.Fatalf("run %s is %s, lane %+v", id, r.Status, l)
		}
		if !r.Status.Over() && l.Status != Open {
			w.t.Fatalf("run %s is %s in a closed lane", id, r.Status)
		}
		if p, ok := runs[r.ParentRunID]; ok && !w.seen[id] && r.Autonomy > p.Autonomy { // later a person may change either
			w.t.Fatalf("run %s asks at level %d from level %d", id, r.Autonomy, p.Autonomy)
		}
		w.seen[id] = true
		if p, ok := runs[r.ParentRunID]; ok && r.OnBehalfOf != p.OnBehalfOf {
			w.t.Fatalf("run %s is on behalf of %s, its parent of %s", id, r.OnBehalfOf, p.OnBehalfOf)
		}
	}
	for id, l := range lanes {
		if l.Status == Open {
			t := counted[l.RootRunID]
			t.OpenLanes++
			counted[l.RootRunID] = t
		}
		if p, ok := lanes[l.ParentLaneID]; ok && p.Status == Open && l.Status == Open && l.Autonomy > p.Autonomy {
			w.t.Fatalf("lane %s is at level %d, the one above at %d", id, l.Autonomy, p.Autonomy)
		}
		if l.Depth > 3 || int(l.Depth) != len(l.Path) || l.Path[len(l.Path)-1].LaneID != id {
			w.t.Fatalf("lane %s is at depth %d with path %v", id, l.Depth, l.Path)
		}
		for i := 1; i < len(l.Active); i++ { // each active run was asked for from the one before
			if !slices.Contains(runs[l.Active[i]].Path, l.Active[i-1]) {
				w.t.Fatalf("lane %s works on unrelated runs %v", id, l.Active)
			}
		}
	}
	for root, want := range counted {
		if got := *runs[root].Tree; got != want {
			w.t.Fatalf("tree %s counts %+v, there are %+v", root, got, want)
		}
		if want.Runs > w.desk.Limits.orDefault().Runs || want.OpenLanes > w.desk.Limits.orDefault().OpenLanes {
			w.t.Fatalf("tree %s is over its budget: %+v", root, want)
		}
	}
}

// checkLog reads what only the log can tell: endings, attempts, trails, levels.
func (w *world) checkLog(runs map[string]RunState) {
	w.t.Helper()
	type seen struct {
		attempt int64
		ended   string
	}
	log := map[string]*seen{}
	for _, e := range w.mem.events {
		if e.RunID == "" || e.Type == journal.LaneOpened || e.Type == journal.LaneFlattened || e.Type == journal.MessagePosted {
			continue
		}
		var body struct {
			Attempt      int64
			Trail        []struct{ Participant_ID, Goal string }
			On_Behalf_Of string
			Actor        struct{ Kind string }
		}
		if err := json.Unmarshal(e.Body, &body); err != nil {
			w.t.Fatalf("%s: %v", e.Body, err)
		}
		s := log[e.RunID]
		switch {
		case e.Type == journal.RunRequested && s == nil:
			s = &seen{attempt: 1}
			log[e.RunID] = s
			if n := len(body.Trail); n < 1 || n > 8 || body.Trail[0].Participant_ID != body.On_Behalf_Of {
				w.t.Fatalf("trail of %s: %s", e.RunID, e.Body)
			}
		case s == nil:
			w.t.Fatalf("%s before the request: %s", e.Type, e.Body)
		case s.ended != "":
			w.t.Fatalf("%s after %s of run %s", e.Type, s.ended, e.RunID)
		case e.Type == journal.RunRequested || e.Type == journal.RunAccepted && body.Actor.Kind == journal.Server:
			if body.Attempt < s.attempt || body.Attempt > s.attempt+1 {
				w.t.Fatalf("attempt %d after %d", body.Attempt, s.attempt)
			}
			s.attempt = body.Attempt
		case body.Attempt != s.attempt:
			w.t.Fatalf("%s of attempt %d, run %s is at %d", e.Type, body.Attempt, e.RunID, s.attempt)
		}
		if slices.Contains([]string{journal.RunCompleted, journal.RunFailed, journal.RunCancelled, journal.RunExpired, journal.RunDeclined}, e.Type) {
			s.ended = e.Type
		}
	}
	for id, r := range runs {
		if (log[id].ended != "") != r.Status.Over() || r.Status.Over() && r.End.Type != log[id].ended {
			w.t.Fatalf("run %s is %s, the log ends it with %q", id, r.Status, log[id].ended)
		}
	}
}

// Deciding twice on the same facts gives the same, and moves no facts.
func TestDecisionsArePure(t *testing.T) {
	t.Parallel()
	w := setup(t)
	run, _ := w.work(as(ann), solo, nil)
	f, err := w.desk.Facts(t.Context(), workspace, run)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	f.NewID = func(p ident.Prefix) string { n++; return id(p, n) }
	before := fmt.Sprintf("%+v", f.Run.RunState)
	d := compose(t, run, journal.Failed("x", "y", false))
	for range 2 {
		n = 0
		got, err := ApplyAll(f, []journal.Draft{compose(t, run, journal.Progress("a", "", 1)), d}, w.clock.now())
		if err != nil || len(got.Events) != 3 || len(got.Cells) != 2 || got.Run.Status != Failed {
			t.Fatalf("decision is %+v, %v", got, err)
		}
		if after := fmt.Sprintf("%+v", f.Run.RunState); after != before {
			t.Fatalf("facts moved from %s to %s", before, after)
		}
	}
	if _, err := Apply(f, compose(t, id("run_", 5), journal.Started()), w.clock.now()); fault.CodeOf(err) != fault.Internal {
		t.Errorf("facts of another run: %v", err)
	}
}

func compose(t *testing.T, run string, p journal.Payload) journal.Draft {
	t.Helper()
	d, err := journal.Compose(journal.IDs{Workspace: workspace, Run: run}, p)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
