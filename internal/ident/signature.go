package ident

import (
	"crypto/ed25519"
	"encoding/base64"

	"writ/internal/fault"
)

const sigLen = 86

// EncodeSig returns unpadded base64url: 86 characters for a signature.
func EncodeSig(sig []byte) string { return base64.RawURLEncoding.EncodeToString(sig) }

// DecodeSig reads 86 characters of unpadded base64url into 64 bytes. The last
// character carries two bits only; the fifteen other spellings, padding, line
// breaks and the standard alphabet are fault.Spelling.
func DecodeSig(s string) ([]byte, error) {
	if len(s) != sigLen {
		return nil, fault.New(fault.Spelling, "parse signature", "%d characters, 86 of base64url expected", len(s))
	}
	sig, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(sig) != ed25519.SignatureSize || EncodeSig(sig) != s {
		return nil, fault.New(fault.Spelling, "parse signature", "not the one base64url spelling of 64 bytes")
	}
	return sig, nil
}
