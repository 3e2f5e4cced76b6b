package customjson

import (
	"fmt"
	"slices"

	"writ/internal/harness"
	"writ/internal/harness/answer"
	"writ/internal/order"
	"writ/internal/result"
)

// Read implements harness.Harness.
func (a Adapter) Read(s harness.Suite, name string, p order.Precision, quantities []string, out harness.Output) harness.Reading {
	c := answer.Case{Quantities: quantities, Out: out}
	args, err := of(s)
	if err != nil {
		return c.Untranslatable("%v", err)
	}
	set, err := a.settle(p, args.run)
	if err != nil {
		return c.Untranslatable("%v", err)
	}
	c.Attempted = set.attempted
	if r, ended := c.Ended(nativeFile); ended {
		return r
	}
	text := out.Stdout
	if args.run.holds(holdOut) {
		text = out.Files[nativeFile]
	}
	d, err := Parse(text)
	switch {
	case err != nil:
		return c.Unreadable(err)
	case d.Case != "" && d.Case != name:
		return c.Untranslatable("the document is of the case %q", d.Case)
	case d.Failed != "":
		return c.All(result.Failed, result.ReasonHarnessError, d.Failed)
	case d.Skipped != "":
		return c.All(result.Skipped, result.ReasonSkipped, d.Skipped)
	case set.warmups >= 0 && d.Warmups >= 0 && d.Warmups != set.warmups:
		return c.Untranslatable("%d warm-ups in the document, %d were ordered", d.Warmups, set.warmups)
	case set.fixed > 0 && slices.ContainsFunc(d.Iterations, func(n int) bool { return n != set.fixed }):
		return c.Untranslatable("%d iterations were ordered, the document has others", set.fixed)
	}
	reading := values(c, d)
	reading.Warmups, reading.Facts = max(d.Warmups, 0), d.Facts
	return answer.Warn(reading, nil)
}

// values converts the samples of every quantity.
func values(c answer.Case, d Document) harness.Reading {
	series := map[string]answer.Series{}
	wrong := map[string]string{}
	for _, q := range c.Quantities {
		info, known := result.Known(q)
		s, there := d.of(q)
		u, fits := units[s.Unit]
		switch {
		case !known:
		case !there:
			series[q], wrong[q] = answer.Series{}, "the document has no "+q
		case !fits || u.of != info.Unit:
			wrong[q] = fmt.Sprintf("%q is no unit of %s, whose unit is %q", s.Unit, q, info.Unit)
		case len(d.Iterations) > 1 && len(d.Iterations) != len(s.Samples):
			wrong[q] = fmt.Sprintf("%d iterations with %d samples", len(d.Iterations), len(s.Samples))
		default:
			one := answer.Series{Values: make([]float64, len(s.Samples)), Unit: s.Unit, Zero: info.ZeroLegal, Negative: q == "temperature"}
			for i, v := range s.Samples {
				one.Values[i] = v * u.mul / u.div
			}
			if len(d.Iterations) == 1 {
				one.Iterations = slices.Repeat(d.Iterations, len(s.Samples))
			} else {
				one.Iterations = d.Iterations
			}
			series[q] = one
		}
	}
	reading := c.Read(series)
	for q, message := range wrong {
		m := reading.Quantities[q]
		m.Message = message
		reading.Quantities[q] = m
	}
	return reading
}
