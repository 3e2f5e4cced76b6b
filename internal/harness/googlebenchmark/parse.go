package googlebenchmark

import (
	"bytes"
	"slices"
	"strconv"

	"writ/internal/fault"
	"writ/internal/harness/nativejson"
)

// Document is the meaning of one file that the library wrote.
type Document struct {
	Context   map[string]string // known facts about machine and library, as text
	Rows      []Row             // in the order of the file
	NonFinite int               // numbers in it that are not finite, used or not
}

// Row is one repetition, or one number that the library computed from several.
type Row struct {
	Name      string // of the row
	Run       string // of the benchmark; Name where older libraries do not say it
	Aggregate string // "" for a repetition; else mean, median, stddev and others
	Ratio     bool   // of an aggregate: it is no time, whatever its unit says
	Outcome   Outcome
	Message   string // of a row that is not Measured

	Index      int // of the repetition; -1 when the library does not say it
	Threads    int
	Iterations int // of a repetition, over all threads; of an aggregate, the number of repetitions
	Real, CPU  nativejson.Num
	Unit       string // of both times: ns, us, ms or s
	Counters   []Counter
}

// Outcome is what became of a repetition.
type Outcome uint8

// The outcomes.
const (
	Measured Outcome = iota
	Failed
	Skipped
)

// Counter is a number that the benchmark added by itself.
type Counter struct {
	Name  string
	Value nativejson.Num
}

// fields are the members of a row that are the library's own. A counter of such a
// name makes a row with a name twice, which is refused.
var fields = []string{
	"name", "family_index", "per_family_instance_index", "run_name", "run_type", "repetitions", "repetition_index", "threads",
	"aggregate_name", "aggregate_unit", "error_occurred", "error_message", "skipped", "skip_message", "iterations", "real_time",
	"cpu_time", "time_unit", "label", "cpu_coefficient", "real_coefficient", "big_o", "rms",
}

// factNames are the members of the context that results record.
var factNames = []string{
	"date", "host_name", "executable", "num_cpus", "mhz_per_cpu", "cpu_scaling_enabled", "aslr_enabled", "load_avg",
	"library_version", "library_build_type", "json_schema_version",
}

// Parse reads a file. An empty one is fault.Nothing: the library creates the file
// before it knows whether it has anything to run. Everything that is not exactly
// what the library writes is fault.Malformed with its place.
//
// wanted are the counters that are kept.
func Parse(text []byte, wanted []string) (Document, error) {
	if len(text) == 0 {
		return Document{}, fault.New(fault.Nothing, "read native output", "the file is empty")
	}
	r, err := nativejson.New(text)
	if err != nil {
		return Document{}, err
	}
	d := Document{Context: map[string]string{}}
	rows := false
	err = r.Object(func(member string) error {
		switch member {
		case "context":
			return d.context(r)
		case "benchmarks":
			rows = true
			d.Rows = make([]Row, 0, bytes.Count(text, []byte(`"name"`)))
			return r.Array(func() error { return d.row(r, wanted) })
		}
		return r.Skip()
	})
	if err == nil {
		err = r.Done()
	}
	if err == nil && !rows {
		err = r.Fail("the file has no benchmarks")
	}
	d.NonFinite = r.NonFinite()
	return d, err
}

func (d *Document) context(r *nativejson.Reader) error {
	return r.Object(func(member string) error {
		if !slices.Contains(factNames, member) {
			return r.Skip()
		}
		text, err := fact(r)
		d.Context[member] = text
		return err
	})
}

// fact spells a scalar, or a list of numbers, as text.
func fact(r *nativejson.Reader) (string, error) {
	switch r.Kind() {
	case nativejson.String:
		return r.Text()
	case nativejson.Bool:
		b, err := r.Bool()
		return strconv.FormatBool(b), err
	case nativejson.Number:
		n, err := r.Number()
		return strconv.FormatFloat(n.Value, 'f', -1, 64), err
	case nativejson.Array:
		out := ""
		err := r.Array(func() error {
			n, err := r.Number()
			if len(out) < 100 {
				if out != "" {
					out += " "
				}
				out += strconv.FormatFloat(n.Value, 'f', -1, 64)
			}
			return err
		})
		return out, err
	default:
		return "", r.Skip()
	}
}

// row reads one element of benchmarks.
func (d *Document) row(r *nativejson.Reader, wanted []string) error {
	row := Row{Index: -1, Threads: 1, Unit: "ns"}
	var has struct{ name, iterations, real, cpu, kind bool }
	kind, aggregateUnit := "iteration", "time"
	err := r.Object(func(member string) (err error) {
		switch member {
		case "name":
			has.name = true
			row.Name, err = r.Text()
		case "run_name":
			row.Run, err = r.Text()
		case "run_type":
			has.kind = true
			kind, err = r.Text()
		case "aggregate_name":
			row.Aggregate, err = r.Text()
		case "aggregate_unit":
			aggregateUnit, err = r.Text()
		case "error_occurred":
			err = row.became(r, Failed)
		case "skipped":
			err = row.became(r, Skipped)
		case "error_message", "skip_message":
			row.Message, err = r.Text()
		case "repetition_index":
			row.Index, err = count(r, 0)
		case "threads":
			row.Threads, err = count(r, 1)
		case "iterations":
			has.iterations = true
			row.Iterations, err = count(r, 0)
		case "real_time":
			has.real = true
			row.Real, err = r.Number()
		case "cpu_time":
			has.cpu = true
			row.CPU, err = r.Number()
		case "time_unit":
			row.Unit, err = r.Text()
			if err == nil && perSecond[row.Unit] == 0 {
				err = r.Fail("%q is no unit of time", row.Unit)
			}
		default:
			if !slices.Contains(wanted, member) {
				return r.Skip()
			}
			var n nativejson.Num
			n, err = r.Number()
			row.Counters = append(row.Counters, Counter{member, n})
		}
		return err
	})
	if err != nil {
		return err
	}
	if row.Run == "" {
		row.Run = row.Name
	}
	timed := has.iterations && has.real && has.cpu
	switch {
	case !has.name || row.Name == "":
		return r.Fail("a row has no name")
	case kind == "aggregate" && row.Aggregate == "":
		return r.Fail("an aggregate of %q has no name", row.Run)
	case kind != "aggregate" && kind != "iteration":
		return r.Fail("a row of %q is of type %q", row.Run, kind)
	case kind == "iteration" && (row.Aggregate != "" && has.kind || row.Outcome == Measured && (!timed || row.Iterations < 1)):
		return r.Fail("a repetition of %q is not complete", row.Run)
	case kind == "aggregate":
		row.Ratio = aggregateUnit != "time" || !timed
	}
	d.Rows = append(d.Rows, row)
	return nil
}

// became reads a flag of a row.
func (row *Row) became(r *nativejson.Reader, o Outcome) error {
	yes, err := r.Bool()
	if yes && row.Outcome != Skipped {
		row.Outcome = o
	}
	return err
}

// count reads a whole number of at least least.
func count(r *nativejson.Reader, least int) (int, error) {
	n, err := r.Number()
	if err != nil {
		return 0, err
	}
	v, ok := n.Int()
	if !ok || v < least {
		return 0, r.Fail("%v is no count", n.Value)
	}
	return v, nil
}

// perSecond is how many of a unit are one second.
var perSecond = map[string]float64{"ns": 1e9, "us": 1e6, "ms": 1e3, "s": 1}
