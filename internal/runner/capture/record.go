// Package capture finds out what was measured and where: which commit and which
// bytes a checkout holds, what the machine is, and how busy it was.
//
// Invariants: looking changes nothing, neither the user's index nor the object
// store nor the machine; a fact that cannot be read is recorded as such and never
// left out, guessed or replaced by a default; the environment is never recorded
// whole, only names from a list.
//
// The package judges nothing: whether a busy machine spoils a measurement is the
// matter of a policy. It never sets anything and never asks the network.
package capture

import (
	"errors"
	"io/fs"
	"maps"
	"slices"

	"writ/internal/canon"
	"writ/internal/result"
)

// Block is a set of facts by name, such as "cpu.governor".
type Block map[string]result.Observed

// Names returns the names in order.
func (b Block) Names() []string { return slices.Sorted(maps.Keys(b)) }

// reading collects facts of one moment.
type reading struct {
	when  string // result.Before or result.After
	block Block
}

// put records a value, or why there is none. The value is a number, a text or a
// boolean.
func (r reading) put(name, unit, source string, value any, err error) {
	if err != nil {
		r.block[name] = result.Missed(statusOf(err), r.when, source)
		return
	}
	v, err := canon.From(value)
	if err != nil { // NaN and the like; text that is no UTF-8
		r.block[name] = result.Missed(result.SeenError, r.when, source)
		return
	}
	r.block[name] = result.Saw(v, unit, r.when, source)
}

// errAbsent is a fact that this machine does not have.
var errAbsent = errors.New("not offered by this machine")

// statusOf tells what is not there, or not for us, from what is not understood.
// Files of the kernel that are there but answer ENODEV, ENXIO and the like are of
// the second kind: somebody should look.
func statusOf(err error) string {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, errAbsent) {
		return result.Unavailable
	}
	return result.SeenError
}
