package customjson

import (
	"slices"
	"strconv"

	"writ/internal/fault"
	"writ/internal/harness/nativejson"
)

// Schema is what the member "schema" of a document says.
const Schema = "writ.samples/v1"

// Bounds of a document.
const (
	maxSeries = 64
	maxFacts  = 256
)

// Document is the meaning of one file that a program wrote.
type Document struct {
	Case       string // "" when the document does not say it
	Skipped    string // why the case was skipped; "" when it was not
	Failed     string // why it failed; "" when it did not
	Series     []Series
	Iterations []int // of each sample, or one for all; nil when the document does not say it
	Warmups    int   // samples that were thrown away; -1 when the document does not say it
	Facts      map[string]string
}

// Series is one quantity of a document.
type Series struct {
	Quantity string
	Unit     string
	Samples  []float64
}

// Parse reads a document. An empty one is fault.Nothing. Everything that is not
// exactly the format is fault.Malformed with its place.
func Parse(text []byte) (Document, error) {
	if len(text) == 0 {
		return Document{}, fault.New(fault.Nothing, "read samples", "there is no document")
	}
	r, err := nativejson.New(text)
	if err != nil {
		return Document{}, err
	}
	d := Document{Warmups: -1}
	schema := ""
	err = r.Object(func(member string) (err error) {
		switch member {
		case "schema":
			schema, err = r.Text()
		case "case":
			d.Case, err = required(r)
		case "skipped":
			d.Skipped, err = required(r)
		case "error":
			d.Failed, err = required(r)
		case "quantities":
			err = r.Object(func(name string) error { return d.series(r, name) })
		case "iterations":
			err = d.iterations(r)
		case "warmups":
			d.Warmups, err = whole(r, 0)
		case "facts":
			d.Facts = map[string]string{}
			err = r.Object(func(name string) error { return d.fact(r, name) })
		default:
			err = r.Fail("the format has no member %q", member)
		}
		return err
	})
	if err == nil {
		err = r.Done()
	}
	switch {
	case err != nil:
		return Document{}, err
	case schema != Schema:
		return Document{}, r.Fail("the schema is %q, not %q", schema, Schema)
	case r.NonFinite() > 0:
		return Document{}, r.Fail("a number is not finite")
	case len(d.Series) == 0 && d.Skipped == "" && d.Failed == "":
		return Document{}, r.Fail("no quantities, and neither skipped nor error")
	}
	return d, nil
}

// required reads a text that says something.
func required(r *nativejson.Reader) (string, error) {
	text, err := r.Text()
	if err == nil && text == "" {
		err = r.Fail("an empty text says nothing")
	}
	return text, err
}

// whole reads an integer of at least least.
func whole(r *nativejson.Reader, least int) (int, error) {
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

func (d *Document) series(r *nativejson.Reader, quantity string) error {
	s := Series{Quantity: quantity}
	if len(d.Series) == maxSeries {
		return r.Fail("more than %d quantities", maxSeries)
	}
	err := r.Object(func(member string) (err error) {
		switch member {
		case "unit":
			s.Unit, err = required(r)
		case "samples":
			s.Samples, err = r.Numbers()
		default:
			err = r.Fail("a quantity has no member %q", member)
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case s.Unit == "":
		return r.Fail("%q has no unit", quantity)
	case len(s.Samples) == 0:
		return r.Fail("%q has no samples", quantity)
	}
	d.Series = append(d.Series, s)
	return nil
}

func (d *Document) iterations(r *nativejson.Reader) error {
	if r.Kind() == nativejson.Number {
		n, err := whole(r, 1)
		d.Iterations = []int{n}
		return err
	}
	numbers, err := r.Numbers()
	d.Iterations = make([]int, len(numbers))
	for i, v := range numbers {
		n, ok := nativejson.Num{Value: v}.Int()
		if !ok || n < 1 {
			return r.Fail("%v is no count", v)
		}
		d.Iterations[i] = n
	}
	return err
}

func (d *Document) fact(r *nativejson.Reader, name string) error {
	if len(d.Facts) == maxFacts {
		return r.Fail("more than %d facts", maxFacts)
	}
	var err error
	switch r.Kind() {
	case nativejson.String:
		d.Facts[name], err = r.Text()
	case nativejson.Bool:
		var b bool
		b, err = r.Bool()
		d.Facts[name] = strconv.FormatBool(b)
	case nativejson.Number:
		var n nativejson.Num
		n, err = r.Number()
		d.Facts[name] = strconv.FormatFloat(n.Value, 'f', -1, 64)
	default:
		err = r.Fail("a fact is a text, a number, true or false")
	}
	return err
}

// of returns the series of a quantity.
func (d Document) of(quantity string) (Series, bool) {
	i := slices.IndexFunc(d.Series, func(s Series) bool { return s.Quantity == quantity })
	if i < 0 {
		return Series{}, false
	}
	return d.Series[i], true
}
