package server_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/journal"
)

const ulid = "01ARZ3NDEKTSV4RRFFQ69G5FAV"

// sample is the members of an event type, as a client would send them, and who
// may: "" for the server only.
type sample struct {
	by      string // person, worker, admin or ""
	members map[string]any
}

type obj = map[string]any

func work(members obj) sample {
	m := obj{"run_id": "run_" + ulid, "attempt": 1}
	maps.Copy(m, members)
	return sample{"worker", m}
}

var samples = map[string]sample{
	journal.WorkspaceCreated:      {"", obj{"name": "x"}},
	journal.ParticipantJoined:     {"", obj{"participant_id": "per_" + ulid, "kind": "person", "name": "x"}},
	journal.ParticipantLeft:       {"", obj{"participant_id": "per_" + ulid}},
	journal.ParticipantUpdated:    {"", obj{"participant_id": "per_" + ulid}},
	journal.HarnessRegistered:     {"", obj{"harness_id": "hrn_" + ulid, "name": "x", "capabilities": []any{}}},
	journal.HarnessOnline:         {"", obj{"harness_id": "hrn_" + ulid, "session_id": "x"}},
	journal.HarnessOffline:        {"", obj{"harness_id": "hrn_" + ulid, "session_id": "x"}},
	journal.AgentMinted:           {"", obj{"agent_id": "agt_" + ulid, "harness_id": "hrn_" + ulid, "ephemeral": true}},
	journal.AgentRetired:          {"", obj{"agent_id": "agt_" + ulid}},
	journal.SpaceLinked:           {"", obj{"space_id": "spc_" + ulid, "lane_id": "lane_" + ulid}},
	journal.AttachmentTranscribed: {"", obj{"attachment_id": "att_" + ulid, "transcript": "x"}},
	journal.AttachmentVersioned:   {"", obj{"attachment_id": "att_" + ulid, "replaces": "att_" + ulid, "filename": "x"}},
	journal.LaneOpened:            {"", obj{"lane_id": "lane_" + ulid, "depth": 1, "specialist_id": "x", "requested_by": "x", "autonomy": 1}},
	journal.LaneFlattened:         {"", obj{"into_lane_id": "lane_" + ulid, "wanted_depth": 4}},
	journal.RunExpired:            {"", obj{"run_id": "run_" + ulid, "cause": "lease"}},
	journal.BudgetExhausted:       {"", obj{"harness_id": "hrn_" + ulid}},
	journal.DocumentAccepted:      {"", obj{"kind": "proposal", "ref": "x", "sha256": strings.Repeat("0", 64)}},

	journal.SpaceCreated:       {"admin", obj{"kind": "plain", "name": "x"}},
	journal.SpaceArchived:      {"admin", obj{"space_id": "spc_" + ulid}},
	journal.SpaceMemberAdded:   {"admin", obj{"space_id": "spc_" + ulid, "participant_id": "x"}},
	journal.SpaceMemberRemoved: {"admin", obj{"space_id": "spc_" + ulid, "participant_id": "x"}},
	journal.AutonomyChanged:    {"admin", obj{"scope": "lane_" + ulid, "to": 1}},
	journal.MessagePosted:      {"person", obj{"body": "x", "in_reply_to": "msg_" + ulid, "attachments": []any{}}},
	journal.MessageEdited:      {"person", obj{"message_id": "msg_" + ulid, "body": "x"}},
	journal.MessageRedacted:    {"person", obj{"message_id": "msg_" + ulid, "reason": "x"}},
	journal.LaneClosed:         {"person", obj{"lane_id": "lane_" + ulid, "outcome": "done"}},
	journal.RunRequested: {"person", obj{
		"goal": "x", "specialist_id": "x", "constraints": []any{"x"}, "deadline": "2099-01-01T00:00:00Z", "agent_id": "agt_" + ulid, "autonomy": 1,
		"link_to": []any{"spc_" + ulid}, "origin": "msg_" + ulid, "label": "x",
	}},
	journal.RunInputGiven:      {"person", obj{"run_id": "run_" + ulid, "request_id": "x", "cancelled": true}},
	journal.RunApprovalDecided: {"person", obj{"run_id": "run_" + ulid, "request_id": "x", "decision": "approve"}},
	journal.RunCancelRequested: {"person", obj{"run_id": "run_" + ulid, "reason": "x"}},

	journal.RunAccepted:          work(obj{"retryable": true}),
	journal.RunDeclined:          {"worker", obj{"run_id": "run_" + ulid, "code": "x", "reason": "y"}},
	journal.RunStarted:           work(nil),
	journal.RunProgress:          work(obj{"step": "x", "note": "y", "pct": 1}),
	journal.RunInputRequested:    work(obj{"request_id": "x", "prompt": "y", "expires_at": "2099-01-01T00:00:00Z"}),
	journal.RunApprovalRequested: work(obj{"request_id": "x", "action": "y", "risk": "z"}),
	journal.RunHandedOff:         work(obj{"to_specialist_id": "x", "goal": "y"}),
	journal.RunCompleted:         work(obj{"summary": "x"}),
	journal.RunFailed:            work(obj{"code": "x", "message": "y", "retryable": false}),
	journal.RunCancelled:         work(obj{"reason": "x"}),
	journal.BudgetCharged:        {"worker", obj{"amount": 1, "unit": "x"}},
}

