package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"writ/internal/runner/proc"
)

const (
	// perFile is how many result lines each of the files has that benchstat reads too.
	perFile = 100_000
	// manyPairs of manyRounds are judged from files within these limits.
	manyPairs, manyRounds = 100_000, 10
	manyTime              = 2 * time.Second
	manyMemory            = 200 << 20 // bytes
	// folderPairs is how many pairs the folder of results has, with manyRounds each.
	folderPairs = 1000
)

// benchJudge measures the judge on files, beside benchstat on the same ones.
func benchJudge(ctx context.Context, s setup) ([]figure, error) {
	dir, err := os.MkdirTemp(s.dir, "writ-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	k, err := proc.Start(ctx, proc.Isolation{})
	if err != nil {
		return nil, err
	}
	defer k.Close()
	j := judge{setup: s, dir: dir, keeper: k}
	if j.writ, err = filepath.Abs(s.writ); err != nil {
		return nil, err
	}
	if j.peer, err = buildBenchstat(ctx, dir); err != nil {
		return nil, err
	}
	var out []figure
	for _, measure := range []func(context.Context) ([]figure, error){j.besideBenchstat, j.many, j.folder} {
		figures, err := measure(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, figures...)
	}
	return out, nil
}

// judge measures programs that compare.
type judge struct {
	setup
	dir, peer string
	keeper    *proc.Keeper
}

// buildBenchstat builds the tool of this module's go.mod.
func buildBenchstat(ctx context.Context, dir string) (string, error) {
	program := filepath.Join(dir, "benchstat")
	c := exec.CommandContext(ctx, "go", "build", "-o", program, "golang.org/x/perf/cmd/benchstat")
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build benchstat: %w\n%s", err, out)
	}
	return program, nil
}

// ran is one run of a program.
type ran struct {
	wall, cpu time.Duration
	memory    int64 // bytes, the most that was in use
}

// run runs a program that writes its answer to nowhere but a file of its own.
func (j judge) run(ctx context.Context, argv ...string) (ran, error) {
	errs, err := os.OpenFile(filepath.Join(j.dir, "stderr"), os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return ran{}, err
	}
	defer errs.Close()
	r, err := j.keeper.Run(ctx, proc.Command{Argv: argv, Dir: j.dir, Env: os.Environ(), Stderr: errs, Timeout: 5 * time.Minute})
	if err == nil && !r.OK() {
		text, _ := os.ReadFile(errs.Name())
		err = fmt.Errorf("%s ended with %d: %s", argv[0], r.Exit, text)
	}
	return ran{r.Wall, r.Usage.User + r.Usage.System, r.Usage.MaxRSS}, err
}

// besideBenchstat compares the same two files with both programs, in turns.
func (j judge) besideBenchstat(ctx context.Context) ([]figure, error) {
	const cases = perFile / manyRounds
	for i, name := range []string{"old.txt", "new.txt"} {
		if err := writeLines(filepath.Join(j.dir, name), cases, manyRounds, false, uint64(i)); err != nil {
			return nil, err
		}
	}
	contestants := [][]string{
		{j.writ, "compare", "old.txt", "new.txt"},
		{j.peer, "old.txt", "new.txt"},
		{j.writ, "compare", "old.txt", "new.txt", "--method", "benchstat"},
	}
	all := make([][]ran, len(contestants))
	for round := -1; round < windows; round++ {
		for i := range contestants {
			n := (i + round + 1) % len(contestants)
			r, err := j.run(ctx, contestants[n]...)
			if err != nil {
				return nil, err
			}
			if round >= 0 {
				all[n] = append(all[n], r)
			}
		}
	}
	ours, theirs, alike := all[0], all[1], all[2]
	f := figure{
		What:  fmt.Sprintf("judge: two files of %d lines, words and intervals too", perFile),
		Value: middleOf(ours).String(), Beside: "benchstat: " + middleOf(theirs).String(), Floor: atLeast(3),
		Numbers: numbersOf(map[string][]ran{"ours": ours, "benchstat": theirs}),
	}
	f.Ratio = longer(theirs, ours)
	same := figure{
		What: "judge: the same, only what benchstat prints", Value: middleOf(alike).String(), Beside: "benchstat: " + middleOf(theirs).String(),
		Ratio: longer(theirs, alike), Numbers: numbersOf(map[string][]ran{"ours": alike, "benchstat": theirs}),
	}
	return []figure{f, same}, nil
}

