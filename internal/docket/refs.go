package docket

import (
	"writ/internal/canon"
	"writ/internal/ledger"
)

// Own makes a ref a run's own: what several runs have in common (a plan of the
// same candidate, a state that one run left and the next found, a tool chain) is
// kept once for each, so that a docket is complete by itself.
func Own(ref, run string) string { return ref + "@" + run }

// StateRef names a snapshot of the landing state in the docket of a run.
func StateRef(root, run string) string { return Own(ledger.KindLandingState+":"+root, run) }

// ProducerRef names the body behind a root that a run's candidate names.
func ProducerRef(root, run string) string { return Own(ledger.KindProducerRoot+":"+root, run) }

// PolicyRef names a gate policy in the docket of a run; sum is the hex SHA-256 of
// its bytes.
func PolicyRef(sum, run string) string { return Own(ledger.KindGatePolicy+":"+sum, run) }

// BytesRef names a document that has no address of its own by kind and bytes.
func BytesRef(kind string, body []byte) string { return kind + ":" + canon.Sum(body).String() }

// ResultRef names a measurement result.
func ResultRef(d canon.Digest) string { return "result:" + d.String() }

// ExperimentRef names the result of a task run by its digest, as the execution
// record spells it.
func ExperimentRef(digest string) string { return ledger.KindExperimentResult + ":" + digest }

// named wants a document to be stored under the name that follows from its bytes.
func (d Document) named(want string) error {
	if d.Ref != want {
		return wrong(d.Kind, d.Ref, "its content makes it %s", want)
	}
	return nil
}
