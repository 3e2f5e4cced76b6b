package verdict

import (
	"fmt"
	"io"
	"slices"
	"sync"

	"writ/internal/order"
)

// count sums the words up.
func (o *SeriesOutcome) count() {
	var mine sync.Mutex
	var gating, all [8]int // by rank
	var gates bool
	sideBySide(len(o.all), func() struct{} { return struct{}{} }, func(_ struct{}, from, to int) {
		var g, a [8]int
		for i := from; i < to; i++ {
			w, _, _ := o.all[i].word()
			a[w.rank()]++
			if o.params.Policy.gates(o.params.Series[i].Quantity) {
				g[w.rank()]++
			}
		}
		mine.Lock()
		for r := range a {
			all[r] += a[r]
			gating[r] += g[r]
			gates = gates || g[r] > 0
		}
		mine.Unlock()
	})
	o.counts = map[Word]int{}
	worst := all
	if gates {
		worst = gating
	}
	words := Words()
	o.overall = Identical
	for r := len(words) - 1; r >= 0; r-- {
		if all[r] > 0 {
			o.counts[words[r]] = all[r]
		}
		if worst[r] > 0 {
			o.overall = words[r]
		}
	}
	if len(o.failed) > 0 {
		o.overall = Invalid
	}
}

// Len is the number of rows.
func (o *SeriesOutcome) Len() int { return len(o.all) }

// Overall is the worst row, or invalid when an invariant failed.
func (o *SeriesOutcome) Overall() Word { return o.overall }

// Counts are the rows by word. The map must not be changed.
func (o *SeriesOutcome) Counts() map[Word]int { return o.counts }

// Failed lists the conditions that do not hold. The slice must not be changed.
func (o *SeriesOutcome) Failed() []Failure { return o.failed }

// Series is the i-th series, in the order of rows.
func (o *SeriesOutcome) Series(i int) *Series { return &o.params.Series[i] }

// Paired reports whether rounds were compared.
func (o *SeriesOutcome) Paired() bool { return o.params.Rounds > 0 }

// Method says how the words were reached.
func (o *SeriesOutcome) Method() Method {
	p := o.params
	m := Method{
		Name: MethodName, Version: MethodVersion, Alpha: p.Policy.Level(), Power: p.Policy.Power,
		Multiplicity: "holm", Family: o.family, Schedule: p.Schedule.Kind,
	}
	if p.Schedule.Kind == order.Random {
		m.Seed = p.Schedule.Seed
	}
	if p.Rounds == 0 {
		m.Name, m.Version, m.Schedule, m.Seed = TwoSampleName, TwoSampleVersion, unpairedNote.Code, nil
	}
	return m
}

// RowMaker makes rows one at a time. It belongs to one goroutine.
type RowMaker struct {
	o *SeriesOutcome
	f *finisher
}

// Rows returns a maker of rows.
func (o *SeriesOutcome) Rows() RowMaker {
	return RowMaker{o, newFinisher(o.params.Policy, o.family, o.params.Sigma)}
}

// Row makes the i-th row.
func (r RowMaker) Row(i int) Row {
	x, note := &r.o.params.Series[i], r.o.notes[i]
	row, _ := r.o.params.Policy.blank(x.Pair, x.Unit, x.Direction)
	row.N, row.Dropped = note.n, note.dropped
	if len(note.warnings) > 0 {
		row.Warnings = slices.Clip(note.warnings)
	}
	m := r.o.all[i]
	r.f.finish(&row, &m)
	return row
}

// Document holds all rows at once. It cites no comparison and no result set:
// series have neither.
func (o *SeriesOutcome) Document() Document {
	d := Document{
		Schema: VerdictSchema, RunKey: o.params.RunKey, Method: o.Method(), Policy: o.params.Policy.Ref(), Rounds: o.params.Rounds,
		Rows: make([]Row, len(o.all)), Failed: o.failed, Counts: o.counts, Overall: o.overall,
	}
	sideBySide(len(o.all), o.Rows, func(rows RowMaker, from, to int) {
		for i := from; i < to; i++ {
			d.Rows[i] = rows.Row(i)
		}
	})
	return d
}

// SeriesView is how the rows of an outcome are told to people.
type SeriesView struct {
	Names   [2]string // of the sides
	Remarks []string  // what else a reader should know

	// Binary says whether the values of a row are counted in powers of 1024. It is
	// asked where two samples are told in the digits of benchstat; nil tells them in
	// our own.
	Binary func(i int) bool
}

// reports makes rows ready to be shown.
func (o *SeriesOutcome) reports(v SeriesView) rows {
	return rows{notes: func(i int) []Note { return o.notes[i].warnings }, n: len(o.all), make: func() func(int) ReportRow {
		maker, t := o.Rows(), newTables()
		return func(i int) ReportRow {
			row := maker.Row(i).report()
			if x := o.Series(i); !o.Paired() && v.Binary != nil {
				s := Samples{Base: x.Samples[baseline], New: x.Samples[contender]}
				row.Shown = t.benchstatRow(s).shown(s, v.Binary(i))
			}
			return row
		}
	}}
}

// frame is what is said of the whole.
func (o *SeriesOutcome) frame(v SeriesView) Report {
	d := Document{RunKey: o.params.RunKey, Method: o.Method(), Policy: o.params.Policy.Ref(), Failed: o.failed, Overall: o.overall}
	r := d.Report()
	r.Baseline, r.Contender, r.Exclusions, r.Notes = v.Names[baseline], v.Names[contender], o.Exclusions(v.Names), v.Remarks
	return r
}

// Report makes the judgement ready to be shown, with all rows and the values that
// they rest on.
func (o *SeriesOutcome) Report(v SeriesView) Report {
	r := o.frame(v)
	r.Rows = make([]ReportRow, len(o.all))
	sideBySide(len(o.all), o.reports(v).make, func(row func(int) ReportRow, from, to int) {
		s := seriesScale{}
		for i := from; i < to; i++ {
			r.Rows[i] = row(i)
			r.Rows[i].Samples, r.Rows[i].SampleRounds = s.samples(o, i)
		}
	})
	return r
}

// WriteTable writes the table of Report, and never holds more than its text.
func (o *SeriesOutcome) WriteTable(w io.Writer, v SeriesView) error {
	r := o.frame(v)
	return writeTable(w, o.reports(v), tableFrame{summary: r.Summary(), failed: r.Failed, exclusions: r.Exclusions, remarks: r.Notes})
}

// Exclusions says which processes count for nothing, and why; the sides have the
// given names.
func (o *SeriesOutcome) Exclusions(sides [2]string) []string {
	out := make([]string, 0, len(o.excluded))
	for _, e := range o.excluded {
		x := &o.params.Series[e.series]
		text := sides[e.side] + ": " + Row{Workload: x.Workload, Parameters: x.Parameters}.name() + " " + x.Quantity
		if e.round >= 0 {
			text += fmt.Sprintf(" in round %d", e.round)
		}
		out = append(out, text+": "+e.reason)
	}
	return out
}
