package runner

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/order"
	"writ/internal/runner/capture"
	"writ/internal/runner/proc"
)

// suites is an order with its harnesses and the programs that it names.
type suites struct {
	Params
	harnesses []harness.Harness // beside the suites of the order
	renamed   []bool            // beside found: the label is the runner's, and the harness does not know it
	regime    regime
	placed    order.Order // with absolute paths, and what the policy sets
	found     []harness.Suite
	barred    barred
	environ   []string // of every program of the order
	spares    *spares  // nil until the run is open
}

// find checks that the harness and this runner honour the order, and locates its
// suites. Nothing is started but the programs of suites that have to be asked
// about themselves.
func find(ctx context.Context, p Params) (suites, error) {
	s := suites{Params: p}
	var err error
	for i, su := range p.Order.Suites {
		h, err := p.Harnesses.Find(su.Adapter)
		if err != nil {
			return s, at(err, i)
		}
		s.harnesses = append(s.harnesses, h)
	}
	if err := order.Check(p.Order, s.capabilities()...); err != nil {
		return s, err
	}
	if s.regime, err = govern(p, s.capabilities()); err != nil {
		return s, err
	}
	if s.placed, err = locate(p.Order); err != nil {
		return s, err
	}
	s.placed.EnvironmentVariables = s.variables()
	labels := map[string]bool{}
	for i, su := range p.Order.Suites {
		one, err := s.harnesses[i].Locate(s.placed, su)
		if err != nil {
			return s, at(err, i)
		}
		if one.SourceDir == "" && s.placed.Target.Kind == order.WorkingTree {
			one.SourceDir = s.placed.Target.Path
		}
		if one.SourceDir == "" {
			one.SourceDir = filepath.Dir(one.Program)
		}
		rename := one.Label == "" && len(p.Order.Suites) > 1
		if rename {
			one.Label = su.Suite
		}
		if labels[one.Label] {
			return s, fault.New(fault.Refused, "locate suites", "two suites hold %q", one.Label).At("/suites/" + strconv.Itoa(i))
		}
		labels[one.Label] = true
		s.found, s.renamed = append(s.found, one), append(s.renamed, rename)
	}
	s.environ = capture.Merge(p.Place.Environ(), s.variables())
	if err := s.attest(); err != nil || s.barred.reason != "" {
		return s, err
	}
	return s, s.probe(ctx)
}

// variables are what is set on every program of the order: by the order itself,
// and by its policy.
func (s suites) variables() map[string]string {
	out := maps.Clone(s.Order.EnvironmentVariables)
	if v := s.regime.settings.Variables(); v != nil {
		maps.Copy(v, out)
		out = v
	}
	return out
}

// probe asks the programs of suites about themselves, where the harness needs it.
func (s suites) probe(ctx context.Context) (err error) {
	const op = "probe suites"
	scratch, err := os.MkdirTemp("", "writ-probe-")
	if err != nil {
		return fault.Wrap(err, fault.Internal, op, "no temporary directory")
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	for i, su := range s.found {
		prober, ok := s.harnesses[i].(harness.Prober)
		if !ok {
			continue
		}
		var told []harness.Output
		for j, inv := range prober.Probes(su) {
			out, err := s.launch(ctx, inv, filepath.Join(scratch, strconv.Itoa(i)+"-"+strconv.Itoa(j)), seconds(s.Order.Timeouts.CaseS))
			if err != nil {
				return refusal(ctx, err, op)
			}
			if out.Result.Cause == proc.Cancelled {
				return refusal(ctx, ctx.Err(), op)
			}
			told = append(told, out)
		}
		if s.found[i], err = prober.Settle(su, told); err != nil {
			return at(err, i)
		}
	}
	return nil
}

// capabilities are those of the harnesses of the order, each once, with what the
// runner does around every harness.
func (s suites) capabilities() []order.Capabilities {
	var all []order.Capabilities
	for _, h := range s.harnesses {
		if c := s.around(h.Capabilities()); !slices.ContainsFunc(all, func(o order.Capabilities) bool { return o.Adapter == c.Adapter }) {
			all = append(all, c)
		}
	}
	return all
}

func (s suites) around(c order.Capabilities) order.Capabilities {
	c.ManySuites = true
	c.Collectors = s.AllowCollectors
	c.BuildFacts = true
	c.Components = true
	c.Policy = true
	c.Benchmark = true
	c.Include = true
	if slices.Contains(c.Targets, order.BuildTree) {
		c.Targets = append(slices.Clone(c.Targets), order.Artifact)
	}
	c.Schedules = []string{order.Sequential, order.Alternating, order.Random} // recorded; kept by whoever drives several orders
	return c
}

// at turns the pointer of an error about the first suite into one about suite i.
func at(err error, i int) error {
	if e, ok := fault.As(err); ok && i > 0 {
		e.Pointer = strings.Replace(e.Pointer, "/suites/0/", "/suites/"+strconv.Itoa(i)+"/", 1)
	}
	return err
}

// own is what the harness of suite i calls a planned case.
func (s suites) own(i int, name string) string {
	if s.renamed[i] {
		return s.found[i].Bare(name)
	}
	return name
}

func expand(path, home string) string {
	if home == "" || path != "~" && !strings.HasPrefix(path, "~/") {
		return path
	}
	return filepath.Join(home, strings.TrimPrefix(path, "~"))
}

// resolve fixes the plan of a draft. A resolved order stays as it is.
func (s suites) resolve(ctx context.Context) (order.Order, error) {
	if s.Order.State == order.Resolved {
		return s.Order, nil
	}
	cases, err := s.list(ctx)
	if err != nil {
		return order.Order{}, err
	}
	return order.Resolve(s.Order, cases)
}

// list asks every suite for its cases.
func (s suites) list(ctx context.Context) (cases []order.Case, err error) {
	scratch, err := os.MkdirTemp("", "writ-list-")
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "list cases", "no temporary directory")
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	deadline := s.Now().Add(seconds(s.Order.Timeouts.OrderS))
	for i, su := range s.found {
		var outs []harness.Output
		for j, inv := range s.harnesses[i].Listing(su) {
			out, err := s.launch(ctx, inv, filepath.Join(scratch, strconv.Itoa(i)+"-"+strconv.Itoa(j)), deadline.Sub(s.Now()))
			if err != nil {
				return nil, refusal(ctx, err, "list cases")
			}
			outs = append(outs, out)
		}
		got, err := s.harnesses[i].Cases(su, outs)
		if err != nil {
			return nil, refusal(ctx, err, "list cases")
		}
		if s.renamed[i] {
			for j := range got {
				got[j].Name = su.Label + "." + got[j].Name
			}
		}
		if got, err = pick(i, s.Order.Suites[i], su, got); err != nil {
			return nil, err
		}
		cases = append(cases, got...)
	}
	return cases, nil
}

