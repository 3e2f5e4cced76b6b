package result

import (
	"reflect"
	"strings"
	"sync"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/schema"
)

// Result is a document that was accepted, with its bytes and digests.
type Result struct {
	Document

	raw    []byte
	digest canon.Digest
	prints *printed
}

// Raw returns the bytes that the result was parsed from or built as.
func (r Result) Raw() []byte { return r.raw }

// Canonical returns the canonical bytes, those of Digest.
func (r Result) Canonical() []byte {
	if canon.Sum(r.raw) == r.digest {
		return r.raw
	}
	v, _ := canon.Parse(r.raw) // it was parsed before
	return v.Canonical()
}

// Digest returns the SHA-256 of the canonical bytes: the payload hash that
// stores compare and result sets list.
func (r Result) Digest() canon.Digest { return r.digest }

// WorkOrder returns the reference of the order that the result came of, or "".
func (r Result) WorkOrder() string { return r.info(InfoWorkOrder) }

// PlanEntry returns the id of the planned entry, or "".
func (r Result) PlanEntry() string { return r.info(InfoPlanEntry) }

func (r Result) info(name string) string {
	s, _ := r.Provenance.Info[name].String()
	return s
}

// Ref names the result.
func (r Result) Ref() Ref { return Ref{r.Producer.Name, r.IngestKey} }

// Target returns the digest of the file that was executed, or "" when the result
// keeps none.
func (r Result) Target() string {
	for _, a := range r.Provenance.Artifacts {
		if a.Kind == ArtifactTarget {
			return a.SHA256
		}
	}
	return ""
}

// Parse reads a result: strict JSON, the schema, then the rules that a schema
// cannot say. Refusals are fault.Malformed and fault.Invalid, the latter with
// every broken rule.
func Parse(raw []byte) (Result, error) {
	v, err := canon.Parse(raw)
	if err != nil {
		return Result{}, err
	}
	return Accept(v, raw)
}

// Accept is Parse for text that was read strictly already: v is what raw says.
func Accept(v canon.Value, raw []byte) (Result, error) {
	if err := schema.Validate(schema.MeasurementResult, v); err != nil {
		return Result{}, err
	}
	var d Document
	if err := v.Without("procedure").Decode(&d); err != nil {
		return Result{}, err
	}
	if p, ok := v.Get("procedure"); ok {
		if err := d.Procedure.read(p); err != nil {
			return Result{}, err
		}
	}
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	*buf = v.AppendCanonical((*buf)[:0])
	return accept(d, raw, *buf, printedOf(v))
}

// buffers hold canonical bytes for as long as they are hashed.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// New checks a document, fills in what follows from the rest (the message
// version, and the ingest key when it is empty) and gives it its canonical
// bytes. The maps and lists of d are the result's from then on.
func New(d Document) (Result, error) {
	d.SchemaVersion = MessageVersion
	if d.IngestKey == "" {
		d.IngestKey = IngestKey(d.Provenance.RunKey, d.Coordinates.Workload, d.Coordinates.Quantity.Name, d.Procedure.Slot)
	}
	if d.Coordinates.ComparisonContext.IsNull() {
		d.Coordinates.ComparisonContext = canon.MustFrom(map[string]int{})
	}
	v, err := canon.From(&d)
	if err != nil {
		return Result{}, err
	}
	procedure, err := d.Procedure.value()
	if err != nil {
		return Result{}, err
	}
	if procedure.Len() > 0 {
		v = v.With("procedure", procedure)
	}
	if err := schema.Validate(schema.MeasurementResult, v); err != nil {
		return Result{}, err
	}
	canonical := v.Canonical()
	return accept(d, canonical, canonical, &printed{raw: canonical})
}

// accept makes a result of a document that has the shape of the schema.
func accept(d Document, raw, canonical []byte, p *printed) (Result, error) {
	if broken := check(d); len(broken) > 0 {
		e := fault.New(fault.Invalid, "parse result", "%s", broken[0].Rule).At(broken[0].Pointer)
		e.Fields = broken
		return Result{}, e
	}
	return Result{Document: d, raw: raw, digest: canon.Sum(canonical), prints: p}, nil
}

// knownSteps are the members of procedure that have a field of their own.
var knownSteps = func() map[string]bool {
	known := map[string]bool{}
	t := reflect.TypeFor[Procedure]()
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		known[name] = true
	}
	return known
}()

func (p *Procedure) read(v canon.Value) error {
	var extra []string
	for _, m := range v.Members() {
		if !knownSteps[m.Name] {
			if p.Extra == nil {
				p.Extra = map[string]canon.Value{}
			}
			p.Extra[m.Name] = m.Value
			extra = append(extra, m.Name)
		}
	}
	keep := p.Extra
	if err := v.Without(extra...).Decode(p); err != nil {
		return err
	}
	p.Extra = keep
	return nil
}

func (p Procedure) value() (canon.Value, error) {
	v, err := canon.From(p)
	if err != nil {
		return canon.Value{}, err
	}
	for name, x := range p.Extra {
		if knownSteps[name] {
			return canon.Value{}, fault.New(fault.Invalid, "write result", "%q has a field of its own", name).At("/procedure/" + name)
		}
		v = v.With(name, x)
	}
	return v, nil
}
