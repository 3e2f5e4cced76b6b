package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pauses notes the pauses of a client instead of waiting.
type pauses struct {
	mu       sync.Mutex
	list     []time.Duration
	handling sync.Mutex // held while the server handles a request
}

// settle waits for the handler, so that a test may look at what it noted.
func (p *pauses) settle() {
	p.handling.Lock()
	defer p.handling.Unlock()
}

func (p *pauses) wait(ctx context.Context, d time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = append(p.list, d)
	return ctx.Err()
}

func (p *pauses) all() []time.Duration {
	p.settle()
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]time.Duration(nil), p.list...)
}

// serve starts a server for one test, which handles one request at a time, and a
// client of it that does not wait.
func serve(t *testing.T, h http.HandlerFunc) (*Client, *pauses) {
	t.Helper()
	p := &pauses{}
	c := serveMany(t, func(w http.ResponseWriter, r *http.Request) {
		p.handling.Lock()
		defer p.handling.Unlock()
		h(w, r)
	})
	c.wait = p.wait
	return c, p
}

// serveMany starts a server whose handler looks after itself.
func serveMany(t *testing.T, h http.HandlerFunc) *Client {
	t.Helper()
	s := httptest.NewServer(h)
	c := New(s.URL+"/", "writ_token")
	c.wait = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	t.Cleanup(func() { c.Close(); s.Close() })
	return c
}

// refuse answers with a problem document.
func refuse(w http.ResponseWriter, status int, e Error) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"type": "about:blank", "title": "t", "status": status, "code": e.Code, "detail": e.Detail, "hint": e.Hint, "pointer": e.Pointer,
		"offset": e.Offset, "errors": e.Fields, "retry": e.Retry, "data": e.Data,
	})
}
