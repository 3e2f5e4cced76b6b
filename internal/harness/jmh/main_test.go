package jmh

import (
	"archive/zip"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"writ/internal/harness"
	"writ/internal/harness/harnesstest"
	"writ/internal/order"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var wall = []string{"wall-time"}

const caseName = "org.sample.Sums.loop:size=10,text=a b"

// fixture is hand-made, in the form that version 1.37 writes: two forks of three
// iterations.
func fixture(t testing.TB) string {
	t.Helper()
	b, err := os.ReadFile("testdata/avgt.json")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func ended(exit int, native string) harness.Output {
	if native == "" {
		return harnesstest.Ended(exit, nil)
	}
	return harnesstest.Ended(exit, map[string][]byte{nativeFile: []byte(native)})
}

// ordered is the precision of the fixture.
func ordered(forks, iterations int) order.Precision {
	one := 1
	return order.Precision{
		Repetitions: order.Repetitions{Levels: []order.Level{{Unit: Process, N: forks}, {Unit: Iteration, N: iterations}}},
		Calibration: &order.Calibration{Mode: order.Adaptive, MinimumSampleSeconds: 0.1}, Warmup: &order.Warmup{Mode: order.Count, NWarmup: &one},
	}
}

// jar writes an archive with entries.
func jar(t testing.TB, path string, entries map[string]string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := zip.NewWriter(f)
	for name, text := range entries {
		e, err := w.Create(name)
		if err == nil {
			_, err = e.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// project has a jar with benchmarks.
func project(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "target"), 0o755); err != nil {
		t.Fatal(err)
	}
	jar(t, filepath.Join(dir, "target", "benchmarks.jar"), map[string]string{benchmarkList: "JMH S 19 org.sample.Sums", coreVersion: "# made\nversion=1.37\ngroupId=org.openjdk.jmh\n"})
	return dir
}

func buildOrder(dir string, quantities ...string) order.Order {
	return order.Order{
		Suites: []order.Suite{{Adapter: Name, Suite: "target/benchmarks.jar"}}, Quantities: quantities, Precision: ordered(2, 3),
		Target: order.Target{Kind: order.BuildTree, Path: dir},
	}
}
