package schema

// ID names one schema. The text is the stem of its file name, so it also says
// the version; for documents of the signed chain it is the signature domain.
type ID string

// Measuring.
const (
	WorkOrder           ID = "work-order.v0.1.0"
	MeasurementResult   ID = "measurement-result.v0.1.0"
	ComparisonDocument  ID = "comparison-document.v0.1.0"
	EnvironmentPolicy   ID = "environment-policy.v0.1.0"
	EnvironmentIdentity ID = "env-identity.v0.1.0"
	TargetDescription   ID = "target-description.v0.1.0"
)

// The signed chain and its antecedents.
const (
	RoleAssignment       ID = "corpus-role-assignment.v1"
	TurnProposal         ID = "corpus-turn-proposal.v1"
	EvidenceManifest     ID = "corpus-passage-evidence-manifest.v1"
	RoomPolicy           ID = "corpus-reasoning-room-policy.v1"
	ExperimentProposalV1 ID = "corpus-reasoning-experiment-proposal.v1"
	ExperimentProposal   ID = "corpus-reasoning-experiment-proposal.v2"
	ExperimentReview     ID = "corpus-reasoning-experiment-review.v4"
	ChairDecision        ID = "corpus-reasoning-chair-experiment-decision.v2"
	Execution            ID = "corpus-experiment-task-pack-execution.v1"
	HumanAnswer          ID = "writ.human-answer.v1"
)

// Task packs.
const (
	TaskCandidate    ID = "operator-task-experiment-candidate.v1"
	TaskPatch        ID = "operator-task-patch.v1"
	TaskProfile      ID = "operator-task-profile.v1"
	TaskBinding      ID = "operator-task-local-binding.v1"
	TaskPlan         ID = "operator-task-experiment-plan.v1"
	HILRequest       ID = "operator-task-hil-request.v1"
	HILAnswer        ID = "operator-task-hil-answer.v1"
	RunFact          ID = "operator-task-run-fact.v1"
	ExperimentResult ID = "operator-task-experiment-result.v1"
	Refusal          ID = "operator-task-refusal.v1"
)

// Landing. The proofs and receipts are shared by both dialects of the state.
const (
	DeliveryAuthority     ID = "delivery-authority.v2"
	WritAuthority         ID = "writ-delivery-authority.v1"
	SourceProofV1         ID = "source-qualification-proof.v1"
	SourceProof           ID = "source-qualification-proof.v2"
	NativeProof           ID = "native-qualification-proof.v4"
	ExecutionReceipt      ID = "native-heartbeat-run-receipt.v3"
	ExecutionBinding      ID = "native-execution-binding.v2"
	QualificationContract ID = "bounded-qualification-contract.v1"
	QualificationReceipt  ID = "bounded-qualification-receipt.v1"
	Admission             ID = "merge-group-admission.v1"
	GitAttempt            ID = "writ.git-landing-provider-attempt.v1"
	GitReadback           ID = "writ.git-landing-terminal-readback.v1"
)

// The docket and what judges it.
const (
	DocketBinding ID = "writ.docket-binding.v1"
	ResultSet     ID = "writ.result-set.v1"
	Verdict       ID = "writ.verdict.v1"
	Gate          ID = "writ.gate.v1"
	GatePolicy    ID = "writ.gate-policy.v1"
	Docket        ID = "writ.docket.v1"
)

// RunRequested is the wire form of the event that wakes a harness.
const RunRequested ID = "event.run.requested.v1"

// Event returns the schema of the wire form of an event type, such as
// "lane.opened". A type outside the catalogue has no schema; Has tells.
func Event(eventType string) ID { return ID("event." + eventType + ".v1") }
