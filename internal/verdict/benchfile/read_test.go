package benchfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/perf/benchfmt"

	"writ/internal/fault"
	"writ/internal/verdict"
)

// told is one value as a reader tells it.
type told struct {
	Pkg, Name, Unit string
	Value           uint64 // bits: NaN equals itself
}

// ours are the values of a file, unit by unit, as package benchfmt orders them.
func ours(f *File) map[string][]told {
	out := map[string][]told{}
	for _, p := range f.sides {
		for _, c := range p.columns {
			for i := range c.n {
				x := c.chunks[i/chunkSize]
				n := f.cases[x.cases[i%chunkSize]]
				out[c.unit] = append(out[c.unit], told{f.configs[n.config].get("pkg"), n.name, c.unit, math.Float64bits(x.values[i%chunkSize])})
			}
		}
	}
	return out
}

// theirs are the same by the reader of benchstat, and the lines that it refuses.
func theirs(text []byte) (out map[string][]told, broken int) {
	out = map[string][]told{}
	r := benchfmt.NewReader(bytes.NewReader(text), "x")
	for r.Scan() {
		switch x := r.Result().(type) {
		case *benchfmt.Result:
			for _, v := range x.Values {
				out[v.Unit] = append(out[v.Unit], told{x.GetConfig("pkg"), string(x.Name), v.Unit, math.Float64bits(v.Value)})
			}
		case *benchfmt.SyntaxError:
			if !strings.Contains(x.Msg, "unit") && !strings.Contains(x.Msg, "key=value") || strings.Contains(x.Msg, "missing units") {
				broken++
			}
		}
	}
	return out, broken
}

var files = []string{
	"",
	"goos: linux\npkg: a\nBenchmarkA-8 \t 100 \t 12.5 ns/op\t 16 B/op\t 2 allocs/op\nPASS\nok a 1s\npkg: b\nBenchmarkA-8 1 3e3 ns/op 2 MB/s\n",
	"round: 0\nslot: 0\nBenchmarkA 1 5 ns/op\nround: 1\nslot: 2\nBenchmarkA 1 6 ns/op\nBenchmarkA 1 7 ns/op\n",
	"BenchmarkA 1 1 ns/op\r\nBenchmarkA 1 0 ns/op\r\nBenchmarkB 1 +Inf MB/s\nBenchmarkB 1 NaN ns/op",
	"BenchmarkA\nBenchmarkA x 1 ns/op\nBenchmarkA 1\nBenchmarkA 1 x ns/op\nBenchmarkA 1 2\nBenchmarkA 1 2 ns/op 3\nBenchmark 1 2 ns/op\n",
	"BenchmarkA\u00a01\u20031 ns/op\nBenchmarkÄ-2 7 0x1p-2 x-ns/y*MB\nBenchmarkA 99999999999999999999 1 ns/op\nBenchmarkA 1 1e999 ns/op\n",
	"Unit ns/op better=lower\nUnit MB/s better=higher assume=exact\nUnit\nUnit x\nUnit y z\nk: v\nk:\nbad key: 1\nKey: 1\nä: b\nBenchmarkA 1 123456789012345678 ns/op 1234567890.12345 ns/GC 1.5 a 1.5 a\n",
	"pkg: a\nBenchmarkA 1 1 ns/op\npkg:\nBenchmarkA 1 2 ns/op\npkg: a\nBenchmarkA 1 .5 ns/op 5. B/op 0.1 x . y\n",
}

// Read plainly, a file has the values that benchstat reads from it, in bits.
func TestPlainlyReadAsBenchstatDoes(t *testing.T) {
	t.Parallel()
	for _, text := range files {
		same(t, []byte(text))
	}
}

func FuzzPlainlyReadAsBenchstatDoes(f *testing.F) {
	for _, text := range files {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) { same(t, text) })
}

