package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"writ/internal/fault"
	"writ/internal/journal"
	"writ/internal/ledger"
)

const (
	beat         = 15 * time.Second // between signs of life on an idle stream
	writeTimeout = 10 * time.Second // for one flush; a reader that is slower is cut and resumes
	pageSize     = 256
)

// stream sends the journal as server-sent events. A reader is a cursor: it is
// read for when the log grows, holds no queue, and cannot hold up anybody.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	p, err := who(r.Context(), ScopeRead)
	if err != nil {
		s.problem(w, r, err)
		return
	}
	after, err := cursor(r)
	if err != nil {
		s.problem(w, r, err)
		return
	}
	q := r.URL.Query()
	query := ledger.EventQuery{After: after, Limit: pageSize, Types: q["type"], RunID: q.Get("run"), LaneID: q.Get("lane"), SpaceID: q.Get("space")}
	page, err := s.Store.Events(r.Context(), p.Workspace, query)
	if err == nil && page.Earliest > after+1 {
		err = fault.New(fault.Gone, "open stream", "events up to %d are no longer kept", page.Earliest-1).
			Help("read on from after=%d", page.Earliest-1).With("earliest_seq", strconv.FormatInt(page.Earliest, 10))
	}
	if err != nil {
		s.problem(w, r, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	out := &sse{w: w, c: http.NewResponseController(w)}
	out.printf("retry: 2000\n\n")
	s.follow(r.Context(), p.Workspace, query, page, out)
}

// cursor is where the reader stands: Last-Event-ID of a reconnect, or ?after.
func cursor(r *http.Request) (int64, error) {
	text := r.Header.Get("Last-Event-ID")
	if text == "" {
		text = r.URL.Query().Get("after")
	}
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fault.New(fault.Invalid, "open stream", "the cursor %q is not a sequence number", text).At("/after")
	}
	return n, nil
}

func (s *Server) follow(ctx context.Context, workspace string, q ledger.EventQuery, page ledger.EventPage, out *sse) {
	for {
		for _, e := range page.Events {
			out.event(strconv.FormatInt(e.Seq, 10), e.Type, journal.Wire(e))
		}
		q.After = page.NextAfter
		if len(page.Events) == 0 && q.After >= page.Head {
			out.printf(": at %d\n\n", q.After)
		}
		if out.flush() != nil {
			return
		}
		if q.After >= page.Head && !s.await(ctx, workspace, q.After, out) {
			return
		}
		var err error
		if page, err = s.Store.Events(ctx, workspace, q); err != nil {
			return // the reader reconnects and is told why
		}
	}
}

// await blocks until the log is beyond after, marking the head while it is not.
// It reports whether the stream goes on.
func (s *Server) await(ctx context.Context, workspace string, after int64, out *sse) bool {
	for {
		wait, cancel := context.WithTimeout(ctx, beat)
		stop := context.AfterFunc(s.draining, cancel)
		_, err := s.Store.Wait(wait, workspace, after)
		stop()
		cancel()
		if err == nil {
			return true
		}
		if ctx.Err() != nil || s.draining.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return false
		}
		// Nothing came: tell a filtered reader how far the log is.
		out.event(strconv.FormatInt(after, 10), "mark", fmt.Appendf(nil, `{"head_seq":%d}`, after))
		if out.flush() != nil {
			return false
		}
	}
}

// sse writes frames and remembers the first failure.
type sse struct {
	w   http.ResponseWriter
	c   *http.ResponseController
	err error
}

func (o *sse) printf(format string, args ...any) {
	if o.err == nil {
		_, o.err = fmt.Fprintf(o.w, format, args...)
	}
}

func (o *sse) event(id, kind string, data []byte) {
	o.printf("id: %s\nevent: %s\ndata: %s\n\n", id, kind, data)
}

func (o *sse) flush() error {
	if o.err == nil {
		if err := o.c.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
			o.err = err
		}
	}
	if o.err == nil {
		o.err = o.c.Flush()
	}
	return o.err
}
