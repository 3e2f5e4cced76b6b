package cmdline

import (
	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/order"
)

// Counts is what precision comes to where one execution is one repetition.
type Counts struct{ Repetitions, Warmups int }

// most is how many repetitions or warm-ups one process does.
const most = 1 << 20

// Calibration is what the protocol says of it: one repetition is one execution.
func Calibration() canon.Value {
	return canon.MustFrom(map[string]any{"mode": order.Fixed, "n_iterations": 1})
}

// Settle turns precision into counts. There is one level, nothing to calibrate, and
// no time to warm up for; an order that says otherwise is fault.Refused.
func Settle(adapter string, defaults, p order.Precision) (Counts, error) {
	refuse := func(pointer, format string, args ...any) error {
		return fault.New(fault.Refused, "plan case", format, args...).At("/precision" + pointer)
	}
	if len(p.Repetitions.Levels) > 1 {
		return Counts{}, refuse("/repetitions/levels/1", "%s repeats at one level", adapter)
	}
	c := Counts{Repetitions: p.Repetitions.Of(order.PlainUnit, defaults.Repetitions.Total())}
	if p.Calibration != nil {
		return c, refuse("/calibration/mode", "%s executes a program once for each repetition: there is nothing to calibrate", adapter)
	}
	switch w := p.Warmup; {
	case w == nil:
	case w.Mode == order.Time:
		return c, refuse("/warmup/mode", "%s has count-based warm-up only", adapter)
	case w.Mode == order.Count && w.NWarmup != nil:
		c.Warmups = *w.NWarmup
	}
	switch {
	case c.Repetitions > most:
		return c, refuse("/repetitions", "%d repetitions in one process", c.Repetitions)
	case c.Warmups > most:
		return c, refuse("/warmup/n_warmup", "%d warm-ups", c.Warmups)
	}
	return c, nil
}
