package verdict

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ident"
	"writ/internal/result"
)

// GatePolicy says what counts as a change, which quantities may stop one, and
// what each verdict does. It is a document with a name and a version; verdicts
// cite it by digest.
type GatePolicy struct {
	Schema     string               `json:"schema"`
	Name       string               `json:"name"`
	Version    string               `json:"version"`
	Alpha      float64              `json:"alpha"`              // chance of blocking an unchanged suite; two-sided level of intervals
	Attempts   int                  `json:"attempts,omitempty"` // how often one change may be judged; alpha is divided over them; 0 is 1
	Power      float64              `json:"power"`              // that minimum detectable effects are given for
	Gating     []string             `json:"gating"`             // quantities; "*" is every one
	Default    Threshold            `json:"default"`
	Quantities map[string]Threshold `json:"quantities,omitempty"` // instead of Default
	Cases      []CaseThreshold      `json:"cases,omitempty"`      // instead of both; the first that fits
	Dropped    Allowance            `json:"dropped"`
	Actions    map[string]Answer    `json:"actions"` // verdict, or "order-confounded", to answer

	value canon.Value
}

// Threshold is the smallest change that matters.
type Threshold struct {
	Relative float64 `json:"relative"`          // share of the baseline, such as 0.05
	Absolute float64 `json:"absolute"`          // in the quantity's unit; smaller changes never matter
	Measure  string  `json:"measure,omitempty"` // Ratio or Difference; "" is the quantity's own
}

// CaseThreshold is a threshold for one workload, and one quantity of it when
// Quantity is not empty.
type CaseThreshold struct {
	Workload string `json:"workload"`
	Quantity string `json:"quantity,omitempty"`
	Threshold
}

// Allowance bounds the rounds that may lack a side: more than both is invalid.
type Allowance struct {
	Rounds int     `json:"rounds"`
	Share  float64 `json:"share"` // of the planned rounds
}

// exceeds reports whether dropped of planned rounds are too many.
func (a Allowance) exceeds(dropped, planned int) bool {
	return dropped > a.Rounds && float64(dropped) > float64(a.Share*float64(planned))
}

// orderConfounded is the name under which a policy says what an answer is worth
// when one side ran before the other.
const orderConfounded = "order-confounded"

// DefaultPolicy is the policy of whoever names none: time within 5 % of the
// baseline does not matter, nor do five nanoseconds.
func DefaultPolicy() GatePolicy {
	p := GatePolicy{
		Schema: PolicySchema, Name: "writ/default", Version: "1", Alpha: 0.05, Power: 0.8,
		Gating:  []string{"*"},
		Default: Threshold{Relative: 0.05},
		Quantities: map[string]Threshold{
			"wall-time":       {Relative: 0.05, Absolute: 5e-9},
			"cpu-time":        {Relative: 0.05, Absolute: 5e-9},
			"allocated-bytes": {Relative: 0.02, Absolute: 16},
			"allocations":     {Relative: 0.02, Absolute: 0.5},
			"peak-rss":        {Relative: 0.05, Absolute: 1 << 20},
		},
		Dropped: Allowance{Rounds: 1, Share: 0.1},
		Actions: map[string]Answer{
			string(Slower): Block, string(Faster): Pass, string(NoDifference): Pass, string(Identical): Pass,
			string(Inconclusive): Hold, string(Underpowered): Hold, orderConfounded: Hold,
		},
	}
	p.value = canon.MustFrom(p)
	return p
}

// NewPolicy checks a policy that was put together in code and gives it its
// document.
func NewPolicy(p GatePolicy) (GatePolicy, error) {
	p.Schema = PolicySchema
	v, err := canon.From(p)
	if err != nil {
		return GatePolicy{}, err
	}
	return readPolicy(v)
}

// ParsePolicy reads a gate policy. Anything but a well-formed policy is
// fault.Malformed or fault.Invalid with every broken rule.
func ParsePolicy(raw []byte) (GatePolicy, error) {
	v, err := canon.Parse(raw)
	if err != nil {
		return GatePolicy{}, err
	}
	return readPolicy(v)
}

func readPolicy(v canon.Value) (GatePolicy, error) {
	if s := v.Str("schema"); s != PolicySchema {
		return GatePolicy{}, fault.New(fault.UnknownKind, "parse gate policy", "schema is %q", s).At("/schema").
			Help("this build reads %s", PolicySchema)
	}
	var p GatePolicy
	if err := v.Decode(&p); err != nil {
		return GatePolicy{}, err
	}
	p.value = v
	if broken := p.check(); len(broken) > 0 {
		e := fault.New(fault.Invalid, "parse gate policy", "%s", broken[0].Rule).At(broken[0].Pointer)
		e.Fields = broken
		return GatePolicy{}, e
	}
	return p, nil
}

