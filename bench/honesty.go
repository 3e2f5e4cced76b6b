package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"writ/internal/result"
	"writ/internal/verdict"
)

const (
	trials  = 4000 // simulated comparisons of each kind
	nominal = 0.05 // chance of a false block that is asked for
)

// benchHonesty shows how often the judge is wrong: on code that did not change,
// simulated and run on this machine, and on changes of a known size. Everything
// that is simulated has fixed seeds.
func benchHonesty(ctx context.Context, s setup) ([]figure, error) {
	var out []figure
	for _, x := range []suite{
		{"one case", 1, 10, false, false}, {"ten cases", 10, 10, false, false},
		{"ten cases that move together", 10, 10, true, false}, {"one case, a tenth of the rounds disturbed by a factor", 1, 12, false, true},
	} {
		f, err := x.blocked()
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	for _, n := range []int{6, 10, 20} {
		out = append(out, covered(n))
	}
	for _, x := range powerTable {
		out = append(out, x.seen())
	}
	for _, n := range []int{6, 10, 15, 20, 30} {
		out = append(out, detection{n, nominal, verdict.MinimumEffect(n, 1, nominal, .8), "at the mde that rows tell"}.seen())
	}
	real, err := benchTrace(ctx, s)
	return append(out, real...), err
}

// rateOf counts cases of a kind, with the exact interval of their share.
func rateOf(what, of string, count, all int) figure {
	low, high := verdict.ClopperPearson(count, all, .05)
	share := float64(count) / float64(all)
	return figure{
		What: what, Value: fmt.Sprintf("%.2f %% [%.2f, %.2f] of %d %s", 100*share, 100*low, 100*high, all, of),
		Numbers: map[string]float64{"share": share, "lower": low, "upper": high, "of": float64(all)},
	}
}

// rarely holds a share against the nominal one with its binomial error.
func rarely(f figure) figure {
	limit := nominal + 1.96*math.Sqrt(nominal*(1-nominal)/f.Numbers["of"])
	f.Beside = fmt.Sprintf("limit %.2f %%", 100*limit)
	return limited(f, f.Numbers["share"], limit)
}

// suite is a kind of comparison in which nothing is slower than its threshold, and
// every case is exactly at it: the worst place.
type suite struct {
	what          string
	cases, rounds int
	together      bool // the cases of a round share most of their noise
	disturbed     bool
}

const threshold = .02

func (x suite) blocked() (figure, error) {
	p := verdict.DefaultPolicy()
	p.Name, p.Quantities, p.Default = "honesty", nil, verdict.Threshold{Relative: threshold}
	p, err := verdict.NewPolicy(p)
	if err != nil {
		return figure{}, err
	}
	r := rand.New(rand.NewPCG(11, uint64(100*x.cases+x.rounds)))
	blocked := 0
	for range trials {
		o, err := verdict.JudgeSeries(verdict.SeriesParams{Series: x.draw(r), Policy: p, Rounds: x.rounds})
		if err != nil {
			return figure{}, err
		}
		if o.Overall() == verdict.Slower {
			blocked++
		}
	}
	return rarely(rateOf("honesty: blocked at the threshold, "+x.what, "suites", blocked, trials)), nil
}

func (x suite) draw(r *rand.Rand) []verdict.Series {
	out := make([]verdict.Series, x.cases)
	for i := range out {
		out[i] = verdict.Series{Pair: verdict.Pair{Workload: fmt.Sprintf("Case%d", i), Quantity: "wall-time"}, Unit: "s", Direction: result.LowerIsBetter}
	}
	for round := range x.rounds {
		shared := 0.0
		if x.together {
			shared = .02 * r.NormFloat64()
		}
		for i := range out {
			d := math.Log(1+threshold) + shared + .01*r.NormFloat64()
			if x.disturbed && r.IntN(10) == 0 {
				d += 2 * r.NormFloat64()
			}
			for at, v := range []float64{1, math.Exp(d)} {
				out[i].Samples[at] = append(out[i].Samples[at], v)
				out[i].Rounds[at] = append(out[i].Rounds[at], uint16(round))
			}
		}
	}
	return out
}

// covered counts how often the 95 % interval of n rounds holds the truth.
func covered(n int) figure {
	const truth = .3
	r := rand.New(rand.NewPCG(21, uint64(n)))
	d := make([]float64, n)
	count := 0
	for range trials {
		for i := range d {
			d[i] = truth + r.NormFloat64()
		}
		if ci := verdict.SignedRankInterval(d, .05); ci.Lower <= truth && truth <= ci.Upper {
			count++
		}
	}
	_, level := verdict.CriticalOrder(n, .05)
	f := rateOf(fmt.Sprintf("honesty: interval of %d rounds holds the truth", n), "intervals", count, trials)
	f.Beside = fmt.Sprintf("at least 94 %%, attained level %.2f %%", 100*level)
	f.Ratio, f.Floor = &ratio{Centre: f.Numbers["share"] / .94}, atLeast(1)
	return f
}

// detection is a change of a known size, in standard deviations of the differences.
type detection struct {
	n             int
	alpha, effect float64
	what          string
}

// powerTable are effects that a published simulation of the signed-rank interval
// found to be seen in 80 % of all comparisons.
var powerTable = []detection{
	{6, .05, 1.82, "of the table"}, {8, .05, 1.25, "of the table"}, {10, .05, 1.03, "of the table"}, {15, .05, .80, "of the table"},
	{20, .05, .68, "of the table"}, {30, .05, .54, "of the table"}, {10, .01, 1.39, "of the table"}, {20, .01, .87, "of the table"}, {30, .001, .86, "of the table"},
}

// seen counts how often the interval leaves out zero on the right side. Four in
// five are wanted, within three points.
func (x detection) seen() figure {
	r := rand.New(rand.NewPCG(31, uint64(x.n)))
	d := make([]float64, x.n)
	count := 0
	for range trials {
		for i := range d {
			d[i] = x.effect + r.NormFloat64()
		}
		if verdict.SignedRankInterval(d, x.alpha).Lower > 0 {
			count++
		}
	}
	f := rateOf(fmt.Sprintf("honesty: %d rounds, alpha %g, see %.2f sigma, %s", x.n, x.alpha, x.effect, x.what), "comparisons", count, trials)
	f.Beside = "80 % within 3 points"
	return limited(f, math.Abs(f.Numbers["share"]-.8), .03)
}
