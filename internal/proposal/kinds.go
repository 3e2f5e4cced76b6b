package proposal

import (
	"slices"
	"time"

	"writ/internal/fault"
	"writ/internal/ledger"
	"writ/internal/schema"
)

// Kind names one document kind of the chain; the same word is its kind in the
// ledger.
type Kind string

// The kinds of the chain, in the order in which they come into being.
const (
	KindAssignment Kind = ledger.KindAssignment
	KindTurn       Kind = ledger.KindTurn
	KindManifest   Kind = ledger.KindManifest
	KindProposal   Kind = ledger.KindProposal
	KindReview     Kind = ledger.KindReview
	KindDecision   Kind = ledger.KindDecision
	KindAnswer     Kind = ledger.KindAnswer
	KindExecution  Kind = ledger.KindExecution
)

// NotBeforeSkew is how far a document's start may lie ahead of our clock.
// Expiry has no such grace, except that of a turn.
const NotBeforeSkew = 5 * time.Second

// Row is what is fixed about a kind. Nothing in it is ever taken from received
// data: a document that asks for another domain, version or ref is refused.
type Row struct {
	Kind    Kind
	Name    string // contract name and version, for people
	Version int64  // of the member schema/v
	Schema  schema.ID
	Self    string        // member that holds the document's own ref
	Prefix  string        // of that ref
	Domain  string        // of the signature; "" for kinds that are not signed
	Node    string        // member that names the signer's node; "" when not signed
	From    string        // member with the start of validity, "" for none
	Until   string        // member with the expiry, "" for none
	Once    string        // member that makes the document unique per node, "" for none
	Size    int64         // largest accepted size in bytes
	Skew    time.Duration // grace on the expiry
}

// Signed reports whether documents of this kind carry a signature.
func (r Row) Signed() bool { return r.Domain != "" }

var rows = []Row{
	{
		Kind: KindAssignment, Name: "corpus-role-assignment.v1", Version: 1,
		Schema: schema.RoleAssignment, Self: "assignment/id", Prefix: "corpus-role-assignment",
		From: "proposed-at", Until: "expires-at", Once: "idempotency/key", Size: 64 << 10,
	},
	{
		Kind: KindTurn, Name: "corpus-turn-proposal.v1", Version: 1,
		Schema: schema.TurnProposal, Self: "turn/id", Prefix: "corpus-turn",
		From: "proposed-at", Until: "expires-at", Once: "idempotency/key", Size: 256 << 10, Skew: 5 * time.Second,
	},
	{
		Kind: KindManifest, Name: "corpus-passage-evidence-manifest.v1", Version: 1,
		Schema: schema.EvidenceManifest, Self: "manifest/ref", Prefix: "corpus-evidence-manifest", Size: 256 << 10,
	},
	{
		Kind: KindProposal, Name: "corpus-reasoning-experiment-proposal.v2", Version: 2,
		Schema: schema.ExperimentProposal, Self: "proposal/ref", Prefix: "corpus-experiment",
		Domain: "corpus-reasoning-experiment-proposal.v2", Node: "author/node-id",
		From: "proposed-at", Until: "expires-at", Once: "idempotency/key", Size: 64 << 10,
	},
	{
		Kind: KindReview, Name: "corpus-reasoning-experiment-review.v4", Version: 4,
		Schema: schema.ExperimentReview, Self: "review/ref", Prefix: "corpus-experiment-review",
		Domain: "corpus-reasoning-experiment-review.v4", Node: "reviewer/node-id",
		From: "reviewed-at", Until: "expires-at", Once: "idempotency/key", Size: 256 << 10,
	},
	{
		Kind: KindDecision, Name: "corpus-reasoning-chair-experiment-decision.v2", Version: 2,
		Schema: schema.ChairDecision, Self: "decision/ref", Prefix: "corpus-experiment-chair-decision",
		Domain: "corpus-reasoning-chair-experiment-decision.v2", Node: "chair/node-id",
		From: "decided-at", Until: "expires-at", Once: "idempotency/key", Size: 64 << 10,
	},
	{
		Kind: KindAnswer, Name: "writ.human-answer/v1", Version: 1,
		Schema: schema.HumanAnswer, Self: "answer/ref", Prefix: "writ-human-answer",
		Domain: "writ-human-answer.v1", Node: "node/id",
		From: "answered-at", Until: "expires-at", Once: "request/ref", Size: 16 << 10,
	},
	{
		Kind: KindExecution, Name: "corpus-experiment-task-pack-execution.v1", Version: 1,
		Schema: schema.Execution, Self: "execution/ref", Prefix: "corpus-task-pack-execution",
		Domain: "corpus-experiment-task-pack-execution.v1", Node: "host/node-id",
		From: "recorded-at", Once: "idempotency/key", Size: 256 << 10,
	},
}

// Kinds returns the table, in the order in which documents come into being.
func Kinds() []Row { return slices.Clone(rows) }

// RowOf returns what is fixed about kind; fault.UnknownKind for any other word.
func RowOf(kind Kind) (Row, error) {
	for _, r := range rows {
		if r.Kind == kind {
			return r, nil
		}
	}
	return Row{}, fault.New(fault.UnknownKind, "document", "no such document kind in the chain: %q", string(kind))
}