// many judges rounds of a large suite.
func (j judge) many(ctx context.Context) ([]figure, error) {
	for i, name := range []string{"oldrounds.txt", "newrounds.txt"} {
		if err := writeLines(filepath.Join(j.dir, name), manyPairs, manyRounds, true, uint64(i)); err != nil {
			return nil, err
		}
	}
	all, err := j.several(ctx, j.writ, "compare", "oldrounds.txt", "newrounds.txt")
	if err != nil {
		return nil, err
	}
	mid := middleOf(all)
	fastest := slices.MinFunc(all, func(a, b ran) int { return cmp.Compare(a.wall, b.wall) }) // other load only adds
	numbers := numbersOf(map[string][]ran{"ours": all})
	numbers["fastest_ms"] = millis(fastest.wall)
	return []figure{
		limited(figure{
			What:  fmt.Sprintf("judge: %d pairs x %d rounds, from benchmark files to verdicts", manyPairs, manyRounds),
			Value: fmt.Sprintf("%s, the fastest of %d", fastest, len(all)), Beside: "limit " + manyTime.String(), Numbers: numbers,
		}, fastest.wall.Seconds(), manyTime.Seconds()),
		limited(figure{
			What: "judge: the same, memory", Value: megabytes(mid.memory), Beside: "limit " + megabytes(manyMemory), Numbers: numbers,
		}, float64(mid.memory), manyMemory),
	}, nil
}

// folder judges results, one document per process.
func (j judge) folder(ctx context.Context) ([]figure, error) {
	dir := filepath.Join(j.dir, "results")
	n, err := writeResults(dir, folderPairs, manyRounds)
	if err != nil {
		return nil, err
	}
	all, err := j.several(ctx, j.writ, "compare", "--results", dir, "--baseline", baseTree, "--noise", "none")
	if err != nil {
		return nil, err
	}
	mid := middleOf(all)
	return []figure{{
		What:  fmt.Sprintf("judge: %d pairs x %d rounds, from %d result documents", folderPairs, manyRounds, n),
		Value: mid.String() + ", " + megabytes(mid.memory), Numbers: numbersOf(map[string][]ran{"ours": all}),
	}}, nil
}

// several runs a program a few times, after once that does not count.
func (j judge) several(ctx context.Context, argv ...string) (all []ran, err error) {
	for round := range windows {
		r, err := j.run(ctx, argv...)
		if err != nil {
			return nil, err
		}
		if round > 0 {
			all = append(all, r)
		}
	}
	return all, nil
}

// middleOf are the medians of runs.
func middleOf(all []ran) ran {
	var wall, cpu times
	var memory times
	for _, r := range all {
		wall, cpu, memory = append(wall, r.wall), append(cpu, r.cpu), append(memory, time.Duration(r.memory))
	}
	return ran{wall.sorted().at(.5), cpu.sorted().at(.5), int64(memory.sorted().at(.5))}
}

func (r ran) String() string {
	return show(r.wall) + " (" + show(r.cpu) + " of processor time)"
}

func megabytes(b int64) string { return strconv.FormatInt(b>>20, 10) + " MiB" }

func numbersOf(all map[string][]ran) map[string]float64 {
	out := map[string]float64{}
	for name, runs := range all {
		m := middleOf(runs)
		out[name+"_ms"], out[name+"_cpu_ms"], out[name+"_mib"] = millis(m.wall), millis(m.cpu), float64(m.memory)/(1<<20)
	}
	return out
}

// longer is how much longer theirs took than ours, run by run.
func longer(theirs, ours []ran) *ratio {
	d := make([]float64, len(ours))
	for i := range d {
		d[i] = math.Log(theirs[i].wall.Seconds() / ours[i].wall.Seconds())
	}
	r := centre(d)
	r.Centre = math.Exp(r.Centre)
	for i, x := range r.Interval {
		r.Interval[i] = math.Exp(x)
	}
	return &r
}

// writeLines writes a benchmark file as the testing package prints it: cases of
// every magnitude, noise of 2 %, the new file one percent slower. In rounds, every
// round has each case once; otherwise the repetitions of a case follow each other.
func writeLines(name string, cases, repetitions int, rounds bool, file uint64) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	r := rand.New(rand.NewPCG(17, file))
	fmt.Fprint(w, "goos: linux\ngoarch: amd64\npkg: example.org/suite\ncpu: made up\n")
	centres := make([]float64, cases)
	of := rand.New(rand.NewPCG(18, 1))
	for i := range centres {
		centres[i] = math.Exp(of.Float64()*14+2) * (1 + float64(file)/100)
	}
	line := func(i int) {
		v := centres[i] * (1 + .02*r.NormFloat64())
		digits := 3
		for x := v; x >= 9.995 && digits > 0; x /= 10 {
			digits--
		}
		if digits > 0 && v >= 99.95 {
			digits = 0
		}
		fmt.Fprintf(w, "BenchmarkCase%06d/size=%d-8 \t%8d\t%10.*f ns/op\n", i, i%7, int(1e9/v)+1, digits, v)
	}
	if rounds {
		for round := range repetitions {
			slot := 2*round + int(file)
			if round%3 == 0 {
				slot = 2*round + 1 - int(file)
			}
			fmt.Fprintf(w, "round: %d\nslot: %d\n", round, slot)
			for i := range cases {
				line(i)
			}
		}
	} else {
		for i := range cases {
			for range repetitions {
				line(i)
			}
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}
