package order

import (
	"slices"
	"strconv"
	"strings"

	"writ/internal/fault"
)

// Capabilities is what one adapter, together with the runner around it, honours
// exactly. An absent entry means no: an order that needs it is refused.
type Capabilities struct {
	Adapter     string
	Targets     []string // kinds of target
	Quantities  []string
	Levels      []string // units of repetition, outermost first
	Bare        bool     // a bare repetition count is meaningful
	Calibration []string // modes; an order may always leave it to the default
	Warmup      []string // modes

	Filter     bool     // one pattern in the harness's syntax
	Include    bool     // include and exclude lists
	Parameters []string // members of suites[].parameters

	WorkloadParameters bool // arbitrary parameters reach the workload
	Variables          bool // environment variables surely reach the measured process
	Collectors         bool // the caller allowed commands that come with orders
	Policy             bool // environment policies
	BuildFacts         bool // declared build configuration is recorded
	Benchmark          bool // benchmark code outside the target
	Components         bool
	Schedules          []string

	CasePerProcess bool // one case per process: per-case limits and process-wide quantities hold
	ManySuites     bool // it labels the cases of each suite, so that several fit in one order
}

// Quantities that a process has, not a case.
var processWide = []string{"peak-rss", "gpu-peak-memory"}

// Check refuses an order that the adapters of its suites cannot honour in every
// detail: fault.Refused, with the pointer of the first such detail and all of them
// in Fields. What holds for the whole order, every one of the adapters must honour.
func Check(o Order, adapters ...Capabilities) error {
	for _, c := range adapters {
		var r rules
		r.adapter(o, c, adapters)
		r.features(o, c)
		r.capablePrecision(o.Precision, c)
		r.capableQuantities(o, c)
		if len(r.broken) > 0 {
			e := fault.New(fault.Refused, "check order", "%s", r.broken[0].Rule).At(r.broken[0].Pointer).
				With("adapter", c.Adapter)
			e.Fields = r.broken
			return e
		}
	}
	return nil
}

// adapter checks the suites of c, and that every suite has its adapter in all.
func (r *rules) adapter(o Order, c Capabilities, all []Capabilities) {
	if len(o.Suites) > 1 && !c.ManySuites {
		r.add("exactly one suite per order", strconv.Itoa(len(o.Suites)), "suites")
	}
	for i, s := range o.Suites {
		at := strconv.Itoa(i)
		if s.Adapter != c.Adapter {
			if !slices.ContainsFunc(all, func(c Capabilities) bool { return c.Adapter == s.Adapter }) {
				r.add("no adapter of this name; here is "+c.Adapter, s.Adapter, "suites", at, "adapter")
			}
			continue
		}
		if s.Filter != "" && !c.Filter {
			r.add(c.Adapter+" takes no filter", s.Filter, "suites", at, "filter")
		}
		if len(s.Include) > 0 && !c.Include {
			r.add(c.Adapter+" selects by a single suites[].filter", "", "suites", at, "include")
		}
		if len(s.Exclude) > 0 && !c.Include {
			r.add(c.Adapter+" selects by a single suites[].filter", "", "suites", at, "exclude")
		}
		for _, m := range s.Parameters.Members() {
			if !slices.Contains(c.Parameters, m.Name) {
				r.add(c.Adapter+" has no such parameter", m.Name, "suites", at, "parameters", m.Name)
			}
		}
	}
	if !slices.Contains(c.Targets, o.Target.Kind) {
		r.add("target must be one of: "+strings.Join(c.Targets, ", "), o.Target.Kind, "target", "kind")
	}
}

func (r *rules) features(o Order, c Capabilities) {
	needs := []struct {
		used, able bool
		member     string
		rule       string
	}{
		{len(o.WorkloadParameters) > 0, c.WorkloadParameters, "workload_parameters", "takes no workload_parameters"},
		{len(o.EnvironmentVariables) > 0, c.Variables, "environment_variables", "cannot guarantee variables in the measured process"},
		{len(o.Collectors) > 0, c.Collectors, "collectors", "runs commands of an order only when the caller allows it"},
		{o.EnvironmentPolicy != nil, c.Policy, "environment_policy", "applies no environment policy"},
		{o.Build != nil, c.BuildFacts, "build", "records no declared build"},
		{o.Benchmark != nil, c.Benchmark, "benchmark", "takes benchmarks from the subject's own checkout only"},
		{len(o.Components) > 0, c.Components, "components", "records no components"},
	}
	for _, n := range needs {
		if n.used && !n.able {
			r.add(c.Adapter+" "+n.rule, "", n.member)
		}
	}
	if o.Schedule != nil && !slices.Contains(c.Schedules, o.Schedule.Kind) {
		r.add(c.Adapter+" cannot keep this schedule", o.Schedule.Kind, "schedule", "kind")
	}
}

func (r *rules) capablePrecision(p Precision, c Capabilities) {
	if p.Repetitions.Bare {
		if !c.Bare {
			r.add(c.Adapter+" repeats at levels: "+quoted(c.Levels), strconv.Itoa(p.Repetitions.Total()), "precision", "repetitions")
		}
	} else {
		last := -1
		for i, l := range p.Repetitions.Levels {
			at := []string{"precision", "repetitions", "levels", strconv.Itoa(i), "unit"}
			switch place := slices.Index(c.Levels, l.Unit); {
			case place < 0:
				r.add(c.Adapter+" repeats at levels: "+quoted(c.Levels), l.Unit, at...)
			case place < last:
				r.add("levels are listed outermost first: "+quoted(c.Levels), l.Unit, at...)
			default:
				last = place
			}
		}
	}
	if p.Calibration != nil && !slices.Contains(c.Calibration, p.Calibration.Mode) {
		r.add(c.Adapter+" calibrates by: "+quoted(c.Calibration), p.Calibration.Mode, "precision", "calibration", "mode")
	}
	if p.Warmup != nil && !slices.Contains(c.Warmup, p.Warmup.Mode) {
		r.add(c.Adapter+" warms up by: "+quoted(c.Warmup), p.Warmup.Mode, "precision", "warmup", "mode")
	}
}

func (r *rules) capableQuantities(o Order, c Capabilities) {
	for i, q := range o.Quantities {
		at := strconv.Itoa(i)
		switch {
		case !slices.Contains(c.Quantities, q):
			r.add("quantity not supported; "+c.Adapter+" has: "+quoted(c.Quantities), q, "quantities", at)
		case slices.Contains(processWide, q) && !c.CasePerProcess:
			r.add("a process has this quantity, not a case", q, "quantities", at)
		}
	}
}

func quoted(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return "'" + strings.Join(names, "', '") + "'"
}
