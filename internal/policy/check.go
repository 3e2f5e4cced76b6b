package policy

import (
	"maps"
	"math"
	"slices"
	"strings"

	"writ/internal/canon"
)

// The checks whose meaning this package knows.
const (
	ThreadsMax      = "threads.max"
	CPUAffinity     = "cpu.affinity"
	CPUGovernor     = "cpu.governor"
	CPUBoost        = "cpu.boost"
	CPUSMT          = "cpu.smt"
	GPUDevice       = "gpu.device"
	GPUClocks       = "gpu.clocks-locked"
	AccelSync       = "accel.sync"
	LoadQuiescent   = "load.quiescent"
	HardwarePresent = "hardware.present"
	TreeClean       = "tree.clean"
	Throttle        = "thermal.throttle"
	Temperature     = "thermal.temperature"
)

// check says what a rule about it may look like.
type check struct {
	tiers      []Tier
	parameters map[string]shape
	needs      []string // parameters that enforce and verify cannot do without
	oneOf      bool     // exactly one of the parameters is needed
	anyOf      bool     // at least one of them is
}

var machine, noting = []Tier{Verify, Record}, []Tier{Record}

var checks = map[string]check{
	ThreadsMax:      {tiers: []Tier{Enforce, Record}, parameters: map[string]shape{"n": count}, needs: []string{"n"}},
	CPUAffinity:     {tiers: []Tier{Enforce, Verify, Record}, parameters: map[string]shape{"cpus": cpuList}, needs: []string{"cpus"}},
	GPUDevice:       {tiers: []Tier{Enforce}, parameters: map[string]shape{"index": size, "uuid": text}, oneOf: true},
	AccelSync:       {tiers: []Tier{Enforce}, parameters: map[string]shape{"mode": oneOf("events", "device-sync")}, needs: []string{"mode"}},
	CPUGovernor:     {tiers: machine, parameters: map[string]shape{"governor": text}, needs: []string{"governor"}},
	CPUBoost:        {tiers: machine, parameters: map[string]shape{"boost": flag}, needs: []string{"boost"}},
	CPUSMT:          {tiers: machine, parameters: map[string]shape{"smt": flag}, needs: []string{"smt"}},
	GPUClocks:       {tiers: machine, parameters: map[string]shape{"mhz": above0}, needs: []string{"mhz"}},
	LoadQuiescent:   {tiers: machine, parameters: map[string]shape{"max_1m_load": atLeast0, "window_s": window}, needs: []string{"max_1m_load"}},
	HardwarePresent: {tiers: []Tier{Verify}, parameters: map[string]shape{"cpu_model_pattern": text, "gpu_count": size, "min_ram_bytes": size}, anyOf: true},
	TreeClean:       {tiers: machine},
	Throttle:        {tiers: machine, parameters: map[string]shape{"counters": counterList}},
	Temperature:     {tiers: noting, parameters: map[string]shape{"sample_interval_s": interval, "sensors": patterns}},
}

// Checks are the names of the checks that this package knows, in order. Projects
// may have others, named "x-<project>.<check>".
func Checks() []string { return slices.Sorted(maps.Keys(checks)) }

// examine reports what is wrong with a rule about a known check.
func (c check) examine(r Rule, bad func(pointer, rule, got string)) {
	if !slices.Contains(c.tiers, r.Tier) {
		bad("/tier", c.tierRule(r), string(r.Tier))
	}
	given := map[string]bool{}
	for _, m := range r.Parameters.Members() {
		at := canon.PointerTo("/parameters", m.Name)
		s, known := c.parameters[m.Name]
		switch {
		case !known:
			bad(at, r.Check+" has no such parameter", m.Name)
		case !s.fits(m.Value):
			bad(at, m.Name+" must be "+s.says, string(m.Value.Canonical()))
		}
		given[m.Name] = true
	}
	if r.Tier == Record {
		return
	}
	for _, name := range c.needs {
		if !given[name] {
			bad("/parameters", r.Check+" needs "+name, "")
		}
	}
	names := strings.Join(slices.Sorted(maps.Keys(c.parameters)), ", ")
	if c.oneOf && len(given) != 1 {
		bad("/parameters", r.Check+" needs exactly one of "+names, "")
	}
	if c.anyOf && len(given) == 0 {
		bad("/parameters", r.Check+" needs at least one of "+names, "")
	}
}

func (c check) tierRule(r Rule) string {
	words := make([]string, len(c.tiers))
	for i, t := range c.tiers {
		words[i] = string(t)
	}
	allowed := r.Check + " allows " + strings.Join(words, ", ")
	if r.Tier == Enforce {
		return "the state of the machine is never changed; " + allowed
	}
	return allowed
}

// shape is what a parameter must be.
type shape struct {
	says string
	fits func(canon.Value) bool
}

var (
	count    = shape{"a whole number from 1 to 65536", func(v canon.Value) bool { n, ok := v.Int(); return ok && n >= 1 && n <= 1<<16 }}
	size     = shape{"a whole number, not below 0", func(v canon.Value) bool { n, ok := v.Int(); return ok && n >= 0 }}
	above0   = shape{"a number above 0", func(v canon.Value) bool { f, ok := v.Float(); return ok && f > 0 }}
	atLeast0 = shape{"a number, not below 0", func(v canon.Value) bool { f, ok := v.Float(); return ok && f >= 0 }}
	window   = shape{"a time in seconds, at most an hour", seconds(0)}
	interval = shape{"a time in seconds from 0.1 to an hour", seconds(0.1)}
	flag     = shape{"true or false", func(v canon.Value) bool { _, ok := v.Bool(); return ok }}
	text     = shape{"a text, not empty", func(v canon.Value) bool { s, ok := v.String(); return ok && s != "" }}
	cpuList  = shape{"a list of processors, such as 0-3,8", func(v canon.Value) bool {
		s, _ := v.String()
		_, err := ParseCPUs(s)
		return err == nil
	}}
	counterList = shape{"a list of " + strings.Join(slices.Sorted(maps.Keys(counters)), ", "), list(func(s string) bool { return counters[s] != "" })}
	patterns    = shape{"a list of patterns, none empty", list(func(s string) bool { return s != "" })}
)

func seconds(least float64) func(canon.Value) bool {
	return func(v canon.Value) bool { f, ok := v.Float(); return ok && f >= least && f <= 3600 && !math.IsNaN(f) }
}

func oneOf(words ...string) shape {
	return shape{"one of " + strings.Join(words, ", "), func(v canon.Value) bool {
		s, ok := v.String()
		return ok && slices.Contains(words, s)
	}}
}

// list accepts a non-empty array of texts that pass.
func list(pass func(string) bool) func(canon.Value) bool {
	return func(v canon.Value) bool {
		elems := v.Elems()
		return len(elems) > 0 && !slices.ContainsFunc(elems, func(e canon.Value) bool {
			s, ok := e.String()
			return !ok || !pass(s)
		})
	}
}

// counters are the counters that a throttle rule may name, with the facts that
// hold their growth during a measurement.
var counters = map[string]string{
	"thermal_throttle_count":       FactThermalThrottle,
	"cgroup_cpu_throttled_periods": FactQuotaThrottle,
}
