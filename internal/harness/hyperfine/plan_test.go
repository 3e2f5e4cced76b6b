package hyperfine

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/order"
)

// folder has something that may be executed and is called hyperfine.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"hyperfine", "tool"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestPrecision(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	o := treeOrder(dir, map[string]any{"cases": map[string]any{"it's": []string{"tool", "a b", "$x", "'", ""}}, "shell": "bash"})
	a := Adapter{Path: dir}
	s, err := a.Locate(o, o.Suites[0])
	if err != nil {
		t.Fatal(err)
	}
	inv, err := a.Invocation(s, "it's", warm(times(7), 2))
	want := []string{
		filepath.Join(dir, "hyperfine"), "--shell=bash", "--runs=7", "--warmup=2", "--ignore-failure", "--style=none",
		"--export-json=" + harness.InExchange(nativeFile), "--command-name=it's", "--", filepath.Join(dir, "tool") + ` 'a b' '$x' ''\''' ''`,
	}
	if diff := cmp.Diff(want, inv.Argv); diff != "" || err != nil || inv.Dir != dir {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for pointer, p := range map[string]order.Precision{
		"/precision/calibration/mode":     {Repetitions: order.Times(1), Calibration: &order.Calibration{Mode: order.Adaptive, MinimumSampleSeconds: 1}},
		"/precision/warmup/mode":          {Repetitions: order.Times(1), Warmup: &order.Warmup{Mode: order.Time, Seconds: 1}},
		"/precision/repetitions/levels/1": {Repetitions: order.Repetitions{Levels: []order.Level{{Unit: "repetition", N: 1}, {Unit: "repetition", N: 2}}}},
		"/precision/repetitions":          times(1<<20 + 1),
		"/precision/warmup/n_warmup":      warm(times(1), 1<<20+1),
	} {
		_, err := a.Invocation(s, "it's", p)
		if e, ok := fault.As(err); !ok || e.Code != fault.Refused || e.Pointer != pointer {
			t.Errorf("%s: %v", pointer, err)
		}
	}
	if _, err := a.Invocation(s, "other", times(1)); fault.CodeOf(err) != fault.Refused {
		t.Errorf("a case that is not there: %v", err)
	}
}

func TestLocateRefuses(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	argv := []string{"./tool"}
	for name, tc := range map[string]struct {
		parameters map[string]any
		variables  map[string]string
		code       fault.Code
		pointer    string
	}{
		"no command":     {map[string]any{}, nil, fault.Refused, "/suites/0/parameters"},
		"shell as flag":  {map[string]any{"argv": argv, "shell": "-x"}, nil, fault.Refused, "/suites/0/parameters/shell"},
		"shell as truth": {map[string]any{"argv": argv, "shell": false}, nil, fault.Refused, "/suites/0/parameters/shell"},
		"not installed":  {map[string]any{"argv": argv, "hyperfine": "hyperfine-9"}, nil, fault.Target, "/suites/0/adapter"},
		"its variable":   {map[string]any{"argv": argv}, map[string]string{"HYPERFINE_RANDOMIZED_ENVIRONMENT_OFFSET": "X"}, fault.Refused, "/environment_variables/HYPERFINE_RANDOMIZED_ENVIRONMENT_OFFSET"},
		"other path":     {map[string]any{"argv": argv}, map[string]string{"PATH": "/nowhere"}, fault.Target, "/suites/0/adapter"},
	} {
		o := treeOrder(dir, tc.parameters)
		o.EnvironmentVariables = tc.variables
		_, err := Adapter{Path: dir}.Locate(o, o.Suites[0])
		if e, ok := fault.As(err); !ok || e.Code != tc.code || e.Pointer != tc.pointer {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSettle(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"hyperfine 1.15.0\n": "1.15.0", "hyperfine 1.13.0": "1.13.0", "hyperfine 2.0": "2.0", "hyperfine 1.20.0-rc.1\n": "1.20.0-rc.1",
		"hyperfine 1.12.0\n": "", "hyperfine 0.99\n": "", "hyperfine": "", "tool 1.15.0": "", "hyperfine one.two": "", "hyperfine 1.15\nmore": "", "": "",
	} {
		s, err := Adapter{}.Settle(harness.Suite{Program: "/x"}, []harness.Output{{Result: ended(0, nil).Result, Stdout: []byte(said)}})
		if s.Version != want || (err == nil) != (want != "") || err != nil && fault.CodeOf(err) != fault.Target {
			t.Errorf("%q: %q %v", said, s.Version, err)
		}
	}
	if _, err := (Adapter{}).Settle(harness.Suite{}, []harness.Output{{Result: ended(1, nil).Result, Stdout: []byte("hyperfine 1.15.0\n")}}); fault.CodeOf(err) != fault.Target {
		t.Errorf("a program that fails: %v", err)
	}
}

func TestCapabilities(t *testing.T) {
	t.Parallel()
	c := Adapter{}.Capabilities()
	for q, pointer := range map[string]string{"peak-rss": "/quantities/0", "cpu-time": "/quantities/0", "wall-time": ""} {
		o := treeOrder(t.TempDir(), map[string]any{"argv": []string{"true"}})
		o.Quantities = []string{q}
		err := order.Check(o, c)
		if e, ok := fault.As(err); pointer != "" && (!ok || e.Pointer != pointer) || pointer == "" && err != nil {
			t.Errorf("%s: %v", q, err)
		}
	}
	if !slices.IsSorted(c.Quantities) {
		t.Errorf("not in order: %v", c.Quantities)
	}
}
