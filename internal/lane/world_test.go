package lane

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"testing"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ident"
	"writ/internal/journal"
	"writ/internal/ledger"
	"writ/internal/schema"
)

const workspace = "ws_01ARZ3NDEKTSV4RRFFQ69G5FAV"

type doc = map[string]any

// fatal is what tests and properties have in common.
type fatal interface {
	Helper()
	Fatalf(format string, args ...any)
}

// world is a desk with a ledger, a clock and people.
type world struct {
	t     fatal
	desk  *Desk
	mem   *memory
	clock *clock
	keys  int
	seen  map[string]bool // runs that were checked before
}

func newWorld(t fatal, l Limits) *world {
	w := &world{t: t, mem: newMemory(), clock: newClock(), seen: map[string]bool{}}
	w.desk = &Desk{Store: w.mem, Now: w.clock.now, NewID: ident.New, Limits: l}
	return w
}

// setup is a world with two people, and harnesses with one agent each, no agent
// and two agents.
func setup(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, Limits{})
	w.enrol(ann, bob, solo, soloAgent, bare, pair, pairA, pairB)
	return w
}

var (
	ann       = Participant{ID: id(ident.Person, 1), Kind: journal.Person, Name: "ann"}
	bob       = Participant{ID: id(ident.Person, 2), Kind: journal.Person, Name: "bob"}
	solo      = Participant{ID: id(ident.Harness, 1), Kind: journal.Harness, Name: "solo"}
	soloAgent = Participant{ID: id(ident.Agent, 1), Kind: journal.Agent, Name: "tuner", HarnessID: solo.ID}
	bare      = Participant{ID: id(ident.Harness, 2), Kind: journal.Harness, Name: "bare"}
	pair      = Participant{ID: id(ident.Harness, 3), Kind: journal.Harness, Name: "pair"}
	pairA     = Participant{ID: id(ident.Agent, 2), Kind: journal.Agent, Name: "left", HarnessID: pair.ID}
	pairB     = Participant{ID: id(ident.Agent, 3), Kind: journal.Agent, Name: "right", HarnessID: pair.ID}
)

func id(p ident.Prefix, n int) string { return fmt.Sprintf("%s01ARZ3NDEKTSV4RRFFQ6%06d", p, n) }

func (w *world) enrol(list ...Participant) {
	w.t.Helper()
	for _, p := range list {
		c, err := p.write()
		if err == nil {
			_, err = w.mem.Commit(context.Background(), ledger.Commit{Workspace: workspace, Cells: []ledger.CellWrite{c}})
		}
		if err != nil {
			w.t.Fatalf("enrol %s: %v", p.Name, err)
		}
	}
}

// as is the principal of a participant, with every scope.
func as(p Participant) journal.Principal {
	return journal.Principal{Kind: p.Kind, ID: p.ID, HarnessID: p.HarnessID, Workspace: workspace,
		Scopes: []string{journal.ScopeWrite, journal.ScopeWork, journal.ScopeRoute, journal.ScopeApprove, journal.ScopeAdmin}}
}

// send appends an event and returns its wire form.
func (w *world) send(p journal.Principal, eventType string, members doc) (canon.Value, error) {
	w.keys++
	return w.resend(fmt.Sprintf("key-%d", w.keys), p, eventType, members)
}

func (w *world) resend(key string, p journal.Principal, eventType string, members doc) (canon.Value, error) {
	event := doc{"v": 1, "type": eventType}
	maps.Copy(event, members)
	raw, err := json.Marshal(event)
	if err != nil {
		return canon.Value{}, err
	}
	b, _, err := w.desk.Append(context.Background(), p, raw, key)
	if err != nil {
		return canon.Value{}, err
	}
	return canon.Parse(b)
}

// must is send that has to go well.
func (w *world) must(p journal.Principal, eventType string, members doc) canon.Value {
	w.t.Helper()
	v, err := w.send(p, eventType, members)
	if err != nil {
		w.t.Fatalf("%s %v: %v", eventType, members, detail(err))
	}
	return v
}

// fails is send that has to be refused with the code.
func (w *world) fails(code fault.Code, p journal.Principal, eventType string, members doc) *fault.Error {
	w.t.Helper()
	v, err := w.send(p, eventType, members)
	if fault.CodeOf(err) != code {
		w.t.Fatalf("%s %v: got %s, %v; want %s", eventType, members, v.Canonical(), detail(err), code)
	}
	e, _ := fault.As(err)
	return e
}

func detail(err error) any {
	if e, ok := fault.As(err); ok && len(e.Fields) > 0 {
		return e.Fields
	}
	return err
}

// server writes an event of the server's own.
func (w *world) server(runID string, p journal.Payload) (ledger.Event, error) {
	d, err := journal.Compose(journal.IDs{Workspace: workspace, Run: runID}, p)
	if err != nil {
		w.t.Fatalf("compose %s: %v", p.Type, detail(err))
	}
	return w.desk.Write(context.Background(), d)
}

func (w *world) run(id string) RunState {
	w.t.Helper()
	r, err := w.desk.Run(context.Background(), workspace, id)
	if err != nil {
		w.t.Fatalf("run %s: %v", id, err)
	}
	return r.RunState
}

func (w *world) lane(id string) LaneState {
	w.t.Helper()
	l, err := w.desk.Lane(context.Background(), workspace, id)
	if err != nil {
		w.t.Fatalf("lane %s: %v", id, err)
	}
	return l.LaneState
}

func (w *world) sweep() int {
	w.t.Helper()
	n, err := w.desk.Sweep(context.Background(), workspace)
	if err != nil {
		w.t.Fatalf("sweep: %v", err)
	}
	return n
}

// ask requests work and returns the run and lane.
func (w *world) ask(p journal.Principal, to string, more doc) (run, lane string) {
	w.t.Helper()
	members := doc{"goal": "make it fast", "specialist_id": to}
	maps.Copy(members, more)
	v := w.must(p, journal.RunRequested, members)
	return v.Str("run_id"), v.Str("lane_id")
}

// work requests work of a participant and has it accepted.
func (w *world) work(asker journal.Principal, to Participant, more doc) (run, lane string) {
	w.t.Helper()
	run, lane = w.ask(asker, to.ID, more)
	w.must(as(to), journal.RunAccepted, doc{"run_id": run, "attempt": 1})
	return run, lane
}

// types lists the types of all events from the n-th on.
func (w *world) types(from int) []string {
	var out []string
	for _, e := range w.mem.events[from:] {
		out = append(out, e.Type)
	}
	return out
}

// valid checks that every event of the log is what its schema says.
func (w *world) valid() {
	w.t.Helper()
	for i, e := range w.mem.events {
		v, err := canon.Parse(journal.Wire(e))
		if err == nil {
			err = journal.CheckWire(v)
		}
		if err != nil {
			w.t.Fatalf("event %d, %s: %v", i+1, e.Body, detail(err))
		}
		if e.Type == journal.RunRequested {
			if err := schema.Validate(schema.RunRequested, v); err != nil {
				w.t.Fatalf("event %d, %s: %v", i+1, e.Body, detail(err))
			}
		}
		if e.LaneID != v.Str("lane_id") || e.RunID != v.Str("run_id") || e.ID != v.Str("id") || e.Type != v.Str("type") {
			w.t.Fatalf("event %d has columns %q %q that its body does not have: %s", i+1, e.RunID, e.LaneID, e.Body)
		}
	}
}

func minutes(n int) time.Duration { return time.Duration(n) * time.Minute }
