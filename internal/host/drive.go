package host

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"writ/internal/fault"
	"writ/internal/ident"
	"writ/internal/landing"
	"writ/internal/ledger"
)

// look is how often everything that is due is looked at without being woken:
// answers lapse without an event.
const look = 10 * time.Second

// Run drives every task that is due until ctx ends. It begins by destroying what
// an earlier process left behind.
func (h *Host) Run(ctx context.Context) error {
	if err := h.sweep(ctx); err != nil && ctx.Err() == nil {
		h.Log.ErrorContext(ctx, "what an earlier process left behind is not all removed", "err", err)
	}
	stuck := stumbles{}
	for ctx.Err() == nil {
		moved, wait := h.pass(ctx, stuck)
		if moved {
			continue // what one run did may be what another one waits for
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-h.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
	return nil
}

// pass drives each task that is due once. It says whether any of them moved, and
// when to look again at the latest.
func (h *Host) pass(ctx context.Context, stuck stumbles) (moved bool, wait time.Duration) {
	wait = look
	due, err := h.due(ctx)
	if err != nil {
		if ctx.Err() == nil {
			h.Log.ErrorContext(ctx, "the tasks cannot be read", "err", err)
		}
		return false, wait
	}
	for _, d := range due {
		if ctx.Err() != nil {
			return moved, wait
		}
		s := stuck[d.task.Run]
		if left := s.until.Sub(h.Now()); left > 0 {
			wait = min(wait, left)
			continue
		}
		m, err := h.drive(ctx, d.workspace, d.task, s)
		moved = moved || m
		switch {
		case ctx.Err() != nil:
		case err == nil:
			delete(stuck, d.task.Run)
		default:
			s = stuck.add(d.task.Run, m, h.Now())
			wait = min(wait, s.until.Sub(h.Now()))
			h.Log.LogAttrs(ctx, slog.LevelError, "run stands still", slog.String("run", d.task.Run),
				slog.String("phase", string(d.task.Phase)), slog.Int("times", s.times), slog.Any("err", err))
		}
	}
	return moved, wait
}

type dueTask struct {
	workspace string
	task      Task
}

// due are the tasks that are not over. One that cannot be read is left out: it
// must not keep the others from going on.
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
					h.Log.ErrorContext(ctx, "a task cannot be read", "run", c.Key, "err", err)
					continue
				}
				out = append(out, dueTask{ws, t})
			}
		}
	}
	return out, nil
}

// errNotYet says that the authority has others to serve before this run.
var errNotYet = errors.New("another run is first")

// drive moves one task as far as it goes without a human, and says whether it
// moved at all.
func (h *Host) drive(ctx context.Context, workspace string, t Task, s stumble) (moved bool, err error) {
	j := &job{Host: h, workspace: workspace, task: t, tries: s.times}
	defer j.close() //nolint:contextcheck // an environment is removed also when ctx has ended
	if err = j.open(ctx); err != nil {
		_, err = j.mend(ctx, err)
	} else {
		err = j.stepOn(ctx)
	}
	moved = j.task.version > t.version
	if err != nil && ctx.Err() == nil && (moved || s.times == 0) {
		j.tell(ctx, err)
	}
	return moved, err
}

func (j *job) stepOn(ctx context.Context) error {
	for j.task.Phase != Over {
		more, err := j.step(ctx)
		if err != nil {
			more, err = j.mend(ctx, err)
		}
		switch {
		case errors.Is(err, errNotYet):
			return nil
		case err != nil || !more:
			return err
		}
	}
	return nil
}

// mend says how the run goes on after an error: it looks again when somebody
// else moved it meanwhile, and is given up when trying again is no use.
func (j *job) mend(ctx context.Context, err error) (more bool, _ error) {
	if ctx.Err() != nil || errors.Is(err, errNotYet) {
		return false, err
	}
	if now, rerr := j.Host.task(ctx, j.workspace, j.task.Run); rerr == nil && now.Phase == Over {
		j.task = now
		return false, nil // somebody ended it meanwhile
	}
	switch {
	case fault.CodeOf(err) == fault.Conflict:
		const most = 100 // nobody moves one run that often
		if j.conflicts++; j.conflicts > most {
			return false, err
		}
		fresh, rerr := j.Host.task(ctx, j.workspace, j.task.Run)
		if rerr != nil {
			return false, errors.Join(err, rerr)
		}
		j.task = fresh
		return true, nil
	case hopeless(err, j.tries):
		j.tries = 0 // what the ending needs is tried anew
		if gerr := j.giveUp(ctx, err); gerr != nil {
			return false, errors.Join(err, gerr)
		}
		return true, nil
	}
	return false, err
}

// step does the one next thing; false when it takes a human, or nothing is left.
func (j *job) step(ctx context.Context) (bool, error) {
	var err error
	if j.why, err = j.stopped(ctx); err != nil {
		return false, err
	}
	switch j.task.Phase {
	case Running, Waiting:
		return j.advance(ctx)
	case Recorded:
		if j.why != "" {
			return true, j.end(ctx, fault.Cancelled, j.why)
		}
		return true, j.submit(ctx)
	case Queued, Qualified:
		if j.why != "" {
			return true, j.withdraw(ctx, landing.Cancelled, j.why)
		}
		if j.task.Phase == Queued {
			return true, j.qualify(ctx)
		}
		return true, j.takeWarrant(ctx)
	case Landing:
		return true, j.land(ctx)
	default:
		return false, nil
	}
}

// stopped says why the run is to go no further: somebody asked for it, or it has
// ended without its host, as by its deadline. "" for a run that goes on.
func (j *job) stopped(ctx context.Context) (string, error) {
	r, err := j.Desk.Run(ctx, j.workspace, j.task.Run)
	if err != nil {
		return "", err
	}
	switch {
	case r.Status.Over():
		return "the run is " + string(r.Status), nil
	case r.Cancel != nil && r.Cancel.Reason != "":
		return r.Cancel.By + " asked to stop: " + r.Cancel.Reason, nil
	case r.Cancel != nil:
		return r.Cancel.By + " asked to stop", nil
	}
	return "", nil
}
