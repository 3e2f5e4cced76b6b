package server_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"writ/internal/fault"
	"writ/internal/ledger"
	"writ/internal/server"
)

func TestStreamFrames(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	me := w.ann.token.Text
	f := w.follow(me, "/v1/stream")
	if h := f.res.Header; h.Get("Cache-Control") != "no-cache, no-transform" || h.Get("X-Accel-Buffering") != "no" {
		t.Errorf("headers %v", h)
	}
	head := w.state().Heads[w.ws]
	f.upTo(t, head)
	e := w.ask(me, "POST", "/v1/events", message("k", "two\nlines")).expect(t, 201)
	_, got := f.until(t, "message.posted")
	if diff := cmp.Diff(frame{head + 1, "message.posted", string(e.body)}, got, cmp.AllowUnexported(frame{})); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestStreamCursor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	me := w.ann.token.Text
	head := w.state().Heads[w.ws]
	for _, c := range []struct {
		path, last string
		from       int64
	}{
		{"/v1/stream", "", 1}, {"/v1/stream?after=2", "", 3}, {"/v1/stream", "3", 4}, {"/v1/stream?after=1", "3", 4}, {"/v1/stream?after=3", "0", 1},
	} {
		var header []string
		if c.last != "" {
			header = []string{"Last-Event-ID", c.last}
		}
		f := w.follow(me, c.path, header...)
		if got, _ := f.next(); got.id != c.from {
			t.Errorf("%s with Last-Event-ID %q begins at %d, want %d", c.path, c.last, got.id, c.from)
		}
		f.close()
	}
	for _, header := range [][]string{nil, {"Last-Event-ID", fmt.Sprint(head + 1)}} {
		path := "/v1/stream"
		if header == nil {
			path = fmt.Sprintf("/v1/stream?after=%d", head+1)
		}
		if p := w.ask(me, "GET", path, nil, header...).refused(t, 409, "cursor_ahead"); p.Data["head"] != fmt.Sprint(head) {
			t.Errorf("the refusal says %v", p.Data)
		}
	}
}

// TestHeads: asking for the headers of what is large or endless costs nothing.
func TestHeads(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	me := w.ann.token.Text
	var blob struct {
		SHA256 string `json:"sha256"`
	}
	w.ask(me, "POST", "/v1/blobs", "bytes").expect(t, 201).read(t, &blob)
	for path, media := range map[string]string{"/v1/stream": "text/event-stream", "/v1/blobs/" + blob.SHA256: "application/octet-stream", "/v1/events": "application/json"} {
		if r := w.ask(me, "HEAD", path, nil).expect(t, 200); len(r.body) != 0 || r.header.Get("Content-Type") != media {
			t.Errorf("%s: %v", path, r.header)
		}
	}
}

// pruned is a store that no longer keeps the first events.
type pruned struct{ server.Store }

func (p pruned) Events(ctx context.Context, ws string, q ledger.EventQuery) (ledger.EventPage, error) {
	page, err := p.Store.Events(ctx, ws, q)
	page.Earliest = 4
	return page, err
}

func TestStreamGap(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(p *server.Params) { p.Store = pruned{p.Store} })
	p := w.ask(w.ann.token.Text, "GET", "/v1/stream?after=2", nil).refused(t, 410, "gap")
	if p.Data["earliest_seq"] != "4" || p.Hint != "read on from after=3" {
		t.Errorf("%+v", p)
	}
	w.follow(w.ann.token.Text, "/v1/stream?after=3").close()
}

