// Package harnesstest builds a small Go module with benchmarks of every kind,
// for tests of the packages that run them. It is imported by tests only.
package harnesstest

import (
	"embed"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"writ/internal/testkit"
)

//go:embed sample
var sample embed.FS

// Package is the import path of the sample's package.
const Package = "example.org/sample"

// Sample is a directory with the module and its test binary.
type Sample struct {
	Dir    string // the module: a git work tree when Commit was called
	Binary string // file name of the test binary in Build
	Build  string // directory of the binary
}

// PrebuiltVariable names the environment variable with the path of a binary that
// is taken instead of building one, for tests that run as another user.
const PrebuiltVariable = "WRIT_SAMPLE_BINARY"

var built struct {
	sync.Once
	dir string
	err error
	log []byte
}

// New gives the test its own copy of the module. The binary is built once per
// test process, without cgo.
func New(t testing.TB) Sample {
	t.Helper()
	built.Do(build)
	if built.err != nil {
		if _, err := exec.LookPath("go"); err != nil {
			testkit.Skip(t, "the go command", "https://go.dev/doc/install")
		}
		t.Fatalf("build the sample: %v\n%s", built.err, built.log)
	}
	s := Sample{Dir: t.TempDir(), Build: t.TempDir(), Binary: "sample.test"}
	if err := write(s.Dir); err != nil {
		t.Fatal(err)
	}
	from := os.Getenv(PrebuiltVariable)
	if from == "" {
		from = filepath.Join(built.dir, s.Binary)
	}
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.Build, s.Binary), b, 0o755); err != nil {
		t.Fatal(err)
	}
	return s
}

// Build builds the test binary of a module that a test has changed.
func Build(t testing.TB, dir string) Sample {
	t.Helper()
	s := Sample{Dir: dir, Build: t.TempDir(), Binary: "sample.test"}
	BuildPackage(t, dir, "./pkg", filepath.Join(s.Build, s.Binary))
	return s
}

// BuildPackage builds the test binary of one package of a module.
func BuildPackage(t testing.TB, dir, pkg, out string) {
	t.Helper()
	if log, err := compile(dir, pkg, out); err != nil {
		t.Fatalf("build %s: %v\n%s", pkg, err, log)
	}
}

// Remove deletes what New built; call it at the end of TestMain.
func Remove() {
	if built.dir != "" {
		os.RemoveAll(built.dir)
	}
}

func build() {
	if os.Getenv(PrebuiltVariable) != "" {
		return
	}
	if built.dir, built.err = os.MkdirTemp("", "sample-"); built.err != nil {
		return
	}
	src := filepath.Join(built.dir, "src")
	if built.err = write(src); built.err != nil {
		return
	}
	built.log, built.err = compile(src, "./pkg", filepath.Join(built.dir, "sample.test"))
}

func compile(src, pkg, out string) ([]byte, error) {
	cmd := exec.Command("go", "test", "-c", "-trimpath", "-buildvcs=false", "-o", out, pkg)
	cmd.Dir = src
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	return cmd.CombinedOutput()
}

// write copies the module to dir.
func write(dir string) error {
	entries := map[string]string{
		"sample/go.mod.txt":       "go.mod",
		"sample/work.go.txt":      "pkg/work.go",
		"sample/work_test.go.txt": "pkg/work_test.go",
		"sample/input.txt":        "pkg/testdata/input.txt",
	}
	for from, to := range entries {
		b, err := sample.ReadFile(from)
		if err != nil {
			return err
		}
		path := filepath.Join(dir, to)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Commit makes the module a git repository with one commit.
func (s Sample) Commit(t testing.TB) {
	t.Helper()
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"commit", "-q", "-m", "sample"}} {
		s.Git(t, args...)
	}
}

// Git runs git in the module, with a fixed author and no configuration of the
// user's, and returns what it prints.
func (s Sample) Git(t testing.TB, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = s.Dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.Build, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org"}
	b, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, b)
	}
	return strings.TrimSpace(string(b))
}
