package cli

import (
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

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
	earlier earlier
}

// readEvidence reads every JSON file below the folders. Results, orders and the
// documents of a judgement count, the last only when there is one folder; files of
// other kinds, such as native output, are passed over. A file that says that it is
// a result or an order and is none refuses the whole: what is broken must not look
// like what is absent.
func readEvidence(dirs ...string) (evidence, error) {
	e := evidence{claimed: map[string][]byte{}}
	for _, dir := range dirs {
		err := e.folder(os.DirFS(dir))
		if _, ok := fault.As(err); err != nil && !ok {
			return e, fault.Wrap(err, fault.NotFound, "read results", "%s cannot be read", dir)
		}
		if err != nil {
			return e, err
		}
	}
	if len(dirs) > 1 {
		clear(e.claimed)
	}
	return e, nil
}

// folder reads its files side by side and takes them in the order of their names,
// so that the first broken one is the one that is told about.
func (e *evidence) folder(root fs.FS) error {
	var names []string
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && path.Ext(name) == ".json" {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		return err
	}
	found := make([]document, len(names))
	var next atomic.Int64
	var readers sync.WaitGroup
	var shared result.Pool
	for range min(runtime.GOMAXPROCS(0), len(names)) {
		readers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(names); i = int(next.Add(1)) - 1 {
				found[i].read(root, names[i], &shared)
			}
		})
	}
	readers.Wait()
	count := 0
	for _, d := range found {
		if d.result != nil {
			count++
		}
	}
	e.results = slices.Grow(e.results, count)
	for i, d := range found {
		switch {
		case d.err != nil:
			return d.err
		case d.claimed != nil:
			e.claimed[names[i]] = d.claimed
		case d.order != nil:
			e.orders = append(e.orders, *d.order)
		case d.result != nil:
			e.results = append(e.results, *d.result)
		}
	}
	return nil
}

// document is what one file holds; nothing when it does not count.
type document struct {
	claimed []byte
	order   *order.Order
	result  *result.Result
	err     error
}

func (d *document) read(root fs.FS, name string, shared *result.Pool) {
	raw, err := fs.ReadFile(root, name)
	if err != nil {
		d.err = err
		return
	}
	switch path.Base(name) {
	case comparisonFile, resultSetFile, verdictFile, gateFile:
		if name == path.Base(name) { // else of another judgement, below
			d.claimed = raw
		}
		return
	}
	v, err := canon.Parse(raw)
	if err != nil {
		d.err = in(name, err)
		return
	}
	version, _ := v.Get("schema_version")
	text, isText := version.String()
	switch {
	case isText && strings.HasPrefix(text, "benchx/work-order/"):
		o, err := order.Parse(raw)
		d.order, d.err = &o, in(name, err)
	case version.Kind() == canon.Number && v.Has("measurement"):
		r, err := result.Accept(v, raw)
		if d.result, d.err = &r, in(name, err); err == nil {
			shared.Share(d.result)
		}
	}
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
	results, runKeys                 []string
	policy, profile, label, baseline string
	noise, noiseDir                  string   // file, noNoise or "", and where files are looked for
	contender                        string   // tree of the checkout in front, "" when none was asked about
	profiles                         []string // that the command offers
	store                            string   // whose history is shown; "" shows none
	look                             func([]result.Result) (earlier, error)
}

// judged is a judgement with the policy it was made under.
type judged struct {
	verdict.Outcome
	policy  verdict.GatePolicy
	results []result.Result
	earlier earlier
}

// report is the judgement made ready to be shown, with what was seen before.
func (j judged) report() verdict.Report { return j.earlier.annotate(j.Report()) }

// judge judges what the folder holds, and holds the documents that are kept
// beside the results against what follows from them.
func (o judgeOptions) judge() (j judged, err error) {
	e, p, err := o.evidence()
	if err != nil {
		return j, err
	}
	j.policy, j.results, j.earlier = p.Policy, p.Results, e.earlier
	if j.Outcome, err = verdict.Judge(p); err != nil {
		return j, err
	}
	return j, e.recheck(j.Outcome, p)
}

// evidence reads the folders and finds out what was to be compared.
func (o judgeOptions) evidence() (e evidence, p verdict.Params, err error) {
	policy, err := readPolicy(o.policy)
	if err != nil {
		return e, p, err
	}
	if e, err = readEvidence(o.results...); err != nil {
		return e, p, err
	}
	if p, err = e.params(o, policy); err != nil || o.profile == singleRun {
		return e, p, err
	}
	if o.look != nil {
		if e.earlier, err = o.look(p.Results); err != nil {
			return e, p, err
		}
	}
	if _, kept := e.claimed[verdictFile]; !kept { // else it must be the noise that the kept verdict cites
		r := p.Results[0]
		p.Sigma, err = o.sigma(noiseOf(r.Coordinates.Environment, r.Provenance.Runner, p.Policy), r.Coordinates.ComparisonContext, p.Policy)
		if o.look != nil && o.noise != noNoise {
			p.Sigma = e.earlier.sigma(p.Sigma)
		}
	}
	return e, p, err
}

// nothing is the fault of a comparison in which no process gave a number; nil
// when one did.
func (j judged) nothing() error {
	reason := ""
	if len(j.Document.Failed) > 0 {
		reason = j.Document.Failed[0].Detail
	}
	return nothingOf(j.results, j.Document.RunKey, reason)
}

func nothingOf(results []result.Result, runKey, reason string) error {
	if slices.ContainsFunc(results, func(r result.Result) bool { return r.Measurement.Status == result.Success }) {
		return nil
	}
	e := fault.New(fault.Nothing, "judge", "no process of %s succeeded", runKey)
	if reason != "" {
		e = e.Help("the first reason: %s", reason)
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
