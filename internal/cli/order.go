package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"writ/internal/order"
)

func (a *app) orderCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "order",
		Short: "write, check, resolve and explain work orders",
		Long: `A work order says what is measured, at what, how, and for whom. A draft names
suites; resolving it fixes the plan of all cases; writ run does both.`,
		Example: "  writ order new --path bin --suite sum.test > order.json\n  writ order explain order.json\n  writ order resolve order.json",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.orderNew(), a.orderValidate(), a.orderExplain(), a.orderPlan(), a.orderResolve())
	return c
}

// orderView is what `writ order validate --json` answers.
type orderView struct {
	Ref        string   `json:"ref"`
	Domain     string   `json:"domain_sha256"`
	ID         string   `json:"work_order_id"`
	State      string   `json:"state"`
	RunKey     string   `json:"run_key"`
	Suites     []string `json:"suites"`
	Quantities []string `json:"quantities"`
	Entries    int      `json:"entries"`
}

func (a *app) orderValidate() *cobra.Command {
	return &cobra.Command{
		Use:   "validate FILE",
		Short: "check a work order and show its hash",
		Long: `Check a work order: strict JSON, its schema, and the rules that a schema cannot
say. Every broken rule is listed with its place. Whether a runner can honour it
is what writ run --dry-run says. FILE "-" is standard input.

Exit status: 0 valid; 2 not valid; 6 no such file.`,
		Example: "  writ order validate order.json --json",
		Args:    cobra.ExactArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return a.validateOrder(args[0]) },
	}
}

// maxInput is the most that is read of a JSON file, in bytes; the strict reader
// has the same limit.
const maxInput = 16 << 20

func (a *app) validateOrder(file string) error {
	raw, err := a.readFile(file, maxInput)
	if err != nil {
		return err
	}
	o, err := order.Parse(raw)
	if err != nil {
		return err
	}
	v := orderView{
		Ref: o.Ref(), Domain: o.DomainHash().Hex(), ID: o.ID, State: string(o.State), RunKey: o.RunKey, Quantities: o.Quantities, Entries: len(o.Plan),
	}
	for _, s := range o.Suites {
		v.Suites = append(v.Suites, s.Adapter+" "+s.Suite)
	}
	return a.emit(v, func(w io.Writer) {
		table(w, [][]string{
			{"order", v.ID}, {"ref", v.Ref}, {"state", v.State}, {"run key", v.RunKey}, {"suites", strings.Join(v.Suites, ", ")},
			{"quantities", strings.Join(v.Quantities, ", ")}, {"entries", fmt.Sprint(v.Entries)},
		})
		fmt.Fprintln(w, "valid")
	})
}
