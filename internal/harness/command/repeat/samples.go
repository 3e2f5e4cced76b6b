package repeat

import (
	"encoding/json"
	"strconv"

	"writ/internal/fault"
	"writ/internal/harness/nativejson"
)

// Samples are what repetitions came to. Each column has one value for each
// repetition that ended as expected, in the order of time, or is empty.
type Samples struct {
	Wall         []float64 // ns
	User         []float64 // ns, as are all times
	System       []float64
	Peak         []float64 // bytes: the most memory of the program or a descendant that it waited for
	Minor        []float64 // page faults
	Major        []float64
	Voluntary    []float64 // context switches
	Involuntary  []float64
	Instructions []float64 // in user mode; empty when not asked for

	Clock      float64 // ns between two looks at the clock, at best: no time is known better
	Floor      float64 // bytes that a program inherits; a Peak not above it says nothing
	Warmups    int     // repetitions that were done and are not recorded
	Strays     int     // processes that outlived a repetition; all were killed
	Shared     bool    // the instruction counter was not there all the time
	Stopped    string  // why there are no further repetitions; "" when all are there
	Incomplete bool    // Stopped is about this process, not about the program
}

// column is one of the lists of samples, by its name in the file.
type column struct {
	name   string
	values *[]float64
}

func (s *Samples) columns() []column {
	return []column{
		{"wall_ns", &s.Wall}, {"user_ns", &s.User}, {"system_ns", &s.System}, {"peak_bytes", &s.Peak},
		{"minor_faults", &s.Minor}, {"major_faults", &s.Major}, {"voluntary_switches", &s.Voluntary}, {"involuntary_switches", &s.Involuntary},
		{"instructions", &s.Instructions},
	}
}

// Encode writes the samples as one JSON object.
func (s Samples) Encode() []byte {
	b := make([]byte, 0, 512+len(s.Wall)*64)
	b = append(b, `{"schema":"`+Schema+`"`...)
	for _, c := range s.columns() {
		b = append(b, `,"`+c.name+`":[`...)
		for i, v := range *c.values {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, int64(v), 10)
		}
		b = append(b, ']')
	}
	b = append(b, `,"clock_ns":`...)
	b = strconv.AppendInt(b, int64(s.Clock), 10)
	b = append(b, `,"floor_bytes":`...)
	b = strconv.AppendInt(b, int64(s.Floor), 10)
	b = append(b, `,"warmups":`...)
	b = strconv.AppendInt(b, int64(s.Warmups), 10)
	b = append(b, `,"strays":`...)
	b = strconv.AppendInt(b, int64(s.Strays), 10)
	b = append(b, `,"shared_counter":`...)
	b = strconv.AppendBool(b, s.Shared)
	b = append(b, `,"incomplete":`...)
	b = strconv.AppendBool(b, s.Incomplete)
	b = append(b, `,"stopped":`...)
	b = appendText(b, s.Stopped)
	return append(b, "}\n"...)
}

// appendText spells a text as JSON; what is no UTF-8 becomes the replacement
// character.
func appendText(b []byte, s string) []byte {
	t, err := json.Marshal(s)
	if err != nil {
		return append(b, `""`...) // texts always have a spelling
	}
	return append(b, t...)
}

// Parse reads samples strictly. A text that is cut off anywhere, a column of
// another length, a number that is none of this program's, and a member that is
// missing are fault.Malformed with their place.
func Parse(text []byte) (Samples, error) {
	var s Samples
	r, err := nativejson.New(text)
	if err != nil {
		return s, err
	}
	columns := s.columns()
	var seen uint
	schema := ""
	err = r.Object(func(member string) (err error) {
		for i, c := range columns {
			if c.name == member {
				seen |= 1 << i
				*c.values, err = counts(r)
				return err
			}
		}
		switch member {
		case "schema":
			schema, err = r.Text()
		case "floor_bytes":
			seen |= 1 << 16
			s.Floor, err = quantity(r)
		case "clock_ns":
			seen |= 1 << 22
			s.Clock, err = quantity(r)
		case "warmups":
			seen |= 1 << 17
			s.Warmups, err = count(r)
		case "strays":
			seen |= 1 << 18
			s.Strays, err = count(r)
		case "shared_counter":
			seen |= 1 << 19
			s.Shared, err = r.Bool()
		case "incomplete":
			seen |= 1 << 20
			s.Incomplete, err = r.Bool()
		case "stopped":
			seen |= 1 << 21
			s.Stopped, err = r.Text()
		default:
			err = r.Skip()
		}
		return err
	})
	if err == nil {
		err = r.Done()
	}
	if err != nil {
		return Samples{}, err
	}
	switch {
	case schema != Schema:
		return Samples{}, r.Fail("the file is no %s", Schema)
	case seen != 1<<len(columns)-1|0b1111111<<16:
		return Samples{}, r.Fail("a member is missing")
	case s.Incomplete && s.Stopped == "":
		return Samples{}, r.Fail("incomplete without a reason")
	}
	for _, c := range columns {
		if n := len(*c.values); n != len(s.Wall) && (c.name != "instructions" || n > 0) {
			return Samples{}, r.Fail("%d values of %s for %d repetitions", n, c.name, len(s.Wall))
		}
	}
	return s, nil
}

// counts reads a list of whole numbers that are not negative.
func counts(r *nativejson.Reader) ([]float64, error) {
	values, err := r.Numbers()
	if err != nil {
		return nil, err
	}
	for _, v := range values {
		if n := (nativejson.Num{Value: v}); !isCount(n) {
			return nil, r.Fail("%v is no count", v)
		}
	}
	return values, nil
}

func quantity(r *nativejson.Reader) (float64, error) {
	n, err := count(r)
	return float64(n), err
}

func count(r *nativejson.Reader) (int, error) {
	n, err := r.Number()
	if err != nil {
		return 0, err
	}
	if !isCount(n) {
		return 0, r.Fail("%v is no count", n.Value)
	}
	v, _ := n.Int()
	return v, nil
}

func isCount(n nativejson.Num) bool {
	v, ok := n.Int()
	return ok && v >= 0
}

// Counters is what a process that repeats found out about counters.
type Counters struct {
	Instructions bool   // can be counted
	Why          string // they cannot
}

// Encode writes the answer.
func (c Counters) Encode() []byte {
	b := strconv.AppendBool([]byte(`{"instructions":`), c.Instructions)
	b = appendText(append(b, `,"why":`...), c.Why)
	return append(b, "}\n"...)
}

// ParseCounters reads the answer.
func ParseCounters(text []byte) (Counters, error) {
	var c Counters
	r, err := nativejson.New(text)
	if err != nil {
		return c, err
	}
	err = r.Object(func(member string) (err error) {
		switch member {
		case "instructions":
			c.Instructions, err = r.Bool()
		case "why":
			c.Why, err = r.Text()
		default:
			err = r.Skip()
		}
		return err
	})
	if err == nil {
		err = r.Done()
	}
	if err != nil {
		return Counters{}, fault.Wrap(err, fault.Malformed, "read counters", "no answer")
	}
	return c, nil
}
