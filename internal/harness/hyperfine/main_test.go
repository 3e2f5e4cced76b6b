package hyperfine

import (
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"writ/internal/canon"
	"writ/internal/harness"
	"writ/internal/harness/harnesstest"
	"writ/internal/order"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture reads what hyperfine 1.15 wrote, or a file in the form of another
// version that its name says.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func ended(exit int, native []byte) harness.Output {
	return harnesstest.Ended(exit, map[string][]byte{nativeFile: native})
}

func times(n int) order.Precision { return order.Precision{Repetitions: order.Times(n)} }

func warm(p order.Precision, n int) order.Precision {
	p.Warmup = &order.Warmup{Mode: order.Count, NWarmup: &n}
	return p
}

// treeOrder is an order for command lines in a folder.
func treeOrder(dir string, parameters map[string]any) order.Order {
	return order.Order{
		Suites:     []order.Suite{{Adapter: Name, Suite: ".", Parameters: canon.MustFrom(parameters)}},
		Quantities: []string{"wall-time"}, Precision: times(3), Target: order.Target{Kind: order.WorkingTree, Path: dir},
	}
}

// expecting is a suite with the exit statuses that count.
func expecting(exit string) harness.Suite {
	return harness.Suite{Traits: map[string]string{"exit": exit}}
}
