package policy

import (
	"fmt"
	"slices"
	"strconv"

	"writ/internal/canon"
	"writ/internal/order"
	"writ/internal/result"
)

// Facts are what was seen of machine and subject at one moment, by name.
type Facts map[string]result.Observed

// Names of facts that rules look at.
const (
	FactGovernor        = "cpu.governor"
	FactBoost           = "cpu.boost"
	FactSMT             = "cpu.smt"
	FactAffinity        = "cpu.affinity" // of the measured process
	FactLoad            = "load.avg_1m"
	FactModel           = "cpu.model"
	FactMemory          = "memory.total"
	FactGPUs            = "gpu.count"
	FactGPUClock        = "gpu.clock_mhz" // of all devices
	FactTree            = "tree.state"    // result.Clean, Dirty or Unknown
	FactThermalThrottle = "thermal.throttle_count"
	FactQuotaThrottle   = "cgroup.cpu_throttled_periods"
	FactTemperature     = "thermal.temperature" // sampled
)

// Moment is when a rule is judged.
type Moment uint8

// The moments.
const (
	Start Moment = 1 << iota // before the first case of an order
	Case                     // after each case: machines change while one looks away
)

// when says at which moments a verify rule about a check is judged.
var when = map[string]Moment{
	CPUAffinity: Start | Case, CPUGovernor: Start | Case, CPUBoost: Start | Case, CPUSMT: Start | Case, GPUClocks: Start | Case,
	LoadQuiescent: Start, HardwarePresent: Start, TreeClean: Start, // a benchmark is a load
	Throttle: Case, // by how much a counter grew
}

// Failure is a verify rule that does not hold.
type Failure struct {
	Rule   int // index in the policy
	Check  string
	Refuse bool
	Why    string
}

// Token names the failure, as a reason of results and as a warning.
func (f Failure) Token() string { return "policy-unsatisfied-" + f.Check }

// Judge returns the verify rules that do not hold at a moment. What could not be
// read does not hold.
func (p Policy) Judge(at Moment, facts Facts) []Failure {
	var out []Failure
	for i, r := range p.Rules {
		if r.Tier != Verify || when[r.Check]&at == 0 {
			continue
		}
		if why := r.fails(facts); why != "" {
			out = append(out, Failure{i, r.Check, r.OnFail == Refuse, why})
		}
	}
	return out
}

// Refused returns the first failure that refuses, if any.
func Refused(failures []Failure) (Failure, bool) {
	i := slices.IndexFunc(failures, func(f Failure) bool { return f.Refuse })
	if i < 0 {
		return Failure{}, false
	}
	return failures[i], true
}

// Looks returns the names of the facts that the rules of p are about.
func (p Policy) Looks() []string {
	var names []string
	for _, r := range p.Rules {
		names = append(names, r.looks()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (r Rule) looks() []string {
	switch r.Check {
	case ThreadsMax:
		if r.Tier == Enforce {
			return nil
		}
		names := make([]string, len(ThreadVariables))
		for i, v := range ThreadVariables {
			names[i] = VariableFact(v)
		}
		return names
	case CPUAffinity:
		return []string{FactAffinity}
	case CPUGovernor:
		return []string{FactGovernor}
	case CPUBoost:
		return []string{FactBoost}
	case CPUSMT:
		return []string{FactSMT}
	case GPUClocks:
		return []string{FactGPUClock}
	case LoadQuiescent:
		return []string{FactLoad}
	case HardwarePresent:
		return []string{FactModel, FactMemory, FactGPUs}
	case TreeClean:
		return []string{FactTree}
	case Throttle:
		return r.counters()
	case Temperature:
		return []string{FactTemperature}
	}
	return nil
}

// VariableFact is the name of the fact that an environment variable of the
// measured process has a value.
func VariableFact(name string) string { return "env." + name }

// counters are the facts behind the counters of a throttle rule.
func (r Rule) counters() []string {
	var out []string
	for _, e := range parameter(r, "counters").Elems() {
		name, _ := e.String()
		out = append(out, counters[name])
	}
	if len(out) == 0 {
		out = []string{FactThermalThrottle}
	}
	return out
}

// fails says why a rule does not hold, "" when it does.
func (r Rule) fails(facts Facts) string {
	switch r.Check {
	case CPUGovernor:
		return facts.equals(FactGovernor, parameter(r, "governor"))
	case CPUBoost:
		return facts.equals(FactBoost, parameter(r, "boost"))
	case CPUSMT:
		return facts.equals(FactSMT, parameter(r, "smt"))
	case GPUClocks:
		return facts.equals(FactGPUClock, parameter(r, "mhz"))
	case CPUAffinity:
		v, why := facts.seen(FactAffinity)
		got, _ := v.String()
		if want := r.Parameters.Str("cpus"); why == "" && !SameCPUs(got, want) {
			why = fmt.Sprintf("%s is %s, not %s", FactAffinity, got, want)
		}
		return why
	case LoadQuiescent:
		return facts.atMost(FactLoad, parameter(r, "max_1m_load"))
	case HardwarePresent:
		return r.lacks(facts)
	case TreeClean:
		return facts.equals(FactTree, canon.StringOf(result.Clean))
	case Throttle:
		for _, name := range r.counters() {
			if why := facts.atMost(name, canon.IntOf(0)); why != "" {
				return why
			}
		}
	}
	return ""
}

// lacks says what hardware is not there.
func (r Rule) lacks(facts Facts) string {
	if pattern := r.Parameters.Str("cpu_model_pattern"); pattern != "" {
		v, why := facts.seen(FactModel)
		if why != "" {
			return why
		}
		if model, _ := v.String(); !order.Match(pattern, model) {
			return fmt.Sprintf("%s is %q, not %q", FactModel, model, pattern)
		}
	}
	for name, fact := range map[string]string{"min_ram_bytes": FactMemory, "gpu_count": FactGPUs} {
		least, given := r.Parameters.Get(name)
		if !given {
			continue
		}
		v, why := facts.seen(fact)
		if why != "" {
			return why
		}
		have, _ := v.Float()
		if want, _ := least.Float(); have < want {
			return fmt.Sprintf("%s is %s, not at least %s", fact, v.Canonical(), least.Canonical())
		}
	}
	return ""
}

// seen returns a fact, or why there is none.
func (f Facts) seen(name string) (v canon.Value, why string) {
	o, known := f[name]
	switch {
	case !known || o.Status == result.Unavailable:
		return v, name + " cannot be read on this machine"
	case o.Status != result.SeenOK:
		return v, name + " is not understood" + from(o)
	}
	return o.Value, ""
}

func from(o result.Observed) string {
	if o.Source == "" {
		return ""
	}
	return ": see " + o.Source
}

func (f Facts) equals(name string, want canon.Value) string {
	v, why := f.seen(name)
	if why == "" && !canon.Equal(v, want) {
		why = fmt.Sprintf("%s is %s, not %s", name, v.Canonical(), want.Canonical())
	}
	return why
}

func (f Facts) atMost(name string, most canon.Value) string {
	v, why := f.seen(name)
	if why != "" {
		return why
	}
	have, isNumber := v.Float()
	limit, _ := most.Float()
	if !isNumber || have > limit {
		return fmt.Sprintf("%s is %s, above %s", name, v.Canonical(), strconv.FormatFloat(limit, 'g', -1, 64))
	}
	return ""
}
