package criterion

import (
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

// fixture reads what a real program wrote: version 0.3.6 of the library, with ten
// samples in one second.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// left is an output of a program that ended by itself and left the three files.
func left(exit int, sample, benchmark, estimates []byte) harness.Output {
	files := map[string][]byte{sampleFile: sample, benchmarkFile: benchmark, estimatesFile: estimates}
	for name, b := range files {
		if b == nil {
			delete(files, name)
		}
	}
	return harnesstest.Ended(exit, files)
}

// recorded is what a real run left.
func recorded(t testing.TB, exit int, dir string) harness.Output {
	return left(exit, fixture(t, dir+"/sample.json"), fixture(t, dir+"/benchmark.json"), fixture(t, dir+"/estimates.json"))
}

// ordered is a precision that a program of any version takes: n samples in a second,
// a second of warm-up.
func ordered(n int) order.Precision {
	return order.Precision{
		Repetitions: order.Times(n), Calibration: &order.Calibration{Mode: order.Adaptive, MinimumSampleSeconds: 1 / float64(n)},
		Warmup: &order.Warmup{Mode: order.Time, Seconds: 1},
	}
}

// suite is one of a program with flags.
func suite(flags string) harness.Suite {
	return harness.Suite{Adapter: Name, Program: "/build/bench", Dir: "/build", Traits: map[string]string{traitFlags: flags}}
}
