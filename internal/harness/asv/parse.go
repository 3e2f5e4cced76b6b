package asv

import (
	"bytes"
	"math"
	"slices"
	"strings"

	"writ/internal/fault"
	"writ/internal/harness/nativejson"
)

// Parameters are the values of each parameter of a benchmark, as Python shows them.
type Parameters struct {
	values []string // of all parameters
	sizes  []int    // how many each has
}

// combinations is how many there are: 1 without parameters. It saturates.
func (p Parameters) combinations() int {
	n := 1
	for _, size := range p.sizes {
		if n *= size; n > 1<<30 {
			return 1 << 30
		}
	}
	return n
}

// name is the case of a combination; the last parameter changes fastest.
func (p Parameters) name(benchmark string, combination int) string {
	if len(p.sizes) == 0 {
		return benchmark
	}
	parts := make([]string, len(p.sizes))
	from := len(p.values)
	for i := len(p.sizes) - 1; i >= 0; i-- {
		from -= p.sizes[i]
		parts[i] = p.values[from+combination%p.sizes[i]]
		combination /= p.sizes[i]
	}
	return benchmark + "(" + strings.Join(parts, ", ") + ")"
}

// find returns the combination that a case is, -1 for none.
func (p Parameters) find(benchmark, name string) int {
	if p.combinations() > maxCases {
		return -1
	}
	for i := range p.combinations() {
		if p.name(benchmark, i) == name {
			return i
		}
	}
	return -1
}

// Benchmark is one timing benchmark of benchmarks.json.
type Benchmark struct {
	Name       string
	Unit       string
	Version    string // digest of its code
	Parameters Parameters
}

// parser keeps lists of all kinds one after the other, so that memory follows the
// text.
type parser struct {
	*nativejson.Reader
	texts  []string
	sizes  []int
	values []float64
	known  []bool
}

func open(text []byte) (*parser, error) {
	if len(text) == 0 {
		return nil, fault.New(fault.Nothing, "read native output", "there is no file, or it is empty")
	}
	r, err := nativejson.New(text)
	if err != nil {
		return nil, err
	}
	lists := bytes.Count(text, []byte("["))
	numbers := bytes.Count(text, []byte(",")) + lists
	return &parser{
		Reader: r, texts: make([]string, 0, bytes.Count(text, []byte(`"`))/2), sizes: make([]int, 0, lists), values: make([]float64, 0, numbers), known: make([]bool, 0, numbers),
	}, nil
}

// parameters reads an array of arrays of texts.
func (p *parser) parameters() (Parameters, error) {
	firstText, firstSize := len(p.texts), len(p.sizes)
	err := p.Array(func() error {
		before := len(p.texts)
		err := p.Array(func() error {
			text, err := p.Text()
			p.texts = append(p.texts, text)
			return err
		})
		if err == nil && len(p.texts) == before {
			err = p.Fail("a parameter without values")
		}
		p.sizes = append(p.sizes, len(p.texts)-before)
		return err
	})
	return Parameters{slices.Clip(p.texts[firstText:]), slices.Clip(p.sizes[firstSize:])}, err
}

// ParseBenchmarks reads benchmarks.json and returns the timing benchmarks.
func ParseBenchmarks(text []byte) ([]Benchmark, error) {
	p, err := open(text)
	if err != nil {
		return nil, err
	}
	out := make([]Benchmark, 0, min(bytes.Count(text, []byte(`"time"`)), len(text)/20))
	var b Benchmark
	kind := ""
	member := func(member string) (err error) {
		switch member {
		case "type":
			kind, err = p.Text()
		case "unit":
			b.Unit, err = p.Text()
		case "version":
			b.Version, err = p.Text()
		case "params":
			b.Parameters, err = p.parameters()
		default:
			err = p.Skip()
		}
		return err
	}
	err = p.Object(func(name string) error {
		if p.Kind() != nativejson.Object {
			return p.Skip() // the version of the file
		}
		b, kind = Benchmark{Name: name}, ""
		err := p.Object(member)
		if err == nil && kind == "time" {
			out = append(out, b)
		}
		return err
	})
	if err == nil {
		err = p.Done()
	}
	return out, err
}

// Row is what a file says of one benchmark.
type Row struct {
	Version    string
	Parameters Parameters
	Result     Column // seconds of a call; NaN where a combination was skipped
	Samples    Lists  // seconds of a call
	Number     Column // calls of a sample
	LowCI      Column // of the result, at 99 %
	HighCI     Column
	Q25, Q75   Column
}

// Column has one number for each combination, and none at all when it is null.
type Column struct {
	values []float64
	known  []bool // beside them: false for null
}

// at is the number of a combination, nil for null or none.
func (c Column) at(i int) *float64 {
	if i < 0 || i >= len(c.values) || !c.known[i] {
		return nil
	}
	return &c.values[i]
}

