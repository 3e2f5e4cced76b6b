package cli

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/order"
	"writ/internal/runner"
	"writ/internal/runner/provide"
)

// newOptions are the flags of `writ order new`.
type newOptions struct {
	orderOptions
	target, path, kind, sourceDir, sourceURI, artifact, revision string
	build                                                        bool

	adapter, filter                             string
	suites, include, exclude, quantities        []string
	suiteParameters, parameters, variables      []string
	repetitions, round                          int
	levels, labels                              []string
	minTime, warmupTime, caseLimit, orderLimit  float64
	iterations, warmups                         int
	policy, project, runKey, id, reason, forWho string
	resolve                                     bool
}

func (a *app) orderNew() *cobra.Command {
	var o newOptions
	c := &cobra.Command{
		Use:   "new",
		Short: "write a work order from flags",
		Long: `Write a work order from flags. What is measured is a --target that the project
describes, a --path with programs or a work tree, or an --artifact. Precision comes
from the flags, then from .writ/config.json of this folder or above, then from the
adapter; what results is in the order, so that its hash covers what applied.

Exit status: 0 written; 2 the flags do not make an order; 4 the file is there
already; 6 nothing is there to be measured; 12 no case is selected.`,
		Example: "  writ order new --path bin --source-dir . --suite sum.test > draft.json\n" +
			"  writ order new --target @release --adapter google-benchmark --suite bench --min-time 0.1 --resolve --out order.json\n" +
			"  writ order new --path . --kind working_tree --adapter pyperf --suite bench.py --level process=7 --env OMP_NUM_THREADS=1",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.newOrder(c.Context(), o) },
	}
	f := c.Flags()
	f.StringVar(&o.target, "target", "", "target that is described: a build directory, @CONFIG or @CONFIG=SOURCE_REF; see writ target")
	f.BoolVar(&o.build, "prepare", false, "have the project prepare the target first, instead of describing it")
	f.StringVar(&o.path, "path", "", "directory of the programs, or the work tree")
	f.StringVar(&o.kind, "kind", order.BuildTree, "what --path is: build or working_tree")
	f.StringVar(&o.sourceDir, "source-dir", "", "checkout that was built, when it is not what --path says itself")
	f.StringVar(&o.sourceURI, "source-uri", "", "name of the repository (default: the checkout's origin, or where it is)")
	f.StringVar(&o.artifact, "artifact", "", "one program file, identified by its digest; needs --revision")
	f.StringVar(&o.revision, "revision", "", "revision that the artifact is of, taken on trust")
	f.StringVar(&o.adapter, "adapter", "gobench", "harness of the suites")
	f.StringArrayVar(&o.suites, "suite", nil, "suite to measure, as the harness names it; may be repeated (default: the artifact)")
	f.StringVar(&o.filter, "filter", "", "cases to measure, in the harness's own syntax")
	f.StringArrayVar(&o.include, "include", nil, "cases to measure: a pattern of whole names with * and ?; may be repeated")
	f.StringArrayVar(&o.exclude, "exclude", nil, "cases to leave out: a pattern; may be repeated")
	f.StringArrayVar(&o.suiteParameters, "suite-parameter", nil, "NAME=JSON: setting of the harness for all suites; may be repeated")
	f.StringArrayVar(&o.quantities, "quantity", []string{"wall-time"}, "quantity to measure; may be repeated")
	f.IntVar(&o.repetitions, "repetitions", 0, "repetitions of each case (default: from the configuration or the adapter)")
	f.StringArrayVar(&o.levels, "level", nil, "UNIT=N: repetitions at one level of the harness; may be repeated")
	f.Float64Var(&o.minTime, "min-time", 0, "seconds that one repetition takes at least")
	f.IntVar(&o.iterations, "iterations", 0, "iterations of one repetition")
	f.IntVar(&o.warmups, "warmups", -1, "repetitions that are thrown away first")
	f.Float64Var(&o.warmupTime, "warmup-time", 0, "seconds of warming up")
	f.Float64Var(&o.caseLimit, "case-timeout", 60, "seconds that one case may take")
	f.Float64Var(&o.orderLimit, "order-timeout", 600, "seconds that everything may take")
	f.StringArrayVarP(&o.variables, "env", "e", nil, "NAME=VALUE: environment variable of the workload; may be repeated")
	f.StringArrayVar(&o.parameters, "parameter", nil, "NAME=JSON: parameter of the workload; may be repeated")
	f.StringVar(&o.policy, "policy", "", "environment policy, as NAME@VERSION")
	f.StringVar(&o.project, "project", "", "project whose series the results join")
	f.StringVar(&o.runKey, "run-key", "", "what ties the orders of a comparison together (default: new-TIME)")
	f.IntVar(&o.round, "round", -1, "round of the comparison, from 0")
	f.StringArrayVar(&o.labels, "label", nil, "NAME=VALUE: label of every result; may be repeated")
	f.StringVar(&o.id, "id", "", "work order id, a URI or UUID (default: a fresh one)")
	f.StringVar(&o.forWho, "requester", "", "KIND:NAME, the kind being person, ci, workbench or scheduler (default: the person at work)")
	f.StringVar(&o.reason, "reason", "", "why this is measured")
	f.BoolVar(&o.resolve, "resolve", false, "fix the plan too, see writ order resolve")
	f.StringVarP(&o.out, "out", "o", "", "file for the order; it must not be there (default: standard output)")
	o.flags(c)
	for _, group := range [][]string{{"target", "path", "artifact"}, {"min-time", "iterations"}, {"warmups", "warmup-time"}, {"repetitions", "level"}, {"filter", "include"}, {"filter", "exclude"}} {
		c.MarkFlagsMutuallyExclusive(group...)
	}
	return c
}

