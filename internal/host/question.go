package host

import (
	"context"

	"writ/internal/fault"
	"writ/internal/ledger"
	"writ/internal/proposal"
	"writ/internal/taskpack"
)

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
	var b batch
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
		var err error
		if b.events, b.cells, err = j.asked(ctx, b.docs); err != nil {
			return false, err
		}
	}
	j.task.Phase = Waiting
	return false, j.save(ctx, j.workspace, &j.task, b)
}
