package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"writ/internal/fault"
	"writ/internal/order"
	"writ/internal/runner"
	"writ/internal/runner/provide"
)

const targetHelp = `TARGET is a build directory with a ` + provide.Sidecar + ` beside the build, or
@CONFIG or @CONFIG=SOURCE_REF, which asks the project's command: the one that
` + provide.ProviderFile + ` names, {"command": ["program", "argument"]}, in this folder or above.
The command reads one request on standard input and answers a target description on
standard output; what it writes to standard error is shown.`

func (a *app) targetCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "target",
		Short:   "ask what there is to measure",
		Long:    "Ask a project what there is to measure, as a target description.\n\n" + targetHelp,
		Example: "  writ target describe build\n  writ target prepare @release=v1.2",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(
		a.targetOperation(provide.Reporting, "describe", "describe a target that is there; changes nothing", "  writ target describe build\n  writ target describe @release --json"),
		a.targetOperation(provide.Preparing, "prepare", "have the project prepare a target, and describe it", "  writ target prepare @release\n  writ target prepare @release=v1.2 --timeout 20m"),
	)
	return c
}

func (a *app) targetOperation(op provide.Operation, name, short, example string) *cobra.Command {
	var limit time.Duration
	c := &cobra.Command{
		Use:   name + " TARGET",
		Short: short,
		Long: `Get a target description, check it, and show it. Its texts are never run.

` + targetHelp + `

Exit status: 0 described; 1 the build has no description; 2 the project's command
failed, or the description is not valid; 5 the file that names the command is
somebody else's; 6 no command.`,
		Example: example,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			d, ok, err := a.describe(c.Context(), args[0], op, limit)
			if err != nil {
				return err
			}
			if !ok {
				a.say("writ: %s has no description: no %s", args[0], provide.Sidecar)
				return exitStatus(fault.ExitFinding)
			}
			return a.emit(d.Value(), func(w io.Writer) { _ = writeJSON(w, d.Value()) })
		},
	}
	c.Flags().DurationVar(&limit, "timeout", 0, "time for the project's command (default 1m to describe, 1h to prepare)")
	return c
}

// describe gets the description of a target, by the project's own command if need
// be. ok is false when a build has none.
func (a *app) describe(ctx context.Context, word string, op provide.Operation, limit time.Duration) (d order.Description, ok bool, err error) {
	here, err := os.Getwd()
	if err != nil {
		return d, false, fault.Wrap(err, fault.Internal, "describe target", "no working directory")
	}
	place, err := runner.Here(ctx)
	if err != nil {
		return d, false, err
	}
	defer func() {
		if closing := place.Close(); err == nil && closing != nil {
			err = fault.Wrap(closing, fault.Internal, "describe target", "something of the project's command is left")
		}
	}()
	asker := provide.Asker{Launcher: place, Operation: op, Environ: place.Environ(), Limit: limit}
	if !a.quiet {
		asker.Progress = a.err
	}
	d, ok, err = provide.Describe(ctx, word, asker, here)
	if err == nil && ok && d.Target.Kind != order.Artifact {
		if _, missing := os.Stat(d.Target.Path); missing != nil {
			a.say("writ: %s is described, and is not there", fmt.Sprintf("%q", d.Target.Path))
		}
	}
	return d, ok, err
}
