// Package proc starts one program at a time, bounds it, and proves that nothing
// of it is left when it has ended.
//
// A small helper process, the keeper, sits between the caller and the program.
// It is this same executable, started again under another name, so it is there
// wherever the caller is. It does four things that a large Go process cannot do
// for its own children: it adopts descendants that leave their process group or
// session, it kills all of them before the program's process id can be used
// again, it dies with the caller and takes everything along, and its own memory
// is small, so that a child's peak memory is the child's.
//
// Invariants: programs of one keeper never overlap; standard input is empty and
// there is no terminal; output goes to files, never to pipes, and is capped; a
// result is given only after the last descendant is gone, or says which are not.
//
// The package never interprets output, never uses a shell, never retries, and
// never raises its own rights. Isolation (see Isolation) only takes away.
package proc

import (
	"context"
	"os"
	"syscall"
	"time"
)

// Launcher runs programs one after the other. A Keeper is one; a contained
// environment offers another with the same behaviour and fewer rights.
type Launcher interface {
	// Run starts c and waits until it and all its descendants are gone. A program
	// that fails, is killed or runs out of time is a Result, not an error: an error
	// means that it did not start or that its end is not known. When ctx ends first
	// the program is stopped and the Result says so.
	Run(ctx context.Context, c Command) (Result, error)
}

// Self stands in Command.Argv for this same executable, wherever the program runs
// and whatever became of its file since. No argument holds a NUL byte, so it
// cannot be mistaken for one.
const Self = "\x00self\x00"

// Command is one program to run.
type Command struct {
	Argv        []string      // Argv[0] is an absolute path, or Self
	Dir         string        // absolute working directory
	Env         []string      // the whole environment, NAME=VALUE; nothing is inherited
	Stdout      *os.File      // open for appending, or nil to discard
	Stderr      *os.File      // may be the same file as Stdout
	OutputLimit int64         // bytes per output file; 0 means DefaultOutputLimit
	Timeout     time.Duration // from the start; 0 means none
	Grace       time.Duration // between SIGTERM and SIGKILL; 0 means DefaultGrace
}

const (
	DefaultOutputLimit = int64(64 << 20)        // bytes
	DefaultGrace       = 500 * time.Millisecond // time to die of SIGTERM
)

// Cause says who ended a program.
type Cause string

const (
	Exited      Cause = "exited"       // it ended by itself; see Exit and Signal
	TimedOut    Cause = "timeout"      // Command.Timeout passed
	Cancelled   Cause = "cancelled"    // the caller's context ended
	OutputLimit Cause = "output-limit" // an output file grew over its limit
)

// Result is how a program ended and what it used.
type Result struct {
	Cause     Cause
	Exit      int            // exit status, or -1 when a signal ended it
	Signal    syscall.Signal // the signal that ended it, or 0
	Forced    bool           // SIGKILL was needed after the grace time
	Started   time.Time      // wall clock, UTC
	Ended     time.Time      // wall clock, UTC
	Wall      time.Duration  // monotonic, from before the fork to the end of the program itself
	Usage     Usage          // of the program and the descendants that it waited for
	Strays    []Stray        // descendants alive when the program had ended; all were killed
	Survivors int            // descendants that could not be killed; anything above 0 spoils later measurements
}

// OK reports whether the program ended by itself with status 0 and left nothing
// that could not be removed.
func (r Result) OK() bool {
	return r.Cause == Exited && r.Exit == 0 && r.Signal == 0 && r.Survivors == 0
}

// Usage is what the kernel counted.
type Usage struct {
	User, System    time.Duration
	MaxRSS          int64 // bytes, the largest of the program and its waited-for descendants
	RSSFloor        int64 // bytes that the keeper itself had; a MaxRSS not above it says nothing
	MinorFaults     int64
	MajorFaults     int64
	VoluntarySwitch int64
	Preempted       int64
}

// Stray is a descendant that outlived the program.
type Stray struct {
	PID     int    // in the keeper's view; 0 when it was gone before it could be looked at, and then nothing else is known
	Name    string // command name, at most 15 bytes
	Escaped bool   // it had left the program's process group
}
