package ident

import (
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"writ/internal/fault"
)

// PublicKey is an Ed25519 public key.
type PublicKey [ed25519.PublicKeySize]byte

// Spelling of a public key: multibase z (base58btc) over the two bytes that say
// Ed25519 and the 32 bytes of the key.
const (
	multicodec    = "\xed\x01"
	multibaseLen  = 48
	multibaseHead = "z6Mk" // what every Ed25519 key begins with
	didPrefix     = "did:key:"
	nodePrefix    = "node:" + didPrefix
)

// Multibase returns the 48 characters z6Mk….
func (k PublicKey) Multibase() string {
	return "z" + base58Encode(append([]byte(multicodec), k[:]...))
}

// DID returns did:key: and the multibase spelling.
func (k PublicKey) DID() string { return didPrefix + k.Multibase() }

// Node returns node:did:key: and the multibase spelling: the id of a node.
func (k PublicKey) Node() string { return nodePrefix + k.Multibase() }

// String returns the multibase spelling.
func (k PublicKey) String() string { return k.Multibase() }

// ParseMultibase reads the multibase spelling of an Ed25519 key: fault.Spelling
// unless s is the one spelling of 32 bytes behind ed 01, and of a key under
// which a signature means anything.
func ParseMultibase(s string) (PublicKey, error) {
	if len(s) != multibaseLen || !strings.HasPrefix(s, multibaseHead) {
		return PublicKey{}, fault.New(fault.Spelling, "parse key", "48 characters that begin with %s expected", multibaseHead)
	}
	var raw [len(multicodec) + ed25519.PublicKeySize]byte
	if !base58Decode(raw[:], s[1:]) || string(raw[:len(multicodec)]) != multicodec {
		return PublicKey{}, fault.New(fault.Spelling, "parse key", "not the base58btc form of an Ed25519 key")
	}
	k := PublicKey(raw[len(multicodec):])
	if k.weak() {
		return PublicKey{}, fault.New(fault.Spelling, "parse key", "a key of small order: anybody can sign under it")
	}
	return k, nil
}

// ParseNode reads a node id, node:did:key:z6Mk….
func ParseNode(s string) (PublicKey, error) {
	rest, ok := strings.CutPrefix(s, nodePrefix)
	if !ok {
		return PublicKey{}, fault.New(fault.Spelling, "parse node id", "must begin with %s", nodePrefix)
	}
	return ParseMultibase(rest)
}

// weak reports whether k is the encoding of a point of small order, whatever
// its sign bit. Under such a key one signature verifies for many messages.
func (k PublicKey) weak() bool {
	k[len(k)-1] &= 0x7f
	switch hex.EncodeToString(k[:]) {
	case "0000000000000000000000000000000000000000000000000000000000000000",
		"0100000000000000000000000000000000000000000000000000000000000000",
		"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
		"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
		"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f":
		return true
	}
	return false
}

// Verify reports whether sig is k's signature of msg. A signature of the wrong
// length and a key of small order verify nothing.
func Verify(k PublicKey, msg, sig []byte) bool {
	return len(sig) == ed25519.SignatureSize && !k.weak() && ed25519.Verify(k[:], msg, sig)
}

// PrivateKey is an Ed25519 signing key. It prints as "[private key]" whatever
// the verb, and refuses to become JSON or text. The zero PrivateKey signs
// nothing: its methods panic.
type PrivateKey struct {
	// Behind a function, because fmt prints the unexported fields of other
	// structs without asking Format, and with some verbs follows pointers.
	key func() ed25519.PrivateKey
}

// Generate makes a key from 32 bytes of random.
func Generate(random io.Reader) (PrivateKey, error) {
	var seed [ed25519.SeedSize]byte
	if _, err := io.ReadFull(random, seed[:]); err != nil {
		return PrivateKey{}, fault.Wrap(err, fault.Internal, "generate key", "no random bytes")
	}
	return FromSeed(seed), nil
}

// FromSeed returns the key of an RFC 8032 seed.
func FromSeed(seed [32]byte) PrivateKey {
	k := ed25519.NewKeyFromSeed(seed[:])
	return PrivateKey{func() ed25519.PrivateKey { return k }}
}

// Public returns the public half.
func (k PrivateKey) Public() PublicKey { return PublicKey(k.key()[ed25519.SeedSize:]) }

// Seed returns the 32 bytes to keep. They are the secret.
func (k PrivateKey) Seed() [32]byte { return [32]byte(k.key()[:ed25519.SeedSize]) }

// Sign returns the 64-byte signature of msg.
func (k PrivateKey) Sign(msg []byte) []byte { return ed25519.Sign(k.key(), msg) }

// IsZero reports whether k holds no key.
func (k PrivateKey) IsZero() bool { return k.key == nil }

// Format prints "[private key]".
func (PrivateKey) Format(s fmt.State, _ rune) { io.WriteString(s, "[private key]") }

var errPrivate = errors.New("a private key has no text form")

// MarshalJSON refuses.
func (PrivateKey) MarshalJSON() ([]byte, error) { return nil, errPrivate }

// MarshalText refuses.
func (PrivateKey) MarshalText() ([]byte, error) { return nil, errPrivate }
