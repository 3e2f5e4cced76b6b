package lane

import (
	"slices"
	"strconv"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/journal"
)

// RequestFacts is what a decision about a request needs to know.
type RequestFacts struct {
	Workspace    string
	Parent       *RunFacts     // the run that the request is made from, with its Requested body; nil for a new tree
	Again        *RunFacts     // last run of the lane that the draft names, with its Requested body; nil to open a lane
	Path         []LaneCell    // lanes from the root to the parent's, the parent's included
	Participants []Participant // of the workspace
	NewID        Minter
	Limits       Limits
}

// order is a request being decided.
type order struct {
	*work
	d           journal.Draft
	actor       string
	parent      *RunCell // nil for a new tree
	lane        *LaneCell
	to          target
	autonomy    int64
	behalf, by  string
	trail       []canon.Value
	cycles      int64
	goal, label string
}

// Request decides on a run.requested: a person's own, one made from a run that
// the asker works on, or another run in a lane that stayed open. It resolves
// whom the work is for, opens the lane or makes the work a step of a lane above,
// and writes what the client has no say in.
//
// Errors: fault.Forbidden, fault.NotFound, fault.Ambiguous with candidates,
// fault.Autonomy, fault.Cycle, fault.Budget, fault.State, fault.Held,
// fault.Fenced, fault.RunTerminal, fault.Event for a deadline that has passed.
func Request(f RequestFacts, d journal.Draft, now time.Time) (Decision, error) {
	o := &order{work: begin(f.Workspace, f.NewID, f.Limits, now), d: d, goal: d.Get("goal"), label: d.Get("label")}
	_, o.actor, _ = d.Actor()
	if at, ok := journal.ParseInstant(d.Get("deadline")); ok && !at.After(o.now) {
		return Decision{}, fault.New(fault.Event, "request run", "the deadline has passed").At("/deadline")
	}
	switch {
	case f.Again != nil && f.Parent != nil:
		return Decision{}, fault.New(fault.Event, "request run", "a request is made from a run or in a lane, not both").At("/lane_id")
	case f.Again != nil:
		return o.again(f)
	case f.Parent != nil:
		return o.child(f)
	}
	return o.start(f)
}

// start begins a new tree. Only people do that, and the server in their name.
func (o *order) start(f RequestFacts) (Decision, error) {
	switch {
	case o.d.By.IsServer():
		o.behalf = o.d.Get("on_behalf_of")
		if o.by = o.d.Get("requested_by"); o.by == "" {
			o.by = o.behalf
		}
		if o.behalf == "" {
			return Decision{}, fault.New(fault.Event, "request run", "the server asks in somebody's name").At("/on_behalf_of")
		}
	case o.d.By.Kind != journal.Person:
		return Decision{}, fault.New(fault.Forbidden, "request run", "a %s starts nothing of its own", o.d.By.Kind).At("/parent_run_id").
			Help("name the run that you work on as parent_run_id")
	default:
		o.behalf, o.by = o.actor, o.actor
	}
	if err := o.level(3, DefaultAutonomy); err != nil {
		return Decision{}, err
	}
	var err error
	if o.to, err = directory(f.Participants).route(o.d.Get("specialist_id"), o.d.Get("agent_id"), o.label, ""); err != nil {
		return Decision{}, err
	}
	o.trail = extend(nil, hop(o.by, "", o.goal))
	return o.openLane(nil)
}

// child asks from within a run.
func (o *order) child(f RequestFacts) (Decision, error) {
	const op = "request run"
	parent, parentLane := o.open(*f.Parent)
	switch {
	case parent.Status.Over():
		return Decision{}, over(parent)
	case !parent.Status.Held():
		return Decision{}, wrongState(parent, "ask from", "accept it first")
	case !o.d.By.IsServer() && !parent.heldBy(o.d.By):
		return Decision{}, held(parent)
	case parent.Cancel != nil:
		return Decision{}, fault.New(fault.State, op, "run %s was asked to stop", parent.RunID)
	}
	if a, ok := o.d.Value.Get("parent_attempt"); ok {
		if n, _ := a.Int(); n != parent.Attempt {
			return Decision{}, fenced(parent, journal.Draft{By: o.d.By, Attempt: n})
		}
	}
	if o.limits.FanOut <= parent.Children {
		return Decision{}, exhausted("fan_out", o.limits.FanOut)
	}
	o.parent, o.behalf, o.by, o.cycles = parent, parent.OnBehalfOf, o.actor, parent.Cycles
	if o.d.By.IsServer() {
		o.by = parent.SpecialistID
	}
	top := min(parent.Autonomy, parentLane.Autonomy)
	if err := o.level(top, top); err != nil {
		return Decision{}, err
	}
	var err error
	if o.to, err = directory(f.Participants).route(o.d.Get("specialist_id"), o.d.Get("agent_id"), o.label, parent.Holder.HarnessID); err != nil {
		return Decision{}, err
	}
	asked, err := canon.Parse(f.Parent.Requested)
	if err != nil {
		return Decision{}, fault.Wrap(err, fault.Corrupt, op, "the request of run %s is damaged", parent.RunID)
	}
	o.trail = extend(trailOf(asked), hop(o.by, parent.RunID, o.goal))
	return o.place(f, parentLane)
}

