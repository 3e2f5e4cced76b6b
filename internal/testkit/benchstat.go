package testkit

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Benchstat builds the tool itself from its module, and returns its path.
func Benchstat(t testing.TB) string {
	t.Helper()
	const install = "go mod download golang.org/x/perf"
	module, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/perf").Output()
	if err != nil {
		Skip(t, "benchstat's module: "+err.Error(), install)
	}
	program := filepath.Join(t.TempDir(), "benchstat")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cmd/benchstat")
	build.Dir = strings.TrimSpace(string(module))
	build.Env = append(os.Environ(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		Skip(t, fmt.Sprintf("benchstat cannot be built: %v: %s", err, out), install)
	}
	return program
}
