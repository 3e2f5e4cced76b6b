package host

import (
	"context"
	"errors"

	"writ/internal/canon"
	"writ/internal/docket"
	"writ/internal/fault"
	"writ/internal/landing"
	"writ/internal/ledger"
)

func landingKey(r Repository) string { return r.Alias + "@" + r.Base }

// authority reads the rooted document of a branch; a branch without one gets an
// empty one, at version 0.
func (h *Host) authority(ctx context.Context, workspace string, r Repository) (landing.State, int64, error) {
	want := landing.ReadParams{Repository: r.Alias, ProtectedBase: r.Base, Strict: true}
	cell, err := h.Store.Cell(ctx, workspace, ledger.CellLanding, landingKey(r))
	if fault.CodeOf(err) == fault.NotFound {
		s, err := landing.Create(landing.CreateParams{Dialect: landing.DialectFor(false, r.Base), Repository: r.Alias, ProtectedBase: r.Base}, h.Now())
		return s, 0, err
	}
	if err != nil {
		return landing.State{}, 0, err
	}
	s, err := landing.Parse(cell.Value, want)
	return s, cell.Version, err
}

// transition applies one operation of the authority and stores the new state,
// both snapshots, the record of the step, and what extra adds, in one commit.
// A state that moved in between is read and decided on again. Without extra the
// task stays where it is, and what changed nothing writes nothing.
func (j *job) transition(ctx context.Context, op func(landing.State) (landing.Transition, error), extra func(landing.Transition, *batch) error) (landing.Transition, error) {
	const tries = 10
	for i := 0; ; i++ {
		s, version, err := j.authority(ctx, j.workspace, j.repo)
		if err != nil {
			return landing.Transition{}, err
		}
		t, err := op(s)
		if err != nil {
			return t, err
		}
		err = j.keepTransition(ctx, s, version, t, extra)
		if fault.CodeOf(err) != fault.Conflict || i == tries {
			return t, err
		}
	}
}

func (j *job) keepTransition(ctx context.Context, before landing.State, version int64, t landing.Transition, extra func(landing.Transition, *batch) error) error {
	b := batch{point: string(t.Operation.Op)}
	if t.Changed {
		docs, cells, err := j.stepDocuments(ctx, before, version, t)
		if err != nil {
			return err
		}
		b.docs, b.cells = docs, cells
	}
	if extra != nil {
		if err := extra(t, &b); err != nil {
			return err
		}
		return j.save(ctx, j.workspace, &j.task, b)
	}
	if !t.Changed {
		return nil
	}
	b.workspace, b.space, b.run, b.lane = j.workspace, j.task.Space, j.task.Run, j.task.Lane
	_, err := j.commit(ctx, b)
	return err
}

// stepDocuments are the snapshots around a transition, its record, the cell of
// the new state and the cells of chains that left or came back.
func (j *job) stepDocuments(ctx context.Context, before landing.State, version int64, t landing.Transition) ([]ledger.NewDocument, []ledger.CellWrite, error) {
	var docs []ledger.NewDocument
	for _, s := range []landing.State{before, t.State} {
		doc, err := j.snapshot(ctx, s)
		if err != nil {
			return nil, nil, err
		}
		if doc != nil {
			docs = append(docs, *doc)
		}
	}
	op, err := t.Operation.Value()
	if err != nil {
		return nil, nil, err
	}
	record, err := canon.Marshal(map[string]any{
		"schema": docket.StepSchema, "before": t.Before, "after": t.State.StateRoot, "action": string(t.Action), "operation": op,
	})
	if err != nil {
		return nil, nil, err
	}
	docs = append(docs, bytesDocument(ledger.KindLandingStep, j.task.Run, record))
	body, err := t.State.Value()
	if err != nil {
		return nil, nil, err
	}
	cells := []ledger.CellWrite{{Kind: ledger.CellLanding, Key: landingKey(j.repo), Expect: version, State: "active", Value: body.Canonical()}}
	moved, err := j.archiveCells(ctx, t)
	return docs, append(cells, moved...), err
}

