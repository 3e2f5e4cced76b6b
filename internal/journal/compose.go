package journal

import (
	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ledger"
)

// IDs are the envelope's ids. Event and Workspace are needed, the others may be
// "".
type IDs struct {
	Event, Workspace, Space, Run, Lane string
}

// Payload is what an event says beyond its envelope.
type Payload struct {
	Type    string
	Members []canon.Member
}

// With returns the payload with one more member; empty text adds nothing.
func (p Payload) With(name, value string) Payload {
	if value != "" {
		p.Members = append(p.Members[:len(p.Members):len(p.Members)], canon.Member{Name: name, Value: canon.StringOf(value)})
	}
	return p
}

// Compose makes a draft of the server's own. Run, lane, attempt and whatever
// else the decision fills in may be missing; nothing else may.
func Compose(ids IDs, p Payload) (Draft, error) {
	const op = "compose event"
	t, ok := catalogue[p.Type]
	if !ok {
		return Draft{}, fault.New(fault.Event, op, "unknown event type %q", clip(p.Type, 60)).At("/type")
	}
	head := []canon.Member{
		{Name: "v", Value: canon.IntOf(Version)},
		{Name: "type", Value: canon.StringOf(p.Type)},
	}
	head = appendText(head, "id", ids.Event)
	head = appendText(head, "workspace_id", ids.Workspace)
	head = appendText(head, "space_id", ids.Space)
	head = appendText(head, "run_id", ids.Run)
	head = appendText(head, "lane_id", ids.Lane)
	for _, m := range p.Members {
		if !holds(head, m.Name) {
			head = append(head, m)
		}
	}
	v, err := canon.ObjectOf(head...)
	if err != nil {
		return Draft{}, err
	}
	d := Draft{By: ServerOf(ids.Workspace), Value: v}
	c := checker{form: composed}
	c.object(v, t.body)
	if t.rule != nil {
		t.rule(&c, v)
	}
	if err := c.err(op); err != nil {
		return Draft{}, err
	}
	d.fill()
	d.Value = normalise(v)
	return d, nil
}

// System makes an event of the server's own in its stored form, for what needs
// no decision of package lane.
func System(ids IDs, p Payload) (ledger.NewEvent, error) {
	d, err := Compose(ids, p)
	if err != nil {
		return ledger.NewEvent{}, err
	}
	e := d.Stored(Fill{})
	v, err := canon.Parse(e.Body)
	if err != nil {
		return ledger.NewEvent{}, err
	}
	if err := check(v, kept, "compose event"); err != nil {
		return ledger.NewEvent{}, err
	}
	return e, nil
}

// Accepted is the event that says that a document of the chain was taken in.
// It goes into the commit that stores the document.
func Accepted(ids IDs, doc ledger.NewDocument) ledger.NewEvent {
	d := Draft{Type: DocumentAccepted, ID: ids.Event, Workspace: ids.Workspace, SpaceID: ids.Space, RunID: ids.Run, LaneID: ids.Lane, By: ServerOf(ids.Workspace)}
	return d.Stored(Fill{Set: []canon.Member{
		{Name: "kind", Value: canon.StringOf(doc.Kind)},
		{Name: "ref", Value: canon.StringOf(doc.Ref)},
		{Name: "sha256", Value: canon.StringOf(canon.Sum(doc.Body).Hex())},
	}})
}
