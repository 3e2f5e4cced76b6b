package runner

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"writ/internal/canon"
	"writ/internal/harness"
	"writ/internal/harness/gobench"
	"writ/internal/harness/harnesstest"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/runner/proc"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		harnesstest.Remove()
		os.Exit(code)
	}))
}

// scripts is a harness whose cases are shell scripts: the name of a case is the
// script, and every line that it prints is a wall time.
type scripts struct{}

func (scripts) Capabilities() order.Capabilities {
	return order.Capabilities{Adapter: "scripts", Targets: []string{order.BuildTree}, Quantities: []string{"wall-time", "cpu-time"},
		Bare: true, Variables: true, CasePerProcess: true, Calibration: []string{order.Adaptive, order.Fixed}}
}
func (scripts) Producer() result.Producer {
	return result.Producer{Name: "writ/scripts", Version: "1", MappingVersion: "1"}
}
func (scripts) Defaults() order.Precision { return order.Precision{Repetitions: order.Times(1)} }
func (scripts) Environment() []string     { return nil }
func (s scripts) Locate(o order.Order, su order.Suite) (harness.Suite, error) {
	return harness.Suite{Adapter: "scripts", Program: filepath.Join(o.Target.Path, su.Suite), Dir: o.Target.Path, SourceDir: o.Target.SourceDir, Version: "1", Configuration: map[string]string{"kind": "script"}}, nil
}
func (scripts) Listing(s harness.Suite) []harness.Invocation {
	return []harness.Invocation{{Argv: []string{"/bin/sh", "-c", "cat listing"}, Dir: s.Dir}}
}
func (scripts) Cases(_ harness.Suite, listed []harness.Output) ([]order.Case, error) {
	var out []order.Case
	for line := range strings.Lines(string(listed[0].Stdout)) {
		out = append(out, order.Case{Name: strings.TrimSpace(line)})
	}
	return out, nil
}
func (scripts) Invocation(s harness.Suite, name string, _ order.Precision) (harness.Invocation, error) {
	return harness.Invocation{Argv: []string{"/bin/sh", "-c", name}, Dir: s.Dir, Variables: map[string]string{"SUITE": s.Program}}, nil
}
func (scripts) Read(_ harness.Suite, _ string, p order.Precision, quantities []string, out harness.Output) harness.Reading {
	if out.Result.Cause == proc.TimedOut {
		return harness.All(quantities, result.Failed, result.ReasonTimeout, "")
	}
	if len(out.Stdout) == 0 {
		return harness.All(quantities, result.Failed, result.ReasonNoOutput, string(out.Stderr))
	}
	r := harness.Reading{Attempted: p.Repetitions.Total(), Quantities: map[string]harness.Measured{}, InnerIterations: []int{1}}
	for _, q := range quantities {
		r.Quantities[q] = harness.Measured{Status: result.Success, Values: []float64{1}, Unit: strings.TrimSpace(string(out.Stdout))}
	}
	return r
}

