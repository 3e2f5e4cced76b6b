package lane

import (
	"context"
	"strconv"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ident"
	"writ/internal/journal"
	"writ/internal/ledger"
)

// Store is what the desk needs of a ledger.
type Store interface {
	Reader
	Commit(ctx context.Context, c ledger.Commit) (ledger.Receipt, error)
}

// tries is how often a decision is made anew because another commit was faster.
const tries = 32

// Desk takes events in: it loads the facts, decides and commits. It keeps
// nothing between calls and is safe for concurrent use.
type Desk struct {
	Store  Store
	Now    func() time.Time
	NewID  Minter
	Limits Limits
}

// Append takes the write form of an event from p and returns its wire form, once
// it is durable. The idempotency key may be in the event, beside it, or both. A
// key that was used before for the same content writes nothing: the first event
// comes back, and replayed is true.
//
// Errors are those of journal.ParseKeyed, of the decision, and fault.Idempotency
// or fault.EventID when the key or the id were used for something else.
// fault.Conflict means that the state kept moving; the same request may be sent
// again.
func (d *Desk) Append(ctx context.Context, p journal.Principal, raw []byte, key string) (wire []byte, replayed bool, err error) {
	draft, err := journal.ParseKeyed(raw, p, key)
	if err != nil {
		return nil, false, err
	}
	if err := d.admit(ctx, draft); err != nil {
		return nil, false, err
	}
	e, replayed, err := d.write(ctx, draft)
	if err != nil {
		return nil, false, err
	}
	return journal.Wire(e), replayed, nil
}

// Write takes an event of the server's own through the same decisions, and
// returns it as stored.
func (d *Desk) Write(ctx context.Context, draft journal.Draft) (ledger.Event, error) {
	e, _, err := d.write(ctx, draft)
	return e, err
}

// admit checks what the bytes of a draft cannot tell.
func (d *Desk) admit(ctx context.Context, draft journal.Draft) error {
	if files, ok := draft.Value.Get("attachments"); ok && files.Len() > 0 {
		return fault.New(fault.Unsupported, "append event", "attachments are not kept here").At("/attachments").
			Help("upload the bytes as a blob and name it in the text")
	}
	if draft.Agent == "" {
		return nil
	}
	cell, err := d.Store.Cell(ctx, draft.Workspace, ledger.CellParticipant, draft.Agent)
	if err == nil {
		var a Participant
		if a, err = ReadParticipant(cell); err == nil && (a.Kind != journal.Agent || a.HarnessID != draft.By.ID) {
			err = fault.New(fault.NotFound, "", "")
		}
	}
	if fault.CodeOf(err) == fault.NotFound {
		return fault.New(fault.NotFound, "append event", "this harness has no agent %s", draft.Agent).At("/actor/id")
	}
	return err
}

func (d *Desk) write(ctx context.Context, draft journal.Draft) (ledger.Event, bool, error) {
	for try := 1; ; try++ {
		now := d.Now()
		dec, err := d.decide(ctx, draft, now)
		if err != nil {
			return d.refused(ctx, draft, now, err)
		}
		c := ledger.Commit{Workspace: draft.Workspace, Now: now, Once: once(draft, dec.Primary), Events: dec.Events, Cells: dec.Cells}
		r, err := d.Store.Commit(ctx, c)
		switch {
		case err == nil && r.Replayed:
			return r.Events[0], true, nil
		case err == nil:
			return r.Events[dec.Primary], false, nil
		case fault.CodeOf(err) == fault.Conflict && try < tries && ctx.Err() == nil:
			continue
		}
		return ledger.Event{}, false, err
	}
}

func once(draft journal.Draft, primary int) *ledger.Once {
	if draft.Key == "" {
		return nil
	}
	return &ledger.Once{Principal: draft.By.ID, Key: draft.Key, Fingerprint: draft.Fingerprint(), Primary: primary}
}

// refused answers a draft that was decided against. A retry of what went through
// before looks like that: what it asked for has happened. So the ledger is asked
// whether it knows the key, with a commit that can only be a replay.
func (d *Desk) refused(ctx context.Context, draft journal.Draft, now time.Time, because error) (ledger.Event, bool, error) {
	if o := once(draft, 0); o != nil {
		r, err := d.Store.Commit(ctx, ledger.Commit{
			Workspace: draft.Workspace, Now: now, Once: o,
			Events: []ledger.NewEvent{draft.Stored(journal.Fill{ID: d.NewID(ident.Event)})},
			Cells:  []ledger.CellWrite{{Kind: ledger.CellRun, Key: "never", Expect: canon.MaxSafe}},
		})
		switch {
		case err == nil && r.Replayed:
			return r.Events[0], true, nil
		case err != nil && fault.CodeOf(err) != fault.Conflict:
			return ledger.Event{}, false, err
		}
	}
	if e, ok := fault.As(because); ok && e.Code == fault.RunTerminal && e.Get("event_id") != "" {
		if won, err := d.Store.Event(ctx, draft.Workspace, e.Get("event_id")); err == nil {
			because = e.With("seq", strconv.FormatInt(won.Seq, 10))
		}
	}
	return ledger.Event{}, false, because
}

