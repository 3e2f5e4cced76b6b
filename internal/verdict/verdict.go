// Package verdict turns the measurement results of two sides into one word per
// case and quantity, and those words into a gate's answer.
//
// Invariants: the unit of analysis is the round, one process of each side run
// together; the tests are exact, so no answer depends on a random number; the
// level that is attained is reported, not the level that was asked for; a case
// that is missing or broken is never read as a pass; the same result bytes
// under the same policy give byte-identical documents on every machine.
//
// The package reads no clock, no file and no network. It never drops an
// observation because of its value, never pairs runs that were not run as
// pairs, and never calls two sides equal because it could not tell them apart.
package verdict

// Word is the verdict on one case and quantity.
type Word string

// The closed set of verdicts, in the order in which they are tried.
const (
	Identical    Word = "identical"     // the same bytes were measured on both sides: nothing to infer
	Invalid      Word = "invalid"       // the evidence breaks a rule; see the reason
	Underpowered Word = "underpowered"  // too few rounds for any answer at this level
	Slower       Word = "slower"        // worse beyond the threshold
	Faster       Word = "faster"        // better beyond the threshold
	NoDifference Word = "no-difference" // equivalent within the threshold
	Inconclusive Word = "inconclusive"  // the interval allows more than one answer
)

// Words lists every verdict, worst first: the order in which a table of rows is
// summed up in one word.
func Words() []Word {
	return []Word{Invalid, Slower, Underpowered, Inconclusive, Faster, NoDifference, Identical}
}

// Known reports whether w is one of the closed set.
func (w Word) Known() bool { return w.rank() < len(Words()) }

// rank is the place of w in Words; the length of it for an unknown word.
func (w Word) rank() int {
	words := Words()
	for i, x := range words {
		if x == w {
			return i
		}
	}
	return len(words)
}
