package runner

import (
	"context"
	"os"

	"writ/internal/fault"
	"writ/internal/result"
	"writ/internal/runner/proc"
)

// Place is where the programs of an order run: this machine as it is, or a
// contained environment.
type Place interface {
	proc.Launcher
	// Environ is the environment that programs get before the order's variables.
	Environ() []string
	// Scratch makes an empty directory that programs of the place can write to.
	Scratch() (dir string, remove func() error, err error)
	// Facts are what results record about the place, as parts of
	// environment.system. They stay the same as long as the place lives.
	Facts() map[string]result.Observed
}

// Local is this machine without containment. Programs inherit the environment of
// this process.
type Local struct {
	*proc.Keeper
}

// Here makes a local place. Close it when done.
func Here(ctx context.Context) (Local, error) {
	k, err := proc.Start(ctx, proc.Isolation{})
	return Local{k}, err
}

// Environ implements Place.
func (Local) Environ() []string { return os.Environ() }

// Scratch implements Place.
func (Local) Scratch() (dir string, remove func() error, err error) {
	dir, err = os.MkdirTemp("", "writ-run-")
	if err != nil {
		return "", nil, fault.Wrap(err, fault.Internal, "make scratch directory", "no temporary directory")
	}
	return dir, func() error { return os.RemoveAll(dir) }, nil
}

// Facts implements Place.
func (Local) Facts() map[string]result.Observed { return nil }
