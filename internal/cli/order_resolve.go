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
	"writ/internal/result"
	"writ/internal/runner"
)

// orderOptions are what reading an order on this machine needs.
type orderOptions struct {
	policies   []string
	collectors bool
	out        string
}

func (o *orderOptions) flags(c *cobra.Command) {
	policyDirs(c, &o.policies)
	c.Flags().BoolVar(&o.collectors, "allow-collectors", false, "take the programs that the order brings along as allowed")
}

// prepared reads an order for this machine.
func (a *app) prepared(file string, o orderOptions) (runner.Params, error) {
	raw, err := a.readFile(file, maxInput)
	if err != nil {
		return runner.Params{}, err
	}
	ord, err := order.Parse(raw)
	if err != nil {
		return runner.Params{}, err
	}
	p := runner.Params{
		Order: ord, Harnesses: harnesses(), AllowCollectors: o.collectors,
		Runner: result.Runner{Name: "writ", Version: version}, Now: time.Now,
	}
	if ord.EnvironmentPolicy != nil {
		p.Policies, err = policies(o.policies)
	}
	return p, err
}

func (a *app) orderPlan() *cobra.Command {
	var o orderOptions
	c := &cobra.Command{
		Use:   "plan ORDER",
		Short: "show what an order would run: every case and quantity",
		Long: `Check that this machine can honour an order and show the plan: of a draft, by asking
its suites for their cases; of a resolved order, as it is. Nothing is measured and
nothing is written.

Exit status: 0 shown; 2 the order would be refused; 6 no such file; 12 no case is
selected.`,
		Example: "  writ order plan order.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			p, err := a.prepared(args[0], o)
			if err != nil {
				return err
			}
			return a.plan(c.Context(), p)
		},
	}
	o.flags(c)
	return c
}

func (a *app) orderResolve() *cobra.Command {
	var o orderOptions
	c := &cobra.Command{
		Use:   "resolve ORDER",
		Short: "fix the plan of a draft, and write the resolved order",
		Long: `Ask the suites of a draft for their cases and write the order with the plan. Nothing
else changes, and an order that is resolved already comes out as it is. Only
resolved orders are hashed and cited.

Exit status: 0 resolved; 2 the order would be refused; 4 the file is there already;
6 no such file; 12 no case is selected.`,
		Example: "  writ order resolve draft.json > order.json\n  writ order resolve draft.json --out order.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			p, err := a.prepared(args[0], o)
			if err != nil {
				return err
			}
			return a.resolveOrder(c.Context(), p, o.out)
		},
	}
	o.flags(c)
	c.Flags().StringVarP(&o.out, "out", "o", "", "file for the order, in canonical form; it must not be there (default: standard output)")
	return c
}

func (a *app) resolveOrder(ctx context.Context, p runner.Params, out string) error {
	ord, err := runner.Plan(ctx, p)
	if err != nil {
		return err
	}
	return a.writeOrder(ord, out)
}

// writeOrder writes an order to a file that is not there yet, or shows it.
func (a *app) writeOrder(ord order.Order, out string) error {
	if out == "" {
		return a.emit(ord.Value(), func(w io.Writer) { _ = writeJSON(w, ord.Value()) })
	}
	f, err := os.OpenFile(out, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if os.IsExist(err) {
		return fault.New(fault.Conflict, "write order", "%s is there already", out)
	}
	if err == nil {
		_, err = f.Write(ord.Value().Canonical())
		if closing := f.Close(); err == nil {
			err = closing
		}
	}
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "write order", "cannot write %s", out)
	}
	v := map[string]any{"ref": ord.Ref(), "state": ord.State, "entries": len(ord.Plan), "file": out}
	return a.emit(v, func(w io.Writer) {
		fmt.Fprintf(w, "order %s with %s is in %s\n", ord.Ref(), plural(len(ord.Plan), "entry"), out)
	})
}

// paragraph is one field of `writ order explain --json`.
type paragraph struct {
	Pointer string `json:"pointer"`
	Says    string `json:"says"`
	Refused bool   `json:"refused"`
}

func (a *app) orderExplain() *cobra.Command {
	var o orderOptions
	c := &cobra.Command{
		Use:   "explain ORDER",
		Short: "say what every field of an order will do on this machine",
		Long: `Say, field by field, what an order will do here, what is recorded where, and what
would be refused. Nothing is measured; programs that have to be asked about
themselves are asked.

Exit status: 0 the order can be honoured; 2 it would be refused; 6 no such file.`,
		Example: "  writ order explain order.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			p, err := a.prepared(args[0], o)
			if err != nil {
				return err
			}
			return a.explainOrder(c.Context(), p)
		},
	}
	o.flags(c)
	return c
}

func (a *app) explainOrder(ctx context.Context, p runner.Params) error {
	found, err := runner.Explain(ctx, p)
	if err != nil {
		return err
	}
	views, refused := []paragraph{}, 0
	for _, x := range found {
		views = append(views, paragraph{x.Pointer, x.Says, x.Refused})
		if x.Refused {
			refused++
		}
	}
	err = a.emit(map[string]any{"fields": views, "refused": refused}, func(w io.Writer) {
		for _, v := range views {
			word := ""
			if v.Refused {
				word = "REFUSED: "
			}
			fmt.Fprintf(w, "%s\n    %s%s\n", v.Pointer, word, v.Says)
		}
	})
	if err == nil && refused > 0 {
		return exitStatus(fault.ExitRefused)
	}
	return err
}
