package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"

	"writ/internal/fault"
	"writ/internal/journal"
	"writ/internal/ledger"
)

// appendEvent is the hot path: one read of the body, one commit, one write.
func (s *Server) appendEvent(w http.ResponseWriter, r *http.Request) {
	p, err := who(r.Context(), ScopeWrite)
	if err != nil {
		s.problem(w, r, err)
		return
	}
	raw, err := readBody(w, r, journal.MaxBytes)
	if err != nil {
		s.problem(w, r, err)
		return
	}
	wire, replayed, err := s.Desk.Append(r.Context(), p, raw, r.Header.Get("Idempotency-Key"))
	if err != nil {
		s.problem(w, r, err)
		return
	}
	h := w.Header()
	status := http.StatusCreated
	if replayed {
		h.Set("Writ-Replayed", "true")
		status = http.StatusOK
	}
	if seq, ok := journal.WireSeq(wire); ok {
		h.Set("Writ-Seq", strconv.FormatInt(seq, 10))
	}
	if r.Header.Get("Prefer") == "return=minimal" {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(wire)))
	w.WriteHeader(status)
	_, _ = w.Write(wire) // durable already; a client that left asks again with the same key
}

// readBody reads at most limit bytes.
func readBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if r.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	body := http.MaxBytesReader(w, r.Body, limit)
	var raw []byte
	var err error
	if r.ContentLength > 0 {
		raw = make([]byte, r.ContentLength)
		_, err = io.ReadFull(body, raw)
	} else {
		raw, err = io.ReadAll(body)
	}
	var big *http.MaxBytesError
	if errors.As(err, &big) {
		return nil, tooLarge(limit)
	}
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "read request", "the body ended early")
	}
	return raw, nil
}

func tooLarge(limit int64) error {
	return fault.New(fault.TooLarge, "read request", "the body is larger than %d bytes", limit)
}

type listEventsInput struct {
	After int64    `query:"after" minimum:"0" doc:"return events with a greater sequence number"`
	Limit int      `query:"limit" minimum:"1" maximum:"1000" default:"100"`
	Types []string `query:"type" doc:"only these event types"`
	Run   string   `query:"run"`
	Lane  string   `query:"lane"`
	Space string   `query:"space"`
}

type eventPage struct {
	Events    []rawJSON `json:"events" doc:"wire form, in order"`
	NextAfter int64     `json:"next_after" doc:"pass as after for the next page"`
	Head      int64     `json:"head_seq"`
	Earliest  int64     `json:"earliest_seq"`
}

func (s *Server) listEvents(ctx context.Context, in *listEventsInput) (*answer[eventPage], error) {
	p, err := who(ctx, ScopeRead)
	if err != nil {
		return nil, newProblem(err)
	}
	page, err := s.Store.Events(ctx, p.Workspace, ledger.EventQuery{After: in.After, Limit: in.Limit, Types: in.Types, RunID: in.Run, LaneID: in.Lane, SpaceID: in.Space})
	if err != nil {
		return nil, newProblem(err)
	}
	out := eventPage{Events: make([]rawJSON, len(page.Events)), NextAfter: page.NextAfter, Head: page.Head, Earliest: page.Earliest}
	for i, e := range page.Events {
		out.Events[i] = rawJSON(journal.Wire(e))
	}
	return &answer[eventPage]{out}, nil
}

func (s *Server) getEvent(ctx context.Context, in *struct {
	ID string `path:"id"`
}) (*answer[rawJSON], error) {
	p, err := who(ctx, ScopeRead)
	if err != nil {
		return nil, newProblem(err)
	}
	e, err := s.Store.Event(ctx, p.Workspace, in.ID)
	if err != nil {
		return nil, newProblem(err)
	}
	return &answer[rawJSON]{rawJSON(journal.Wire(e))}, nil
}
