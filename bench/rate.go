package main

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"writ/internal/verdict"
)

// windows is how often the contestants of a comparison take turns: the least
// number of pairs that has an exact interval of 95 %.
const windows = 6

// settle is the pause after a window, for what is still written in the
// background on the account of the one who ran.
const settle = 150 * time.Millisecond

// contestant is one side of a comparison. Do is one acknowledged operation of a
// writer; key is different for every call.
type contestant struct {
	name string
	do   func(writer int, key uint64) error
}

// rates are what one contestant reached.
type rates struct {
	perSecond []float64 // per window
	took      times     // of all windows, sorted
}

func (r rates) median() float64 {
	s := slices.Sorted(slices.Values(r.perSecond))
	return s[len(s)/2]/2 + s[(len(s)-1)/2]/2
}

// over is r as a multiple of the peer's rates, window by window, on the scale of
// logarithms.
func (r rates) over(peer rates) ratio {
	d := make([]float64, len(r.perSecond))
	for i := range d {
		d[i] = math.Log(r.perSecond[i] / peer.perSecond[i])
	}
	out := centre(d)
	out.Centre = math.Exp(out.Centre)
	for i, x := range out.Interval {
		out.Interval[i] = math.Exp(x)
	}
	return out
}

// centre is the Hodges-Lehmann centre of paired differences, with its exact
// interval when there are enough of them.
func centre(d []float64) ratio {
	out := ratio{Centre: verdict.HodgesLehmann(d)}
	if i := verdict.SignedRankInterval(d, 0.05); i.Finite() {
		out.Interval, out.Level = []float64{i.Lower, i.Upper}, i.Level
	}
	return out
}

// compete measures the contestants in turns, each for about span in all. Who
// begins a round moves on from round to round, and the round before the first
// does not count.
func compete(ctx context.Context, writers int, span time.Duration, all ...contestant) ([]rates, error) {
	out := make([]rates, len(all))
	for round := -1; round < windows; round++ {
		for i := range all {
			n := (i + round + 1) % len(all)
			perSecond, took, err := window(ctx, writers, span/windows, uint64(round+1)<<40, all[n].do)
			if err != nil {
				return nil, errors.Join(errors.New(all[n].name), err)
			}
			time.Sleep(settle)
			if round < 0 {
				continue
			}
			out[n].perSecond = append(out[n].perSecond, perSecond)
			out[n].took = append(out[n].took, took...)
		}
	}
	for i := range out {
		out[i].took.sorted()
	}
	return out, nil
}

// window runs do from writers goroutines for about span; every call waits for
// its acknowledgement. Keys count up from base.
func window(ctx context.Context, writers int, span time.Duration, base uint64, do func(writer int, key uint64) error) (perSecond float64, took times, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, span, errOver)
	defer cancel()
	var (
		mu    sync.Mutex
		wg    sync.WaitGroup
		start = time.Now()
	)
	for w := range writers {
		wg.Go(func() {
			var own times
			var failed error
			for n := uint64(0); ctx.Err() == nil && failed == nil; n++ {
				t := time.Now()
				if failed = do(w, base+n); failed == nil {
					own = append(own, time.Since(t))
				}
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, own...)
			if failed != nil && err == nil {
				err = failed
				cancel()
			}
		})
	}
	wg.Wait()
	if err == nil && context.Cause(ctx) != errOver {
		err = context.Cause(ctx)
	}
	if err == nil && len(took) == 0 {
		err = errors.New("nothing was acknowledged")
	}
	return float64(len(took)) / time.Since(start).Seconds(), took, err
}

// errOver ends a window.
var errOver = errors.New("the window is over")
