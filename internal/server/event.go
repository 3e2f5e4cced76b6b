package server

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"writ/internal/fault"
	"writ/internal/journal"
	"writ/internal/ledger"
)

// appendEvent is the hot path: one read of the body, one commit, one write.
func (s *Server) appendEvent(x *exchange, r *http.Request) error {
	raw, err := x.read(journal.MaxBytes)
	if err != nil {
		return err
	}
	wire, replayed, err := s.Desk.Append(r.Context(), x.by, raw, r.Header.Get("Idempotency-Key"))
	if err != nil {
		return err
	}
	h := x.Header()
	status := http.StatusCreated
	if replayed {
		h["Writ-Replayed"] = yes
		status = http.StatusOK
	}
	if seq, ok := journal.WireSeq(wire); ok {
		h["Writ-Seq"] = []string{strconv.FormatInt(seq, 10)}
	}
	if prefersMinimal(r.Header["Prefer"]) {
		h["Preference-Applied"] = minimal
		x.WriteHeader(http.StatusNoContent)
		return nil
	}
	h["Content-Type"] = jsonType
	h["Content-Length"] = []string{strconv.Itoa(len(wire))}
	x.WriteHeader(status)
	_, _ = x.Write(wire) // durable already; a client that left asks again with the same key
	return nil
}

// Header values that need no copy per request.
var (
	yes      = []string{"true"}
	minimal  = []string{"return=minimal"}
	jsonType = []string{"application/json"}
)

// prefersMinimal looks for return=minimal among preferences (RFC 7240); the
// first return counts.
func prefersMinimal(headers []string) bool {
	for _, line := range headers {
		for part := range strings.SplitSeq(line, ",") {
			word, _, _ := strings.Cut(part, ";")
			name, value, _ := strings.Cut(word, "=")
			if strings.EqualFold(strings.TrimSpace(name), "return") {
				return strings.EqualFold(strings.Trim(strings.TrimSpace(value), `"`), "minimal")
			}
		}
	}
	return false
}

// filters are the query parameters of a list and of a stream alike.
var filters = []string{"after", "limit", "type", "run", "lane", "space"}

// eventQuery reads what a reader wants to see. known are the parameters that the
// route has.
func eventQuery(q url.Values, known []string) (ledger.EventQuery, error) {
	const op = "read journal"
	for name, values := range q {
		if !slices.Contains(known, name) {
			return ledger.EventQuery{}, fault.New(fault.Invalid, op, "unknown query parameter %q: one of %s", name, strings.Join(known, ", ")).At("/" + name)
		}
		if name != "type" && len(values) > 1 {
			return ledger.EventQuery{}, fault.New(fault.Invalid, op, "%s is given twice", name).At("/" + name)
		}
	}
	after, err := number(q.Get("after"), "/after", 0, 1<<53-1, 0)
	if err != nil {
		return ledger.EventQuery{}, err
	}
	limit, err := number(q.Get("limit"), "/limit", 1, 1000, 100)
	if err != nil {
		return ledger.EventQuery{}, err
	}
	for _, t := range q["type"] {
		if !journal.Known(t) {
			return ledger.EventQuery{}, fault.New(fault.Invalid, op, "unknown event type %q", journal.Clip(t, 60)).At("/type")
		}
	}
	return ledger.EventQuery{After: after, Limit: int(limit), Types: q["type"], RunID: q.Get("run"), LaneID: q.Get("lane"), SpaceID: q.Get("space")}, nil
}

// number reads a decimal number; rest when there is no text.
func number(text, at string, low, high, rest int64) (int64, error) {
	if text == "" {
		return rest, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < low || n > high {
		return 0, fault.New(fault.Invalid, "read journal", "%q is not a number from %d to %d", journal.Clip(text, 60), low, high).At(at)
	}
	return n, nil
}

type eventPage struct {
	Events    []wireEvent `json:"events" nullable:"false" doc:"wire form, in order"`
	NextAfter int64       `json:"next_after" doc:"pass as after for the next page; moves on even when nothing matches"`
	Head      int64       `json:"head_seq"`
	Earliest  int64       `json:"earliest_seq"`
}

// listEvents writes a page without looking into the events again.
func (s *Server) listEvents(x *exchange, r *http.Request) error {
	query, err := parameters(r)
	if err != nil {
		return err
	}
	q, err := eventQuery(query, filters)
	if err != nil {
		return err
	}
	page, err := s.Store.Events(r.Context(), x.by.Workspace, q)
	if err != nil {
		return err
	}
	size := 128
	for _, e := range page.Events {
		size += len(e.Body) + 64
	}
	out := append(make([]byte, 0, size), `{"events":[`...)
	for i, e := range page.Events {
		if i > 0 {
			out = append(out, ',')
		}
		out = journal.AppendWire(out, e)
	}
	for _, m := range []struct {
		name string
		n    int64
	}{{`],"next_after":`, page.NextAfter}, {`,"head_seq":`, page.Head}, {`,"earliest_seq":`, page.Earliest}} {
		out = strconv.AppendInt(append(out, m.name...), m.n, 10)
	}
	out = append(out, "}\n"...)
	h := x.Header()
	h["Content-Type"] = jsonType
	h["Content-Length"] = []string{strconv.Itoa(len(out))}
	_, _ = x.Write(out) // a short answer shows in Content-Length
	return nil
}

// parameters are those of the query; text that is none is refused instead of
// read as far as it goes.
func parameters(r *http.Request) (url.Values, error) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "read request", "the query is malformed")
	}
	return q, nil
}

func (s *Server) getEvent(ctx context.Context, p journal.Principal, in *struct {
	ID string `path:"id"`
}) (*answer[wireEvent], error) {
	e, err := s.Store.Event(ctx, p.Workspace, in.ID)
	if err != nil {
		return nil, err
	}
	return &answer[wireEvent]{journal.Wire(e)}, nil
}
