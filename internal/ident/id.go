// Package ident makes and checks the names of things: prefixed ULIDs, the
// Ed25519 keys that sign documents and name nodes, signatures in their one
// spelling, and the secrets of API tokens.
//
// Invariants: every decoder accepts exactly one spelling of a value, so that
// comparing the text compares the thing; a private key never prints and never
// becomes JSON. An id is a name and nothing else: it grants nothing, and the
// time inside it is never used to order anything.
//
// This is the only package of its floor that reads the clock and the random
// source of the system. It stores nothing and knows no document.
package ident

import (
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"writ/internal/fault"
)

// Prefix says what an id names. An id is the prefix and an upper-case ULID.
type Prefix string

// The prefixes of all ids.
const (
	Event      Prefix = "evt_"
	Workspace  Prefix = "ws_"
	Space      Prefix = "spc_"
	Run        Prefix = "run_"
	Harness    Prefix = "hrn_"
	Lane       Prefix = "lane_"
	Agent      Prefix = "agt_"
	Message    Prefix = "msg_"
	Attachment Prefix = "att_"
	Person     Prefix = "per_"
	Token      Prefix = "tok_"
	Webhook    Prefix = "wh_"
	Approval   Prefix = "apr_"
)

// source makes ULIDs that grow within one millisecond, from the random source
// of the system.
var source = struct {
	sync.Mutex
	entropy *ulid.MonotonicEntropy
}{entropy: ulid.Monotonic(rand.Reader, 0)}

// New returns a fresh id. It is safe for concurrent use.
func New(p Prefix) string { return string(p) + newULID() }

func newULID() string {
	source.Lock()
	defer source.Unlock()
	for {
		id, err := ulid.New(ulid.Timestamp(time.Now()), source.entropy)
		switch {
		case err == nil:
			return id.String()
		case !errors.Is(err, ulid.ErrMonotonicOverflow):
			panic("ident: no random bytes: " + err.Error())
		}
		// The ids of this millisecond are used up; the next one is near.
	}
}

// Is reports whether s is an id with prefix p.
func Is(p Prefix, s string) bool {
	return len(s) == len(p)+ulid.EncodedSize && s[:len(p)] == string(p) && isULID(s[len(p):])
}

// Check is Is as an error: fault.Invalid that names the form expected.
func Check(p Prefix, s string) error {
	if Is(p, s) {
		return nil
	}
	return fault.New(fault.Invalid, "check id", "%s and an upper-case ULID expected, found %.64q", string(p), s)
}

// isULID accepts 26 upper-case Crockford digits of at most 128 bits.
func isULID(s string) bool {
	if len(s) != ulid.EncodedSize || s[0] > '7' {
		return false
	}
	for i := range len(s) {
		if !isCrockford(s[i]) {
			return false
		}
	}
	return true
}

func isCrockford(c byte) bool {
	switch {
	case '0' <= c && c <= '9':
		return true
	case c == 'I' || c == 'L' || c == 'O' || c == 'U':
		return false
	}
	return 'A' <= c && c <= 'Z'
}
