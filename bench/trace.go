package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"writ/internal/result"
	"writ/internal/verdict"
)

const (
	runsPerSide = 10   // of one comparison
	mostRuns    = 8000 // of the trace
	jobRounds   = 40   // of hashing, a few milliseconds of work
)

// trace is what one unchanged program took, run after run.
type trace struct {
	what   string
	values []float64 // seconds
}

// benchTrace runs one program over and over and judges its runs as if half of them
// were another version of it: one after the other, and in rounds. Whatever is
// found is false. Every rule gets the same runs.
func benchTrace(ctx context.Context, s setup) ([]figure, error) {
	dir, err := os.MkdirTemp(s.dir, "writ-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	program, err := buildJob(ctx, dir)
	if err != nil {
		return nil, err
	}
	benchstat, err := buildBenchstat(ctx, dir)
	if err != nil {
		return nil, err
	}
	wall, cpu, err := runJob(ctx, program, 4*s.span)
	if err != nil {
		return nil, err
	}
	var out []figure
	for _, t := range []trace{{"wall time", wall}, {"processor time", cpu}} {
		figures, err := t.judge(ctx, dir, benchstat)
		if err != nil {
			return nil, err
		}
		out = append(out, figures...)
	}
	return out, nil
}

const job = `package main

import "crypto/sha256"

func main() {
	b := make([]byte, 64<<10)
	for range ROUNDS {
		sum := sha256.Sum256(b)
		copy(b, sum[:])
	}
	if b[0] == b[1] && b[1] == b[2] && b[2] == b[3] && b[3] == b[4] {
		panic("unlikely")
	}
}
`

// buildJob builds a program that hashes for a few milliseconds.
func buildJob(ctx context.Context, dir string) (string, error) {
	source, program := filepath.Join(dir, "job.go"), filepath.Join(dir, "job")
	if err := os.WriteFile(source, []byte(strings.ReplaceAll(job, "ROUNDS", fmt.Sprint(jobRounds))), 0o600); err != nil {
		return "", err
	}
	c := exec.CommandContext(ctx, "go", "build", "-o", program, source)
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the job: %w\n%s", err, out)
	}
	return program, nil
}

// runJob runs the program one time after the other for about span.
func runJob(ctx context.Context, program string, span time.Duration) (wall, cpu []float64, err error) {
	for start := time.Now(); len(wall) < mostRuns && (time.Since(start) < span || len(wall) < 10*2*runsPerSide); {
		c := exec.CommandContext(ctx, program)
		t := time.Now()
		if err := c.Run(); err != nil {
			return nil, nil, err
		}
		wall = append(wall, time.Since(t).Seconds())
		cpu = append(cpu, (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds())
	}
	return wall, cpu, nil
}

// judge has every rule look at the same comparisons: stretches of twenty runs.
func (t trace) judge(ctx context.Context, dir, benchstat string) ([]figure, error) {
	const each = 2 * runsPerSide
	n := len(t.values) / each
	if n == 0 {
		return nil, errors.New("no comparison fits into the trace")
	}
	r := rand.New(rand.NewPCG(51, 1))
	var plain, ranks, excludes, blocks int
	var old, changed bytes.Buffer
	for i := range n {
		runs := t.values[i*each : (i+1)*each]
		first, second := runs[:runsPerSide], runs[runsPerSide:]
		if math.Abs(middle(second)/middle(first)-1) > .05 {
			plain++
		}
		if verdict.MannWhitney(first, second).P <= nominal {
			ranks++
		}
		for k := range runsPerSide {
			fmt.Fprintf(&old, "BenchmarkRuns%06d 1 %v sec/op\n", i, first[k])
			fmt.Fprintf(&changed, "BenchmarkRuns%06d 1 %v sec/op\n", i, second[k])
		}
		pairs, differences := inRounds(runs, r)
		o, err := verdict.JudgeSeries(verdict.SeriesParams{Series: pairs, Policy: verdict.DefaultPolicy(), Rounds: runsPerSide})
		if err != nil {
			return nil, err
		}
		if o.Overall() == verdict.Slower || o.Overall() == verdict.Faster {
			blocks++
		}
		if ci := verdict.SignedRankInterval(differences, nominal); ci.Lower > 0 || ci.Upper < 0 {
			excludes++
		}
	}
	theirs, err := flagged(ctx, dir, benchstat, old.Bytes(), changed.Bytes())
	if err != nil {
		return nil, err
	}
	rate := func(rule string, count int) figure {
		return rateOf("honesty: one program, "+t.what+": "+rule, "comparisons", count, n)
	}
	return []figure{
		rate("medians of ten and ten runs more than 5 % apart", plain),
		rate("Mann-Whitney, ten runs, then ten runs", ranks),
		rate("benchstat, ten runs, then ten runs", theirs),
		rate("writ, ten rounds: the interval leaves out zero, 5 % asked for", excludes),
		rarely(rate("writ, ten rounds: slower or faster by the default policy", blocks)),
	}, nil
}

func middle(x []float64) float64 {
	s := slices.Sorted(slices.Values(x))
	return s[len(s)/2]/2 + s[(len(s)-1)/2]/2
}

// inRounds gives neighbouring runs to the two sides, in an order drawn anew in
// every round.
func inRounds(runs []float64, r *rand.Rand) (pairs []verdict.Series, differences []float64) {
	s := verdict.Series{Pair: verdict.Pair{Workload: "Runs", Quantity: "wall-time"}, Unit: "s", Direction: result.LowerIsBetter}
	for round := range len(runs) / 2 {
		first := r.IntN(2)
		for at := range s.Samples {
			s.Samples[at] = append(s.Samples[at], runs[2*round+(at+first)%2])
			s.Rounds[at] = append(s.Rounds[at], uint16(round))
		}
		differences = append(differences, math.Log(s.Samples[1][round]/s.Samples[0][round]))
	}
	return []verdict.Series{s}, differences
}

// flagged has the real benchstat compare all stretches at once, and counts those
// that it calls different.
func flagged(ctx context.Context, dir, program string, old, changed []byte) (count int, err error) {
	for name, text := range map[string][]byte{"first.txt": old, "second.txt": changed} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return 0, err
		}
	}
	c := exec.CommandContext(ctx, program, "-format", "csv", "first.txt", "second.txt")
	c.Dir = dir
	out, err := c.Output()
	if err != nil {
		return 0, fmt.Errorf("benchstat: %w", err)
	}
	lines := csv.NewReader(bufio.NewReader(bytes.NewReader(out)))
	lines.FieldsPerRecord = -1
	all, err := lines.ReadAll()
	if err != nil {
		return 0, err
	}
	for _, l := range all {
		if strings.HasPrefix(l[0], "Runs") && len(l) > 5 && l[5] != "~" {
			count++
		}
	}
	return count, nil
}
