package cli

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"writ/internal/fault"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/runner"
	"writ/internal/verdict"
)

// measureOptions are the flags of `writ compare` that only measuring has.
type measureOptions struct {
	driveOptions
	precise     bool
	secondStage int
	noIngest    bool
}

func (o *measureOptions) measureFlags(c *cobra.Command) {
	o.driveFlags(c)
	f := c.Flags()
	f.BoolVar(&o.precise, "until-precise", false, "stop before --rounds once every gating interval is at most half its threshold wide to each side")
	f.BoolVar(&o.noIngest, "no-ingest", false, "put the results into no store")
	f.IntVar(&o.secondStage, "second-stage", 0, "further rounds, measured only if the gate holds after --rounds; alpha is divided over both looks")
}

// resultsFolder is where the results of a run key go and come from unless told
// otherwise.
func resultsFolder(runKey string) string { return filepath.Join("results", order.Token(runKey)) }

// judgedFolder is where a measured comparison keeps its documents, below its
// results.
const judgedFolder = "judged"

// measure gets both sides, measures them, and judges what is in the folder then:
// reading it again gives the same documents.
func (a *app) measure(ctx context.Context, o compareOptions, words []string) (err error) {
	if err := o.checkShown(); err != nil {
		return err
	}
	m, err := o.measurement(words)
	if err != nil {
		return err
	}
	if m.policy, err = readPolicy(o.policy); err != nil {
		return err
	}
	shop, err := a.openWorkshop(ctx, o.sideOptions, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, shop.close(ctx)) }()
	if m.contest.sides, err = shop.both(ctx, words, m.labels); err != nil {
		return err
	}
	m.contest.check = a.checkSides(o, m)
	m.contest.enough = m.enough(o)
	rep, err := a.drive(ctx, o.driveOptions.staged(o.secondStage), shop.place, m.contest)
	if err != nil {
		if len(rep.Orders) > 0 {
			a.say("what was measured until then is in %s", m.contest.dir)
		}
		return err
	}
	var stored *ingested
	var unkept error // what was measured is in the folder, and judged all the same
	if !o.noIngest {
		stored, unkept = a.feed(ctx, o.store, m.contest.dir, rep.Files, measured(rep.Results), rep.Orders...)
	}
	o.results, o.runKeys = []string{m.contest.dir}, []string{m.contest.runKey}
	o.label, o.out, o.judged = m.label, "", filepath.Join(m.contest.dir, judgedFolder)
	if err := a.judgeRead(o); err != nil || unkept != nil {
		return cmp.Or(err, unkept)
	}
	if stored != nil && len(stored.Rejected) > 0 {
		return exitStatus(fault.ExitFinding)
	}
	return nil
}

// staged adds the rounds of a second stage.
func (o driveOptions) staged(second int) driveOptions {
	o.rounds += second
	return o
}

// measurement is a comparison that is about to be measured.
type measurement struct {
	contest contest
	label   string // that environments are told apart by, "" for revisions
	labels  [2]map[string]string
	stages  *verdict.Stages
	policy  verdict.GatePolicy
}

// measurement settles everything that the command line says.
func (o *compareOptions) measurement(words []string) (m measurement, err error) {
	const op = "compare sides"
	if err := o.driveOptions.check(); err != nil {
		return m, err
	}
	m.labels = [2]map[string]string{{labelSide: string(runner.Baseline)}, {labelSide: string(runner.Contender)}}
	if o.label != "" {
		name, given, ok := strings.Cut(o.label, "=")
		base, cont, two := strings.Cut(given, ",")
		if !ok || !two || name == "" || base == "" || cont == "" || base == cont || strings.Contains(cont, ",") {
			return m, fault.New(fault.Usage, op, "--label %q is no NAME=BASE,CONTENDER with two different values", o.label)
		}
		if name == labelSide || name == verdict.LabelStages || name == verdict.LabelStopping {
			return m, fault.New(fault.Usage, op, "the label %s is given by this command", name)
		}
		m.label, m.labels[0][name], m.labels[1][name] = name, base, cont
	}
	switch {
	case o.secondStage < 0 || o.rounds+o.secondStage > verdict.MaxRounds:
		return m, fault.New(fault.Usage, op, "--second-stage %d after %d rounds, at most %d can be judged", o.secondStage, o.rounds, verdict.MaxRounds)
	case o.secondStage > 0 && o.precise:
		return m, fault.New(fault.Usage, op, "--second-stage and --until-precise are two rules for one end")
	case o.method == verdict.RelativeMethod && (o.secondStage > 0 || o.precise):
		return m, fault.New(fault.Usage, op, "%s knows a fixed number of rounds only", o.method)
	case len(o.runKeys) > 1:
		return m, fault.New(fault.Usage, op, "one comparison has one run key")
	}
	if o.sequence == "" && o.method == verdict.RelativeMethod {
		o.sequence = string(runner.BaselineFirst) // the rule wants sides that take turns in one order
	}
	m.contest.labels = map[string]string{}
	if o.secondStage > 0 {
		m.stages = &verdict.Stages{First: o.rounds, Second: o.secondStage}
		m.contest.labels[verdict.LabelStages] = m.stages.String()
	}
	if o.precise {
		m.contest.labels[verdict.LabelStopping] = verdict.StopPrecise
	}
	m.contest.runKey = "compare-" + time.Now().UTC().Format("20060102T150405Z")
	if len(o.runKeys) == 1 {
		m.contest.runKey = o.runKeys[0]
	}
	if m.contest.runKey != order.Token(m.contest.runKey) {
		return m, fault.New(fault.Usage, op, "the run key %q has spaces or control characters", m.contest.runKey)
	}
	m.contest.reason = "compare " + words[0] + " with " + words[1]
	dir := o.out
	if dir == "" {
		dir = resultsFolder(m.contest.runKey)
	}
	m.contest.dir, err = freshFolder(dir)
	return m, err
}

