package cli

import (
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/runner/capture"
	"writ/internal/verdict"
)

type gateOptions struct {
	judgeOptions
	showOptions
	tree string
}

func (a *app) gateCommand() *cobra.Command {
	o := gateOptions{judgeOptions: judgeOptions{profiles: profileNames(), noiseDir: a.noiseDir()}}
	c := &cobra.Command{
		Use:   "gate",
		Short: "judge measured results and answer pass, block or hold",
		Long: `Judge the results of one comparison, apply the policy, show the table, and answer
by exit status. Needs no server.

` + judgeHelp + `

With --tree, the content of that checkout must be the contender that was measured:
an answer about another tree says nothing about this one.

Exit status: 0 pass; 10 block; 11 hold; 12 nothing was measured; 2 the results
cannot be judged, or are not about --tree; 6 no such folder.`,
		Example: "  writ gate --results out --policy default\n  writ gate --results out --policy gate.json --tree . --out judged\n  writ gate --results out --format junit --out report.xml",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o.look = a.looking(c.Context(), o.store)
			return a.gate(c.Context(), o)
		},
	}
	o.judgeOptions.flags(c)
	_ = c.MarkFlagRequired("results") // the flag was defined above
	o.showOptions.flags(c)
	c.Flags().StringVar(&o.tree, "tree", "", "checkout that the answer is to be about")
	return c
}

// gated is what `writ gate --json` answers.
type gated struct {
	Gate       verdict.GateAnswer `json:"gate"`
	Verdict    canon.Value        `json:"verdict"`
	Comparison canon.Value        `json:"comparison"`
	ResultSet  canon.Value        `json:"result_set"`
}

func (a *app) gate(ctx context.Context, o gateOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	if o.tree != "" {
		id, err := identify(ctx, o.tree)
		if err != nil {
			return err
		}
		o.contender = id.Tree
	}
	j, err := o.judge()
	if err != nil {
		return err
	}
	answer, err := verdict.Gate(j.policy, j.Verdict.Canonical())
	if err != nil {
		return err
	}
	documents := documentsOf(j.Outcome)
	documents[gateFile] = answer.Raw()
	if err := o.keep(documents); err != nil {
		return err
	}
	report := j.report().WithGate(j.policy, answer)
	if err := a.show(o.showOptions, report, gated{answer, j.Verdict, j.Comparison, j.ResultSet}); err != nil {
		return err
	}
	if err := j.nothing(); err != nil {
		return err
	}
	return answer.Err()
}

// identify tells the content of a checkout, or of a folder without git.
func identify(ctx context.Context, dir string) (id capture.Identity, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return id, fault.Wrap(err, fault.Usage, "identify checkout", "%s is no path", dir)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return id, fault.New(fault.NotFound, "identify checkout", "there is no folder %s", dir)
	}
	err = withGit(ctx, func(git capture.Git, scratch string) error {
		id, err = capture.Checkout(ctx, git, dir, scratch)
		return err
	})
	if err == nil && id.Tree == "" {
		err = fault.New(fault.Target, "identify checkout", "the content of %s cannot be told", dir)
	}
	return id, err
}

// documentsOf are the documents of a judgement by the names they are kept under.
func documentsOf(out verdict.Outcome) map[string][]byte {
	return map[string][]byte{
		comparisonFile: out.Comparison.Canonical(), resultSetFile: out.ResultSet.Canonical(), verdictFile: out.Verdict.Canonical(),
	}
}
