package capture

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"writ/internal/fault"
	"writ/internal/runner/proc"
)

const (
	maxAnswer  = 64 << 20 // bytes of one git answer
	gitTimeout = 10 * time.Minute
)

// Through returns a Git that runs the git program by way of l, so that a checkout
// which contained programs may have changed is looked at under the same
// containment. environ is the environment of git; its GIT_ variables are dropped,
// the user's own git configuration counts. Answers pass through files in scratch,
// an existing directory that programs of l need not see.
//
// A checkout's own configuration may name programs (filters) that git runs; hooks
// and file-system monitors are turned off.
func Through(l proc.Launcher, program, scratch string, environ []string) Git {
	base := slices.DeleteFunc(slices.Clone(environ), func(e string) bool { return strings.HasPrefix(e, "GIT_") })
	base = append(base, "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	return func(ctx context.Context, dir string, env []string, args ...string) (out []byte, err error) {
		stdout, err := os.CreateTemp(scratch, "git-*.out")
		if err != nil {
			return nil, fault.Wrap(err, fault.Internal, "run git", "no scratch file")
		}
		defer func() { err = errors.Join(err, stdout.Close(), os.Remove(stdout.Name())) }()
		argv := append([]string{program, "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false"}, args...)
		r, err := l.Run(ctx, proc.Command{
			Argv: argv, Dir: dir, Env: append(slices.Clone(base), env...),
			Stdout: stdout, OutputLimit: maxAnswer, Timeout: gitTimeout,
		})
		if err != nil {
			return nil, err
		}
		if !r.OK() {
			return nil, fault.New(fault.Target, "run git", "git %s ended with status %d (%s)", args[0], r.Exit, r.Cause)
		}
		return os.ReadFile(stdout.Name())
	}
}
