package cli

import (
	"io"

	"github.com/spf13/cobra"

	"writ/internal/canon"
	"writ/internal/verdict"
)

func (o *judgeOptions) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.results, "results", "", "folder with the results, their orders, and perhaps the judgement that was made of them")
	f.StringVar(&o.policy, "policy", "default", "gate policy: a file, or default for the shipped one")
	f.StringVar(&o.runKey, "run-key", "", "run key of the comparison (default: the only one in the folder)")
	f.StringVar(&o.baseline, "baseline", "", "tree or commit that everything is held against; a beginning is enough (default: as labelled)")
	_ = c.MarkFlagRequired("results") // the flag was defined above
}

const judgeHelp = `The folder is read whole: measurement results (*.json), the work orders that they
came of, and comparison.json, resultset.json and verdict.json when they are kept
beside them. Those three must be what follows from the results, byte for byte.
What the orders plan and no result reports is missing, and never passes.`

func (a *app) compareCommand() *cobra.Command {
	var o judgeOptions
	c := &cobra.Command{
		Use:   "compare",
		Short: "judge measured results: one word per case and quantity",
		Long: `Judge the results of one comparison and show the table: estimate, exact interval,
and one word per case and quantity. Nothing gates; writ gate does that. Needs no
server.

` + judgeHelp + `

Exit status: 0 judged, whatever was found; 2 the results cannot be compared; 6 no
such folder; 12 nothing was measured.`,
		Example: "  writ compare --results out\n  writ compare --results out --policy gate.json --json",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return a.compare(o) },
	}
	o.flags(c)
	return c
}

// comparison is what `writ compare --json` answers.
type comparison struct {
	Verdict    canon.Value `json:"verdict"`
	Comparison canon.Value `json:"comparison"`
	ResultSet  canon.Value `json:"result_set"`
}

func (a *app) compare(o judgeOptions) error {
	j, err := o.judge()
	if err != nil {
		return err
	}
	err = a.emit(comparison{j.Verdict, j.Comparison, j.ResultSet}, func(w io.Writer) { _, _ = io.WriteString(w, verdict.Render(j.Document)) })
	if err != nil {
		return err
	}
	if err := j.nothing(); err != nil {
		return err
	}
	return j.invalid()
}
