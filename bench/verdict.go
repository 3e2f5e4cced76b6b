package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"writ/internal/verdict"
)

// benchVerdict times the statistics of one pair of 10, 20 and 30 rounds.
func benchVerdict(context.Context, string, time.Duration) ([]figure, error) {
	r := rand.New(rand.NewPCG(1, 2))
	var out []figure
	for _, n := range []int{10, 20, 30} {
		d := make([]float64, n)
		for i := range d {
			d[i] = r.NormFloat64() / 100
		}
		const times = 2000
		start := time.Now()
		for range times {
			verdict.SignedRankInterval(d, 0.05)
			verdict.HodgesLehmann(d)
			verdict.PGreater(d, 0.01)
		}
		out = append(out, figure{what: fmt.Sprintf("verdict: interval, centre and test of %d rounds", n), value: (time.Since(start) / times).Round(100 * time.Nanosecond).String()})
	}
	return out, nil
}
