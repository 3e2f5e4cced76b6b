package runner

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/harness/command"
	"writ/internal/harness/harnesstest"
	"writ/internal/harness/hyperfine"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/runner/contain"
	"writ/internal/testkit"
)

// commandOrder is an order for command lines in a fresh checkout, which has a
// script that says where it may run.
func commandOrder(t *testing.T, adapter string, parameters map[string]any, change func(*order.BuildParams)) order.BuildParams {
	t.Helper()
	s := harnesstest.Sample{Dir: put(t, t.TempDir(), map[string]string{"say": "#!/bin/sh\ngrep Cpus_allowed_list /proc/self/status; echo $OMP_NUM_THREADS\n"}), Build: t.TempDir()}
	if err := os.Chmod(filepath.Join(s.Dir, "say"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.Commit(t)
	p := order.BuildParams{
		RunKey: "demo", Side: "baseline", Project: "demo", Requester: order.Requester{Kind: order.Person, Name: "ann"},
		Suites:     []order.Suite{{Adapter: adapter, Suite: ".", Parameters: canon.MustFrom(parameters)}},
		Quantities: []string{"wall-time"},
		Target:     order.Target{Kind: order.WorkingTree, Path: s.Dir, Source: order.Source{URI: "https://example.org/demo.git", Type: "git"}},
		Precision:  order.Precision{Repetitions: order.Times(3)}, Timeouts: order.Timeouts{CaseS: 60, OrderS: 600},
	}
	if change != nil {
		change(&p)
	}
	return p
}

func commandParams(t *testing.T, o order.Order) Params {
	t.Helper()
	return Params{Order: o, Dir: filepath.Join(t.TempDir(), "results"), Harnesses: harness.Set{command.Adapter{}, hyperfine.Adapter{}}}
}

// TestCommands: every quantity, the outcomes, and a policy that sets processors and
// threads on what is measured.
func TestCommands(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("taskset"); err != nil {
		testkit.Skip(t, "taskset", "apt-get install -y util-linux")
	}
	cpu := firstCPU(t)
	quantities := slices.DeleteFunc(command.Adapter{}.Capabilities().Quantities, func(q string) bool { return q == "instructions" })
	parameters := map[string]any{"output": "keep", "cases": map[string]any{
		"say": []string{"./say"}, "fail": []string{"false"}, "slow": []string{"sleep", "600"}, "third": []string{"sh", "-c", `d=${0%/*}; echo >> "$d/ran"; [ $(wc -l < "$d/ran") -ne 3 ]`, filepath.Join(t.TempDir(), "x")},
	}}
	o := build(t, commandOrder(t, command.Name, parameters, func(p *order.BuildParams) {
		p.Quantities, p.Timeouts.CaseS = quantities, 1
	}))
	p := governed(t, o, `{"check":"cpu.affinity","tier":"enforce","parameters":{"cpus":"`+cpu+`"}},{"check":"threads.max","tier":"enforce","parameters":{"n":1}}`)
	p.Harnesses, p.Dir = commandParams(t, o).Harnesses, filepath.Join(t.TempDir(), "results")
	rep, err := Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	onDisk(t, p.Dir, rep)
	want := map[string]string{"say": "success", "fail": "error harness.error", "slow": "error timeout", "third": "partial harness.partial"}
	for key, got := range outcomes(rep.Results) {
		name, q, _ := strings.Cut(key, " ")
		if got != want[name] {
			t.Errorf("%s of %s: %s", q, name, got)
		}
	}
	for _, r := range rep.Results {
		if r.Provenance.NativeID != "say" {
			continue
		}
		if unit := r.Coordinates.Quantity.Unit; len(r.Measurement.Observations) != 3 || unit == "" || *r.Procedure.CompletedRepetitions != 3 {
			t.Errorf("%s in %q: %+v", r.Coordinates.Quantity.Name, unit, r.Measurement)
		}
		timer, _ := r.Coordinates.ComparisonContext.At("/protocol/timer")
		fixed, _ := r.Coordinates.ComparisonContext.At("/protocol/calibration/n_iterations")
		if text, _ := timer.String(); text != "runner:monotonic" || string(fixed.Canonical()) != "1" || *r.Procedure.InnerIterations != 1 {
			t.Errorf("context %s", r.Coordinates.ComparisonContext.Canonical())
		}
		i := slices.IndexFunc(r.Provenance.Artifacts, func(a result.Artifact) bool { return a.Kind == result.ArtifactStdout })
		text, err := os.ReadFile(strings.TrimPrefix(r.Provenance.Artifacts[i].URI, "file://"))
		if once := "Cpus_allowed_list:\t" + cpu + "\n1\n"; err != nil || string(text) != strings.Repeat(once, 3) {
			t.Errorf("the program says %q, %v", text, err)
		}
	}
}

// TestCommandsInContainment: there the file of this program cannot be seen, and
// programs have process ids of their own.
func TestCommandsInContainment(t *testing.T) {
	t.Parallel()
	base := commandOrder(t, command.Name, map[string]any{"cases": map[string]any{"a": []string{"./say"}, "b": []string{"sh", "-c", "sleep 600 & true"}}}, nil)
	s := harnesstest.Sample{Dir: base.Target.Path, Build: t.TempDir()}
	e, err := contain.New(t.Context(), contain.Params{Root: t.TempDir(), Remote: s.Dir, Hide: []string{filepath.Dir(os.Args[0])}})
	if fault.CodeOf(err) == fault.NotContained {
		testkit.Skip(t, "user namespaces: "+err.Error(), "sysctl -w user.max_user_namespaces=1000")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Destroy(context.Background()) })
	tree, err := e.Worktree(t.Context(), s.Git(t, "rev-parse", "HEAD"))
	if err != nil {
		t.Fatal(err)
	}
	base.Target.Path = tree
	base.Quantities = []string{"wall-time", "peak-rss"}
	p := commandParams(t, build(t, base))
	if p.Place, err = e.Observer(t.Context()); err != nil {
		t.Fatal(err)
	}
	rep, err := Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	onDisk(t, p.Dir, rep)
	for _, r := range rep.Results {
		strays := r.Quality != nil && slices.Contains(r.Quality.Warnings, "stray-processes")
		if r.Measurement.Status != result.Success || strays != (r.Provenance.NativeID == "b") {
			t.Errorf("%s of %s: %+v, quality %+v, %v", r.Coordinates.Quantity.Name, r.Provenance.NativeID, r.Measurement, r.Quality, r.Provenance.Info)
		}
	}
}

// TestHyperfine: results without observations have the harness's own estimate.
func TestHyperfine(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath(hyperfine.Name); err != nil {
		testkit.Skip(t, "hyperfine", "apt-get install -y hyperfine")
	}
	o := build(t, commandOrder(t, hyperfine.Name, map[string]any{"argv": []string{"./say"}}, func(p *order.BuildParams) {
		p.Quantities = hyperfine.Adapter{}.Capabilities().Quantities
	}))
	p := commandParams(t, o)
	rep, err := Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	onDisk(t, p.Dir, rep)
	for _, r := range rep.Results {
		m, observed := r.Measurement, r.Coordinates.Quantity.Name == "wall-time"
		if m.Status != result.Success || observed != (len(m.Observations) == 3) || len(m.Summaries) == 0 || *r.Procedure.CompletedRepetitions != 3 {
			t.Errorf("%s: %+v %+v", r.Coordinates.Quantity.Name, m, r.Procedure)
		}
	}
}

// TestASessionOfCommands: both sides take turns, and there is nothing to calibrate.
func TestASessionOfCommands(t *testing.T) {
	t.Parallel()
	side := commandOrder(t, command.Name, map[string]any{"argv": []string{"true"}}, nil)
	s := Session{
		Params: Params{Dir: filepath.Join(t.TempDir(), "out"), Harnesses: harness.Set{command.Adapter{}}},
		Rounds: 2, SampleSeconds: 0.5, OrderFor: OrdersOf(side, side),
	}
	rep, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if rep.Calibration != nil || rep.Counts[result.Success] != 4 {
		t.Errorf("calibration %+v, counts %v", rep.Calibration, rep.Counts)
	}
}
