package proposal

import (
	"bytes"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/schema"
)

// maxDepth is far above what any document of the chain needs.
const maxDepth = 16

// Open reads one document of the given kind and checks, in this order: size and
// strict JSON, version and schema, canonical spelling of every digest, ref and
// key, own ref, signer and signature, artifact refs against their digests, and
// that validity starts before it ends. It knows no time: use Current for that,
// and Relate for how documents fit together.
//
// Errors: TooLarge, Malformed (with byte offset), UnknownKind, Invalid,
// Spelling, RefMismatch, Signer, Signature, Relation (an artifact ref and its
// digest, or evidence of another environment).
func Open(kind Kind, raw []byte) (Document, error) {
	row, err := RowOf(kind)
	if err != nil {
		return Document{}, err
	}
	if int64(len(raw)) > row.Size {
		return Document{}, fault.New(fault.TooLarge, string(kind), "%d bytes; at most %d are allowed", len(raw), row.Size)
	}
	v, err := canon.ParseLimits(raw, canon.Limits{Bytes: row.Size, Depth: maxDepth})
	if err != nil {
		return Document{}, err
	}
	if err := row.shape(v); err != nil {
		return Document{}, err
	}
	if err := spelling(v); err != nil {
		return Document{}, err
	}
	d := Document{Kind: kind, Ref: v.Str(row.Self), Raw: bytes.Clone(raw), Value: v, row: row}
	if own := canon.Ref(row.Prefix, row.Self, v); own != d.Ref {
		return Document{}, fault.New(fault.RefMismatch, string(kind), "says %s, its content is %s", d.Ref, own).At(pointer(row.Self))
	}
	if row.Signed() {
		if d.Signer, err = row.verify(v); err != nil {
			return Document{}, err
		}
	}
	if err := row.inner(v); err != nil {
		return Document{}, err
	}
	return d.dated()
}

// shape checks version and schema. The version is looked at first, so that a
// document of an older or newer contract is called that and not "invalid".
func (r Row) shape(v canon.Value) error {
	if v.Kind() != canon.Object {
		return fault.New(fault.Invalid, string(r.Kind), "a document is a JSON object")
	}
	version, ok := v.Get("schema/v")
	if n, isInt := version.Int(); !ok || !isInt || n != r.Version {
		return fault.New(fault.UnknownKind, string(r.Kind), "not %s: another or no schema/v", r.Name).At(pointer("schema/v"))
	}
	return schema.Validate(r.Schema, v)
}

// dated reads the validity of the document.
func (d Document) dated() (Document, error) {
	var err error
	if d.row.From != "" {
		if d.from, err = ParseInstant(d.Value.Str(d.row.From)); err != nil {
			return Document{}, fault.Wrap(err, fault.Invalid, string(d.Kind), "start of validity").At(pointer(d.row.From))
		}
	}
	if d.row.Until != "" {
		if d.until, err = ParseInstant(d.Value.Str(d.row.Until)); err != nil {
			return Document{}, fault.Wrap(err, fault.Invalid, string(d.Kind), "expiry").At(pointer(d.row.Until))
		}
		if !d.from.Before(d.until) {
			return Document{}, fault.New(fault.Invalid, string(d.Kind), "expires at %s, not after %s", Instant(d.until), Instant(d.from)).At(pointer(d.row.Until))
		}
	}
	return d, nil
}
