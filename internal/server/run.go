package server

import (
	"context"

	"writ/internal/fault"
	"writ/internal/journal"
	"writ/internal/lane"
	"writ/internal/ledger"
)

// RunView is a run as people and programs look at it.
type RunView struct {
	RunID       string   `json:"run_id"`
	LaneID      string   `json:"lane_id"`
	SpaceID     string   `json:"space_id,omitempty"`
	Status      string   `json:"status" enum:"requested,accepted,running,waiting,completed,failed,cancelled,expired,declined"`
	Attempt     int64    `json:"attempt"`
	Goal        string   `json:"goal"`
	RequestedBy string   `json:"requested_by"`
	OnBehalfOf  string   `json:"on_behalf_of"`
	Step        string   `json:"step,omitempty"`
	Waiting     []Why    `json:"waiting_for" nullable:"false" doc:"what it waits for, since when, and what would release it"`
	Position    rawJSON  `json:"position" doc:"where the host stands with it; null before a decision"`
	Ended       rawJSON  `json:"ended" doc:"the event that ended it; null while it goes on"`
	Documents   []DocRef `json:"documents" nullable:"false" doc:"empty in a list"`
}

// Why says why something waits.
type Why struct {
	What    string `json:"what"`
	Since   string `json:"since"`
	Release string `json:"release" doc:"what would release it"`
	Ref     string `json:"ref,omitempty"`
}

type runList struct {
	Runs []RunView `json:"runs" nullable:"false"`
}

func (s *Server) listRuns(ctx context.Context, p journal.Principal, in *struct {
	State string `query:"state" enum:"requested,accepted,running,waiting,completed,failed,cancelled,expired,declined" doc:"only runs of this status"`
}) (*answer[runList], error) {
	cells, err := s.Store.Cells(ctx, p.Workspace, ledger.CellFilter{Kind: ledger.CellRun, State: in.State})
	if err != nil {
		return nil, err
	}
	out := runList{Runs: make([]RunView, 0, len(cells))}
	for _, c := range cells {
		r, err := lane.ReadRun(c)
		if err != nil {
			return nil, err
		}
		out.Runs = append(out.Runs, viewRun(r))
	}
	return &answer[runList]{out}, nil
}

// run reads one run of the workspace.
func (s *Server) run(ctx context.Context, workspace, id string) (lane.RunCell, error) {
	cell, err := s.Store.Cell(ctx, workspace, ledger.CellRun, id)
	if fault.CodeOf(err) == fault.NotFound {
		return lane.RunCell{}, fault.New(fault.NotFound, "read run", "there is no run %s", id)
	}
	if err != nil {
		return lane.RunCell{}, err
	}
	return lane.ReadRun(cell)
}

func (s *Server) getRun(ctx context.Context, p journal.Principal, in *ofRun) (*answer[RunView], error) {
	r, err := s.run(ctx, p.Workspace, in.Run)
	if err != nil {
		return nil, err
	}
	out := &answer[RunView]{viewRun(r)}
	return out, s.complete(ctx, p.Workspace, r, &out.Body)
}

// NewLease prolongs an attempt.
type NewLease struct {
	Attempt int64 `json:"attempt" minimum:"1" maximum:"9007199254740991"`
}

// Lease is how long a run is held without a further sign of life.
type Lease struct {
	Attempt    int64  `json:"attempt"`
	LeaseUntil string `json:"lease_until,omitempty"`
}

// renewRun is the sign of life of a harness: it writes nothing to the journal.
func (s *Server) renewRun(ctx context.Context, p journal.Principal, in *ofRun, l NewLease) (*answer[Lease], error) {
	r, err := s.Desk.Renew(ctx, p, in.Run, l.Attempt)
	if err != nil {
		return nil, err
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
	switch task, err := s.Store.Cell(ctx, workspace, ledger.CellTask, r.RunID); {
	case err == nil:
		v.Position = task.Value
	case fault.CodeOf(err) != fault.NotFound:
		return err
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
		Waiting: []Why{}, Position: null, Ended: null, Documents: []DocRef{},
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
	Lanes []rawJSON `json:"lanes" nullable:"false"`
}

func (s *Server) listLanes(ctx context.Context, p journal.Principal, in *struct {
	State string `query:"state" enum:"open,closed"`
}) (*answer[laneList], error) {
	cells, err := s.Store.Cells(ctx, p.Workspace, ledger.CellFilter{Kind: ledger.CellLane, State: in.State})
	return &answer[laneList]{laneList{rawCells(cells)}}, err
}

// LaneView is a lane with the way that led to it.
type LaneView struct {
	Lane  rawJSON    `json:"lane"`
	Trail []lane.Hop `json:"trail" nullable:"false" doc:"every hop from whoever started it, in order"`
}

func (s *Server) getLane(ctx context.Context, p journal.Principal, in *struct {
	Lane string `path:"lane"`
}) (*answer[LaneView], error) {
	cell, err := s.Store.Cell(ctx, p.Workspace, ledger.CellLane, in.Lane)
	if fault.CodeOf(err) == fault.NotFound {
		return nil, fault.New(fault.NotFound, "read lane", "there is no lane %s", in.Lane)
	}
	if err != nil {
		return nil, err
	}
	trail, err := s.Desk.Trail(ctx, p.Workspace, in.Lane)
	return &answer[LaneView]{LaneView{cell.Value, trail}}, err
}
