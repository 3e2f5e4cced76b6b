package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Subscribe yields events after a sequence number as they come, each once and in
// order, until ctx ends. A stream that is cut, or silent for longer than its
// heartbeats, is opened again where it was, however long the server is away.
// What waiting cannot mend is yielded as the last item: a token that is not
// valid, a cursor that the server refuses (CodeGap, CodeCursorAhead).
//
// To go on after a restart, keep the Seq of the last event that was dealt with.
func (c *Client) Subscribe(ctx context.Context, after int64, f Filter) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		s := stream{c: c, f: f, after: after, yield: yield}
		for fails := 0; ctx.Err() == nil; {
			s.moved = false
			err := s.follow(ctx)
			if s.enough || ctx.Err() != nil {
				return
			}
			if !transient(err) {
				yield(Event{}, err)
				return
			}
			if fails++; s.moved {
				fails = 1
			}
			d := backoff(fails, err)
			if s.retry > 0 && fails == 1 {
				d = s.retry/2 + rand.N(s.retry/2+1)
			}
			if c.wait(ctx, d) != nil {
				return
			}
		}
	}
}

// transient reports whether a new stream may do better.
func transient(err error) bool {
	var e *Error
	if errors.As(err, &e) {
		return e.Status == http.StatusTooManyRequests || e.Status >= 500
	}
	return !errors.Is(err, errFrame) && !errors.Is(err, errEvent)
}

var (
	errCut   = errors.New("the stream was cut")
	errFrame = errors.New("a frame of the stream is too large")
	errEvent = errors.New("an event of the stream cannot be read")
)

// stream is a subscription: one cursor over many connections.
type stream struct {
	c      *Client
	f      Filter
	yield  func(Event, error) bool
	after  int64
	moved  bool          // the cursor moved, or the server was heard
	enough bool          // the reader left the loop
	retry  time.Duration // pause that the server asks for
}

// follow reads one connection to its end.
func (s *stream) follow(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watchdog := time.AfterFunc(s.c.idle, cancel)
	defer watchdog.Stop()
	r, err := s.c.once(ctx, call{
		method: http.MethodGet, path: "/v1/stream", query: s.f.query(s.after),
		header: http.Header{"Accept": {"text/event-stream"}},
	})
	if err != nil {
		return err
	}
	defer r.Body.Close()
	s.moved = true
	in := bufio.NewReader(beating{r.Body, func() { watchdog.Reset(s.c.idle) }})
	for {
		f, err := readFrame(in)
		if errors.Is(err, errFrame) {
			return err
		}
		if err != nil {
			return errCut
		}
		if f.retry > 0 {
			s.retry = min(f.retry, time.Minute)
		}
		if err := s.take(f); err != nil || s.enough {
			return err
		}
	}
}

// take hands on one frame and moves the cursor.
func (s *stream) take(f frame) error {
	if len(f.data) == 0 {
		return nil
	}
	if f.event == "mark" { // nothing that matches up to here
		var m struct {
			Head int64 `json:"head_seq"`
		}
		if json.Unmarshal(f.data, &m) == nil {
			s.after = max(s.after, m.Head)
		}
		return nil
	}
	e, err := parseEvent(f.data)
	if err != nil || e.Seq < 1 {
		return fmt.Errorf("%w: after %d", errEvent, s.after)
	}
	if e.Seq <= s.after {
		return nil // came before the cut
	}
	s.after = e.Seq
	if s.f.Space == "" || s.f.Space == e.SpaceID { // streams are not filtered by space on the way
		s.enough = !s.yield(e, nil)
	}
	return nil
}

// beating tells of every read, so that silence can be noticed.
type beating struct {
	io.Reader
	beat func()
}

func (b beating) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if n > 0 {
		b.beat()
	}
	return n, err
}

type frame struct {
	event string
	data  []byte
	retry time.Duration
}

// maxFrame bounds one frame, in bytes.
const maxFrame = 4 << 20

// readFrame reads up to the next empty line.
func readFrame(in *bufio.Reader) (frame, error) {
	var f frame
	size := 0
	for {
		line, err := readLine(in, maxFrame-size)
		if err != nil {
			return f, err
		}
		size += len(line)
		if line == "" {
			return f, nil
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "event":
			f.event = value
		case "data":
			if f.data != nil {
				f.data = append(f.data, '\n')
			}
			f.data = append(f.data, value...)
		case "retry":
			if ms, err := strconv.ParseInt(value, 10, 32); err == nil {
				f.retry = time.Duration(ms) * time.Millisecond
			}
		}
	}
}

// readLine reads one line of at most limit bytes, without its end.
func readLine(in *bufio.Reader, limit int) (string, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if line = append(line, part...); len(line) > limit {
			return "", errFrame
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return "", err
		}
		return strings.TrimRight(string(line), "\r\n"), nil
	}
}
