package server

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strconv"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"writ/internal/fault"
)

// Problem is an RFC 9457 problem document: the one shape in which errors leave the server.
type Problem struct {
	Type    string            `json:"type" doc:"always about:blank; code tells the kind"`
	Title   string            `json:"title" doc:"what the code means"`
	Status  int               `json:"status"`
	Code    fault.Code        `json:"code" doc:"one of a closed set; branch on this"`
	Detail  string            `json:"detail" doc:"what is wrong with this request"`
	Hint    string            `json:"hint,omitempty" doc:"what would help"`
	Pointer string            `json:"pointer,omitempty" doc:"JSON pointer of the field at fault"`
	Offset  *int64            `json:"offset,omitempty" doc:"byte offset of the fault, from 0"`
	Errors  []fault.Field     `json:"errors,omitempty" doc:"every failure, when there is more than one"`
	Retry   bool              `json:"retry" doc:"whether the same request may succeed later; a retry with the same key is always safe"`
	Data    map[string]string `json:"data,omitempty" doc:"facts that a client may use"`
}

// Error implements error.
func (p *Problem) Error() string { return p.Detail }

// GetStatus tells huma the status.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType tells huma the media type.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

func newProblem(err error) *Problem {
	e, ok := fault.As(err)
	if !ok { // not one of ours: the cause stays private
		e = fault.Wrap(err, fault.Internal, "", "something went wrong on the server")
	}
	row := e.Code.Of()
	p := &Problem{Type: "about:blank", Title: row.Summary, Status: row.HTTP, Code: e.Code, Detail: e.Public, Hint: e.Hint, Pointer: e.Pointer, Errors: e.Fields, Retry: row.Retry}
	if e.Op != "" {
		p.Detail = e.Op + ": " + e.Public
	}
	if off, ok := e.ByteOffset(); ok {
		p.Offset = &off
	}
	for _, a := range e.Data {
		if p.Data == nil {
			p.Data = map[string]string{}
		}
		p.Data[a.Name] = a.Value
	}
	return p
}

// problem answers with err and logs what the client is not told.
func (s *Server) problem(w http.ResponseWriter, r *http.Request, err error) {
	p := s.logged(r, err)
	w.Header().Set("Content-Type", p.ContentType(""))
	switch p.Status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", `Bearer realm="writ"`)
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		w.Header().Set("Retry-After", strconv.Itoa(1))
	}
	w.WriteHeader(p.Status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(p) // the client is gone: there is nobody to tell
}

// logged makes the problem document of err; a failure of ours is logged, once, here.
func (s *Server) logged(r *http.Request, err error) *Problem {
	p := newProblem(err)
	if p.Status >= 500 && r.Context().Err() == nil {
		s.Log.LogAttrs(r.Context(), slog.LevelError, "request failed",
			slog.String("method", r.Method), slog.String("path", r.URL.Path),
			slog.String("code", string(p.Code)), slog.Any("err", err))
	}
	return p
}

// Errors that huma itself finds (a query parameter of the wrong type) take the same shape.
var shapeErrors = sync.OnceFunc(func() {
	huma.NewError = func(status int, msg string, errs ...error) huma.StatusError {
		code := fault.Invalid
		switch {
		case status == http.StatusRequestEntityTooLarge:
			code = fault.TooLarge
		case status >= 500:
			code = fault.Internal
		}
		e := fault.New(code, "read request", "%s", msg)
		for _, err := range errs {
			f := fault.Field{Rule: err.Error()}
			if d, ok := err.(huma.ErrorDetailer); ok {
				f = fault.Field{Pointer: d.ErrorDetail().Location, Rule: d.ErrorDetail().Message}
			}
			e.Fields = append(e.Fields, f)
		}
		return newProblem(e)
	}
})
