package order

import (
	"slices"

	"writ/internal/canon"
)

// Ref returns the reference that every result of the order carries: "sha256:"
// and the hex SHA-256 of its canonical bytes.
func (o Order) Ref() string { return o.digest.String() }

// Digest returns the plain digest of the order.
func (o Order) Digest() canon.Digest { return o.digest }

// DomainHash returns the digest that starts with the format's own domain name
// and one zero byte. Results record it beside the plain one; nothing is looked
// up by it.
func (o Order) DomainHash() canon.Digest { return o.domain }

// PolicyHash is the same for an environment policy.
func PolicyHash(policy canon.Value) canon.Digest {
	return domainHash("benchx-env-policy-v1", policy.Canonical())
}

func domainHash(domain string, canonical []byte) canon.Digest {
	return canon.Sum(slices.Concat([]byte(domain), []byte{0}, canonical))
}

// FileName returns the name under which a runner writes the order: its bytes
// there are the canonical ones, so their plain hash is the one in the name.
func (o Order) FileName() string { return "workorder-" + o.Digest().Hex() + ".json" }
