package order

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"writ/internal/canon"
)

// Seed derives the seed of the n-th comparison of a plan, n counting from 0, from
// the ref of the plan: nobody chooses it, and everybody can compute it. It has 48
// bits, so that every reader of numbers keeps it exactly.
func Seed(plan string, n int) int64 {
	d := canon.Sum(fmt.Appendf(nil, "writ-seed/v1 %s %d", plan, n))
	return int64(binary.BigEndian.Uint64(d[:8]) >> 16)
}

// ContenderFirst says for each round of a comparison whether the contender goes
// first: one draw per round from a PCG generator that is seeded with the seed and
// zero, true when the draw is odd. Whoever knows the seed can check that the order
// was drawn before the measurement.
func ContenderFirst(seed int64, rounds int) []bool {
	rng := rand.New(rand.NewPCG(uint64(seed), 0))
	out := make([]bool, rounds)
	for i := range out {
		out[i] = rng.Uint64()%2 == 1
	}
	return out
}
