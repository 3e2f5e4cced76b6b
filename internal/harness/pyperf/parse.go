package pyperf

import (
	"bytes"
	"strconv"

	"writ/internal/fault"
	"writ/internal/harness/nativejson"
)

// Document is the meaning of one file that pyperf wrote.
type Document struct {
	Benchmarks []Benchmark
	Facts      map[string]string // about machine and interpreter, as text
	NonFinite  int               // numbers in it that are not finite, used or not
}

// Benchmark is one function.
type Benchmark struct {
	Name string
	Unit string // second, byte or integer
	Runs []Run
}

// Run is one process.
type Run struct {
	Values  []float64 // seconds of one iteration; none in a run that only calibrates
	Warmups int
	Loops   int    // iterations of the outer loop for one value
	Inner   int    // iterations that one turn of the loop stands for
	Digest  string // of the environment, "" when it is not recorded
}

// metadata are the settings that count: a run has what its file, its benchmark and the run itself
// say, in this order of growing weight.
type metadata struct {
	name, unit, digest string
	loops, inner       int
}

// under fills in what m leaves out.
func (m metadata) under(outer metadata) metadata {
	if m.name == "" {
		m.name = outer.name
	}
	if m.unit == "" {
		m.unit = outer.unit
	}
	if m.digest == "" {
		m.digest = outer.digest
	}
	if m.loops == 0 {
		m.loops = outer.loops
	}
	if m.inner == 0 {
		m.inner = outer.inner
	}
	return m
}

// digestKey is where the driver puts the digest of the environment.
const digestKey = "benchx_env_sha256"

// factNames are the metadata that results record.
var factNames = map[string]bool{
	"aslr": true, "boot_time": true, "cpu_affinity": true, "cpu_config": true, "cpu_count": true, "cpu_model_name": true, "date": true,
	"hostname": true, "perf_version": true, "platform": true, "python_cflags": true, "python_compiler": true, "python_executable": true,
	"python_gc": true, "python_implementation": true, "python_version": true, "timer": true,
}

// Parse reads a file of format 1.0. An empty one is fault.Nothing.
func Parse(text []byte) (Document, error) {
	if len(text) == 0 {
		return Document{}, fault.New(fault.Nothing, "read native output", "there is no file, or it is empty")
	}
	r, err := nativejson.New(text)
	if err != nil {
		return Document{}, err
	}
	times := func(member string) int { return bytes.Count(text, []byte(`"`+member+`"`)) }
	p := parser{
		Reader: r, facts: map[string]string{}, // and room for what is there, so that memory follows the text
		benchmarks: make([]benchmark, 0, times("runs")), runs: make([]run, 0, times("values")+times("warmups")),
	}
	d, err := p.document()
	d.NonFinite = r.NonFinite()
	return d, err
}

type parser struct {
	*nativejson.Reader
	facts      map[string]string
	benchmarks []benchmark
	runs       []run // of all benchmarks
}

// benchmark is a Benchmark before the file's own metadata is known.
type benchmark struct {
	metadata
	from, to int // runs
}

type run struct {
	values  []float64
	warmups int
	own     *metadata // nil for none
}

func (p *parser) document() (Document, error) {
	var outer metadata
	version, listed := "", false
	err := p.Object(func(member string) (err error) {
		switch member {
		case "version":
			version, err = p.Text()
		case "metadata":
			outer, err = p.metadata()
		case "benchmarks":
			listed = true
			err = p.Array(func() error {
				b, err := p.benchmark()
				p.benchmarks = append(p.benchmarks, b)
				return err
			})
		default:
			err = p.Skip()
		}
		return err
	})
	if err == nil {
		err = p.Done()
	}
	switch {
	case err != nil:
		return Document{}, err
	case version != "1.0":
		return Document{}, p.Fail("format version %q is not known", version)
	case !listed:
		return Document{}, p.Fail("the file has no benchmarks")
	}
	d := Document{Facts: p.facts, Benchmarks: make([]Benchmark, 0, len(p.benchmarks))}
	for _, b := range p.benchmarks {
		one := Benchmark{Runs: make([]Run, 0, b.to-b.from)}
		for _, r := range p.runs[b.from:b.to] {
			m := b.under(outer)
			if r.own != nil {
				m = r.own.under(m)
			}
			if one.Name == "" {
				one.Name, one.Unit = m.name, m.unit
			}
			if m.name != one.Name || m.unit != one.Unit {
				return Document{}, p.Fail("runs of %q and %q in one benchmark", one.Name, m.name)
			}
			one.Runs = append(one.Runs, Run{r.values, r.warmups, max(m.loops, 1), max(m.inner, 1), m.digest})
		}
		if one.Name == "" {
			return Document{}, p.Fail("a benchmark has no name")
		}
		if one.Unit == "" {
			one.Unit = "second" // what pyperf takes it for
		}
		d.Benchmarks = append(d.Benchmarks, one)
	}
	return d, nil
}

func (p *parser) benchmark() (benchmark, error) {
	b := benchmark{from: len(p.runs), to: len(p.runs)}
	err := p.Object(func(member string) (err error) {
		switch member {
		case "metadata":
			b.metadata, err = p.metadata()
		case "runs":
			err = p.Array(func() error {
				r, err := p.run()
				p.runs = append(p.runs, r)
				return err
			})
			b.to = len(p.runs)
		default:
			err = p.Skip()
		}
		return err
	})
	return b, err
}

func (p *parser) run() (run, error) {
	var r run
	err := p.Object(func(member string) (err error) {
		switch member {
		case "metadata":
			var m metadata
			m, err = p.metadata()
			r.own = &m
		case "values":
			r.values, err = p.Numbers()
		case "warmups":
			err = p.Array(func() error {
				pair, err := p.Numbers()
				if err == nil && len(pair) != 2 {
					err = p.Fail("a warm-up is a count and a value")
				}
				r.warmups++
				return err
			})
		default:
			err = p.Skip()
		}
		return err
	})
	if err == nil && len(r.values) == 0 && r.warmups == 0 {
		err = p.Fail("a run without values and warm-ups")
	}
	return r, err
}

func (p *parser) metadata() (metadata, error) {
	var m metadata
	err := p.Object(func(member string) (err error) {
		switch member {
		case "name":
			m.name, err = p.Text()
		case "unit":
			m.unit, err = p.Text()
		case digestKey:
			m.digest, err = p.Text()
		case "loops":
			m.loops, err = p.count()
		case "inner_loops":
			m.inner, err = p.count()
		default:
			if !factNames[member] {
				return p.Skip()
			}
			var text string
			text, err = p.fact()
			if _, known := p.facts[member]; !known {
				p.facts[member] = text
			}
		}
		return err
	})
	return m, err
}

// fact spells text or a number as text.
func (p *parser) fact() (string, error) {
	if p.Kind() == nativejson.String {
		return p.Text()
	}
	n, err := p.Number()
	return strconv.FormatFloat(n.Value, 'f', -1, 64), err
}

// count reads a whole number above 0.
func (p *parser) count() (int, error) {
	n, err := p.Number()
	if err != nil {
		return 0, err
	}
	v, ok := n.Int()
	if !ok || v < 1 {
		return 0, p.Fail("%v is no count", n.Value)
	}
	return v, nil
}
