package pyperf

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

// fixture reads a file in the form that pyperf writes.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// ended is an output of a run that ended by itself and left all its files.
func ended(exit int, native []byte) harness.Output {
	return harnesstest.Ended(exit, map[string][]byte{
		nativeFile: native, startFile: []byte(`{"sha256": "aa"}`), workerFile: []byte(`{"PYTHONHASHSEED": "0"}`),
	})
}

func precision(processes, values int) order.Precision {
	return order.Precision{Repetitions: order.Repetitions{Levels: []order.Level{{Unit: Process, N: processes}, {Unit: Value, N: values}}}}
}

func fixed(p order.Precision, loops int) order.Precision {
	p.Calibration = &order.Calibration{Mode: order.Fixed, NIterations: loops}
	return p
}
