package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"writ/internal/canon"
	"writ/internal/harness"
	"writ/internal/harness/gobench"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/runner"
	"writ/internal/runner/proc"
)

const (
	// childLimit is what a run may add to a child beyond starting and awaiting it.
	childLimit = time.Millisecond
	// maxRounds bounds the rounds of a comparison: exact intervals of more say no more.
	maxRounds = 30
)

// benchRun measures what the runner adds to every program that it starts.
func benchRun(ctx context.Context, s setup) ([]figure, error) {
	dir, err := os.MkdirTemp(s.dir, "writ-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	order, err := orderOverhead(ctx, s, dir)
	if err != nil {
		return nil, err
	}
	keeper, err := keeperOverhead(ctx, dir)
	if err != nil {
		return nil, err
	}
	return append(order, keeper), nil
}

// orderOverhead has the binary run one order over and over, and in turn starts
// the same children bare.
func orderOverhead(ctx context.Context, s setup, dir string) ([]figure, error) {
	smp, err := makeSample(ctx, dir)
	if err != nil {
		return nil, err
	}
	p, err := smp.order(ctx)
	if err != nil {
		return nil, err
	}
	children, err := commands(p)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "order.json")
	if err := os.WriteFile(file, p.Order.Raw(), 0o644); err != nil {
		return nil, err
	}
	var ours, bare, around times // per child, per child, per order
	for start := time.Now(); len(ours) < windows || len(ours) < maxRounds && time.Since(start) < 2*s.span; {
		n := strconv.Itoa(len(ours))
		period, whole, err := runOrder(ctx, s.writ, file, filepath.Join(dir, "results-"+n))
		if err != nil {
			return nil, err
		}
		alone, err := runBare(ctx, children, filepath.Join(dir, "bare-"+n))
		if err != nil {
			return nil, err
		}
		ours, bare, around = append(ours, period), append(bare, alone), append(around, whole-cases*period)
	}
	f := beyond("run: per child, beyond exec", ours, bare, childLimit)
	f.Floor = atMost(1)
	fixed := around.sorted().at(0.5)
	return []figure{f, {
		What: "run: per order, before and after its children", Value: show(fixed) + " for " + plural(cases, "case"),
		Numbers: map[string]float64{"order_ms": millis(fixed)},
	}}, nil
}

// beyond is what ours took above bare, round by round, over the limit.
func beyond(what string, ours, bare times, limit time.Duration) figure {
	d := make([]float64, len(ours))
	for i := range ours {
		d[i] = (ours[i] - bare[i]).Seconds() / limit.Seconds()
	}
	r := centre(d)
	more := time.Duration(r.Centre * float64(limit))
	a, b := slices.Clone(ours).sorted().at(0.5), slices.Clone(bare).sorted().at(0.5)
	return figure{
		What: what, Value: fmt.Sprintf("%s more (%s)", show(more), show(a)), Beside: fmt.Sprintf("os/exec %s, limit %s more", show(b), limit), Ratio: &r,
		Numbers: map[string]float64{"ours_us": micros(a), "exec_us": micros(b), "beyond_us": micros(more), "limit_us": micros(limit)},
	}
}

// order is a resolved order of all cases of the sample, one iteration each.
func (s sample) order(ctx context.Context) (runner.Params, error) {
	o, err := order.Build(order.BuildParams{
		RunKey: "bench", Side: "baseline", Project: "bench", Requester: order.Requester{Kind: order.Person, Name: "bench"},
		Suites:     []order.Suite{{Adapter: gobench.Name, Suite: s.binary, Parameters: canon.MustFrom(map[string]int{gobench.ParamCPU: 1})}},
		Quantities: []string{"wall-time"},
		Target:     order.Target{Kind: order.BuildTree, Path: s.build, SourceDir: s.source, Source: order.Source{URI: "https://example.org/empty.git", Type: "git"}},
		Precision:  order.Precision{Repetitions: order.Times(1), Calibration: &order.Calibration{Mode: order.Fixed, NIterations: 1}},
		Timeouts:   order.Timeouts{CaseS: 60, OrderS: 600},
	})
	if err != nil {
		return runner.Params{}, err
	}
	p := runner.Params{Order: o, Harnesses: harness.Set{gobench.Adapter{}}, Runner: result.Runner{Name: "writ", Version: "bench"}, Now: time.Now}
	p.Order, err = runner.Plan(ctx, p)
	if n := len(p.Order.Plan); err == nil && n != cases {
		err = fmt.Errorf("the sample has %d cases, not %d", n, cases)
	}
	return p, err
}

// commands are the programs that the order comes to.
func commands(p runner.Params) ([]harness.Invocation, error) {
	h := p.Harnesses[0]
	suite, err := h.Locate(p.Order, p.Order.Suites[0])
	if err != nil {
		return nil, err
	}
	var out []harness.Invocation
	for _, e := range p.Order.Plan {
		c, err := h.Invocation(suite, e.Case, p.Order.Precision)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// runOrder runs the order, and returns the mean time from the start of one child
// to the start of the next, as the results tell it, and the time of everything.
func runOrder(ctx context.Context, writ, file, dir string) (period, whole time.Duration, err error) {
	start := time.Now()
	if out, err := exec.CommandContext(ctx, writ, "run", file, "--out", dir, "--quiet", "--no-ingest").CombinedOutput(); err != nil {
		return 0, 0, fmt.Errorf("writ run: %w\n%s", err, out)
	}
	whole = time.Since(start)
	lives, err := livesOf(dir)
	if err != nil {
		return 0, 0, err
	}
	if len(lives) != cases {
		return 0, 0, fmt.Errorf("%d results for %d cases", len(lives), cases)
	}
	return lives[cases-1].from.Sub(lives[0].from) / (cases - 1), whole, nil
}

// runBare starts and awaits the same programs, one after the other, with their
// output in a file. It returns the mean time of one.
func runBare(ctx context.Context, children []harness.Invocation, out string) (time.Duration, error) {
	f, err := os.Create(out)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	start := time.Now()
	for _, c := range children {
		cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = c.Dir, f, f
		cmd.Env = os.Environ()
		for name, value := range c.Variables {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		if err := cmd.Run(); err != nil {
			return 0, err
		}
	}
	return time.Since(start) / time.Duration(len(children)), nil
}

// keeperOverhead compares the helper that starts and bounds programs with
// os/exec, both on a program that does nothing.
func keeperOverhead(ctx context.Context, dir string) (figure, error) {
	const program, batch = "/bin/true", 10
	k, err := proc.Start(ctx, proc.Isolation{})
	if err != nil {
		return figure{}, err
	}
	defer k.Close()
	kept := func() error {
		r, err := k.Run(ctx, proc.Command{Argv: []string{program}, Dir: dir, Env: os.Environ()})
		if err == nil && !r.OK() {
			err = fmt.Errorf("%s ended with %d", program, r.Exit)
		}
		return err
	}
	bare := func() error { return exec.CommandContext(ctx, program).Run() }
	var ours, theirs times
	for range maxRounds {
		for _, x := range []struct {
			start func() error
			into  *times
		}{{kept, &ours}, {bare, &theirs}} {
			t := time.Now()
			for range batch {
				if err := x.start(); err != nil {
					return figure{}, err
				}
			}
			*x.into = append(*x.into, time.Since(t)/batch)
		}
	}
	f := beyond("run: "+program+" through the keeper, beyond exec", ours, theirs, childLimit)
	f.Floor = atMost(1)
	return f, nil
}