// TestResume lets readers with and without filters lose their connections at
// random while 2,000 events are appended: each gets what matches, once.
func TestResume(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(p *server.Params) { p.Beat = 5 * time.Millisecond })
	me := w.ann.token.Text
	run := w.post(me, requestRun("r", w.solver.ID))
	lane := run.Str("lane_id")
	const writers, each = 8, 250
	var writing sync.WaitGroup
	for n := range writers {
		writing.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(n)))
			for i := range each {
				var extra []string
				if r.IntN(3) == 0 {
					extra = []string{`"lane_id":"` + lane + `"`}
				}
				body := message(fmt.Sprintf("%d-%d", n, i), strings.Repeat("x", 1+r.IntN(200)), extra...)
				if r.IntN(4) == 0 {
					body = strings.Replace(body, `"type":"message.posted"`, `"message_id":"msg_01ARZ3NDEKTSV4RRFFQ69G5FAV","type":"message.edited"`, 1)
				}
				w.ask(me, "POST", "/v1/events", body).expect(t, 201)
			}
		})
	}
	done := make(chan struct{})
	go func() { writing.Wait(); close(done) }()

	queries := []string{"", "type=message.edited", "lane=" + lane, "type=message.edited&lane=" + lane, "type=run.completed"}
	got := make([][]int64, len(queries))
	var reading sync.WaitGroup
	for n, query := range queries {
		reading.Go(func() { got[n] = w.readAll(t, query, rand.New(rand.NewPCG(2, uint64(n))), done) })
	}
	reading.Wait()
	if head := w.state().Heads[w.ws]; head < writers*each {
		t.Fatalf("only %d events", head)
	}
	for n, query := range queries {
		var want []int64
		for after := int64(0); ; {
			p := w.page(t, fmt.Sprintf("?limit=1000&after=%d&%s", after, query))
			for _, e := range p.Events {
				want = append(want, seqOf(t, e))
			}
			if after = p.NextAfter; after == p.Head {
				break
			}
		}
		if diff := cmp.Diff(want, got[n]); diff != "" {
			t.Errorf("%q: events (-log +read)\n%s", query, diff)
		}
	}
}

// readAll reads up to the head that there is when done closes, over connections
// that end at random, and returns the numbers of the events that came.
func (w *world) readAll(t *testing.T, query string, r *rand.Rand, done <-chan struct{}) []int64 {
	var out []int64
	cursor, end := int64(0), int64(-1)
	for cuts := 0; ; cuts++ {
		path, header := fmt.Sprintf("/v1/stream?%s&after=%d", query, cursor), []string(nil)
		if r.IntN(2) == 0 {
			path, header = "/v1/stream?after=0&"+query, []string{"Last-Event-ID", fmt.Sprint(cursor)}
		}
		f := w.follow(w.ann.token.Text, path, header...)
		for range 1 + r.IntN(120) {
			x, ok := f.next()
			if !ok {
				break
			}
			if x.event != "mark" {
				out = append(out, x.id)
			}
			cursor = max(cursor, x.id)
			if end < 0 {
				select {
				case <-done:
					end = w.state().Heads[w.ws]
				default:
				}
			}
			if end >= 0 && cursor >= end {
				f.close()
				if cuts < 3 && len(out) > 200 {
					t.Errorf("%q: only %d cuts", query, cuts)
				}
				return out
			}
		}
		f.close()
	}
}

// TestMarksMoveTheCursor: a reader whose filter matches nothing gets on, also
// while the log never rests.
func TestMarksMoveTheCursor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(p *server.Params) { p.Beat = 10 * time.Millisecond })
	me := w.ann.token.Text
	f := w.follow(me, "/v1/stream?type=run.completed&after=1")
	head := w.state().Heads[w.ws]
	if x, _ := f.next(); x.event != "mark" || x.id != head || x.data != fmt.Sprintf(`{"head_seq":%d}`, head) {
		t.Errorf("the first frame is %+v, want a mark at %d", x, head)
	}
	ctx, stop := context.WithCancel(t.Context())
	var busy sync.WaitGroup
	busy.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			w.post(me, message(fmt.Sprint(i), "x"))
		}
	})
	last := head
	for last < head+50 {
		x, ok := f.next()
		if !ok || x.event != "mark" || x.id < last {
			t.Fatalf("after %d came %+v, %v", last, x, ok)
		}
		last = x.id
	}
	stop()
	busy.Wait()
	f.close()
	again := w.follow(me, fmt.Sprintf("/v1/stream?after=%d", last))
	again.upTo(t, w.state().Heads[w.ws])
}