// place finds the lane for a child: a new one, or one above that takes the work
// as a step because the way down is too long or would go in a circle.
func (o *order) place(f RequestFacts, parentLane *LaneCell) (Decision, error) {
	wanted := parentLane.Depth + 1
	if i := o.circle(parentLane.Path); i >= 0 {
		if o.cycles > 0 {
			return Decision{}, fault.New(fault.Cycle, "request run", "%s works on this already, and was sent in a circle before", o.to.harness).
				With("lane_id", parentLane.Path[i].LaneID).Help("do the work in the run at hand, or end it")
		}
		o.cycles++
		return o.flatten(f, parentLane, parentLane.Path[i].LaneID, wanted, "cycle")
	}
	if wanted > o.limits.Depth {
		return o.flatten(f, parentLane, parentLane.LaneID, wanted, "depth")
	}
	return o.openLane(parentLane)
}

// circle returns the last station at which the target works already, or -1. A
// child made for a subtask is nobody who worked before.
func (o *order) circle(path []Station) int {
	for i, s := range slices.Backward(path) {
		if !o.to.fresh && s.SpecialistID == o.to.harness && (o.to.agent == "" || s.AgentID == o.to.agent) {
			return i
		}
	}
	return -1
}

// flatten makes the work a step of a lane above. That lane's own specialist
// takes it; whom the asker had in mind becomes the label.
func (o *order) flatten(f RequestFacts, parentLane *LaneCell, into string, wanted int64, cause string) (Decision, error) {
	o.lane = parentLane
	if into != parentLane.LaneID {
		i := slices.IndexFunc(f.Path, func(l LaneCell) bool { return l.LaneID == into })
		if i < 0 {
			return Decision{}, fault.New(fault.Internal, "request run", "facts of lane %s are missing", into)
		}
		l := f.Path[i]
		l.LaneState = l.clone()
		o.lane = &l
	}
	if o.lane.Status != Open {
		return Decision{}, fault.New(fault.State, "request run", "lane %s above is closed", into)
	}
	if o.label == "" {
		o.label = journal.Clip(o.d.Get("specialist_id"), 120)
	}
	o.to = target{harness: o.lane.SpecialistID, agent: o.lane.AgentID}
	r, err := o.newRun()
	if err != nil {
		return Decision{}, err
	}
	r.Flattened = true
	p := journal.Payload{Type: journal.LaneFlattened, Members: []canon.Member{
		textOf("into_lane_id", into), {Name: "wanted_depth", Value: canon.IntOf(wanted)}, textOf("cause", cause),
	}}
	if _, err := o.sayOf(p, journal.IDs{Space: o.lane.SpaceID, Run: r.RunID, Lane: into}); err != nil {
		return Decision{}, err
	}
	return o.finish(r)
}

// again asks for another run in a lane whose last one has ended.
func (o *order) again(f RequestFacts) (Decision, error) {
	const op = "request run"
	last, l := o.open(*f.Again)
	o.lane = l
	switch {
	case l.Status != Open:
		return Decision{}, fault.New(fault.State, op, "lane %s is closed", l.LaneID).At("/lane_id").Help("leave out lane_id to open another lane")
	case len(l.Runs) > 0:
		return Decision{}, fault.New(fault.Held, op, "lane %s has run %s", l.LaneID, l.Runs[0]).At("/lane_id").With("run_id", l.Runs[0])
	case o.d.By.Works() && o.actor != l.RequestedBy:
		return Decision{}, fault.New(fault.Forbidden, op, "lane %s was opened by %s", l.LaneID, l.RequestedBy).At("/lane_id")
	}
	if err := o.level(l.Autonomy, min(l.Autonomy, last.Autonomy)); err != nil {
		return Decision{}, err
	}
	before, err := canon.Parse(f.Again.Requested)
	if err != nil {
		return Decision{}, fault.Wrap(err, fault.Corrupt, op, "the request of run %s is damaged", last.RunID)
	}
	o.behalf, o.by, o.cycles = last.OnBehalfOf, o.actor, last.Cycles
	if o.d.By.IsServer() {
		o.by = last.RequestedBy
	}
	o.trail = trailOf(before)
	if o.by != last.RequestedBy {
		o.trail = extend(o.trail, hop(o.by, "", o.goal))
	}
	o.to = target{harness: l.SpecialistID, agent: l.AgentID}
	r, err := o.newRun()
	if err != nil {
		return Decision{}, err
	}
	r.ParentRunID, r.Path = last.ParentRunID, last.Path
	return o.finish(r)
}

// level settles the autonomy: at most top, rest when the draft names none.
func (o *order) level(top, rest int64) error {
	o.autonomy = rest
	v, ok := o.d.Value.Get("autonomy")
	if !ok {
		return nil
	}
	n, _ := v.Int()
	if n > top {
		return fault.New(fault.Autonomy, "request run", "level %d is asked for, %d is the most", n, top).At("/autonomy").
			With("most", strconv.FormatInt(top, 10)).Help("a person with the scope %s can raise the level of the lane above", journal.ScopeAdmin)
	}
	o.autonomy = n
	return nil
}

func exhausted(what string, limit int64) error {
	return fault.New(fault.Budget, "request run", "the limit of %d is reached for %s", limit, what).With("budget", what).
		Help("end what is open, or start a new request as a person")
}
