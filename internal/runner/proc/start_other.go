//go:build !linux

package proc

import (
	"context"

	"writ/internal/fault"
)

// Keeper is a running helper process; there is none outside Linux.
type Keeper struct{ Report Report }

// Start refuses: what this package promises rests on Linux.
func Start(context.Context, Isolation) (*Keeper, error) {
	return nil, fault.New(fault.Unsupported, "start keeper", "measuring needs Linux").
		Help("run `writ runner` on a Linux host; every other command works here")
}

// Run implements Launcher; it is never reached.
func (*Keeper) Run(context.Context, Command) (Result, error) {
	return Result{}, fault.New(fault.Unsupported, "run program", "measuring needs Linux")
}

// Probe is never reached.
func (*Keeper) Probe(context.Context, string, string) error {
	return fault.New(fault.Unsupported, "probe", "measuring needs Linux")
}

// Close does nothing.
func (*Keeper) Close() error { return nil }
