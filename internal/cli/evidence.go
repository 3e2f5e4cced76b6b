package cli

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/verdict"
)

// The documents of a judgement, by the names that they have beside results.
const (
	comparisonFile = "comparison.json"
	resultSetFile  = "resultset.json"
	verdictFile    = "verdict.json"
	gateFile       = "gate.json"
)

// evidence is what a folder holds of one comparison.
type evidence struct {
	results []result.Result
	orders  []order.Order
	claimed map[string][]byte // judgement documents by file name
}

// readEvidence reads every JSON file below dir. Results, orders and the documents
// of a judgement count; files of other kinds, such as native output, are passed
// over. A file that says that it is a result or an order and is none refuses the
// whole: what is broken must not look like what is absent.
func readEvidence(dir string) (evidence, error) {
	e := evidence{claimed: map[string][]byte{}}
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() || path.Ext(name) != ".json" {
			return nil
		}
		raw, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		return e.add(name, raw)
	})
	if _, ok := fault.As(err); err != nil && !ok {
		return e, fault.Wrap(err, fault.NotFound, "read results", "%s cannot be read", dir)
	}
	return e, err
}

func (e *evidence) add(name string, raw []byte) error {
	switch path.Base(name) {
	case comparisonFile, resultSetFile, verdictFile, gateFile:
		if name != path.Base(name) {
			return nil // of another judgement, below
		}
		e.claimed[name] = raw
		return nil
	}
	v, err := canon.Parse(raw)
	if err != nil {
		return in(name, err)
	}
	version, _ := v.Get("schema_version")
	text, isText := version.String()
	switch {
	case isText && strings.HasPrefix(text, "benchx/work-order/"):
		o, err := order.Parse(raw)
		if err != nil {
			return in(name, err)
		}
		e.orders = append(e.orders, o)
	case version.Kind() == canon.Number && v.Has("measurement"):
		r, err := result.Parse(raw)
		if err != nil {
			return in(name, err)
		}
		e.results = append(e.results, r)
	}
	return nil
}

// in says which file a refusal is about.
func in(name string, err error) error {
	if f, ok := fault.As(err); ok {
		copied := *f
		copied.Public = name + ": " + f.Public
		return copied.With("file", name)
	}
	return err
}

type judgeOptions struct {
	results, policy, runKey, baseline string
	contender                         string // tree of the checkout in front, "" when none was asked about
}

// judged is a judgement with the policy it was made under.
type judged struct {
	verdict.Outcome
	policy   verdict.GatePolicy
	measured bool // any process of any case succeeded
}

// judge judges what the folder holds, and holds the documents that are kept
// beside the results against what follows from them.
func (o judgeOptions) judge() (j judged, err error) {
	if j.policy, err = readPolicy(o.policy); err != nil {
		return j, err
	}
	e, err := readEvidence(o.results)
	if err != nil {
		return j, err
	}
	p, err := e.params(o, j.policy)
	if err != nil {
		return j, err
	}
	if j.Outcome, err = verdict.Judge(p); err != nil {
		return j, err
	}
	j.measured = slices.ContainsFunc(p.Results, func(r result.Result) bool { return r.Measurement.Status == result.Success })
	return j, e.recheck(j.Outcome, p)
}

// nothing is the fault of a comparison in which no process gave a number; nil
// when one did.
func (j judged) nothing() error {
	if j.measured {
		return nil
	}
	e := fault.New(fault.Nothing, "judge", "no process of %s succeeded", j.Document.RunKey)
	if len(j.Document.Failed) > 0 {
		e = e.Help("the first reason: %s", j.Document.Failed[0].Detail)
	}
	return e
}

// invalid is the fault of a comparison that allows no judgement; nil for others.
func (j judged) invalid() error {
	d := j.Document
	switch {
	case d.Overall != verdict.Invalid:
		return nil
	case len(d.Failed) == 0:
		return fault.New(fault.Incomparable, "judge", "no row of %s can be judged", d.RunKey)
	}
	return fault.New(fault.Incomparable, "judge", "%s cannot be judged: %s", d.RunKey, d.Failed[0].Detail).
		With("invariant", d.Failed[0].Invariant)
}

func readPolicy(name string) (verdict.GatePolicy, error) {
	if name == "default" {
		return verdict.DefaultPolicy(), nil
	}
	raw, err := os.ReadFile(name)
	if err != nil {
		return verdict.GatePolicy{}, fault.Wrap(err, fault.Usage, "read gate policy", "%s cannot be read", name).
			Help("name a file, or default")
	}
	return verdict.ParsePolicy(raw)
}

