// Package client is the Go SDK of a Writ server: the command line and the
// bridges use nothing else.
//
// A Client is safe for concurrent use. It repeats calls that a busy, restarting
// or unreachable server could not take, with growing pauses and as late as the
// server asks for. What it repeats is safe to repeat: writes carry an
// idempotency key or are addressed by their content; the few calls that make
// something new are repeated only when the server certainly did not take them.
// Errors of the server are *Error with a closed code; branch on that, never on
// text.
//
// The package holds no state beyond its connections, writes no logs, and its
// API speaks of nothing that lives inside the server.
package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Client talks to one server with one token.
type Client struct {
	base  string
	token string
	http  *http.Client
	tries int
	idle  time.Duration                              // after which a silent stream counts as dead
	wait  func(context.Context, time.Duration) error // pauses between tries; tests replace it
}

// Option changes a client.
type Option func(*Client)

// WithHTTP replaces the HTTP client. It should have no overall timeout: streams
// stay open.
func WithHTTP(h *http.Client) Option { return func(c *Client) { c.http = h } }

// WithTries bounds how often a call is made before its error is returned; at
// least 1, by default 5. A subscription is not bounded.
func WithTries(n int) Option { return func(c *Client) { c.tries = max(n, 1) } }

// New makes a client of the server at base, such as http://127.0.0.1:7717.
func New(base, token string, options ...Option) *Client {
	c := &Client{base: strings.TrimSuffix(base, "/"), token: token, tries: 5, idle: 45 * time.Second, wait: pause}
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
	return c.json(ctx, call{method: method, path: path, body: of(body)}, out)
}

// create makes something new: sent twice, it would be there twice.
func (c *Client) create(ctx context.Context, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("POST %s: %w", path, err)
	}
	return c.json(ctx, call{method: http.MethodPost, path: path, body: of(body), creates: true}, out)
}
