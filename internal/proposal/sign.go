package proposal

import (
	"crypto/sha256"
	"encoding/binary"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ident"
)

const (
	signatureAlg  = "ed25519+domain-v1"
	signatureSalt = "orbiplex-sig-v1"
)

// prehash is what the key signs: SHA-256 over the salt, a zero byte, the length
// (big-endian, 32 bit) and text of the domain, the length (64 bit) and bytes of
// the payload. Lengths keep one pair from being read as another.
func prehash(domain string, payload []byte) [32]byte {
	h := sha256.New()
	h.Write([]byte(signatureSalt))
	h.Write([]byte{0})
	var n [8]byte
	binary.BigEndian.PutUint32(n[:4], uint32(len(domain)))
	h.Write(n[:4])
	h.Write([]byte(domain))
	binary.BigEndian.PutUint64(n[:], uint64(len(payload)))
	h.Write(n[:])
	h.Write(payload)
	var out [32]byte
	h.Sum(out[:0])
	return out
}

// Sign completes body with the signer's node (when absent), its own ref and its
// signature, and opens the outcome, so that nothing is signed which a reader
// would refuse. An own ref or signature that body has already is replaced.
func Sign(kind Kind, body canon.Value, key ident.PrivateKey) (Document, error) {
	row, err := RowOf(kind)
	if err != nil {
		return Document{}, err
	}
	if !row.Signed() {
		return Document{}, fault.New(fault.Usage, "sign", "%s documents carry no signature", kind)
	}
	if body.Kind() != canon.Object {
		return Document{}, fault.New(fault.Invalid, "sign", "a document is a JSON object")
	}
	if _, ok := body.Get(row.Node); !ok {
		body = body.With(row.Node, canon.StringOf(key.Public().Node()))
	}
	body = row.withRef(body)
	sum := prehash(row.Domain, canon.SigningBytes(body))
	body = body.With("signature", canon.MustFrom(map[string]string{
		"alg":        signatureAlg,
		"value":      ident.EncodeSig(key.Sign(sum[:])),
		"key/public": key.Public().Multibase(),
	}))
	return Open(kind, body.Canonical())
}

// Seal completes an unsigned document (assignment, turn, manifest) with its own
// ref and opens the outcome.
func Seal(kind Kind, body canon.Value) (Document, error) {
	row, err := RowOf(kind)
	if err != nil {
		return Document{}, err
	}
	if row.Signed() {
		return Document{}, fault.New(fault.Usage, "seal", "%s documents are signed", kind)
	}
	if body.Kind() != canon.Object {
		return Document{}, fault.New(fault.Invalid, "seal", "a document is a JSON object")
	}
	return Open(kind, row.withRef(body).Canonical())
}

// signTree and sealTree do the same for a body that is still Go maps; text in it
// that has no place in JSON is fault.Invalid.
func signTree(kind Kind, key ident.PrivateKey, body map[string]any) (Document, error) {
	v, err := canon.From(body)
	if err != nil {
		return Document{}, err
	}
	return Sign(kind, v, key)
}

func sealTree(kind Kind, body map[string]any) (Document, error) {
	v, err := canon.From(body)
	if err != nil {
		return Document{}, err
	}
	return Seal(kind, v)
}

func (r Row) withRef(body canon.Value) canon.Value {
	body = body.Without(r.Self, "signature")
	return body.With(r.Self, canon.StringOf(canon.Ref(r.Prefix, r.Self, body)))
}

// verify checks steps five and six: the key is the one inside the node id that
// the document names, and it signed these bytes under the kind's own domain.
func (r Row) verify(v canon.Value) (ident.PublicKey, error) {
	sig, _ := v.Get("signature")
	key, err := ident.ParseMultibase(sig.Str("key/public"))
	if err != nil {
		return key, fault.Wrap(err, fault.Spelling, string(r.Kind), "public key is not canonical").At(pointer("signature", "key/public"))
	}
	value, err := ident.DecodeSig(sig.Str("value"))
	if err != nil {
		return key, fault.Wrap(err, fault.Spelling, string(r.Kind), "signature is not in canonical spelling").At(pointer("signature", "value"))
	}
	node, err := ident.ParseNode(v.Str(r.Node))
	if err != nil {
		return key, fault.Wrap(err, fault.Spelling, string(r.Kind), "node id does not hold a canonical key").At(pointer(r.Node))
	}
	if node != key {
		return key, fault.New(fault.Signer, string(r.Kind), "signed by %s, but the document names %s", key.Node(), node.Node()).At(pointer(r.Node))
	}
	sum := prehash(r.Domain, canon.SigningBytes(v))
	if !ident.Verify(key, sum[:], value) {
		return key, fault.New(fault.Signature, string(r.Kind), "signature does not verify under %s", r.Domain).At(pointer("signature", "value"))
	}
	return key, nil
}
