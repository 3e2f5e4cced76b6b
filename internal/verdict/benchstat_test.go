package verdict

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
	"golang.org/x/perf/benchfmt"

	"writ/internal/testkit"
)

// bench is a benchmark of a generated file: its values in one unit.
type bench struct {
	name   string
	values []float64
}

// lines writes a file in the benchmark format.
func lines(unit string, all []bench) string {
	var b strings.Builder
	for _, x := range all {
		for _, v := range x.values {
			fmt.Fprintf(&b, "Benchmark%s 1 %v %s\n", x.name, v, unit)
		}
	}
	return b.String()
}

// files are pairs of generated files: with ties, all equal, few values, more than
// the exact test takes, zeros, and rows that only one of them has.
func files() map[string][2][]bench {
	rng := rand.New(rand.NewPCG(11, 12))
	draw := func(n int, centre, spread float64, steps float64) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = centre * (1 + spread*rng.NormFloat64())
			if steps > 0 {
				out[i] = float64(int(out[i]/steps)) * steps
			}
		}
		return out
	}
	pair := func(n, m int, shift, steps float64) [2][]bench {
		var out [2][]bench
		for i := range 5 {
			name := fmt.Sprintf("Case%d", i)
			centre := []float64{3, 120, 4500, 1.2e6, 7e8}[i]
			out[0] = append(out[0], bench{name, draw(n, centre, .03, steps*centre)})
			out[1] = append(out[1], bench{name, draw(m, centre*(1+shift), .03, steps*centre)})
		}
		return out
	}
	equal := func(n int, values ...float64) (out []bench) {
		for i, v := range values {
			x := bench{name: fmt.Sprintf("Same%d", i)}
			for range n {
				x.values = append(x.values, v)
			}
			out = append(out, x)
		}
		return out
	}
	all := map[string][2][]bench{
		"few":              pair(3, 3, .2, 0),
		"one":              pair(1, 1, .2, 0),
		"five and seven":   pair(5, 7, .05, 0),
		"all equal":        {equal(6, 5, 7), equal(6, 5, 7)},
		"constant, zero":   {equal(6, 5, 7, 0), equal(6, 6, 7, 3)},
		"zeros":            {equal(6, 0, 0), equal(6, 0, 1)},
		"many equal":       {equal(60, 5), equal(60, 5)},
		"sixty":            pair(60, 60, .01, 0),
		"sixty with ties":  pair(60, 55, .01, .01),
		"fifty":            pair(50, 50, .01, 0),
		"twenty-five":      pair(25, 25, .02, .01),
		"twenty-six, ties": pair(26, 26, .02, .01),
		"thirty, one":      pair(31, 30, .02, 0),
		"goldens": {
			{{"G2", []float64{100, 101, 102, 103, 104, 105}}, {"G4", []float64{10, 10, 10, 11, 11}}, {"G7", []float64{115, 114, 115, 115, 115}}},
			{{"G2", []float64{110, 111, 112, 113, 114, 115}}, {"G4", []float64{10, 11, 11, 12, 12}}, {"G7", []float64{78.8, 78.8, 78.8, 78.8, 78.8}}},
		},
	}
	for n := 2; n <= 32; n++ {
		all[fmt.Sprintf("%d a side", n)] = pair(n, n, .02, 0)
		all[fmt.Sprintf("%d a side, ties", n)] = pair(n, n, .02, .01)
	}
	lost := pair(10, 10, .1, 0)
	lost[1] = append(lost[1][1:], bench{"Only", draw(10, 5, .02, 0)})
	all["unmatched"] = lost
	return all
}

// One unit of two files equals what benchstat prints, to the last digit, warnings
// included.
func TestTwoSamplesAreBenchstats(t *testing.T) {
	t.Parallel()
	program := testkit.Benchstat(t)
	for name, pair := range files() {
		for _, unit := range []string{"ns/op", "B/op"} {
			if unit == "ns/op" && strings.Contains(name, "zero") {
				continue // its reader leaves the unit of 0 ns as it is, which makes two tables of one
			}
			dir := t.TempDir()
			for i, file := range []string{"old.txt", "new.txt"} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(lines(unit, pair[i])), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var stdout, stderr bytes.Buffer
			c := exec.CommandContext(t.Context(), program, "-format", "csv", "old.txt", "new.txt")
			c.Dir, c.Stdout, c.Stderr = dir, &stdout, &stderr
			if err := c.Run(); err != nil {
				t.Fatalf("%v: %s", err, stderr.String())
			}
			c = exec.CommandContext(t.Context(), program, "old.txt", "new.txt")
			c.Dir = dir
			text, err := c.Output()
			if err != nil {
				t.Fatal(err)
			}
			table := tableOf(t, unit, pair)
			table.Binary = unit == "B/op"
			if diff := cmp.Diff(string(text), table.Text()); diff != "" {
				t.Errorf("%s %s: for people (-benchstat +ours):\n%s", name, unit, diff)
			}
			csv, warnings := table.CSV()
			if diff := cmp.Diff(stdout.String(), csv); diff != "" {
				t.Errorf("%s %s (-benchstat +ours):\n%s", name, unit, diff)
			}
			if diff := cmp.Diff(stderr.String(), warnings); diff != "" {
				t.Errorf("%s %s: warnings (-benchstat +ours):\n%s", name, unit, diff)
			}
		}
	}
}

// tableOf reads the files as benchstat does, with its own reader.
func tableOf(t *testing.T, unit string, pair [2][]bench) BenchstatTable {
	out := BenchstatTable{Files: [2]string{"old.txt", "new.txt"}, FirstRow: 1}
	index := map[string]int{}
	for at, all := range pair {
		r := benchfmt.NewReader(strings.NewReader(lines(unit, all)), "x")
		for r.Scan() {
			x, ok := r.Result().(*benchfmt.Result)
			if !ok {
				t.Fatal(r.Result())
			}
			name := x.Name.String()
			i, known := index[name]
			if !known {
				i = len(out.Rows)
				index[name] = i
				out.Rows = append(out.Rows, Samples{Name: name})
			}
			out.Unit = x.Values[0].Unit
			if at == 0 {
				out.Rows[i].Base = append(out.Rows[i].Base, x.Values[0].Value)
			} else {
				out.Rows[i].New = append(out.Rows[i].New, x.Values[0].Value)
			}
		}
	}
	return out
}

func TestMedianIntervals(t *testing.T) {
	t.Parallel()
	for n, want := range map[int][2]int{
		6: {1, 6}, 7: {1, 7}, 8: {1, 7}, 9: {2, 8}, 10: {2, 9}, 11: {2, 9}, 12: {3, 10}, 13: {3, 11}, 14: {3, 11}, 15: {4, 12}, 16: {4, 12}, 17: {5, 13},
		18: {5, 14}, 19: {5, 14}, 20: {6, 15}, 21: {6, 16}, 22: {6, 16}, 23: {7, 17}, 24: {8, 18}, 25: {8, 18}, 26: {8, 19}, 27: {8, 19}, 28: {9, 20}, 29: {9, 20}, 30: {10, 21},
	} {
		if low, high, level := MedianInterval(n, .95); low != want[0] || high != want[1] || level < .95 {
			t.Errorf("n=%d: [%d, %d] at %v, want %v", n, low, high, level, want)
		}
	}
	for n := range 6 {
		if low, high, _ := MedianInterval(n, .95); low > 0 && high <= n {
			t.Errorf("n=%d has an interval", n)
		}
	}
	_, _, level := MedianInterval(8, .95)
	near(t, "level of 8", level, .9609, 5e-5)
}
