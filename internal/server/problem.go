package server

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"regexp"

	"writ/internal/fault"
)

// Problem is an RFC 9457 problem document: the one shape in which errors leave the server.
type Problem struct { //nolint:errname // the name of the standard
	Type      string            `json:"type" doc:"always about:blank; code tells the kind"`
	Title     string            `json:"title" doc:"what the code means"`
	Status    int               `json:"status"`
	Code      fault.Code        `json:"code" doc:"one of a closed set; branch on this"`
	Detail    string            `json:"detail" doc:"what is wrong with this request"`
	Hint      string            `json:"hint,omitempty" doc:"what would help"`
	Pointer   string            `json:"pointer,omitempty" doc:"JSON pointer of the field at fault"`
	Offset    *int64            `json:"offset,omitempty" doc:"byte offset of the fault, from 0"`
	Errors    []fault.Field     `json:"errors,omitempty" doc:"every failure, when there is more than one"`
	Retry     bool              `json:"retry" doc:"whether the same request may succeed later; a retry with the same key is always safe"`
	RequestID string            `json:"request_id" doc:"also in the header X-Request-Id, and in the server's log when the failure is the server's"`
	Data      map[string]string `json:"data,omitempty" doc:"facts that a client may use"`
}

const problemType = "application/problem+json"

// Error implements error.
func (p *Problem) Error() string { return p.Detail }

// GetStatus tells huma the status.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType tells huma the media type.
func (p *Problem) ContentType(string) string { return problemType }

// GetHeaders tells huma the headers that come with the status.
func (p *Problem) GetHeaders() http.Header {
	h := http.Header{}
	switch {
	case p.Status == http.StatusUnauthorized:
		h.Set("WWW-Authenticate", `Bearer realm="writ"`)
	case p.Retry && (p.Status == http.StatusServiceUnavailable || p.Status == http.StatusTooManyRequests):
		h.Set("Retry-After", "1")
	case p.Status == http.StatusMethodNotAllowed:
		h.Set("Allow", p.Data["allow"])
	}
	return h
}

func newProblem(err error) *Problem {
	e, ok := fault.As(err)
	if !ok { // not one of ours: the cause stays private
		e = fault.Wrap(err, fault.Internal, "", "something went wrong on the server")
	}
	row := e.Code.Of()
	p := &Problem{Type: "about:blank", Title: row.Summary, Status: row.HTTP, Code: e.Code, Detail: e.Public, Hint: e.Hint, Pointer: e.Pointer, Retry: row.Retry}
	if e.Op != "" {
		p.Detail = e.Op + ": " + e.Public
	}
	if off, ok := e.ByteOffset(); ok {
		p.Offset = &off
	}
	for _, f := range e.Fields {
		p.Errors = append(p.Errors, fault.Field{Pointer: withoutSecrets(f.Pointer), Rule: withoutSecrets(f.Rule), Got: withoutSecrets(f.Got)})
	}
	for _, a := range e.Data {
		if p.Data == nil {
			p.Data = map[string]string{}
		}
		p.Data[a.Name] = withoutSecrets(a.Value)
	}
	p.Detail, p.Hint, p.Pointer = withoutSecrets(p.Detail), withoutSecrets(p.Hint), withoutSecrets(p.Pointer)
	return p
}

// A token that was sent in the wrong place, such as a path, must not come back
// in an error or end in a log.
var secret = regexp.MustCompile(`writ_[0-7][0-9A-HJKMNP-TV-Z]{25}[A-Za-z0-9_-]*`)

func withoutSecrets(text string) string { return secret.ReplaceAllString(text, "[secret]") }

// fail answers with err and logs what the client is not told.
func (x *exchange) fail(err error) {
	p := x.problem(err)
	h := x.Header()
	for name, values := range p.GetHeaders() {
		h[name] = values
	}
	h.Set("Content-Type", problemType)
	x.WriteHeader(p.Status)
	enc := json.NewEncoder(x)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(p) // the client is gone: there is nobody to tell
}

// problem makes the problem document of err; a failure of ours is logged, once, here.
func (x *exchange) problem(err error) *Problem {
	p := newProblem(err)
	p.RequestID = x.id
	x.report(p, err)
	return p
}

// report logs a failure of ours, unless the client left and so nobody failed.
func (x *exchange) report(p *Problem, err error) {
	if p.Status < http.StatusInternalServerError || x.r.Context().Err() != nil {
		return
	}
	x.s.Log.LogAttrs(x.r.Context(), slog.LevelError, "request failed",
		slog.String("request_id", x.id), slog.String("method", x.r.Method), slog.String("path", withoutSecrets(x.r.URL.Path)),
		slog.String("code", string(p.Code)), slog.String("err", withoutSecrets(err.Error())))
}
