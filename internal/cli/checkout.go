package cli

import (
	"context"
	"errors"
	"os"
	"os/exec"

	"writ/internal/fault"
	"writ/internal/runner/capture"
	"writ/internal/runner/proc"
)

// withGit calls do with a git that changes nothing of the checkout it looks at,
// and a scratch folder that is gone afterwards.
func withGit(ctx context.Context, do func(git capture.Git, scratch string) error) (err error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "run git", "there is no git command").Help("install git")
	}
	scratch, err := os.MkdirTemp("", "writ-look-")
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "run git", "no scratch folder")
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	keeper, err := proc.Start(ctx, proc.Isolation{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, keeper.Close()) }()
	return do(capture.Through(keeper, program, scratch, os.Environ()), scratch)
}
