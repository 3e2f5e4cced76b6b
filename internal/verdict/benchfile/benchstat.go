package benchfile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"writ/internal/verdict"
)

// Benchstat tells two files, read plainly, as benchstat does: one table per unit and
// state of the configuration, medians with their intervals, the test at 5 %, and the
// geometric means. It is for people, or CSV as with -format csv; then the warnings
// name cells of the tables. It takes the values out of the files.
func Benchstat(old, changed *File, csv bool) (tables, warnings string) {
	s := stat{files: [2]*File{old, changed}, names: map[string]int{}}
	for at := range s.files {
		s.read(at)
	}
	s.order()
	return s.write(csv)
}

// stat puts the tables of two files together.
type stat struct {
	files  [2]*File
	keys   []string // of the configuration, in the order in which they came
	units  []string
	names  map[string]int // of benchmarks, in the order in which they came
	tables []*statTable
}

type statTable struct {
	config *config
	values []string // of the keys
	unit   int
	rows   map[string]*verdict.Samples
}

func (s *stat) read(at int) {
	f := s.files[at]
	for _, c := range f.cases {
		if _, ok := s.names[c.name]; !ok {
			s.names[c.name] = len(s.names)
		}
		for _, p := range f.configs[c.config].pairs {
			if !slices.Contains(s.keys, p.key) {
				s.keys = append(s.keys, p.key)
			}
		}
	}
	same := make([]uint32, len(f.cases))
	for i := range same {
		same[i] = uint32(i)
	}
	for _, p := range f.sides {
		for _, c := range p.columns {
			if c.n == 0 {
				continue
			}
			unit := slices.Index(s.units, c.unit)
			if unit < 0 {
				unit = len(s.units)
				s.units = append(s.units, c.unit)
			}
			values := c.group(same, len(same), false)
			c.chunks = nil
			for id := range same {
				if seen, _ := values.of(uint32(id)); len(seen) > 0 {
					s.table(f.configs[f.cases[id].config], unit).add(f.cases[id].name, at, seen)
				}
			}
		}
	}
}

func (t *statTable) add(name string, at int, seen []float64) {
	r := t.rows[name]
	if r == nil {
		r = &verdict.Samples{Name: name}
		t.rows[name] = r
	}
	if at == 0 {
		r.Base = append(r.Base, seen...)
	} else {
		r.New = append(r.New, seen...)
	}
}

// table finds the table of a configuration and unit. Configurations with the same
// pairs are one, whatever file they are of and in whatever order they have them.
func (s *stat) table(c *config, unit int) *statTable {
	for _, t := range s.tables {
		if t.unit == unit && sameConfig(t.config, c) {
			return t
		}
	}
	t := &statTable{config: c, unit: unit, rows: map[string]*verdict.Samples{}}
	s.tables = append(s.tables, t)
	return t
}

func sameConfig(a, b *config) bool {
	return a == b || len(a.pairs) == len(b.pairs) && !slices.ContainsFunc(a.pairs, func(p pair) bool { return b.get(p.key) != p.value })
}

// order sorts the tables by their configuration, key by key, then by unit as they
// came.
func (s *stat) order() {
	for _, t := range s.tables {
		for _, key := range s.keys {
			t.values = append(t.values, t.config.get(key))
		}
	}
	slices.SortStableFunc(s.tables, func(a, b *statTable) int {
		return cmp.Or(slices.Compare(a.values, b.values), cmp.Compare(a.unit, b.unit))
	})
}

func (s *stat) write(csv bool) (tables, warnings string) {
	var out, warn strings.Builder
	for _, f := range s.files {
		for _, b := range f.broken {
			fmt.Fprintf(&warn, "%s:%d: %s\n", f.Name, b.Line, b.Reason)
		}
	}
	lines := 0
	line := func(text string) {
		out.WriteString(text + "\n")
		lines++
	}
	for i, t := range s.tables {
		if i > 0 {
			line("")
		}
		for k, key := range s.keys {
			if i == 0 || t.values[k] != s.tables[i-1].values[k] {
				head := key + ": " + t.values[k]
				if csv {
					head = quoted(head)
				}
				line(head)
			}
		}
		table := verdict.BenchstatTable{
			Unit: s.units[t.unit], Files: [2]string{s.files[0].Name, s.files[1].Name}, FirstRow: lines + 1,
			Binary: Binary(s.units[t.unit]),
		}
		for _, r := range t.rows {
			table.Rows = append(table.Rows, *r)
		}
		slices.SortFunc(table.Rows, func(a, b verdict.Samples) int { return s.names[a.Name] - s.names[b.Name] })
		if !csv {
			out.WriteString(table.Text())
			continue
		}
		text, doubts := table.CSV()
		out.WriteString(text)
		warn.WriteString(doubts)
		lines += strings.Count(text, "\n")
	}
	return out.String(), warn.String()
}

// quoted is a field of CSV.
func quoted(s string) string {
	if strings.ContainsAny(s, "\",\r\n") || strings.HasPrefix(s, " ") {
		return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	return s
}
