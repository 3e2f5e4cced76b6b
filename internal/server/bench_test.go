package server_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"writ/client"
	"writ/internal/server"
)

// BenchmarkAppend appends durable events of 1 kB from 64 keep-alive connections,
// client and server in one process: with the SDK, and with a client that does
// next to nothing, which shows what the server takes.
func BenchmarkAppend(b *testing.B) {
	const writers = 64
	prose := strings.Repeat("measured, not guessed. ", 36)
	b.Run("sdk", func(b *testing.B) {
		w := newWorld(b, nil)
		c := client.New(w.url, w.ann.token.Text, client.WithHTTP(&http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: writers}}))
		defer c.Close()
		appendAll(b, writers, func(int) (func(key string) error, func()) {
			return func(key string) error {
				_, _, err := c.AppendRaw(b.Context(), []byte(message(key, prose)))
				return err
			}, func() {}
		})
	})
	b.Run("bare", func(b *testing.B) {
		w := newWorld(b, nil)
		appendAll(b, writers, func(int) (func(key string) error, func()) {
			conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
			w.must(err)
			in := bufio.NewReader(conn)
			return func(key string) error { return bareAppend(conn, in, w.ann.token, message(key, prose)) }, func() { conn.Close() }
		})
	})
}

// bareAppend sends one request and reads its answer.
func bareAppend(conn net.Conn, in *bufio.Reader, token server.Token, body string) error {
	_, err := fmt.Fprintf(conn, "POST /v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", token.Text, len(body), body)
	if err != nil {
		return err
	}
	size := 0
	for n := 0; ; n++ {
		line, err := in.ReadString('\n')
		switch {
		case err != nil:
			return err
		case n == 0 && !strings.HasPrefix(line, "HTTP/1.1 201"):
			return fmt.Errorf("answered %s", line)
		case line == "\r\n":
			_, err := in.Discard(size)
			return err
		}
		if value, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			if size, err = strconv.Atoi(strings.TrimSpace(value)); err != nil {
				return err
			}
		}
	}
}

// appendAll spreads b.N appends over writers, and reports how many there were in
// a second and how much processor time each took, which does not depend on what
// else the machine does.
func appendAll(b *testing.B, writers int, open func(n int) (write func(key string) error, done func())) {
	b.Helper()
	writes := make([]func(string) error, writers)
	for n := range writers {
		write, done := open(n)
		writes[n] = write
		defer done()
	}
	var wg sync.WaitGroup
	b.ReportAllocs()
	b.ResetTimer()
	before := processorTime()
	for n, write := range writes {
		share := b.N / writers
		if n < b.N%writers {
			share++
		}
		wg.Go(func() {
			for i := range share {
				if err := write(fmt.Sprintf("%d-%d", n, i)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64((processorTime()-before).Microseconds())/float64(b.N), "cpu-µs/event")
}

func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkStream reads a backlog of 1 kB events as server-sent events.
func BenchmarkStream(b *testing.B) {
	w := newWorld(b, nil)
	w.bulk(b.N, 900)
	head := w.state().Heads[w.ws]
	b.ResetTimer()
	f := w.follow(w.ann.token.Text, "/v1/stream")
	for {
		if x, ok := f.next(); !ok {
			b.Fatal("the stream ended")
		} else if x.id >= head {
			break
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkAppendBesideReaders appends from one connection while 1,000 readers
// follow whom nothing matches.
func BenchmarkAppendBesideReaders(b *testing.B) {
	for _, readers := range []int{0, 1000} {
		b.Run(strconv.Itoa(readers), func(b *testing.B) {
			w := newWorld(b, nil)
			for range readers {
				f := w.follow(w.ann.token.Text, "/v1/stream?type=run.completed")
				f.until(b, "mark")
			}
			conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
			w.must(err)
			defer conn.Close()
			in := bufio.NewReader(conn)
			appendAll(b, 1, func(int) (func(key string) error, func()) {
				return func(key string) error { return bareAppend(conn, in, w.ann.token, message(key, "x")) }, func() {}
			})
		})
	}
}
