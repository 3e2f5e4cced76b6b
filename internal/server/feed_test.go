package server_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// frame is one frame of a stream.
type frame struct {
	id    int64
	event string
	data  string
}

// feed is an open stream.
type feed struct {
	w   *world
	res *http.Response
	in  *bufio.Reader
}

// follow opens a stream, which has to be given.
func (w *world) follow(token, path string, header ...string) *feed {
	w.t.Helper()
	res, err := w.http.Do(w.request(token, "GET", path, nil, header...))
	w.must(err)
	w.t.Cleanup(func() { _ = res.Body.Close() })
	if got := res.Header.Get("Content-Type"); res.StatusCode != 200 || got != "text/event-stream" {
		b, _ := io.ReadAll(res.Body)
		w.t.Fatalf("%s answered %d, %s\n%s", path, res.StatusCode, got, b)
	}
	return &feed{w, res, bufio.NewReader(res.Body)}
}

// close leaves the stream.
func (f *feed) close() { _ = f.res.Body.Close() }

// next reads a frame; false when the stream has ended.
func (f *feed) next() (frame, bool) {
	for {
		var out frame
		for {
			line, err := f.in.ReadString('\n')
			if err != nil {
				return out, false
			}
			if line = strings.TrimSuffix(line, "\n"); line == "" {
				break
			}
			name, value, _ := strings.Cut(line, ": ")
			switch name {
			case "id":
				n, err := strconv.ParseInt(value, 10, 64)
				if err != nil {
					f.w.t.Errorf("id %q", value)
				}
				out.id = n
			case "event":
				out.event = value
			case "data":
				out.data = value
			}
		}
		if out.event != "" {
			return out, true
		}
	}
}

// until reads up to a frame of the kind and returns what came before it.
func (f *feed) until(t testing.TB, event string) (before []frame, last frame) {
	t.Helper()
	for {
		x, ok := f.next()
		if !ok {
			t.Fatalf("the stream ended before a frame %s came", event)
		}
		if x.event == event {
			return before, x
		}
		before = append(before, x)
	}
}

// upTo reads frames until one has the sequence number, and checks that their
// numbers only grow.
func (f *feed) upTo(t testing.TB, seq int64) []frame {
	t.Helper()
	var out []frame
	last := int64(-1)
	for last < seq {
		x, ok := f.next()
		if !ok {
			t.Fatalf("the stream ended at %d, before %d", last, seq)
		}
		if x.event != "mark" && x.id <= last {
			t.Fatalf("%d came after %d", x.id, last)
		}
		last = x.id
		if x.event != "mark" {
			if !strings.HasPrefix(x.data, fmt.Sprintf(`{"seq":%d,`, x.id)) {
				t.Errorf("frame %d holds %s", x.id, x.data)
			}
			out = append(out, x)
		}
	}
	return out
}
