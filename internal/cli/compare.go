package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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
	f.StringVar(&o.noise, "noise", "", "noise of this machine, for the smallest effect that could have been seen: a file of writ calibrate, or none (default: what is known in the data folder)")
	f.StringVar(&o.store, "store", "", "store of results whose history is shown, and says how noisy a case is where no calibration does: a file, or default for that of the data folder")
	f.StringVar(&o.baseline, "baseline", "", "what everything is held against: a tree or commit, of which a beginning is enough, or the value of label, role or machine (default: as labelled)")
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
	measureOptions
	method    string
	k         float64
	minRounds int
	runs      []string // --run
	judged    string   // folder for the documents of a measured comparison
}

func (a *app) compareCommand() *cobra.Command {
	o := compareOptions{judgeOptions: judgeOptions{profiles: append(profileNames(), singleRun), noiseDir: a.noiseDir()}}
	c := &cobra.Command{
		Use:   "compare [BASE CONTENDER | OLD.txt NEW.txt]",
		Short: "measure two sides, or read what was measured, and judge: one word per case",
		Long: `With BASE and CONTENDER: measure both, judge the results, and show the table:
estimate, exact interval, and one word per case and quantity. With --run or --results:
judge what was measured before. Both give the same documents. Nothing gates; writ gate
does that. Needs no server.

` + sideHelp + `

` + driveHelp + `

Two revisions must be of clean trees. With --label NAME=BASE,CONTENDER the sides are two
builds of one revision, told apart by that label.

The number of rounds is fixed before the first, and must be enough for the policy to
call any row slower. --until-precise may end them earlier, by the width of intervals
alone and never by their sign. --second-stage adds rounds when the gate holds. Which rule
applies is in every order and in a warning of every row.

Orders and results are in --out (default results/RUN_KEY), the documents in judged/ below
it, and --format goes to standard output. When everything is measured, the results go
into the store that --store names, or into the one of the data folder if there is one.
--run KEY reads results/KEY unless --results names another folder. The profile single-run
shows one run by itself and compares nothing.

` + filesHelp + `

` + judgeHelp + `

With --method benchx/paired-relative the words come from another rule: changed when
the mean relative change is beyond --k times its standard error. Its comparison
document is written whatever it says.

Exit status: 0 judged, whatever was found; 1 judged, and the store rejected a result;
2 the sides cannot be measured, or the results cannot be compared; 6 no such folder,
store or revision; 12 nothing was measured; 130 interrupted, what was measured until
then is kept.`,
		Example: "  writ compare old.txt new.txt\n  writ compare main HEAD --build 'go test -c -o {out}/sum.test .' --suite sum.test --rounds 10\n" +
			"  writ compare @release=v1.2 @release --adapter google-benchmark --suite bench --rounds 12 --min-time 0.1\n" +
			"  writ compare plain hardened --label build=plain,hardened --suite bench --adapter google-benchmark --rounds 10\n" +
			"  writ compare --run compare-20260102T030405Z --json\n" +
			"  writ compare --results out\n  writ compare --results out --policy gate.json --json\n" +
			"  writ compare --results out --profile environments --label build --baseline plain\n" +
			"  writ compare --results out --method benchx/paired-relative --format csv --out table.csv",
		Args: cobra.ArbitraryArgs, // which flags go with them says mode
	}
	o.judgeOptions.flags(c)
	o.showOptions.flags(c)
	f := c.Flags()
	f.StringArrayVar(&o.runs, "run", nil, "run key of a comparison to read; may be repeated, as --run-key")
	onlyRead := []string{"results", "run", "profile", "baseline"}
	onlyMeasure := measuring(c, o.measureFlags)
	c.RunE = func(c *cobra.Command, args []string) error {
		if fileArguments(args) && givenOf(c, onlyMeasure) == "" {
			return a.compareFiles(o, args, givenOf(c, append(onlyRead, "run-key", "label", "noise", "store")))
		}
		o.look = a.looking(c.Context(), o.store)
		if reads, err := readsOrMeasures(c, args, onlyRead, onlyMeasure); err != nil {
			return err
		} else if reads {
			return a.compareKept(o)
		}
		return a.measure(c.Context(), o, args)
	}
	f.StringVar(&o.method, "method", verdict.MethodName, "rule that the words come from: "+verdict.MethodName+" or "+verdict.RelativeMethod+"; for two files also "+verdict.BenchstatMethod)
	f.Float64Var(&o.k, "k", verdict.DefaultK, "times the noise, for "+verdict.RelativeMethod)
	f.IntVar(&o.minRounds, "min-rounds", verdict.DefaultMinRounds, "fewest rounds with a verdict, for "+verdict.RelativeMethod)
	return c
}

