package lane

import (
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/journal"
)

// HandOff decides on a run.handed_off: the run completes, and another one for
// somebody else takes its place in the lane. f.Parent is the run that is handed
// off, with its Requested body.
func HandOff(f RequestFacts, d journal.Draft, now time.Time) (Decision, error) {
	const op = "hand off run"
	w := begin(f.Workspace, f.NewID, f.Limits, now)
	old, l := w.open(*f.Parent)
	if old.Status.Over() {
		return Decision{}, over(old)
	}
	if err := holds(old, d); err != nil {
		return Decision{}, err
	}
	if old.Cancel != nil {
		return Decision{}, fault.New(fault.State, op, "run %s was asked to stop", old.RunID)
	}
	before, err := canon.Parse(f.Parent.Requested)
	if err != nil {
		return Decision{}, fault.Wrap(err, fault.Corrupt, op, "the request of run %s is damaged", old.RunID)
	}
	o := &order{work: w, lane: l, autonomy: min(old.Autonomy, l.Autonomy), behalf: old.OnBehalfOf, cycles: old.Cycles, goal: old.Goal}
	_, o.actor, _ = d.Actor()
	o.by = o.actor
	if d.By.IsServer() {
		o.by = old.SpecialistID
	}
	if g := d.Get("goal"); g != "" {
		o.goal = g
	}
	given := d.Get("to_agent_id") + d.Get("to_specialist_id") // exactly one is there
	if o.to, err = directory(f.Participants).route(given, "", "", ""); err != nil {
		return Decision{}, err
	}
	o.d = next(d, before.Without("specialist_name", "label", "agent_id"))
	o.d.Value = o.d.Value.With("goal", canon.StringOf(o.goal)).With("specialist_id", canon.StringOf(given))
	if err := o.mint(l); err != nil {
		return Decision{}, err
	}
	l.SpecialistID, l.AgentID = o.to.harness, o.to.agent
	l.Path[len(l.Path)-1] = Station{l.LaneID, l.SpecialistID, l.AgentID}
	r, err := o.newRun()
	if err != nil {
		return Decision{}, err
	}
	r.ParentRunID, r.Path, r.Deadline = old.ParentRunID, old.Path, old.Deadline
	o.trail = extend(trailOf(before), hop(o.by, old.RunID, o.goal))

	primary := len(w.events)
	w.put(d, old, textOf("new_run_id", r.RunID))
	done := journal.Completion{Summary: "handed off to " + o.to.agent}.Payload().With("handed_off_to", r.RunID)
	id, err := w.say(done, old)
	if err != nil {
		return Decision{}, err
	}
	l.Runs = append(l.Runs, r.RunID) // so that the lane stays open
	if err := w.end(old, l, Completed, id, journal.RunCompleted, false); err != nil {
		return Decision{}, err
	}
	l.Runs = without(l.Runs, r.RunID)
	out, err := o.finish(r)
	out.Primary, out.Run = primary, old.RunState
	return out, err
}

// next is a request that repeats a stored one in the name of whoever d is from.
func next(d journal.Draft, before canon.Value) journal.Draft {
	return journal.Draft{
		Type: journal.RunRequested, Workspace: d.Workspace, By: d.By, Agent: d.Agent,
		Value: before.Without("v", "type", "id", "workspace_id", "actor", "run_id", "lane_id", "space_id", "idempotency_key", "attempt", "parent_attempt"),
	}
}