// snapshot is the document of a state that is not stored yet, or nil.
func (j *job) snapshot(ctx context.Context, s landing.State) (*ledger.NewDocument, error) {
	ref := docket.StateRef(s.StateRoot, j.task.Run)
	if _, err := j.Store.Document(ctx, j.workspace, ref); fault.CodeOf(err) != fault.NotFound {
		return nil, err
	}
	v, err := s.Value()
	if err != nil {
		return nil, err
	}
	return &ledger.NewDocument{Kind: ledger.KindLandingState, Ref: ref, RunID: j.task.Run, Body: v.Canonical()}, nil
}

func archiveKey(r Repository, change int64) string { return landingKey(r) + "#" + itoa(change) }

func (j *job) archiveCells(ctx context.Context, t landing.Transition) ([]ledger.CellWrite, error) {
	var cells []ledger.CellWrite
	version := func(change int64) (int64, error) {
		c, err := j.Store.Cell(ctx, j.workspace, ledger.CellArchive, archiveKey(j.repo, change))
		if fault.CodeOf(err) == fault.NotFound {
			return ledger.AnyVersion, nil
		}
		return c.Version, err
	}
	for _, a := range t.Archived {
		v, err := a.Value()
		if err != nil {
			return nil, err
		}
		at, err := version(a.PullRequestNumber)
		if err != nil {
			return nil, err
		}
		cells = append(cells, ledger.CellWrite{Kind: ledger.CellArchive, Key: archiveKey(j.repo, a.PullRequestNumber), Expect: at, State: "ended", Value: v.Canonical()})
	}
	for _, change := range t.Restored {
		at, err := version(change)
		if err != nil {
			return nil, err
		}
		cells = append(cells, ledger.CellWrite{Kind: ledger.CellArchive, Key: archiveKey(j.repo, change), Expect: at, State: "back", Delete: true})
	}
	return cells, nil
}

// archived is the kept chain of a change, or nil.
func (j *job) archived(ctx context.Context, change int64) (*landing.Archived, error) {
	c, err := j.Store.Cell(ctx, j.workspace, ledger.CellArchive, archiveKey(j.repo, change))
	if fault.CodeOf(err) == fault.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v, err := canon.Parse(c.Value)
	if err != nil {
		return nil, err
	}
	a, err := landing.ParseArchived(v)
	return &a, err
}

// change is the number that every attempt of the lane has, and the cells that
// allot it when the lane has none yet.
func (j *job) change(ctx context.Context) (int64, []ledger.CellWrite, error) {
	lane, err := j.number(ctx, landingKey(j.repo)+"/"+j.task.Lane)
	if err != nil || lane.n > 0 {
		return lane.n, nil, err
	}
	next, err := j.number(ctx, landingKey(j.repo))
	if err != nil {
		return 0, nil, err
	}
	n := next.n + 1
	return n, []ledger.CellWrite{next.write(n), lane.write(n)}, nil
}

// counter is a number in a cell.
type counter struct {
	key     string
	n       int64
	version int64
}

func (c counter) write(n int64) ledger.CellWrite {
	return ledger.CellWrite{Kind: ledger.CellChange, Key: c.key, Expect: c.version, State: "used", Value: canon.IntOf(n).Canonical()}
}

func (j *job) number(ctx context.Context, key string) (counter, error) {
	c, err := j.Store.Cell(ctx, j.workspace, ledger.CellChange, key)
	if fault.CodeOf(err) == fault.NotFound {
		return counter{key: key}, nil
	}
	if err != nil {
		return counter{}, err
	}
	v, err := canon.Parse(c.Value)
	n, ok := v.Int()
	if err != nil || !ok {
		return counter{}, errors.Join(fault.New(fault.Corrupt, "read number", "the stored number %s is damaged", key), err)
	}
	return counter{key, n, c.Version}, nil
}

// candidate is the attempt of this task as the state has it.
func (j *job) candidate(s landing.State) (landing.Candidate, error) {
	c, ok := s.Candidate(j.task.Candidate)
	if !ok {
		return c, fault.New(fault.State, "find candidate", "candidate %s is not in the state of %s", j.task.Candidate, landingKey(j.repo))
	}
	return c, nil
}
