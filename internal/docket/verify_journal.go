package docket

import (
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

// journal checks that every event is a link of the chain: its hash is that of
// its place, time and bytes, links that follow each other fit, and each body is
// a valid event of this workspace.
func (v *verifier) journal() error {
	var before *Event
	for i := range v.b.Events {
		e := v.b.Events[i]
		body, err := canon.Parse([]byte(e.Body))
		if err != nil {
			return wrong("event", seqName(e), "its bytes are damaged: %v", err)
		}
		id := body.Str("id")
		prev, err := canon.ParseHex(e.Prev)
		if err != nil {
			return at("event", id, err)
		}
		if got := ledger.Chain(prev, e.Seq, e.time(), []byte(e.Body)).Hex(); got != e.Hash {
			return wrong("event", id, "its hash is %s, the docket says %s", got, e.Hash)
		}
		if before != nil {
			if e.Seq <= before.Seq || e.TS < before.TS {
				return wrong("event", id, "it stands out of order")
			}
			if e.Seq == before.Seq+1 && e.Prev != before.Hash {
				return wrong("event", id, "it does not follow the event before it")
			}
		}
		if body.Str("workspace_id") != v.b.Workspace {
			return wrong("event", id, "it is of workspace %s", body.Str("workspace_id"))
		}
		if err := checkWire(e, body); err != nil {
			return at("event", id, err)
		}
		v.events = append(v.events, event{e, body.Str("type"), id, body})
		before = &v.b.Events[i]
	}
	if len(v.events) == 0 {
		return wrong("event", v.b.Run, "the docket has no events")
	}
	v.say("every event is a link of the journal's chain")
	return nil
}

func seqName(e Event) string { return "seq " + itoa(e.Seq) }

// checkWire holds the event against the published schema of its type.
func checkWire(e Event, body canon.Value) error {
	wire, err := canon.Parse(journal.Wire(ledger.Event{Seq: e.Seq, TS: e.time(), Body: []byte(e.Body)}))
	if err != nil {
		return err
	}
	if body.Str("type") == journal.RunRequested {
		return schema.Validate(schema.RunRequested, wire)
	}
	return journal.CheckWire(wire)
}

// documents checks that every document has the bytes of its digest, that the
// journal says when it was accepted, under that kind, ref and digest, and that
// the journal knows none of this run that the docket leaves out.
func (v *verifier) documents() error {
	v.byRef, v.bySum, v.blobs = map[string]Document{}, map[string]Document{}, map[string][]byte{}
	for _, d := range v.b.Documents {
		if got := canon.Sum([]byte(d.Body)).Hex(); got != d.SHA256 {
			return wrong(d.Kind, d.Ref, "its bytes have the digest %s, the docket says %s", got, d.SHA256)
		}
		if _, twice := v.byRef[d.Ref]; twice {
			return wrong(d.Kind, d.Ref, "it is in the docket twice")
		}
		v.docs = append(v.docs, d)
		v.byRef[d.Ref], v.bySum[d.SHA256] = d, d
	}
	accepted := map[string]bool{}
	for _, e := range v.events {
		if e.Type != journal.DocumentAccepted {
			continue
		}
		kind, ref, sum := e.body.Str("kind"), e.body.Str("ref"), e.body.Str("sha256")
		d, ok := v.byRef[ref]
		switch {
		case !ok:
			return wrong(kind, ref, "the journal accepted it (event %s), the docket leaves it out", e.ID)
		case d.Kind != kind || d.SHA256 != sum:
			return wrong(kind, ref, "the journal accepted %s with digest %s, the docket has %s with %s", kind, sum, d.Kind, d.SHA256)
		}
		accepted[ref] = true
	}
	for _, d := range v.docs {
		if !accepted[d.Ref] {
			return wrong(d.Kind, d.Ref, "the journal of this docket never accepted it")
		}
	}
	for _, b := range v.b.Blobs {
		if got := canon.Sum(b.Body).Hex(); got != b.SHA256 {
			return wrong("blob", b.SHA256, "its bytes have the digest %s", got)
		}
		v.blobs[b.SHA256] = b.Body
	}
	var err error
	if v.objects, err = readObjects(v.b.Git); err != nil {
		return at("git object", "", err)
	}
	v.say("every document, blob and git object has the bytes of its digest, and the journal accepted each document")
	return nil
}

// ask checks that the docket begins with the request of this run.
func (v *verifier) ask() error {
	for _, e := range v.events {
		if e.Type != journal.RunRequested {
			continue
		}
		if e.body.Str("run_id") != v.b.Run || e.body.Str("lane_id") != v.b.Lane {
			return wrong("event", e.ID, "it asks for run %s in lane %s", e.body.Str("run_id"), e.body.Str("lane_id"))
		}
		v.say("asked by " + e.body.Str("requested_by") + " on behalf of " + e.body.Str("on_behalf_of") + ": " + e.body.Str("goal"))
		return nil
	}
	return v.missing()
}

// find returns the event of a type, if the docket has one.
func (v *verifier) find(kind string) (event, bool) {
	for _, e := range v.events {
		if e.Type == kind {
			return e, true
		}
	}
	return event{}, false
}

// accepted returns the event that accepted a document.
func (v *verifier) accepted(ref string) (event, bool) {
	for _, e := range v.events {
		if e.Type == journal.DocumentAccepted && e.body.Str("ref") == ref {
			return e, true
		}
	}
	return event{}, false
}
