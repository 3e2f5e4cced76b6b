package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"writ/internal/fault"
	"writ/internal/noise"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/runner"
	"writ/internal/verdict"
)

type calibrateOptions struct {
	driveOptions
	suitesN     int
	noise       string
	out, runKey string
	policy      string
}

func (a *app) calibrateCommand() *cobra.Command {
	var o calibrateOptions
	c := &cobra.Command{
		Use:   "calibrate TARGET",
		Short: "measure one thing against itself: false alarms and noise of this machine",
		Long: `Compare a target with itself, many times, with a fresh seed each time: whatever is found
is a false alarm. Tells, for every case, how often the interval left out no difference,
how often a change beyond the threshold was called, both with their exact intervals, how
much the rounds scatter, whether neighbouring rounds resemble each other, and what going
second does.

The differences of all rounds are kept in --noise and added to what is there, as long as
machine, kernel, microcode, version of writ and policy are the same; each other set of
them has a file of its own. writ compare and writ gate take the noise of their machine
from there for the smallest effect that they could have seen (mde).

TARGET is named as BASE of writ compare is.

Exit status: 0 no rate is above what the policy promises, as far as this many suites can
show; 1 some rate is; 2 refused, or the noise file is of other conditions; 6 no such
target; 12 nothing was measured; 130 interrupted, whole suites are kept.`,
		Example: "  writ calibrate HEAD --build 'go test -c -o {out}/sum.test .' --suite sum.test --rounds 10 --suites 20\n" +
			"  writ calibrate build --adapter google-benchmark --suite bench --rounds 8 --suites 60 --min-time 0.05 --json",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.calibrate(c.Context(), o, args[0]) },
	}
	o.driveFlags(c)
	f := c.Flags()
	f.IntVar(&o.suitesN, "suites", 0, "comparisons to make")
	f.StringVar(&o.noise, "noise", "", "file that keeps the noise (default: one for these conditions in the data folder)")
	f.StringVar(&o.policy, "policy", "default", "gate policy: a file, or default for the shipped one")
	f.StringVar(&o.runKey, "run-key", "", "beginning of the run keys of all suites (default: calibrate-TIME)")
	f.StringVarP(&o.out, "out", "o", "", "folder for orders and results, one below it for each suite (default results/RUN_KEY)")
	return c
}

// calibrated is what `writ calibrate --json` answers.
type calibrated struct {
	Noise      string           `json:"noise"` // file
	Conditions noise.Conditions `json:"conditions"`
	RunKey     string           `json:"run_key"`
	noise.Summary
}

func (a *app) calibrate(ctx context.Context, o calibrateOptions, word string) (err error) {
	const op = "calibrate"
	if err := o.driveOptions.check(); err != nil {
		return err
	}
	if o.suitesN < 1 || o.suitesN > 10000 {
		return fault.New(fault.Usage, op, "%d suites", o.suitesN).Help("pass --suites N, from 1 to 10000; 59 without an alarm show a rate below 5 %%")
	}
	policy, err := readPolicy(o.policy)
	if err != nil {
		return err
	}
	if o.runKey == "" {
		o.runKey = "calibrate-" + time.Now().UTC().Format("20060102T150405Z")
	}
	if o.out == "" {
		o.out = resultsFolder(o.runKey)
	}
	if o.out, err = freshFolder(o.out); err != nil {
		return err
	}
	shop, err := a.openWorkshop(ctx, o.sideOptions, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, shop.close(ctx)) }()
	side, err := shop.side(ctx, "a", word)
	if err != nil {
		return err
	}
	k := calibration{app: a, o: o, policy: policy, side: side, place: shop.place}
	for n := range o.suitesN {
		a.say("suite %d of %d", n+1, o.suitesN)
		if err := k.suite(ctx, n); err != nil {
			return err
		}
	}
	return k.report()
}

// calibration is a calibration under way.
type calibration struct {
	app    *app
	o      calibrateOptions
	policy verdict.GatePolicy
	side   contestant
	place  runner.Place

	fixed *order.Calibration // found by the first suite
	file  string
	known noise.Document
}

// suite compares the target with itself once, and writes down what came of it.
func (k *calibration) suite(ctx context.Context, n int) error {
	o := k.o.driveOptions
	o.seed = order.Seed(fmt.Sprintf("calibrate %d", k.o.seed), n)
	c := contest{
		runKey: k.o.runKey + "." + strconv.Itoa(n+1), dir: filepath.Join(k.o.out, fmt.Sprintf("suite-%04d", n+1)),
		reason: "compare " + k.side.word + " with itself", fixed: k.fixed,
	}
	for i, name := range []runner.Side{runner.Baseline, runner.Contender} {
		c.sides[i] = k.side.labelled(map[string]string{labelSide: string(name)})
	}
	if n == 0 {
		c.check = k.open
	}
	r, err := k.app.drive(ctx, o, k.place, c)
	if err != nil {
		return err
	}
	if r.Calibration != nil {
		k.fixed = r.Calibration
	}
	out, err := verdict.Judge(verdict.Params{
		Results: r.Results, Policy: k.policy, RunKey: c.runKey, Profile: verdict.Environments, Varying: verdict.VaryingLabel(labelSide),
		Baseline: string(runner.Baseline), Planned: verdict.Planned(r.Orders...), Rounds: o.rounds,
	})
	if err != nil {
		return err
	}
	if err := nothingOf(r.Results, c.runKey, ""); err != nil {
		return err
	}
	if f := out.Document.Failed; len(f) > 0 {
		return fault.New(fault.Incomparable, "calibrate", "suite %d cannot be judged: %s", n+1, f[0].Detail).With("invariant", f[0].Invariant)
	}
	first := make([]bool, len(r.First))
	for i, side := range r.First {
		first[i] = side == runner.Contender
	}
	k.known, err = k.known.Add(noise.Measured(out, r.Results, first, o.seed, time.Now().UTC().Format(time.RFC3339)))
	if err != nil {
		return err
	}
	return replaceFile(k.file, k.known.Raw())
}

