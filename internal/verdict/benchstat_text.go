package verdict

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Text returns the table as benchstat prints it for people: a column per file, values
// in the steps of their unit, and what is doubtful in footnotes.
func (t BenchstatTable) Text() string {
	names, rows := t.sides()
	g := grid{tables: newTables()}
	for at, name := range names {
		from, to := columnsOf(at)
		g.add(cell{row: 0, column: from, span: to - from, text: name, margin: " │ ", align: centred, widens: true})
		g.add(cell{row: 1, column: from, span: sideColumns, text: t.Unit, margin: " │ ", align: centred, widens: true})
		if at > 0 {
			g.add(cell{row: 1, column: from + sideColumns, span: to - from - sideColumns, text: "vs base", margin: "  "})
		}
	}
	_, g.edge = columnsOf(len(names) - 1)
	for row := range 2 {
		g.add(cell{row: row, column: g.edge, span: 1, margin: " │"})
	}
	for i, r := range rows {
		g.row(2+i, r, t.Binary)
	}
	if len(rows) > 1 {
		g.means(2+len(rows), benchstatMeans(rows, len(names) == 1), t.Binary)
	}
	return g.String()
}

// sideColumns are the median, its range and the footnotes of a file. A file after the
// first has as many for the change, the test and its footnotes.
const sideColumns = 3

// columnsOf are the columns of a file.
func columnsOf(at int) (from, to int) {
	if at == 0 {
		return 1, 1 + sideColumns
	}
	from = 1 + sideColumns + (at-1)*2*sideColumns
	return from, from + 2*sideColumns
}

type alignment int

const (
	left alignment = iota
	centred
	right
)

// cell is a text in one column or more, with what stands before it.
type cell struct {
	row, column, span int
	text, margin      string
	align             alignment
	widens            bool // the first of several columns, where they are too narrow together
}

// grid is a table in the making.
type grid struct {
	*tables
	cells  []cell
	edge   int      // the column of the right edge
	doubts []string // in the order of their footnotes
}

func (g *grid) add(c cell) { g.cells = append(g.cells, c) }

// put adds a cell of one column, a blank apart from what is before it.
func (g *grid) put(row, column int, text, margin string, align alignment) {
	if text != "" {
		g.add(cell{row: row, column: column, span: 1, text: text, margin: margin, align: align})
	}
}

// footnotes adds numbers of doubts.
func (g *grid) footnotes(row, column int, doubts ...string) {
	var marks []string
	for _, d := range doubts {
		at := 0
		for at < len(g.doubts) && g.doubts[at] != d {
			at++
		}
		if at == len(g.doubts) {
			g.doubts = append(g.doubts, d)
		}
		marks = append(marks, superscript(at+1))
	}
	g.put(row, column, strings.Join(marks, " "), " ", left)
}

func superscript(n int) string {
	digits := []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")
	text := ""
	for ; n > 0; n /= 10 {
		text = string(digits[n%10]) + text
	}
	return text
}

func (g *grid) row(row int, r Samples, binary bool) {
	x := g.benchstatRow(r)
	s := scalerFor(x.centre, binary)
	g.put(row, 0, r.Name, "", left)
	for at, seen := range [][]float64{r.Base, r.New} {
		if len(seen) == 0 {
			continue
		}
		from, _ := columnsOf(at)
		g.put(row, from, s.format(x.centre[at]), " ", right)
		g.put(row, from+1, x.spread[at], " ± ", right)
		if x.few[at] {
			g.footnotes(row, from+2, fewForInterval)
		}
		if at == 1 && x.both {
			g.put(row, from+3, x.delta, " ", right)
			g.put(row, from+4, "("+x.p+")", " ", left)
			if x.doubt != "" {
				g.footnotes(row, from+5, x.doubt)
			}
		}
	}
}

func (g *grid) means(row int, means []columnMeans, binary bool) {
	g.put(row, 0, "geomean", "", left)
	for at, m := range means {
		from, to := columnsOf(at)
		if m.mean > 0 {
			g.put(row, from, scalerFor([2]float64{m.mean}, binary).format(m.mean), " ", right)
		}
		if at > 0 {
			align := right
			if m.change() == MarkUnknown {
				align = left
			}
			g.put(row, from+sideColumns, m.change(), " ", align)
		}
		g.footnotes(row, to-1, m.doubts...)
	}
}

// String lays the table out.
func (g *grid) String() string {
	slices.SortFunc(g.cells, func(a, b cell) int { return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.column, b.column)) })
	margins, widths := make([]int, g.edge+1), make([]int, g.edge+1)
	for _, c := range g.cells {
		margins[c.column] = max(margins[c.column], utf8.RuneCountInString(c.margin))
	}
	for _, c := range g.cells {
		if c.span == 1 {
			widths[c.column] = max(widths[c.column], utf8.RuneCountInString(c.text)+margins[c.column])
		}
	}
	for _, wide := range []int{sideColumns, 2 * sideColumns} {
		for _, c := range g.cells {
			if !c.widens || c.span != wide {
				continue
			}
			together := 0
			for _, w := range widths[c.column : c.column+c.span] {
				together += w
			}
			widths[c.column] += max(0, utf8.RuneCountInString(c.text)+margins[c.column]-together)
		}
	}
	starts := make([]int, g.edge+2)
	for i, w := range widths {
		starts[i+1] = starts[i] + w
	}
	var b strings.Builder
	row, at := 0, 0
	for _, c := range g.cells {
		for ; row < c.row; row++ {
			b.WriteByte('\n')
			at = 0
		}
		gap := starts[c.column] - at // below zero where a text before it was too wide: then it is a gap none the less
		b.WriteString(strings.Repeat(" ", max(gap, -gap)+margins[c.column]-utf8.RuneCountInString(c.margin)) + c.margin)
		at += gap + margins[c.column]
		text := c.aligned(starts[c.column+c.span] - starts[c.column] - margins[c.column])
		b.WriteString(text)
		at += utf8.RuneCountInString(text)
	}
	b.WriteByte('\n')
	for i, d := range g.doubts {
		b.WriteString(superscript(i+1) + " " + d + "\n")
	}
	return b.String()
}

func (c cell) aligned(width int) string {
	free := width - utf8.RuneCountInString(c.text)
	switch {
	case free <= 0 || c.align == left:
		return c.text
	case c.align == centred:
		free /= 2
	}
	return strings.Repeat(" ", free) + c.text
}
