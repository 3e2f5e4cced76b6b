package googlebenchmark

import (
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"writ/internal/harness"
	"writ/internal/harness/harnesstest"
	"writ/internal/order"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if path := sampleBuilt; path != "" {
			os.RemoveAll(filepath.Dir(path))
		}
		os.Exit(code)
	}))
}

// fixture reads what a real program wrote: testdata/sample.cc with version 1.7.1
// of the library, or 1.9.1 where the name says so.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// ended is an output of a program that ended by itself and left a file.
func ended(exit int, native []byte) harness.Output {
	return harnesstest.Ended(exit, map[string][]byte{nativeFile: native})
}

// probed is a suite of a library of a version.
func probed(t testing.TB, version string) harness.Suite {
	t.Helper()
	s, err := Adapter{}.Settle(
		harness.Suite{Program: "/b/sample", Dir: "/b", Traits: map[string]string{traitLocale: "C"}},
		[]harness.Output{{Stdout: fixture(t, "help-"+version+".txt")}},
	)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func times(n int) order.Precision { return order.Precision{Repetitions: order.Times(n)} }

func fixed(n, iterations int) order.Precision {
	p := times(n)
	p.Calibration = &order.Calibration{Mode: order.Fixed, NIterations: iterations}
	return p
}
