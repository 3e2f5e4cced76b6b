package taskpack

import (
	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/proposal"
	"writ/internal/schema"
)

// Size limits of documents that come from outside, in bytes.
const (
	MaxCandidate = 4 << 20
	MaxPatch     = 2 << 20
	maxOther     = 1 << 20
	maxDepth     = 24
)

// read parses strictly and validates the shape.
func read(id schema.ID, raw []byte, size int64) (canon.Value, error) {
	v, err := canon.ParseLimits(raw, canon.Limits{Bytes: size, Depth: maxDepth})
	if err != nil {
		return canon.Value{}, err
	}
	return v, schema.Validate(id, v)
}

// build makes the tree of a document of ours and validates its shape.
func build(id schema.ID, body map[string]any) (canon.Value, error) {
	v, err := canon.From(body)
	if err != nil {
		return canon.Value{}, err
	}
	return v, schema.Validate(id, v)
}

// digest is the digest of a document: of its canonical bytes, as "sha256:" and
// 43 characters.
func digest(v canon.Value) string { return proposal.DigestText(canon.Sum(v.Canonical())) }

// address is the ref of what a tuple of facts identifies: the ref dialect over
// the object of the facts and their domain.
func address(prefix, domain string, facts map[string]any) string {
	facts["domain"] = domain
	return canon.Ref(prefix, "", canon.MustFrom(facts))
}

// Exact pins a document of the host by name and digest.
type Exact struct {
	Ref    string
	Digest string
}

func exactOf(v canon.Value) Exact { return Exact{Ref: v.Str("ref"), Digest: v.Str("digest")} }

func (e Exact) tree() map[string]string { return map[string]string{"ref": e.Ref, "digest": e.Digest} }

func exactsOf(v canon.Value, name string) []Exact {
	list, _ := v.Get(name)
	var out []Exact
	for _, e := range list.Elems() {
		out = append(out, exactOf(e))
	}
	return out
}

func find(list []Exact, ref string) (Exact, bool) {
	for _, e := range list {
		if e.Ref == ref {
			return e, true
		}
	}
	return Exact{}, false
}

func strs(v canon.Value, name string) []string {
	list, _ := v.Get(name)
	out := make([]string, 0, list.Len())
	for _, e := range list.Elems() {
		s, _ := e.String()
		out = append(out, s)
	}
	return out
}

func integer(v canon.Value, name string) int64 {
	m, _ := v.Get(name)
	n, _ := m.Int()
	return n
}

func boolean(v canon.Value, name string) bool {
	m, _ := v.Get(name)
	b, _ := m.Bool()
	return b
}

func member(v canon.Value, name string) canon.Value {
	m, _ := v.Get(name)
	return m
}

func invalid(op, at, format string, args ...any) *fault.Error {
	return fault.New(fault.Invalid, op, format, args...).At(at)
}
