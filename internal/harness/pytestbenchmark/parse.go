package pytestbenchmark

import (
	"writ/internal/fault"
	"writ/internal/harness/nativejson"
)

// Document is the meaning of one file that the plugin wrote.
type Document struct {
	Version   string
	Facts     map[string]string // of interpreter and machine
	Records   []Record
	NonFinite int // numbers in it that are not finite, used or not
}

// Record is one test that measured something.
type Record struct {
	FullName   string    // node id
	Data       []float64 // seconds of one iteration, by round; some may not be finite
	Iterations int       // in each round
	Stats      Stats
	Options    Options
}

// Options are the settings that the test ran with.
type Options struct {
	MinRounds int
	MinTime   float64 // seconds
	Timer     string
	DisableGC bool
	Warmup    bool
}

// Stats is what the plugin computed, in seconds, by its own names.
type Stats map[string]float64

// statNames are the numbers that results pass on.
var statNames = map[string]bool{
	"min": true, "max": true, "mean": true, "stddev": true, "median": true, "iqr": true, "q1": true, "q3": true, "ld15iqr": true, "hd15iqr": true,
}

// factNames are the facts that results record.
var factNames = map[string]bool{
	"processor": true, "machine": true, "python_compiler": true, "python_implementation": true, "python_version": true, "release": true, "system": true,
}

// Parse reads a file. An empty one is fault.Nothing: the plugin creates the file
// before it knows whether a test measures anything.
func Parse(text []byte) (Document, error) {
	if len(text) == 0 {
		return Document{}, fault.New(fault.Nothing, "read native output", "the file is empty")
	}
	r, err := nativejson.New(text)
	if err != nil {
		return Document{}, err
	}
	d := Document{Facts: map[string]string{}}
	records := false
	err = r.Object(func(member string) (err error) {
		switch member {
		case "version":
			d.Version, err = r.Text()
		case "machine_info":
			err = d.machine(r)
		case "benchmarks":
			records = true
			err = r.Array(func() error { return d.record(r) })
		default:
			err = r.Skip()
		}
		return err
	})
	if err == nil {
		err = r.Done()
	}
	if err == nil && !records {
		err = r.Fail("the file has no benchmarks")
	}
	d.NonFinite = r.NonFinite()
	return d, err
}

func (d *Document) machine(r *nativejson.Reader) error {
	return r.Object(func(member string) error {
		if !factNames[member] || r.Kind() != nativejson.String {
			return r.Skip()
		}
		text, err := r.Text()
		d.Facts[member] = text
		return err
	})
}

// record reads one element of benchmarks.
func (d *Document) record(r *nativejson.Reader) error {
	var rec Record
	options := false
	err := r.Object(func(member string) (err error) {
		switch member {
		case "fullname":
			rec.FullName, err = r.Text()
		case "options":
			options = true
			err = rec.Options.read(r)
		case "stats":
			err = rec.stats(r)
		default:
			err = r.Skip()
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case rec.FullName == "":
		return r.Fail("a test has no name")
	case !options || rec.Stats == nil:
		return r.Fail("%q has no options or no stats", rec.FullName)
	}
	d.Records = append(d.Records, rec)
	return nil
}

func (o *Options) read(r *nativejson.Reader) error {
	return r.Object(func(member string) (err error) {
		var n nativejson.Num
		switch member {
		case "min_rounds":
			o.MinRounds, err = count(r)
		case "min_time":
			n, err = r.Number()
			o.MinTime = n.Value
		case "timer":
			o.Timer, err = r.Text()
		case "disable_gc":
			o.DisableGC, err = r.Bool()
		case "warmup": // false, or how many iterations
			if r.Kind() == nativejson.Bool {
				o.Warmup, err = r.Bool()
				return err
			}
			n, err = r.Number()
			o.Warmup = n.Value != 0
		default:
			err = r.Skip()
		}
		return err
	})
}

func (rec *Record) stats(r *nativejson.Reader) error {
	rec.Stats = Stats{}
	rounds, data := 0, false
	err := r.Object(func(member string) (err error) {
		switch {
		case member == "data":
			data = true
			rec.Data, err = r.Numbers()
		case member == "iterations":
			rec.Iterations, err = count(r)
		case member == "rounds":
			rounds, err = count(r)
		case statNames[member]:
			var n nativejson.Num
			n, err = r.Number()
			rec.Stats[member] = n.Value
		default:
			err = r.Skip()
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case !data || rec.Iterations < 1:
		return r.Fail("a test has no data or no iterations")
	case rounds != len(rec.Data):
		return r.Fail("%d rounds with %d values", rounds, len(rec.Data))
	}
	return nil
}

func count(r *nativejson.Reader) (int, error) {
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
