package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/runner/capture"
	"writ/internal/schema"
)

// run is an accepted order, ready for its cases.
type run struct {
	suites
	order       order.Order
	identity    capture.Identity
	system      capture.Block
	tuned       capture.Block      // when the policy was judged before the first case
	environment result.Environment // without conditions
	context     map[string]canon.Value
	contexts    map[int]canon.Value // of comparison, by index in found; see compared
	warnings    []string            // for every result
	cases       []planned
	targets     []target // beside found
	origins     []origin // beside found
	artifacts   string   // directory
	lock        *os.File // on artifacts, while the run lives
	seen        string   // processors that a program of the order said it may run on
	gap         *gap     // before which other results of the order were measured
	account     account
	report      Report
	busy        time.Duration // spent on this order so far
}

// planned is one case with all its entries.
type planned struct {
	name       string
	index      int // over the cases of the order
	suite      int // index in suites.found; -1 when no suite holds the case
	entries    []order.Entry
	attempt    int // how often the case was begun before
	invocation harness.Invocation
}

// stem is the beginning of the names of the case's files.
func (c planned) stem() string {
	if c.attempt > 0 {
		return fmt.Sprintf("%04d-%d", c.index, c.attempt)
	}
	return fmt.Sprintf("%04d", c.index)
}

// quantities lists what is asked of the case.
func (c planned) quantities() []string {
	out := make([]string, len(c.entries))
	for i, e := range c.entries {
		out[i] = e.Quantity
	}
	return out
}

// accept looks at everything that can be refused. Nothing is written.
func accept(ctx context.Context, p Params) (*run, error) {
	return prepare(ctx, p, (*run).fresh)
}

// prepare gets an order ready to run. look is called as soon as it is known where
// everything will be written.
func prepare(ctx context.Context, p Params, look func(*run) error) (*run, error) {
	started := p.Now()
	s, err := find(ctx, p)
	if err != nil {
		return nil, err
	}
	r := &run{suites: s}
	if r.order, err = s.resolve(ctx); err != nil {
		return nil, err
	}
	if err := r.plan(); err != nil {
		return nil, err
	}
	if r.Dir, err = filepath.Abs(p.Dir); err != nil {
		return nil, fault.Wrap(err, fault.Internal, "run order", "no working directory")
	}
	r.artifacts = filepath.Join(r.Dir, "artifacts", r.order.Digest().Hex()[:12])
	if r.Slot != nil {
		r.artifacts = filepath.Join(r.Dir, "artifacts", "slot-"+strconv.Itoa(*r.Slot))
	}
	if err := look(r); err != nil {
		return nil, err
	}
	if err := r.identify(ctx); err != nil {
		return nil, err
	}
	if err := r.survey(ctx); err != nil {
		return nil, err
	}
	if err := r.uphold(ctx); err != nil {
		return nil, err
	}
	r.busy = p.Now().Sub(started)
	return r, nil
}

// plan groups the entries into cases, in the order of their first entry, and asks
// the harness for the command line of each. A case of no suite is one that the
// subject has lost: it gets its results like every other.
func (r *run) plan() error {
	at := map[string]int{}
	for _, e := range r.order.Plan {
		n, known := at[e.Case]
		if !known {
			n = len(r.cases)
			at[e.Case] = n
			c := planned{name: e.Case, index: n, suite: harness.Owner(r.found, e.Case)}
			if c.suite >= 0 && r.barred.reason == "" {
				var err error
				if c.invocation, err = r.harnesses[c.suite].Invocation(r.found[c.suite], r.own(c.suite, e.Case), r.order.Precision); err != nil {
					return err
				}
			}
			r.cases = append(r.cases, c)
		}
		r.cases[n].entries = append(r.cases[n].entries, e)
	}
	if !slices.ContainsFunc(r.cases, func(c planned) bool { return c.suite >= 0 }) {
		return fault.New(fault.Refused, "plan order", "no suite holds the case %q, or any other", r.cases[0].name).At("/plan/0/case")
	}
	return nil
}