func (a *app) newOrder(ctx context.Context, o newOptions) error {
	ord, err := a.compose(ctx, o)
	if err != nil {
		return err
	}
	if !o.resolve {
		return a.writeOrder(ord, o.out)
	}
	p := runner.Params{Order: ord, Harnesses: harnesses(), AllowCollectors: o.collectors, Now: time.Now}
	if ord.EnvironmentPolicy != nil {
		if p.Policies, err = policies(o.policies); err != nil {
			return err
		}
	}
	return a.resolveOrder(ctx, p, o.out)
}

// compose makes the order, a draft.
func (a *app) compose(ctx context.Context, o newOptions) (order.Order, error) {
	now := time.Now().UTC()
	out := order.Order{
		ID: o.id, Project: o.project, RunKey: o.runKey, Reason: o.reason, Quantities: o.quantities,
		Timeouts: order.Timeouts{CaseS: o.caseLimit, OrderS: o.orderLimit},
	}
	if out.ID == "" {
		out.ID = "urn:uuid:" + uuid()
	}
	if out.RunKey == "" {
		out.RunKey = "new-" + now.Format("20060102T150405Z")
	}
	if o.round >= 0 {
		out.Round = &o.round
	}
	var err error
	if out.Requester, err = a.requester(o.forWho); err != nil {
		return out, err
	}
	if out.Labels, err = pairs("label", o.labels); err != nil {
		return out, err
	}
	if out.EnvironmentVariables, err = pairs("env", o.variables); err != nil {
		return out, err
	}
	if out.WorkloadParameters, err = values("parameter", o.parameters); err != nil {
		return out, err
	}
	if o.policy != "" {
		name, version, ok := strings.Cut(o.policy, "@")
		if !ok {
			return out, fault.New(fault.Usage, "write order", "policy %q has no version", o.policy).Help("see: writ policy list")
		}
		out.EnvironmentPolicy = &order.PolicyRef{Name: name, Version: version}
	}
	if err := a.aim(ctx, o, &out); err != nil {
		return out, err
	}
	if out.Suites, err = o.chosen(); err != nil {
		return out, err
	}
	if out.Precision, err = o.precision(); err != nil {
		return out, err
	}
	return order.New(out)
}

