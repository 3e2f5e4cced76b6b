package server

import (
	"context"
	"slices"
	"sync"

	"writ/internal/ledger"
)

// Bounds of what a tail keeps of a workspace that has readers. One who falls
// further behind reads from the ledger again.
const (
	tailEvents = 1024
	tailBytes  = 4 << 20
)

// tails are the ends of those journals that somebody follows.
type tails struct {
	store Store
	mu    sync.Mutex
	of    map[string]*tail // by workspace
}

// tail is the newest end of one workspace's journal, read once for all who
// follow it. A reader is a filter and a cursor: it is woken for events that
// match, holds no queue, and costs nothing while none does. Those with the same
// filter are asked together.
type tail struct {
	cancel context.CancelFunc
	done   chan struct{} // closes when nobody reads any more, or the ledger failed and readers have to begin again

	mu     sync.Mutex
	head   int64          // number of the newest event that was looked at
	events []ledger.Event // the newest ones, without gaps, up to head
	bytes  int            // of their bodies
	groups []group
}

// group is those readers of a tail that want the same.
type group struct {
	filter
	readers map[*reader]bool
}

// filter is what a reader wants to see; empty fields match all.
type filter struct {
	types            []string
	run, lane, space string
}

func filterOf(q ledger.EventQuery) filter {
	return filter{slices.Compact(slices.Sorted(slices.Values(q.Types))), q.RunID, q.LaneID, q.SpaceID}
}

func (f *filter) is(o *filter) bool {
	return f.run == o.run && f.lane == o.lane && f.space == o.space && slices.Equal(f.types, o.types)
}

// wants reports whether e passes.
func (f *filter) wants(e *ledger.Event) bool {
	return (len(f.types) == 0 || slices.Contains(f.types, e.Type)) &&
		(f.run == "" || f.run == e.RunID) &&
		(f.lane == "" || f.lane == e.LaneID) &&
		(f.space == "" || f.space == e.SpaceID)
}

// reader is one who follows a tail.
type reader struct {
	filter
	q    ledger.EventQuery
	wake chan struct{} // one token: there is something that matches
}

// join begins to follow a workspace, from head on when nobody did before. The
// caller calls leave at the end.
func (ts *tails) join(workspace string, q ledger.EventQuery, head int64) (r *reader, t *tail, leave func()) {
	r = &reader{filter: filterOf(q), q: q, wake: make(chan struct{}, 1)}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if t = ts.of[workspace]; t == nil || t.over() {
		ctx, cancel := context.WithCancel(context.Background())
		t = &tail{cancel: cancel, done: make(chan struct{}), head: head}
		if ts.of == nil {
			ts.of = map[string]*tail{}
		}
		ts.of[workspace] = t
		go t.run(ctx, ts.store, workspace)
	}
	t.enter(r)
	return r, t, func() { ts.leave(workspace, t, r) }
}

func (t *tail) over() bool {
	select {
	case <-t.done:
		return true
	default:
		return false
	}
}

// leave ends the tail with its last reader.
func (ts *tails) leave(workspace string, t *tail, r *reader) {
	ts.mu.Lock()
	last := t.exit(r)
	if last && ts.of[workspace] == t {
		delete(ts.of, workspace)
	}
	ts.mu.Unlock()
	if last {
		t.cancel()
		<-t.done
	}
}

func (t *tail) group(f *filter) int {
	return slices.IndexFunc(t.groups, func(g group) bool { return g.is(f) })
}

func (t *tail) enter(r *reader) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := t.group(&r.filter)
	if i < 0 {
		i = len(t.groups)
		t.groups = append(t.groups, group{r.filter, map[*reader]bool{}})
	}
	t.groups[i].readers[r] = true
}

// exit reports whether r was the last reader.
func (t *tail) exit(r *reader) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := t.group(&r.filter)
	if delete(t.groups[i].readers, r); len(t.groups[i].readers) == 0 {
		t.groups = slices.Delete(t.groups, i, i+1)
	}
	return len(t.groups) == 0
}

// run reads the journal as it grows.
func (t *tail) run(ctx context.Context, store Store, workspace string) {
	defer close(t.done)
	for head := t.head; ; {
		_, err := store.Wait(ctx, workspace, head)
		var page ledger.EventPage
		if err == nil {
			page, err = store.Events(ctx, workspace, ledger.EventQuery{After: head, Limit: pageSize})
		}
		if err != nil {
			return
		}
		head = page.NextAfter
		t.add(page)
	}
}

// add takes in new events and wakes the readers that one of them is for.
func (t *tail) add(page ledger.EventPage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.head = page.NextAfter
	for _, e := range page.Events {
		t.events = append(t.events, e)
		t.bytes += len(e.Body)
	}
	drop := 0
	for len(t.events)-drop > tailEvents || t.bytes > tailBytes && len(t.events)-drop > 1 {
		t.bytes -= len(t.events[drop].Body)
		drop++
	}
	t.events = slices.Delete(t.events, 0, drop)
	for i := range t.groups {
		t.groups[i].look(page.Events)
	}
}

// look wakes the readers when one of the events is for them.
func (g *group) look(events []ledger.Event) {
	for i := range events {
		if !g.wants(&events[i]) {
			continue
		}
		for r := range g.readers {
			select {
			case r.wake <- struct{}{}:
			default: // it will look anyway
			}
		}
		return
	}
}

// after returns a page of what r has not seen, as the ledger would. It is not
// known when the cursor is before the oldest event that is kept.
func (t *tail) after(r *reader) (page ledger.EventPage, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	skip := len(t.events) - int(t.head-r.q.After)
	if skip < 0 {
		return page, false
	}
	if skip > len(t.events) { // the reader came by the ledger, and is ahead for a moment
		return ledger.EventPage{NextAfter: r.q.After, Head: r.q.After}, true
	}
	page = ledger.EventPage{NextAfter: t.head, Head: t.head}
	for i := skip; i < len(t.events); i++ {
		if e := &t.events[i]; r.wants(e) {
			page.Events = append(page.Events, *e)
		}
	}
	return page, true
}
