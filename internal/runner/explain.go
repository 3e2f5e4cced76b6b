package runner

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/order"
	"writ/internal/result"
)

// Paragraph says what one field of an order comes to on this machine.
type Paragraph struct {
	Pointer string
	Says    string
	Refused bool
}

// Explain says for every field of an order what it would do here, in the order in
// which a run goes, and which fields this runner would refuse. Nothing is measured:
// programs that have to be asked about themselves are asked, and the subject is
// looked at.
func Explain(ctx context.Context, p Params) ([]Paragraph, error) {
	p, done, err := p.settle(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	s, err := find(ctx, p)
	if fault.CodeOf(err) == fault.Cancelled || fault.CodeOf(err) == fault.Internal {
		return nil, err
	}
	x := explainer{suites: s, refused: map[string]string{}}
	if e, ok := fault.As(err); ok {
		for _, f := range e.Fields {
			x.refused[f.Pointer] = f.Rule
		}
		if len(e.Fields) == 0 {
			x.refused[e.Pointer] = e.Public
		}
	}
	x.found = err == nil
	x.what(ctx)
	x.how(ctx)
	x.whom()
	for _, pointer := range slices.Sorted(maps.Keys(x.refused)) { // what no paragraph is about
		x.out = append(x.out, Paragraph{pointer, x.refused[pointer], true})
	}
	return x.out, nil
}

type explainer struct {
	suites
	found   bool
	refused map[string]string // rules by pointer; those that were told are gone
	out     []Paragraph
}

// say adds a paragraph. Refusals at the field, or inside it, take its place.
func (x *explainer) say(pointer, format string, args ...any) {
	for _, at := range slices.Sorted(maps.Keys(x.refused)) {
		if at == pointer || strings.HasPrefix(at, pointer+"/") {
			x.out = append(x.out, Paragraph{at, x.refused[at], true})
			delete(x.refused, at)
			return
		}
	}
	x.out = append(x.out, Paragraph{pointer, fmt.Sprintf(format, args...), false})
}

// what is measured, and at what.
func (x *explainer) what(ctx context.Context) {
	o := x.Order
	if o.State == order.Draft {
		x.say("/state", "a draft: the suites are asked for their cases, the plan of all cases and quantities is fixed and written down, and only then is anything measured")
	} else {
		x.say("/state", "resolved: the plan of %d entries is fixed, nothing is listed", len(o.Plan))
	}
	for i, su := range o.Suites {
		x.suite(fmt.Sprintf("/suites/%d", i), i, su)
	}
	var names []string
	for _, q := range o.Quantities {
		names = append(names, quantityWords(q))
	}
	x.say("/quantities", "one result for each case and each of: %s", strings.Join(names, "; "))
	x.target(ctx)
	if b := o.Benchmark; b != nil {
		words := "the suite's content stands for its revision"
		if b.Revision != "" {
			words = "where the suite lies in a checkout of its own, that must be at " + b.Revision + "; else the revision is taken on trust, with a warning"
		}
		x.say("/benchmark", "the benchmark code is from %s: %s", b.Source.URI, words)
	} else {
		x.say("/benchmark", "not given: the benchmark code is part of the subject")
	}
	for i, c := range o.Components {
		x.say(fmt.Sprintf("/components/%d", i), "recorded as the part %s of the subject, from %s at %s", c.Role, c.Source.URI, c.Revision)
	}
	if o.Build != nil {
		x.say("/build", "recorded as the declared configuration of the subject; nothing is built")
	}
}

func quantityWords(name string) string {
	q, known := result.Known(name)
	switch {
	case !known:
		return name
	case q.Direction == "":
		return name + " in " + q.Unit
	}
	return name + " in " + q.Unit + ", " + strings.ReplaceAll(q.Direction, "-", " ")
}

func (x *explainer) suite(at string, i int, su order.Suite) {
	var selects string
	switch {
	case su.Filter != "":
		selects = "cases that the harness selects by " + su.Filter
	case len(su.Include) > 0:
		selects = "cases that match " + strings.Join(su.Include, " or ")
	default:
		selects = "all its cases"
	}
	if len(su.Exclude) > 0 {
		selects += ", but for " + strings.Join(su.Exclude, " and ")
	}
	if !x.found {
		x.say(at, "%s measures %s: %s", su.Adapter, su.Suite, selects)
		return
	}
	f := x.suites.found[i]
	x.say(at, "%s %s measures %s with %s, in %s: %s", su.Adapter, f.Version, su.Suite, f.Program, f.Dir, selects)
	if len(su.Parameters.Members()) > 0 {
		x.say(at+"/parameters", "settings of the harness: %s", su.Parameters.Canonical())
	}
}

func (x *explainer) target(ctx context.Context) {
	t := x.Order.Target
	says := ""
	switch t.Kind {
	case order.Artifact:
		says = fmt.Sprintf("the file %s, if its digest is %.12s…, looked at again before every round; that it is revision %s is taken on trust, with a warning", t.URI, t.SHA256, t.Revision)
	default:
		says = "the " + strings.ReplaceAll(t.Kind, "_", " ") + " at " + x.placed.Target.Path + ", as it is found"
		if x.found {
			says += "; " + x.subjectWords(ctx)
		}
	}
	x.say("/target", "%s", says)
	if declared := t.Declared(); len(declared) > 0 {
		x.say("/target/how_built", "what is declared about the preparation is recorded, and never run: %s", strings.Join(slices.Sorted(maps.Keys(declared)), ", "))
	}
}

// subjectWords says what the subject is at this moment.
func (x *explainer) subjectWords(ctx context.Context) string {
	r := &run{suites: x.suites, order: x.Order}
	if err := r.identify(ctx); err != nil {
		if e, ok := fault.As(err); ok {
			x.refused["/target"] = e.Public
		}
		return "it cannot be identified"
	}
	return fmt.Sprintf("revision %s, %s", r.identity.Revision, r.identity.Dirty)
}

// how it is measured.
func (x *explainer) how(ctx context.Context) {
	o := x.Order
	for i, c := range o.Collectors {
		words := "its facts are recorded in the environment of every result"
		if c.Verify != "" || c.Expect.Kind() == canon.Object {
			words += "; a fact that is not as expected " + map[bool]string{true: "is a warning", false: "refuses the order"}[c.OnFail == "warn"]
		}
		x.say(fmt.Sprintf("/collectors/%d", i), "before the cases %q is run as %s: %s", c.Command, c.Name, words)
	}
	x.precision()
	if s := o.Schedule; s != nil {
		x.say("/schedule", "recorded: %s; whoever drives the sides of a comparison keeps it", s.Kind)
	}
	x.say("/timeouts", "a case has %g s with all its repetitions, the order %g s; what is over is stopped with all its processes, and is an error in the results", o.Timeouts.CaseS, o.Timeouts.OrderS)
	x.environment(ctx)
	if names := slices.Sorted(maps.Keys(o.EnvironmentVariables)); len(names) > 0 {
		x.say("/environment_variables", "set on every program of the order, and part of what the workload is: %s", strings.Join(names, ", "))
	}
	if names := slices.Sorted(maps.Keys(o.WorkloadParameters)); len(names) > 0 {
		x.say("/workload_parameters", "passed to the harness, and part of what the workload is: %s", strings.Join(names, ", "))
	}
}

func (x *explainer) precision() {
	if len(x.harnesses) < len(x.Order.Suites) {
		x.say("/precision", "depends on the adapter")
		return
	}
	for i, h := range x.harnesses {
		protocol, err := x.Order.Precision.Protocol(h.Defaults())
		switch {
		case err != nil:
			x.say("/precision", "%v", err)
		case i > 0 && x.Order.Suites[i].Adapter == x.Order.Suites[i-1].Adapter: // said already
		default:
			x.say("/precision", "one process per case of %s, with %s", x.Order.Suites[i].Adapter, protocol.Canonical())
		}
	}
}

func (x *explainer) environment(ctx context.Context) {
	ref := x.Order.EnvironmentPolicy
	if ref == nil {
		x.say("/environment_policy", "not given: nothing is set and nothing is demanded; the machine is recorded")
		return
	}
	pol, err := x.Policies.Find(ref.Name, ref.Version)
	if err != nil {
		x.say("/environment_policy", "policy %s version %s is not known here", ref.Name, ref.Version)
		return
	}
	prospects, err := Outlook(ctx, x.Params, pol, "")
	if err != nil {
		x.say("/environment_policy", "policy %s: %v", pol.Ref(), err)
		return
	}
	var parts []string
	for _, p := range prospects {
		parts = append(parts, p.Rule.Check+" "+p.State+": "+p.Says)
	}
	x.say("/environment_policy", "policy %s. %s", pol.Ref(), strings.Join(parts, ". "))
}

// whom it is for.
func (x *explainer) whom() {
	o := x.Order
	if o.Project == "" {
		x.say("/project", "not given: results are compared within this run and join no series")
	} else {
		x.say("/project", "results belong to the series of %s", o.Project)
	}
	x.say("/run_key", "%s ties the orders of a comparison together", o.RunKey)
	if o.Round != nil {
		x.say("/round", "recorded: results are paired with those of the other side in round %d", *o.Round)
	}
	if len(o.Labels) > 0 {
		x.say("/labels", "recorded in every result: %s", strings.Join(slices.Sorted(maps.Keys(o.Labels)), ", "))
	}
	x.say("/requester", "recorded: %s %s", o.Requester.Kind, o.Requester.Name)
	if o.Reason != "" {
		x.say("/reason", "recorded: %s", o.Reason)
	}
}
