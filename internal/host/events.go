package host

import (
	"context"
	"strings"
	"time"

	"writ/internal/fault"
	"writ/internal/ident"
	"writ/internal/journal"
	"writ/internal/lane"
	"writ/internal/ledger"
	"writ/internal/proposal"
	"writ/internal/taskpack"
)

// run is what the chain needs to know about a run.
type run struct {
	ID, Lane, Space string
	Requested       time.Time
}

// openRun reads a run that has not ended.
func (h *Host) openRun(ctx context.Context, workspace, id string) (run, error) {
	r, err := h.Desk.Run(ctx, workspace, id)
	if err != nil {
		return run{}, err
	}
	if r.Status.Over() {
		return run{}, fault.New(fault.RunTerminal, "open run", "run %s is %s", id, r.Status).With("status", string(r.Status)).
			Help("the first ending stands; ask again for a new run")
	}
	return run{ID: id, Lane: r.LaneID, Space: r.SpaceID, Requested: r.RequestedAt}, nil
}

// runEvents decides on events of the server's own about a run, and returns what
// a commit has to write for them.
func (h *Host) runEvents(ctx context.Context, workspace, id string, payloads ...journal.Payload) ([]ledger.NewEvent, []ledger.CellWrite, error) {
	facts, err := h.Desk.Facts(ctx, workspace, id)
	if err != nil {
		return nil, nil, err
	}
	drafts := make([]journal.Draft, len(payloads))
	for i, p := range payloads {
		ids := journal.IDs{Event: ident.New(ident.Event), Workspace: workspace, Space: facts.Run.SpaceID, Run: id, Lane: facts.Run.LaneID}
		if drafts[i], err = journal.Compose(ids, p); err != nil {
			return nil, nil, err
		}
	}
	d, err := lane.ApplyAll(facts, drafts, h.Now())
	return d.Events, d.Cells, err
}

// takeOver is the host accepting the run: whoever worked on it is fenced off.
func (h *Host) takeOver(ctx context.Context, workspace, id string) ([]ledger.NewEvent, []ledger.CellWrite, error) {
	return h.runEvents(ctx, workspace, id, journal.AcceptedUntil(time.Time{}))
}

// progress tells the journal where the run is. It is for people: a failure to
// tell is no failure of the run.
func (j *job) progress(ctx context.Context, step, note string, pct float64) {
	draft, err := journal.Compose(journal.IDs{
		Event: ident.New(ident.Event), Workspace: j.workspace, Space: j.task.Space, Run: j.task.Run, Lane: j.task.Lane,
	}, journal.Progress(step, note, pct))
	if err == nil {
		_, err = j.Desk.Write(ctx, draft)
	}
	if err != nil && ctx.Err() == nil {
		j.Log.WarnContext(ctx, "progress was not recorded", "run", j.task.Run, "err", err)
	}
}

// questionID is the id under which the journal knows a question.
func questionID(step string) string { return "approve-" + step }

// asked is the journal's side of putting questions.
func (j *job) asked(ctx context.Context, questions []ledger.NewDocument) ([]ledger.NewEvent, []ledger.CellWrite, error) {
	var payloads []journal.Payload
	for _, d := range questions {
		q, err := taskpack.ParseQuestion(d.Body)
		if err != nil {
			return nil, nil, err
		}
		payloads = append(payloads, journal.ApprovalRequested(questionID(q.Step.ID), "step "+q.Step.ID+": "+actionOf(q.Step), q.Step.Effect, q.Ref))
	}
	return j.runEvents(ctx, j.workspace, j.task.Run, payloads...)
}

// actionOf says in a few words what a step would do.
func actionOf(s taskpack.PlanStep) string {
	if s.Kind == taskpack.StepPatch {
		return "write the files of " + s.Patch
	}
	return strings.TrimSpace(s.Profile + " " + strings.Join(s.Arguments, " "))
}

// decided is the journal's side of an answer.
func (h *Host) decided(ctx context.Context, workspace string, r run, q taskpack.Question, a proposal.Answer, by participant) ([]ledger.NewEvent, []ledger.CellWrite, error) {
	return h.runEvents(ctx, workspace, r.ID, journal.ApprovalDecided(questionID(q.Step.ID), a.Decision == proposal.AnswerApprove, by.ID, a.Ref))
}

// over moves the task to its next phase; when that is the last, it tells the
// journal how the run ended, in the same commit.
func (j *job) over(ctx context.Context, next Phase, b *batch) error {
	j.task.Phase = next
	if next != Over {
		return nil
	}
	reason := journal.Clip(j.task.Reason, journal.MaxProse)
	if j.task.Failure == string(fault.Cancelled) {
		return j.ending(ctx, journal.Cancelled(reason), b)
	}
	return j.ending(ctx, journal.Failed(j.task.Failure, reason, false), b)
}

// ending adds the run's last event to a batch. A run that has ended already, as
// by its deadline, keeps the ending that it has.
func (j *job) ending(ctx context.Context, p journal.Payload, b *batch) error {
	events, cells, err := j.runEvents(ctx, j.workspace, j.task.Run, p)
	if fault.CodeOf(err) == fault.RunTerminal {
		return nil
	}
	b.events, b.cells = append(b.events, events...), append(b.cells, cells...)
	return err
}

// failure is the code and message of run.failed for an error.
func failure(err error) (code, message string) {
	if f, ok := fault.As(err); ok {
		return string(f.Code), f.Public
	}
	return string(fault.Internal), "the host could not go on"
}

// firstText returns the first text that is not empty.
func firstText(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
