package customjson

import (
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"writ/internal/canon"
	"writ/internal/harness"
	"writ/internal/harness/harnesstest"
	"writ/internal/order"
	"writ/internal/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var wall = []string{"wall-time"}

func times(n int) order.Precision { return order.Precision{Repetitions: order.Times(n)} }

// suite is one that was located with parameters.
func suite(parameters string) harness.Suite {
	return harness.Suite{Adapter: Name, Program: "/tree/bench", Dir: "/tree", Traits: map[string]string{traitSuite: "/tree/bench", traitParams: parameters}}
}

// tree holds executable files.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		testkit.Program(t, filepath.Join(dir, name), []byte(text))
	}
	return dir
}

// treeOrder is an order for a file of a tree.
func treeOrder(t *testing.T, dir, file, parameters string) order.Order {
	t.Helper()
	v, err := canon.Parse([]byte(parameters))
	if err != nil {
		t.Fatal(err)
	}
	return order.Order{
		Suites: []order.Suite{{Adapter: Name, Suite: file, Parameters: v}}, Quantities: wall, Precision: times(3),
		Target: order.Target{Kind: order.WorkingTree, Path: dir},
	}
}

// ended is a program that ended by itself and left a document.
func ended(exit int, document string) harness.Output {
	return harnesstest.Ended(exit, map[string][]byte{nativeFile: []byte(document)})
}
