package gobench

import (
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"writ/internal/harness"
	"writ/internal/harness/harnesstest"
	"writ/internal/runner/proc"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		harnesstest.Remove()
		os.Exit(code)
	}))
}

// fixture reads what a real binary printed.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// ended is an output of a program that ended by itself.
func ended(exit int, stdout []byte) harness.Output {
	return harness.Output{Result: proc.Result{Cause: proc.Exited, Exit: exit}, Stdout: stdout}
}
