package runner

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/policy"
	"writ/internal/result"
	"writ/internal/runner/capture"
)

// What a rule of a policy comes to.
const (
	WouldSet   = "set"    // it is set on each measured process
	WouldHold  = "holds"  // verified, now
	WouldFail  = "fails"  // verified, now
	WouldNote  = "noted"  // recorded
	WouldWait  = "later"  // judged when there is something to judge
	WouldBlock = "unable" // this runner refuses orders with this policy
)

// Prospect is what one rule of a policy comes to on this machine.
type Prospect struct {
	Rule  policy.Rule
	State string
	Says  string
}

// Outlook looks at the machine and says for each rule of a policy what it would
// come to now. tree is the checkout that rules about the subject look at; "" when
// there is none. Dir and Order of the parameters are not used.
func Outlook(ctx context.Context, p Params, pol policy.Policy, tree string) ([]Prospect, error) {
	p, done, err := p.settle(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	r := &run{suites: suites{Params: p, regime: regime{policy: pol, named: true, settings: pol.Settings()}}}
	r.environ = capture.Merge(p.Place.Environ(), r.regime.settings.Variables())
	r.system, r.tuned = r.Host.System(), r.Host.Tuning(result.Before)
	if tree != "" {
		if tree, err = filepath.Abs(tree); err != nil {
			return nil, fault.Wrap(err, fault.Internal, "look at policy", "no working directory")
		}
		if r.identity, err = r.checkout(ctx, tree); err != nil {
			return nil, err
		}
	}
	facts := r.facts(r.Host.Condition(result.Before).Block)
	if t, source, err := r.Host.Temperature(nil); err == nil {
		facts[policy.FactTemperature] = result.Saw(canon.MustFrom(t), "Cel", result.Before, source)
	}
	var out []Prospect
	for _, rule := range pol.Rules {
		single := policy.Policy{Name: pol.Name, Version: pol.Version, Rules: []policy.Rule{rule}}
		x := Prospect{Rule: rule}
		switch {
		case single.Unhandled() >= 0:
			x.State, x.Says = WouldBlock, "this runner has nothing that looks after it"
		case rule.Tier == policy.Enforce:
			x.State, x.Says = r.tryOut(ctx, single.Settings())
		case rule.Tier == policy.Record:
			x.State, x.Says = WouldNote, spoken(facts, single.Looks())
		case rule.Check == policy.TreeClean && tree == "":
			x.State, x.Says = WouldWait, "judged on the checkout of the target"
		case rule.Check == policy.Throttle:
			x.State, x.Says = WouldWait, "judged after each case, by what was added to: "+strings.Join(single.Looks(), ", ")
		default:
			x.State, x.Says = WouldHold, spoken(facts, single.Looks())
			if failures := single.Judge(policy.Start|policy.Case, facts); len(failures) > 0 {
				x.State, x.Says = WouldFail, failures[0].Why
			}
		}
		out = append(out, x)
	}
	return out, nil
}

// tryOut puts the settings of one rule into effect on a program that does nothing.
func (r *run) tryOut(ctx context.Context, s policy.Settings) (state, says string) {
	if s.Device+s.Sync != "" {
		r.regime.settings.Device, r.regime.settings.Sync = s.Device, s.Sync
		if _, why := r.missesDevice(); why != "" {
			return WouldFail, why
		}
	}
	if s.CPUs == "" {
		var parts []string
		variables := s.Variables()
		for _, name := range slices.Sorted(maps.Keys(variables)) {
			parts = append(parts, name+"="+variables[name])
		}
		return WouldSet, strings.Join(parts, " ")
	}
	taskset, ok := lookPath("taskset", r.Place.Environ(), "/")
	if !ok {
		return WouldBlock, "the taskset program is missing"
	}
	r.regime.settings.CPUs, r.regime.launcher = s.CPUs, []string{taskset, "-c", s.CPUs}
	if why := r.proveAffinity(ctx); why != "" {
		return WouldFail, why
	}
	return WouldSet, "processors " + s.CPUs + ", read back from the kernel"
}

// spoken lists facts for people.
func spoken(facts policy.Facts, names []string) string {
	var parts []string
	for _, name := range names {
		o, known := facts[name]
		switch {
		case !known || o.Status != result.SeenOK:
			parts = append(parts, name+" cannot be read here")
		default:
			text, isText := o.Value.String()
			if !isText {
				text = string(o.Value.Canonical())
			}
			parts = append(parts, name+" is "+text)
		}
	}
	return strings.Join(parts, ", ")
}
