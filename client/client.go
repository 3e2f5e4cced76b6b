// Package client is the Go SDK of a Writ server: the command line and the
// bridges use nothing else.
//
// A Client is safe for concurrent use. Calls that change something carry an
// idempotency key or a signed document, so every call may be repeated: the
// client itself repeats those that a busy or restarting server could not take.
// Errors are *Error with the server's closed code; branch on that, never on text.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Client talks to one server with one token.
type Client struct {
	base  string
	token string
	http  *http.Client
	tries int
}

// Option changes a client.
type Option func(*Client)

// WithHTTP replaces the HTTP client. It should have no overall timeout: streams
// stay open.
func WithHTTP(h *http.Client) Option { return func(c *Client) { c.http = h } }

// WithTries bounds how often a call is made before its error is returned; at
// least 1, by default 5.
func WithTries(n int) Option { return func(c *Client) { c.tries = max(n, 1) } }

// New makes a client of the server at base, such as http://127.0.0.1:7717.
func New(base, token string, options ...Option) *Client {
	c := &Client{base: strings.TrimSuffix(base, "/"), token: token, tries: 5}
	for _, o := range options {
		o(c)
	}
	if c.http == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.MaxIdleConnsPerHost = 64
		c.http = &http.Client{Transport: t}
	}
	return c
}

// Close gives back idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Error is a problem document of the server.
type Error struct {
	Status  int               `json:"status"`
	Code    string            `json:"code"`
	Title   string            `json:"title"`
	Detail  string            `json:"detail"`
	Hint    string            `json:"hint"`
	Pointer string            `json:"pointer"`
	Offset  *int64            `json:"offset"`
	Fields  []Field           `json:"errors"`
	Retry   bool              `json:"retry"`
	Data    map[string]string `json:"data"`
}

// Field is one failure inside a document.
type Field struct {
	Pointer string `json:"pointer"`
	Rule    string `json:"rule"`
	Got     string `json:"got"`
}

// Error says what is wrong, then where.
func (e *Error) Error() string {
	if e.Pointer != "" {
		return e.Detail + " (at " + e.Pointer + ")"
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

// call is one request; body may be sent again.
type call struct {
	method, path string
	query        url.Values
	header       http.Header
	body         []byte
	media        string
}

// do makes the request, again while the server is busy or gone, and returns a
// response whose status is below 400. The caller closes its body.
func (c *Client) do(ctx context.Context, q call) (*http.Response, error) {
	for i := 1; ; i++ {
		r, err := c.once(ctx, q)
		wait, again := retryAfter(r, err)
		if !again || i >= c.tries {
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", q.method, q.path, err)
			}
			return check(r)
		}
		if r != nil {
			drain(r)
		}
		if wait == 0 {
			wait = time.Duration(1<<min(i, 6)) * 50 * time.Millisecond
		}
		timer := time.NewTimer(wait/2 + rand.N(wait/2+1)) // jitter: a crowd does not come back at once
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		case <-timer.C:
		}
	}
}

func (c *Client) once(ctx context.Context, q call) (*http.Response, error) {
	target := c.base + q.path
	if len(q.query) > 0 {
		target += "?" + q.query.Encode()
	}
	var body io.Reader
	if q.body != nil {
		body = bytes.NewReader(q.body)
	}
	req, err := http.NewRequestWithContext(ctx, q.method, target, body)
	if err != nil {
		return nil, err
	}
	for name, values := range q.header {
		req.Header[name] = values
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	if q.body != nil {
		media := q.media
		if media == "" {
			media = "application/json"
		}
		req.Header.Set("Content-Type", media)
	}
	return c.http.Do(req)
}

// retryAfter says whether a call is worth repeating, and when the server said to.
func retryAfter(r *http.Response, err error) (time.Duration, bool) {
	if err != nil {
		return 0, !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
	}
	switch r.StatusCode {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusBadGateway, http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(r.Header.Get("Retry-After"))
		return time.Duration(seconds) * time.Second, true
	}
	return 0, false
}

// maxProblem bounds what is read of an error, in bytes.
const maxProblem = 1 << 20

func check(r *http.Response) (*http.Response, error) {
	if r.StatusCode < 400 {
		return r, nil
	}
	defer drain(r)
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxProblem))
	if err != nil {
		return nil, fmt.Errorf("read problem: %w", err)
	}
	e := &Error{}
	if json.Unmarshal(raw, e) != nil || e.Code == "" {
		e = &Error{Code: "internal", Detail: fmt.Sprintf("the server answered %s", r.Status)}
	}
	e.Status = r.StatusCode
	return nil, e
}

// drain reads what is left, so that the connection can be used again.
func drain(r *http.Response) {
	_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, maxProblem))
	_ = r.Body.Close()
}

// json makes a call and decodes the answer into out, unless that is nil.
func (c *Client) json(ctx context.Context, q call, out any) error {
	r, err := c.do(ctx, q)
	if err != nil {
		return err
	}
	defer drain(r)
	if out == nil || r.StatusCode == http.StatusNoContent {
		return nil
	}
	if err := json.NewDecoder(r.Body).Decode(out); err != nil {
		return fmt.Errorf("%s %s: read answer: %w", q.method, q.path, err)
	}
	return nil
}

func (c *Client) get(ctx context.Context, path string, query url.Values, out any) error {
	return c.json(ctx, call{method: http.MethodGet, path: path, query: query}, out)
}

func (c *Client) send(ctx context.Context, method, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return c.json(ctx, call{method: method, path: path, body: body}, out)
}
