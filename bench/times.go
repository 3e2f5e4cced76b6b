package main

import (
	"slices"
	"time"
)

// times are durations of one kind of operation.
type times []time.Duration

func (t times) sorted() times {
	slices.Sort(t)
	return t
}

// at returns the value below which the fraction q of sorted times lies, 0 when
// there are none.
func (t times) at(q float64) time.Duration {
	if len(t) == 0 {
		return 0
	}
	return t[min(int(q*float64(len(t))), len(t)-1)]
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// show rounds a duration to three digits or so.
func show(d time.Duration) string {
	for unit := time.Second; unit > 1; unit /= 10 {
		if d >= unit {
			return d.Round(unit / 100).String()
		}
	}
	return d.String()
}
