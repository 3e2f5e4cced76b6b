package lane

import (
	"slices"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ledger"
)

// Status is where a run stands. It is also the state word of the run's cell.
type Status string

// The statuses of a run.
const (
	Requested Status = "requested" // offered; nobody works on it
	Accepted  Status = "accepted"
	Running   Status = "running"
	Waiting   Status = "waiting" // for an input or an approval
	Completed Status = "completed"
	Failed    Status = "failed"
	Cancelled Status = "cancelled"
	Expired   Status = "expired"
	Declined  Status = "declined"
)

// Live lists the statuses of runs that have not ended.
var Live = []Status{Requested, Accepted, Running, Waiting}

// Over reports whether the run has ended.
func (s Status) Over() bool { return !slices.Contains(Live, s) }

// Held reports whether somebody works on the run.
func (s Status) Held() bool { return s == Accepted || s == Running || s == Waiting }

// Holder is who works on a run.
type Holder struct {
	Kind      string `json:"kind"`
	ID        string `json:"id"`
	HarnessID string `json:"harness_id,omitempty"` // through which it speaks
}

// Cancel is a request to stop. It moves nothing by itself.
type Cancel struct {
	By     string    `json:"by"`
	At     time.Time `json:"at"`
	Reason string    `json:"reason,omitempty"`
}

// Kinds of pending questions.
const (
	Input    = "input"
	Approval = "approval"
)

// Pending is a question that a run waits for.
type Pending struct {
	RequestID string    `json:"request_id"`
	Kind      string    `json:"kind"` // Input or Approval
	Text      string    `json:"text"` // the prompt, or the action to approve
	Ref       string    `json:"ref,omitempty"`
	Since     time.Time `json:"since"`
	ExpiresAt time.Time `json:"expires_at,omitzero"`
}

// End is the terminal event of a run.
type End struct {
	EventID string    `json:"event_id"`
	Type    string    `json:"type"`
	At      time.Time `json:"at"`
}

// Tree counts what a root request has caused. Runs never goes down.
type Tree struct {
	Runs      int64 `json:"runs"`
	OpenLanes int64 `json:"open_lanes"`
}

// RunState is everything that decisions about a run are made on.
type RunState struct {
	RunID        string    `json:"run_id"`
	LaneID       string    `json:"lane_id"`
	SpaceID      string    `json:"space_id,omitempty"`
	RootRunID    string    `json:"root_run_id"`
	ParentRunID  string    `json:"parent_run_id,omitempty"`
	Path         []string  `json:"path,omitempty"` // ids of all runs above, the root first
	RequestEvent string    `json:"request_event"`  // id of the run.requested event of the first attempt
	Goal         string    `json:"goal"`
	RequestedBy  string    `json:"requested_by"`
	OnBehalfOf   string    `json:"on_behalf_of"`
	SpecialistID string    `json:"specialist_id"`
	AgentID      string    `json:"agent_id,omitempty"`
	Autonomy     int64     `json:"autonomy"`
	Status       Status    `json:"status"`
	Attempt      int64     `json:"attempt"` // the one that is offered or worked on, from 1
	Holder       *Holder   `json:"holder,omitempty"`
	LeaseUntil   time.Time `json:"lease_until,omitzero"` // zero: no lease, as for the server itself
	NoRetry      bool      `json:"no_retry,omitempty"`   // the holder said that the work cannot be repeated
	Deadline     time.Time `json:"deadline,omitzero"`
	Cancel       *Cancel   `json:"cancel,omitempty"`
	Pending      []Pending `json:"pending,omitempty"`
	Step         string    `json:"step,omitempty"`
	Children     int64     `json:"children,omitempty"`  // runs asked for by this one
	Flattened    bool      `json:"flattened,omitempty"` // a step in a lane above the one it was asked from
	Cycles       int64     `json:"cycles,omitempty"`    // circles on the way here
	Tree         *Tree     `json:"tree,omitempty"`      // of a root run
	RequestedAt  time.Time `json:"requested_at"`
	OfferedAt    time.Time `json:"offered_at"` // when the current attempt was
	LastAt       time.Time `json:"last_at"`    // last event of whoever works on it
	ProgressAt   time.Time `json:"progress_at,omitzero"`
	End          *End      `json:"end,omitempty"`
}

// Lane statuses; also the state words of a lane's cell.
const (
	Open   = "open"
	Closed = "closed"
)

// Station is one lane on the way from the root.
type Station struct {
	LaneID       string `json:"lane_id"`
	SpecialistID string `json:"specialist_id"`
	AgentID      string `json:"agent_id,omitempty"`
}

// LaneState is everything that decisions about a lane are made on.
type LaneState struct {
	LaneID       string    `json:"lane_id"`
	ParentLaneID string    `json:"parent_lane_id,omitempty"`
	SpaceID      string    `json:"space_id,omitempty"`
	RootRunID    string    `json:"root_run_id"`
	Depth        int64     `json:"depth"` // from 1
	SpecialistID string    `json:"specialist_id"`
	AgentID      string    `json:"agent_id,omitempty"`
	Label        string    `json:"label,omitempty"`
	Minted       []string  `json:"minted,omitempty"` // agents made for this lane; they retire with it
	RequestedBy  string    `json:"requested_by"`
	OnBehalfOf   string    `json:"on_behalf_of"`
	Autonomy     int64     `json:"autonomy"`
	LinkTo       []string  `json:"link_to,omitempty"`
	Status       string    `json:"status"`
	Outcome      string    `json:"outcome,omitempty"`
	Path         []Station `json:"path"`             // from the root lane to this one
	Runs         []string  `json:"runs,omitempty"`   // that have not ended
	Active       []string  `json:"active,omitempty"` // that are worked on; each one asked for the next
	LastRunID    string    `json:"last_run_id"`
	OpenedAt     time.Time `json:"opened_at"`
	ClosedAt     time.Time `json:"closed_at,omitzero"`
}

// below reports whether the lane lies under the one with the id.
func (l LaneState) below(id string) bool {
	return l.LaneID != id && slices.ContainsFunc(l.Path, func(s Station) bool { return s.LaneID == id })
}

// ReadRun decodes the cell of a run.
func ReadRun(c ledger.Cell) (RunCell, error) {
	out := RunCell{Version: c.Version}
	return out, decode(c, &out.RunState)
}

// ReadLane decodes the cell of a lane.
func ReadLane(c ledger.Cell) (LaneCell, error) {
	out := LaneCell{Version: c.Version}
	return out, decode(c, &out.LaneState)
}

func decode(c ledger.Cell, into any) error {
	v, err := canon.Parse(c.Value)
	if err == nil {
		err = v.Decode(into)
	}
	if err != nil {
		return fault.Wrap(err, fault.Corrupt, "read "+c.Kind, "the state of %s is damaged", c.Key)
	}
	return nil
}

func (r RunCell) write() (ledger.CellWrite, error) {
	return encode(ledger.CellRun, r.RunID, string(r.Status), r.Version, r.RunState)
}

func (l LaneCell) write() (ledger.CellWrite, error) {
	return encode(ledger.CellLane, l.LaneID, l.Status, l.Version, l.LaneState)
}

func encode(kind, key, state string, version int64, x any) (ledger.CellWrite, error) {
	b, err := canon.Marshal(x)
	if err != nil {
		return ledger.CellWrite{}, fault.Wrap(err, fault.Internal, "write "+kind, "the state of %s has no JSON form", key)
	}
	return ledger.CellWrite{Kind: kind, Key: key, Expect: version, State: state, Value: b}, nil
}
