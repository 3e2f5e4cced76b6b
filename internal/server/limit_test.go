package server_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"writ/internal/ident"
	"writ/internal/lane"
	"writ/internal/server"
	"writ/internal/store/sqlite"
)

// pipes is a listener whose connections are pipes, so that time can be made up.
type pipes struct {
	in    chan net.Conn
	done  chan struct{}
	close sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.in:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.close.Do(func() { close(p.done) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// dial opens a connection to the server.
func (p *pipes) dial() net.Conn {
	near, far := net.Pipe()
	p.in <- far
	return near
}

// timeless runs a test on a server whose clock moves only when everything waits.
func timeless(t *testing.T, test func(t *testing.T, token string, w *world, p *pipes)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(t.TempDir(), "writ.db")})
		if err != nil {
			t.Fatal(err)
		}
		log := slog.New(slog.NewJSONHandler(&spoken, nil))
		w := &world{t: t, store: store, ws: ident.New(ident.Workspace)}
		w.srv = server.New(server.Params{Store: store, Desk: &lane.Desk{Store: store, Now: time.Now, NewID: ident.New}, Now: time.Now, Log: log, Version: "test"})
		w.settle()
		p := &pipes{in: make(chan net.Conn), done: make(chan struct{})}
		web := server.HTTP(w.srv, log)
		served := make(chan error, 1)
		go func() { served <- web.Serve(p) }()
		test(t, w.ann.token.Text, w, p)
		w.srv.Drain()
		w.must(web.Shutdown(context.Background()))
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
		w.must(store.Close())
	})
}

// TestIdleStreamLives: a stream on which nothing happens lives for ever, and
// beats every 15 seconds; after the pause it still takes an event that is larger
// than any buffer.
func TestIdleStreamLives(t *testing.T) {
	timeless(t, func(t *testing.T, token string, w *world, p *pipes) {
		conn := p.dial()
		defer conn.Close()
		go fmt.Fprintf(conn, "GET /v1/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", token)
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		w.must(err)
		f := &feed{w, res, bufio.NewReader(res.Body)} // ends with its connection: closing it would read it to its end
		f.until(t, "mark")
		start := time.Now()
		for i := range 240 { // an hour
			x, ok := f.next()
			if want := time.Duration(i+1) * 15 * time.Second; !ok || x.event != "mark" || time.Since(start) != want {
				t.Fatalf("after %s came %+v, %v; want a mark after %s", time.Since(start), x, ok, want)
			}
		}
		w.bulk(2, 100_000)
		for range 2 {
			if x, ok := f.next(); !ok || x.event != "message.posted" || len(x.data) < 100_000 {
				t.Fatalf("after the pause came %q with %d bytes, %v", x.event, len(x.data), ok)
			}
		}
	})
}

// TestStreamIsCut: a reader that takes nothing is cut ten seconds after it
// stopped.
func TestStreamIsCut(t *testing.T) {
	timeless(t, func(t *testing.T, token string, w *world, p *pipes) {
		conn := p.dial()
		defer conn.Close()
		go fmt.Fprintf(conn, "GET /v1/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", token)
		one := make([]byte, 1)
		_, err := io.ReadFull(conn, one)
		w.must(err)
		time.Sleep(11 * time.Second) // made up
		if rest, err := io.ReadAll(conn); err != nil || len(rest) > 4096 {
			t.Errorf("%d bytes after the cut, %v", len(rest), err)
		}
	})
}

// TestSlowReader: one that reads little by little gets all of a large answer.
func TestSlowReader(t *testing.T) {
	timeless(t, func(t *testing.T, token string, w *world, p *pipes) {
		w.bulk(100, 10_000)
		conn := p.dial()
		defer conn.Close()
		go fmt.Fprintf(conn, "GET /v1/events?limit=1000 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n", token)
		in := bufio.NewReaderSize(steady{conn}, 16)
		res, err := http.ReadResponse(in, nil)
		w.must(err)
		start := time.Now()
		body, err := io.ReadAll(res.Body)
		if took := time.Since(start); err != nil || int64(len(body)) != res.ContentLength || took < 30*time.Second {
			t.Errorf("%d bytes of %d after %s, %v", len(body), res.ContentLength, took, err)
		}
	})
}

// steady reads at most 32 kB a second.
type steady struct{ io.Reader }

func (s steady) Read(b []byte) (int, error) {
	n, err := io.ReadFull(s.Reader, b[:min(len(b), 3200)])
	time.Sleep(time.Duration(n) * time.Second / 32_000) // made up
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return n, err
}

