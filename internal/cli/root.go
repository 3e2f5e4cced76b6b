// Package cli is the command line: one file per command, each a thin shell
// around a function that takes its options as a struct.
//
// What a command answers goes to standard output, everything else to standard
// error; --json gives one stable object whose members are only ever added to.
// Exit statuses come from the table in package fault. Nothing is said by colour
// alone, and a secret never reaches an argument, a log or a result.
package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"writ/client"
	"writ/internal/fault"
	"writ/internal/keyring"
)

// version is set when the binary is linked.
var version = "dev"

// app is what every command shares.
type app struct {
	in       io.Reader
	out, err io.Writer
	getenv   func(string) string

	json   bool   // --json
	quiet  bool   // --quiet: no progress
	server string // --server
	token  string // path of the file that holds the token
	home   string // --home: keys and token

	clients []*client.Client // made for the command that runs
}

// Main runs the command line with the process's streams and returns the exit status.
func Main(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	a := &app{in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv}
	return a.run(ctx, args)
}

func (a *app) run(ctx context.Context, args []string) int {
	root := a.root()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	for _, c := range a.clients {
		c.Close()
	}
	if err == nil {
		return fault.ExitOK
	}
	var done exitStatus
	if errors.As(err, &done) {
		return int(done)
	}
	if ctx.Err() != nil {
		err = fault.Wrap(err, fault.Cancelled, "", "interrupted")
	}
	if _, ok := fault.As(err); !ok && isUsage(err) {
		err = fault.New(fault.Usage, "", "%s", err.Error()).Help("see: %s --help", cmd.CommandPath())
	}
	a.fail(err)
	return fault.Exit(err)
}

// exitStatus ends a command that has already said all there is to say.
type exitStatus int //nolint:errname // it is a status first

func (exitStatus) Error() string { return "" }

// isUsage recognises the errors that cobra and pflag make of a wrong command line.
func isUsage(err error) bool {
	text := err.Error()
	for _, start := range []string{"unknown command", "unknown flag", "unknown shorthand", "bad flag syntax", "flag needs an argument", "invalid argument", "required flag", "accepts ", "requires at least", "requires at most", "if any flags in the group"} {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	return false
}

const exitHelp = `
Exit status: 0 done; 1 the answer is negative; 2 bad input or usage, nothing was
done; 3 internal error; 4 somebody else was first; 5 not allowed; 6 not found;
7 server or tool not available; 130 interrupted.`

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "writ",
		Short: "carry a change from the ask to the landed commit, and prove every step",
		Long: `Writ carries a change from the ask to the landed commit and can prove every
step: who asked, what was proposed and approved, what was measured, and why it
was allowed to land.

Start with:
  writ demo                      the whole way on a sample repository
  writ serve                     a server with a workspace of its own
  writ run order.json --out DIR  execute one work order; needs no server
  writ docket verify FILE        check a docket offline
` + exitHelp,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		Version:       version,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetIn(a.in)
	root.SetVersionTemplate("writ {{.Version}}\n")
	p := root.PersistentFlags()
	p.BoolVar(&a.json, "json", false, "answer with one JSON object on standard output")
	p.BoolVarP(&a.quiet, "quiet", "q", false, "no progress on standard error")
	p.StringVar(&a.server, "server", "", "address of the server (default $WRIT_SERVER or http://127.0.0.1:7717)")
	p.StringVar(&a.token, "token-file", "", "file that holds the token (default $WRIT_TOKEN_FILE; $WRIT_TOKEN holds the token itself)")
	p.StringVar(&a.home, "home", "", "folder of keys (default $WRIT_HOME or the user's configuration folder)")
	root.AddGroup(
		&cobra.Group{ID: "start", Title: "Start:"},
		&cobra.Group{ID: "ask", Title: "Ask:"},
		&cobra.Group{ID: "propose", Title: "Propose and approve:"},
		&cobra.Group{ID: "measure", Title: "Measure and judge:"},
		&cobra.Group{ID: "land", Title: "Land and prove:"},
	)
	for _, group := range []struct {
		id   string
		make []func() *cobra.Command
	}{
		{"start", a.startCommands()},
		{"ask", a.askCommands()},
		{"propose", a.proposeCommands()},
		{"measure", a.measureCommands()},
		{"land", a.landCommands()},
	} {
		for _, mk := range group.make {
			c := mk()
			c.GroupID = group.id
			root.AddCommand(c)
		}
	}
	provided(root)
	finish(root)
	return root
}

// provided brings in the two commands that cobra makes, with examples like all.
func provided(root *cobra.Command) {
	root.SetCompletionCommandGroupID("start")
	root.SetHelpCommandGroupID("start")
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Short, c.Example = "show the help of a command", "  writ help propose"
		case "completion":
			c.Short, c.Example = "write a completion script for a shell", "  writ completion bash > /etc/bash_completion.d/writ"
			for _, shell := range c.Commands() {
				shell.Short, shell.Example = "write a completion script for "+shell.Name(), "  writ completion "+shell.Name()
			}
		}
	}
}

// ring is the user's keys.
func (a *app) ring() keyring.Ring { return keyring.At(filepath.Join(a.homeDir(), "keys")) }

func (a *app) homeDir() string {
	if a.home != "" {
		return a.home
	}
	if h := a.getenv("WRIT_HOME"); h != "" {
		return h
	}
	if c := a.getenv("XDG_CONFIG_HOME"); c != "" {
		return filepath.Join(c, "writ")
	}
	return filepath.Join(a.getenv("HOME"), ".config", "writ")
}

// dataDir is where the server keeps its data unless told otherwise.
func (a *app) dataDir() string {
	if d := a.getenv("WRIT_DATA"); d != "" {
		return d
	}
	if d := a.getenv("XDG_DATA_HOME"); d != "" {
		return filepath.Join(d, "writ")
	}
	return filepath.Join(a.getenv("HOME"), ".local", "share", "writ")
}

// live reports whether progress should be drawn: standard error is a terminal and nobody asked for quiet.
func (a *app) live() bool {
	f, ok := a.err.(*os.File)
	return ok && !a.quiet && term.IsTerminal(int(f.Fd()))
}