func same(t *testing.T, text []byte) {
	t.Helper()
	if len(text) > 1<<15 {
		return // their reader ends at a long line
	}
	f, err := Read("x", bytes.NewReader(text), Options{Plain: true})
	if err != nil {
		t.Fatal(err)
	}
	want, broken := theirs(text)
	if diff := cmp.Diff(want, ours(f)); diff != "" {
		t.Errorf("%q (-benchstat +ours):\n%s", text, diff)
	}
	if len(f.broken)+f.more != broken {
		t.Errorf("%q: %d broken lines, benchstat sees %d", text, len(f.broken), broken)
	}
	if sum := sha256.Sum256(text); f.SHA256 != hex.EncodeToString(sum[:]) {
		t.Errorf("%q: digest %s", text, f.SHA256)
	}
	strict, err := Read("x", bytes.NewReader(text), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if strict.Values > f.Values {
		t.Errorf("%q: %d values, and %d plainly", text, strict.Values, f.Values)
	}
	if _, err := Gather(strict, nil); err == nil && strict.Values == 0 {
		t.Errorf("%q: two sides without a value", text)
	}
	itself(t, text)
}

// itself compares a file with itself: nothing is slower or faster, whatever it holds.
func itself(t *testing.T, text []byte) {
	t.Helper()
	var both [2]*File
	for i := range both {
		var err error
		if both[i], err = Read("x", bytes.NewReader(text), Options{}); err != nil {
			t.Fatal(err)
		}
	}
	g, err := Gather(both[0], both[1])
	if err != nil {
		return // no value, or no two sides
	}
	g.Policy = verdict.DefaultPolicy()
	o, err := verdict.JudgeSeries(g.SeriesParams)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range o.Document().Rows {
		if row.Verdict == verdict.Slower || row.Verdict == verdict.Faster || row.Verdict == verdict.Invalid && row.PSlower != nil {
			t.Errorf("%q against itself: %+v", text, row)
		}
	}
	if err := o.WriteTable(io.Discard, verdict.SeriesView{Binary: func(i int) bool { return Binary(g.Units[i]) }}); err != nil {
		t.Error(err)
	}
}

// However the bytes come, the file is the same.
func TestReadInPieces(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for range 3000 {
		b.WriteString(files[1])
	}
	whole, err := Read("x", strings.NewReader(b.String()), Options{})
	if err != nil {
		t.Fatal(err)
	}
	halves, err := Read("x", iotest.HalfReader(strings.NewReader(b.String())), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if whole.Values != 3000*5 || halves.Values != whole.Values || halves.SHA256 != whole.SHA256 || halves.Lines != whole.Lines {
		t.Errorf("%d values in %d lines, in halves %d in %d", whole.Values, whole.Lines, halves.Values, halves.Lines)
	}
	if diff := cmp.Diff(ours(whole), ours(halves)); diff != "" {
		t.Error(diff)
	}
}

func TestNoTextOfBenchmarks(t *testing.T) {
	t.Parallel()
	if _, err := Read("x", strings.NewReader(strings.Repeat("x", MaxLine+2)), Options{}); fault.CodeOf(err) != fault.Malformed {
		t.Errorf("a line without end: %v", err)
	}
	if f, err := Read("x", strings.NewReader("BenchmarkA 1 1 "+strings.Repeat("x", MaxLine/2)+"\n"), Options{}); err != nil || f.Values != 1 {
		t.Errorf("a long line: %v", err)
	}
	if _, err := Read("x", iotest.ErrReader(iotest.ErrTimeout), Options{}); fault.CodeOf(err) != fault.Usage {
		t.Errorf("a reader that fails: %v", err)
	}
}

// Reading more lines of known names allocates hardly more.
func TestReadingAllocatesNothingPerLine(t *testing.T) { //nolint:paralleltest // it counts allocations
	text := func(n int) string {
		return "pkg: a\n" + strings.Repeat("BenchmarkA-8 \t 100 \t 12.5 ns/op\t 16 B/op\nBenchmarkB-8 \t 100 \t 1250000 ns/op\t 2 MB/s\nok\n", n)
	}
	count := func(s string) float64 {
		return testing.AllocsPerRun(3, func() {
			if _, err := Read("x", strings.NewReader(s), Options{}); err != nil {
				t.Error(err)
			}
		})
	}
	few, many := text(10), text(6000)
	if a, b := count(few), count(many); b > a+200 {
		t.Errorf("%v allocations for 10 copies, %v for 6000", a, b)
	}
}
