package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strconv"
	"time"

	"writ/internal/fault"
	"writ/internal/ledger"
)

const (
	defaultLimit = 100
	maxLimit     = 1000
	defaultBytes = 4 << 20
	// scanWindow is how many events one page may look at when no run, lane or
	// space narrows it down.
	scanWindow = 1 << 15
)

// Events returns a page of the log. A page that is filtered by type alone looks
// at a bounded stretch of the log; NextAfter says how far it came.
func (s *Store) Events(ctx context.Context, workspace string, q ledger.EventQuery) (ledger.EventPage, error) {
	if q.Limit < 0 || q.Limit > maxLimit {
		return ledger.EventPage{}, fault.New(fault.Invalid, "read log", "limit is 1 to %d, not %d", maxLimit, q.Limit).At("/limit")
	}
	if q.After < 0 || q.MaxBytes < 0 {
		return ledger.EventPage{}, fault.New(fault.Invalid, "read log", "a cursor or size below zero")
	}
	if q.Limit == 0 {
		q.Limit = defaultLimit
	}
	if q.MaxBytes == 0 {
		q.MaxBytes = defaultBytes
	}
	b, err := s.reader.bounds(ctx, workspace)
	if err != nil {
		return ledger.EventPage{}, err
	}
	if q.After > b.head {
		head := strconv.FormatInt(b.head, 10)
		return ledger.EventPage{}, fault.New(fault.CursorAhead, "read log", "cursor %d is ahead of the log, which ends at %s", q.After, head).
			Help("start again from an earlier event").With("head", head)
	}
	page := ledger.EventPage{NextAfter: q.After, Head: b.head, Earliest: b.earliest}
	p := pageReader{Store: s, workspace: workspace, q: q, b: b, page: &page}
	if err := p.read(ctx); err != nil {
		return ledger.EventPage{}, err
	}
	return page, nil
}

// pageReader fills one page.
type pageReader struct {
	*Store
	workspace string
	q         ledger.EventQuery
	b         bounds
	page      *ledger.EventPage
	bytes     int
	full      bool
}

func (p *pageReader) read(ctx context.Context) error {
	scope := p.q.RunID
	if scope == "" {
		scope = p.q.LaneID
	}
	if scope == "" {
		scope = p.q.SpaceID
	}
	upto := p.b.head
	switch {
	case scope != "":
		if folded := min(p.b.folded, upto); p.q.After < folded {
			if err := p.stretch(ctx, p.reader.eventsOfScope, folded, scope); err != nil {
				return err
			}
		}
	case len(p.q.Types) > 0:
		upto = min(upto, p.q.After+scanWindow)
	}
	return p.stretch(ctx, p.reader.eventsInRange, upto)
}

// stretch adds the matching events after the page's cursor and up to upto, and
// moves the cursor, unless the page is full.
func (p *pageReader) stretch(ctx context.Context, stmt *sql.Stmt, upto int64, extra ...any) error {
	if p.full || p.page.NextAfter >= upto {
		return nil
	}
	n := p.b.number
	rows, err := stmt.QueryContext(ctx, append([]any{place(n, p.page.NextAfter), place(n, upto),
		p.q.RunID, p.q.LaneID, p.q.SpaceID, list(p.q.Types), p.q.Limit - len(p.page.Events)}, extra...)...)
	if err != nil {
		return broken(err, "read log")
	}
	if p.page.Events == nil {
		p.page.Events = make([]ledger.Event, 0, min(int64(p.q.Limit), upto-p.page.NextAfter, 256))
	}
	err = p.fill(rows)
	if err = errors.Join(err, rows.Close()); err != nil {
		return broken(err, "read log")
	}
	if !p.full {
		p.page.NextAfter = upto
	}
	return nil
}

func (p *pageReader) fill(rows *sql.Rows) error {
	for rows.Next() {
		e, err := scanEvent(p.workspace, rows.Scan)
		if err != nil {
			return err
		}
		if p.bytes += len(e.Body); p.bytes > p.q.MaxBytes && len(p.page.Events) > 0 {
			p.full = true
			return nil
		}
		p.page.Events = append(p.page.Events, e)
		p.page.NextAfter = e.Seq
		if len(p.page.Events) == p.q.Limit {
			p.full = true
			return nil
		}
	}
	return rows.Err()
}

// Event returns one event by its id.
func (s *Store) Event(ctx context.Context, workspace, id string) (ledger.Event, error) {
	rows, err := s.reader.eventByID.QueryContext(ctx, workspace, id)
	if err != nil {
		return ledger.Event{}, broken(err, "read event")
	}
	found, err := collect(rows, "read event", func(scan scanner) (ledger.Event, error) { return scanEvent(workspace, scan) })
	if err != nil {
		return ledger.Event{}, err
	}
	if len(found) == 0 {
		return ledger.Event{}, fault.New(fault.NotFound, "read event", "no event %s", id)
	}
	return found[0], nil
}

// eventColumns is how many columns an event has in every statement that
// returns one; scanEvent and eventOf read them in this order: place, ts, id,
// type, actor, space_id, run_id, lane_id, prev, hash, body.
const eventColumns = 11

func scanEvent(workspace string, scan scanner) (ledger.Event, error) {
	e := ledger.Event{Workspace: workspace}
	var at, ts int64
	var prev, hash sql.RawBytes
	err := scan(&at, &ts, &e.ID, &e.Type, &e.Actor, &e.SpaceID, &e.RunID, &e.LaneID, &prev, &hash, &e.Body)
	e.Seq, e.TS = seqOf(at), time.UnixMilli(ts).UTC()
	copy(e.Prev[:], prev)
	copy(e.Hash[:], hash)
	return e, err
}

func eventOf(workspace string, row []driver.Value) ledger.Event {
	text := func(i int) string { return row[i].(string) }
	e := ledger.Event{
		Workspace: workspace, Seq: seqOf(row[0].(int64)), TS: time.UnixMilli(row[1].(int64)).UTC(),
		ID: text(2), Type: text(3), Actor: text(4), SpaceID: text(5), RunID: text(6), LaneID: text(7),
		Body: row[10].([]byte),
	}
	copy(e.Prev[:], row[8].([]byte))
	copy(e.Hash[:], row[9].([]byte))
	return e
}
