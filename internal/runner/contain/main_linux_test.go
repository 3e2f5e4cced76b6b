package contain

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"writ/internal/fault"
	"writ/internal/harness/harnesstest"
	"writ/internal/runner/proc"
	"writ/internal/testkit"
)

// The test binary is also a process that makes environments: helperMode selects
// what it does.
const helperMode = "CONTAIN_TEST_HELPER"

func TestMain(m *testing.M) {
	if mode := os.Getenv(helperMode); mode != "" {
		helper(mode, os.Args[1:])
		syscall.Exit(0)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		harnesstest.Remove()
		os.Exit(code)
	}))
}

func helper(mode string, args []string) {
	p := Params{Root: args[0], Remote: args[1]}
	switch mode {
	case "owner": // makes an environment, runs a program in it, and waits to be killed
		e, err := New(context.Background(), p)
		if err != nil {
			fmt.Println("error", err)
			return
		}
		fmt.Println("environment", e.ID())
		out, err := os.OpenFile(args[2], os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			fmt.Println("error", err)
			return
		}
		e.Run(context.Background(), proc.Command{Argv: []string{"/bin/sh", "-c", "echo up; exec sleep 3600"}, Dir: e.area("tmp"), Stdout: out})
	case "denied": // a host that allows no more namespaces
		if err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0); err != nil {
			fmt.Println("cannot set up:", err)
			return
		}
		_, err := New(context.Background(), p)
		fmt.Println("code", fault.CodeOf(err))
	}
}

// setup makes a repository with one commit, and parameters for environments of it.
func setup(t *testing.T) (harnesstest.Sample, Params) {
	t.Helper()
	s := harnesstest.New(t)
	s.Commit(t)
	return s, Params{Root: filepath.Join(t.TempDir(), "environments"), Remote: s.Dir}
}

// environment makes one, or skips where the kernel denies it.
func environment(t *testing.T, p Params) *Environment {
	t.Helper()
	e, err := New(t.Context(), p)
	if fault.CodeOf(err) == fault.NotContained {
		testkit.Skip(t, "user namespaces: "+err.Error(), "sysctl -w user.max_user_namespaces=1000")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := e.Destroy(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return e
}

// run executes a command line inside and returns what it wrote, trimmed, and how
// it ended.
func run(t *testing.T, l proc.Launcher, e *Environment, dir string, argv ...string) (string, proc.Result) {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "out")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := l.Run(t.Context(), proc.Command{Argv: argv, Dir: dir, Env: e.Environ(), Stdout: f, Stderr: f, Timeout: 5 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(b)), r
}

// shell runs a script inside and fails the test when it fails.
func shell(t *testing.T, l proc.Launcher, e *Environment, dir, script string) string {
	t.Helper()
	out, r := run(t, l, e, dir, "/bin/sh", "-c", script)
	if !r.OK() {
		t.Fatalf("%s: %+v\n%s", script, r, out)
	}
	return out
}

// goEnv returns a setting of the go command of whoever runs the tests.
func goEnv(t *testing.T, name string) string {
	t.Helper()
	b, err := exec.Command("go", "env", name).Output()
	if err != nil {
		testkit.Skip(t, "the go command", "https://go.dev/doc/install")
	}
	return strings.TrimSpace(string(b))
}

func until(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if cond() {
			return
		}
	}
	t.Fatalf("gave up waiting: %s", what)
}
