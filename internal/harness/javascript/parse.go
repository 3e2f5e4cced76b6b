package javascript

import (
	"bytes"
	"math"

	"writ/internal/fault"
	"writ/internal/harness/nativejson"
)

// Document is the meaning of one file that a driver wrote: what the harness itself
// says of every repetition.
type Document struct {
	Case    string
	Version string
	Skipped string // why the benchmark was skipped; "" when it was not
	Runs    []Run
	Last    Stats // of the last run, in seconds
}

// Run is one repetition.
type Run struct {
	Mean  float64 // seconds of a call; NaN when the harness has none
	Calls int     // 0 when the harness does not say it
	Error string  // "" for none
}

// Stats are numbers over single calls, by their names in results. NaN is none.
type Stats struct{ Min, Max, Median, P75, P99, Deviation float64 }

// Units of the harnesses, per second.
const (
	milliseconds = 1e3
	nanoseconds  = 1e9
)

// Parse reads a file. Each run is as tinybench has it (today, or flat as before its
// version 3) or as mitata has it. No file is fault.Nothing.
func Parse(text []byte) (Document, error) {
	if len(text) == 0 {
		return Document{}, fault.New(fault.Nothing, "read native output", "there is no file, or it is empty")
	}
	r, err := nativejson.New(text)
	if err != nil {
		return Document{}, err
	}
	p := parser{Reader: r}
	p.element = func() error { return p.run() }
	p.inRun = p.member
	listed := false
	err = r.Object(func(member string) (err error) {
		switch member {
		case "case":
			p.d.Case, err = r.Text()
		case "version":
			p.d.Version, err = r.Text()
		case "skipped":
			p.d.Skipped, err = r.Text()
		case "runs":
			listed = true
			p.d.Runs = make([]Run, 0, min(bytes.Count(text, []byte("{")), len(text)/8))
			err = r.Array(p.element)
		default:
			err = r.Skip()
		}
		return err
	})
	if err == nil {
		err = r.Done()
	}
	if err == nil && (p.d.Case == "" || !listed) {
		err = r.Fail("the file has no case or no runs")
	}
	p.d.Last = p.stats
	return p.d, err
}

// parser holds the run that is being read, so that memory follows what is kept.
type parser struct {
	*nativejson.Reader
	d       Document
	now     Run
	stats   Stats
	nested  bool // the numbers are in an object of their own
	said    bool // something is known of the run
	element func() error
	inRun   func(string) error
}

var nan = math.NaN()

func (p *parser) clear() {
	p.now.Mean, p.now.Calls, p.stats = nan, 0, Stats{nan, nan, nan, nan, nan, nan}
}

func (p *parser) run() error {
	p.now, p.nested, p.said = Run{}, false, false
	p.clear()
	err := p.Object(p.inRun)
	if err == nil && !p.said {
		err = p.Fail("a run says nothing")
	}
	p.d.Runs = append(p.d.Runs, p.now)
	return err
}

func (p *parser) member(member string) (err error) {
	switch member {
	case "error":
		p.said = true
		p.now.Error, err = errorText(p.Reader)
	case "aborted":
		var aborted bool
		if aborted, err = p.Bool(); aborted {
			p.now.Error, p.said = "aborted", true
		}
	case "state":
		var state string
		if state, err = p.Text(); err == nil && state != "completed" && state != "errored" {
			p.now.Error, p.said = state, true
		}
	case "latency", "stats":
		per := milliseconds
		if member == "stats" {
			per = nanoseconds
		}
		p.nested = true
		p.clear()
		err = p.Object(func(member string) error { return p.number(member, per) })
	default:
		if p.nested {
			return p.Skip() // older spellings of what the object says
		}
		err = p.number(member, milliseconds)
	}
	return err
}

// number reads one member with numbers about calls. null is what JSON makes of
// numbers that are not finite.
func (p *parser) number(member string, per float64) error {
	if member == "samplesCount" || member == "ticks" {
		n, err := p.Number()
		if err != nil {
			return err
		}
		calls, ok := n.Int()
		if !ok || calls < 0 {
			return p.Fail("%v is no count", n.Value)
		}
		p.now.Calls = calls
		return nil
	}
	var to *float64
	switch member {
	case "mean", "avg":
		to, p.said = &p.now.Mean, true
	case "min":
		to = &p.stats.Min
	case "max":
		to = &p.stats.Max
	case "p50":
		to = &p.stats.Median
	case "p75":
		to = &p.stats.P75
	case "p99":
		to = &p.stats.P99
	case "sd":
		to = &p.stats.Deviation
	}
	if to == nil || p.Kind() == nativejson.Null {
		return p.Skip()
	}
	n, err := p.Number()
	*to = n.Value / per
	return err
}

// errorText reads a text, or an object with a message.
func errorText(r *nativejson.Reader) (text string, err error) {
	switch r.Kind() {
	case nativejson.String:
		text, err = r.Text()
	case nativejson.Object:
		err = r.Object(func(member string) (err error) {
			if member != "message" {
				return r.Skip()
			}
			text, err = r.Text()
			return err
		})
	default:
		err = r.Skip()
	}
	if text == "" {
		text = "the benchmark failed without a word"
	}
	return text, err
}
