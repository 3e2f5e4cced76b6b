package verdict

import (
	"bytes"
	"io"
	"slices"
	"sync"
	"unicode/utf8"
)

// rows are rows of a report that are made when they are asked for.
type rows struct {
	n     int
	make  func() func(i int) ReportRow // a maker for one goroutine
	notes func(i int) []Note           // all but perhaps those of the code lowPower
}

func (r Report) rows() rows {
	return rows{
		len(r.Rows), func() func(int) ReportRow { return func(i int) ReportRow { return r.Rows[i] } },
		func(i int) []Note { return r.Rows[i].Warnings },
	}
}

// common are the notes that all of several rows have: they are said once. What a row
// can see at best is its own affair, whatever others can.
func (r rows) common() []Note {
	if r.n < 2 {
		return nil
	}
	shared := slices.DeleteFunc(slices.Clone(r.notes(0)), func(n Note) bool { return n.Code == lowPower })
	for i := 1; i < r.n && len(shared) > 0; i++ {
		own := r.notes(i)
		shared = slices.DeleteFunc(shared, func(n Note) bool { return !slices.Contains(own, n) })
	}
	return shared
}

// page is a piece of a table: its cells, one after the other, where each ends, and
// the lines about the warnings of its rows.
type page struct {
	text  []byte
	ends  []int32
	notes []byte
}

// layout is a table as text/tabwriter lays it out, with two blanks between columns
// and every line having the same number of cells. It holds no more than its text: a
// table may have a hundred thousand rows.
type layout struct {
	columns int
	pages   []page
	widths  []int
}

// layOut takes the cells of all rows, side by side, the head first, and their
// warnings without the common ones.
func layOut(head []string, r rows, common []Note, cells func(ReportRow) []string) *layout {
	l := &layout{columns: len(head), pages: make([]page, 1+(r.n+batch-1)/batch), widths: make([]int, len(head))}
	l.pages[0].add(head, l.widths)
	var mine sync.Mutex
	sideBySide(r.n, r.make, func(row func(int) ReportRow, from, to int) {
		p := page{text: make([]byte, 0, 16*len(head)*(to-from)), ends: make([]int32, 0, len(head)*(to-from))}
		widths := make([]int, len(head))
		for i := from; i < to; i++ {
			x := row(i)
			p.add(cells(x), widths)
			for _, n := range x.Warnings {
				if !slices.Contains(common, n) {
					p.notes = append(p.notes, "warning: "+x.Case+" "+x.Quantity+": "+n.text()+"\n"...)
				}
			}
		}
		mine.Lock()
		defer mine.Unlock()
		l.pages[1+from/batch] = p
		for i, w := range widths {
			l.widths[i] = max(l.widths[i], w)
		}
	})
	return l
}

func (p *page) add(line []string, widths []int) {
	for i, c := range line {
		p.text = append(p.text, c...)
		p.ends = append(p.ends, int32(len(p.text)))
		widths[i] = max(widths[i], utf8.RuneCountInString(c))
	}
}

// writeTo writes the lines.
func (l *layout) writeTo(w io.Writer) error {
	var line []byte
	for _, p := range l.pages {
		from := int32(0)
		for i, end := range p.ends {
			cell, column := p.text[from:end], i%l.columns
			from = end
			line = append(line, cell...)
			if column < l.columns-1 {
				line = append(line, bytes.Repeat([]byte{' '}, l.widths[column]-utf8.RuneCount(cell)+2)...)
				continue
			}
			line = append(line, '\n')
			if len(line) > 32<<10 {
				if _, err := w.Write(line); err != nil {
					return err
				}
				line = line[:0]
			}
		}
	}
	_, err := w.Write(line)
	return err
}

// tableFrame is everything around a table: what is said of the whole.
type tableFrame struct {
	single             bool // nothing is compared
	history            bool // values of other runs are known
	summary            string
	failed, exclusions []string
	remarks            []string
}

// writeTable writes a table for a terminal: the rows, the whole in one line, what
// failed, every warning, and what was left out.
func writeTable(w io.Writer, r rows, f tableFrame) error {
	head, cells := columns(f.single, f.history)
	common := r.common()
	l := layOut(head, r, common, cells)
	if err := l.writeTo(w); err != nil {
		return err
	}
	var b bytes.Buffer
	b.WriteString("\n" + f.summary + "\n")
	for _, line := range f.failed {
		b.WriteString("failed: " + line + "\n")
	}
	for _, n := range common {
		b.WriteString(commonText(n) + "\n")
	}
	if _, err := b.WriteTo(w); err != nil {
		return err
	}
	for _, p := range l.pages {
		if _, err := w.Write(p.notes); err != nil {
			return err
		}
	}
	for _, line := range f.exclusions {
		b.WriteString("excluded: " + line + "\n")
	}
	for _, line := range f.remarks {
		b.WriteString("note: " + line + "\n")
	}
	_, err := b.WriteTo(w)
	return err
}

func commonText(n Note) string { return "warning: every row: " + n.text() }

// The heads of tables.
var (
	compared = []string{"case", "quantity", "base", "contender", "change", "interval", "n", "verdict"}
	alone    = []string{"case", "quantity", "median", "interval", "n", "verdict"}
)

// columns are the head of a table and what makes its rows.
func columns(single, history bool) (head []string, cells func(ReportRow) []string) {
	head, cells = compared, ReportRow.cells
	if single {
		head, cells = alone, ReportRow.cellsAlone
	}
	if history {
		plain := cells
		head, cells = append(slices.Clip(head), "history"), func(r ReportRow) []string { return append(plain(r), r.History) }
	}
	return head, cells
}

func (r ReportRow) cells() []string {
	return []string{r.Case, r.Quantity, r.Before(), r.After(), r.Change(), r.Range(), r.Rounds(), r.Text}
}

func (r ReportRow) cellsAlone() []string {
	return []string{r.Case, r.Quantity, r.Before(), r.Range(), r.Rounds(), r.Text}
}
