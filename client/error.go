package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// Error is a problem document of the server.
type Error struct {
	Status  int               `json:"status"` // HTTP status
	Code    string            `json:"code"`   // one of a closed set
	Title   string            `json:"title"`
	Detail  string            `json:"detail"`     // what is wrong with this request
	Hint    string            `json:"hint"`       // what would help; may be empty
	Pointer string            `json:"pointer"`    // JSON pointer of the field at fault; may be empty
	Offset  *int64            `json:"offset"`     // byte offset of the fault, from 0; nil for none
	Fields  []Field           `json:"errors"`     // every failure, when there is more than one
	Retry   bool              `json:"retry"`      // whether the same request may succeed later
	Data    map[string]string `json:"data"`       // facts that a program may use
	Request string            `json:"request_id"` // names the request in the server's log

	RetryAfter time.Duration `json:"-"` // how long the server asks to wait; 0 when it does not say
}

// Field is one failure inside a document.
type Field struct {
	Pointer string `json:"pointer"`
	Rule    string `json:"rule"`
	Got     string `json:"got"`
}

// Error says what is wrong, then where.
func (e *Error) Error() string {
	switch {
	case e.Pointer != "":
		return e.Detail + " (at " + e.Pointer + ")"
	case e.Offset != nil:
		return e.Detail + " (at byte " + strconv.FormatInt(*e.Offset, 10) + ")"
	}
	return e.Detail
}

// Code returns the server's code of err, or "" when it is none of the server's.
func Code(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// Codes that a subscriber meets.
const (
	CodeGap         = "gap"          // events before the cursor are no longer kept; Data has earliest_seq
	CodeCursorAhead = "cursor_ahead" // the cursor is beyond the newest event: it is of another journal
)

// maxProblem bounds what is read of an error, in bytes.
const maxProblem = 1 << 20

// check turns an answer of status 400 and up into its *Error, and closes it.
func check(r *http.Response) (*http.Response, error) {
	if r.StatusCode < 400 {
		return r, nil
	}
	defer drain(r)
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxProblem))
	e := &Error{}
	if err != nil || json.Unmarshal(raw, e) != nil || e.Code == "" { // of something in between
		e = &Error{Code: "internal", Detail: fmt.Sprintf("the server answered %s", r.Status)}
		switch r.StatusCode {
		case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			e.Code, e.Retry = "unavailable", true
		}
	}
	e.Status = r.StatusCode
	e.RetryAfter = retryAfter(r.Header.Get("Retry-After"), e.Data["retry_after_ms"])
	return nil, e
}

// retryAfter reads the header, in seconds or as a date; the finer fact of the
// problem document wins.
func retryAfter(header, ms string) time.Duration {
	if n, err := strconv.ParseInt(ms, 10, 32); err == nil && n > 0 {
		return time.Duration(n) * time.Millisecond
	}
	if n, err := strconv.ParseInt(header, 10, 32); err == nil {
		return time.Duration(max(n, 0)) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}

// drain reads what is left, so that the connection can be used again.
func drain(r *http.Response) {
	_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, maxProblem))
	_ = r.Body.Close()
}
