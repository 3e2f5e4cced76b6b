package server

import (
	"context"

	"writ/internal/lane"
	"writ/internal/ledger"
)

// RunView is a run as people and programs look at it.
type RunView struct {
	RunID       string   `json:"run_id"`
	LaneID      string   `json:"lane_id"`
	SpaceID     string   `json:"space_id,omitempty"`
	Status      string   `json:"status" doc:"requested, accepted, running, waiting, or how it ended"`
	Attempt     int64    `json:"attempt"`
	Goal        string   `json:"goal"`
	RequestedBy string   `json:"requested_by"`
	OnBehalfOf  string   `json:"on_behalf_of"`
	Step        string   `json:"step,omitempty"`
	Waiting     []Why    `json:"waiting_for" doc:"what it waits for, since when, and what would release it"`
	Position    rawJSON  `json:"position" doc:"where the host stands with it; null before a decision"`
	Ended       rawJSON  `json:"ended" doc:"the event that ended it; null while it goes on"`
	Documents   []DocRef `json:"documents"`
}

// Why says why something waits.
type Why struct {
	What    string `json:"what"`
	Since   string `json:"since"`
	Release string `json:"release" doc:"what would release it"`
	Ref     string `json:"ref,omitempty"`
}

type runList struct {
	Runs []RunView `json:"runs"`
}

func (s *Server) listRuns(ctx context.Context, in *struct {
	State string `query:"state" doc:"only runs of this status"`
}) (*answer[runList], error) {
	p, err := who(ctx, ScopeRead)
	if err != nil {
		return nil, newProblem(err)
	}
	cells, err := s.Store.Cells(ctx, p.Workspace, ledger.CellFilter{Kind: ledger.CellRun, State: in.State})
	if err != nil {
		return nil, newProblem(err)
	}
	out := runList{Runs: make([]RunView, 0, len(cells))}
	for _, c := range cells {
		r, err := lane.ReadRun(c)
		if err != nil {
			return nil, newProblem(err)
		}
		out.Runs = append(out.Runs, viewRun(r))
	}
	return &answer[runList]{out}, nil
}

func (s *Server) getRun(ctx context.Context, in *struct {
	Run string `path:"run"`
}) (*answer[RunView], error) {
	p, err := who(ctx, ScopeRead)
	if err != nil {
		return nil, newProblem(err)
	}
	cell, err := s.Store.Cell(ctx, p.Workspace, ledger.CellRun, in.Run)
	if err != nil {
		return nil, newProblem(err)
	}
	r, err := lane.ReadRun(cell)
	if err != nil {
		return nil, newProblem(err)
	}
	v := viewRun(r)
	if err := s.complete(ctx, p.Workspace, r, &v); err != nil {
		return nil, newProblem(err)
	}
	return &answer[RunView]{v}, nil
}

// Lease is how long a run is held without a further sign of life.
type Lease struct {
	Attempt    int64  `json:"attempt"`
	LeaseUntil string `json:"lease_until,omitempty"`
}

// renewRun is the sign of life of a harness: it writes nothing to the journal.
func (s *Server) renewRun(ctx context.Context, in *struct {
	Run  string `path:"run"`
	Body struct {
		Attempt int64 `json:"attempt" minimum:"1"`
	}
}) (*answer[Lease], error) {
	p, err := who(ctx, ScopeWork)
	if err != nil {
		return nil, newProblem(err)
	}
	r, err := s.Desk.Renew(ctx, p, in.Run, in.Body.Attempt)
	if err != nil {
		return nil, newProblem(err)
	}
	out := Lease{Attempt: r.Attempt}
	if !r.LeaseUntil.IsZero() {
		out.LeaseUntil = r.LeaseUntil.UTC().Format(stamp)
	}
	return &answer[Lease]{out}, nil
}

// complete adds what takes further reads.
func (s *Server) complete(ctx context.Context, workspace string, r lane.RunCell, v *RunView) error {
	docs, err := s.Store.Documents(ctx, workspace, ledger.DocumentFilter{RunID: r.RunID})
	if err != nil {
		return err
	}
	v.Documents = docRefs(docs)
	if task, err := s.Store.Cell(ctx, workspace, ledger.CellTask, r.RunID); err == nil {
		v.Position = task.Value
	}
	if r.End != nil {
		e, err := s.Store.Event(ctx, workspace, r.End.EventID)
		if err != nil {
			return err
		}
		v.Ended = e.Body
	}
	return nil
}

func viewRun(r lane.RunCell) RunView {
	v := RunView{
		RunID: r.RunID, LaneID: r.LaneID, SpaceID: r.SpaceID, Status: string(r.Status), Attempt: r.Attempt, Goal: r.Goal,
		RequestedBy: r.RequestedBy, OnBehalfOf: r.OnBehalfOf, Step: r.Step,
		Waiting: []Why{}, Position: rawJSON("null"), Ended: rawJSON("null"), Documents: []DocRef{},
	}
	if r.Status == lane.Requested {
		v.Waiting = append(v.Waiting, Why{What: "the harness " + r.SpecialistID, Since: r.OfferedAt.UTC().Format(stamp), Release: "the harness accepts the run"})
	}
	for _, p := range r.Pending {
		release := "somebody gives the input"
		if p.Kind == lane.Approval {
			release = "an operator answers: writ approve " + p.Ref
		}
		v.Waiting = append(v.Waiting, Why{What: p.Text, Since: p.Since.UTC().Format(stamp), Release: release, Ref: p.Ref})
	}
	return v
}

type laneList struct {
	Lanes []rawJSON `json:"lanes"`
}

func (s *Server) listLanes(ctx context.Context, in *struct {
	State string `query:"state" enum:"open,closed"`
}) (*answer[laneList], error) {
	p, err := who(ctx, ScopeRead)
	if err != nil {
		return nil, newProblem(err)
	}
	cells, err := s.Store.Cells(ctx, p.Workspace, ledger.CellFilter{Kind: ledger.CellLane, State: in.State})
	if err != nil {
		return nil, newProblem(err)
	}
	return &answer[laneList]{laneList{rawCells(cells)}}, nil
}

// LaneView is a lane with the way that led to it.
type LaneView struct {
	Lane  rawJSON    `json:"lane"`
	Trail []lane.Hop `json:"trail" doc:"every hop from whoever started it, in order"`
}

func (s *Server) getLane(ctx context.Context, in *struct {
	Lane string `path:"lane"`
}) (*answer[LaneView], error) {
	p, err := who(ctx, ScopeRead)
	if err != nil {
		return nil, newProblem(err)
	}
	cell, err := s.Store.Cell(ctx, p.Workspace, ledger.CellLane, in.Lane)
	if err != nil {
		return nil, newProblem(err)
	}
	trail, err := s.Desk.Trail(ctx, p.Workspace, in.Lane)
	if err != nil {
		return nil, newProblem(err)
	}
	return &answer[LaneView]{LaneView{cell.Value, trail}}, nil
}