// params finds out what was to be compared: from the options, then from the
// orders and labels. Nothing is taken from a verdict that is kept beside the
// results but the history that it cites.
func (e evidence) params(o judgeOptions, policy verdict.GatePolicy) (verdict.Params, error) {
	const op = "read results"
	p := verdict.Params{Policy: policy, RunKey: o.runKey, Baseline: o.baseline}
	keys := map[string]bool{}
	for _, r := range e.results {
		keys[r.Provenance.RunKey] = true
	}
	all := slices.Sorted(maps.Keys(keys))
	switch {
	case len(e.results) == 0:
		return p, fault.New(fault.Nothing, op, "there are no results in %s", o.results)
	case p.RunKey == "" && len(all) > 1:
		return p, fault.New(fault.Usage, op, "results of several comparisons: %s", strings.Join(all, ", ")).Help("choose one with --run-key")
	case p.RunKey == "":
		p.RunKey = all[0]
	}
	if p.RunKey == "" {
		return p, fault.New(fault.Incomparable, op, "the results name no run key")
	}
	for _, r := range e.results {
		if r.Provenance.RunKey == p.RunKey {
			p.Results = append(p.Results, r)
		}
	}
	var planned []order.Order
	for _, ord := range e.orders {
		if ord.RunKey == p.RunKey {
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
		return p, fault.New(fault.Nothing, op, "there are no results of %q in %s", p.RunKey, o.results)
	}
	if err := ordered(p.Results, planned); err != nil {
		return p, err
	}
	if err := o.contends(p.Results); err != nil {
		return p, err
	}
	var err error
	if p.Baseline == "" {
		p.Baseline, err = e.baseline(o.contender, p.Results)
	}
	p.Contender, p.Sigma = o.contender, e.sigma()
	return p, err
}

// ordered checks that the orders which results came of are there: without its
// order nobody can tell that a case is missing.
func ordered(results []result.Result, orders []order.Order) error {
	for _, r := range results {
		ref := r.WorkOrder()
		if ref != "" && !slices.ContainsFunc(orders, func(o order.Order) bool { return o.Ref() == ref }) {
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

// baseline finds the tree that everything is held against: the one beside the
// checkout in front, the one that results are labelled with, or the one that the
// kept comparison names.
func (e evidence) baseline(contender string, results []result.Result) (string, error) {
	trees, labelled := map[string]bool{}, map[string]bool{}
	for _, r := range results {
		trees[r.Provenance.SubjectTree] = true
		if r.Provenance.Labels["side"] == "baseline" {
			labelled[r.Provenance.SubjectTree] = true
		}
	}
	if contender != "" && len(trees) == 2 {
		delete(trees, contender)
		return slices.Collect(maps.Keys(trees))[0], nil
	}
	if len(labelled) == 1 {
		return slices.Collect(maps.Keys(labelled))[0], nil
	}
	if v, err := canon.Parse(e.claimed[comparisonFile]); err == nil && v.Str("baseline") != "" {
		return v.Str("baseline"), nil
	}
	return "", fault.New(fault.Usage, "read results", "nothing says which side is the baseline").
		Help("name it with --baseline TREE: one of %s", strings.Join(slices.Sorted(maps.Keys(trees)), ", "))
}

// sigma hands on the spread of earlier comparisons that a kept verdict cites. It
// only says how small an effect could have been seen, and decides no word.
func (e evidence) sigma() func(verdict.Pair) (float64, bool) {
	known := map[string]float64{}
	if d, _, err := verdict.ParseVerdict(e.claimed[verdictFile]); err == nil {
		for _, r := range d.Rows {
			if r.Sigma != nil {
				known[nameOf(verdict.Pair{Workload: r.Workload, Parameters: r.Parameters, Quantity: r.Quantity})] = *r.Sigma
			}
		}
	}
	if len(known) == 0 {
		return nil
	}
	return func(p verdict.Pair) (float64, bool) { sd, ok := known[nameOf(p)]; return sd, ok }
}

func nameOf(p verdict.Pair) string {
	return string(canon.MustFrom([]any{p.Workload, p.Parameters, p.Quantity}).Canonical())
}

// recheck holds the kept documents against what was judged here, byte for byte,
// and against what package verdict makes of their own parameters.
func (e evidence) recheck(o verdict.Outcome, p verdict.Params) error {
	kept := 0
	for _, d := range []struct {
		file string
		made []byte
	}{
		{resultSetFile, o.ResultSet.Canonical()}, {comparisonFile, o.Comparison.Canonical()}, {verdictFile, o.Verdict.Canonical()},
	} {
		raw, ok := e.claimed[d.file]
		if !ok {
			continue
		}
		kept++
		if !slices.Equal(raw, d.made) {
			return fault.New(fault.Evidence, "recheck verdict", "%s does not follow from the results under policy %s %s", d.file, p.Policy.Name, p.Policy.Version).
				With("file", d.file).Help("it was judged under other parameters, or was changed; judge again without it")
		}
	}
	if kept < 3 {
		return nil
	}
	return verdict.Recheck(verdict.Claimed{
		Comparison: e.claimed[comparisonFile], ResultSet: e.claimed[resultSetFile], Verdict: e.claimed[verdictFile], Gate: e.claimed[gateFile],
	}, p.Results, p.Policy)
}
