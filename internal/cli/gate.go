package cli

import (
	"bytes"
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
	tree    string
	earlier []string
}

func (a *app) gateCommand() *cobra.Command {
	o := gateOptions{judgeOptions: judgeOptions{profiles: profileNames(), noiseDir: a.noiseDir()}}
	c := &cobra.Command{
		Use:   "gate",
		Short: "judge measured results and answer pass, block or hold",
		Long: `Judge the results of one comparison, apply the policy, show the table, and answer
by exit status. Needs no server.

` + judgeHelp + `

A policy with "attempts" lets one change be measured and judged that often, and divides
alpha over all of them. --earlier names the folder (--out) of each earlier attempt, the
first one first: only an attempt without an answer, hold or invalid, may be followed by
another, of a new run. All are shown.

With --tree, the content of that checkout must be the contender that was measured:
an answer about another tree says nothing about this one.

Exit status: 0 pass; 10 block; 11 hold; 12 nothing was measured; 2 the results
cannot be judged, or are not about --tree; 6 no such folder.`,
		Example: "  writ gate --results out --policy default\n  writ gate --results out --policy gate.json --tree . --out judged\n  writ gate --results out --format junit --out report.xml\n  writ gate --results again --policy gate.json --earlier judged",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o.look = a.looking(c.Context(), o.store)
			return a.gate(c.Context(), o)
		},
	}
	o.judgeOptions.flags(c)
	_ = c.MarkFlagRequired("results") // the flag was defined above
	o.showOptions.flags(c)
	c.Flags().StringArrayVar(&o.earlier, "earlier", nil, "folder with the judgement of an earlier attempt; may be repeated, the first attempt first")
	c.Flags().StringVar(&o.tree, "tree", "", "checkout that the answer is to be about")
	return c
}

// gated is what `writ gate --json` answers.
type gated struct {
	Gate       verdict.GateAnswer `json:"gate"`
	Verdict    canon.Value        `json:"verdict"`
	Comparison canon.Value        `json:"comparison"`
	ResultSet  canon.Value        `json:"result_set"`
	Attempts   []string           `json:"attempts"`          // earlier ones, and which one this is
	History    []earlierCase      `json:"history,omitempty"` // with --store
}

// attempts describes the earlier attempts of a change, and refuses another one where
// the policy does.
func (o gateOptions) attempts(j judged) ([]string, error) {
	var earlier []verdict.GateAnswer
	for _, dir := range o.earlier {
		kept := map[string][]byte{}
		for _, name := range []string{verdictFile, gateFile} {
			raw, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				return nil, fault.Wrap(err, fault.NotFound, "judge again", "%s cannot be read", filepath.Join(dir, name)).
					Help("name the folder that --out was given at the earlier attempt")
			}
			kept[name] = raw
		}
		a, err := verdict.Gate(j.policy, kept[verdictFile])
		if err != nil {
			return nil, in(filepath.Join(dir, verdictFile), err)
		}
		if !bytes.Equal(a.Raw(), kept[gateFile]) {
			return nil, fault.New(fault.Evidence, "judge again", "%s does not follow from the verdict beside it", filepath.Join(dir, gateFile))
		}
		earlier = append(earlier, a)
	}
	return j.policy.Retry(j.Document.RunKey, earlier)
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
	attempts, err := o.attempts(j)
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
	report.Notes = append(report.Notes, attempts...)
	if err := a.show(o.showOptions, report, gated{answer, j.Verdict, j.Comparison, j.ResultSet, notNil(attempts), j.earlier.view()}); err != nil {
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
