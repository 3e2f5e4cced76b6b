package main

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestTurns has two sides of known pace, on a clock that stands still while
// nothing sleeps. No number of calls fills a window of a second exactly: who
// comes first of a call and a window that end together is not settled.
func TestTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		type call struct {
			name string
			w    int
			key  uint64
		}
		var mu sync.Mutex
		var turns []string
		seen := map[call]bool{}
		side := func(name string, takes time.Duration) contestant {
			return contestant{name, func(w int, key uint64) error {
				mu.Lock()
				if len(turns) == 0 || turns[len(turns)-1] != name {
					turns = append(turns, name)
				}
				c := call{name, w, key}
				if seen[c] {
					t.Errorf("%v comes twice", c)
				}
				seen[c] = true
				mu.Unlock()
				time.Sleep(takes)
				return nil
			}}
		}
		r, err := compete(t.Context(), 2, windows*time.Second, side("a", 7*time.Millisecond), side("b", 28*time.Millisecond))
		if err != nil {
			t.Fatal(err)
		}
		if a, b := r[0].median(), r[1].median(); math.Abs(a-2/0.007) > 0.1 || math.Abs(b-2/0.028) > 0.1 {
			t.Errorf("%.1f and %.1f a second, want 285.7 and 71.4", a, b)
		}
		if p50, p99 := r[1].took.at(0.5), r[1].took.at(0.99); p50 != 28*time.Millisecond || p99 != p50 {
			t.Errorf("p50 %s, p99 %s", p50, p99)
		}
		over := r[0].over(r[1])
		if math.Abs(over.Centre-4) > 0.01 || over.Level < 0.95 || over.Interval[0] > over.Centre || over.Interval[1] < over.Centre {
			t.Errorf("ratio %s at %g", over, over.Level)
		}
		// The one who ended a round begins the next, so both follow themselves:
		// a b, b a, a b, ...
		if want := windows + 2; len(turns) != want {
			t.Errorf("%d changes of turn %v, want %d", len(turns), turns, want)
		}
	})
}

func TestFirstFailureEndsAWindow(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	_, err := compete(t.Context(), 4, time.Hour, contestant{"a", func(w int, _ uint64) error {
		if w == 2 {
			return broken
		}
		return nil
	}})
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func TestAnInterruptIsNoResult(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := compete(ctx, 1, time.Hour, contestant{"a", func(int, uint64) error { cancel(); return nil }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestBeyondIsTheDifferenceOfNeighbours(t *testing.T) {
	t.Parallel()
	var ours, bare times
	for i := range time.Duration(10) { // both drift, the difference does not
		bare = append(bare, (3+i)*time.Millisecond)
		ours = append(ours, (3+i)*time.Millisecond+500*time.Microsecond)
	}
	f := beyond("x", ours, bare, time.Millisecond)
	if f.Ratio.Centre != 0.5 || f.Numbers["beyond_us"] != 500 || f.Ratio.Level < 0.95 {
		t.Errorf("ratio %s, %v", f.Ratio, f.Numbers)
	}
}
