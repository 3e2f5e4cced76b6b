// Package policy reads environment policies and says what they come to: what is
// set on the measured process, what a machine must be like, and what is merely
// noted.
//
// Invariants: a pair of name and version stands for one body for ever; only what
// belongs to the launched process can be enforced, the machine itself is never
// changed; a rule that needs a parameter and has none, or has one that is not
// known, is refused; a fact that could not be read never satisfies a rule.
//
// The package reads no machine and sets nothing: facts come in as data, and
// settings go out as data.
package policy

import (
	"regexp"
	"strconv"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/order"
	"writ/internal/schema"
)

// Schema names the format of policies in artifacts.
const Schema = "benchx/environment-policy/0.1.0"

// Tier says what is done about a check.
type Tier string

// The tiers.
const (
	Enforce Tier = "enforce" // set on the launched process; what cannot be set refuses the order
	Verify  Tier = "verify"  // looked at and judged
	Record  Tier = "record"  // looked at
)

// What a verify rule does when it does not hold.
const (
	Refuse = "refuse" // nothing is measured, and every entry has an error that says so
	Warn   = "warn"   // results carry a warning
)

// Policy is a named, versioned list of rules.
type Policy struct {
	Name    string
	Version string
	Rules   []Rule

	value canon.Value
}

// Rule is one check with its tier.
type Rule struct {
	Check      string      `json:"check"`
	Tier       Tier        `json:"tier"`
	Parameters canon.Value `json:"parameters,omitempty"` // object, or null when absent
	OnFail     string      `json:"on_fail,omitempty"`    // Refuse or Warn for Verify, else ""
}

// Parse reads a policy: strict JSON, the schema, then the rules about checks.
// Refusals are fault.Malformed and fault.Invalid, the latter with every broken
// rule. A check that is not one of Checks passes: whether it can be looked at is
// for the runner to say.
func Parse(raw []byte) (Policy, error) {
	const op = "parse policy"
	v, err := canon.Parse(raw)
	if err != nil {
		return Policy{}, err
	}
	if err := schema.Validate(schema.EnvironmentPolicy, v); err != nil {
		return Policy{}, err
	}
	type form struct {
		Name    string `json:"name"`
		Version string `json:"version"`
		Rules   []Rule `json:"rules"`
	}
	var f form
	if err := v.Decode(&f); err != nil {
		return Policy{}, err
	}
	p := Policy{f.Name, f.Version, f.Rules, v}
	if broken := p.check(); len(broken) > 0 {
		e := fault.New(fault.Invalid, op, "%s", broken[0].Rule).At(broken[0].Pointer)
		e.Fields = broken
		return Policy{}, e
	}
	return p, nil
}

// Value returns the whole document.
func (p Policy) Value() canon.Value { return p.value }

// Hash returns the digest to which the pair of name and version is bound.
func (p Policy) Hash() canon.Digest { return order.PolicyHash(p.value) }

// Ref returns "name@version", as environment identities spell it.
func (p Policy) Ref() string { return p.Name + "@" + order.Token(p.Version) }

// hyphenSafe are names that can be a part of the reason of a result.
var hyphenSafe = regexp.MustCompile(`^[a-z0-9]+([.-][a-z0-9]+)*$`)

// check returns the broken rules of p.
func (p Policy) check() (broken []fault.Field) {
	enforced := map[string]bool{}
	for i, r := range p.Rules {
		at := "/rules/" + strconv.Itoa(i)
		bad := func(pointer, rule, got string) {
			broken = append(broken, fault.Field{Pointer: at + pointer, Rule: rule, Got: got})
		}
		if !hyphenSafe.MatchString(r.Check) {
			bad("/check", "a check is named by lower-case letters and digits, joined by '.' or '-'", r.Check)
			continue
		}
		if r.Tier == Enforce {
			if enforced[r.Check] {
				bad("/check", "enforced twice", r.Check)
			}
			enforced[r.Check] = true
		}
		if c, known := checks[r.Check]; known {
			c.examine(r, bad)
		}
	}
	return broken
}
