package pytestbenchmark

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

// fixture reads what a real run wrote: testdata/sample with version 3.2.2 of the
// plugin and 7.2.1 of pytest, or 5.1.0 and 8.3.5 where the name says so.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// passed is a report of one test that passed.
const passed = `<?xml version="1.0" encoding="utf-8"?><testsuites><testsuite tests="1"><testcase classname="t" name="a" time="1"/></testsuite></testsuites>`

// ended is an output of a run that ended by itself and left both files.
func ended(exit int, native, report []byte) harness.Output {
	return harnesstest.Ended(exit, map[string][]byte{nativeFile: native, junitFile: report})
}

func times(n int) order.Precision { return order.Precision{Repetitions: order.Times(n)} }

func warm(n, warmups int) order.Precision {
	p := times(n)
	p.Warmup = &order.Warmup{Mode: order.Count, NWarmup: &warmups}
	return p
}
