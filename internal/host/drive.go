package host

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"writ/internal/fault"
	"writ/internal/ident"
	"writ/internal/ledger"
	"writ/internal/proposal"
	"writ/internal/taskpack"
)

// answerWindow is how long a human has to answer a question.
const answerWindow = 24 * time.Hour

// Run drives every task that is due until ctx ends. It begins by destroying what
// an earlier process left behind.
func (h *Host) Run(ctx context.Context) error {
	if err := h.sweep(ctx); err != nil {
		return err
	}
	restarted := true // every open step belongs to a process that is gone
	for {
		due, err := h.due(ctx)
		if err != nil {
			return err
		}
		for _, d := range due {
			if err := h.drive(ctx, d.workspace, d.task, restarted); err != nil {
				if ctx.Err() != nil {
					return nil
				}
				h.Log.LogAttrs(ctx, slog.LevelError, "run stands still", slog.String("run", d.task.Run), slog.String("phase", string(d.task.Phase)), slog.Any("err", err))
			}
		}
		restarted = false
		timer := time.NewTimer(30 * time.Second) // leases and answers lapse without an event
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-h.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

type dueTask struct {
	workspace string
	task      Task
}

func (h *Host) due(ctx context.Context) ([]dueTask, error) {
	workspaces, err := h.Store.Workspaces(ctx)
	if err != nil {
		return nil, err
	}
	var out []dueTask
	for _, ws := range workspaces {
		if !ident.Is(ident.Workspace, ws) {
			continue
		}
		for _, state := range []string{"due", "waiting"} {
			cells, err := h.Store.Cells(ctx, ws, ledger.CellFilter{Kind: ledger.CellTask, State: state})
			if err != nil {
				return nil, err
			}
			for _, c := range cells {
				t, err := readTask(c)
				if err != nil {
					return nil, err
				}
				out = append(out, dueTask{ws, t})
			}
		}
	}
	return out, nil
}

// drive moves one task as far as it goes without a human.
func (h *Host) drive(ctx context.Context, workspace string, t Task, restarted bool) error {
	j, err := h.open(ctx, workspace, t)
	if err != nil {
		return err
	}
	defer j.close()
	for j.task.Phase != Over {
		more, err := j.step(ctx, restarted)
		if fault.CodeOf(err) == fault.Conflict { // an answer came in between: look again
			fresh, rerr := h.task(ctx, workspace, t.Run)
			if rerr != nil {
				return errors.Join(err, rerr)
			}
			j.task, more, err = fresh, true, nil
		}
		if err != nil {
			return err
		}
		restarted = false
		if !more {
			return nil
		}
	}
	return nil
}

// job is one task being driven, with what its documents say.
type job struct {
	*Host
	workspace string
	task      Task
	repo      Repository
	proposal  proposal.Proposal
	review    proposal.Review
	decision  proposal.Decision
	turn      proposal.Turn
	compiled
	env *environment // nil while none is open in this process
}

func (h *Host) open(ctx context.Context, workspace string, t Task) (*job, error) {
	j := &job{Host: h, workspace: workspace, task: t}
	var err error
	if j.repo, err = h.repository(ctx, workspace); err != nil {
		return nil, err
	}
	if j.proposal, err = read(ctx, h, workspace, proposal.KindProposal, t.Proposal, proposal.AsProposal); err != nil {
		return nil, err
	}
	if j.review, err = read(ctx, h, workspace, proposal.KindReview, t.Review, proposal.AsReview); err != nil {
		return nil, err
	}
	if j.decision, err = read(ctx, h, workspace, proposal.KindDecision, t.Decision, proposal.AsDecision); err != nil {
		return nil, err
	}
	if j.turn, err = read(ctx, h, workspace, proposal.KindTurn, j.proposal.Turn, proposal.AsTurn); err != nil {
		return nil, err
	}
	j.compiled, err = h.compile(ctx, workspace, j.repo, j.proposal)
	if err != nil {
		return nil, err
	}
	stored, err := h.document(ctx, workspace, ledger.KindPlan, own(t.Plan, t.Run))
	if err != nil {
		return nil, err
	}
	plan, err := taskpack.ParsePlan(stored.Body)
	if err != nil {
		return nil, err
	}
	return j, taskpack.Replay(plan, j.plan)
}

// step does the one next thing; false when it takes a human, or nothing is left.
func (j *job) step(ctx context.Context, restarted bool) (bool, error) {
	switch j.task.Phase {
	case Running, Waiting:
		return j.advance(ctx, restarted)
	case Recorded:
		return true, j.submit(ctx)
	case Queued:
		return true, j.qualify(ctx)
	case Qualified:
		return true, j.takeWarrant(ctx)
	case Landing:
		return true, j.land(ctx)
	default:
		return false, nil
	}
}

// facts folds the facts of the task run.
func (j *job) facts(ctx context.Context) (taskpack.Run, error) {
	docs, err := j.Store.Documents(ctx, j.workspace, ledger.DocumentFilter{RunID: j.task.Run, Kinds: []string{ledger.KindRunFact}})
	if err != nil {
		return taskpack.Run{}, err
	}
	facts := make([]taskpack.Fact, len(docs))
	for i, d := range docs {
		if facts[i], err = taskpack.ParseFact(d.Body); err != nil {
			return taskpack.Run{}, err
		}
	}
	return taskpack.Fold(j.plan, j.task.TaskRun, facts)
}

// advance does what the facts of the run ask for.
func (j *job) advance(ctx context.Context, restarted bool) (bool, error) {
	run, err := j.facts(ctx)
	if err != nil {
		return false, err
	}
	next := taskpack.NextFacts{Restarted: restarted}
	if step, ok := run.Upcoming(); ok {
		next.Fence = taskpack.Fence(taskpack.AdmitParams{Plan: j.plan, Profile: j.profile, Binding: j.binding, Generation: generation, Tables: j.tables}, step)
		if next.Standing, err = j.standing(ctx, step); err != nil {
			return false, err
		}
	}
	action, err := run.Next(next)
	if err != nil {
		return false, err
	}
	switch action.Do {
	case taskpack.DoAllocate:
		return true, j.allocate(ctx, run)
	case taskpack.DoAsk:
		return j.ask(ctx, run)
	case taskpack.DoStart:
		return true, j.perform(ctx, run, action.Step)
	case taskpack.DoVerify:
		return true, j.verify(ctx, run)
	case taskpack.DoRecord:
		return true, j.append(ctx, run, action.Fact, batch{})
	case taskpack.DoDestroy:
		return true, j.destroy(ctx, run)
	default:
		return true, j.record(ctx, run)
	}
}

// append records the next fact of the run, with whatever came with it, and moves
// the task's cell in the same commit, so that two drivers cannot both go on.
func (j *job) append(ctx context.Context, run taskpack.Run, f taskpack.Fact, b batch) error {
	_, fact, err := run.Append(f, j.Now())
	if err != nil {
		return err
	}
	b.docs = append(b.docs, factDocument(j.task.Run, fact))
	return j.save(ctx, j.workspace, &j.task, b)
}

// standing is where the step stands with the human who is asked.
func (j *job) standing(ctx context.Context, s taskpack.PlanStep) (taskpack.Standing, error) {
	if !s.Answer {
		return taskpack.NotRequired, nil
	}
	q, answer, err := j.question(ctx, s)
	if err != nil || q == nil {
		return taskpack.Pending, err
	}
	if err := q.For(j.plan, j.task.TaskRun, s); err != nil {
		return "", err
	}
	return q.Stand(answer, j.Now()), nil
}

// question is the stored question about a step with its answer; nil when there is none.
func (j *job) question(ctx context.Context, s taskpack.PlanStep) (*taskpack.Question, *proposal.Answer, error) {
	stored, err := j.Store.Document(ctx, j.workspace, taskpack.QuestionRef(j.task.TaskRun, s.ID))
	if fault.CodeOf(err) == fault.NotFound {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	q, err := taskpack.ParseQuestion(stored.Body)
	if err != nil {
		return nil, nil, err
	}
	answers, err := j.Store.Documents(ctx, j.workspace, ledger.DocumentFilter{RunID: j.task.Run, Kinds: []string{ledger.KindAnswer}})
	if err != nil {
		return nil, nil, err
	}
	for _, d := range answers {
		doc, err := proposal.Open(proposal.KindAnswer, d.Body)
		if err != nil {
			return nil, nil, err
		}
		if a, err := proposal.AsAnswer(doc); err != nil || a.Request == q.Ref {
			return &q, &a, err
		}
	}
	return &q, nil, nil
}

// ask puts the questions about every mutation at once: the listing has run, so
// the plan in front of the human is all there is. It reports false: a human is next.
func (j *job) ask(ctx context.Context, run taskpack.Run) (bool, error) {
	b := batch{once: "ask " + run.Ref}
	now := j.Now()
	for _, s := range j.plan.Steps {
		if !s.Answer {
			continue
		}
		if q, _, err := j.question(ctx, s); err != nil || q != nil {
			if err != nil {
				return false, err
			}
			continue
		}
		a := taskpack.AskParams{Plan: j.plan, Run: run.Ref, Binding: j.binding, Profile: j.profile, Step: s.ID, At: now, Expires: now.Add(answerWindow)}
		if patch, ok := j.patches[s.Patch]; ok {
			a.Patch = &patch
		}
		q, err := taskpack.Ask(a)
		if err != nil {
			return false, err
		}
		b.docs = append(b.docs, ledger.NewDocument{Kind: ledger.KindRequest, Ref: q.Ref, RunID: j.task.Run, Body: q.Bytes})
	}
	if len(b.docs) == 0 && j.task.Phase == Waiting {
		return false, nil // asked already
	}
	if len(b.docs) > 0 {
		events, cells, err := j.asked(ctx, b.docs)
		if err != nil {
			return false, err
		}
		b.events, b.cells = events, cells
	} else {
		b.once = ""
	}
	j.task.Phase = Waiting
	return false, j.save(ctx, j.workspace, &j.task, b)
}
