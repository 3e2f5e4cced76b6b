package cli

import (
	"context"
	"os"
	"time"

	"github.com/spf13/cobra"

	"writ/internal/demo"
)

type demoOptions struct {
	dir           string
	keep, regress bool
}

func (a *app) demoCommand() *cobra.Command {
	var o demoOptions
	c := &cobra.Command{
		Use:   "demo",
		Short: "go the whole way on a sample repository",
		Long: `Make a sample repository and a server of its own, and go the whole way: an ask, a
signed proposal, review and decision, approved steps, a measured comparison in a
contained environment, a landing, and a docket that verifies. Every document is
shown as it comes into being. Nothing outside of the folder is touched.

With --regress the proposal is slower, and has to be blocked.

Exit status: 0 as it should be; 1 the docket does not verify; 2 this machine
cannot contain what is run; 3 internal error; 4 --dir is not empty; 7 git is
missing; 10 the run ended otherwise; 130 interrupted.`,
		Example: "  writ demo\n  writ demo --regress\n  writ demo --dir ./writ-demo",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return a.demo(c.Context(), o) },
	}
	f := c.Flags()
	f.BoolVar(&o.regress, "regress", false, "propose a slower form: the gate has to block it")
	f.BoolVar(&o.keep, "keep", false, "keep the temporary folder")
	f.StringVar(&o.dir, "dir", "", "empty folder to work in, which is kept (default: a temporary one)")
	return c
}

func (a *app) demo(ctx context.Context, o demoOptions) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	out := a.out
	if a.json { // standard output is for the one object
		out = a.err
	}
	r, err := demo.Run(ctx, demo.Params{
		Self: self, Dir: o.dir, Keep: o.keep, Regress: o.regress, Out: out, Err: a.err, Live: a.live(), Now: time.Now,
	})
	if err != nil {
		return a.remote(err)
	}
	if a.json {
		return writeJSON(a.out, r)
	}
	return nil
}
