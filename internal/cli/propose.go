package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"writ/client"
	"writ/internal/author"
	"writ/internal/fault"
)

type proposeOptions struct {
	run, key, message, bench string
	packages                 []string
	expires                  time.Duration
	change                   changeOptions
}

func (a *app) proposeCommand() *cobra.Command {
	var o proposeOptions
	c := &cobra.Command{
		Use:   "propose RUN",
		Short: "propose a change for a run, signed with your key",
		Long: `Propose a change. Its whole files go into the object store, the message into the
lane of the run, and the proposal that names both is signed here and handed in.
The message becomes that of the commit, so its first line says what changes.

The files come from --worktree (what differs from --base, by default from HEAD),
or from --patch, --file and --delete.

Repeating the command hands in the same proposal. Tests and benchmarks run on the
packages of --package; without it, on all.`,
		Example: "  writ propose run_01K… --key solver --worktree . --message \"distinct: look numbers up in a map\"\n  writ propose run_01K… --key solver --base 4f0c… --file distinct.go=new.go --delete old.go --message \"drop the old form\"",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o.run = args[0]
			return a.propose(c.Context(), o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.key, "key", "", "name of the key to sign with (see writ key list)")
	f.StringVar(&o.message, "message", "", "what the change is and why, as a commit message")
	f.StringVar(&o.change.base, "base", "", "commit that is changed: its full id, or with --worktree anything git understands")
	f.StringVar(&o.change.worktree, "worktree", "", "git work tree that holds the change")
	f.StringVar(&o.change.folder, "patch", "", "folder of whole files, each at its path in the module")
	f.StringArrayVar(&o.change.files, "file", nil, "PATH=FILE: the file at PATH becomes FILE; may be repeated")
	f.StringArrayVar(&o.change.deletes, "delete", nil, "PATH of a file that is deleted; may be repeated")
	f.StringArrayVar(&o.packages, "package", nil, "package pattern to test and measure, such as ./canon; may be repeated (default: all)")
	f.StringVar(&o.bench, "bench", "", "benchmarks to measure, as go test -bench takes it (default: all)")
	f.DurationVar(&o.expires, "expires", 24*time.Hour, "how long the proposal may be acted on")
	return c
}

func (a *app) propose(ctx context.Context, o proposeOptions) error {
	if o.expires <= 0 {
		return fault.New(fault.Usage, "propose", "--expires is not positive")
	}
	base, files, err := o.change.read(ctx)
	if err != nil {
		return err
	}
	c, key, err := a.signer(o.key)
	if err != nil {
		return err
	}
	ref, err := author.Propose(ctx, c, key, author.ProposeParams{
		Run: o.run, Base: base, Files: files, Message: o.message, Packages: o.packages, Benchmarks: o.bench, Life: o.expires,
	})
	if err != nil {
		return a.remote(err)
	}
	return a.accepted(ref, fmt.Sprintf("proposed: %s on %s; a reviewer is next: writ review %s", plural(len(files), "file"), base[:min(12, len(base))], o.run))
}

// accepted answers with the ref of a document that was handed in.
func (a *app) accepted(ref client.DocRef, next string) error {
	return a.emit(ref, func(w io.Writer) {
		table(w, [][]string{{ref.Kind, ref.Ref}, {"sha256", ref.SHA256}})
		if ref.Replayed {
			fmt.Fprintln(w, "handed in before")
		}
		fmt.Fprintln(w, next)
	})
}
