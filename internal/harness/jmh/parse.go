package jmh

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"writ/internal/fault"
	"writ/internal/harness/nativejson"
)

// Entry is one benchmark of a file.
type Entry struct {
	Benchmark  string
	Mode       string // avgt, ss and others
	Threads    int
	Forks      int
	Warmups    int // iterations that are thrown away, of each fork
	Iterations int
	Batch      int
	Parameters []parameter // in the order of the file
	Primary    Metric
	Allocated  Metric // bytes of a call; without values where the profiler did not run
	Facts      []parameter
}

// Metric is one number that the harness measures.
type Metric struct {
	Unit         string
	Score        float64
	Lower, Upper float64   // of the score, at 99.9 %
	Values       []float64 // of every iteration, fork after fork; some may not be finite
	Forks        []int     // how many values each fork has
}

// allocated is the profiler's name for bytes of a call; before 1.37 a middle dot
// stands in front.
const allocated = "gc.alloc.rate.norm"

// factNames are the members that results record.
var factNames = map[string]bool{"jmhVersion": true, "jvm": true, "jdkVersion": true, "vmName": true, "vmVersion": true}

// Parse reads a file. An empty one is fault.Nothing. The harness does not escape every
// text that it writes: one that breaks the file makes it fault.Malformed.
func Parse(text []byte) ([]Entry, error) {
	if len(text) == 0 {
		return nil, fault.New(fault.Nothing, "read native output", "there is no file, or it is empty")
	}
	r, err := nativejson.New(text)
	if err != nil {
		return nil, err
	}
	times := func(s string) int { return bytes.Count(text, []byte(s)) }
	p := parser{ // with room for what is there, so that memory follows the text
		Reader: r, values: make([]float64, 0, times(",")+times("[")), forks: make([]int, 0, times("[")),
	}
	out := make([]Entry, 0, min(times(`"benchmark"`), len(text)/40))
	var e Entry
	inEntry := func(member string) error { return e.member(&p, member) }
	err = r.Array(func() error {
		e = Entry{Batch: 1}
		err := r.Object(inEntry)
		if err == nil && (e.Benchmark == "" || e.Mode == "" || e.Primary.Unit == "") {
			err = r.Fail("a benchmark has no name, mode or unit")
		}
		if err == nil {
			out = append(out, e)
		}
		return err
	})
	if err == nil {
		err = r.Done()
	}
	return out, err
}

// parser keeps the values of all metrics, one after the other.
type parser struct {
	*nativejson.Reader
	values []float64
	forks  []int
}

func (e *Entry) member(r *parser, member string) (err error) {
	switch member {
	case "benchmark":
		e.Benchmark, err = r.Text()
	case "mode":
		e.Mode, err = r.Text()
	case "threads":
		e.Threads, err = count(r)
	case "forks":
		e.Forks, err = count(r)
	case "warmupIterations":
		e.Warmups, err = count(r)
	case "measurementIterations":
		e.Iterations, err = count(r)
	case "measurementBatchSize":
		e.Batch, err = count(r)
	case "params":
		err = r.Object(func(name string) error {
			value, err := r.Text()
			e.Parameters = append(e.Parameters, parameter{name, value})
			return err
		})
	case "primaryMetric":
		err = e.Primary.read(r)
	case "secondaryMetrics":
		err = r.Object(func(name string) error {
			if strings.TrimPrefix(name, "\u00b7") != allocated {
				return r.Skip()
			}
			return e.Allocated.read(r)
		})
	default:
		if !factNames[member] || r.Kind() != nativejson.String {
			return r.Skip()
		}
		f := parameter{name: member}
		f.value, err = r.Text()
		e.Facts = append(e.Facts, f)
	}
	return err
}

func (m *Metric) read(r *parser) error {
	*m = Metric{Score: math.NaN(), Lower: math.NaN(), Upper: math.NaN()}
	return r.Object(func(member string) (err error) {
		switch member {
		case "scoreUnit":
			m.Unit, err = r.Text()
		case "score":
			m.Score, err = number(r)
		case "scoreConfidence":
			bounds := []*float64{&m.Lower, &m.Upper}
			err = r.Array(func() error {
				if len(bounds) == 0 {
					return r.Fail("a third bound")
				}
				v, err := number(r)
				*bounds[0], bounds = v, bounds[1:]
				return err
			})
		case "rawData":
			err = m.raw(r)
		default:
			err = r.Skip()
		}
		return err
	})
}

// raw reads the values of every iteration of every fork.
func (m *Metric) raw(r *parser) error {
	firstValue, firstFork := len(r.values), len(r.forks)
	element := func() error {
		v, err := number(r)
		r.values = append(r.values, v)
		return err
	}
	err := r.Array(func() error {
		before := len(r.values)
		err := r.Array(element)
		r.forks = append(r.forks, len(r.values)-before)
		return err
	})
	m.Values, m.Forks = slices.Clip(r.values[firstValue:]), slices.Clip(r.forks[firstFork:])
	return err
}

// number reads a number, or one of the texts that the harness writes for those that
// are not finite.
func number(r *parser) (float64, error) {
	if r.Kind() != nativejson.String {
		n, err := r.Number()
		return n.Value, err
	}
	text, err := r.Text()
	if err != nil {
		return 0, err
	}
	switch text {
	case "NaN":
		return math.NaN(), nil
	case "+INF":
		return math.Inf(1), nil
	case "-INF":
		return math.Inf(-1), nil
	}
	return 0, r.Fail("%s is no number", strconv.Quote(text))
}

func count(r *parser) (int, error) {
	n, err := r.Number()
	if err != nil {
		return 0, err
	}
	v, ok := n.Int()
	if !ok || v < 0 {
		return 0, r.Fail("%v is no count", n.Value)
	}
	return v, nil
}
