package order

import (
	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/schema"
)

// DescriptionVersion is the only version of target descriptions that this build
// reads.
const DescriptionVersion = "benchx/target-description/0.1.0"

// Description is what a project's own tools say about something to measure. It
// fills an order's target, build and labels, and nothing else.
type Description struct {
	Target Target            // with all texts that are declared, wherever the document has them
	Build  *BuildFacts       // nil when nothing is declared
	Labels map[string]string // of the order

	value canon.Value
}

// Value returns the whole document.
func (d Description) Value() canon.Value { return d.value }

// ParseDescription reads a target description: strict JSON, then the schema.
// Refusals are fault.Malformed and fault.Invalid.
func ParseDescription(raw []byte) (Description, error) {
	v, err := canon.Parse(raw)
	if err != nil {
		return Description{}, err
	}
	if version := v.Str("schema_version"); version != DescriptionVersion {
		return Description{}, fault.New(fault.Invalid, "parse target description", "unknown version %q", version).
			At("/schema_version").Help("this build reads %s", DescriptionVersion)
	}
	if err := schema.Validate(schema.TargetDescription, v); err != nil {
		return Description{}, err
	}
	type form struct {
		Version    string            `json:"schema_version"`
		Target     Target            `json:"target"`
		Build      *BuildFacts       `json:"build"`
		HowBuilt   canon.Value       `json:"how_built"`
		Activation *string           `json:"activation"`
		Shell      *string           `json:"shell"`
		Labels     map[string]string `json:"labels"`
		Provider   *Provider         `json:"provider"`
	}
	var f form
	if err := v.Decode(&f); err != nil {
		return Description{}, err
	}
	outer := Target{HowBuilt: f.HowBuilt, Activation: f.Activation, Shell: f.Shell, Provider: f.Provider}
	return Description{f.Target.declaring(outer), f.Build, f.Labels, v}, nil
}

// declaring returns the target with the texts that another one declares, where it
// does, and without those that say nothing: all spellings of nothing give one
// order.
func (t Target) declaring(other Target) Target {
	said := func(a, b *string) *string {
		for _, s := range []*string{b, a} {
			if s != nil && !blank(*s) {
				return s
			}
		}
		return nil
	}
	t.Activation, t.Shell = said(t.Activation, other.Activation), said(t.Shell, other.Shell)
	if other.Provider != nil {
		t.Provider = other.Provider
	}
	built := canon.Value{}
	for _, v := range []canon.Value{t.HowBuilt, other.HowBuilt} {
		text, isText := v.String()
		if isText && !blank(text) || v.Kind() == canon.Object {
			built = v
		}
	}
	t.HowBuilt = built
	return t
}

// New makes an order that is put together in code: schema version and state follow
// from the rest, and the order is checked as Parse checks it.
func New(o Order) (Order, error) {
	o.SchemaVersion, o.State = SchemaVersion, Draft
	if len(o.Plan) > 0 {
		o.State = Resolved
	}
	o.Target = o.Target.declaring(Target{})
	v, err := canon.From(o)
	if err != nil {
		return Order{}, err
	}
	return seal(v)
}
