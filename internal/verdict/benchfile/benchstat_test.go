package benchfile

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/testkit"
	"writ/internal/verdict"
)

// pairs are files as people have them: several units, packages and machines, runs
// of different sizes, zeros, broken lines, benchmarks that only one of them has.
func pairs() map[string][2]string {
	rng := rand.New(rand.NewPCG(3, 4))
	file := func(n int, shift float64, head string, names ...string) string {
		var b strings.Builder
		b.WriteString(head)
		for i, name := range names {
			for range n {
				v := []float64{.3, 12, 4500, 1.2e6, 7e8, 3e-4}[i%6] * shift * (1 + .03*rng.NormFloat64())
				fmt.Fprintf(&b, "Benchmark%s-8 \t 100\t%10.4g ns/op\t%8.2f MB/s\t%d B/op\t%d allocs/op\n", name, v, 1e3/v, 64*i+rng.IntN(2)*16, i)
			}
		}
		return b.String()
	}
	linux := "goos: linux\ngoarch: amd64\npkg: example.org/a\ncpu: X, \"quoted\"\n"
	names := []string{"A", "B/n=1", "C", "D", "E", "F"}
	return map[string][2]string{
		"ten":              {file(10, 1, linux, names...), file(10, 1.1, linux, names...)},
		"few":              {file(3, 1, linux, names...), file(3, 1.4, linux, names...)},
		"unmatched":        {file(7, 1, linux, "A", "B", "C"), file(8, 1, linux, "B", "C", "D")},
		"two packages":     {file(6, 1, linux, "A", "B") + file(6, 1, "pkg: example.org/b\n", "B", "A"), file(6, 1, linux, "A") + file(6, 2, "pkg: example.org/b\n", "A", "B")},
		"other machine":    {file(6, 1, linux, names...), file(6, 1, "goos: darwin\ncpu: Y\n", names...)},
		"no head":          {file(6, 1, "", names...), file(6, 1, "note: x\n", names...)},
		"zeros":            {"BenchmarkA 1 0 ns/op\nBenchmarkA 1 1 ns/op\nBenchmarkB 1 0 x\n", "BenchmarkA 1 2 ns/op\nBenchmarkB 1 0 x\nBenchmarkB 1 1 x\n"},
		"broken":           {"BenchmarkA 1 5 ns/op\nBenchmarkA 1 x ns/op\nBenchmarkA\nBenchmarkA 1\n", "BenchmarkA 1 6 ns/op\nBenchmarkB 1 1 \nlog\n"},
		"unit comes twice": {"BenchmarkA 1 5 a 6 a 7 b\n", "BenchmarkA 1 5 b 6 a\n"},
	}
}

// What is printed about two files equals what benchstat prints, to the last digit,
// warnings included; and the cells for people have its digits.
func TestTwoFilesAreBenchstats(t *testing.T) {
	t.Parallel()
	program := testkit.Benchstat(t)
	for name, pair := range pairs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for i, file := range []string{"old.txt", "new.txt"} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(pair[i]), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			run := func(format string) (stdout, stderr string) {
				var a, b bytes.Buffer
				c := exec.CommandContext(t.Context(), program, "-format", format, "old.txt", "new.txt")
				c.Dir, c.Stdout, c.Stderr = dir, &a, &b
				if err := c.Run(); err != nil {
					t.Fatalf("%v: %s", err, b.String())
				}
				return a.String(), b.String()
			}
			var plain, strict [2]*File
			for i, file := range []string{"old.txt", "new.txt"} {
				var err error
				if plain[i], err = Read(file, strings.NewReader(pair[i]), Options{Plain: true}); err != nil {
					t.Fatal(err)
				}
				if strict[i], err = Read(file, strings.NewReader(pair[i]), Options{}); err != nil {
					t.Fatal(err)
				}
			}
			wantTable, wantWarnings := run("csv")
			table, warnings := Benchstat(plain[0], plain[1], true)
			if diff := cmp.Diff(wantTable, table); diff != "" {
				t.Errorf("tables (-benchstat +ours):\n%s", diff)
			}
			if diff := cmp.Diff(wantWarnings, warnings); diff != "" {
				t.Errorf("warnings (-benchstat +ours):\n%s", diff)
			}
			for i, file := range []string{"old.txt", "new.txt"} {
				var err error
				if plain[i], err = Read(file, strings.NewReader(pair[i]), Options{Plain: true}); err != nil {
					t.Fatal(err)
				}
			}
			wantText, wantErrors := run("text")
			people, complaints := Benchstat(plain[0], plain[1], false)
			if diff := cmp.Diff(wantText, people); diff != "" {
				t.Errorf("text (-benchstat +ours):\n%s", diff)
			}
			if diff := cmp.Diff(wantErrors, complaints); diff != "" {
				t.Errorf("complaints (-benchstat +ours):\n%s", diff)
			}
			if strict[0].Values == 0 || name == "other machine" || name == "zeros" || name == "no head" || name == "two packages" {
				return // there benchstat has several tables where we have one, or the other way round
			}
			lines := map[string]bool{}
			for l := range strings.Lines(wantText) {
				lines[oneLineOf(strings.Trim(strings.Map(noFootnote, l), "\n"))] = true
			}
			g, err := Gather(strict[0], strict[1])
			if err != nil {
				t.Fatal(err)
			}
			g.Policy = verdict.DefaultPolicy()
			o, err := verdict.JudgeSeries(g.SeriesParams)
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range o.Report(verdict.SeriesView{Binary: func(i int) bool { return Binary(g.Units[i]) }}).Rows {
				if len(row.Samples[0]) == 0 || len(row.Samples[1]) == 0 || row.Word == string(verdict.Invalid) {
					continue
				}
				want := strings.TrimPrefix(row.Workload, "Benchmark") + " " + row.Shown.Before + " " + row.Shown.After + " " + row.Shown.Change
				if !lines[oneLineOf(want)] {
					t.Errorf("benchstat does not print %q:\n%s", want, wantText)
				}
			}
		})
	}
}

func oneLineOf(s string) string { return strings.Join(strings.Fields(s), " ") }

// noFootnote drops the numbers of footnotes.
func noFootnote(c rune) rune {
	if strings.ContainsRune("⁰¹²³⁴⁵⁶⁷⁸⁹", c) {
		return -1
	}
	return c
}
