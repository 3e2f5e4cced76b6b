package ledger

import "writ/internal/canon"

// Document kinds. A kind never changes its meaning; a new meaning is a new kind.
const (
	KindAssignment       = "role-assignment"
	KindTurn             = "turn"
	KindManifest         = "evidence-manifest"
	KindProposal         = "proposal"
	KindReview           = "review"
	KindDecision         = "decision"
	KindProfile          = "task-profile"
	KindBinding          = "local-binding"
	KindCandidate        = "candidate"
	KindPatch            = "patch"
	KindPlan             = "plan"
	KindRequest          = "hil-request"
	KindAnswer           = "human-answer"
	KindRunFact          = "run-fact"
	KindExperimentResult = "experiment-result"
	KindExecution        = "execution"
	KindDestruction      = "environment-destruction"

	KindOrder      = "work-order"
	KindResult     = "order-result"
	KindComparison = "comparison"
	KindResultSet  = "result-set"
	KindVerdict    = "verdict"
	KindGate       = "gate"
	KindGatePolicy = "gate-policy"

	KindDocketBinding = "docket-binding"
	KindProducerRoot  = "landing-producer-root"
	KindSourceProof   = "landing-source-proof"
	KindRunReceipt    = "landing-run-receipt"
	KindNativeProof   = "landing-native-proof"
	KindContract      = "landing-qualification-contract"
	KindQualReceipt   = "landing-qualification-receipt"
	KindAdmission     = "landing-admission"
	KindReadback      = "landing-readback"
	KindSettlement    = "landing-settlement" // why somebody ended a candidate that was not landing
	KindLandingState  = "landing-state"      // a snapshot of the rooted document
	KindLandingStep   = "landing-step"       // one transition: operation, and the states around it
)

// Cell kinds.
const (
	CellWorkspace   = "workspace"
	CellParticipant = "participant"
	CellToken       = "token"
	CellBlob        = "blob" // the workspace may read the kept bytes of this hex digest
	CellLane        = "lane"
	CellRun         = "run"
	CellTask        = "task" // where the host stands with a run
	CellRepository  = "repository"
	CellLanding     = "landing" // one rooted document per repository and base
	CellArchive     = "landing-archive"
	CellChange      = "change-number"
)

// HasBlob is the write that gives a workspace the kept bytes of a digest.
func HasBlob(d canon.Digest) []CellWrite {
	return []CellWrite{{Kind: CellBlob, Key: d.Hex(), Expect: AnyVersion, State: "kept", Value: []byte("true")}}
}
