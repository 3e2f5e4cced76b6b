package runner

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"writ/internal/fault"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/runner/proc"
)

// pace is what one case needs.
type pace struct {
	iterations int     // for one sample
	seconds    float64 // of one iteration
}

// calibrate runs every case of the baseline once, for SampleSeconds, and chooses
// the calibration of all orders that follow. Cases that fail have no say; their
// failure shows in the rounds.
func (s Session) calibrate(ctx context.Context, r *run, track *tracker) (_ *order.Calibration, err error) {
	dir, err := os.MkdirTemp("", "writ-calibrate-")
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "calibrate", "no temporary directory")
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	adaptive := &order.Calibration{Mode: order.Adaptive, MinimumSampleSeconds: s.SampleSeconds}
	var paces []pace
	for i, c := range r.cases {
		ev := Event{Stage: Calibrating, Side: Baseline, Rounds: s.Rounds, Case: c.name, Index: i, Cases: len(r.cases)}
		track.send(ev)
		if track.done++; c.suite < 0 {
			continue
		}
		h, name := r.harnesses[c.suite], r.own(c.suite, c.name)
		precision := order.Precision{Repetitions: once(h.Capabilities()), Calibration: adaptive}
		inv, err := h.Invocation(r.found[c.suite], name, precision)
		if err != nil {
			return nil, err
		}
		out, err := r.launch(ctx, inv, filepath.Join(dir, strconv.Itoa(i)), seconds(r.order.Timeouts.CaseS))
		if err != nil {
			return nil, err
		}
		if out.Result.Cause == proc.Cancelled {
			return nil, fault.Wrap(ctx.Err(), fault.Cancelled, "calibrate", "stopped during %s", c.name)
		}
		reading := h.Read(r.found[c.suite], name, precision, []string{"wall-time"}, out)
		m, n := reading.Quantities["wall-time"], reading.InnerIterations
		if m.Status == result.Success && len(n) == 1 {
			paces = append(paces, pace{n[0], m.Values[0]})
		}
	}
	return choose(paces, adaptive), nil
}

// once is a single observation, at whatever levels the harness has.
func once(c order.Capabilities) order.Repetitions {
	if c.Bare {
		return order.Times(1)
	}
	var levels []order.Level
	for _, unit := range c.Levels {
		levels = append(levels, order.Level{Unit: unit, N: 1})
	}
	return order.Repetitions{Levels: levels}
}

// choose fixes one iteration count when it gives every case a sample of at least
// the wanted time and none one that is many times as long.
func choose(paces []pace, adaptive *order.Calibration) *order.Calibration {
	if len(paces) == 0 {
		return adaptive
	}
	n := slices.MaxFunc(paces, func(a, b pace) int { return cmp.Compare(a.iterations, b.iterations) }).iterations
	slowest := slices.MaxFunc(paces, func(a, b pace) int { return cmp.Compare(a.seconds, b.seconds) }).seconds
	if limit := spread * adaptive.MinimumSampleSeconds; len(paces) > 1 && float64(n)*slowest > limit {
		return adaptive
	}
	return &order.Calibration{Mode: order.Fixed, NIterations: n}
}