func (s sample) event(kind string, change obj) string {
	m := obj{"v": 1, "type": kind, "idempotency_key": "bad"}
	maps.Copy(m, s.members)
	maps.Copy(m, change)
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// TestBadEvents breaks an event of every type in every way, and writes those
// types that nobody but the server may write.
func TestBadEvents(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(journal.Types(), slices.Sorted(maps.Keys(samples))); diff != "" {
		t.Fatalf("samples (-catalogue +here):\n%s", diff)
	}
	w := newWorld(t, nil)
	tokens := map[string]string{"": w.admin.token.Text, "admin": w.admin.token.Text, "person": w.ann.token.Text, "worker": w.solver.token.Text}
	before := w.state()
	for kind, s := range samples {
		good := s.event(kind, nil)
		token := tokens[s.by]
		check := func(name, body string, status int, code string) {
			t.Helper()
			r := w.ask(token, "POST", "/v1/events", body)
			if r.status < 400 {
				t.Fatalf("%s, %s: was taken: %s", kind, name, body)
			}
			p := r.problem(t)
			if r.status != status || string(p.Code) != code {
				t.Errorf("%s, %s: answered %d %s, want %d %s\n%s", kind, name, r.status, p.Code, status, code, r.body)
			}
			if code == "malformed" && p.Offset == nil || code == "invalid_event" && p.Pointer == "" {
				t.Errorf("%s, %s: the refusal does not say where: %s", kind, name, r.body)
			}
		}
		check("truncated", good[:len(good)-1], 400, "malformed")
		check("duplicate key", `{"v":1,`+good[1:], 400, "malformed")
		check("trailing", good+"[]", 400, "malformed")
		check("invalid UTF-8", strings.Replace(good, "bad", "b\xffd", 1), 400, "malformed")
		check("lone surrogate", strings.Replace(good, `"bad"`, `"\ud800"`, 1), 400, "malformed")
		check("too large", good+strings.Repeat(" ", journal.MaxBytes), 413, "too_large")
		check("other version", s.event(kind, obj{"v": 2}), 400, "invalid_event")
		check("another workspace", s.event(kind, obj{"workspace_id": "ws_" + ulid}), 400, "invalid_event")
		check("bad id", s.event(kind, obj{"id": "evt_1"}), 400, "invalid_event")
		check("key of the wrong type", s.event(kind, obj{"idempotency_key": 7}), 400, "invalid_event")
		check("key too long", s.event(kind, obj{"idempotency_key": strings.Repeat("k", 201)}), 400, "invalid_event")
		check("null", s.event(kind, obj{"space_id": nil}), 400, "invalid_event")
		for name := range s.members {
			check(name+" of the wrong type", s.event(kind, obj{name: obj{"no": 1}}), 400, "invalid_event")
		}
		if s.by == "" {
			check("by a client", good, 403, "forbidden")
		}
	}
	w.unchanged(t, before)
	me := w.ann.token.Text
	for _, body := range []string{`[]`, `"x"`, `null`, `7`, `{}`, `{"type":7}`, `{"v":1,"type":"run.exploded","idempotency_key":"k"}`, `{"v":1,"type":"Message.Posted","idempotency_key":"k","body":"x"}`} {
		w.ask(me, "POST", "/v1/events", body).refused(t, 400, "invalid_event")
	}
	w.unchanged(t, before)
}

// TestWhoMayWrite: kinds of participants that a type is not for.
func TestWhoMayWrite(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	before := w.state()
	for kind, s := range samples {
		switch s.by {
		case "worker":
			w.ask(w.admin.token.Text, "POST", "/v1/events", s.event(kind, nil)).refused(t, 403, "forbidden")
		case "admin":
			w.ask(w.ann.token.Text, "POST", "/v1/events", s.event(kind, nil)).refused(t, 403, "forbidden")
		}
	}
	for _, m := range []member{w.solver, w.harness} {
		r := w.ask(m.token.Text, "POST", "/v1/events", samples[journal.RunApprovalDecided].event(journal.RunApprovalDecided, nil))
		if r.status != 403 {
			t.Errorf("a %s that approves is answered %d", m.Kind, r.status)
		}
	}
	// A harness speaks for its own agents only.
	w.ask(w.harness.token.Text, "POST", "/v1/events", message("k", "x", fmt.Sprintf(`"actor":{"kind":"agent","id":%q}`, w.reviewer.ID))).refused(t, 404, "not_found")
	w.unchanged(t, before)
	v := w.post(w.harness.token.Text, message("k", "x", fmt.Sprintf(`"actor":{"kind":"agent","id":%q}`, w.solver.ID)))
	if actor, _ := v.Get("actor"); actor.Str("id") != w.solver.ID || actor.Str("harness_id") != w.harness.ID {
		t.Errorf("written by %s", actor.Canonical())
	}
}

// TestBadRuns writes sound events about runs that do not fit them.
func TestBadRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	run := w.post(w.ann.token.Text, requestRun("r", w.solver.ID)).Str("run_id")
	n := 0
	send := func(m member, kind string, members obj) reply {
		n++
		all := obj{"run_id": run, "idempotency_key": fmt.Sprint("k", n)}
		maps.Copy(all, members)
		return w.ask(m.token.Text, "POST", "/v1/events", sample{"", all}.event(kind, all))
	}
	refuse := func(r reply, status int, code string) {
		t.Helper()
		r.refused(t, status, code)
	}
	before := w.state()
	refuse(send(w.solver, "run.started", obj{"attempt": 1}), 409, "wrong_state")
	refuse(send(w.solver, "run.accepted", obj{"attempt": 2}), 409, "fenced")
	refuse(send(w.reviewer, "run.accepted", obj{"attempt": 1}), 403, "forbidden")
	refuse(send(w.solver, "run.accepted", obj{"attempt": 1, "run_id": "run_" + ulid}), 404, "not_found")
	refuse(send(w.ann, "lane.closed", obj{"lane_id": "lane_" + ulid}), 404, "not_found")
	refuse(send(w.solver, "run.requested", obj{"run_id": nil, "goal": "x", "specialist_id": w.solver.ID}), 403, "forbidden") // agents start nothing of their own
	w.unchanged(t, before)
	send(w.solver, "run.accepted", obj{"attempt": 1}).expect(t, 201)
	before = w.state()
	refuse(send(w.solver, "run.progress", obj{"attempt": 2, "note": "x"}), 409, "fenced")
	refuse(send(w.ann, "run.input_given", obj{"request_id": "none", "cancelled": true}), 409, "wrong_state")
	refuse(send(w.ann, "run.input_given", obj{"request_id": "none"}), 400, "invalid_event")
	refuse(send(w.solver, "run.requested", obj{"run_id": "run_" + ulid, "parent_run_id": run, "goal": "x", "specialist_id": w.solver.ID, "autonomy": 3}), 403, "autonomy_exceeds_parent")
	refuse(send(w.ann, "run.requested", obj{"run_id": "run_" + ulid, "goal": "x", "specialist_id": "nobody"}), 404, "not_found")
	refuse(send(w.ann, "run.requested", obj{"run_id": "run_" + ulid, "goal": "x", "specialist_id": w.solver.ID, "deadline": "2020-01-01T00:00:00Z"}), 400, "invalid_event")
	w.unchanged(t, before)
	first := send(w.solver, "run.completed", obj{"attempt": 1, "summary": "done"}).expect(t, 201)
	before = w.state()
	p := send(w.solver, "run.failed", obj{"attempt": 1, "code": "x", "message": "y", "retryable": false}).refused(t, 409, "run_terminal")
	if p.Data["seq"] != first.header.Get("Writ-Seq") {
		t.Errorf("the refusal names %v, the ending is %s", p.Data, first.header.Get("Writ-Seq"))
	}
	w.unchanged(t, before)
}
