package verdict

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"writ/internal/canon"
	"writ/internal/fault"
)

// LabelStages is the label of orders of a comparison that was registered with two
// looks at it. Its value is Stages.String.
const LabelStages = "stages"

// Stages are the rounds of a comparison with two looks: after First rounds it ends
// unless the gate holds, else after First+Second. Both numbers are settled, and
// written into every order, before the first round.
type Stages struct{ First, Second int }

// String spells the stages as the label does: "8+8".
func (s Stages) String() string { return strconv.Itoa(s.First) + "+" + strconv.Itoa(s.Second) }

// ParseStages reads the value of the label.
func ParseStages(text string) (Stages, error) {
	first, second, ok := strings.Cut(text, "+")
	a, err := strconv.Atoi(first)
	b, err2 := strconv.Atoi(second)
	if s := (Stages{a, b}); ok && err == nil && err2 == nil && a > 0 && b > 0 && a+b <= MaxRounds && s.String() == text {
		return s, nil
	}
	return Stages{}, fault.New(fault.Invalid, "read stages", "%.40q is no FIRST+SECOND of at most %d rounds", text, MaxRounds)
}

// Look is which look it is after a number of rounds: 1 or 2.
func (s Stages) Look(rounds int) int {
	if rounds > s.First {
		return 2
	}
	return 1
}

// Spend divides alpha over both looks so that together they are wrong no more often
// than one at alpha: strict at the first look, nearly alpha at the second
// (O'Brien-Fleming). Both values are two-sided levels with six digits. The division
// is exact for normal statistics whose information grows with the rounds, and an
// approximation for ranks.
func (s Stages) Spend(alpha float64) (first, second float64) {
	share := float64(s.First) / float64(s.First+s.Second)
	lo, hi := 0.0, 40.0
	for range 60 {
		if c := (lo + hi) / 2; crossing(c, share) > alpha {
			lo = c
		} else {
			hi = c
		}
	}
	c := (lo + hi) / 2
	tail := func(z float64) float64 { return digits(math.Erfc(z/math.Sqrt2), 6) }
	return tail(c / math.Sqrt(share)), tail(c)
}

// crossing is the chance that a standard normal walk is beyond c/sqrt(share) at the
// first look or beyond c at the second, by Simpson's rule.
func crossing(c, share float64) float64 {
	const steps = 400
	edge := c / math.Sqrt(share)
	rest := math.Sqrt(1 - share)
	below := func(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }
	f := func(z float64) float64 {
		drift := math.Sqrt(share) * z
		return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) * (below((c-drift)/rest) - below((-c-drift)/rest))
	}
	h := 2 * edge / steps
	sum := f(-edge) + f(edge)
	for i := 1; i < steps; i++ {
		sum += float64(2+2*(i%2)) * f(-edge+float64(i)*h)
	}
	return 1 - sum*h/3
}

// At returns the policy under which one look of a staged comparison is judged: the
// same with the alpha of that look, and with a version that says so.
func (s Stages) At(p GatePolicy, look int) GatePolicy {
	first, second := s.Spend(p.Level())
	p.Alpha, p.Attempts = first, 0 // both levels are divided over the attempts already
	if look == 2 {
		p.Alpha = second
	}
	p.Version = fmt.Sprintf("%s (look %d of %s)", p.Version, look, s)
	p.value = canon.MustFrom(p)
	return p
}
