package order

import (
	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/schema"
)

// Parse reads a work order: strict JSON, the schema, then the rules that a
// schema cannot say. Text that is no strict JSON is fault.Malformed; everything
// else is fault.Invalid, and Fields lists every broken rule with its pointer.
func Parse(raw []byte) (Order, error) {
	v, err := canon.Parse(raw)
	if err != nil {
		return Order{}, err
	}
	return read(v, raw, v.Canonical())
}

// read checks a parsed order and keeps raw as its bytes.
func read(v canon.Value, raw, canonical []byte) (Order, error) {
	if version := v.Str("schema_version"); version != SchemaVersion {
		return Order{}, fault.New(fault.Invalid, "parse order", "unknown order version %q", version).
			At("/schema_version").Help("this build reads %s", SchemaVersion)
	}
	if err := schema.Validate(schema.WorkOrder, v); err != nil {
		return Order{}, err
	}
	var o Order
	if err := v.Decode(&o); err != nil {
		return Order{}, err
	}
	o.value, o.raw = v, raw
	o.digest, o.domain = canon.Sum(canonical), domainHash("benchx-work-order-v1", canonical)
	if broken := check(o); len(broken) > 0 {
		e := fault.New(fault.Invalid, "parse order", "%s", broken[0].Rule).At(broken[0].Pointer)
		e.Fields = broken
		return Order{}, e
	}
	return o, nil
}

// seal turns a document that was built here into an order, with its canonical
// bytes as raw ones.
func seal(v canon.Value) (Order, error) {
	canonical := v.Canonical()
	return read(v, canonical, canonical)
}
