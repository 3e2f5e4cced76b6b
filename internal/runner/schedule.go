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

// Sequence says which side goes first in each round of a session.
type Sequence string

// The sequences. Only the first two cancel the advantage of a slot.
const (
	Drawn         Sequence = "random"         // drawn from the seed
	ABBA          Sequence = "abba"           // in turns: baseline, contender, contender, baseline
	BaselineFirst Sequence = "baseline-first" // always the baseline
)

// Schedule is the kind of schedule that orders of a sequence record.
func (q Sequence) Schedule() string {
	if q == ABBA || q == BaselineFirst {
		return order.Alternating
	}
	return order.Random
}

// first returns which side goes first in each round.
func (q Sequence) first(seed int64, rounds int) []Side {
	if q.Schedule() == order.Random {
		return First(seed, rounds)
	}
	out := make([]Side, rounds)
	for i := range out {
		out[i] = Baseline
		if q == ABBA && i%2 == 1 {
			out[i] = Contender
		}
	}
	return out
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
