package cli

import (
	"maps"
	"slices"
	"strings"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/verdict"
)

func profileNames() []string {
	return []string{string(verdict.Revisions), string(verdict.Environments), string(verdict.Variants), string(verdict.CrossMachine)}
}

// params finds out what was to be compared: from the options, then from the
// orders, labels and the kept comparison. Nothing is taken from a verdict that is
// kept beside the results but the history that it cites.
func (e evidence) params(o judgeOptions, policy verdict.GatePolicy) (verdict.Params, error) {
	p := verdict.Params{Policy: policy, Contender: o.contender, Sigma: e.sigma(), Baseline: o.baseline}
	keys, err := e.keys(o)
	if err != nil {
		return p, err
	}
	p.RunKey = strings.Join(keys, "+")
	other := func(r result.Result) bool { return !slices.Contains(keys, r.Provenance.RunKey) }
	if p.Results = e.results; slices.ContainsFunc(e.results, other) {
		p.Results = slices.DeleteFunc(slices.Clone(e.results), other)
	}
	var planned []order.Order
	for _, ord := range e.orders {
		if slices.Contains(keys, ord.RunKey) {
			planned = append(planned, ord)
			if ord.Round != nil {
				p.Rounds = max(p.Rounds, *ord.Round+1)
			}
		}
	}
	if len(planned) > 0 {
		p.Planned = verdict.Planned(planned...)
	}
	if len(p.Results) == 0 {
		return p, fault.New(fault.Nothing, "read results", "there are no results of %q in %s", p.RunKey, strings.Join(o.results, " and "))
	}
	if err := ordered(p.Results, planned); err != nil {
		return p, err
	}
	if p.Policy, err = staged(p); err != nil {
		return p, err
	}
	inRounds := p.Rounds > 0 || slices.ContainsFunc(p.Results, func(r result.Result) bool { return r.Procedure.Round != nil })
	if p.Unpaired = len(keys) > 1 || !inRounds; p.Unpaired {
		p.Rounds = 0
	}
	if o.profile == singleRun {
		return p, nil
	}
	if err := e.sides(o, &p); err != nil {
		return p, err
	}
	if err := o.contends(p.Results); err != nil {
		return p, err
	}
	if p.Baseline == "" {
		p.Baseline, err = e.baseline(o.contender, p)
	}
	return p, err
}

// staged is the policy of the look that the results are: those of a comparison which
// was registered with two stages say so, all of them alike.
func staged(p verdict.Params) (verdict.GatePolicy, error) {
	said := p.Results[0].Provenance.Labels[verdict.LabelStages]
	for _, r := range p.Results {
		if r.Provenance.Labels[verdict.LabelStages] != said {
			return p.Policy, fault.New(fault.Incomparable, "read results", "%s was measured by other stages than %s", r.IngestKey, p.Results[0].IngestKey)
		}
	}
	if said == "" {
		return p.Policy, nil
	}
	s, err := verdict.ParseStages(said)
	if err != nil {
		return p.Policy, err
	}
	return s.At(p.Policy, s.Look(p.Rounds)), nil
}

// keys are the run keys that are looked at.
func (e evidence) keys(o judgeOptions) ([]string, error) {
	const op = "read results"
	found := map[string]bool{}
	for _, r := range e.results {
		found[r.Provenance.RunKey] = true
	}
	all := slices.Sorted(maps.Keys(found))
	switch {
	case len(e.results) == 0:
		return nil, fault.New(fault.Nothing, op, "there are no results in %s", strings.Join(o.results, " and "))
	case len(o.runKeys) > 0:
		return o.runKeys, nil
	case len(all) > 1:
		return nil, fault.New(fault.Usage, op, "results of several comparisons: %s", strings.Join(all, ", ")).
			Help("choose one with --run-key, or name two of them to compare one with the other")
	case all[0] == "":
		return nil, fault.New(fault.Incomparable, op, "the results name no run key")
	}
	return all, nil
}