// pick applies include and exclude of suite i to its listing. Patterns match the
// whole name of a case, with the suite's label or without it. A pattern of include
// that matches nothing is refused: somebody wanted that case to be measured.
func pick(i int, s order.Suite, found harness.Suite, listed []order.Case) ([]order.Case, error) {
	if len(s.Include)+len(s.Exclude) == 0 {
		return listed, nil
	}
	used := make([]bool, len(s.Include))
	var out []order.Case
	for _, c := range listed {
		matches := func(pattern string) bool {
			return order.Match(pattern, c.Name) || order.Match(pattern, found.Bare(c.Name))
		}
		from, wanted := "", len(s.Include) == 0
		for j, pattern := range s.Include {
			if matches(pattern) {
				used[j] = true
				if !wanted {
					from, wanted = pattern, true
				}
			}
		}
		if wanted && !slices.ContainsFunc(s.Exclude, matches) {
			out = append(out, order.Case{Name: c.Name, From: from})
		}
	}
	if j := slices.Index(used, false); j >= 0 {
		return nil, fault.New(fault.Refused, "list cases", "%q matches none of %d cases", s.Include[j], len(listed)).
			At("/suites/" + strconv.Itoa(i) + "/include/" + strconv.Itoa(j)).Help("patterns match whole names; * stands for any text")
	}
	return out, nil
}

// refusal makes a failed listing what it is to the caller: a reason not to run.
func refusal(ctx context.Context, err error, op string) error {
	if ctx.Err() != nil {
		return fault.Wrap(ctx.Err(), fault.Cancelled, op, "stopped")
	}
	if e, ok := fault.As(err); ok {
		r := fault.Wrap(err, fault.Refused, op, "%s", e.Public)
		r.Hint, r.Pointer = e.Hint, "/suites"
		return r
	}
	return fault.Wrap(err, fault.Refused, op, "the cases cannot be listed").At("/suites")
}

// launch runs one program with its output in stem.stdout and stem.stderr, and the
// files that it leaves in an exchange directory in out.
func (s suites) launch(ctx context.Context, inv harness.Invocation, stem string, limit time.Duration) (out harness.Output, err error) {
	if !inv.Exchanges() {
		return s.start(ctx, inv, stem, limit)
	}
	dir, remove, err := s.Place.Scratch()
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	if inv, err = inv.In(dir); err != nil {
		return out, err
	}
	if out, err = s.start(ctx, inv, stem, limit); err == nil {
		err = inv.Collect(dir, &out)
	}
	return out, err
}

func (s suites) start(ctx context.Context, inv harness.Invocation, stem string, limit time.Duration) (out harness.Output, err error) {
	var files [2]*os.File
	for i, suffix := range []string{".stdout", ".stderr"} {
		f, err := s.spares.create(stem + suffix)
		if err != nil {
			return out, fault.Wrap(err, fault.Internal, "run program", "no output file")
		}
		defer f.Close()
		files[i] = f
	}
	environ := s.environ // merged already
	if len(inv.Variables) > 0 {
		environ = capture.Merge(environ, inv.Variables)
	}
	out.Result, err = s.Place.Run(ctx, proc.Command{
		Argv: s.regime.launched(inv.Argv), Dir: inv.Dir, Env: environ,
		Stdout: files[0], Stderr: files[1], Timeout: max(limit, time.Nanosecond),
	})
	if err != nil {
		return out, err
	}
	for i, to := range []*[]byte{&out.Stdout, &out.Stderr} {
		if *to, err = readBack(files[i]); err != nil {
			return out, fault.Wrap(err, fault.Internal, "run program", "output cannot be read")
		}
	}
	return out, nil
}

// readBack returns what is in a file that is still open.
func readBack(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b := make([]byte, info.Size())
	_, err = f.ReadAt(b, 0)
	return b, err
}

// seconds is a limit of an order as a duration, at most a century.
func seconds(s float64) time.Duration {
	const most = 100 * 365 * 24 * time.Hour
	if s >= most.Seconds() {
		return most
	}
	return time.Duration(s * float64(time.Second))
}

// tokens are the names of workload coordinates of a planned case.
func workloadParameters(o order.Order) map[string]canon.Value {
	if p := o.Parameters(); len(p) > 0 {
		return p
	}
	return nil
}
