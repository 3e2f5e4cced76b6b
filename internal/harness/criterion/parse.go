package criterion

import (
	"strconv"

	"writ/internal/fault"
	"writ/internal/harness/nativejson"
)

// Sample is the meaning of sample.json.
type Sample struct {
	Mode  string    // Linear or Flat; "" in files of old versions
	Iters []float64 // iterations of each sample
	Times []float64 // nanoseconds of all iterations of each sample
}

func open(text []byte) (*nativejson.Reader, error) {
	if len(text) == 0 {
		return nil, fault.New(fault.Nothing, "read native output", "there is no file, or it is empty")
	}
	return nativejson.New(text)
}

// ParseSample reads sample.json: an object, or in versions before 0.3.3 an array of
// the two arrays. No file is fault.Nothing.
func ParseSample(text []byte) (Sample, error) {
	r, err := open(text)
	if err != nil {
		return Sample{}, err
	}
	var s Sample
	if r.Kind() == nativejson.Array {
		lists := []*[]float64{&s.Iters, &s.Times}
		err = r.Array(func() (err error) {
			if len(lists) == 0 {
				return r.Fail("a third list of numbers")
			}
			*lists[0], err = r.Numbers()
			lists = lists[1:]
			return err
		})
	} else {
		err = r.Object(func(member string) (err error) {
			switch member {
			case "sampling_mode":
				s.Mode, err = r.Text()
			case "iters":
				s.Iters, err = r.Numbers()
			case "times":
				s.Times, err = r.Numbers()
			default:
				err = r.Skip()
			}
			return err
		})
	}
	if err == nil {
		err = r.Done()
	}
	switch {
	case err != nil:
		return Sample{}, err
	case len(s.Iters) == 0 || len(s.Iters) != len(s.Times):
		return Sample{}, r.Fail("%d counts of iterations with %d times", len(s.Iters), len(s.Times))
	}
	for _, n := range s.Iters {
		if i, ok := (nativejson.Num{Value: n}).Int(); !ok || i < 1 {
			return Sample{}, r.Fail("%v is no count of iterations", n)
		}
	}
	return s, nil
}

// Identity is the meaning of benchmark.json.
type Identity struct {
	FullID     string
	Throughput string // what one iteration does, such as "Bytes 16"; "" when it is not said
}

// ParseIdentity reads benchmark.json.
func ParseIdentity(text []byte) (Identity, error) {
	r, err := open(text)
	if err != nil {
		return Identity{}, err
	}
	var id Identity
	err = r.Object(func(member string) (err error) {
		switch {
		case member == "full_id":
			id.FullID, err = r.Text()
		case member == "throughput" && r.Kind() == nativejson.Object:
			err = r.Object(func(unit string) error {
				n, err := r.Number()
				if amount, ok := n.Int(); err == nil && ok && id.Throughput == "" {
					id.Throughput = unit + " " + strconv.Itoa(amount)
				}
				return err
			})
		default:
			err = r.Skip()
		}
		return err
	})
	if err == nil {
		err = r.Done()
	}
	if err == nil && id.FullID == "" {
		err = r.Fail("the file has no full_id")
	}
	return id, err
}

// Estimate is one number of estimates.json, in nanoseconds.
type Estimate struct {
	Name                string // mean, median, median_abs_dev, slope or std_dev
	Point, Lower, Upper float64
	Level               float64 // of the interval
}

// names are the estimates that results pass on, by their spellings of today and of
// versions before 0.3.3.
var names = map[string]string{
	"mean": "mean", "median": "median", "median_abs_dev": "median_abs_dev", "slope": "slope", "std_dev": "std_dev",
	"Mean": "mean", "Median": "median", "MedianAbsDev": "median_abs_dev", "Slope": "slope", "StdDev": "std_dev",
}

// ParseEstimates reads estimates.json. The slope is null in the flat mode.
func ParseEstimates(text []byte) ([]Estimate, error) {
	r, err := open(text)
	if err != nil {
		return nil, err
	}
	var out []Estimate
	err = r.Object(func(member string) error {
		name, known := names[member]
		if !known || r.Kind() == nativejson.Null {
			return r.Skip()
		}
		if len(out) == len(names) {
			return r.Fail("an estimate comes twice")
		}
		e := Estimate{Name: name}
		err := r.Object(func(member string) error { return e.read(r, member) })
		out = append(out, e)
		return err
	})
	if err == nil {
		err = r.Done()
	}
	return out, err
}

func (e *Estimate) read(r *nativejson.Reader, member string) error {
	var to *float64
	switch member {
	case "confidence_interval":
		return r.Object(func(member string) error { return e.read(r, member) })
	case "point_estimate":
		to = &e.Point
	case "lower_bound":
		to = &e.Lower
	case "upper_bound":
		to = &e.Upper
	case "confidence_level":
		to = &e.Level
	default:
		return r.Skip()
	}
	n, err := r.Number()
	*to = n.Value
	return err
}