// scriptOrder is an order for the scripts in a fresh checkout.
func scriptOrder(t *testing.T, change func(*order.BuildParams), cases ...string) order.BuildParams {
	t.Helper()
	s := harnesstest.New(t)
	if err := os.WriteFile(filepath.Join(s.Dir, "suite"), []byte("program"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.Dir, "listing"), []byte(strings.Join(cases, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s.Commit(t)
	p := order.BuildParams{
		RunKey: "demo", Side: "baseline", Requester: order.Requester{Kind: order.Person, Name: "ann"},
		Suites: []order.Suite{{Adapter: "scripts", Suite: "suite"}}, Quantities: []string{"wall-time"},
		Target:    order.Target{Kind: order.BuildTree, Path: s.Dir, SourceDir: s.Dir, Source: order.Source{URI: "https://example.org/demo.git"}},
		Precision: order.Precision{Repetitions: order.Times(1)}, Timeouts: order.Timeouts{CaseS: 60, OrderS: 600},
	}
	if change != nil {
		change(&p)
	}
	return p
}

func build(t *testing.T, p order.BuildParams) order.Order {
	t.Helper()
	o, err := order.Build(p)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func plan(cases ...string) []order.Entry {
	var out []order.Entry
	for i, c := range cases {
		out = append(out, order.Entry{ID: "p" + string(rune('0'+i)), Case: c, Quantity: "wall-time"})
	}
	return out
}

func paramsFor(t *testing.T, o order.Order) Params {
	t.Helper()
	return Params{Order: o, Dir: filepath.Join(t.TempDir(), "results"), Harnesses: harness.Set{scripts{}, gobench.Adapter{Processors: 2}}}
}

// sampleOf is the sample as a checkout.
func sampleOf(t *testing.T) harnesstest.Sample {
	t.Helper()
	s := harnesstest.New(t)
	s.Commit(t)
	return s
}

// goOrder is an order for the sample's benchmarks.
func goOrder(s harnesstest.Sample, filter string, change func(*order.BuildParams)) order.BuildParams {
	p := order.BuildParams{
		RunKey: "demo", Side: "baseline", Project: "demo", Requester: order.Requester{Kind: order.CI, Name: "tests"},
		Suites: []order.Suite{{Adapter: gobench.Name, Suite: s.Binary, Filter: filter,
			Parameters: canon.MustFrom(map[string]any{"dir": "pkg", "cpu": 2})}},
		Quantities: []string{"wall-time", "allocations"},
		Target:     order.Target{Kind: order.BuildTree, Path: s.Build, SourceDir: s.Dir, Source: order.Source{URI: "https://example.org/sample.git", Type: "git"}},
		Precision:  order.Precision{Repetitions: order.Times(3), Calibration: &order.Calibration{Mode: order.Fixed, NIterations: 50}},
		Timeouts:   order.Timeouts{CaseS: 60, OrderS: 600},
	}
	if change != nil {
		change(&p)
	}
	return p
}

// outcomes maps case and quantity to status and reason.
func outcomes(results []result.Result) map[string]string {
	out := map[string]string{}
	for _, r := range results {
		out[r.Provenance.NativeID+" "+r.Coordinates.Quantity.Name] = strings.TrimSpace(string(r.Measurement.Status) + " " + r.Measurement.Reason)
	}
	return out
}

// onDisk checks everything that a run leaves behind, and that it agrees with its
// report.
func onDisk(t *testing.T, dir string, rep Report) {
	t.Helper()
	if len(rep.Files) != len(rep.Results) || len(rep.Results) != len(rep.Order.Plan) {
		t.Fatalf("%d results in %d files for %d entries", len(rep.Results), len(rep.Files), len(rep.Order.Plan))
	}
	for i, r := range rep.Results {
		b, err := os.ReadFile(filepath.Join(dir, rep.Files[i]))
		if err != nil {
			t.Fatal(err)
		}
		again, err := result.Parse(b)
		if err != nil || again.Digest() != r.Digest() || again.FileName() != rep.Files[i] {
			t.Errorf("%s: %v", rep.Files[i], err)
		}
		if r.PlanEntry() != rep.Order.Plan[i].ID || r.WorkOrder() != rep.Order.Ref() {
			t.Errorf("%s: entry %s of %s", rep.Files[i], r.PlanEntry(), r.WorkOrder())
		}
		for _, a := range r.Provenance.Artifacts {
			if sum, err := fileSum(strings.TrimPrefix(a.URI, "file://")); err != nil || sum != a.SHA256 {
				t.Errorf("%s %s: %v", a.Kind, a.URI, err)
			}
		}
	}
	if sum, err := fileSum(filepath.Join(dir, rep.Order.FileName())); err != nil || "sha256:"+sum != rep.Order.Ref() {
		t.Errorf("order: %s %v", sum, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".writing-*")); len(left) > 0 {
		t.Errorf("half-written files: %v", left)
	}
}

func readAccount(t *testing.T, dir string) account {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "artifacts", "*", "run.json"))
	if err != nil || len(found) != 1 {
		t.Fatalf("accounts: %v %v", found, err)
	}
	b, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	var a account
	if err := json.Unmarshal(b, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// runIn starts a program in dir and wants it to succeed.
func runIn(t *testing.T, dir string, argv ...string) {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", argv, err, out)
	}
}