// sides finds out what tells the sides apart.
func (e evidence) sides(o judgeOptions, p *verdict.Params) error {
	kept, _ := canon.Parse(e.claimed[comparisonFile]) // null when there is none
	p.Profile = verdict.Profile(o.profile)
	switch {
	case o.profile == "" && o.label != "":
		p.Profile = verdict.Environments
	case o.profile == "" && kept.Str("profile") != "":
		p.Profile, p.Varying = verdict.Profile(kept.Str("profile")), kept.Str("varying")
	case o.profile == "":
		p.Profile = verdict.Revisions
	}
	switch {
	case !slices.Contains(o.profiles, string(p.Profile)):
		return fault.New(fault.Usage, "read results", "there is no profile %q", p.Profile).Help("one of %s", strings.Join(o.profiles, ", "))
	case o.label != "" && p.Profile != verdict.Environments:
		return fault.New(fault.Usage, "read results", "only environments are told apart by a label")
	case o.label != "":
		p.Varying = verdict.VaryingLabel(o.label)
	case p.Profile == verdict.Environments && p.Varying == "":
		return fault.New(fault.Usage, "read results", "nothing says which label tells the environments apart").Help("name it with --label")
	case o.contender != "" && p.Profile != verdict.Revisions:
		return fault.New(fault.Usage, "read results", "a checkout can only be one side of two revisions")
	}
	return nil
}

// ordered checks that the orders which results came of are there: without its
// order nobody can tell that a case is missing.
func ordered(results []result.Result, orders []order.Order) error {
	known := map[string]bool{}
	for _, o := range orders {
		known[o.Ref()] = true
	}
	for _, r := range results {
		if ref := r.WorkOrder(); ref != "" && !known[ref] {
			return fault.New(fault.Incomparable, "read results", "the order %s of result %s is not in the folder", ref, r.IngestKey).
				Help("keep the order beside its results: what it planned must not be missing unseen")
		}
	}
	return nil
}

// contends checks that the checkout in front is what was measured.
func (o judgeOptions) contends(results []result.Result) error {
	if o.contender == "" || slices.ContainsFunc(results, func(r result.Result) bool { return r.Provenance.SubjectTree == o.contender }) {
		return nil
	}
	return fault.New(fault.Incomparable, "read results", "the checkout is tree %s, and the results are of other trees", o.contender).
		With("tree", o.contender).Help("measure this tree: what was measured is not what would land")
}

// baseline finds the side that everything is held against: the one beside the
// checkout in front, the one that results are labelled with or that is called
// baseline, or the one that the kept comparison names.
func (e evidence) baseline(contender string, p verdict.Params) (string, error) {
	const name = "baseline"
	values, labelled := map[string]bool{}, map[string]bool{}
	for i := range p.Results {
		r := &p.Results[i]
		v := p.Side(r)
		values[v] = true
		if r.Provenance.Labels["side"] == name || v == name {
			labelled[v] = true
		}
	}
	if contender != "" && len(values) == 2 {
		delete(values, contender)
		return slices.Collect(maps.Keys(values))[0], nil
	}
	if len(labelled) == 1 {
		return slices.Collect(maps.Keys(labelled))[0], nil
	}
	if v, err := canon.Parse(e.claimed[comparisonFile]); err == nil && v.Str(name) != "" {
		return v.Str(name), nil
	}
	return "", fault.New(fault.Usage, "read results", "nothing says which side is the baseline").
		Help("name it with --baseline: one of %s", strings.Join(slices.Sorted(maps.Keys(values)), ", "))
}

// unreported says what orders plan and no result reports on either side, which
// the paired-relative rule knows nothing of.
func (e evidence) unreported(p verdict.Params) (out []string) {
	seen := map[string]bool{}
	for _, r := range p.Results {
		w := r.Coordinates.Workload
		seen[nameOf(verdict.Pair{Workload: w.Name, Parameters: w.Parameters, Quantity: r.Coordinates.Quantity.Name})] = true
	}
	for _, pair := range p.Planned {
		if !seen[nameOf(pair)] {
			out = append(out, "planned: "+pair.Workload+" "+pair.Quantity+" has no result on either side")
		}
	}
	return out
}