// comparison is what `writ compare --json` answers.
type comparison struct {
	Verdict    canon.Value `json:"verdict"`
	Comparison canon.Value `json:"comparison"`
	ResultSet  canon.Value `json:"result_set"`

	History []earlierCase `json:"history,omitempty"` // with --store
}

// measuring adds the flags of measuring to a command and returns their names.
func measuring(c *cobra.Command, add func(*cobra.Command)) (names []string) {
	before := map[string]bool{}
	c.Flags().VisitAll(func(f *pflag.Flag) { before[f.Name] = true })
	add(c)
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !before[f.Name] {
			names = append(names, f.Name)
		}
	})
	return names
}

// givenOf is the first of several flags that was given, "" when none was.
func givenOf(c *cobra.Command, names []string) string {
	for _, name := range names {
		if c.Flags().Changed(name) {
			return name
		}
	}
	return ""
}

// readsOrMeasures tells whether results are read or sides measured. A flag of the other mode
// is refused: it would be ignored.
func readsOrMeasures(c *cobra.Command, args, onlyRead, onlyMeasure []string) (reads bool, err error) {
	const op = "compare"
	given := func(names ...string) string { return givenOf(c, names) }
	reads = given("run", "results") != ""
	switch {
	case len(args) > 0 && given("run") != "":
		return false, fault.New(fault.Usage, op, "give two targets or --run, not both")
	case len(args) == 0 && !reads:
		return false, fault.New(fault.Usage, op, "nothing says what is compared").Help("give BASE and CONTENDER to measure, or --run KEY or --results DIR to read")
	case len(args) == 0 && given(onlyMeasure...) != "":
		return false, fault.New(fault.Usage, op, "--%s is for measuring, and nothing is measured here", given(onlyMeasure...)).Help("give BASE and CONTENDER, or leave it out")
	case len(args) == 0:
		return true, nil
	case given(onlyRead...) != "":
		return false, fault.New(fault.Usage, op, "--%s is for reading, and BASE and CONTENDER are measured", given(onlyRead...)).Help("leave it out")
	case len(args) != 2:
		return false, fault.New(fault.Usage, op, "a comparison has two sides, and here are %d", len(args)).Help("give BASE and CONTENDER")
	}
	return false, nil
}

// checkShown refuses what cannot be judged or shown as asked for.
func (o compareOptions) checkShown() error {
	if o.method != verdict.MethodName && o.method != verdict.RelativeMethod {
		return fault.New(fault.Usage, "compare results", "there is no method %q", o.method).
			Help("%s or %s", verdict.MethodName, verdict.RelativeMethod)
	}
	return o.showOptions.check()
}

// keep keeps the documents below the results that were just measured, or where
// --out says.
func (o compareOptions) keep(documents map[string][]byte) error {
	if o.judged != "" {
		return keepDocuments(o.judged, documents)
	}
	return o.showOptions.keep(documents)
}

// compareKept judges what was measured before.
func (a *app) compareKept(o compareOptions) error {
	if len(o.runs) > 0 && len(o.runKeys) > 0 {
		return fault.New(fault.Usage, "compare results", "--run and --run-key say the same").Help("leave one out")
	}
	if len(o.runs) > 0 {
		o.runKeys = o.runs
	}
	if len(o.results) == 0 {
		for _, key := range o.runKeys {
			o.results = append(o.results, resultsFolder(key))
		}
	}
	return a.judgeRead(o)
}

// judgeRead judges what is in the folders.
func (a *app) judgeRead(o compareOptions) error {
	if err := o.checkShown(); err != nil {
		return err
	}
	if o.method == verdict.RelativeMethod {
		return a.compareRelative(o)
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
	if err := a.show(o.showOptions, j.report(), comparison{j.Verdict, j.Comparison, j.ResultSet, j.earlier.view()}); err != nil {
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
	report := e.earlier.annotate(made.Report())
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
	report, err := verdict.Summarise(verdict.SingleParams{Results: p.Results, RunKey: p.RunKey, Planned: p.Planned, Alpha: p.Policy.Level()})
	if err != nil {
		return err
	}
	if err := a.show(o.showOptions, report, singleOf(report)); err != nil {
		return err
	}
	return nothingOf(p.Results, p.RunKey, "")
}
