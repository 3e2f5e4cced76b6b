package client

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// feed is a stream of events 1 to n, cut as told: it sends at most the next of
// cuts events per connection, starting a little before the cursor.
type feed struct {
	n       int
	cuts    []int
	refusal []func(http.ResponseWriter) // answers before the streams, one per connection; nil is none
	asked   []string                    // cursors
}

func (f *feed) serve(w http.ResponseWriter, r *http.Request) {
	f.asked = append(f.asked, r.URL.Query().Get("after"))
	conn := len(f.asked) - 1
	if conn < len(f.refusal) && f.refusal[conn] != nil {
		f.refusal[conn](w)
		return
	}
	after, _ := strconv.Atoi(r.URL.Query().Get("after"))
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, "retry: 20\n\n: hello\n\n")
	room := f.n
	if len(f.cuts) > 0 {
		room, f.cuts = f.cuts[0], f.cuts[1:]
	}
	for seq := max(after-1, 1); seq <= f.n && room > 0; seq++ {
		fmt.Fprintf(w, "id: %d\nevent: message.posted\ndata: {\"seq\":%d,\ndata: \"type\":\"message.posted\",\"id\":\"e%d\"}\n\n", seq, seq, seq)
		room--
	}
	_, _ = io.WriteString(w, "event: message.posted\ndata: {\"seq\":999") // half a frame
}

func collect(t *testing.T, c *Client, after int64, n int) (seqs []int64, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for e, err := range c.Subscribe(ctx, after, Filter{}) {
		if err != nil {
			return seqs, err
		}
		if seqs = append(seqs, e.Seq); len(seqs) == n {
			break
		}
	}
	if ctx.Err() != nil {
		t.Fatalf("only %d events came", len(seqs))
	}
	return seqs, nil
}

func sequence(from, to int64) (out []int64) {
	for i := from; i <= to; i++ {
		out = append(out, i)
	}
	return out
}

func TestSubscriptionsSurviveCuts(t *testing.T) {
	t.Parallel()
	f := &feed{n: 40, cuts: []int{3, 1, 0, 7, 2, 10, 3}}
	c, p := serve(t, f.serve)
	got, err := collect(t, c, 5, 35)
	if want := sequence(6, 40); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
	for _, d := range p.all() {
		if d < 10*time.Millisecond || d > 20*time.Millisecond {
			t.Errorf("pause of %s, the server asks for 20 ms", d)
		}
	}
}

func TestSubscriptionsOutliveARestart(t *testing.T) {
	t.Parallel()
	busy := func(w http.ResponseWriter) { refuse(w, 503, Error{Code: "unavailable", Retry: true}) }
	proxy := func(w http.ResponseWriter) { http.Error(w, "bad gateway", http.StatusBadGateway) }
	broken := func(w http.ResponseWriter) { refuse(w, 500, Error{Code: "internal"}) }
	f := &feed{n: 3, cuts: []int{2}, refusal: []func(http.ResponseWriter){nil, busy, proxy, busy, broken, busy, busy, busy, busy, busy, busy, nil}}
	c, p := serve(t, f.serve)
	got, err := collect(t, c, 0, 3)
	if err != nil || !slices.Equal(got, sequence(1, 3)) {
		t.Errorf("got %v, %v", got, err)
	}
	if d := p.all(); len(d) != 11 || d[10] < farthest/2 {
		t.Errorf("pauses do not grow: %v", d)
	}
}

func TestSubscriptionsEndWhereWaitingCannotHelp(t *testing.T) {
	t.Parallel()
	for code, status := range map[string]int{CodeGap: 410, CodeCursorAhead: 409, "unauthenticated": 401, "forbidden": 403} {
		f := &feed{n: 1, refusal: []func(http.ResponseWriter){func(w http.ResponseWriter) {
			refuse(w, status, Error{Code: code, Data: map[string]string{"earliest_seq": "7"}})
		}}}
		c, p := serve(t, f.serve)
		_, err := collect(t, c, 1, 1)
		if Code(err) != code || len(p.all()) != 0 {
			t.Errorf("%s: %v after %d pauses", code, err, len(p.all()))
		}
	}
}

func TestMarksMoveTheCursor(t *testing.T) {
	t.Parallel()
	var asked []string
	c, p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if asked = append(asked, r.URL.Query().Get("after")); len(asked) == 1 {
			_, _ = io.WriteString(w, "id: 80\nevent: mark\ndata: {\"head_seq\":80}\n\nevent: mark\ndata: {\"head_seq\":3}\n\n")
			return
		}
		_, _ = io.WriteString(w, "data: {\"seq\":81,\"space_id\":\"spc_2\"}\n\ndata: {\"seq\":82,\"space_id\":\"spc_1\"}\n\n")
	})
	for e, err := range c.Subscribe(t.Context(), 0, Filter{Space: "spc_1"}) {
		if err != nil || e.Seq != 82 {
			t.Errorf("got %+v, %v", e, err)
		}
		break
	}
	p.settle()
	if !slices.Equal(asked, []string{"0", "80"}) {
		t.Errorf("cursors are %v", asked)
	}
}

func TestASilentStreamIsLeft(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	var conns atomic.Int64
	c := serveMany(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		if conns.Add(1) == 1 {
			_ = http.NewResponseController(w).Flush()
			select { // deaf, but not closed
			case <-hold:
			case <-r.Context().Done():
			}
			return
		}
		_, _ = io.WriteString(w, "data: {\"seq\":1}\n\n")
	})
	defer close(hold)
	c.idle = 30 * time.Millisecond
	if got, err := collect(t, c, 0, 1); err != nil || len(got) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
	if n := conns.Load(); n < 2 {
		t.Errorf("%d connections", n)
	}
}

func TestBrokenStreamsAreReported(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"no event":      "data: [1]\n\n",
		"no seq":        "data: {}\n\n",
		"endless frame": "data: " + strings.Repeat("x", maxFrame) + "\n\n",
		"endless lines": strings.Repeat(": "+strings.Repeat("x", 1000)+"\n", maxFrame/1000),
	} {
		c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, body) })
		if _, err := collect(t, c, 0, 1); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestTheContextEndsASubscription(t *testing.T) {
	t.Parallel()
	started := make(chan struct{})
	c := serveMany(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		close(started)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-started; cancel() }()
	for e, err := range c.Subscribe(ctx, 0, Filter{}) {
		t.Errorf("got %+v, %v", e, err)
	}
}

func FuzzReadFrame(f *testing.F) {
	f.Add("id: 1\nevent: x\ndata: {}\n\n")
	f.Add(": c\r\nretry: 9\r\ndata:a\r\ndata: b\r\n\r\n")
	f.Add("data")
	f.Fuzz(func(t *testing.T, text string) {
		in := bufio.NewReaderSize(strings.NewReader(text), 16)
		total := 0
		for {
			fr, err := readFrame(in)
			if err != nil {
				break
			}
			total += len(fr.data)
		}
		if total > len(text) {
			t.Fatalf("%d bytes of data in %d", total, len(text))
		}
	})
}
