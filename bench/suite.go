package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"writ/internal/harness/googlebenchmark"
	"writ/internal/order"
)

const (
	// suiteLimit is how long a suite may take through Writ, as a multiple of the
	// program run directly with the same flags.
	suiteLimit = 1.02
	// suitePairs is how often both are run: a suite is long.
	suitePairs = 3
	// suiteSeconds is the least time of one sample, the library's own default.
	suiteSeconds = 0.5
)

// suiteSource has twelve cases whose lengths lie four decades apart.
const suiteSource = `#include <benchmark/benchmark.h>
#include <numeric>
#include <vector>

static void BM_sum(benchmark::State& state) {
  std::vector<int> v(state.range(0), 1);
  for (auto _ : state) benchmark::DoNotOptimize(std::accumulate(v.begin(), v.end(), 0));
}
BENCHMARK(BM_sum)->RangeMultiplier(4)->Range(64, 64 << 10);

static void BM_copy(benchmark::State& state) {
  std::vector<char> v(state.range(0), 1);
  for (auto _ : state) { std::vector<char> w(v); benchmark::DoNotOptimize(w.data()); }
}
BENCHMARK(BM_copy)->RangeMultiplier(4)->Range(64, 64 << 10);

BENCHMARK_MAIN();
`

// benchSuite runs a Google Benchmark program through the binary and directly, in
// turns. The library itself needs a few per cent more or less from run to run, which
// says nothing about either; so the ratio is that of the direct run and what Writ adds
// to it: the time outside of its children, and the start of one process for each case
// instead of one for all.
func benchSuite(ctx context.Context, s setup) ([]figure, error) {
	if _, err := exec.LookPath("g++"); err != nil {
		return nil, errors.New("a C++ compiler is missing (apt-get install -y g++ libbenchmark-dev)")
	}
	dir, err := os.MkdirTemp(s.dir, "writ-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	program, file, err := makeSuite(ctx, dir)
	if err != nil {
		return nil, err
	}
	start, err := startOfSuite(ctx, dir, program)
	if err != nil {
		return nil, err
	}
	var ours, direct, more times
	var d []float64
	for n := range suitePairs {
		out := filepath.Join(dir, fmt.Sprintf("results-%d", n))
		through := func() error {
			return runProgram(ctx, dir, s.writ, "run", file, "--out", out, "--no-ingest", "--quiet")
		}
		alone := func() error {
			return runProgram(ctx, dir, program, fmt.Sprintf("--benchmark_min_time=%g", suiteSeconds), "--benchmark_repetitions=1",
				"--benchmark_out="+filepath.Join(dir, "direct.json"), "--benchmark_out_format=json")
		}
		a, b, err := inTurns(n, through, alone)
		if err != nil {
			return nil, err
		}
		lives, err := livesOf(out)
		if err != nil {
			return nil, err
		}
		added := a + time.Duration(len(lives)-1)*start
		for _, l := range lives {
			added -= l.to.Sub(l.from)
		}
		ours, direct, more = append(ours, a), append(direct, b), append(more, added)
		d = append(d, math.Log1p(added.Seconds()/b.Seconds()))
	}
	r := centre(d)
	r.Centre = math.Exp(r.Centre)
	a, b, m := ours.sorted().at(0.5), direct.sorted().at(0.5), more.sorted().at(0.5)
	return []figure{{
		What: "suite: Google Benchmark, direct and what writ run adds", Value: show(m) + " more (" + show(a) + " in all)", Beside: "the program itself " + show(b),
		Ratio: &r, Floor: atMost(suiteLimit), Numbers: map[string]float64{"ours_ms": millis(a), "added_ms": millis(m), "direct_ms": millis(b)},
	}}, nil
}

// startOfSuite is how long the program takes when it has nothing to measure.
func startOfSuite(ctx context.Context, dir, program string) (time.Duration, error) {
	var took times
	for range 20 {
		t := time.Now()
		if err := runProgram(ctx, dir, program, "--benchmark_list_tests"); err != nil {
			return 0, err
		}
		took = append(took, time.Since(t))
	}
	return took.sorted().at(0.5), nil
}

// inTurns times both, the first one first in even rounds.
func inTurns(round int, first, second func() error) (a, b time.Duration, err error) {
	timed := func(do func() error) (time.Duration, error) {
		start := time.Now()
		err := do()
		return time.Since(start), err
	}
	if round%2 == 0 {
		if a, err = timed(first); err == nil {
			b, err = timed(second)
		}
		return a, b, err
	}
	if b, err = timed(second); err == nil {
		a, err = timed(first)
	}
	return a, b, err
}

func runProgram(ctx context.Context, dir, name string, args ...string) error {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", filepath.Base(name), err, out)
	}
	return nil
}

// makeSuite compiles the program in a checkout of its own and writes an order for it.
func makeSuite(ctx context.Context, dir string) (program, file string, err error) {
	source := filepath.Join(dir, "suite")
	if err := os.Mkdir(source, 0o755); err != nil {
		return "", "", err
	}
	if err := os.WriteFile(filepath.Join(source, "suite.cc"), []byte(suiteSource), 0o644); err != nil {
		return "", "", err
	}
	build := filepath.Join(dir, "suite-build")
	program = filepath.Join(build, "suite")
	if err := os.Mkdir(build, 0o755); err != nil {
		return "", "", err
	}
	if err := runProgram(ctx, source, "g++", "-O2", "-o", program, "suite.cc", "-lbenchmark", "-lpthread"); err != nil {
		return "", "", err
	}
	if err := checkIn(ctx, source); err != nil {
		return "", "", err
	}
	o, err := order.Build(order.BuildParams{
		RunKey: "bench", Side: "baseline", Project: "bench", Requester: order.Requester{Kind: order.Person, Name: "bench"},
		Suites:     []order.Suite{{Adapter: googlebenchmark.Name, Suite: "suite", Filter: "."}},
		Quantities: []string{"wall-time"},
		Target:     order.Target{Kind: order.BuildTree, Path: build, SourceDir: source, Source: order.Source{URI: "https://example.org/suite.git", Type: "git"}},
		Precision:  order.Precision{Repetitions: order.Times(1), Calibration: &order.Calibration{Mode: order.Adaptive, MinimumSampleSeconds: suiteSeconds}},
		Timeouts:   order.Timeouts{CaseS: 60, OrderS: 600},
	})
	if err != nil {
		return "", "", err
	}
	file = filepath.Join(dir, "suite.json")
	return program, file, os.WriteFile(file, o.Raw(), 0o644)
}
