package ident_test

import (
	"testing"

	"writ/internal/ident"
)

// FuzzDecoders: no text makes a decoder panic, and what a decoder accepts is
// the one spelling that is written back.
func FuzzDecoders(f *testing.F) {
	k := ident.FromSeed([32]byte{1})
	_, secret := ident.NewSecret()
	for _, s := range []string{
		"", k.Public().Multibase(), k.Public().Node(), ident.EncodeSig(k.Sign(nil)), ident.New(ident.Run), secret, "z6Mk", "z1111", "\u00a0", "\xff",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if k, err := ident.ParseMultibase(s); err == nil && k.Multibase() != s {
			t.Errorf("multibase %q reads as %s", s, k)
		}
		if k, err := ident.ParseNode(s); err == nil && k.Node() != s {
			t.Errorf("node %q reads as %s", s, k)
		}
		if sig, err := ident.DecodeSig(s); err == nil && (len(sig) != 64 || ident.EncodeSig(sig) != s) {
			t.Errorf("signature %q reads as %x", s, sig)
		}
		if id, err := ident.ParseSecret(s); err == nil && !ident.Is(ident.Token, id) {
			t.Errorf("token %q has id %q", s, id)
		}
		if ident.Is(ident.Run, s) && (!ident.IsToken(s) || ident.Check(ident.Run, s) != nil) {
			t.Errorf("id %q", s)
		}
		if ident.IsToken(s) && !ident.NoSpace(s) {
			t.Errorf("%q is a token with space", s)
		}
	})
}
