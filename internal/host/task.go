package host

import (
	"context"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ledger"
)

// Phase is where the host stands with a run.
type Phase string

// The phases, in order. The state word of the task's cell is the phase's group:
// due, waiting or over.
const (
	Running   Phase = "running"   // the facts of the task run say what is next
	Waiting   Phase = "waiting"   // a human is asked
	Recorded  Phase = "recorded"  // the execution record is signed; a verified one may land
	Queued    Phase = "queued"    // candidate submitted
	Qualified Phase = "qualified" // the native command succeeded on the merged tree
	Landing   Phase = "landing"   // warrant held; admission, push and readback follow
	Over      Phase = "over"      // landed, blocked, refused or unknown
)

// Task is the host's position in one run. Everything in it can be found in
// documents as well; it is kept so that the next thing to do is one read away.
type Task struct {
	Run      string `json:"run_id"`
	Lane     string `json:"lane_id"`
	Space    string `json:"space_id,omitempty"`
	Phase    Phase  `json:"phase"`
	Proposal string `json:"proposal"`
	Review   string `json:"review"`
	Decision string `json:"decision"`
	Plan     string `json:"plan"`
	TaskRun  string `json:"task_run"` // operator-task-run:…
	BaseHead string `json:"base_head"`

	SourceHead    string `json:"source_head,omitempty"` // commit of the patch step
	SourceTree    string `json:"source_tree,omitempty"`
	Execution     string `json:"execution,omitempty"`
	ResultSet     string `json:"result_set,omitempty"` // "sha256:" and hex of the bytes
	Comparison    string `json:"comparison,omitempty"` // likewise
	ResultSetRef  string `json:"result_set_ref,omitempty"`
	ComparisonRef string `json:"comparison_ref,omitempty"`
	Gate          string `json:"gate_ref,omitempty"`
	Candidate     string `json:"candidate_id,omitempty"`
	Change        int64  `json:"change_number,omitempty"`
	MergeHead     string `json:"merge_head,omitempty"`
	Failure       string `json:"failure,omitempty"` // code of run.failed, once the run failed
	Reason        string `json:"reason,omitempty"`  // its message

	version int64 // of the cell it was read from
}

// state is the word by which tasks are found.
func (t Task) state() string {
	switch t.Phase {
	case Waiting:
		return "waiting"
	case Over:
		return "over"
	default:
		return "due"
	}
}

func (t Task) write() (ledger.CellWrite, error) {
	body, err := canon.Marshal(t)
	if err != nil {
		return ledger.CellWrite{}, err
	}
	return ledger.CellWrite{Kind: ledger.CellTask, Key: t.Run, Expect: t.version, State: t.state(), Value: body}, nil
}

func (h *Host) task(ctx context.Context, workspace, run string) (Task, error) {
	cell, err := h.Store.Cell(ctx, workspace, ledger.CellTask, run)
	if err != nil {
		return Task{}, err
	}
	return readTask(cell)
}

func readTask(cell ledger.Cell) (Task, error) {
	var t Task
	v, err := canon.Parse(cell.Value)
	if err == nil {
		err = v.Decode(&t)
	}
	if err != nil {
		return t, fault.Wrap(err, fault.Corrupt, "read task", "the position of run %s is damaged", cell.Key)
	}
	t.version = cell.Version
	return t, nil
}

// save writes the task with everything that came with the move.
func (h *Host) save(ctx context.Context, workspace string, t *Task, b batch) error {
	cell, err := t.write()
	if err != nil {
		return err
	}
	b.workspace, b.space, b.run, b.lane = workspace, t.Space, t.Run, t.Lane
	b.cells = append(b.cells, cell)
	if _, err := h.commit(ctx, b); err != nil {
		return err
	}
	t.version++
	return nil
}
