package proposal

import (
	"bytes"
	"strings"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ident"
	"writ/internal/ledger"
)

// Document is one accepted document of the chain. Only Open, Sign and Seal make
// one, so holding it means that its bytes, own ref and signature are in order.
type Document struct {
	Kind   Kind
	Ref    string          // own content address
	Raw    []byte          // the accepted bytes, as they came; canonical when we built them
	Value  canon.Value     // the parsed tree
	Signer ident.PublicKey // zero for kinds that are not signed

	from, until time.Time
	row         Row
}

// Digest is how other documents name this one beside its ref: "sha256:" and the
// 43 characters of the ref. The signature is not part of it.
func (d Document) Digest() string {
	return strings.TrimPrefix(d.Ref, d.row.Prefix+":")
}

// Canonical returns the canonical bytes of the whole document.
func (d Document) Canonical() []byte { return d.Value.Canonical() }

// Same reports whether two documents have the same ref and the same bytes. Two
// documents with one ref may differ in how the signer's key signed them; the
// first one that was stored counts.
func (d Document) Same(o Document) bool {
	return d.Ref == o.Ref && bytes.Equal(d.Canonical(), o.Canonical())
}

// From is the start of validity; zero for kinds without one.
func (d Document) From() time.Time { return d.from }

// Until is the expiry; zero for kinds without one.
func (d Document) Until() time.Time { return d.until }

// Current says whether the document may be relied on at now: the start may lie
// at most NotBeforeSkew ahead, and from the instant of the expiry on it is
// expired. An expired document stays readable; it is never renewed in place.
func (d Document) Current(now time.Time) error {
	if !d.from.IsZero() && d.from.After(now.Add(NotBeforeSkew)) {
		return fault.New(fault.NotYet, string(d.Kind), "not valid before %s; it is %s", Instant(d.from), Instant(now)).
			At(pointer(d.row.From)).With("document", d.Ref)
	}
	if !d.until.IsZero() && !now.Before(d.until.Add(d.row.Skew)) {
		return fault.New(fault.Expired, string(d.Kind), "expired at %s; it is %s", Instant(d.until), Instant(now)).
			At(pointer(d.row.Until)).With("document", d.Ref).
			Help("an expired document is never renewed; sign a new one")
	}
	return nil
}

// Identity is the name under which a document may be accepted once: sending the
// same bytes again is a replay, other bytes under it are a conflict. Kinds
// without an idempotency member have none.
func (d Document) Identity() string {
	if d.row.Once == "" {
		return ""
	}
	node := ""
	if d.Kind != KindAnswer { // a question is answered once, by whomever
		node = d.Value.Str(d.row.Node)
	}
	return Identity(d.Kind, node, d.Value.Str(d.row.Once))
}

// Identity spells the idempotency scope of a document: its kind, the node that
// signs it ("" for none) and its key.
func Identity(kind Kind, node, key string) string {
	return string(kind) + "|" + node + "|" + key
}

// Entry is the document as the ledger keeps it, under the run it belongs to and
// the event that caused it.
func (d Document) Entry(runID, event string) ledger.NewDocument {
	return ledger.NewDocument{Kind: string(d.Kind), Ref: d.Ref, RunID: runID, Identity: d.Identity(), Event: event, Body: d.Raw}
}

// DigestText spells a digest the way the chain does: "sha256:" and 43 base64url
// characters.
func DigestText(d canon.Digest) string { return "sha256:" + d.Base64() }

// ParseDigest reads the spelling of DigestText; fault.Spelling when it is not
// the one canonical spelling of 32 bytes.
func ParseDigest(s string) (canon.Digest, error) {
	text, ok := strings.CutPrefix(s, "sha256:")
	if !ok {
		return canon.Digest{}, fault.New(fault.Spelling, "digest", "%q does not begin with sha256:", s)
	}
	d, err := canon.ParseBase64(text)
	if err != nil {
		return canon.Digest{}, fault.Wrap(err, fault.Spelling, "digest", "%q is not the canonical spelling of a digest", s)
	}
	return d, nil
}

// pointer joins member names into a JSON pointer; names of this family contain
// slashes, which a pointer spells ~1.
func pointer(names ...string) string {
	var b strings.Builder
	for _, n := range names {
		b.WriteByte('/')
		b.WriteString(strings.NewReplacer("~", "~0", "/", "~1").Replace(n))
	}
	return b.String()
}
