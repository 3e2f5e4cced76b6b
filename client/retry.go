package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"time"
)

// call is one request, which may have to be made again.
type call struct {
	method, path string
	query        url.Values
	header       http.Header
	body         *payload
	media        string // of the body; JSON when empty
	creates      bool   // makes something new, so it must not be taken twice
}

// payload is a body that every try reads from its start.
type payload struct {
	at   io.ReaderAt
	size int64
}

func of(b []byte) *payload { return &payload{bytes.NewReader(b), int64(len(b))} }

// open starts the body from its beginning. Bytes in memory are handed over as
// what they are: then they travel in one packet with the header.
func (p *payload) open() io.ReadCloser {
	if whole, ok := p.at.(*bytes.Reader); ok && whole.Size() == p.size {
		again := *whole
		_, _ = again.Seek(0, io.SeekStart)
		return io.NopCloser(&again)
	}
	return io.NopCloser(io.NewSectionReader(p.at, 0, p.size))
}

// do makes the call, again while that is worth it, and returns an answer whose
// status is below 400. The caller closes its body.
func (c *Client) do(ctx context.Context, q call) (*http.Response, error) {
	for try := 1; ; try++ {
		r, err := c.once(ctx, q)
		if err == nil {
			return r, nil
		}
		if try >= c.tries || ctx.Err() != nil || !q.again(err) {
			return nil, err
		}
		if ended := c.wait(ctx, backoff(try, err)); ended != nil {
			return nil, fmt.Errorf("%w, after: %w", ended, err)
		}
	}
}

// once makes the call once.
func (c *Client) once(ctx context.Context, q call) (*http.Response, error) {
	target := c.base + q.path
	if len(q.query) > 0 {
		target += "?" + q.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, q.method, target, nil)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", q.method, q.path, err)
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
		if req.ContentLength = q.body.size; q.body.size > 0 {
			req.Body = q.body.open()
			req.GetBody = func() (io.ReadCloser, error) { return q.body.open(), nil }
		} else {
			req.Body = http.NoBody
		}
	}
	r, err := c.http.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // it repeats the method and the address, with its query
		}
		return nil, fmt.Errorf("%s %s: %w", q.method, q.path, err)
	}
	return check(r)
}

// again reports whether the call may succeed when it is made again, and can do
// no harm.
func (q call) again(err error) bool {
	var e *Error
	if errors.As(err, &e) {
		switch {
		case !e.Retry || e.RetryAfter > longest:
			return false
		case e.Status == http.StatusTooManyRequests, e.Status == http.StatusServiceUnavailable:
			return true // not taken
		case e.Status == http.StatusBadGateway, e.Status == http.StatusGatewayTimeout, e.Code == "conflict":
			return !q.creates
		}
		return false
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	var op *net.OpError
	return !q.creates || errors.As(err, &op) && op.Op == "dial"
}

const (
	shortest = 100 * time.Millisecond
	farthest = 10 * time.Second // that pauses grow to by themselves
	longest  = 5 * time.Minute  // that a server may ask to wait
)

// backoff is the pause after the n-th failure: what the server asks for and a
// little more, or else a pause that doubles. Jitter keeps a crowd from coming
// back all at once.
func backoff(n int, err error) time.Duration {
	var e *Error
	if errors.As(err, &e) && e.RetryAfter > 0 {
		return e.RetryAfter + rand.N(min(e.RetryAfter/4, time.Second)+1)
	}
	d := farthest
	if n < 8 {
		d = min(shortest<<(n-1), farthest)
	}
	return d/2 + rand.N(d/2+1)
}

// pause waits for d, or for ctx to end.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
