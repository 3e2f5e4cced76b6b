package runner

import "math/rand/v2"

// Side is one of the two things that a comparison compares.
type Side string

const (
	Baseline  Side = "baseline"
	Contender Side = "contender"
)

func (s Side) other() Side {
	if s == Baseline {
		return Contender
	}
	return Baseline
}

// First returns which side goes first in each round: one draw per round from a
// PCG generator that is seeded with the seed and zero, the baseline when the draw
// is even. Whoever knows the seed can check that the order was drawn before the
// measurement.
func First(seed int64, rounds int) []Side {
	rng := rand.New(rand.NewPCG(uint64(seed), 0))
	out := make([]Side, rounds)
	for i := range out {
		out[i] = Baseline
		if rng.Uint64()%2 == 1 {
			out[i] = Contender
		}
	}
	return out
}
