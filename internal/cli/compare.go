package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/verdict"
)

func (o *judgeOptions) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringArrayVar(&o.results, "results", nil, "folder with results, their orders, and perhaps the judgement that was made of them; may be repeated")
	f.StringVar(&o.policy, "policy", "default", "gate policy: a file, or default for the shipped one")
	f.StringArrayVar(&o.runKeys, "run-key", nil, "run key of the comparison (default: the only one); two of them are compared as two samples")
	f.StringVar(&o.profile, "profile", "", "what the sides have in common: "+strings.Join(o.profiles, ", ")+" (default: as kept, else revisions)")
	f.StringVar(&o.label, "label", "", "label whose values are the sides of environments")
	f.StringVar(&o.baseline, "baseline", "", "what everything is held against: a tree or commit, of which a beginning is enough, or the value of label, role or machine (default: as labelled)")
	_ = c.MarkFlagRequired("results") // the flag was defined above
}

const judgeHelp = `The folders are read whole: measurement results (*.json), the work orders that they
came of, and comparison.json, resultset.json and verdict.json when they are kept
beside them. Those three must be what follows from the results, byte for byte.
What the orders plan and no result reports is missing, and never passes.

Profiles: revisions are two trees; environments are two values of --label; variants
are two values of the workload parameter "role"; cross-machine is two machines, each
counted in units of the anchor that its results refer to.

Results without rounds, of two runs or of two machines are never paired. They are
judged as two samples, and every row says: unpaired: order-confounded.`

const singleRun = "single-run"

type compareOptions struct {
	judgeOptions
	showOptions
	method    string
	k         float64
	minRounds int
}

func (a *app) compareCommand() *cobra.Command {
	o := compareOptions{judgeOptions: judgeOptions{profiles: append(profileNames(), singleRun)}}
	c := &cobra.Command{
		Use:   "compare",
		Short: "judge measured results: one word per case and quantity",
		Long: `Judge the results of one comparison and show the table: estimate, exact interval,
and one word per case and quantity. Nothing gates; writ gate does that. Needs no
server. The profile single-run shows one run by itself and compares nothing.

` + judgeHelp + `

With --method benchx/paired-relative the words come from another rule: changed when
the mean relative change is beyond --k times its standard error. Its comparison
document is written whatever it says.

Exit status: 0 judged, whatever was found; 2 the results cannot be compared; 6 no
such folder; 12 nothing was measured.`,
		Example: "  writ compare --results out\n  writ compare --results out --policy gate.json --json\n" +
			"  writ compare --results out --profile environments --label build --baseline plain\n" +
			"  writ compare --results out --method benchx/paired-relative --format csv --out table.csv",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.compare(o) },
	}
	o.judgeOptions.flags(c)
	o.showOptions.flags(c)
	f := c.Flags()
	f.StringVar(&o.method, "method", verdict.MethodName, "rule that the words come from: "+verdict.MethodName+" or "+verdict.RelativeMethod)
	f.Float64Var(&o.k, "k", verdict.DefaultK, "times the noise, for "+verdict.RelativeMethod)
	f.IntVar(&o.minRounds, "min-rounds", verdict.DefaultMinRounds, "fewest rounds with a verdict, for "+verdict.RelativeMethod)
	return c
}

// comparison is what `writ compare --json` answers.
type comparison struct {
	Verdict    canon.Value `json:"verdict"`
	Comparison canon.Value `json:"comparison"`
	ResultSet  canon.Value `json:"result_set"`
}

func (a *app) compare(o compareOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	switch o.method {
	case verdict.MethodName:
	case verdict.RelativeMethod:
		return a.compareRelative(o)
	default:
		return fault.New(fault.Usage, "compare results", "there is no method %q", o.method).
			Help("%s or %s", verdict.MethodName, verdict.RelativeMethod)
	}
	if o.profile == singleRun {
		return a.summarise(o)
	}
	j, err := o.judge()
	if err != nil {
		return err
	}
	if err := o.keep(documentsOf(j.Outcome)); err != nil {
		return err
	}
	if err := a.show(o.showOptions, j.Report(), comparison{j.Verdict, j.Comparison, j.ResultSet}); err != nil {
		return err
	}
	if err := j.nothing(); err != nil {
		return err
	}
	return j.invalid()
}

// compareRelative judges by the paired-relative rule.
func (a *app) compareRelative(o compareOptions) error {
	e, p, err := o.evidence()
	if err != nil {
		return err
	}
	made, err := verdict.JudgeRelative(verdict.RelativeParams{
		Results: p.Results, RunKey: p.RunKey, Profile: p.Profile, Varying: p.Varying, Baseline: p.Baseline, K: o.k, MinRounds: o.minRounds,
	})
	if err != nil {
		return err
	}
	if err := o.keep(map[string][]byte{comparisonFile: made.Comparison.Canonical()}); err != nil {
		return err
	}
	report := made.Report()
	report.Failed = append(report.Failed, e.unreported(p)...)
	if err := a.show(o.showOptions, report, struct {
		Comparison canon.Value `json:"comparison"`
	}{made.Comparison}); err != nil {
		return err
	}
	return nothingOf(p.Results, p.RunKey, "")
}

// summarise shows one run by itself.
func (a *app) summarise(o compareOptions) error {
	_, p, err := o.evidence()
	if err != nil {
		return err
	}
	report, err := verdict.Summarise(verdict.SingleParams{Results: p.Results, RunKey: p.RunKey, Planned: p.Planned, Alpha: p.Policy.Alpha})
	if err != nil {
		return err
	}
	if err := a.show(o.showOptions, report, singleOf(report)); err != nil {
		return err
	}
	return nothingOf(p.Results, p.RunKey, "")
}