// TestSlowRequests: who does not finish a request is let go of.
func TestSlowRequests(t *testing.T) {
	for name, c := range map[string]struct {
		sent  string
		after time.Duration
		want  string // beginning of the answer
	}{
		"nothing":     {"", 10 * time.Second, ""},
		"no more":     {"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", 2 * time.Minute, "HTTP/1.1 200"},
		"unread body": {"POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{", 5 * time.Second, "HTTP/1.1 401"},
		"half a head": {"GET /v1/me HTTP/1.1\r\nHost: x\r\n", 10 * time.Second, ""},
		"half a body": {"POST /v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer TOKEN\r\nContent-Length: 100\r\n\r\n{", 30 * time.Second, "HTTP/1.1 400"},
		"huge head":   {"GET /v1/me HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 80<<10) + "\r\n\r\n", 0, "HTTP/1.1 431"},
	} {
		t.Run(name, func(t *testing.T) {
			timeless(t, func(t *testing.T, token string, w *world, p *pipes) {
				conn := p.dial()
				defer conn.Close()
				start := time.Now()
				go io.WriteString(conn, strings.Replace(c.sent, "TOKEN", token, 1))
				answer, _ := io.ReadAll(conn)
				if took := time.Since(start).Round(time.Second); !strings.HasPrefix(string(answer), c.want) || c.want == "" && len(answer) > 0 || took > c.after+5*time.Second || took < c.after {
					t.Errorf("after %s, want %s: %.80q", took, c.after, answer)
				}
			})
		})
	}
}

// TestSlowButSteady: a body that keeps up with the least rate is taken, however
// long it takes altogether, and a handler may take its time after it.
func TestSlowButSteady(t *testing.T) {
	timeless(t, func(t *testing.T, token string, w *world, p *pipes) {
		conn := p.dial()
		defer conn.Close()
		body := message("k", strings.Repeat("x", 10_000), `"pad":"`+strings.Repeat("y", 900_000)+`"`)
		start := time.Now()
		var sending sync.WaitGroup
		defer sending.Wait()
		sending.Go(func() {
			fmt.Fprintf(conn, "POST /v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n", token, len(body))
			for rest := body; rest != ""; {
				n := min(len(rest), 25_000)
				if _, err := io.WriteString(conn, rest[:n]); err != nil {
					return
				}
				rest = rest[n:]
				time.Sleep(time.Second) // made up
			}
		})
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		w.must(err)
		defer res.Body.Close()
		if took := time.Since(start); res.StatusCode != 201 || took < 30*time.Second {
			t.Errorf("answered %d after %s", res.StatusCode, took)
		}
	})
}

// TestDeepJSON: nesting has a limit, and the refusal says where it was reached.
func TestDeepJSON(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	deep := strings.Repeat("[", 40) + strings.Repeat("]", 40)
	before := w.state()
	for path, body := range map[string]string{
		"POST /v1/events":                message("k", "x", `"pad":`+deep),
		"POST /v1/tokens":                `{"participant_id":` + deep + `,"scopes":[]}`,
		"POST /v1/runs/r/proposals":      strings.Repeat("[", 100) + strings.Repeat("]", 100),
		"PUT /v1/repositories/a/b":       `{"remote":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`,
		"POST /v1/runs/r/turns":          strings.Repeat(`{"a":`, 1_000_000),
		"POST /v1/landing/cancel":        deep,
		"POST /v1/participants":          `{"kind":` + deep + `}`,
		"POST /v1/runs/r/renew":          deep,
		"POST /v1/runs/r/manifests":      deep,
		"POST /v1/runs/r/decisions":      strings.Repeat("[", 4<<20),
		"POST /v1/runs/r/answers":        strings.Repeat("[", 1<<20),
		"POST /v1/runs/r/reviews":        strings.Repeat(`{"a":`, 1<<18),
		"POST /v1/events?x=1":            strings.Repeat("[", 1<<19),
		"POST /v1/repositories/a/b/../b": "",
	} {
		method, target, _ := strings.Cut(path, " ")
		token := w.admin.token.Text
		r := w.ask(token, method, target, body)
		if r.status == 404 || r.status == 405 {
			continue // the last one: no route
		}
		if p := r.problem(t); r.status != 400 && r.status != 413 || p.Offset == nil && p.Code == "malformed" {
			t.Errorf("%s: %s", path, r.body)
		}
	}
	w.unchanged(t, before)
}