// aim settles target, declared build and labels.
func (a *app) aim(ctx context.Context, o newOptions, out *order.Order) error {
	const op = "write order"
	switch {
	case o.target != "":
		operation := provide.Reporting
		if o.build {
			operation = provide.Preparing
		}
		d, ok, err := a.describe(ctx, o.target, operation, 0)
		if err != nil {
			return err
		}
		if !ok {
			return fault.New(fault.NotFound, op, "%s has no description", o.target).Help("name it with --path, or write %s beside the build", provide.Sidecar)
		}
		out.Target, out.Build = d.Target, d.Build
		for name, value := range d.Labels {
			if out.Labels == nil {
				out.Labels = map[string]string{}
			}
			if _, given := out.Labels[name]; !given {
				out.Labels[name] = value
			}
		}
		return nil
	case o.artifact != "":
		return o.aimArtifact(out)
	case o.path == "":
		return fault.New(fault.Usage, op, "nothing says what is measured").Help("pass --path DIR, --target or --artifact")
	case o.kind != order.BuildTree && o.kind != order.WorkingTree:
		return fault.New(fault.Usage, op, "--kind %q is neither build nor working_tree", o.kind)
	}
	path, err := filepath.Abs(o.path)
	if err != nil {
		return fault.Wrap(err, fault.Internal, op, "no working directory")
	}
	t := order.Target{Kind: o.kind, Path: path, Source: order.Source{URI: o.sourceURI}}
	if o.sourceDir != "" {
		if t.SourceDir, err = filepath.Abs(o.sourceDir); err != nil {
			return fault.Wrap(err, fault.Internal, op, "no working directory")
		}
	}
	if t.Source.URI == "" {
		dir := t.SourceDir
		if dir == "" {
			dir = path
		}
		t.Source = sourceOf(ctx, dir)
	}
	out.Target = t
	return nil
}

func (o newOptions) aimArtifact(out *order.Order) error {
	const op = "write order"
	if o.revision == "" || o.sourceURI == "" {
		return fault.New(fault.Usage, op, "an artifact does not say what it is of").Help("pass --revision and --source-uri")
	}
	file, err := filepath.Abs(o.artifact)
	if err != nil {
		return fault.Wrap(err, fault.Internal, op, "no working directory")
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return fault.Wrap(err, fault.NotFound, op, "cannot read %s", file)
	}
	out.Target = order.Target{
		Kind: order.Artifact, URI: (&url.URL{Scheme: "file", Path: filepath.ToSlash(file)}).String(), SHA256: canon.Sum(raw).Hex(),
		Source: order.Source{URI: o.sourceURI}, Revision: o.revision,
	}
	return nil
}

// sourceOf names the repository of a directory: its origin, or where it is.
func sourceOf(ctx context.Context, dir string) order.Source {
	id, err := identify(ctx, dir)
	switch {
	case err == nil && strings.Contains(id.Origin, "://"):
		return order.Source{URI: id.Origin, Type: "git"}
	case err == nil && strings.Contains(id.Origin, ":") && !strings.HasPrefix(id.Origin, "/"): // host:path, as for ssh
		host, path, _ := strings.Cut(id.Origin, ":")
		return order.Source{URI: "ssh://" + host + "/" + strings.TrimPrefix(path, "/"), Type: "git"}
	case err == nil:
		return order.Source{URI: (&url.URL{Scheme: "file", Path: filepath.ToSlash(id.Top)}).String(), Type: "git"}
	}
	return order.Source{URI: (&url.URL{Scheme: "file", Path: filepath.ToSlash(dir)}).String()}
}

// chosen are the suites, all with the same selection.
func (o newOptions) chosen() ([]order.Suite, error) {
	suites := o.suites
	if len(suites) == 0 && o.artifact != "" {
		suites = []string{filepath.Base(o.artifact)}
	}
	if len(suites) == 0 {
		return nil, fault.New(fault.Usage, "write order", "no suite").Help("pass --suite NAME")
	}
	parameters, err := values("suite-parameter", o.suiteParameters)
	if err != nil {
		return nil, err
	}
	var out []order.Suite
	for _, name := range suites {
		s := order.Suite{Adapter: o.adapter, Suite: name, Filter: o.filter, Include: o.include, Exclude: o.exclude}
		if len(parameters) > 0 {
			s.Parameters = canon.MustFrom(parameters)
		}
		out = append(out, s)
	}
	return out, nil
}

