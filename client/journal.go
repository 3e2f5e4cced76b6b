package client

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Event is a journal event in its wire form. Raw has every member, also those
// that this build does not know.
type Event struct {
	Seq     int64           `json:"seq"`
	TS      string          `json:"ts"`
	ID      string          `json:"id"`
	Type    string          `json:"type"`
	RunID   string          `json:"run_id"`
	LaneID  string          `json:"lane_id"`
	SpaceID string          `json:"space_id"`
	Raw     json.RawMessage `json:"-"`
}

func parseEvent(raw []byte) (Event, error) {
	e := Event{Raw: raw}
	if err := json.Unmarshal(raw, &e); err != nil {
		return e, fmt.Errorf("read event: %w", err)
	}
	return e, nil
}

// NewKey makes an idempotency key. Keep it to repeat a write after a crash.
func NewKey() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: the runtime ends the process instead
	return hex.EncodeToString(b[:])
}

// Append writes an event and returns it as stored, durable. members are those of
// the write form; v is set. key is the idempotency key: the same key with the
// same members writes nothing and returns the first event, with replayed true.
func (c *Client) Append(ctx context.Context, key, eventType string, members map[string]any) (e Event, replayed bool, err error) {
	body := map[string]any{"v": 1, "type": eventType, "idempotency_key": key}
	for name, value := range members {
		body[name] = value
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return e, false, fmt.Errorf("append event: %w", err)
	}
	return c.AppendRaw(ctx, raw)
}

// AppendRaw writes an event that is JSON already, key included.
func (c *Client) AppendRaw(ctx context.Context, raw []byte) (e Event, replayed bool, err error) {
	r, err := c.do(ctx, call{method: http.MethodPost, path: "/v1/events", body: raw})
	if err != nil {
		return e, false, err
	}
	defer drain(r)
	wire, err := io.ReadAll(r.Body)
	if err != nil {
		return e, false, fmt.Errorf("append event: %w", err)
	}
	e, err = parseEvent(wire)
	return e, r.Header.Get("Writ-Replayed") == "true", err
}

// Filter selects events; zero fields match all.
type Filter struct {
	Types     []string
	Run, Lane string
}

func (f Filter) query(after int64) url.Values {
	q := url.Values{"after": {format(after)}}
	if len(f.Types) > 0 {
		q["type"] = f.Types
	}
	if f.Run != "" {
		q.Set("run", f.Run)
	}
	if f.Lane != "" {
		q.Set("lane", f.Lane)
	}
	return q
}

// Page is a slice of the journal.
type Page struct {
	Events    []Event
	NextAfter int64 // pass for the next page
	Head      int64
}

// Events reads a page of at most limit events after a sequence number.
func (c *Client) Events(ctx context.Context, after int64, limit int, f Filter) (Page, error) {
	q := f.query(after)
	q.Set("limit", format(int64(limit)))
	var out struct {
		Events    []json.RawMessage `json:"events"`
		NextAfter int64             `json:"next_after"`
		Head      int64             `json:"head_seq"`
	}
	if err := c.get(ctx, "/v1/events", q, &out); err != nil {
		return Page{}, err
	}
	p := Page{NextAfter: out.NextAfter, Head: out.Head}
	for _, raw := range out.Events {
		e, err := parseEvent(raw)
		if err != nil {
			return p, err
		}
		p.Events = append(p.Events, e)
	}
	return p, nil
}

// Subscribe yields events after a sequence number as they come, each once and in
// order, until ctx ends or the server refuses the cursor (code gap or
// cursor_ahead). A cut connection is made again and goes on where it was.
func (c *Client) Subscribe(ctx context.Context, after int64, f Filter) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for {
			next, stop, err := c.follow(ctx, after, f, yield)
			after = next
			switch {
			case stop || ctx.Err() != nil:
				return
			case err != nil:
				yield(Event{}, err)
				return
			}
			timer := time.NewTimer(200 * time.Millisecond) // the stream was cut
			select {
			case <-ctx.Done():
				timer.Stop()
				return
			case <-timer.C:
			}
		}
	}
}

// follow reads one stream. It returns the cursor, whether the reader had enough,
// and an error that a new stream would not mend.
func (c *Client) follow(ctx context.Context, after int64, f Filter, yield func(Event, error) bool) (int64, bool, error) {
	r, err := c.do(ctx, call{method: http.MethodGet, path: "/v1/stream", query: f.query(after)})
	if err != nil {
		return after, false, err
	}
	defer r.Body.Close()
	in := bufio.NewReader(r.Body)
	for {
		frame, err := readFrame(in)
		if err != nil {
			return after, false, nil
		}
		if frame.event == "mark" {
			var m struct {
				Head int64 `json:"head_seq"`
			}
			if json.Unmarshal(frame.data, &m) == nil && m.Head > after {
				after = m.Head
			}
			continue
		}
		if len(frame.data) == 0 {
			continue
		}
		e, err := parseEvent(frame.data)
		if err != nil {
			return after, false, err
		}
		if e.Seq <= after {
			continue // delivered before the cut
		}
		after = e.Seq
		if !yield(e, nil) {
			return after, true, nil
		}
	}
}

type frame struct {
	event string
	data  []byte
}

// maxFrame bounds one frame, in bytes.
const maxFrame = 4 << 20

var errFrame = errors.New("frame is too large")

func readFrame(in *bufio.Reader) (frame, error) {
	var f frame
	size := 0
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return f, err
		}
		if size += len(line); size > maxFrame {
			return f, errFrame
		}
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			return f, nil
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "event":
			f.event = value
		case "data":
			f.data = append(f.data, value...)
		}
	}
}
