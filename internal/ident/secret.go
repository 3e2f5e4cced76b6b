package ident

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"github.com/oklog/ulid/v2"

	"writ/internal/fault"
)

// Secret is the text of an API token in memory:
//
//	writ_<ULID of the token id>_<32 random bytes, base64url>_<CRC-32, 8 hex digits>
//
// The fixed form lets leak scanners find it, and the checksum tells a mistyped
// token from an unknown one without a look into any store. It prints as
// "[secret]" whatever the verb and refuses to become JSON; convert it to a
// string where it is shown for the one time.
type Secret string

// Format prints "[secret]".
func (Secret) Format(s fmt.State, _ rune) { io.WriteString(s, "[secret]") }

// MarshalJSON refuses.
func (Secret) MarshalJSON() ([]byte, error) { return nil, errors.New("a secret has no JSON form") }

const (
	secretHead  = "writ_"
	secretBytes = 32
	secretBody  = len(secretHead) + ulid.EncodedSize + 1 + 43 // up to the last underscore
	secretLen   = secretBody + 1 + 8
)

// NewSecret makes a token: its id, and the text that is shown once. Only
// HashSecret of the text is ever stored.
func NewSecret() (id, text string) {
	var random [secretBytes]byte
	rand.Read(random[:]) // never fails: the program ends where the system has no randomness
	u := newULID()
	body := secretHead + u + "_" + base64.RawURLEncoding.EncodeToString(random[:])
	return string(Token) + u, body + "_" + checksum(body)
}

// ParseSecret checks form and checksum and returns the token id. It does not
// say whether the token was ever issued. The error never repeats the text.
func ParseSecret(text string) (id string, err error) {
	bad := fault.New(fault.Unauthenticated, "read token", "not a token of this program")
	if len(text) != secretLen || !strings.HasPrefix(text, secretHead) {
		return "", bad
	}
	body := text[:secretBody]
	u := body[len(secretHead) : len(secretHead)+ulid.EncodedSize]
	random := body[len(secretHead)+ulid.EncodedSize+1:]
	raw, err := base64.RawURLEncoding.DecodeString(random)
	if err != nil || base64.RawURLEncoding.EncodeToString(raw) != random {
		return "", bad
	}
	if !isULID(u) || text != secretHead+u+"_"+random+"_"+checksum(body) {
		return "", bad
	}
	return string(Token) + u, nil
}

func checksum(body string) string {
	return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(body)))
}

// HashSecret returns the SHA-256 of the text, which is what a store keeps. The
// text has 256 random bits, so a slow hash would add nothing.
func HashSecret(text string) [32]byte { return sha256.Sum256([]byte(text)) }
