package host

import (
	"context"
	"time"

	"writ/internal/fault"
	"writ/internal/ledger"
	"writ/internal/proposal"
	"writ/internal/taskpack"
)

// answerWindow is how long a human has to answer a question.
const answerWindow = 24 * time.Hour

// job is one task being driven, with what its documents say.
type job struct {
	*Host
	workspace string
	task      Task
	tries     int    // times in a row that the run stumbled before
	conflicts int    // times that somebody else moved the run meanwhile
	why       string // the run is to go no further, "" when it goes on
	repo      Repository
	proposal  proposal.Proposal
	review    proposal.Review
	decision  proposal.Decision
	turn      proposal.Turn
	compiled               // as it was admitted, whatever the host has become since
	fresh     compiled     // as the host would compile it now
	changed   error        // why it would not
	env       *environment // nil while none is open in this process
}

// open reads what was admitted.
func (j *job) open(ctx context.Context) error {
	h, t := j.Host, j.task
	var err error
	if j.repo, err = h.repository(ctx, j.workspace); err != nil {
		return err
	}
	if j.proposal, err = read(ctx, h, j.workspace, proposal.KindProposal, t.Proposal, proposal.AsProposal); err != nil {
		return err
	}
	if j.review, err = read(ctx, h, j.workspace, proposal.KindReview, t.Review, proposal.AsReview); err != nil {
		return err
	}
	if j.decision, err = read(ctx, h, j.workspace, proposal.KindDecision, t.Decision, proposal.AsDecision); err != nil {
		return err
	}
	if j.turn, err = read(ctx, h, j.workspace, proposal.KindTurn, j.proposal.Turn, proposal.AsTurn); err != nil {
		return err
	}
	if j.compiled, err = h.admitted(ctx, j.workspace, t, j.proposal); err != nil {
		return err
	}
	j.fresh, j.changed = h.compile(ctx, j.workspace, j.repo, j.proposal)
	if j.changed == nil {
		j.changed = taskpack.Replay(j.plan, j.fresh.plan)
	}
	return nil
}

// fence says why the next step must not begin, whatever was decided before: the
// host's tables have changed since, or the environment is not what it was to be.
func (j *job) fence(step taskpack.PlanStep) error {
	if j.changed != nil && fault.CodeOf(j.changed).Of().Retry {
		return j.changed // it could not be looked at
	}
	err := taskpack.Fence(taskpack.AdmitParams{
		Plan: j.plan, Profile: j.fresh.profile, Binding: j.fresh.binding, Generation: generation, Tables: j.fresh.tables,
	}, step)
	if err != nil || j.changed == nil || taskpack.CodeOf(j.changed) != "" {
		return firstOf(err, j.changed)
	}
	return fault.Wrap(j.changed, fault.ChangedReplay, "compile again", "the plan cannot be compiled any more").With("refusal", string(taskpack.ChangedReplay))
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
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

// advance does what the facts of the run ask for. A step that is open now was
// begun in another life of the process: here each is begun and ended in one call.
func (j *job) advance(ctx context.Context) (bool, error) {
	run, err := j.facts(ctx)
	if err != nil {
		return false, err
	}
	next := taskpack.NextFacts{Restarted: true}
	if step, ok := run.Upcoming(); ok {
		if j.why != "" && !run.Cancel && run.Outcome == "" {
			return true, j.append(ctx, run, taskpack.Fact{Kind: taskpack.FactCancel}, batch{})
		}
		next.Fence = j.fence(step)
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
		if f := action.Fact; f.Kind == taskpack.FactConcluded && j.task.Failure == "" && next.Fence != nil && f.Outcome == proposal.OutcomeRefused {
			j.task.Failure, j.task.Reason = failure(next.Fence)
		}
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
	b.point = string(f.Kind)
	return j.save(ctx, j.workspace, &j.task, b)
}

// keepOutcome records the outcome of a step that was carried out. What it measured must
// not be lost because the task was touched meanwhile: only a task that is over
// takes no more.
func (j *job) keepOutcome(ctx context.Context, run taskpack.Run, f taskpack.Fact, b batch) error {
	const tries = 10
	for i := 0; ; i++ {
		err := j.append(ctx, run, f, b)
		if fault.CodeOf(err) != fault.Conflict || i == tries {
			return err
		}
		fresh, rerr := j.Host.task(ctx, j.workspace, j.task.Run)
		if rerr != nil || fresh.Phase == Over {
			return firstOf(rerr, err)
		}
		j.task.version = fresh.version
	}
}
