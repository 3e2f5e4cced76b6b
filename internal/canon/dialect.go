package canon

import (
	"strings"

	"writ/internal/fault"
)

// signatureMember is left out of every ref and of the signed bytes.
const signatureMember = "signature"

// Plain is the plain dialect: SHA-256 of the RFC 8785 bytes. Orders, results
// and comparisons are named by it.
func Plain(v Value) Digest { return Sum(v.Canonical()) }

// PlainRef spells the plain dialect as a ref: "sha256:" and 64 hex digits.
func PlainRef(v Value) string { return Plain(v).String() }

// Ref is the ref dialect: prefix:sha256:B64, the SHA-256 of the RFC 8785 bytes
// of v without its own member self and without its signature. Documents of the
// signed chain are named by it. An empty self leaves out the signature only.
func Ref(prefix, self string, v Value) string {
	v = v.Without(signatureMember)
	if self != "" {
		v = v.Without(self)
	}
	return prefix + ":" + rootPrefix + Sum(v.Canonical()).Base64()
}

// ParseRef reads prefix:sha256:B64 and refuses every second spelling.
func ParseRef(prefix, s string) (Digest, error) {
	rest, ok := strings.CutPrefix(s, prefix+":"+rootPrefix)
	if !ok {
		return Digest{}, fault.New(fault.Invalid, "parse ref", "must begin with %s:%s", prefix, rootPrefix)
	}
	return ParseBase64(rest)
}

// SigningBytes returns the RFC 8785 bytes of v without its signature.
func SigningBytes(v Value) []byte { return v.Without(signatureMember).Canonical() }

// RootBytes returns what the root dialect hashes: the compact form with members
// in byte order, and one line feed.
func RootBytes(v Value) []byte { return append(v.append(nil, true), '\n') }

// Root is the root dialect: "sha256:" and the hex SHA-256 of RootBytes. States
// and receipts of landing, and docket bindings, are named by it.
func Root(v Value) string { return Sum(RootBytes(v)).String() }

// ObjectRef spells the digest of stored bytes as a ref of the object store.
func ObjectRef(d Digest) string { return "object-store:" + rootPrefix + d.Base64() }

// ArtifactRef spells the digest of stored bytes as a ref of an artifact.
func ArtifactRef(d Digest) string { return "artifact:" + rootPrefix + d.Base64() }
