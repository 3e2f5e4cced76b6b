package lane

import (
	"slices"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ident"
	"writ/internal/journal"
	"writ/internal/ledger"
)

// openLane opens a lane below parentLane, or a root lane.
func (o *order) openLane(parentLane *LaneCell) (Decision, error) {
	if o.parent != nil && o.root.Tree != nil && o.root.Tree.OpenLanes >= o.limits.OpenLanes {
		return Decision{}, exhausted("open_lanes", o.limits.OpenLanes)
	}
	l := &LaneCell{LaneState: LaneState{
		LaneID: o.newID(ident.Lane), SpaceID: o.d.SpaceID, Depth: 1, Label: o.label,
		RequestedBy: o.by, OnBehalfOf: o.behalf, Autonomy: o.autonomy, LinkTo: links(o.d), Status: Open, OpenedAt: o.now,
	}}
	if parentLane != nil {
		o.touchLane(parentLane) // unchanged, but what is decided here must not miss its closing
		l.ParentLaneID, l.Depth, l.Path = parentLane.LaneID, parentLane.Depth+1, slices.Clone(parentLane.Path)
	}
	o.lane = l
	if err := o.mint(l); err != nil {
		return Decision{}, err
	}
	l.SpecialistID, l.AgentID = o.to.harness, o.to.agent
	l.Path = append(l.Path, Station{l.LaneID, l.SpecialistID, l.AgentID})
	r, err := o.newRun()
	if err != nil {
		return Decision{}, err
	}
	l.RootRunID = r.RootRunID
	o.root.Tree.OpenLanes++
	o.touch(o.root)
	p := journal.Payload{Type: journal.LaneOpened, Members: []canon.Member{
		{Name: "depth", Value: canon.IntOf(l.Depth)}, textOf("specialist_id", l.SpecialistID),
		textOf("requested_by", l.RequestedBy), {Name: "autonomy", Value: canon.IntOf(l.Autonomy)},
	}}.With("parent_lane_id", l.ParentLaneID).With("agent_id", l.AgentID)
	if len(l.LinkTo) > 0 {
		p.Members = append(p.Members, canon.Member{Name: "link_to", Value: canon.MustFrom(l.LinkTo)})
	}
	if _, err := o.sayOf(p, journal.IDs{Space: l.SpaceID, Run: r.RunID, Lane: l.LaneID}); err != nil {
		return Decision{}, err
	}
	return o.finish(r)
}

func links(d journal.Draft) []string {
	v, _ := d.Value.Get("link_to")
	var out []string
	for _, x := range v.Elems() {
		s, _ := x.String()
		out = append(out, s)
	}
	return out
}

// mint makes the agent that the lane is worked by, when the target has none.
func (o *order) mint(l *LaneCell) error {
	if o.to.agent != "" {
		return nil
	}
	o.to.agent = o.newID(ident.Agent)
	a := Participant{ID: o.to.agent, Kind: journal.Agent, Name: o.to.name, HarnessID: o.to.harness, Ephemeral: true, ForLane: l.LaneID}
	cell, err := a.write()
	if err != nil {
		return err
	}
	o.cells = append(o.cells, cell)
	l.Minted = append(l.Minted, a.ID)
	_, err = o.sayOf(journal.Payload{Type: journal.AgentMinted, Members: []canon.Member{
		textOf("agent_id", a.ID), textOf("harness_id", a.HarnessID), {Name: "ephemeral", Value: canon.BoolOf(true)},
		textOf("for_lane", l.LaneID), textOf("name", a.Name),
	}}, journal.IDs{Space: l.SpaceID, Lane: l.LaneID})
	return err
}

// newRun makes the run and counts it.
func (o *order) newRun() (*RunCell, error) {
	r := &RunCell{RunState: RunState{
		RunID: o.newID(ident.Run), LaneID: o.lane.LaneID, SpaceID: o.lane.SpaceID,
		RequestEvent: o.eventID(o.d.ID), Goal: o.goal, RequestedBy: o.by, OnBehalfOf: o.behalf,
		SpecialistID: o.to.harness, AgentID: o.to.agent, Autonomy: o.autonomy, Status: Requested, Attempt: 1, Cycles: o.cycles,
		RequestedAt: o.now, OfferedAt: o.now, LastAt: o.now,
	}}
	if at, ok := journal.ParseInstant(o.d.Get("deadline")); ok {
		r.Deadline = at
	}
	if o.root == nil {
		r.RootRunID, r.Tree = r.RunID, &Tree{}
		o.root = r
	} else {
		r.RootRunID = o.root.RunID
	}
	if o.parent != nil {
		r.ParentRunID = o.parent.RunID
		r.Path = append(slices.Clone(o.parent.Path), o.parent.RunID)
		o.parent.Children++
		o.touch(o.parent)
	}
	if o.root.Tree == nil {
		return nil, fault.New(fault.Corrupt, "request run", "run %s is no root", o.root.RunID)
	}
	if o.root.Tree.Runs >= o.limits.Runs {
		return nil, exhausted("runs", o.limits.Runs)
	}
	o.root.Tree.Runs++
	o.touch(o.root)
	return r, nil
}

// finish writes the request itself, and the links after it.
func (o *order) finish(r *RunCell) (Decision, error) {
	o.touch(r)
	o.lane.Runs = append(o.lane.Runs, r.RunID)
	o.lane.LastRunID = r.RunID
	o.touchLane(o.lane)
	primary := len(o.events)
	o.events = append(o.events, o.requested(r))
	if o.lane.Version == 0 {
		for _, s := range o.lane.LinkTo {
			if _, err := o.sayOf(journal.Payload{Type: journal.SpaceLinked}, journal.IDs{Space: s, Run: r.RunID, Lane: r.LaneID}); err != nil {
				return Decision{}, err
			}
		}
	}
	return o.decide(primary, r)
}

// requested is the stored form of the request.
func (o *order) requested(r *RunCell) ledger.NewEvent {
	if o.d.SpaceID != r.SpaceID { // the room is the lane's
		o.d.SpaceID, o.d.Value = "", o.d.Value.Without("space_id")
	}
	set := []canon.Member{
		attempt(r), textOf("specialist_id", r.SpecialistID), textOf("on_behalf_of", r.OnBehalfOf), textOf("requested_by", r.RequestedBy),
		{Name: "trail", Value: canon.ArrayOf(o.trail...)}, {Name: "autonomy", Value: canon.IntOf(r.Autonomy)},
	}
	if r.AgentID != "" {
		set = append(set, textOf("agent_id", r.AgentID))
	}
	if r.ParentRunID != "" {
		set = append(set, textOf("parent_run_id", r.ParentRunID))
	}
	if o.label != "" {
		set = append(set, textOf("label", o.label))
	}
	if given := o.d.Get("specialist_id"); given != "" && given != r.SpecialistID {
		set = append(set, textOf("specialist_name", given)) // as the asker put it; renames do not rewrite it
	}
	return o.d.Stored(journal.Fill{ID: r.RequestEvent, SpaceID: r.SpaceID, RunID: r.RunID, LaneID: r.LaneID, Set: set})
}
