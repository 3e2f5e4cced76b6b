package verdict

import (
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Samples are the values of one benchmark in one unit, in two files. A file that
// does not have it has none.
type Samples struct {
	Name      string
	Base, New []float64
}

// benchstat's own constants: the level of its intervals and of its test.
const (
	benchstatLevel = 0.95
	benchstatAlpha = 0.05
)

// BenchstatTable is one unit of two files, told as benchstat tells it: medians
// with their intervals, the Mann-Whitney test at 5 %, no correction for many
// rows and no threshold. It takes every line of a file as independent of all
// others, which lines of one process are not.
type BenchstatTable struct {
	Unit     string
	Files    [2]string // names of the columns
	Rows     []Samples // in the order of the files
	FirstRow int       // line of the CSV that the table starts at, from 1; for warnings
}

// CSV returns the lines of the table and its warnings, each with the cell that it
// is about.
func (t BenchstatTable) CSV() (table, warnings string) {
	out := benchstatCSV{first: max(1, t.FirstRow), tables: newTables()}
	out.line("", t.Files[0], "", t.Files[1], "", "", "")
	out.line("", t.Unit, "CI", t.Unit, "CI", "vs base", "P")
	for _, r := range t.Rows {
		out.row(r)
	}
	out.means(t.Rows)
	return out.String(), out.warnings.String()
}

// benchstatCSV collects lines and what is doubtful about their cells.
type benchstatCSV struct {
	*tables
	first    int
	lines    [][]string
	warnings strings.Builder
}

func (o *benchstatCSV) line(cells ...string) { o.lines = append(o.lines, cells) }

// warn cites a cell of the next line by its column, counted from zero.
func (o *benchstatCSV) warn(column int, text string) {
	name := "A"
	if column > 0 {
		name = string(rune('A' + column))
	}
	fmt.Fprintf(&o.warnings, "%s%d: %s\n", name, o.first+len(o.lines), text)
}

func (o *benchstatCSV) String() string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	for _, l := range o.lines {
		_ = w.Write(l) // the builder does not fail
	}
	w.Flush()
	return b.String()
}

func (o *benchstatCSV) row(r Samples) {
	cells := []string{r.Name}
	var centre [2]float64
	for at, x := range [][]float64{r.Base, r.New} {
		if len(x) == 0 {
			continue
		}
		for len(cells) < 1+2*at {
			cells = append(cells, "")
		}
		var spread string
		var few bool
		centre[at], spread, few = benchstatSummary(x)
		if few {
			o.warn(len(cells), fmt.Sprintf("need >= 6 samples for confidence interval at level %v", benchstatLevel))
		}
		cells = append(cells, fmt.Sprint(centre[at]), spread)
	}
	if len(r.Base) > 0 && len(r.New) > 0 {
		test := o.mannWhitney(r.Base, r.New)
		switch {
		case test.AllSame && test.Exact:
			o.warn(len(cells), "all samples are equal")
		case test.P > benchstatAlpha && len(r.Base) < 4 && len(r.New) < 4:
			o.warn(len(cells), fmt.Sprintf("need >= 4 samples to detect a difference at alpha level %v", benchstatAlpha))
		}
		cells = append(cells, benchstatDelta(test.P, centre[0], centre[1]), benchstatP(test.P, len(r.Base), len(r.New)))
	}
	o.line(cells...)
}

// benchstatSummary returns the median as benchstat interpolates it, the larger
// half of its interval in percent, and whether there is none.
func benchstatSummary(x []float64) (centre float64, spread string, few bool) {
	sorted := slices.Sorted(slices.Values(x))
	centre = benchstatMedian(sorted)
	low, high, _ := MedianInterval(len(sorted), benchstatLevel)
	if low < 1 || high > len(sorted) {
		return centre, "∞", true
	}
	lower, upper := sorted[low-1], sorted[high-1]
	switch {
	case sign(lower) != sign(centre) || sign(upper) != sign(centre):
		return centre, "?", false
	case centre == 0:
		return centre, "0%", false
	}
	return centre, fmt.Sprintf("%.0f%%", 100*math.Max(upper/centre-1, 1-lower/centre)), false
}

