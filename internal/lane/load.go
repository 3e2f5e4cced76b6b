package lane

import (
	"context"

	"writ/internal/fault"
	"writ/internal/journal"
	"writ/internal/ledger"
)

// Reader is what loading facts needs of a ledger.
type Reader interface {
	Cell(ctx context.Context, workspace, kind, key string) (ledger.Cell, error)
	Cells(ctx context.Context, workspace string, f ledger.CellFilter) ([]ledger.Cell, error)
	Event(ctx context.Context, workspace, id string) (ledger.Event, error)
}

// Run loads one run; fault.NotFound when there is none.
func (d *Desk) Run(ctx context.Context, workspace, id string) (RunCell, error) {
	c, err := d.Store.Cell(ctx, workspace, ledger.CellRun, id)
	if err != nil {
		return RunCell{}, missing(err, "run", id)
	}
	return ReadRun(c)
}

// Lane loads one lane; fault.NotFound when there is none.
func (d *Desk) Lane(ctx context.Context, workspace, id string) (LaneCell, error) {
	c, err := d.Store.Cell(ctx, workspace, ledger.CellLane, id)
	if err != nil {
		return LaneCell{}, missing(err, "lane", id)
	}
	return ReadLane(c)
}

func missing(err error, what, id string) error {
	if fault.CodeOf(err) != fault.NotFound {
		return err
	}
	return fault.New(fault.NotFound, "load "+what, "there is no %s %s", what, id)
}

// Facts loads everything that a decision about a run can need.
func (d *Desk) Facts(ctx context.Context, workspace, runID string) (RunFacts, error) {
	return d.facts(ctx, workspace, runID, true, true)
}

// facts loads a run with its lane and root; the stored request and the lanes
// below only where they are wanted.
func (d *Desk) facts(ctx context.Context, workspace, runID string, request, below bool) (RunFacts, error) {
	f := RunFacts{Workspace: workspace, NewID: d.NewID, Limits: d.Limits}
	var err error
	if f.Run, err = d.Run(ctx, workspace, runID); err != nil {
		return f, err
	}
	if f.Lane, err = d.Lane(ctx, workspace, f.Run.LaneID); err != nil {
		return f, err
	}
	f.Root = f.Run
	if f.Run.RootRunID != runID {
		if f.Root, err = d.Run(ctx, workspace, f.Run.RootRunID); err != nil {
			return f, err
		}
	}
	if request {
		e, err := d.Store.Event(ctx, workspace, f.Run.RequestEvent)
		if err != nil {
			return f, err
		}
		f.Requested = e.Body
	}
	if below {
		f.Below, err = d.below(ctx, workspace, f.Lane, f.Root)
	}
	return f, err
}

// below loads the open lanes under one lane. A tree with one open lane has none.
func (d *Desk) below(ctx context.Context, workspace string, l LaneCell, root RunCell) ([]Branch, error) {
	if root.Tree == nil || root.Tree.OpenLanes < 2 {
		return nil, nil
	}
	cells, err := d.Store.Cells(ctx, workspace, ledger.CellFilter{Kind: ledger.CellLane, State: Open})
	if err != nil {
		return nil, err
	}
	var out []Branch
	for _, c := range cells {
		b := Branch{}
		if b.Lane, err = ReadLane(c); err != nil {
			return nil, err
		}
		if !b.Lane.below(l.LaneID) {
			continue
		}
		if b.Runs, err = d.liveRuns(ctx, workspace, b.Lane); err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}

func (d *Desk) liveRuns(ctx context.Context, workspace string, l LaneCell) ([]RunCell, error) {
	out := make([]RunCell, len(l.Runs))
	for i, id := range l.Runs {
		var err error
		if out[i], err = d.Run(ctx, workspace, id); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (d *Desk) laneFacts(ctx context.Context, workspace, laneID string) (LaneFacts, error) {
	f := LaneFacts{Workspace: workspace, NewID: d.NewID, Limits: d.Limits}
	var err error
	if f.Lane, err = d.Lane(ctx, workspace, laneID); err != nil {
		return f, err
	}
	if f.Lane.ParentLaneID != "" {
		up, err := d.Lane(ctx, workspace, f.Lane.ParentLaneID)
		if err != nil {
			return f, err
		}
		f.Parent = &up
	}
	if f.Root, err = d.Run(ctx, workspace, f.Lane.RootRunID); err != nil {
		return f, err
	}
	if f.Runs, err = d.liveRuns(ctx, workspace, f.Lane); err != nil {
		return f, err
	}
	f.Below, err = d.below(ctx, workspace, f.Lane, f.Root)
	return f, err
}

// requestFacts loads what a request needs: the run it is made from, or the last
// one of the lane it names.
func (d *Desk) requestFacts(ctx context.Context, draft journal.Draft) (RequestFacts, error) {
	ws := draft.Workspace
	f := RequestFacts{Workspace: ws, NewID: d.NewID, Limits: d.Limits}
	if id := draft.Get("parent_run_id"); id != "" {
		if err := d.parent(ctx, &f, id); err != nil {
			return f, err
		}
	}
	if draft.LaneID != "" {
		l, err := d.Lane(ctx, ws, draft.LaneID)
		if err != nil {
			return f, err
		}
		last, err := d.facts(ctx, ws, l.LastRunID, true, false)
		if err != nil {
			return f, err
		}
		f.Again = &last
	}
	return f, d.people(ctx, &f)
}

func (d *Desk) parent(ctx context.Context, f *RequestFacts, runID string) error {
	p, err := d.facts(ctx, f.Workspace, runID, true, false)
	if err != nil {
		return err
	}
	f.Parent = &p
	for _, s := range p.Lane.Path {
		l := p.Lane
		if s.LaneID != l.LaneID {
			if l, err = d.Lane(ctx, f.Workspace, s.LaneID); err != nil {
				return err
			}
		}
		f.Path = append(f.Path, l)
	}
	return nil
}

func (d *Desk) people(ctx context.Context, f *RequestFacts) error {
	cells, err := d.Store.Cells(ctx, f.Workspace, ledger.CellFilter{Kind: ledger.CellParticipant})
	if err != nil {
		return err
	}
	f.Participants = make([]Participant, len(cells))
	for i, c := range cells {
		if f.Participants[i], err = ReadParticipant(c); err != nil {
			return err
		}
	}
	return nil
}

// Hop is one step on the way to a lane, in full: the trail of an event leaves
// out the middle of a long way.
type Hop struct {
	ParticipantID string `json:"participant_id"`
	RunID         string `json:"run_id,omitempty"`
	Goal          string `json:"goal"`
}

// Trail returns the whole way to a lane's newest run, from who started it.
func (d *Desk) Trail(ctx context.Context, workspace, laneID string) ([]Hop, error) {
	l, err := d.Lane(ctx, workspace, laneID)
	if err != nil {
		return nil, err
	}
	last, err := d.Run(ctx, workspace, l.LastRunID)
	if err != nil {
		return nil, err
	}
	var out []Hop
	from := ""
	for _, id := range append(last.Path, last.RunID) {
		r, err := d.Run(ctx, workspace, id)
		if err != nil {
			return nil, err
		}
		out = append(out, Hop{ParticipantID: r.RequestedBy, RunID: from, Goal: r.Goal})
		from = id
	}
	return out, nil
}