// check returns the broken rules of p.
func (p GatePolicy) check() (broken []fault.Field) {
	bad := func(pointer, rule string) { broken = append(broken, fault.Field{Pointer: pointer, Rule: rule}) }
	if !ident.IsToken(p.Name) {
		bad("/name", "name must be a token")
	}
	if p.Version == "" {
		bad("/version", "version must not be empty")
	}
	if !(p.Alpha > 0 && p.Alpha <= 0.5) {
		bad("/alpha", "alpha must be above 0 and at most 0.5")
	}
	if !(p.Power > 0 && p.Power < 1) {
		bad("/power", "power must be between 0 and 1")
	}
	if p.Attempts < 0 || p.Attempts > MaxAttempts {
		bad("/attempts", "attempts must be from 1 to "+strconv.Itoa(MaxAttempts))
	}
	if len(p.Gating) == 0 {
		bad("/gating", "at least one quantity must gate")
	}
	if p.Dropped.Rounds < 0 || !(p.Dropped.Share >= 0 && p.Dropped.Share < 1) {
		bad("/dropped", "rounds must not be negative and share must be below 1")
	}
	threshold := func(at string, t Threshold) {
		if !(t.Relative >= 0 && t.Absolute >= 0) {
			bad(at, "thresholds must not be negative")
		}
		if t.Measure != "" && t.Measure != Ratio && t.Measure != Difference {
			bad(at+"/measure", "measure must be ratio or difference")
		}
		if t.Measure == Ratio && t.Relative == 0 || t.Relative == 0 && t.Absolute == 0 {
			bad(at, "a threshold must leave room for noise")
		}
	}
	threshold("/default", p.Default)
	for name, t := range p.Quantities {
		threshold(canon.PointerTo("/quantities", name), t)
	}
	for i, c := range p.Cases {
		threshold("/cases/"+strconv.Itoa(i), c.Threshold)
		if c.Workload == "" {
			bad("/cases/"+strconv.Itoa(i)+"/workload", "workload must not be empty")
		}
	}
	for _, word := range Words() {
		answer, given := p.Actions[string(word)]
		if word == Invalid {
			if given {
				bad("/actions/invalid", "what cannot be judged is always answered by invalid")
			}
			continue
		}
		if answer != Pass && answer != Hold && answer != Block {
			bad(canon.PointerTo("/actions", string(word)), "action must be pass, hold or block")
		}
	}
	for name, answer := range p.Actions {
		if name == orderConfounded && answer != Pass && answer != Hold && answer != Block {
			bad("/actions/"+orderConfounded, "action must be pass, hold or block")
		}
		if name != orderConfounded && !Word(name).Known() {
			bad(canon.PointerTo("/actions", name), "there is no such verdict")
		}
	}
	slices.SortStableFunc(broken, func(a, b fault.Field) int { return cmp.Compare(a.Pointer, b.Pointer) })
	return broken
}

// Raw returns the canonical bytes of the policy.
func (p GatePolicy) Raw() []byte { return p.value.Canonical() }

// Ref names the policy by content.
func (p GatePolicy) Ref() PolicyRef {
	return PolicyRef{Name: p.Name, Version: p.Version, SHA256: canon.Plain(p.value).Hex()}
}

// gates reports whether a quantity may stop a change.
func (p GatePolicy) gates(quantity string) bool {
	return slices.Contains(p.Gating, "*") || slices.Contains(p.Gating, quantity)
}

// threshold returns what applies to one case and quantity.
func (p GatePolicy) threshold(workload, quantity string) Threshold {
	for _, c := range p.Cases {
		if c.Workload == workload && (c.Quantity == "" || c.Quantity == quantity) {
			return c.Threshold
		}
	}
	if t, ok := p.Quantities[quantity]; ok {
		return t
	}
	return p.Default
}

// Measure returns what a policy compares of a case and quantity: Ratio or
// Difference.
func (p GatePolicy) Measure(workload, quantity string) string {
	if m := p.threshold(workload, quantity).Measure; m != "" {
		return m
	}
	if info, _ := result.Known(quantity); info.ZeroLegal {
		return Difference
	}
	return Ratio
}

// Midway returns the policy with one more threshold, that of the case and quantity of
// a row: half of what the row has changed by, half on the scale that is judged on.
// Whatever has the whole change is beyond it, whatever has none of it is within, and
// both by the widest margin. fault.Invalid when the row has not changed.
func (p GatePolicy) Midway(r Row) (GatePolicy, error) {
	if r.Effect == nil {
		return p, fault.New(fault.Invalid, "halve threshold", "nothing was measured of %s %s", r.name(), r.Quantity)
	}
	t := Threshold{Measure: r.Measure}
	if r.Measure == Ratio {
		t.Relative, t.Absolute = digits(exp(math.Abs(ln(*r.Effect))/2)-1, 6), r.Floor
	} else {
		t.Absolute = digits(math.Abs(*r.Effect)/2, 6)
	}
	p.Cases = append([]CaseThreshold{{Workload: r.Workload, Quantity: r.Quantity, Threshold: t}}, p.Cases...)
	p.Version += " (midway)"
	return NewPolicy(p)
}
