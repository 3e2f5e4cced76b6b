package proposal

import (
	"strings"

	"writ/internal/canon"
	"writ/internal/fault"
)

// refMembers maps every member of the chain that holds a content ref to the
// prefix of that ref. A pattern in a schema lets the last base64url character
// vary over four spellings of one digest; here only the canonical one passes,
// so that refs may be compared as strings.
var refMembers = map[string]string{
	"artifact-ref":     "object-store",
	"content/ref":      "object-store",
	"assignment/id":    "corpus-role-assignment",
	"turn/id":          "corpus-turn",
	"reviewer-turn/id": "corpus-turn",
	"manifest/ref":     "corpus-evidence-manifest",
	"proposal/ref":     "corpus-experiment",
	"review/ref":       "corpus-experiment-review",
	"decision/ref":     "corpus-experiment-chair-decision",
	"execution/ref":    "corpus-task-pack-execution",
	"answer/ref":       "writ-human-answer",
	"request/ref":      RequestPrefix,
}

// RequestPrefix begins the ref of the question that a human answer names.
const RequestPrefix = "operator-task-hil-request"

// spelling checks every digest and ref of a document, wherever it is.
// Free text is never looked at: only members with a known name are.
func spelling(v canon.Value) error { return spell("", "", v) }

func spell(at, name string, v canon.Value) error {
	switch v.Kind() {
	case canon.Object:
		for _, m := range v.Members() {
			if err := spell(canon.PointerTo(at, m.Name), m.Name, m.Value); err != nil {
				return err
			}
		}
	case canon.Array:
		for i, e := range v.Elems() {
			if err := spell(canon.PointerToIndex(at, i), "", e); err != nil {
				return err
			}
		}
	case canon.String:
		s, _ := v.String()
		return spellText(at, name, s)
	}
	return nil
}

func spellText(at, name, s string) error {
	if prefix, ok := refMembers[name]; ok {
		if _, err := canon.ParseRef(prefix, s); err != nil {
			return fault.Wrap(err, fault.Spelling, "ref", "%q is not a canonical %s ref", s, prefix).At(at)
		}
	}
	if name == "digest" || strings.HasSuffix(name, "/digest") {
		if _, err := ParseDigest(s); err != nil {
			return fault.Wrap(err, fault.Spelling, "digest", "%q is not canonical", s).At(at)
		}
	}
	return nil
}

// inner checks what a schema cannot say about the parts of one document.
func (r Row) inner(v canon.Value) error {
	if c, ok := v.Get("candidate"); ok {
		if err := addressed(r.Kind, pointer("candidate"), c, "artifact-ref", "digest"); err != nil {
			return err
		}
	}
	if c, ok := v.Get("reviewed-candidate"); ok {
		if err := addressed(r.Kind, pointer("reviewed-candidate"), c, "artifact-ref", "digest"); err != nil {
			return err
		}
	}
	switch r.Kind {
	case KindTurn:
		return turnContent(v)
	case KindManifest:
		return addressed(r.Kind, "", v, "content/ref", "content/digest")
	case KindExecution:
		return evidenceOwn(v)
	}
	return nil
}

// addressed checks that the ref and the digest of v name the same bytes.
func addressed(kind Kind, at string, v canon.Value, ref, digest string) error {
	address := v.Str(ref)
	if want, ok := strings.CutPrefix(address, "object-store:"); ok && want == v.Str(digest) {
		return nil
	}
	return fault.New(fault.Relation, string(kind), "%s is not the address of %s", address, v.Str(digest)).
		At(canon.PointerTo(at, ref)).With("document", string(kind))
}
