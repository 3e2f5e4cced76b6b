package runner

import (
	"time"

	"writ/internal/canon"
	"writ/internal/policy"
	"writ/internal/result"
	"writ/internal/runner/capture"
)

// sample reads the temperature of a host again and again until stop is called,
// which returns what was seen: at least the first and the last moment. The host is
// read without what is kept for the readings between cases, which no two
// goroutines may use.
func sample(host capture.Host, s policy.Sampling) (stop func() result.Observed) {
	bare := capture.Host{Root: host.Root}
	finish, done := make(chan struct{}), make(chan result.Observed)
	var all samples
	all.take(bare.Temperature(s.Sensors))
	go func() {
		ticks := time.NewTicker(s.Every)
		defer ticks.Stop()
		for {
			select {
			case <-finish:
				all.take(bare.Temperature(s.Sensors))
				done <- all.observed()
				return
			case <-ticks.C:
				all.take(bare.Temperature(s.Sensors))
			}
		}
	}()
	return func() result.Observed { close(finish); return <-done }
}

// samples sums up readings. One that failed spoils nothing.
type samples struct {
	result.Samples
	sum    float64
	source string
}

func (s *samples) take(celsius float64, source string, err error) {
	if s.source = source; err != nil {
		return
	}
	if s.N == 0 {
		s.Min, s.Max = celsius, celsius
	}
	s.N++
	s.sum += celsius
	s.Min, s.Max, s.Mean = min(s.Min, celsius), max(s.Max, celsius), s.sum/float64(s.N)
}

func (s *samples) observed() result.Observed {
	if s.N > 0 {
		return result.Saw(canon.MustFrom(s.Samples), "Cel", result.Sampled, s.source)
	}
	return result.Missed(result.Unavailable, result.Sampled, s.source)
}
