package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"writ/internal/docket"
	"writ/internal/fault"
)

func (a *app) docketCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "docket",
		Short: "show, verify and export the docket of a run",
		Long: `A docket is everything that one run left behind: who asked, what was proposed
and approved, what was measured, and why it was allowed to land. Verification
recomputes all of it from the bytes, offline.` + "\n" + exitHelp,
		Example: "  writ docket show run_01K…\n  writ docket verify docket.json --trust trust.json",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.docketShow(), a.docketVerify(), a.docketExport())
	return c
}

const fromHelp = `RUN|FILE is a run id, which is fetched from the server, or the file of an
exported docket ("-" is standard input), which needs no server.`

// readDocket gets a bundle from a file or from the server.
func (a *app) readDocket(c *cobra.Command, from string) (*docket.Bundle, error) {
	if strings.HasPrefix(from, "run_") {
		if _, err := os.Stat(from); err != nil {
			body, err := a.client()
			if err != nil {
				return nil, err
			}
			r, err := body.Docket(c.Context(), from)
			if err != nil {
				return nil, a.remote(err)
			}
			defer r.Close()
			return docket.Read(r)
		}
	}
	if from == "-" {
		return docket.Read(a.in)
	}
	f, err := os.Open(from)
	if err != nil {
		return nil, fault.Wrap(err, fault.NotFound, "read docket", "%s cannot be read", from)
	}
	defer f.Close()
	return docket.Read(f)
}

func (a *app) docketShow() *cobra.Command {
	return &cobra.Command{
		Use:     "show RUN|FILE",
		Short:   "show the way of a run, station by station",
		Long:    "Show what each station of a docket says.\n" + fromHelp,
		Example: "  writ docket show docket.json\n  writ docket show run_01K… --json",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			b, err := a.readDocket(c, args[0])
			if err != nil {
				return err
			}
			r := docket.Verify(b, nil)
			return a.emit(r, func(w io.Writer) { showReport(w, r) })
		},
	}
}

func (a *app) docketVerify() *cobra.Command {
	var trust string
	c := &cobra.Command{
		Use:   "verify RUN|FILE",
		Short: "recompute a docket and say whether it holds",
		Long: `Recompute every digest, signature, relation and root of a docket, from the ask
to the tree of the landed commit, and name the first document that does not fit.

Without --trust the best answer is "consistent, signers not pinned": everything
fits, but nobody said whose signatures count.
` + fromHelp + `

Exit status: 0 verified; 1 it does not verify, or its signers are not pinned;
2 the file is no docket; 6 not found; 7 the server cannot be reached.`,
		Example: "  writ docket verify docket.json --trust trust.json\n  writ docket export run_01K… | writ docket verify - --trust trust.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			var pins *docket.Trust
			if trust != "" {
				var err error
				if pins, err = docket.ReadTrust(trust); err != nil {
					return err
				}
			}
			b, err := a.readDocket(c, args[0])
			if err != nil {
				return err
			}
			r := docket.Verify(b, pins)
			if err := a.emit(r, func(w io.Writer) { showReport(w, r) }); err != nil {
				return err
			}
			return r.Err()
		},
	}
	c.Flags().StringVar(&trust, "trust", "", "file with the nodes that you accept (writ.trust/v1)")
	return c
}

func (a *app) docketExport() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:     "export RUN",
		Short:   "write a docket to one file that verifies anywhere",
		Example: "  writ docket export run_01K… --out docket.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			b, err := a.readDocket(c, args[0])
			if err != nil {
				return err
			}
			if out == "" || out == "-" {
				return b.Write(a.out)
			}
			f, err := os.OpenFile(out, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
			if err != nil {
				return fault.Wrap(err, fault.Usage, "export docket", "%s cannot be written", out)
			}
			if err := b.Write(f); err != nil {
				f.Close()
				return err
			}
			if err := f.Close(); err != nil {
				return err
			}
			return a.emit(map[string]string{"file": out}, func(w io.Writer) { fmt.Fprintln(w, out) })
		},
	}
	c.Flags().StringVarP(&out, "out", "o", "", "file to write (default standard output)")
	return c
}

// showReport draws the stations in columns; the state is a word, not a colour.
func showReport(w io.Writer, r docket.Report) {
	fmt.Fprintf(w, "run %s\n", r.Run)
	for _, s := range r.Stations {
		fmt.Fprintf(w, "  %-10s %-8s", s.Name, s.State)
		lines := s.Says
		if s.State == docket.Failed {
			lines = append(lines, strings.TrimSpace(s.Kind+" "+s.Document), s.Why)
		}
		for i, line := range strings.Split(strings.Join(lines, "\n"), "\n") {
			if i > 0 {
				fmt.Fprintf(w, "  %-10s %-8s", "", "")
			}
			fmt.Fprintf(w, " %s\n", harmless(line))
		}
	}
	fmt.Fprintf(w, "%d events and %d documents recomputed\n", r.Events, r.Documents)
	if r.Landed != "" {
		fmt.Fprintf(w, "landed as commit %s\n", r.Landed)
	}
	fmt.Fprintf(w, "docket %s\n", r.Answer)
}
