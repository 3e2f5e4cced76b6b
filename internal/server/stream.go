package server

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"writ/internal/fault"
	"writ/internal/journal"
	"writ/internal/ledger"
)

const (
	pageSize  = 256
	flushSize = 64 << 10 // bytes of frames that are gathered before they are sent
	keepSize  = 8 << 10  // a larger buffer is given back while the reader waits
)

// stream sends the journal as server-sent events. A reader is a cursor: it is
// read for when the log grows, holds no queue, and cannot hold up anybody. It
// ends with its request, with its token, and when the server drains.
func (s *Server) stream(x *exchange, r *http.Request) error {
	q, err := parameters(r)
	if err != nil {
		return err
	}
	if last := r.Header.Get("Last-Event-ID"); last != "" { // a browser reconnects with the address it began with
		q.Set("after", last)
	}
	query, err := eventQuery(q, slices.DeleteFunc(slices.Clone(filters), func(name string) bool { return name == "limit" }))
	if err != nil {
		return err
	}
	query.Limit = pageSize
	page, err := s.Store.Events(r.Context(), x.by.Workspace, query)
	if err == nil && page.Earliest > query.After+1 {
		err = fault.New(fault.Gone, "open stream", "events up to %d are no longer kept", page.Earliest-1).
			Help("read on from after=%d", page.Earliest-1).With("earliest_seq", strconv.FormatInt(page.Earliest, 10))
	}
	if err != nil {
		return err
	}
	h := x.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	if r.Method == http.MethodHead {
		return nil
	}
	ctx, cancel := s.life(r.Context(), x.token)
	defer cancel()
	f := follower{s: s, workspace: x.by.Workspace, due: time.Now().Add(s.Beat), out: frames{x: x, buf: []byte("retry: 2000\n\n")}}
	var leave func()
	f.reader, f.tail, leave = s.tails.join(x.by.Workspace, query, page.Head)
	defer leave()
	f.follow(ctx, page)
	return nil
}

// life is how long a stream may last.
func (s *Server) life(ctx context.Context, t *token) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	drained := context.AfterFunc(s.draining, cancel)
	revoked := context.AfterFunc(t.ended, cancel)
	expired := func() bool { return true }
	if !t.expires.IsZero() {
		expired = time.AfterFunc(t.expires.Sub(s.Now()), cancel).Stop
	}
	return ctx, func() {
		drained()
		revoked()
		expired()
		cancel()
	}
}

// follower sends one reader what it has not seen.
type follower struct {
	s         *Server
	workspace string
	reader    *reader // its q.After is where the reader stands
	tail      *tail
	out       frames
	live      bool      // the reader was at the head once
	due       time.Time // of the next mark, unless something is sent before
}

// follow sends pages until ctx ends or the reader is gone. A mark says how far
// the reader is where no event does: when it gets to the head, and at every beat.
func (f *follower) follow(ctx context.Context, page ledger.EventPage) {
	for ctx.Err() == nil {
		for _, e := range page.Events {
			if f.out.event(e); len(f.out.buf) >= flushSize && f.flush() != nil {
				return
			}
		}
		f.reader.q.After = page.NextAfter
		caughtUp := page.NextAfter >= page.Head
		if caughtUp && !f.live || !time.Now().Before(f.due) {
			f.live = f.live || caughtUp
			f.out.mark(page.NextAfter)
		}
		if f.flush() != nil || caughtUp && !f.await(ctx) {
			return
		}
		var known bool
		if page, known = f.tail.after(f.reader); known {
			continue
		}
		var err error
		if page, err = f.s.Store.Events(ctx, f.workspace, f.reader.q); err != nil {
			return // the reader reconnects and is told why
		}
	}
}

// await blocks until something matches or a mark is due, and reports whether the
// stream goes on.
func (f *follower) await(ctx context.Context) bool {
	beat := time.NewTimer(time.Until(f.due))
	defer beat.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-f.tail.done:
		return false
	case <-f.reader.wake:
	case <-beat.C:
	}
	return true
}

func (f *follower) flush() error {
	if len(f.out.buf) == 0 {
		return nil
	}
	f.due = time.Now().Add(f.s.Beat)
	return f.out.flush()
}

// frames gathers frames, so that many events are one write.
type frames struct {
	x   *exchange
	buf []byte
}

func (o *frames) head(seq int64, kind string) {
	o.buf = strconv.AppendInt(append(o.buf, "id: "...), seq, 10)
	o.buf = append(append(o.buf, "\nevent: "...), kind...)
	o.buf = append(o.buf, "\ndata: "...)
}

func (o *frames) event(e ledger.Event) {
	o.head(e.Seq, e.Type)
	o.buf = append(journal.AppendWire(o.buf, e), "\n\n"...)
}

func (o *frames) mark(seq int64) {
	o.head(seq, "mark")
	o.buf = strconv.AppendInt(append(o.buf, `{"head_seq":`...), seq, 10)
	o.buf = append(o.buf, "}\n\n"...)
}

func (o *frames) flush() error {
	_, err := o.x.Write(o.buf)
	if o.buf = o.buf[:0]; cap(o.buf) > keepSize {
		o.buf = nil // the reader may be idle for days
	}
	if err != nil {
		return err
	}
	return o.x.control.Flush()
}
