// Package proposal is the signed chain by which a wish becomes an admitted
// change: role assignment, turn, proposal, review, chair decision, human answer
// and, at the end, the execution record.
//
// Invariants: every digest, ref and signature is computed over the canonical
// bytes of a strictly parsed tree, never over a Go struct; a document's version,
// own ref, signature domain and size limit come from one fixed table and never
// from the document; each check gives one answer, yes or a fault, and there is
// no "verified, but". A document that is sound alone proves only who said what:
// Relate decides whether three of them speak about the same bytes.
//
// The package grants nothing and starts nothing. It reads no clock (callers pass
// now), keeps nothing, and never treats possession of a document as permission.
package proposal