// fresh refuses to write over an earlier run: its keys would be the same, with
// other content.
func (r *run) fresh() error {
	names := []string{r.artifacts}
	for _, c := range r.cases {
		for _, e := range c.entries {
			names = append(names, filepath.Join(r.Dir, r.fileName(e)))
		}
	}
	for _, n := range names {
		if _, err := os.Lstat(n); err == nil {
			return fault.New(fault.Refused, "run order", "%s is there already", n).
				Help("choose another directory, run key or slot: results are never written over; a run that was interrupted can be resumed")
		}
	}
	return nil
}

// fileName is the name of an entry's result, which follows from its keys alone.
func (r *run) fileName(e order.Entry) string {
	var d result.Result
	d.Producer = r.harnesses[max(harness.Owner(r.found, e.Case), 0)].Producer()
	d.IngestKey = result.IngestKey(r.order.RunKey, r.workload(e.Case), e.Quantity, r.Slot)
	return d.FileName()
}

func (r *run) workload(name string) result.Workload {
	return result.Workload{Name: order.Token(name), Parameters: workloadParameters(r.order)}
}

// survey records the machine and runs the collectors.
func (r *run) survey(ctx context.Context) error {
	r.environment = r.Host.Machine()
	system := map[string]canon.Value{}
	r.system = r.Host.System()
	block := maps.Clone(r.system)
	maps.Copy(block, r.Place.Facts())
	for name, o := range block {
		system[name] = canon.MustFrom(o)
	}
	collected, warnings, err := r.collect(ctx)
	if err != nil {
		return err
	}
	for name, v := range collected {
		if _, taken := system[name]; taken {
			return fault.New(fault.Refused, "run collectors", "%q is a fact of the runner's own", name).At("/collectors")
		}
		system[name] = v
	}
	r.environment.System = canon.MustFrom(system)
	r.warnings = append(r.warnings, warnings...)
	r.context = older(block, capture.Environ(r.environ, r.recorded(), r.AllowList))
	return nil
}

// recorded lists the variables that change how a harness of the order measures.
func (r *run) recorded() []string {
	var names []string
	for _, h := range r.harnesses {
		names = append(names, h.Environment()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// older spells the facts that readers of earlier results look for.
func older(block capture.Block, environ map[string]string) map[string]canon.Value {
	out := map[string]canon.Value{}
	for name, from := range map[string]string{"os": "os.name", "kernel": "kernel.release", "libc": "libc.version", "governor": "cpu.governor"} {
		if o := block[from]; o.Status == result.SeenOK {
			out[name] = o.Value
		}
	}
	if len(environ) > 0 {
		out["env"] = canon.MustFrom(environ)
	}
	return out
}

// open takes the folder, writes the order down and starts the accounting.
func (r *run) open() (err error) {
	if err := os.MkdirAll(r.artifacts, 0o755); err != nil {
		return fault.Wrap(err, fault.Internal, "run order", "cannot make %s", r.artifacts)
	}
	if r.lock, err = LockFolder(r.artifacts); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.lock.Close())
		}
	}()
	if err := writeFile(filepath.Join(r.Dir, r.order.FileName()), r.order.Value().Canonical()); err != nil {
		return err
	}
	if r.regime.named {
		if err := writeFile(r.policyFile(), r.regime.policy.Value().Canonical()); err != nil {
			return err
		}
	}
	schema.Prepare(schema.MeasurementResult) // not between the first case and the second
	r.report.Order = r.order
	r.account = newAccount(r)
	if err := r.account.save(true); err != nil {
		return err
	}
	return r.stock()
}

// stock makes the files that the cases will need: two of output each, and one for
// every result.
func (r *run) stock() (err error) {
	n := 2 * len(r.cases)
	for _, c := range r.cases {
		n += len(c.entries)
	}
	r.spares, err = makeSpares(r.artifacts, n)
	return err
}

// close ends the accounting. cause is what stopped the run, or nil.
func (r *run) close(cause error) error {
	r.account.State = stateFinished
	if cause != nil {
		r.account.State = stateInterrupted
	}
	r.account.EndedAt = stamp(r.Now())
	err := errors.Join(r.spares.clear(), r.account.save(true))
	if err == nil {
		err = flush(r.Dir)
	}
	return errors.Join(cause, err, r.lock.Close())
}

// mergeTokens sorts tokens and drops those that come twice.
func mergeTokens(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}
