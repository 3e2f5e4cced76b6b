package cli

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"writ/internal/node"
)

type serveOptions struct {
	data, listen string
	verbose      bool
}

// serving is what `writ serve --json` says when it answers.
type serving struct {
	Address string      `json:"address"`
	Data    string      `json:"data"`
	First   *node.First `json:"first,omitempty"` // only on the first start: the token is shown this once
}

func (a *app) serveCommand() *cobra.Command {
	o := serveOptions{}
	c := &cobra.Command{
		Use:   "serve",
		Short: "serve a workspace: journal, chain, measuring and landing",
		Long: `Serve the HTTP API of one data folder, drive its runs, and land what passes.
Nothing has to be configured: SQLite and files below --data, loopback only.
The first start makes a workspace and prints the token of its admin, once.
SIGTERM or SIGINT ends it in order, with status 0; before it serves, with 130.` + "\n" + exitHelp,
		Example: "  writ serve\n  writ serve --data ./writ-data --listen 127.0.0.1:0 --json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if o.data == "" {
				o.data = a.dataDir()
			}
			return a.serve(c.Context(), o)
		},
	}
	c.Flags().StringVar(&o.data, "data", "", "data folder (default $WRIT_DATA or the user's data folder)")
	c.Flags().StringVar(&o.listen, "listen", "127.0.0.1:7717", "address to listen on; port 0 picks a free one")
	c.Flags().BoolVarP(&o.verbose, "verbose", "v", false, "log more")
	return c
}

func (a *app) serve(ctx context.Context, o serveOptions) error {
	level := slog.LevelWarn
	if o.verbose {
		level = slog.LevelDebug
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	n, err := node.Start(ctx, node.Params{
		Data: o.data, Listen: o.listen, Version: version, Self: self, Now: time.Now,
		Log: slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: level})),
	})
	if err != nil {
		return err
	}
	if a.json {
		err = writeJSON(a.out, serving{n.Address, o.data, n.First})
	} else {
		fmt.Fprintf(a.out, "serving %s at %s\n", o.data, n.Address)
		if n.First != nil {
			fmt.Fprintf(a.out, "workspace %s\nadmin token, shown this once: %s\n", n.First.Workspace, n.First.Token)
		}
	}
	if err == nil { // who is told to stop right after the token was shown has still shown it
		err = n.Shown(context.WithoutCancel(ctx))
	}
	if err == nil {
		err = n.Wait(ctx)
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	if cerr := n.Close(stop); err == nil {
		err = cerr
	}
	return err
}
