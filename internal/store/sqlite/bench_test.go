package sqlite_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"writ/internal/canon"
	"writ/internal/ident"
	"writ/internal/ledger"
	"writ/internal/store/sqlite"
)

// An append of the benchmarks is what a message in a run costs: one event of
// 1 KB with an id, an idempotency key, a space, a run and a lane, durable
// before it returns. Ids and keys are made as the client makes them.
func appendOne(writer int, run string) ledger.Commit {
	id, actor := ident.New(ident.Event), fmt.Sprintf("per_01J%023d", writer)
	body := []byte(`{"id":"` + id + `","text":"` + kilobyte + `","type":"message.posted"}`)
	return ledger.Commit{
		Workspace: "ws_bench", Now: time.Now(),
		Once: &ledger.Once{Principal: actor, Key: id, Fingerprint: canon.Sum(body)},
		Events: []ledger.NewEvent{{
			ID: id, Type: "message.posted", Actor: actor,
			SpaceID: fmt.Sprintf("spc_01J%023d", writer%8), RunID: "run_" + run, LaneID: "lane_" + run, Body: body,
		}},
	}
}

var kilobyte = strings.Repeat("x", 930)

func BenchmarkAppend(b *testing.B) {
	for _, writers := range []int{1, 16, 64, 256} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) { benchAppend(b, writers) })
	}
}

func benchAppend(b *testing.B, writers int) {
	store := open(b, filepath.Join(b.TempDir(), "writ.db"))
	took := make([]time.Duration, b.N)
	var next atomic.Int64
	var wg sync.WaitGroup
	b.ReportAllocs()
	b.ResetTimer()
	for w := range writers {
		wg.Go(func() {
			run := ""
			for n := 0; ; n++ {
				i := int(next.Add(1)) - 1
				if i >= b.N {
					return
				}
				if n%100 == 0 { // a run of a hundred events, then the next one
					run = strings.TrimPrefix(ident.New(ident.Run), string(ident.Run))
				}
				start := time.Now()
				if _, err := store.Commit(context.Background(), appendOne(w, run)); err != nil {
					b.Error(err)
					return
				}
				took[i] = time.Since(start)
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	slices.Sort(took)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s")
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

func BenchmarkRead(b *testing.B) {
	store := open(b, filepath.Join(b.TempDir(), "writ.db"))
	const events = 20_000
	for i := 0; i < events; i += 500 {
		c := appendOne(0, fmt.Sprintf("%02drun", i/500))
		c.Once = nil
		one := c.Events[0]
		c.Events = nil
		for range 500 {
			one.ID = ident.New(ident.Event)
			c.Events = append(c.Events, one)
		}
		if _, err := store.Commit(context.Background(), c); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("catch-up", func(b *testing.B) {
		read := 0
		for b.Loop() {
			for q := (ledger.EventQuery{Limit: 1000}); ; {
				page, err := store.Events(context.Background(), "ws_bench", q)
				if err != nil {
					b.Fatal(err)
				}
				read += len(page.Events)
				if q.After = page.NextAfter; q.After == page.Head {
					break
				}
			}
		}
		b.ReportMetric(float64(read)/b.Elapsed().Seconds(), "events/s")
	})
	b.Run("run", func(b *testing.B) {
		for b.Loop() {
			page, err := store.Events(context.Background(), "ws_bench", ledger.EventQuery{RunID: "run_07run", Limit: 1000})
			if err != nil || len(page.Events) != 500 {
				b.Fatal(len(page.Events), err)
			}
		}
	})
}

func BenchmarkOpen(b *testing.B) {
	b.Run("fresh", func(b *testing.B) {
		dir := b.TempDir()
		for i := 0; b.Loop(); i++ {
			s, err := sqlite.Open(context.Background(), sqlite.Options{Path: filepath.Join(dir, fmt.Sprint(i), "writ.db")})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := s.Workspaces(context.Background()); err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			_ = s.Close()
			b.StartTimer()
		}
	})
	b.Run("existing", func(b *testing.B) {
		path := filepath.Join(b.TempDir(), "writ.db")
		_ = open(b, path).Close()
		for b.Loop() {
			s, err := sqlite.Open(context.Background(), sqlite.Options{Path: path})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := s.Workspaces(context.Background()); err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			_ = s.Close()
			b.StartTimer()
		}
	})
}

func open(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(context.Background(), sqlite.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
