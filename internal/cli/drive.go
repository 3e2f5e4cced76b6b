package cli

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"writ/internal/fault"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/runner"
	"writ/internal/verdict"
)

// driveOptions are the flags of everything that measures two sides in rounds.
type driveOptions struct {
	workloadOptions
	sideOptions
	rounds   int
	sequence string
	seed     int64
	record   string

	environment string // policy
	policyDirs  []string
}

const driveHelp = `Both sides run in every round, one process per case right after the other; which side
goes first is drawn from --seed. The number of iterations is found once, on the
baseline, and is the same for both sides; where one number does not suit all cases,
every process finds its own for the same time. The cases are those of the baseline:
what the contender has lost is missing, and never passes.`

func (o *driveOptions) driveFlags(c *cobra.Command) {
	o.workloadFlags(c)
	o.sideFlags(c)
	f := c.Flags()
	f.IntVar(&o.rounds, "rounds", 0, fmt.Sprintf("rounds to measure, at most %d", verdict.MaxRounds))
	f.StringVar(&o.sequence, "order", "", "which side goes first: random, abba or baseline-first (default random)")
	f.Int64Var(&o.seed, "seed", -1, "seed of the random order (default: drawn, and recorded)")
	f.StringVar(&o.environment, "environment", "", "environment policy of both sides, as NAME@VERSION; see writ policy")
	policyDirs(c, &o.policyDirs)
	f.StringVar(&o.record, "record-env", "", "further environment variables that results may record, separated by commas")
}

// Labels that the commands give to orders themselves.
const labelSide = "side"

// check refuses what cannot be driven. It draws the seed when there is none.
func (o *driveOptions) check() error {
	const op = "compare sides"
	usage := func(format string, args ...any) *fault.Error { return fault.New(fault.Usage, op, format, args...) }
	switch {
	case len(o.suites) == 0 && o.revision == "":
		return usage("no suite").Help("pass --suite NAME")
	case o.rounds < 1:
		return usage("%d rounds", o.rounds).Help("pass --rounds N")
	case o.rounds > verdict.MaxRounds:
		return usage("%d rounds, at most %d can be judged", o.rounds, verdict.MaxRounds)
	case len(o.quantities) == 0:
		return usage("no quantity")
	case o.caseLimit <= 0 || o.orderLimit <= 0:
		return usage("--case-timeout and --order-timeout must be above 0")
	case !slices.Contains([]runner.Sequence{"", runner.Drawn, runner.ABBA, runner.BaselineFirst}, runner.Sequence(o.sequence)):
		return usage("there is no order %q", o.sequence).Help("random, abba or baseline-first")
	case o.seed < -1 || o.seed >= 1<<53:
		return usage("--seed %d is not between 0 and 2^53", o.seed)
	case o.seed >= 0 && runner.Sequence(o.sequence).Schedule() != order.Random:
		return usage("--seed says nothing in the order %s", o.sequence)
	}
	if _, err := policyRef("environment", o.environment); err != nil {
		return err
	}
	if o.seed == -1 {
		var b [8]byte
		_, _ = rand.Read(b[:]) // never fails
		o.seed = int64(binary.BigEndian.Uint64(b[:]) >> 16)
	}
	return nil
}

// contest is one comparison to be measured.
type contest struct {
	sides  [2]contestant
	runKey string
	dir    string            // of orders and results
	labels map[string]string // of every order, besides those of the sides
	reason string
	fixed  *order.Calibration // found before; nil finds one

	check  func([2]runner.Subject, []order.Entry) error
	enough func(runner.SessionReport) (bool, error)
}

// drive measures a contest.
func (a *app) drive(ctx context.Context, o driveOptions, place runner.Place, c contest) (runner.SessionReport, error) {
	s := runner.Session{
		Params: runner.Params{
			Dir: c.dir, Harnesses: harnesses(), Place: place, AllowList: o.record, Runner: result.Runner{Name: "writ", Version: version}, Now: time.Now,
		},
		Rounds: o.rounds, Seed: o.seed, Sequence: runner.Sequence(o.sequence), Check: c.check, Enough: c.enough,
	}
	if !a.quiet {
		s.Progress = func(e runner.Event) { a.progress(e) }
	}
	if o.environment != "" {
		var err error
		if s.Policies, err = policies(o.policyDirs); err != nil {
			return runner.SessionReport{}, err
		}
	}
	precision, err := o.precision()
	if err != nil {
		return runner.SessionReport{}, err
	}
	switch {
	case c.fixed != nil:
		precision.Calibration = c.fixed
	case precision.Calibration != nil && precision.Calibration.Mode == order.Adaptive:
		s.SampleSeconds = precision.Calibration.MinimumSampleSeconds
	}
	var params [2]order.BuildParams
	for i, side := range c.sides {
		if params[i], err = a.orders(o, c, side); err != nil {
			return runner.SessionReport{}, err
		}
		params[i].Precision = precision
		params[i].Schedule = s.Sequence.Schedule()
	}
	s.OrderFor = runner.OrdersOf(params[0], params[1])
	return s.Run(ctx)
}

// orders is what all orders of one side have in common.
func (a *app) orders(o driveOptions, c contest, side contestant) (p order.BuildParams, err error) {
	artifact := ""
	if side.target.Kind == order.Artifact {
		artifact = side.word
	}
	p = order.BuildParams{
		RunKey: c.runKey, Reason: c.reason, Project: o.project, Quantities: o.quantities, Target: side.target, Build: side.build,
		Timeouts: order.Timeouts{CaseS: o.caseLimit, OrderS: o.orderLimit}, Labels: maps.Clone(side.labels),
	}
	maps.Copy(p.Labels, c.labels)
	if p.EnvironmentPolicy, err = policyRef("environment", o.environment); err != nil {
		return p, err
	}
	if p.Requester, err = a.requester(""); err != nil {
		return p, err
	}
	if p.Suites, err = o.chosen(artifact); err != nil {
		return p, err
	}
	if p.EnvironmentVariables, err = pairs("env", o.variables); err != nil {
		return p, err
	}
	p.WorkloadParameters, err = values("parameter", o.parameters)
	return p, err
}

// planned are the rows that a plan leads to.
func (o driveOptions) planned(plan []order.Entry) []verdict.Pair {
	variables, _ := pairs("env", o.variables) // they made an order already
	parameters, _ := values("parameter", o.parameters)
	return verdict.Planned(order.Order{Plan: plan, EnvironmentVariables: variables, WorkloadParameters: parameters})
}

// freshFolder refuses a folder that holds something already.
func freshFolder(dir string) (string, error) {
	full, err := filepath.Abs(dir)
	if err != nil {
		return "", fault.Wrap(err, fault.Internal, "compare sides", "no working directory")
	}
	held, err := os.ReadDir(full)
	if err == nil && len(held) > 0 {
		return "", fault.New(fault.Usage, "compare sides", "%s is not empty", dir).Help("name another folder with --out: results are never written over")
	}
	if err != nil && !os.IsNotExist(err) {
		return "", fault.Wrap(err, fault.Usage, "compare sides", "%s is no folder for results", dir)
	}
	return full, nil
}
