package host

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness/gobench"
	"writ/internal/order"
	"writ/internal/taskpack"
)

const (
	buildLimit = 10 * time.Minute // for one test binary
	caseLimit  = 60.0             // seconds for one case in one process
	orderLimit = 900.0            // seconds for one side in one round
)

// side is one side of a comparison, built inside an environment.
type side struct {
	name   string // "baseline" or "contender"
	commit string
	tree   string // worktree
	bin    string // folder of the built suites
	suites []order.Suite
}

// build checks a commit out and builds the test binary of every package that the
// selection names and that has tests.
func (j *job) build(ctx context.Context, env *environment, name, commit string, s taskpack.Selection) (side, error) {
	b := side{name: name, commit: commit}
	var err error
	if b.tree, err = j.tree(ctx, env, commit); err != nil {
		return b, err
	}
	if b.bin, err = env.BuildDir(); err != nil {
		return b, err
	}
	packages, err := testedPackages(ctx, env, b.tree, s.Packages)
	if err != nil {
		return b, err
	}
	for i, dir := range packages {
		suite := strconv.Itoa(i) + ".test"
		argv := []string{"go", "test", "-c", "-o", filepath.Join(b.bin, suite), "./" + dir}
		got, err := env.execute(ctx, argv, b.tree, buildLimit)
		if err != nil {
			return b, err
		}
		if !got.OK() {
			return b, fault.New(fault.Target, "build suite", "%s of %s: %s\n%s", strings.Join(argv, " "), name, endOf(got), lastLines(got.output, 20))
		}
		b.suites = append(b.suites, order.Suite{Adapter: gobench.Name, Suite: suite, Filter: s.Benchmarks, Parameters: canon.MustFrom(map[string]any{gobench.ParamDir: dir})})
	}
	if len(b.suites) == 0 {
		return b, fault.New(fault.Nothing, "build suites", "no package of %s has tests", strings.Join(s.Packages, " "))
	}
	return b, nil
}

// testedPackages are the folders, below the tree, of the packages with tests.
func testedPackages(ctx context.Context, env *environment, tree string, patterns []string) ([]string, error) {
	argv := append([]string{"go", "list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}}{{end}}"}, patterns...)
	got, err := env.execute(ctx, argv, tree, buildLimit)
	if err != nil {
		return nil, err
	}
	if !got.OK() {
		return nil, fault.New(fault.Target, "list packages", "%s: %s\n%s", strings.Join(argv, " "), endOf(got), lastLines(got.output, 20))
	}
	var out []string
	for line := range strings.Lines(string(got.output)) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		rel, err := filepath.Rel(tree, line)
		if err != nil || strings.HasPrefix(rel, "..") {
			return nil, fault.New(fault.OutsidePath, "list packages", "%s is outside of the tree", line)
		}
		out = append(out, path.Clean(filepath.ToSlash(rel)))
	}
	return out, nil
}

// order makes the order of one side in one round.
func (j *job) order(b side, runKey, step string, round int, seed int64, precision order.Precision, quantities []string, plan []order.Entry) (order.Order, error) {
	return order.Build(order.BuildParams{
		RunKey: runKey, Run: j.task.Run, Proposal: j.proposal.Ref, Step: step, Side: b.name, Round: round, Seed: seed,
		Reason:  fmt.Sprintf("compare %.12s with its base for %s", j.task.SourceHead, j.task.Run),
		Project: strings.ReplaceAll(j.repo.Alias, "/", "-"),
		Suites:  b.suites, Quantities: quantities,
		Target:    order.Target{Kind: order.BuildTree, Path: b.bin, SourceDir: b.tree, Source: order.Source{URI: "https://writ.invalid/" + j.repo.Alias, Type: "git"}},
		Precision: precision, Timeouts: order.Timeouts{CaseS: caseLimit, OrderS: orderLimit},
		Plan: plan,
	})
}
