package googlebenchmark

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/harness/harnesstest"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/testkit"
)

// sampleBuilt is where sample put the program; "" until then.
var sampleBuilt string

// sample is the program, compiled once with the library of this machine.
var sample = sync.OnceValues(func() (path, log string) {
	dir, err := os.MkdirTemp("", "sample-")
	if err != nil {
		return "", err.Error()
	}
	path = filepath.Join(dir, "bench")
	sampleBuilt = path
	out, err := exec.Command("g++", "-O1", "-o", path, "testdata/sample.cc", "-lbenchmark", "-lpthread").CombinedOutput()
	if err != nil {
		log = err.Error() + "\n" + string(out)
	}
	return path, log
})

// build gives a test a folder with the program.
func build(t *testing.T) (dir string) {
	t.Helper()
	path, log := sample()
	switch {
	case strings.Contains(log, exec.ErrNotFound.Error()):
		testkit.Skip(t, "a C++ compiler", install)
	case strings.Contains(log, "benchmark/benchmark.h"):
		testkit.Skip(t, "the Google Benchmark library", install)
	case log != "":
		t.Fatalf("compile the sample: %s", log)
	}
	dir = t.TempDir()
	if err := os.Symlink(path, filepath.Join(dir, "bench")); err != nil {
		t.Fatal(err)
	}
	return dir
}

const install = "apt-get install -y g++ libbenchmark-dev"

func TestARealProgram(t *testing.T) {
	t.Parallel()
	dir := build(t)
	d := harnesstest.Drive(t, Adapter{}, "PATH="+os.Getenv("PATH"), "BENCHMARK_REPETITIONS=7", "BENCHMARK_FILTER=BM_t", "BENCHMARK_REPORT_AGGREGATES_ONLY=true")
	o := suiteOrder(dir, order.BuildTree, nil)
	o.Suites[0].Filter = ""
	s, err := d.Suite(o)
	if err != nil {
		t.Fatal(err)
	}
	if s.Shared || s.Version == "" || s.Traits[traitFlags] == "" {
		t.Errorf("suite %+v", s)
	}
	cases, err := d.Cases(s)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(listed, names(cases)); diff != "" {
		t.Fatalf("cases (-want +got):\n%s", diff)
	}
	p := times(3)
	p.Calibration = &order.Calibration{Mode: order.Adaptive, MinimumSampleSeconds: 0.0001}
	want := map[string]string{ // reason of wall-time; every other case is a success
		"BM_repeats/repeats:4": result.ReasonMapping, "BM_aggregates/repeats:3": result.ReasonNoOutput, "BM_error": result.ReasonHarnessError,
		"BM_clash": result.ReasonMapping, "BM_label": result.ReasonMapping, "BM_zero/iterations:10/manual_time": result.ReasonMapping,
	}
	for _, name := range listed {
		got, out := d.Measure(s, name, p, "wall-time", "cpu-time")
		m := got.Quantities["wall-time"]
		if m.Reason != want[name] || (m.Status == result.Success) != (want[name] == "") || m.Status == result.Success && len(m.Values) != 3 {
			t.Errorf("%s: got %+v, want %q\n%s", name, got, want[name], out.Files[nativeFile])
		}
		if slices.Contains(got.Warnings, warnStranger) {
			t.Errorf("%s: other cases ran too\n%s", name, out.Files[nativeFile])
		}
	}
	got, _ := d.Measure(s, "BM_counters", p, "throughput-bytes", "throughput-items")
	for q, m := range got.Quantities {
		if m.Status != result.Success || len(m.Summaries) == 0 {
			t.Errorf("%s: %+v", q, m)
		}
	}
}

func TestARealProgramThatMisbehaves(t *testing.T) {
	t.Parallel()
	dir := build(t)
	const name = "BM_behave/iterations:10"
	for how, want := range map[string]struct {
		status result.Status
		reason string
	}{
		"abort": {result.Failed, result.ReasonHarnessError},
		"exit":  {result.Failed, result.ReasonHarnessError},
		"late":  {result.Partial, result.ReasonPartial},
		"print": {result.Success, ""},
		"sleep": {result.Failed, result.ReasonTimeout},
		"again": {result.Success, ""}, // as libraries that turn off the layout's randomness do
	} {
		d := harnesstest.Drive(t, Adapter{}, "BEHAVE="+how)
		o := suiteOrder(dir, order.BuildTree, nil)
		s, err := d.Suite(o)
		if err != nil {
			t.Fatal(err)
		}
		if how == "sleep" {
			d.Timeout = 300 * time.Millisecond
		}
		got, out := d.Measure(s, name, times(2), "wall-time")
		if m := got.Quantities["wall-time"]; m.Status != want.status || m.Reason != want.reason {
			t.Errorf("%s: got %+v\n%s", how, got, out.Stderr)
		}
		if how == "again" && !strings.Contains(string(out.Stderr), "once more\n") {
			t.Errorf("the program did not start itself once more\n%s", out.Stderr)
		}
	}
}

func TestARealListingUnderFilters(t *testing.T) {
	t.Parallel()
	dir := build(t)
	d := harnesstest.Drive(t, Adapter{})
	o := suiteOrder(dir, order.BuildTree, nil)
	for filter, want := range map[string]int{"BM_t": 4, "^BM_t$": 1, "-BM_": 1, "nothing": 0} {
		o.Suites[0].Filter = filter
		s, err := d.Suite(o)
		if err != nil {
			t.Fatal(err)
		}
		if cases, err := d.Cases(s); err != nil || len(cases) != want {
			t.Errorf("%q: %v %v", filter, names(cases), err)
		}
	}
	o.Suites[0].Filter = "("
	s, err := d.Suite(o)
	if err != nil {
		t.Fatal(err)
	}
	if cases, err := d.Cases(s); fault.CodeOf(err) != fault.Harness {
		t.Errorf("a broken filter: %v %v", cases, err)
	}
	o.Suites[0].Suite = "other"
	testkit.Program(t, filepath.Join(dir, "other"), []byte("#!/bin/sh\necho usage: other\n"))
	if _, err := d.Suite(o); fault.CodeOf(err) != fault.Target {
		t.Errorf("another program: %v", err)
	}
}

func TestAProgramThatLoadsTheProject(t *testing.T) {
	t.Parallel()
	compiler, err := exec.LookPath("g++")
	if err != nil {
		testkit.Skip(t, "a C++ compiler", install)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"part.cc": "int part() { return 1; }\n", "main.cc": "int part();\nint main() { return part(); }\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"-shared", "-fPIC", "-o", "libbenchmark_part.so", "part.cc"},
		{"-o", "whole", "main.cc", "part.cc"}, {"-o", "split", "main.cc", "-L.", "-lbenchmark_part"},
	} {
		cmd := exec.Command(compiler, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
	}
	if harness.LoadsMore(filepath.Join(dir, "whole")) || !harness.LoadsMore(filepath.Join(dir, "split")) {
		t.Error("which program holds all of the code?")
	}
}