// TestStalledReader: one that does not read holds up neither writers nor readers.
func TestStalledReader(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	me := w.ann.token.Text
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	w.must(err)
	defer conn.Close()
	w.must(conn.(*net.TCPConn).SetReadBuffer(4 << 10))
	_, err = fmt.Fprintf(conn, "GET /v1/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", me)
	w.must(err)

	healthy := w.follow(me, "/v1/stream")
	head := w.state().Heads[w.ws]
	const n, size = 400, 50_000 // 20 MB, more than sockets hold
	w.bulk(n, size)
	if got := len(healthy.upTo(t, head+n)); got != int(head+n) {
		t.Errorf("the healthy reader got %d events, want %d", got, head+n)
	}
}

// TestIdleReaders: a reader that nothing matches for holds no queue.
func TestIdleReaders(t *testing.T) {
	w := newWorld(t, nil) // not beside others: it looks at the memory of the process
	me := w.ann.token.Text
	const readers, events = 200, 2000
	for range readers {
		f := w.follow(me, "/v1/stream?type=run.completed")
		f.until(t, "mark")
	}
	measure := func() (heap uint64, routines int) {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc, runtime.NumGoroutine()
	}
	w.bulk(events, 1000)
	heap, routines := measure()
	w.bulk(events, 1000)
	heap2, routines2 := measure()
	if grown := int64(heap2) - int64(heap); grown > 4<<20 { // a queue of each would be 200 MB
		t.Errorf("%d events let the heap grow by %d KiB", events, grown>>10)
	}
	if routines2 > routines+10 {
		t.Errorf("goroutines went from %d to %d", routines, routines2)
	}
}

func TestDrainEndsStreams(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	me := w.ann.token.Text
	var feeds []*feed
	for _, path := range []string{"/v1/stream", "/v1/stream?type=run.completed", "/v1/stream?after=1"} {
		f := w.follow(me, path)
		f.until(t, "mark")
		feeds = append(feeds, f)
	}
	w.srv.Drain()
	feeds = append(feeds, w.follow(me, "/v1/stream")) // one that came too late ends as well
	for i, f := range feeds {
		for {
			if _, ok := f.next(); !ok {
				break
			}
		}
		if _, err := f.in.ReadByte(); err == nil {
			t.Errorf("stream %d goes on", i)
		}
	}
	w.post(me, message("k", "still taken"))
}

// TestFramesOfAPage: a backlog of many pages comes whole, in order, to a reader
// that connects late.
func TestFramesOfAPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.bulk(1500, 100)
	head := w.state().Heads[w.ws]
	got := w.follow(w.ann.token.Text, "/v1/stream").upTo(t, head)
	for i, x := range got {
		if x.id != int64(i+1) {
			t.Fatalf("event %d is number %d", i, x.id)
		}
	}
	if len(got) != int(head) {
		t.Errorf("%d events, want %d", len(got), head)
	}
}

// failingWait is a store whose first wait fails.
type failingWait struct {
	server.Store
	once sync.Once
}

func (f *failingWait) Wait(ctx context.Context, ws string, after int64) (int64, error) {
	var err error
	f.once.Do(func() { err = fault.New(fault.Unavailable, "wait for events", "the disk is gone") })
	if err != nil {
		return 0, err
	}
	return f.Store.Wait(ctx, ws, after)
}

// TestLedgerFails: a stream that cannot go on ends, so that its reader comes
// back; the next one has a fresh start.
func TestLedgerFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(p *server.Params) { p.Store = &failingWait{Store: p.Store} })
	me := w.ann.token.Text
	head := w.state().Heads[w.ws]
	f := w.follow(me, "/v1/stream")
	for {
		if _, ok := f.next(); !ok {
			break
		}
	}
	again := w.follow(me, fmt.Sprintf("/v1/stream?after=%d", head))
	w.post(me, message("k", "x"))
	again.upTo(t, head+1)
}