// decide loads what the draft needs and decides. Plain events need nothing.
func (d *Desk) decide(ctx context.Context, draft journal.Draft, now time.Time) (Decision, error) {
	switch draft.Type {
	case journal.RunRequested:
		f, err := d.requestFacts(ctx, draft)
		if err != nil {
			return Decision{}, err
		}
		return Request(f, draft, now)
	case journal.RunHandedOff:
		f := RequestFacts{Workspace: draft.Workspace, NewID: d.NewID, Limits: d.Limits}
		if err := d.parent(ctx, &f, draft.RunID); err != nil {
			return Decision{}, err
		}
		if err := d.people(ctx, &f); err != nil {
			return Decision{}, err
		}
		return HandOff(f, draft, now)
	case journal.LaneClosed:
		f, err := d.laneFacts(ctx, draft.Workspace, draft.LaneID)
		if err != nil {
			return Decision{}, err
		}
		return Close(f, draft, now)
	case journal.AutonomyChanged:
		f, err := d.laneFacts(ctx, draft.Workspace, draft.Get("scope"))
		if err != nil {
			return Decision{}, err
		}
		return SetLevel(f, draft, now)
	}
	if draft.InReplyToRun() {
		f, err := d.facts(ctx, draft.Workspace, draft.RunID, false, mayEnd[draft.Type])
		if err != nil {
			return Decision{}, err
		}
		return Apply(f, draft, now)
	}
	return d.plain(draft), nil
}

// mayEnd are the events that can close a lane.
var mayEnd = map[string]bool{
	journal.RunDeclined: true, journal.RunCompleted: true, journal.RunFailed: true,
	journal.RunCancelled: true, journal.RunExpired: true, journal.RunCancelRequested: true,
}

// plain is an event that moves no state.
func (d *Desk) plain(draft journal.Draft) Decision {
	fill := journal.Fill{ID: draft.ID}
	if fill.ID == "" {
		fill.ID = d.NewID(ident.Event)
	}
	switch {
	case draft.Type == journal.MessagePosted && draft.Get("message_id") == "":
		fill.Set = []canon.Member{textOf("message_id", d.NewID(ident.Message))}
	case draft.Type == journal.SpaceCreated && draft.SpaceID == "":
		fill.SpaceID = d.NewID(ident.Space)
	}
	return Decision{Events: []ledger.NewEvent{draft.Stored(fill)}}
}

// Renew prolongs the lease of a run that p works on, and returns the run: its
// lease, and whether it was asked to stop. Nothing is written to the journal.
func (d *Desk) Renew(ctx context.Context, p journal.Principal, runID string, attempt int64) (RunState, error) {
	if !p.Can(journal.ScopeWork) {
		return RunState{}, fault.New(fault.Forbidden, "renew lease", "this token lacks the scope %s", journal.ScopeWork).With("scope", journal.ScopeWork)
	}
	for try := 1; ; try++ {
		now := d.Now()
		f, err := d.facts(ctx, p.Workspace, runID, false, false)
		if err != nil {
			return RunState{}, err
		}
		dec, err := Renew(f, p, attempt, now)
		if err != nil || len(dec.Cells) == 0 {
			return dec.Run, err
		}
		_, err = d.Store.Commit(ctx, ledger.Commit{Workspace: p.Workspace, Now: now, Cells: dec.Cells})
		if fault.CodeOf(err) == fault.Conflict && try < tries && ctx.Err() == nil {
			continue
		}
		return dec.Run, err
	}
}

// Sweep does what time alone does to the runs of a workspace, and returns how
// many it moved. A run that another commit moves meanwhile is left for the next
// sweep.
func (d *Desk) Sweep(ctx context.Context, workspace string) (int, error) {
	moved := 0
	for _, state := range Live {
		cells, err := d.Store.Cells(ctx, workspace, ledger.CellFilter{Kind: ledger.CellRun, State: string(state)})
		if err != nil {
			return moved, err
		}
		for _, c := range cells {
			ok, err := d.sweepRun(ctx, workspace, c)
			if err != nil {
				return moved, err
			}
			if ok {
				moved++
			}
		}
	}
	return moved, nil
}

func (d *Desk) sweepRun(ctx context.Context, workspace string, c ledger.Cell) (bool, error) {
	now := d.Now()
	r, err := ReadRun(c)
	if err != nil {
		return false, err
	}
	if at, ok := r.Due(d.Limits); !ok || now.Before(at) {
		return false, nil
	}
	f, err := d.Facts(ctx, workspace, r.RunID)
	if err != nil {
		return false, err
	}
	dec, due, err := Expire(f, now)
	if err != nil || !due {
		return false, err
	}
	_, err = d.Store.Commit(ctx, ledger.Commit{Workspace: workspace, Now: now, Events: dec.Events, Cells: dec.Cells})
	if fault.CodeOf(err) == fault.Conflict {
		return false, nil
	}
	return err == nil, err
}
