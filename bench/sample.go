package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// cases is how many benchmarks the sample has.
const cases = 20

// sample is a committed Go module whose benchmarks do nothing, and its test binary.
type sample struct {
	source, build, binary string
}

// makeSample builds the sample below dir. It takes the go command and git.
func makeSample(ctx context.Context, dir string) (sample, error) {
	s := sample{source: filepath.Join(dir, "source"), build: filepath.Join(dir, "build"), binary: "empty.test"}
	for _, d := range []string{s.source, s.build} {
		if err := os.Mkdir(d, 0o755); err != nil {
			return s, err
		}
	}
	code := strings.Builder{}
	code.WriteString("package empty\n\nimport \"testing\"\n")
	for i := range cases {
		fmt.Fprintf(&code, "\nfunc BenchmarkEmpty%02d(b *testing.B) {\n\tfor b.Loop() {\n\t}\n}\n", i)
	}
	for name, text := range map[string]string{"go.mod": "module example.org/empty\n\ngo 1.25\n", "empty_test.go": code.String()} {
		if err := os.WriteFile(filepath.Join(s.source, name), []byte(text), 0o644); err != nil {
			return s, err
		}
	}
	c := exec.CommandContext(ctx, "go", "test", "-c", "-trimpath", "-buildvcs=false", "-o", filepath.Join(s.build, s.binary), ".")
	c.Dir = s.source
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	if out, err := c.CombinedOutput(); err != nil {
		return s, fmt.Errorf("go test: %w\n%s", err, out)
	}
	return s, checkIn(ctx, s.source)
}

// checkIn makes dir a checkout with one commit.
func checkIn(ctx context.Context, dir string) error {
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "-A"},
		{"-c", "user.name=bench", "-c", "user.email=bench@example.org", "-c", "commit.gpgsign=false", "commit", "-q", "-m", "bench"},
	} {
		if err := runProgram(ctx, dir, "git", args...); err != nil {
			return err
		}
	}
	return nil
}
