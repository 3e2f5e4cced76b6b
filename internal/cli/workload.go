package cli

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/order"
)

// workloadOptions say which cases are measured and how exactly: the flags that all
// commands have which write orders.
type workloadOptions struct {
	adapter, filter, project                   string
	suites, include, exclude, quantities       []string
	suiteParameters, parameters, variables     []string
	repetitions, iterations, warmups           int
	levels                                     []string
	minTime, warmupTime, caseLimit, orderLimit float64
}

func (o *workloadOptions) workloadFlags(c *cobra.Command) {
	f := c.Flags()
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
	f.StringVar(&o.project, "project", "", "project whose series the results join")
	for _, group := range [][]string{{"min-time", "iterations"}, {"warmups", "warmup-time"}, {"repetitions", "level"}, {"filter", "include"}, {"filter", "exclude"}} {
		c.MarkFlagsMutuallyExclusive(group...)
	}
}

// chosen are the suites, all with the same selection; without a name the artifact
// is one.
func (o workloadOptions) chosen(artifact string) ([]order.Suite, error) {
	suites := o.suites
	if len(suites) == 0 && artifact != "" {
		suites = []string{filepath.Base(artifact)}
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
func (o workloadOptions) precision() (order.Precision, error) {
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
