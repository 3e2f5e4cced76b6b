package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"writ/internal/canon"
	"writ/internal/harness/cmdline"
	"writ/internal/harness/command"
	"writ/internal/order"
)

const (
	// repeats is how often one run executes the program that does nothing.
	repeats = 1000
	// repeatLimit is how long that may take, as a multiple of hyperfine's time. Ours
	// has the start of writ in it, what the kernel counted for each repetition, the
	// state of the machine before and after, and the result.
	repeatLimit = 1.1
)

// benchCommand has writ and hyperfine execute /bin/true over and over, in turns.
func benchCommand(ctx context.Context, s setup) ([]figure, error) {
	if _, err := exec.LookPath("hyperfine"); err != nil {
		return nil, errors.New("hyperfine is missing (apt-get install -y hyperfine)")
	}
	dir, err := os.MkdirTemp(s.dir, "writ-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file, err := makeCommand(dir)
	if err != nil {
		return nil, err
	}
	var ours, theirs times
	var d []float64
	for n := -1; n < 2*windows; n++ { // the round before the first does not count
		through := func() error {
			out := filepath.Join(dir, "results"+strconv.Itoa(n))
			return runProgram(ctx, dir, s.writ, "run", file, "--out", out, "--no-ingest", "--quiet")
		}
		peer := func() error {
			return runProgram(ctx, dir, "hyperfine", "-N", "--style=none", "--runs="+strconv.Itoa(repeats), "--export-json="+filepath.Join(dir, "hyperfine.json"), "/bin/true")
		}
		a, b, err := inTurns(n+1, through, peer)
		if err != nil {
			return nil, err
		}
		if n >= 0 {
			ours, theirs, d = append(ours, a), append(theirs, b), append(d, math.Log(a.Seconds()/b.Seconds()))
		}
	}
	r := centre(d)
	r.Centre = math.Exp(r.Centre)
	for i, x := range r.Interval {
		r.Interval[i] = math.Exp(x)
	}
	a, b := ours.sorted().at(0.5), theirs.sorted().at(0.5)
	return []figure{{
		What: fmt.Sprintf("command: %d times /bin/true through writ run", repeats), Value: show(a), Beside: "hyperfine -N " + show(b), Ratio: &r, Floor: atMost(repeatLimit),
		Numbers: map[string]float64{"ours_ms": millis(a), "hyperfine_ms": millis(b)},
	}}, nil
}

// makeCommand writes an order for the program that does nothing.
func makeCommand(dir string) (file string, err error) {
	tree := filepath.Join(dir, "tree")
	if err := os.Mkdir(tree, 0o755); err != nil {
		return "", err
	}
	o, err := order.Build(order.BuildParams{
		RunKey: "bench", Side: "baseline", Project: "bench", Requester: order.Requester{Kind: order.Person, Name: "bench"},
		Suites:     []order.Suite{{Adapter: command.Name, Suite: ".", Parameters: canon.MustFrom(map[string]any{cmdline.ParamArgv: []string{"/bin/true"}})}},
		Quantities: []string{"wall-time", "cpu-time", "peak-rss"},
		Target:     order.Target{Kind: order.WorkingTree, Path: tree, Source: order.Source{URI: "https://example.org/command.git"}},
		Precision:  order.Precision{Repetitions: order.Times(repeats)},
		Timeouts:   order.Timeouts{CaseS: 60, OrderS: 600},
	})
	if err != nil {
		return "", err
	}
	file = filepath.Join(dir, "order.json")
	return file, os.WriteFile(file, o.Raw(), 0o644)
}