// Lists are lists of numbers, of which some are null.
type Lists struct {
	values []float64
	sizes  []int // -1 for null
}

// at is the list of a combination, nil for null or none.
func (l Lists) at(i int) []float64 {
	from := 0
	for j, size := range l.sizes {
		if j == i && size >= 0 {
			return l.values[from : from+size]
		}
		from += max(size, 0)
	}
	return nil
}

// Document is the meaning of one file of results.
type Document struct {
	Row   Row
	Found bool              // the benchmark is in the file
	More  bool              // others are, too
	Facts map[string]string // about machine and interpreter
}

const (
	apiVersion = 2  // of the format
	maxColumns = 64 // of a row
)

// Parse reads a file of results and keeps the row of one benchmark.
func Parse(text []byte, benchmark string) (Document, error) {
	columns, err := columnsOf(text)
	if err != nil {
		return Document{}, err
	}
	p, err := open(text)
	if err != nil {
		return Document{}, err
	}
	d := Document{Facts: map[string]string{}}
	err = p.Object(func(member string) (err error) {
		switch member {
		case "results":
			err = p.Object(func(name string) error {
				if name != benchmark {
					d.More = true
					return p.Skip()
				}
				d.Found = true
				return d.Row.read(p, columns)
			})
		case "python", "env_name", "commit_hash":
			if p.Kind() != nativejson.String {
				return p.Skip()
			}
			d.Facts[member], err = p.Text()
		default:
			err = p.Skip()
		}
		return err
	})
	return d, err
}

// columnsOf reads what the places of a row mean, and makes sure that the text is a
// whole file of results.
func columnsOf(text []byte) (columns []string, err error) {
	if len(text) == 0 {
		return nil, fault.New(fault.Nothing, "read native output", "there is no file, or it is empty")
	}
	r, err := nativejson.New(text)
	if err != nil {
		return nil, err
	}
	version, results := 0, false
	err = r.Object(func(member string) error {
		switch member {
		case "version":
			n, err := r.Number()
			version, _ = n.Int()
			return err
		case "result_columns":
			return r.Array(func() error {
				text, err := r.Text()
				if columns = append(columns, text); len(columns) > maxColumns {
					err = r.Fail("more than %d columns", maxColumns)
				}
				return err
			})
		}
		results = results || member == "results"
		return r.Skip()
	})
	if err == nil {
		err = r.Done()
	}
	switch {
	case err != nil:
		return nil, err
	case version != apiVersion:
		return nil, r.Fail("version %d of the format; %d is read", version, apiVersion)
	case !results || !slices.Contains(columns, "result"):
		return nil, r.Fail("the file has no results, or does not say what their columns are")
	}
	return columns, nil
}

// read reads a row: its last columns are left out when they are null.
func (row *Row) read(p *parser, columns []string) error {
	i := 0
	err := p.Array(func() (err error) {
		if i >= len(columns) {
			return p.Fail("more values than columns")
		}
		column := columns[i]
		i++
		if p.Kind() == nativejson.Null {
			return p.Skip()
		}
		switch column {
		case "version":
			row.Version, err = p.Text()
		case "params":
			row.Parameters, err = p.parameters()
		case "samples":
			row.Samples, err = p.lists()
		case "result":
			row.Result, err = p.column()
		case "stats_number":
			row.Number, err = p.column()
		case "stats_ci_99_a":
			row.LowCI, err = p.column()
		case "stats_ci_99_b":
			row.HighCI, err = p.column()
		case "stats_q_25":
			row.Q25, err = p.column()
		case "stats_q_75":
			row.Q75, err = p.column()
		default:
			err = p.Skip()
		}
		return err
	})
	return err
}

// column reads an array of numbers and nulls.
func (p *parser) column() (Column, error) {
	firstValue, firstKnown := len(p.values), len(p.known)
	err := p.Array(func() error {
		v, known := 0.0, p.Kind() != nativejson.Null
		var err error
		if known {
			var n nativejson.Num
			n, err = p.Number()
			v = n.Value
		} else {
			err = p.Skip()
		}
		p.values, p.known = append(p.values, v), append(p.known, known)
		return err
	})
	return Column{slices.Clip(p.values[firstValue:]), slices.Clip(p.known[firstKnown:])}, err
}

// lists reads an array of arrays of numbers, and nulls.
func (p *parser) lists() (Lists, error) {
	firstValue, firstSize := len(p.values), len(p.sizes)
	element := func() error {
		n, err := p.Number()
		p.values = append(p.values, n.Value)
		return err
	}
	err := p.Array(func() error {
		if p.Kind() == nativejson.Null {
			p.sizes = append(p.sizes, -1)
			return p.Skip()
		}
		before := len(p.values)
		err := p.Array(element)
		p.sizes = append(p.sizes, len(p.values)-before)
		return err
	})
	return Lists{slices.Clip(p.values[firstValue:]), slices.Clip(p.sizes[firstSize:])}, err
}

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
