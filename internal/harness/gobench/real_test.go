package gobench

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/harness/harnesstest"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/runner/proc"
	"writ/internal/testkit"
)

// launch runs an invocation with a keeper and reads what it wrote.
func launch(t *testing.T, k *proc.Keeper, inv harness.Invocation, env ...string) harness.Output {
	t.Helper()
	dir := t.TempDir()
	var files [2]*os.File
	for i, name := range []string{"stdout", "stderr"} {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		files[i] = f
	}
	r, err := k.Run(t.Context(), proc.Command{Argv: inv.Argv, Dir: inv.Dir, Env: env, Stdout: files[0], Stderr: files[1]})
	if err != nil {
		t.Fatal(err)
	}
	out := harness.Output{Result: r}
	for i, b := range []*[]byte{&out.Stdout, &out.Stderr} {
		if *b, err = os.ReadFile(files[i].Name()); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func sampleOrder(s harnesstest.Sample, parameters map[string]any) (order.Order, order.Suite) {
	su := order.Suite{Adapter: Name, Suite: s.Binary, Parameters: canon.MustFrom(parameters)}
	return order.Order{Suites: []order.Suite{su}, Target: order.Target{Kind: order.BuildTree, Path: s.Build, SourceDir: s.Dir}}, su
}

func TestARealBinary(t *testing.T) {
	t.Parallel()
	s := harnesstest.New(t)
	k, err := proc.Start(t.Context(), proc.Isolation{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	a := Adapter{Processors: 2}
	found, err := a.Locate(sampleOrder(s, map[string]any{"dir": "pkg"}))
	if err != nil {
		t.Fatal(err)
	}
	var outs []harness.Output
	for _, inv := range a.Listing(found) {
		outs = append(outs, launch(t, k, inv))
	}
	cases, err := a.Cases(found, outs)
	if err != nil {
		t.Fatal(err)
	}
	full := make([]string, len(listed))
	for i, name := range listed {
		full[i] = harnesstest.Package + "/pkg." + name
	}
	if diff := cmp.Diff(full, names(cases)); diff != "" {
		t.Errorf("cases (-want +got):\n%s", diff)
	}
	want := map[string]string{ // of wall-time; every other case is a success
		"BenchmarkStrayText": result.ReasonNoOutput, "BenchmarkFail": result.ReasonHarnessError, "BenchmarkMixed/bad": result.ReasonHarnessError,
		"BenchmarkSkip": result.ReasonSkipped, "BenchmarkMetric": result.ReasonNoOutput, "BenchmarkFlaky": result.ReasonPartial,
	}
	for i, name := range listed {
		inv, err := a.Invocation(found, full[i], times(3))
		if err != nil {
			t.Fatal(err)
		}
		out := launch(t, k, inv)
		if strings.Contains(string(out.Stdout), "tests run") {
			t.Errorf("%s: tests were run too", name)
		}
		m := a.Read(found, full[i], times(3), all, out).Quantities["wall-time"]
		if m.Reason != want[name] || (m.Status == result.Success) != (m.Reason == "") {
			t.Errorf("%s: got %+v, want %q\n%s", name, m, want[name], out.Stdout)
		}
	}
	bytes := a.Read(found, "BenchmarkBytes", times(1), all, launch(t, k, must(a.Invocation(found, "BenchmarkBytes", times(1)))(t)))
	for _, q := range all {
		if bytes.Quantities[q].Status != result.Success {
			t.Errorf("BenchmarkBytes: %s is %+v", q, bytes.Quantities[q])
		}
	}
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestLocate(t *testing.T) {
	t.Parallel()
	s := harnesstest.New(t)
	o, su := sampleOrder(s, map[string]any{"dir": "pkg", "cpu": 3})
	got, err := Adapter{Processors: 2}.Locate(o, su)
	if err != nil {
		t.Fatal(err)
	}
	if got.Program != filepath.Join(s.Build, s.Binary) || got.Dir != filepath.Join(s.Dir, "pkg") || got.Processors != 3 || got.SourceDir != s.Dir {
		t.Errorf("got %+v", got)
	}
	if got.Label != harnesstest.Package+"/pkg" {
		t.Errorf("label %q", got.Label)
	}
	if got.Configuration["CGO_ENABLED"] != "0" || got.Configuration["-trimpath"] != "true" || got.Version == "" {
		t.Errorf("configuration %v, version %q", got.Configuration, got.Version)
	}
	for name := range got.Configuration {
		if strings.HasPrefix(name, "vcs") {
			t.Errorf("the configuration names the revision: %s", name)
		}
	}
	o.EnvironmentVariables = map[string]string{"GOMAXPROCS": "3"}
	if got, err := (Adapter{Processors: 2}).Locate(o, su); err != nil || got.Processors != 3 {
		t.Errorf("the same count twice: %+v %v", got, err)
	}
	if got, err := (Adapter{}).Locate(sampleOrder(s, nil)); err != nil || got.Processors != runtime.GOMAXPROCS(0) {
		t.Errorf("this machine: %+v %v", got, err)
	}
	o, su = sampleOrder(s, nil)
	if got, err := (Adapter{Processors: 2}).Locate(o, su); err != nil || got.Processors != 2 || got.Dir != s.Dir {
		t.Errorf("defaults: %+v %v", got, err)
	}
}

func TestLocateRefusals(t *testing.T) {
	t.Parallel()
	s := harnesstest.New(t)
	plain := filepath.Join(s.Build, "script")
	testkit.Program(t, plain, []byte("#!/bin/sh\n"))
	if err := os.WriteFile(filepath.Join(s.Build, "data"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		suite      string
		parameters map[string]any
		variables  map[string]string
		want       fault.Code
	}{
		"missing":            {"none.test", nil, nil, fault.Target},
		"not executable":     {"data", nil, nil, fault.Target},
		"not Go":             {"script", nil, nil, fault.Target},
		"a directory":        {".", nil, nil, fault.Target},
		"outside":            {"../x.test", nil, nil, fault.OutsidePath},
		"absolute":           {plain, nil, nil, fault.OutsidePath},
		"directory outside":  {s.Binary, map[string]any{"dir": "../x"}, nil, fault.OutsidePath},
		"directory absent":   {s.Binary, map[string]any{"dir": "x"}, nil, fault.Target},
		"directory no text":  {s.Binary, map[string]any{"dir": 1}, nil, fault.OutsidePath},
		"no processor":       {s.Binary, map[string]any{"cpu": 0}, nil, fault.Refused},
		"half a processor":   {s.Binary, map[string]any{"cpu": 1.5}, nil, fault.Refused},
		"counts that differ": {s.Binary, map[string]any{"cpu": 2}, map[string]string{"GOMAXPROCS": "4"}, fault.Refused},
		"count of words":     {s.Binary, nil, map[string]string{"GOMAXPROCS": "many"}, fault.Refused},
	} {
		o, su := sampleOrder(s, tc.parameters)
		su.Suite, o.EnvironmentVariables = tc.suite, tc.variables
		if _, err := (Adapter{Processors: 2}).Locate(o, su); fault.CodeOf(err) != tc.want {
			t.Errorf("%s: got %v, want %s", name, err, tc.want)
		}
	}
}
