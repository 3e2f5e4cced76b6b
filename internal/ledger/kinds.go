package ledger

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
	KindNativeProof   = "landing-native-proof"
	KindContract      = "landing-qualification-contract"
	KindQualReceipt   = "landing-qualification-receipt"
	KindAdmission     = "landing-admission"
	KindReadback      = "landing-readback"
	KindLandingState  = "landing-state" // a snapshot of the rooted document that a transition of this run made
)

// Cell kinds.
const (
	CellWorkspace   = "workspace"
	CellParticipant = "participant"
	CellToken       = "token"
	CellLane        = "lane"
	CellRun         = "run"
	CellTask        = "task" // where the host stands with a run
	CellRepository  = "repository"
	CellLanding     = "landing" // one rooted document per repository and base
	CellArchive     = "landing-archive"
	CellChange      = "change-number"
)
