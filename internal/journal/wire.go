package journal

import (
	"bytes"
	"strconv"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ledger"
)

// Wire is the form that readers get: the stored body with seq and ts put in
// front. The body is not parsed, so what it holds comes out byte for byte.
func Wire(e ledger.Event) []byte {
	return AppendWire(make([]byte, 0, len(e.Body)+64), e)
}

// AppendWire appends the form that readers get to out.
func AppendWire(out []byte, e ledger.Event) []byte {
	out = append(out, `{"seq":`...)
	out = strconv.AppendInt(out, e.Seq, 10)
	out = append(out, `,"ts":"`...)
	out = e.TS.UTC().AppendFormat(out, stampLayout)
	out = append(out, `",`...)
	return append(out, e.Body[1:]...) // a body has members, and starts with a brace
}

// WireSeq returns the sequence number of what Wire made, without parsing it.
func WireSeq(b []byte) (int64, bool) {
	rest, ok := bytes.CutPrefix(b, []byte(`{"seq":`))
	if !ok {
		return 0, false
	}
	digits, _, ok := bytes.Cut(rest, []byte(","))
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(string(digits), 10, 64)
	return n, err == nil && n > 0
}

// CheckWire checks the wire form of an event. An event of a type that this
// build does not know is only checked for being an object with a type: readers
// pass on what they do not understand. An error is fault.Event with every
// failure.
func CheckWire(v canon.Value) error { return check(v, wire, "read event") }

func check(v canon.Value, f form, op string) error {
	name, ok := "", false
	if t, has := v.Get("type"); has {
		name, ok = t.String()
	}
	if !ok {
		return fault.New(fault.Event, op, "an event is an object with a type").At("/type")
	}
	t, ok := catalogue[name]
	if !ok {
		return nil
	}
	c := checker{form: f}
	c.object(v, t.body)
	if t.rule != nil {
		t.rule(&c, v)
	}
	return c.err(op)
}
