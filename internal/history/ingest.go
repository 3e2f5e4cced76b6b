// Package history holds the rules of a store of results: which results it takes,
// which series each belongs to, in which order a series is read, where it changes,
// and how much noise it has.
//
// Invariants: the answer about a result depends on the result and on what the store
// holds, never on where it came from; a refused result changes nothing; the same
// points give the same order, steps, changes and noise, however they arrived.
//
// The package keeps nothing, reads no repository and never guesses: a point whose
// place is not known is left out and named.
package history

import (
	"fmt"
	"slices"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/result"
)

// Answer says what becomes of one result that is brought to a store.
type Answer string

// The closed set.
const (
	Accepted  Answer = "accepted"
	Duplicate Answer = "duplicate" // it is there already, byte for byte
	Rejected  Answer = "rejected"
)

// Code says why a result is rejected.
type Code string

// The closed set, in the order in which they are looked for.
const (
	Malformed           Code = "malformed"            // not strict JSON, or no result
	IdentityViolation   Code = "identity-violation"   // it claims what is not the producer's to say
	IdempotencyConflict Code = "idempotency-conflict" // same producer and ingest key, other content
	UnitConflict        Code = "unit-conflict"        // the quantity has another unit in this project
	AttemptConflict     Code = "attempt-conflict"     // same attempt key, another execution
)

// Decision is the answer about one result.
type Decision struct {
	Answer  Answer
	Code    Code   // of a rejection
	Message string // of a rejection: what is wrong, and what would help
	Pointer string // JSON pointer of what is wrong, "" for the whole
}

func reject(code Code, pointer, format string, args ...any) Decision {
	return Decision{Rejected, code, fmt.Sprintf(format, args...), pointer}
}

// Read reads a result that is brought to a store. The decision is a rejection, or
// the zero Decision for a result that Decide has to be asked about.
func Read(raw []byte) (result.Result, Decision) {
	v, err := canon.Parse(raw)
	if err != nil {
		return result.Result{}, refusal(err)
	}
	return Accept(v, raw)
}

// Accept is Read for text that was read strictly already.
func Accept(v canon.Value, raw []byte) (result.Result, Decision) {
	if v.Kind() != canon.Object {
		return result.Result{}, reject(Malformed, "", "a result is an object")
	}
	r, err := result.Accept(v, raw)
	if err != nil {
		return result.Result{}, refusal(err)
	}
	if pointer, claimed := claims(v); claimed {
		return result.Result{}, reject(IdentityViolation, pointer, "%s is worked out by the store; leave it out", pointer)
	}
	return r, Decision{}
}

// refusal turns a fault of reading into a rejection.
func refusal(err error) Decision {
	d := Decision{Rejected, Malformed, err.Error(), ""}
	e, ok := fault.As(err)
	if !ok {
		return d
	}
	d.Message, d.Pointer = e.Public, e.Pointer
	if off, ok := e.ByteOffset(); ok {
		d.Message += fmt.Sprintf(" at byte %d", off)
	}
	if slices.ContainsFunc(e.Fields, func(f fault.Field) bool { return f.Rule == result.RuleSource }) {
		d.Code = IdentityViolation
	}
	return d
}

// stores are the names that only a store gives.
var stores = []string{"reported_coordinates_fingerprint", "comparison_fingerprint", "estimator_fingerprint", "series_fingerprint", "series_id"}

// claims finds a name of the store's in the open parts of a result.
func claims(v canon.Value) (pointer string, claimed bool) {
	for _, at := range []string{
		"/coordinates/comparison_context", "/coordinates/subject/configuration", "/coordinates/environment/metadata",
		"/observed_context", "/procedure", "/provenance/info",
	} {
		part, ok := v.At(at)
		if !ok {
			continue
		}
		for _, name := range stores {
			if part.Has(name) {
				return at + "/" + name, true
			}
		}
	}
	return "", false
}

// Known is what a store holds that bears on one result. Members are nil or empty
// where it holds nothing.
type Known struct {
	Payload *canon.Digest // of the result with the same producer and ingest key
	Unit    string        // of the quantity in the project; see Project
	Attempt *canon.Digest // result.AttemptPrint of the results with the same attempt key
}

// Decide says what becomes of a result.
func Decide(r *result.Result, k Known) Decision {
	unit := r.Coordinates.Quantity.Unit
	switch {
	case k.Payload != nil && *k.Payload == r.Digest():
		return Decision{Answer: Duplicate}
	case k.Payload != nil:
		return reject(IdempotencyConflict, "/ingest_key",
			"%s of %s is stored with other content (sha256 %s); measure again under another run_key or slot", r.IngestKey, r.Producer.Name, k.Payload.Hex())
	case k.Unit != "" && k.Unit != unit:
		return reject(UnitConflict, "/coordinates/quantity/unit",
			"%s is in %q in project %s, not in %q; give another quantity another name", r.Coordinates.Quantity.Name, k.Unit, Project(r), unit)
	case k.Attempt != nil && *k.Attempt != result.AttemptPrint(r):
		return reject(AttemptConflict, "/attempt_key",
			"%s is stored for another project, source, revision, workload, subject, environment, run key or state of the trees; each execution has a key of its own", r.AttemptKey)
	}
	return Decision{Answer: Accepted}
}

// Project is the project that a store keeps a result under: its own, or for one
// that names none the project of its machine.
func Project(r *result.Result) string {
	if r.Project != "" {
		return r.Project
	}
	return result.ImplicitProject(r.Document)
}

// Thin reports whether a result names no project or no benchmark code: it is
// comparable within its own run, and joins no tracked series by itself.
func Thin(r *result.Result) bool { return r.Project == "" || r.Benchmark == nil }