// precision is what the flags say, over the project's configuration, over the
// adapter's own defaults.
func (o newOptions) precision() (order.Precision, error) {
	h, err := harnesses().Find(o.adapter)
	if err != nil {
		return order.Precision{}, err
	}
	config, err := projectConfig()
	if err != nil {
		return order.Precision{}, err
	}
	var flags order.Precision
	if o.repetitions > 0 {
		flags.Repetitions = order.Times(o.repetitions)
	}
	levels, err := pairs("level", o.levels)
	if err != nil {
		return order.Precision{}, err
	}
	for _, text := range o.levels { // in the order of the flags
		unit, _, _ := strings.Cut(text, "=")
		n, err := strconv.Atoi(levels[unit])
		if err != nil || n < 1 {
			return order.Precision{}, fault.New(fault.Usage, "write order", "--level %s: not a count", text)
		}
		flags.Repetitions.Levels = append(flags.Repetitions.Levels, order.Level{Unit: unit, N: n})
	}
	switch {
	case o.minTime > 0:
		flags.Calibration = &order.Calibration{Mode: order.Adaptive, MinimumSampleSeconds: o.minTime}
	case o.iterations > 0:
		flags.Calibration = &order.Calibration{Mode: order.Fixed, NIterations: o.iterations}
	}
	switch {
	case o.warmups > 0:
		flags.Warmup = &order.Warmup{Mode: order.Count, NWarmup: &o.warmups}
	case o.warmups == 0:
		flags.Warmup = &order.Warmup{Mode: order.None}
	case o.warmupTime > 0:
		flags.Warmup = &order.Warmup{Mode: order.Time, Seconds: o.warmupTime}
	}
	return flags.Over(config[o.adapter].Over(h.Defaults())), nil
}

// requester reads KIND:NAME.
func (a *app) requester(word string) (order.Requester, error) {
	if word == "" {
		name := a.getenv("USER")
		if name == "" {
			name = "somebody"
		}
		return order.Requester{Kind: order.Person, Name: name}, nil
	}
	kind, name, ok := strings.Cut(word, ":")
	if !ok || name == "" {
		return order.Requester{}, fault.New(fault.Usage, "write order", "--requester %q is no KIND:NAME", word)
	}
	return order.Requester{Kind: kind, Name: name}, nil
}

// pairs reads NAME=VALUE flags; nil when there are none.
func pairs(flag string, words []string) (map[string]string, error) {
	var out map[string]string
	for _, w := range words {
		name, value, ok := strings.Cut(w, "=")
		if !ok || name == "" {
			return nil, fault.New(fault.Usage, "write order", "--%s %q is no NAME=VALUE", flag, w)
		}
		if out == nil {
			out = map[string]string{}
		}
		if _, twice := out[name]; twice {
			return nil, fault.New(fault.Usage, "write order", "--%s gives %s twice", flag, name)
		}
		out[name] = value
	}
	return out, nil
}

// values reads NAME=JSON flags; what is no JSON is a text.
func values(flag string, words []string) (map[string]canon.Value, error) {
	texts, err := pairs(flag, words)
	if texts == nil {
		return nil, err
	}
	out := map[string]canon.Value{}
	for name, text := range texts {
		v, err := canon.Parse([]byte(text))
		if err != nil {
			v = canon.StringOf(text)
		}
		out[name] = v
	}
	return out, nil
}

// projectConfig reads the precision settings of the project that this folder is in.
func projectConfig() (order.Config, error) {
	here, err := os.Getwd()
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "read config", "no working directory")
	}
	var known []string
	for _, h := range harnesses() {
		known = append(known, h.Capabilities().Adapter)
	}
	for dir := here; ; dir = filepath.Dir(dir) {
		path := filepath.Join(dir, filepath.FromSlash(order.ConfigFile))
		raw, err := os.ReadFile(path)
		switch {
		case err == nil:
			config, err := order.ParseConfig(raw, known)
			if e, ok := fault.As(err); ok {
				e.Public = path + ": " + e.Public
			}
			return config, err
		case dir == filepath.Dir(dir):
			return nil, nil
		}
	}
}

// uuid makes a random identifier in the usual spelling.
func uuid() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
