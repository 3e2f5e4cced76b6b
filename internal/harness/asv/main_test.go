package asv

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

// fixture is hand-made, in the form of version 2 of the tool's files.
func fixture(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// left is an output of a run that ended by itself and left both files.
func left(exit int, results, benchmarks string) harness.Output {
	files := map[string][]byte{}
	for name, text := range map[string]string{nativeFile: results, benchmarksFile: benchmarks} {
		if text != "" {
			files[name] = []byte(text)
		}
	}
	return harnesstest.Ended(exit, files)
}

// ordered is the precision of the fixtures, with n samples.
func ordered(n int) order.Precision {
	return order.Precision{
		Repetitions: order.Times(n), Calibration: &order.Calibration{Mode: order.Adaptive, MinimumSampleSeconds: 0.01}, Warmup: &order.Warmup{Mode: order.None},
	}
}
