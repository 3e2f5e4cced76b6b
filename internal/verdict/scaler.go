package verdict

import (
	"math"
	"strconv"
)

// scaler shows several values in one step of their unit, such as milli, so that
// the smallest has three significant digits at least. It is how benchstat writes
// the values of a row.
type scaler struct {
	digits int // behind the point
	step   float64
	prefix string
}

type unitStep struct {
	step   float64
	prefix string
	from   [3]float64 // smallest values with one, two and three digits behind the point
}

var (
	decimalSteps = decimal("T", "G", "M", "k", "", "m", "µ", "n")
	binarySteps  = powersOf1024("Ti", "Gi", "Mi", "Ki", "")
)

// decimal are steps of a thousand, the last one being 1e-9 with eight prefixes. A
// step begins where the digits that are shown round up to it.
func decimal(prefixes ...string) (out []unitStep) {
	for i, p := range prefixes {
		e := strconv.Itoa(12 - 3*i)
		out = append(out, unitStep{literal("1e" + e), p, [3]float64{literal("99.995e" + e), literal("9.9995e" + e), literal(".99995e" + e)}})
	}
	return out
}

// powersOf1024 are steps for bytes. There are no parts of a byte, so the last one
// takes everything that is left.
func powersOf1024(prefixes ...string) (out []unitStep) {
	for i, p := range prefixes {
		step := math.Ldexp(1, 10*(len(prefixes)-1-i))
		out = append(out, unitStep{step, p, [3]float64{99.995 * step, 9.9995 * step, .99995 * step}})
	}
	return out
}

func literal(s string) float64 {
	v, _ := strconv.ParseFloat(s, 64) // a constant of this file
	return v
}

// scalerFor fits the smaller of two values; zero, which fits every step, counts
// for nothing.
func scalerFor(values [2]float64, binary bool) scaler {
	least := 0.0
	for _, v := range values {
		if v = math.Abs(v); v != 0 && (least == 0 || v < least) {
			least = v
		}
	}
	if least == 0 {
		return scaler{3, 1, ""}
	}
	steps := decimalSteps
	if binary {
		steps = binarySteps
	}
	for _, s := range steps {
		for i, from := range s.from {
			if least >= from {
				return scaler{i + 1, s.step, s.prefix}
			}
		}
	}
	// Below the smallest step: more digits, up to ten.
	last := steps[len(steps)-1]
	for e := 1; ; e++ {
		if least/last.step >= literal("9.9995e-"+strconv.Itoa(e)) || e == 8 {
			return scaler{e + 2, last.step, last.prefix}
		}
	}
}

func (s scaler) format(v float64) string {
	return strconv.FormatFloat(v/s.step, 'f', s.digits, 64) + s.prefix
}
