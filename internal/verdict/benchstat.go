package verdict

import (
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Samples are the values of one benchmark in one unit, in two files. A file that
// does not have it has none.
type Samples struct {
	Name      string
	Base, New []float64
}

// BenchstatMethod names what benchstat says about two files.
const BenchstatMethod = "benchstat"

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
	Binary   bool      // values are counted in powers of 1024; for people
	FirstRow int       // line of the CSV that the table starts at, from 1; for warnings
}

// sides are the names of the columns, one where only one file has the table, and the
// rows with their values in those columns.
func (t BenchstatTable) sides() (names []string, rows []Samples) {
	has := func(values func(Samples) []float64) bool {
		return slices.ContainsFunc(t.Rows, func(s Samples) bool { return len(values(s)) > 0 })
	}
	switch {
	case !has(func(s Samples) []float64 { return s.New }):
		return t.Files[:1], t.Rows
	case has(func(s Samples) []float64 { return s.Base }):
		return t.Files[:], t.Rows
	}
	rows = slices.Clone(t.Rows) // the other file is the first column
	for i := range rows {
		rows[i].Base, rows[i].New = rows[i].New, nil
	}
	return t.Files[1:], rows
}

// CSV returns the lines of the table and its warnings, each with the cell that it
// is about.
func (t BenchstatTable) CSV() (table, warnings string) {
	names, rows := t.sides()
	out := benchstatCSV{first: max(1, t.FirstRow), alone: len(names) == 1, tables: newTables()}
	if out.alone {
		out.line("", names[0], "")
		out.line("", t.Unit, "CI")
	} else {
		out.line("", names[0], "", names[1], "", "", "")
		out.line("", t.Unit, "CI", t.Unit, "CI", "vs base", "P")
	}
	for _, r := range rows {
		out.row(r)
	}
	out.means(rows)
	return out.String(), out.warnings.String()
}

// benchstatCSV collects lines and what is doubtful about their cells.
type benchstatCSV struct {
	*tables
	first    int
	alone    bool // only one file has the table
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
	x := o.benchstatRow(r)
	cells := []string{r.Name}
	for at, seen := range [][]float64{r.Base, r.New} {
		if len(seen) == 0 {
			continue
		}
		for len(cells) < 1+2*at {
			cells = append(cells, "")
		}
		if x.few[at] {
			o.warn(len(cells), fewForInterval)
		}
		cells = append(cells, fmt.Sprint(x.centre[at]), x.spread[at])
	}
	if x.both {
		if x.doubt != "" {
			o.warn(len(cells), x.doubt)
		}
		cells = append(cells, x.delta, x.p)
	}
	o.line(cells...)
}

var (
	fewForInterval = fmt.Sprintf("need >= 6 samples for confidence interval at level %v", benchstatLevel)
	fewForTest     = fmt.Sprintf("need >= 4 samples to detect a difference at alpha level %v", benchstatAlpha)
)

// benchstatRow is what benchstat says about a row.
type benchstatRow struct {
	centre   [2]float64
	spread   [2]string
	few      [2]bool // no interval
	both     bool    // there is something to compare
	delta, p string
	doubt    string // about the comparison
}

func (t *tables) benchstatRow(r Samples) (x benchstatRow) {
	for at, seen := range [][]float64{r.Base, r.New} {
		if len(seen) > 0 {
			x.centre[at], x.spread[at], x.few[at] = t.benchstatSummary(seen)
		}
	}
	if x.both = len(r.Base) > 0 && len(r.New) > 0; !x.both {
		return x
	}
	test := t.mannWhitney(r.Base, r.New)
	switch {
	case test.AllSame && test.Exact:
		x.doubt = "all samples are equal"
	case test.P > benchstatAlpha && len(r.Base) < 4 && len(r.New) < 4:
		x.doubt = fewForTest
	}
	x.delta, x.p = benchstatDelta(test.P, x.centre[0], x.centre[1]), benchstatP(test.P, len(r.Base), len(r.New))
	return x
}

