package runner

import "writ/internal/order"

// Side is one of the two things that a comparison compares.
type Side string

// The two sides.
const (
	Baseline  Side = "baseline"  // what there was before
	Contender Side = "contender" // what is compared with it
)

func (s Side) other() Side {
	if s == Baseline {
		return Contender
	}
	return Baseline
}

// First returns which side goes first in each round, see order.ContenderFirst.
func First(seed int64, rounds int) []Side {
	out := make([]Side, rounds)
	for i, contender := range order.ContenderFirst(seed, rounds) {
		out[i] = Baseline
		if contender {
			out[i] = Contender
		}
	}
	return out
}
