package docket

import (
	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ident"
)

// sealDomain keeps the signature of a docket from being read as one of anything else.
const sealDomain = "writ-docket.v1"

// Seal signs the docket with the key of its host. Most of a docket proves itself;
// what does not (what was asked, how far a step was, that nothing came after) is
// the host's word, and with the seal nobody else's.
func (b *Bundle) Seal(key ident.PrivateKey) error {
	if key.Public().Node() != b.Host {
		return fault.New(fault.Signer, "seal docket", "it is of host %s, the key is %s", b.Host, key.Public().Node())
	}
	message, err := b.sealed()
	if err == nil {
		b.Signature = ident.EncodeSig(key.Sign(message))
	}
	return err
}

// sealed is what the host signs: the domain, a zero byte, and the SHA-256 of the
// canonical bytes of the docket without its signature.
func (b *Bundle) sealed() ([]byte, error) {
	v, err := canon.From(b)
	if err != nil {
		return nil, err
	}
	sum := canon.Plain(v.Without("signature"))
	return append([]byte(sealDomain+"\x00"), sum[:]...), nil
}

// checkSeal checks the host's signature.
func (b *Bundle) checkSeal() error {
	key, err := ident.ParseNode(b.Host)
	if err != nil {
		return err
	}
	signature, err := ident.DecodeSig(b.Signature)
	if err != nil {
		return err
	}
	message, err := b.sealed()
	if err != nil {
		return err
	}
	if !ident.Verify(key, message, signature) {
		return fault.New(fault.Signature, "check seal", "these are not the bytes that host %s sealed", b.Host)
	}
	return nil
}
