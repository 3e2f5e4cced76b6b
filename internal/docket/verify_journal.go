package docket

import (
	"bytes"

	"writ/internal/canon"
	"writ/internal/journal"
	"writ/internal/ledger"
	"writ/internal/schema"
)

// event is a journal event with its parsed body.
type event struct {
	Event
	Type, ID string
	body     canon.Value
}

// chain checks that every event is a link of the journal's chain: its hash is
// that of its place, time and bytes, and links that follow each other fit.
func (v *verifier) chain() error {
	if len(v.b.Events) == 0 {
		return wrong("event", v.b.Run, "the docket has no events")
	}
	for i, e := range v.b.Events {
		prev, err := canon.ParseHex(e.Prev)
		if err != nil {
			return at("event", seqName(e), err)
		}
		if got := ledger.Chain(prev, e.Seq, e.time(), []byte(e.Body)).Hex(); got != e.Hash {
			return wrong("event", seqName(e), "its hash is %s, the docket says %s", got, e.Hash)
		}
		if i == 0 {
			continue
		}
		before := v.b.Events[i-1]
		if e.Seq <= before.Seq || e.TS < before.TS {
			return wrong("event", seqName(e), "it stands out of order")
		}
		if e.Seq == before.Seq+1 && e.Prev != before.Hash {
			return wrong("event", seqName(e), "it does not follow the event before it")
		}
	}
	return nil
}

// journal checks that the body of each event is a valid one of this workspace,
// about this run or said in its lane.
func (v *verifier) journal() error {
	seen := map[string]bool{}
	for _, e := range v.b.Events {
		body, err := canon.Parse([]byte(e.Body))
		if err != nil {
			return wrong("event", seqName(e), "its bytes are damaged: %v", err)
		}
		id := body.Str("id")
		if seen[id] {
			return wrong("event", id, "it is in the docket twice")
		}
		seen[id] = true
		if err := v.own(body); err != nil {
			return at("event", id, err)
		}
		if err := checkWire(e, body); err != nil {
			return at("event", id, err)
		}
		v.events = append(v.events, event{e, body.Str("type"), id, body})
	}
	v.say("every event is about this run, or was said in its lane")
	return nil
}

func seqName(e Event) string { return "seq " + itoa(e.Seq) }

// own checks that an event is of this workspace, and of this run or its lane.
func (v *verifier) own(body canon.Value) error {
	if got := body.Str("workspace_id"); got != v.b.Workspace {
		return wrong("event", body.Str("id"), "it is of workspace %s", got)
	}
	switch run := body.Str("run_id"); {
	case run == v.b.Run:
	case run != "":
		return wrong("event", body.Str("id"), "it is of run %s", run)
	case body.Str("lane_id") != v.b.Lane || v.b.Lane == "":
		return wrong("event", body.Str("id"), "it is of lane %s", body.Str("lane_id"))
	}
	return nil
}

// checkWire holds the event against the published schema of its type.
func checkWire(e Event, body canon.Value) error {
	if !bytes.Equal(body.Canonical(), []byte(e.Body)) {
		return wrong("event", body.Str("id"), "it is not in its stored form")
	}
	wire, err := canon.Parse(journal.Wire(ledger.Event{Seq: e.Seq, TS: e.time(), Body: []byte(e.Body)}))
	if err != nil {
		return err
	}
	if !journal.Known(body.Str("type")) {
		return wrong("event", body.Str("id"), "nothing is known about events of type %q", body.Str("type"))
	}
	if body.Str("type") == journal.RunRequested {
		return schema.Validate(schema.RunRequested, wire)
	}
	return journal.CheckWire(wire)
}

// ask checks that the docket begins with the request of this run. It may be
// offered again, under a further attempt and otherwise unchanged.
func (v *verifier) ask() error {
	var first *event
	for i, e := range v.events {
		if e.Type != journal.RunRequested {
			continue
		}
		if e.body.Str("run_id") != v.b.Run || e.body.Str("lane_id") != v.b.Lane {
			return wrong("event", e.ID, "it asks for run %s in lane %s", e.body.Str("run_id"), e.body.Str("lane_id"))
		}
		if first == nil {
			first = &v.events[i]
			continue
		}
		for _, member := range []string{"goal", "requested_by", "on_behalf_of", "specialist_id", "space_id"} {
			if got, want := e.body.Str(member), first.body.Str(member); got != want {
				return wrong("event", e.ID, "it is offered again with %s %q, before with %q", member, got, want)
			}
		}
	}
	if first == nil {
		return v.missing()
	}
	v.space = first.body.Str("space_id")
	v.say("asked by " + first.body.Str("requested_by") + " on behalf of " + first.body.Str("on_behalf_of") + ": " + first.body.Str("goal"))
	return nil
}
