package client

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// Event is a journal event in its wire form. Raw has every member, also those
// that this build does not know.
type Event struct {
	Seq     int64           `json:"seq"` // position in the workspace's journal, from 1 without gaps
	TS      string          `json:"ts"`  // server time, RFC 3339 in UTC with milliseconds
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
// With key "" a fresh one is made, which covers the repeats of this call.
func (c *Client) Append(ctx context.Context, key, eventType string, members map[string]any) (e Event, replayed bool, err error) {
	if key == "" {
		key = NewKey()
	}
	body := map[string]any{"v": 1, "type": eventType, "idempotency_key": key}
	for name, value := range members {
		body[name] = value
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return e, false, fmt.Errorf("append event: %w", err)
	}
	return c.append(ctx, call{body: of(raw)})
}

// AppendRaw writes an event that is JSON already. An event without an
// idempotency key gets a fresh one.
func (c *Client) AppendRaw(ctx context.Context, raw []byte) (e Event, replayed bool, err error) {
	q := call{body: of(raw)}
	var own struct {
		Key *string `json:"idempotency_key"`
	}
	if json.Unmarshal(raw, &own) == nil && own.Key == nil { // what is malformed is refused with its reason
		q.header = http.Header{"Idempotency-Key": {NewKey()}}
	}
	return c.append(ctx, q)
}

func (c *Client) append(ctx context.Context, q call) (e Event, replayed bool, err error) {
	q.method, q.path = http.MethodPost, "/v1/events"
	r, err := c.do(ctx, q)
	if err != nil {
		return e, false, err
	}
	defer drain(r)
	wire, err := readAll(r)
	if err != nil {
		return e, false, fmt.Errorf("append event: %w", err)
	}
	e, err = parseEvent(wire)
	return e, r.Header.Get("Writ-Replayed") == "true", err
}

// Filter selects events; zero fields match all.
type Filter struct {
	Types            []string
	Run, Lane, Space string
}

func (f Filter) query(after int64) url.Values {
	q := url.Values{"after": {format(after)}}
	if len(f.Types) > 0 {
		q["type"] = f.Types
	}
	for name, value := range map[string]string{"run": f.Run, "lane": f.Lane, "space": f.Space} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return q
}

// Page is a slice of the journal.
type Page struct {
	Events    []Event
	NextAfter int64 // pass for the next page
	Head      int64 // newest sequence number, 0 for an empty journal
	Earliest  int64 // oldest one that is kept
}

// Events reads a page of at most limit events after a sequence number, in order.
// limit is 1 to 1000; 0 leaves it to the server.
func (c *Client) Events(ctx context.Context, after int64, limit int, f Filter) (Page, error) {
	q := f.query(after)
	if limit > 0 {
		q.Set("limit", format(int64(limit)))
	}
	var out struct {
		Events    []json.RawMessage `json:"events"`
		NextAfter int64             `json:"next_after"`
		Head      int64             `json:"head_seq"`
		Earliest  int64             `json:"earliest_seq"`
	}
	if err := c.get(ctx, "/v1/events", q, &out); err != nil {
		return Page{}, err
	}
	p := Page{NextAfter: out.NextAfter, Head: out.Head, Earliest: out.Earliest}
	for _, raw := range out.Events {
		e, err := parseEvent(raw)
		if err != nil {
			return p, err
		}
		p.Events = append(p.Events, e)
	}
	return p, nil
}

// Event reads one event by its id.
func (c *Client) Event(ctx context.Context, id string) (Event, error) {
	var raw json.RawMessage
	if err := c.get(ctx, "/v1/events/"+url.PathEscape(id), nil, &raw); err != nil {
		return Event{}, err
	}
	return parseEvent(raw)
}

// readAll reads an answer of a length that is known at once, and any other as it
// comes.
func readAll(r *http.Response) ([]byte, error) {
	if r.ContentLength <= 0 || r.ContentLength > maxFrame {
		return io.ReadAll(r.Body)
	}
	out := make([]byte, r.ContentLength)
	_, err := io.ReadFull(r.Body, out)
	return out, err
}
