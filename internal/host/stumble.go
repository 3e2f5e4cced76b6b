package host

import (
	"context"
	"errors"
	"time"

	"writ/internal/fault"
	"writ/internal/landing"
	"writ/internal/proposal"
	"writ/internal/taskpack"
)

// patience is how often in a row a run may stumble over what trying again does
// not seem to mend before it is given up. What is marked as worth trying again
// (a remote that does not answer, a full disk) is tried for ever, at longer and
// longer intervals.
const patience = 3

const (
	firstPause = time.Second
	mostPause  = 5 * time.Minute
)

// stumble is a run that could not go on.
type stumble struct {
	times int // in a row
	until time.Time
}

// stumbles are the runs that stand still, by run. Only the driver knows them: a
// new process tries at once.
type stumbles map[string]stumble

// add notes one more; a run that moved on before it stumbled begins to count anew.
func (all stumbles) add(run string, moved bool, now time.Time) stumble {
	s := all[run]
	if moved {
		s.times = 0
	}
	pause := mostPause
	if s.times < 9 { // 1 s doubled nine times is more than the longest pause
		pause = min(firstPause<<s.times, mostPause)
	}
	s.times++
	s.until = now.Add(pause)
	all[run] = s
	return s
}

// hopeless says whether trying again is no use, after so many tries before.
func hopeless(err error, before int) bool {
	return !fault.CodeOf(err).Of().Retry && before+1 >= patience
}

// tell says in the journal that the run stands still.
func (j *job) tell(ctx context.Context, err error) {
	if j.task.Phase == Over {
		return
	}
	_, message := failure(err)
	j.progress(ctx, "", "stands still, is tried again: "+message, -1)
}

// giveUp brings a run to its end that cannot go on. What it has measured and
// decided stays; its environment is destroyed and its candidate withdrawn on the
// way. Two things are never given up: the removal of an environment, and the
// reading back of an attempt that was admitted.
func (j *job) giveUp(ctx context.Context, because error) error {
	code, message := failure(because)
	switch j.task.Phase {
	case Running, Waiting:
		return j.breakOff(ctx, because)
	case Queued, Qualified:
		j.task.Failure = code
		return j.withdraw(ctx, landing.TerminalFailure, message)
	case Landing:
		s, c, err := j.landingState(ctx)
		if err != nil {
			return err
		}
		if c.Status != landing.Landing {
			return j.astray(ctx, c)
		}
		if s.Warrant.Admitted != nil {
			return because
		}
		j.task.Failure, j.task.Reason = code, message
		return j.giveBack(ctx, s, Over)
	default:
		return j.end(ctx, fault.Code(code), message)
	}
}

// breakOff concludes the task run as far as its facts allow.
func (j *job) breakOff(ctx context.Context, because error) error {
	code, message := failure(because)
	run, err := j.facts(ctx)
	if err != nil || run.Phase() == taskpack.PhaseTerminal {
		return errors.Join(err, j.end(ctx, fault.Code(code), message)) // there is nothing to conclude, or to sign
	}
	if run.Phase() == taskpack.PhaseRollback {
		return because
	}
	if j.task.Failure == "" {
		j.task.Failure, j.task.Reason = code, message
	}
	f := taskpack.Fact{Kind: taskpack.FactConcluded, Outcome: proposal.OutcomeRefused, Refusal: refusalOf(because)}
	if open, ok := run.Open(); ok {
		f = taskpack.Fact{Kind: taskpack.FactOutcome, Step: open.ID, Outcome: taskpack.StepUnknown}
	}
	return j.append(ctx, run, f, batch{})
}

// end ends the run as it is.
func (j *job) end(ctx context.Context, code fault.Code, message string) error {
	var b batch
	j.task.Failure, j.task.Reason = string(code), message
	if err := j.over(ctx, Over, &b); err != nil {
		return err
	}
	return j.save(ctx, j.workspace, &j.task, b)
}

// withdraw ends a candidate that has no warrant, and the run with it.
func (j *job) withdraw(ctx context.Context, outcome landing.Status, why string) error {
	s, c, err := j.landingState(ctx)
	if err != nil {
		return err
	}
	if c.Status != landing.Queued && c.Status != landing.Qualifying && c.Status != landing.Qualified {
		return j.astray(ctx, c)
	}
	if outcome == landing.Cancelled {
		j.task.Failure = string(fault.Cancelled)
	}
	j.task.Reason = why
	return j.settle(ctx, outcome, why, leaseOf(s, c), Over)
}

// landingState reads the state of the branch and this run's candidate in it.
func (j *job) landingState(ctx context.Context) (landing.State, landing.Candidate, error) {
	s, _, err := j.authority(ctx, j.workspace, j.repo)
	if err != nil {
		return s, landing.Candidate{}, err
	}
	c, err := j.candidate(s)
	return s, c, err
}

// leaseOf is the fence of the qualification lease that a candidate holds, or nil.
func leaseOf(s landing.State, c landing.Candidate) *landing.Fence {
	for _, l := range s.Leases {
		if l.CandidateID == c.CandidateID {
			f := l.Fence()
			return &f
		}
	}
	return nil
}
