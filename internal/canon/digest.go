package canon

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"

	"writ/internal/fault"
)

// Digest is a SHA-256 of some bytes. Which bytes is said by the dialect that
// made it.
type Digest [32]byte

// Sum returns the SHA-256 of b.
func Sum(b []byte) Digest { return sha256.Sum256(b) }

// Hex returns 64 lower-case hex digits.
func (d Digest) Hex() string { return hex.EncodeToString(d[:]) }

// Base64 returns 43 characters of unpadded base64url.
func (d Digest) Base64() string { return base64.RawURLEncoding.EncodeToString(d[:]) }

// String returns "sha256:" and 64 lower-case hex digits.
func (d Digest) String() string { return rootPrefix + d.Hex() }

// IsZero reports whether d is unset.
func (d Digest) IsZero() bool { return d == Digest{} }

// MarshalText returns the spelling of String.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads the spelling of String.
func (d *Digest) UnmarshalText(b []byte) error {
	x, err := ParseRoot(string(b))
	if err != nil {
		return err
	}
	*d = x
	return nil
}

const (
	rootPrefix = "sha256:"
	hexLen     = 64
	base64Len  = 43
)

// ParseHex reads 64 lower-case hex digits. Upper case is fault.Spelling,
// anything else fault.Invalid.
func ParseHex(s string) (Digest, error) {
	var d Digest
	if len(s) != hexLen {
		return Digest{}, fault.New(fault.Invalid, "parse digest", "%d characters, 64 hex digits expected", len(s))
	}
	if _, err := hex.Decode(d[:], []byte(s)); err != nil {
		return Digest{}, fault.New(fault.Invalid, "parse digest", "not a hex digest")
	}
	if d.Hex() != s {
		return Digest{}, fault.New(fault.Spelling, "parse digest", "hex digits must be lower case")
	}
	return d, nil
}

// ParseBase64 reads 43 characters of unpadded base64url. The last character
// carries four bits only; the three spellings that set the two spare bits are
// fault.Spelling, anything else is fault.Invalid.
func ParseBase64(s string) (Digest, error) {
	var d Digest
	if len(s) != base64Len {
		return Digest{}, fault.New(fault.Invalid, "parse digest", "%d characters, 43 of base64url expected", len(s))
	}
	// The decoder skips line breaks, hence the check of n.
	n, err := base64.RawURLEncoding.Decode(d[:], []byte(s))
	if err != nil || n != len(d) {
		return Digest{}, fault.New(fault.Invalid, "parse digest", "not a base64url digest")
	}
	if d.Base64() != s {
		return Digest{}, fault.New(fault.Spelling, "parse digest", "second spelling of %s", d.Base64())
	}
	return d, nil
}

// ParseRoot reads "sha256:" and 64 lower-case hex digits.
func ParseRoot(s string) (Digest, error) {
	if len(s) < len(rootPrefix) || s[:len(rootPrefix)] != rootPrefix {
		return Digest{}, fault.New(fault.Invalid, "parse digest", "must begin with %s", rootPrefix)
	}
	return ParseHex(s[len(rootPrefix):])
}