// open finds the noise that the suites are added to, before anything runs.
func (k *calibration) open(sides [2]runner.Subject, plan []order.Entry) error {
	const op = "calibrate"
	if need := verdict.RoundsFor(k.policy, k.o.planned(plan)); k.o.rounds < need {
		return fault.New(fault.Refused, op, "%d rounds cannot call any of %s slower at level %g: there is nothing to be wrong about", k.o.rounds, plural(len(plan), "row"), k.policy.Level()).
			At("/plan").Help("pass --rounds %d, or measure fewer cases and quantities", need)
	}
	c := noiseOf(sides[0].Environment, &result.Runner{Name: "writ", Version: version}, k.policy)
	k.file, k.known = k.o.noise, noise.New(c)
	if k.file == "" {
		k.file = filepath.Join(k.app.noiseDir(), c.Key()+".json")
	}
	raw, err := os.ReadFile(k.file)
	if errors.Is(err, os.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(k.file), 0o755); err != nil {
			return fault.Wrap(err, fault.Usage, op, "%s cannot be made", filepath.Dir(k.file))
		}
		return nil
	}
	if err != nil {
		return fault.Wrap(err, fault.Usage, op, "%s cannot be read", k.file)
	}
	if k.known, err = noise.Parse(raw); err != nil {
		return in(k.file, err)
	}
	if k.known.Conditions != c {
		return fault.New(fault.Refused, op, "%s is of another machine, kernel, microcode, version of writ or policy", k.file).
			Help("name another file with --noise: noise of two kinds is never added up")
	}
	return nil
}

func (k *calibration) report() error {
	s := k.known.Summary(k.policy.Level(), k.policy.Power)
	answer := calibrated{Noise: k.file, Conditions: k.known.Conditions, RunKey: k.o.runKey, Summary: s}
	if err := k.app.emit(answer, func(w io.Writer) { showCalibrated(w, answer) }); err != nil {
		return err
	}
	broken := s.Blocked.Answer == noise.Broken
	for _, r := range s.Rows {
		broken = broken || r.Differs.Answer == noise.Broken || r.Flagged.Answer == noise.Broken
	}
	if broken {
		return exitStatus(fault.ExitFinding)
	}
	return nil
}

func showCalibrated(w io.Writer, c calibrated) {
	rows := [][]string{{"CASE", "QUANTITY", "DIFFERS", "FLAGGED", "SEES 1.5 THRESHOLDS", "SIGMA", "MDE", "LAG 1", "SECOND SLOT"}}
	for _, r := range c.Rows {
		spread := func(x float64) string { return strconv.FormatFloat(x, 'g', 3, 64) }
		if r.Measure == verdict.Ratio {
			spread = func(x float64) string { return strconv.FormatFloat(100*x, 'f', 2, 64) + " %" }
		}
		mde, slot := "?", "?"
		if r.MDE != nil {
			mde = spread(*r.MDE)
		}
		if r.Slot != nil {
			slot = fmt.Sprintf("%s [%s, %s]", spread(r.Slot.Median), spread(r.Slot.Lower), spread(r.Slot.Upper))
		}
		rows = append(rows, []string{
			r.Workload, r.Quantity, showRate(r.Differs), showRate(r.Flagged), fmt.Sprintf("%d of %d", r.Planted.Count, r.Planted.Of),
			spread(r.Sigma), mde, strconv.FormatFloat(r.Lag1, 'f', 2, 64), slot,
		})
	}
	table(w, rows)
	fmt.Fprintf(w, "\n%s, %g %% promised; blocked: %s\n", plural(c.Suites, "suite"), 100*c.Alpha, showRate(c.Blocked))
	for _, r := range c.Rows {
		for _, doubt := range r.Doubts {
			fmt.Fprintf(w, "warning: %s %s: %s\n", r.Workload, r.Quantity, doubt)
		}
	}
	fmt.Fprintf(w, "noise: %s\n", c.Noise)
}

// showRate writes a rate with its interval, and a word when it shows anything.
func showRate(r noise.Rate) string {
	text := fmt.Sprintf("%d of %d [%.1f, %.1f] %%", r.Count, r.Of, 100*r.Lower, 100*r.Upper)
	if r.Answer != noise.Unknown {
		text += " " + string(r.Answer)
	}
	return text
}
