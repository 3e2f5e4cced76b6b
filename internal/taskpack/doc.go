// Package taskpack turns an admitted candidate into exact work and keeps the
// record of that work: profile, binding, patch and patch policy, the compiler
// that makes one immutable plan out of them, the questions that a person
// answers, the facts of a run, and what they add up to.
//
// Invariants: the same inputs compile to the same plan, and the whole plan is
// checked before the first effect; digests, capabilities, effect classes and the
// need for a human answer come from the host's own tables and never from the
// candidate; a started step without an outcome is unknown after a crash, its run
// concludes unknown, and it is never started again.
//
// The package runs nothing, writes nothing, asks nobody and reads no clock. It
// says what is next; whoever holds the environment does it.
//
// Content addresses that the formats leave to the host (plan, run and question
// refs) are the ref dialect of a small object whose member "domain" names what
// is addressed, such as
//
//	{"domain":"operator-task-run.v1","plan/ref":…,"run/key":…}
package taskpack