// checkSides looks at both sides before anything runs.
func (a *app) checkSides(o compareOptions, m measurement) func([2]runner.Subject, []order.Entry) error {
	return func(sides [2]runner.Subject, plan []order.Entry) error {
		if err := agree(sides, m.label); err != nil {
			return err
		}
		if o.method == verdict.RelativeMethod {
			return nil
		}
		policy, planned := m.policy, o.planned(plan)
		if m.stages != nil {
			policy = m.stages.At(policy, 2)
		}
		if m.label == "" && len(sides[0].Programs) > 0 && slices.Equal(sides[0].Programs, sides[1].Programs) {
			a.say("writ: both sides run the same program: there will be nothing to infer")
		}
		rounds := o.rounds + o.secondStage
		if need := verdict.RoundsFor(policy, planned); rounds < need {
			return fault.New(fault.Refused, "compare sides", "%d rounds cannot call any of %s slower at level %g", rounds, plural(len(planned), "row"), policy.Level()).
				At("/plan").Help("pass --rounds %d, or measure fewer cases and quantities", need).With("need", strconv.Itoa(need))
		}
		known, err := o.sigma(noiseOf(sides[0].Environment, &result.Runner{Name: "writ", Version: version}, policy), sides[0].Context, policy)
		if err != nil || known == nil {
			return err
		}
		for _, f := range verdict.Foresee(policy, planned, rounds, known) {
			a.say("writ: %s %s: with the noise of this machine %d rounds see %.1f %% at best, and the threshold is %.1f %%",
				f.Workload, f.Quantity, rounds, 100*f.Smallest, 100*f.Threshold)
		}
		return nil
	}
}

// agree checks that the sides differ in what the profile says, and in nothing else.
func agree(sides [2]runner.Subject, label string) error {
	const op = "compare sides"
	refuse := func(format string, args ...any) *fault.Error { return fault.New(fault.Refused, op, format, args...) }
	a, b := sides[0], sides[1]
	if label != "" {
		if a.Revision != b.Revision || a.Tree != b.Tree {
			return refuse("two environments must be of one revision, and these are %.12s and %.12s", a.Revision, b.Revision).Help("without --label, two revisions are compared")
		}
		return nil
	}
	for i, s := range sides {
		name := []string{"baseline", "contender"}[i]
		switch {
		case s.Tree == "":
			return refuse("nothing says what the %s is the content of", name).Help("tell the sides apart with --label NAME=BASE,CONTENDER")
		case s.Dirty != result.Clean:
			return refuse("revisions need clean trees, and the %s has changes that are not committed", name).
				Help("commit them, ignore what the build makes, or tell the sides apart with --label NAME=BASE,CONTENDER")
		}
	}
	if a.Tree == b.Tree {
		return refuse("both sides are the tree %s: there is nothing to compare", a.Tree).
			Help("writ calibrate measures one thing against itself; --label NAME=BASE,CONTENDER compares two builds of one tree")
	}
	return nil
}

// enough is the rule that ends the rounds; nil when all of them are measured.
func (m measurement) enough(o compareOptions) func(runner.SessionReport) (bool, error) {
	params := func(r runner.SessionReport) verdict.Params {
		p := verdict.Params{
			Results: r.Results, Policy: m.policy, RunKey: m.contest.runKey, Planned: verdict.Planned(r.Orders...), Rounds: len(r.Orders) / 2,
			Profile: verdict.Revisions,
		}
		if m.label != "" {
			p.Profile, p.Varying = verdict.Environments, verdict.VaryingLabel(m.label)
		}
		for i := range r.Results {
			if x := &r.Results[i]; x.Provenance.Labels[labelSide] == string(runner.Baseline) {
				p.Baseline = p.Side(x)
			}
		}
		return p
	}
	switch {
	case o.precise:
		return func(r runner.SessionReport) (bool, error) { return verdict.Precise(params(r)) }
	case m.stages != nil:
		return func(r runner.SessionReport) (bool, error) {
			if len(r.Orders)/2 != m.stages.First {
				return false, nil
			}
			p := params(r)
			p.Policy = m.stages.At(p.Policy, 1)
			out, err := verdict.Judge(p)
			if err != nil {
				return false, err
			}
			answer, err := verdict.Gate(p.Policy, out.Verdict.Canonical())
			return err == nil && answer.Answer != verdict.Hold, err
		}
	}
	return nil
}
