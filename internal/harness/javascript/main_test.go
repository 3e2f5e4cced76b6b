package javascript

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

var (
	wall = []string{"wall-time"}
	some = Adapter{Spec: Spec{
		Name: "some", Package: "some", Module: "some/node", Least: [2]int{2, 1}, Extensions: []string{".mjs"}, Prefixes: []string{"SOME_"},
		Warmup: []string{order.None, order.Count, order.Time}, Files: map[string][]byte{"driver.mjs": []byte("driver"), "more.mjs": []byte("more")},
	}}
)

// fixture reads what a real run left: three repetitions of 20 ms, with the harness
// and the major version that the name says.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// ordered is the precision of the fixtures with n repetitions.
func ordered(n int) order.Precision {
	return order.Precision{
		Repetitions: order.Times(n), Calibration: &order.Calibration{Mode: order.Adaptive, MinimumSampleSeconds: 0.02}, Warmup: &order.Warmup{Mode: order.None},
	}
}

func ended(exit int, native []byte) harness.Output {
	files := map[string][]byte{}
	if native != nil {
		files[nativeFile] = native
	}
	return harnesstest.Ended(exit, files)
}
