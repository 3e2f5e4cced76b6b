package lane

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ledger"
)

// memory is a ledger in memory, for one workspace, with the promises that the
// desk relies on. It counts reads, and can lose a number of races on purpose.
type memory struct {
	mu     sync.Mutex
	events []ledger.Event
	cells  map[[2]string]ledger.Cell
	keys   map[[2]string]known
	reads  int
	races  int // commits with cells that are to fail as if another had been faster
}

type known struct {
	print canon.Digest
	event ledger.Event
}

func newMemory() *memory {
	return &memory{cells: map[[2]string]ledger.Cell{}, keys: map[[2]string]known{}}
}

func (m *memory) Commit(_ context.Context, c ledger.Commit) (ledger.Receipt, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c.Once != nil {
		if k, ok := m.keys[[2]string{c.Once.Principal, c.Once.Key}]; ok {
			if k.print != c.Once.Fingerprint {
				return ledger.Receipt{}, fault.New(fault.Idempotency, "commit", "key used").With("event_id", k.event.ID)
			}
			return ledger.Receipt{Events: []ledger.Event{k.event}, Replayed: true}, nil
		}
	}
	if m.races > 0 && len(c.Cells) > 0 {
		m.races--
		return ledger.Receipt{}, fault.New(fault.Conflict, "commit", "lost a race on purpose")
	}
	for _, w := range c.Cells {
		if have := m.cells[[2]string{w.Kind, w.Key}].Version; w.Expect != ledger.AnyVersion && w.Expect != have {
			return ledger.Receipt{}, fault.New(fault.Conflict, "commit", "%s %s is at %d, not %d", w.Kind, w.Key, have, w.Expect)
		}
	}
	var out []ledger.Event
	for _, n := range c.Events {
		if slices.ContainsFunc(append(m.events, out...), func(e ledger.Event) bool { return e.ID == n.ID }) {
			return ledger.Receipt{}, fault.New(fault.EventID, "commit", "id %s is taken", n.ID)
		}
		out = append(out, ledger.Event{
			Workspace: c.Workspace, Seq: int64(len(m.events) + len(out) + 1), TS: c.Now.UTC(),
			ID: n.ID, Type: n.Type, Actor: n.Actor, SpaceID: n.SpaceID, RunID: n.RunID, LaneID: n.LaneID, Body: n.Body,
		})
	}
	m.events = append(m.events, out...)
	for _, w := range c.Cells {
		k := [2]string{w.Kind, w.Key}
		v := ledger.Cell{Kind: w.Kind, Key: w.Key, State: w.State, Version: m.cells[k].Version + 1, Value: w.Value}
		if w.Delete {
			v.Value = nil
		}
		m.cells[k] = v
	}
	if c.Once != nil {
		m.keys[[2]string{c.Once.Principal, c.Once.Key}] = known{c.Once.Fingerprint, out[c.Once.Primary]}
	}
	return ledger.Receipt{Events: out}, nil
}

func (m *memory) Cell(_ context.Context, _, kind, key string) (ledger.Cell, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reads++
	if c, ok := m.cells[[2]string{kind, key}]; ok && c.Value != nil {
		return c, nil
	}
	return ledger.Cell{}, fault.New(fault.NotFound, "read cell", "no %s %s", kind, key)
}

func (m *memory) Cells(_ context.Context, _ string, f ledger.CellFilter) ([]ledger.Cell, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reads++
	var out []ledger.Cell
	for _, k := range slices.SortedFunc(maps.Keys(m.cells), func(a, b [2]string) int { return strings.Compare(a[1], b[1]) }) {
		c := m.cells[k]
		if c.Kind == f.Kind && c.Value != nil && (f.State == "" || c.State == f.State) && strings.HasPrefix(c.Key, f.Prefix) {
			out = append(out, c)
		}
	}
	return out, nil
}

func (m *memory) Event(_ context.Context, _, id string) (ledger.Event, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reads++
	for _, e := range m.events {
		if e.ID == id {
			return e, nil
		}
	}
	return ledger.Event{}, fault.New(fault.NotFound, "read event", "no event %s", id)
}

// clock is a time that tests move.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}
