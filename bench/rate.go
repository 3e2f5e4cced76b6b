package main

import (
	"context"
	"slices"
	"sync"
	"time"
)

// rate is how fast acknowledged operations came, and how long one took.
type rate struct {
	perSecond float64
	p50, p99  time.Duration
	count     int
}

// measure runs do from writers goroutines for about span; every call waits for
// its acknowledgement.
func measure(ctx context.Context, writers int, span time.Duration, do func(writer, n int) error) (rate, error) {
	ctx, cancel := context.WithTimeout(ctx, span)
	defer cancel()
	var (
		mu    sync.Mutex
		all   []time.Duration
		first error
		wg    sync.WaitGroup
	)
	start := time.Now()
	for w := range writers {
		wg.Go(func() {
			var own []time.Duration
			for n := 0; ctx.Err() == nil; n++ {
				t := time.Now()
				if err := do(w, n); err != nil {
					mu.Lock()
					if first == nil {
						first = err
					}
					mu.Unlock()
					cancel()
					break
				}
				own = append(own, time.Since(t))
			}
			mu.Lock()
			all = append(all, own...)
			mu.Unlock()
		})
	}
	wg.Wait()
	took := time.Since(start)
	if first != nil || len(all) == 0 {
		return rate{}, first
	}
	slices.Sort(all)
	return rate{float64(len(all)) / took.Seconds(), all[len(all)/2], all[len(all)*99/100], len(all)}, nil
}