// benchstatMedian is the median by the eighth of the usual nine definitions of a
// quantile. It is the median, but the interpolation leaves the last bit elsewhere.
func benchstatMedian(sorted []float64) float64 {
	n := float64(len(sorted))
	whole, part := math.Modf(1/3.0 + float64(.5*(n+1/3.0)))
	k := int(whole)
	switch {
	case k <= 0:
		return sorted[0]
	case k >= len(sorted):
		return sorted[len(sorted)-1]
	}
	return sorted[k-1] + float64(part*(sorted[k]-sorted[k-1]))
}

func sign(x float64) int {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

func benchstatDelta(p, before, after float64) string {
	switch {
	case p > benchstatAlpha:
		return "~"
	case before == after:
		return "0.00%"
	case before == 0:
		return "?"
	}
	return fmt.Sprintf("%+.2f%%", (after/before-1)*100)
}

func benchstatP(p float64, n, m int) string {
	count := fmt.Sprintf("n=%d", n)
	if n != m {
		count = fmt.Sprintf("n=%d+%d", n, m)
	}
	if p == 0 {
		return count
	}
	return fmt.Sprintf("p=%.3f ", p) + count
}

// means is the last line: geometric means of the medians, and of the ratios of
// the rows that both files have.
func (o *benchstatCSV) means(rows []Samples) {
	cells := []string{"geomean"}
	var centres [2][]float64
	var ratios []float64
	undefined, bases := false, 0
	for _, r := range rows {
		var c [2]float64
		for at, x := range [][]float64{r.Base, r.New} {
			if len(x) > 0 {
				c[at] = benchstatMedian(slices.Sorted(slices.Values(x)))
				centres[at] = append(centres[at], c[at])
			}
		}
		if len(r.Base) > 0 {
			bases++
		}
		if len(r.Base) == 0 || len(r.New) == 0 {
			continue
		}
		switch {
		case c[0] == c[1]:
			ratios = append(ratios, 1)
		case c[0] == 0:
			undefined = true
			ratios = append(ratios, 0)
		default:
			ratios = append(ratios, c[1]/c[0])
		}
	}
	for at := range centres {
		if at == 1 && len(centres[1]) == 0 {
			break
		}
		for len(cells) < 1+2*at {
			cells = append(cells, "")
		}
		if at == 1 && bases != len(ratios) {
			o.warn(len(cells), "benchmark set differs from baseline; geomeans may not be comparable")
		}
		mean := geometricMean(centres[at])
		column := len(cells)
		if math.IsNaN(mean) {
			o.warn(column, "summaries must be >0 to compute geomean")
		}
		ratio := math.NaN()
		if at == 1 && !undefined {
			if ratio = geometricMean(ratios); math.IsNaN(ratio) {
				o.warn(column, "ratios must be >0 to compute geomean")
			}
		}
		if !math.IsNaN(mean) {
			cells = append(cells, fmt.Sprint(mean))
		}
		if at == 0 {
			continue
		}
		for len(cells) < 5 {
			cells = append(cells, "")
		}
		if math.IsNaN(ratio) {
			cells = append(cells, "?")
		} else {
			cells = append(cells, fmt.Sprintf("%+.2f%%", (ratio-1)*100))
		}
	}
	for len(cells) < 7 {
		cells = append(cells, "")
	}
	o.line(cells...)
}

// geometricMean returns the mean of the logarithms as a running mean, NaN when
// a value is not positive or there is none.
func geometricMean(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	m := 0.0
	for i, v := range x {
		if v <= 0 {
			return math.NaN()
		}
		m += (math.Log(v) - m) / float64(i+1)
	}
	return math.Exp(m)
}
