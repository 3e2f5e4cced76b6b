// Package landing is the delivery authority: who may spend compute on qualifying
// a change, and which single candidate may enter the protected branch. It is one
// state machine over one rooted document per repository and base, in two
// dialects that differ in data only (Dialect).
//
// Invariants: at most one landing warrant exists; fences (token and generation)
// are never reused and their counters never decrease; a candidate is never
// overtaken more often than the policy says; every transition is a function of
// the state, its parameters and now, so that replaying it gives the same root;
// a step that changes nothing returns the identical root; and a landing
// candidate is settled through a sealed readback of the remote only.
//
// The package reads no clock, opens nothing, pushes nothing and keeps nothing.
// It never treats a token as a secret (it is a coordinate that anyone may
// compute), never believes a caller about what the remote did, and never
// repairs a document: what is not in normal form is refused.
package landing
