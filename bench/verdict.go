package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"writ/internal/verdict"
)

// benchVerdict times the statistics of one pair of 10, 20 and 30 rounds.
func benchVerdict(context.Context, setup) ([]figure, error) {
	r := rand.New(rand.NewPCG(1, 2))
	var out []figure
	for _, n := range []int{10, 20, 30} {
		d := make([]float64, n)
		for i := range d {
			d[i] = r.NormFloat64() / 100
		}
		var took times
		for range 2000 {
			t := time.Now()
			verdict.SignedRankInterval(d, 0.05)
			verdict.HodgesLehmann(d)
			verdict.PGreater(d, 0.01)
			took = append(took, time.Since(t))
		}
		mid := took.sorted().at(0.5)
		out = append(out, figure{
			What: fmt.Sprintf("verdict: interval, centre and test of %d rounds", n), Value: show(mid) + " per pair",
			Numbers: map[string]float64{"pair_us": micros(mid)},
		})
	}
	return out, nil
}
