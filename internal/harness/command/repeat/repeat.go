// Package repeat times one program over and over, as exactly as the kernel counts.
//
// It is this same executable, started again under another name: one process for
// all repetitions of a case. That process forks, throws away all memory that a loop
// of a few system calls does not need, and runs the loop: so what a program
// inherits until it is executed, its peak memory above all, is next to nothing, and
// no Go runtime runs while something is measured.
//
// Invariants: repetitions never overlap, and nothing of one is alive in the next;
// each is counted by itself, from the kernel's own account of that process; time
// is monotonic, from before the fork until the end is known; the loop allocates
// nothing; samples are written when all is over, or not at all; repetitions end
// with the first that does not end as expected.
//
// The package uses no shell and judges no number.
package repeat

import (
	"encoding/json"

	"writ/internal/fault"
)

// Name is the first argument of a process that repeats. The second and third are
// the files of its plan and of its samples; with the second alone it looks for
// counters and writes what it finds there.
const Name = "writ-repeat"

// Schema names the form of samples.
const Schema = "writ.command-samples/v1"

// Plan is what to repeat. It is written and read by the same build.
type Plan struct {
	Program      string   `json:"program"` // absolute path
	Argv         []string `json:"argv"`
	Input        string   `json:"input,omitempty"` // file that is standard input, from its beginning each time; "" for none
	Keep         bool     `json:"keep"`            // output goes where this process's goes; else nowhere
	Warmups      int      `json:"warmups"`         // repetitions that are not recorded
	Repetitions  int      `json:"repetitions"`
	Expected     []int    `json:"expected"`     // exit statuses, 0 to 255
	Instructions bool     `json:"instructions"` // count them, in user mode, of the program and its descendants
}

// Encode writes the plan.
func (p Plan) Encode() ([]byte, error) {
	b, err := json.Marshal(p)
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "plan case", "no command line")
	}
	return b, nil
}
