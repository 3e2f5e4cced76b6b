package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"writ/internal/keyring"
)

func (a *app) keyCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "key",
		Short: "make and list the keys that you sign with",
		Long: `Keys are Ed25519, one file each under the home folder, readable by you only.
The node id of a key (node:did:key:…) is public; its seed never leaves the file.` + "\n" + exitHelp,
		Example: "  writ key new ann\n  writ key list",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.keyNew(), a.keyList(), a.keyShow())
	return c
}

func (a *app) keyNew() *cobra.Command {
	var agent bool
	c := &cobra.Command{
		Use:     "new NAME",
		Short:   "make a key",
		Example: "  writ key new ann\n  writ key new solver --agent",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			kind := keyring.Person
			if agent {
				kind = keyring.Agent
			}
			e, err := a.ring().New(args[0], kind)
			if err != nil {
				return err
			}
			return a.emit(e, func(w io.Writer) { fmt.Fprintln(w, e.NodeID) })
		},
	}
	c.Flags().BoolVar(&agent, "agent", false, "the key of a coding agent: it can propose and review, never approve")
	return c
}

func (a *app) keyList() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "list your keys",
		Example: "  writ key list --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			keys, err := a.ring().List()
			if err != nil {
				return err
			}
			if keys == nil {
				keys = []keyring.Entry{}
			}
			return a.emit(map[string]any{"keys": keys}, func(w io.Writer) {
				rows := [][]string{{"NAME", "KIND", "NODE"}}
				for _, k := range keys {
					rows = append(rows, []string{k.Name, string(k.Kind), k.NodeID})
				}
				table(w, rows)
			})
		},
	}
}

func (a *app) keyShow() *cobra.Command {
	return &cobra.Command{
		Use:     "show NAME",
		Short:   "show the public part of a key",
		Example: "  writ key show ann",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			e, _, err := a.ring().Load(args[0])
			if err != nil {
				return err
			}
			return a.emit(e, func(w io.Writer) {
				table(w, [][]string{{"name", e.Name}, {"kind", string(e.Kind)}, {"node", e.NodeID}})
			})
		},
	}
}
