package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"writ/internal/cli"
	"writ/internal/fault"
	"writ/internal/runner/contain"
	"writ/internal/testkit"
)

// TestMain lets this binary be what a node starts: the command that a landing
// qualifies with, and, for tests that kill it, the server itself.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == "gate":
		os.Exit(cli.Main(os.Args[1:]))
	case os.Getenv(serveVariable) != "":
		os.Exit(serveAlone(os.Getenv(serveVariable)))
	}
	goleak.VerifyTestMain(m)
}

// needContainment skips where the kernel lets nobody be contained: then a host
// runs nothing.
func needContainment(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		testkit.Skip(t, "the go command", "https://go.dev/dl")
	}
	if err := containment(); fault.CodeOf(err) == fault.NotContained {
		testkit.Skip(t, "user namespaces: "+err.Error(), "sysctl -w kernel.unprivileged_userns_clone=1")
	} else if err != nil {
		t.Fatal(err)
	}
}

// containment makes an environment and destroys it, once.
var containment = sync.OnceValue(func() error {
	dir, err := os.MkdirTemp("", "writ-e2e-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	s, err := newSample(ctx, filepath.Join(dir, "origin.git"))
	if err != nil {
		return err
	}
	e, err := contain.New(ctx, contain.Params{Root: filepath.Join(dir, "work"), Remote: s.repo.Dir})
	if err != nil {
		return err
	}
	_, err = e.Destroy(ctx)
	return err
})