// shown are the cells of a row as benchstat prints them for people, one scale for
// both sides.
func (x benchstatRow) shown(r Samples, binary bool) *Shown {
	s := scalerFor(x.centre, binary)
	cell := func(at int, seen []float64) string {
		if len(seen) == 0 {
			return MarkUnknown
		}
		return s.format(x.centre[at]) + " ± " + x.spread[at]
	}
	out := &Shown{Before: cell(0, r.Base), After: cell(1, r.New), Change: MarkUnknown}
	if x.both {
		out.Change = x.delta + " (" + x.p + ")"
	}
	return out
}

// benchstatSummary returns the median as benchstat interpolates it, the larger
// half of its interval in percent, and whether there is none.
func (t *tables) benchstatSummary(x []float64) (centre float64, spread string, few bool) {
	sorted := slices.Sorted(slices.Values(x))
	centre = benchstatMedian(sorted)
	low, high := t.medianOrders(len(sorted))
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
	return centre, strconv.FormatFloat(100*math.Max(upper/centre-1, 1-lower/centre), 'f', 0, 64) + "%", false
}

// medianOrders are the bounds of MedianInterval at benchstat's level, remembered.
func (t *tables) medianOrders(n int) (low, high int) {
	known, ok := t.medians[n]
	if !ok {
		known[0], known[1], _ = MedianInterval(n, benchstatLevel)
		if t.medians == nil {
			t.medians = map[int][2]int{}
		}
		t.medians[n] = known
	}
	return known[0], known[1]
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
	return plusPercent((after/before - 1) * 100)
}

// plusPercent writes a share with its sign, as %+.2f%% does.
func plusPercent(x float64) string {
	text := strconv.FormatFloat(x, 'f', 2, 64) + "%"
	if text[0] != '-' && text[0] != '+' {
		text = "+" + text
	}
	return text
}

func benchstatP(p float64, n, m int) string {
	count := "n=" + strconv.Itoa(n)
	if n != m {
		count += "+" + strconv.Itoa(m)
	}
	if p == 0 {
		return count
	}
	return "p=" + strconv.FormatFloat(p, 'f', 3, 64) + " " + count
}

// means is the last line.
func (o *benchstatCSV) means(rows []Samples) {
	cells := []string{"geomean"}
	for at, m := range benchstatMeans(rows, o.alone) {
		for len(cells) < 1+2*at {
			cells = append(cells, "")
		}
		for _, text := range m.doubts {
			o.warn(len(cells), text)
		}
		if !math.IsNaN(m.mean) {
			cells = append(cells, fmt.Sprint(m.mean))
		}
		if at == 1 {
			for len(cells) < 5 {
				cells = append(cells, "")
			}
			cells = append(cells, m.change())
		}
	}
	for len(cells) < map[bool]int{true: 3, false: 7}[o.alone] {
		cells = append(cells, "")
	}
	o.line(cells...)
}

// columnMeans are the geometric means of the medians of a column, and of their ratios
// to the first column in the rows that both have. NaN where there is none.
type columnMeans struct {
	mean, ratio float64
	doubts      []string
}

func (m columnMeans) change() string {
	if math.IsNaN(m.ratio) {
		return MarkUnknown
	}
	return plusPercent((m.ratio - 1) * 100)
}

// benchstatMeans returns the means of one column, or of two.
func benchstatMeans(rows []Samples, alone bool) []columnMeans {
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
	var out []columnMeans
	for at := range centres {
		m := columnMeans{mean: geometricMean(centres[at]), ratio: math.NaN()}
		if at == 1 && bases != len(ratios) {
			m.doubts = append(m.doubts, "benchmark set differs from baseline; geomeans may not be comparable")
		}
		if math.IsNaN(m.mean) {
			m.doubts = append(m.doubts, "summaries must be >0 to compute geomean")
		}
		if at == 1 && !undefined {
			if m.ratio = geometricMean(ratios); math.IsNaN(m.ratio) {
				m.doubts = append(m.doubts, "ratios must be >0 to compute geomean")
			}
		}
		if out = append(out, m); alone {
			break
		}
	}
	return out
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
