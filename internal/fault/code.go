package fault

// Code names one kind of refusal. The set is closed: a code that is not in the
// table below does not exist, and clients may branch on it for ever.
type Code string

// Bad input: the request itself is at fault, and sending it again cannot help.
const (
	Malformed   Code = "malformed"          // not strict I-JSON; the error carries the byte offset
	Invalid     Code = "invalid"            // breaks a schema or a hand rule; the error carries a JSON pointer
	Event       Code = "invalid_event"      // a journal event breaks its form
	TooLarge    Code = "too_large"          // over the size that the document kind allows
	UnknownKind Code = "unknown_kind"       // a document kind or version that this build does not know
	Usage       Code = "usage"              // the command line is at fault
	Refused     Code = "refused"            // a work order that this runner cannot honour exactly
	Unsupported Code = "unsupported"        // a legal request that this build leaves out
	OutsidePath Code = "path_outside_root"  // a path that leaves the folder it belongs to
	Method      Code = "method_not_allowed" // the resource takes other HTTP methods
)

// Who is asking.
const (
	Unauthenticated Code = "unauthenticated"
	Forbidden       Code = "forbidden"
	Autonomy        Code = "autonomy_exceeds_parent"
	AgentApproval   Code = "agent_cannot_approve"
	SelfApproval    Code = "author_cannot_approve"
)

// What is there.
const (
	NotFound Code = "not_found"
	Gone     Code = "gap" // events before this point are no longer kept
)

// What is in the way: the state moved, or somebody else holds it.
const (
	Conflict      Code = "conflict"             // a compare-and-set lost; read again and decide again
	Idempotency   Code = "idempotency_conflict" // same key, other content
	EventID       Code = "event_id_conflict"
	RunTerminal   Code = "run_terminal"
	Fenced        Code = "fenced" // a stale attempt, token or generation
	Ambiguous     Code = "agent_ambiguous"
	CursorAhead   Code = "cursor_ahead"
	Cycle         Code = "delegation_cycle"
	ChangedReplay Code = "changed_replay" // answered or compiled before, with other content
	Held          Code = "held"           // a lease or warrant is held by another
	State         Code = "wrong_state"    // the step is not possible from here
	Budget        Code = "budget_exhausted"
)

// The signed chain.
const (
	Signature   Code = "signature_invalid"
	Signer      Code = "signer_mismatch" // the key is not the one the document names
	RefMismatch Code = "ref_mismatch"    // the document's own ref is not its content address
	Spelling    Code = "not_canonical"   // a digest, key or signature in a second spelling
	Expired     Code = "expired"
	NotYet      Code = "not_yet_valid"
	Relation    Code = "relation_mismatch" // sound alone, but not about the same bytes
	NotAdmitted Code = "not_admitted"      // the chain says block, reject or nothing
	Plan        Code = "plan_refused"      // the compiler refuses the candidate
)

// Measuring and judging.
const (
	Target       Code = "target_unavailable"
	Harness      Code = "harness_failed"
	Timeout      Code = "timeout"
	Nothing      Code = "nothing_measured"
	Incomparable Code = "incomparable"
	Blocked      Code = "gate_blocked"
	OnHold       Code = "gate_held"
	NotContained Code = "environment_not_contained"
)

// Landing.
const (
	RootDrift    Code = "root_drift"     // a stored root is not the root of its content
	StaleToken   Code = "stale_token"    // a fence that was replaced
	LeaseExpired Code = "lease_expired"  // the fence is right but its time is over
	Active       Code = "attempt_active" // another attempt of the same change is on its way
	Evidence     Code = "evidence_mismatch"
	Terminal     Code = "terminal_drift" // settled before, with another outcome
	NoReadback   Code = "readback_required"
	BaseMoved    Code = "base_moved"
	Forge        Code = "forge_failed" // the git remote refused or could not be reached
)

// Proof.
const (
	Unverified Code = "docket_does_not_verify"
	Unpinned   Code = "signers_not_pinned"
	Corrupt    Code = "store_corrupt"
)

// The process and the machine.
const (
	Unavailable Code = "unavailable"
	RateLimited Code = "rate_limited"
	Schema      Code = "schema_version" // the data were written by a newer build
	Cancelled   Code = "cancelled"
	Internal    Code = "internal"
)

// Exit codes of the command line, the same for every command unless its help
// says otherwise.
const (
	ExitOK          = 0
	ExitFinding     = 1   // the command worked; what it looked at is not in order
	ExitRefused     = 2   // bad input or usage; nothing was done
	ExitInternal    = 3   // a defect of ours, or of the machine
	ExitConflict    = 4   // somebody else was there first; read again
	ExitForbidden   = 5   // not allowed
	ExitNotFound    = 6   // no such thing
	ExitUnavailable = 7   // the server or a tool cannot be reached
	ExitBlocked     = 10  // the gate says block
	ExitHeld        = 11  // the gate says hold
	ExitNothing     = 12  // nothing was measured
	ExitInterrupted = 130 // stopped by the user
)

// Row is what the outside sees of a code.
type Row struct {
	HTTP    int    // HTTP status
	Exit    int    // exit status of the command line
	Retry   bool   // whether the same request may succeed later
	Summary string // title of the problem document, lower case, no full stop
}

// table maps every code, once, to what HTTP and the command line answer.
var table = map[Code]Row{
	Malformed:   {400, ExitRefused, false, "not strict JSON"},
	Invalid:     {400, ExitRefused, false, "document is not valid"},
	Event:       {400, ExitRefused, false, "event is not valid"},
	TooLarge:    {413, ExitRefused, false, "document is too large"},
	UnknownKind: {400, ExitRefused, false, "unknown document kind"},
	Usage:       {400, ExitRefused, false, "wrong usage"},
	Refused:     {422, ExitRefused, false, "order refused"},
	Unsupported: {501, ExitRefused, false, "not supported by this build"},
	OutsidePath: {400, ExitRefused, false, "path leaves its folder"},
	Method:      {405, ExitRefused, false, "method not allowed"},

	Unauthenticated: {401, ExitForbidden, false, "no valid token"},
	Forbidden:       {403, ExitForbidden, false, "not allowed"},
	Autonomy:        {403, ExitForbidden, false, "autonomy exceeds the parent's"},
	AgentApproval:   {403, ExitForbidden, false, "an agent cannot approve"},
	SelfApproval:    {403, ExitForbidden, false, "author and approver must differ"},

	NotFound: {404, ExitNotFound, false, "not found"},
	Gone:     {410, ExitNotFound, false, "events are no longer kept"},

	Conflict:      {409, ExitConflict, true, "state has moved"},
	Idempotency:   {409, ExitConflict, false, "same key, other content"},
	EventID:       {409, ExitConflict, false, "same event id, other content"},
	RunTerminal:   {409, ExitConflict, false, "run has ended"},
	Fenced:        {409, ExitConflict, false, "attempt is stale"},
	Ambiguous:     {409, ExitConflict, false, "more than one agent could take this"},
	CursorAhead:   {409, ExitConflict, false, "cursor is ahead of the log"},
	Cycle:         {409, ExitConflict, false, "delegation goes in a circle"},
	ChangedReplay: {409, ExitConflict, false, "answered before, with other content"},
	Held:          {409, ExitConflict, true, "held by another"},
	State:         {409, ExitConflict, false, "not possible from this state"},
	Budget:        {429, ExitConflict, false, "budget is exhausted"},

	Signature:   {422, ExitRefused, false, "signature does not verify"},
	Signer:      {422, ExitRefused, false, "signer is not the one named"},
	RefMismatch: {422, ExitRefused, false, "ref is not the content's address"},
	Spelling:    {422, ExitRefused, false, "not in canonical spelling"},
	Expired:     {422, ExitRefused, false, "expired"},
	NotYet:      {422, ExitRefused, true, "not valid yet"},
	Relation:    {422, ExitRefused, false, "documents are not about the same bytes"},
	NotAdmitted: {422, ExitRefused, false, "chain does not admit"},
	Plan:        {422, ExitRefused, false, "candidate cannot be compiled"},

	Target:       {422, ExitRefused, false, "target is not available"},
	Harness:      {422, ExitFinding, false, "harness failed"},
	Timeout:      {504, ExitFinding, true, "time limit reached"},
	Nothing:      {422, ExitNothing, false, "nothing was measured"},
	Incomparable: {422, ExitRefused, false, "results cannot be compared"},
	Blocked:      {422, ExitBlocked, false, "gate blocks"},
	OnHold:       {422, ExitHeld, false, "gate holds"},
	NotContained: {422, ExitRefused, false, "environment is not contained"},

	RootDrift:    {409, ExitConflict, false, "root does not match content"},
	StaleToken:   {409, ExitConflict, false, "fence is stale"},
	LeaseExpired: {409, ExitConflict, false, "lease has expired"},
	Active:       {409, ExitConflict, false, "another attempt is active"},
	Evidence:     {422, ExitRefused, false, "evidence does not match"},
	Terminal:     {409, ExitConflict, false, "settled before, with another outcome"},
	NoReadback:   {409, ExitConflict, false, "readback of the remote is required"},
	BaseMoved:    {409, ExitConflict, true, "base branch has moved"},
	Forge:        {502, ExitUnavailable, true, "git remote failed"},

	Unverified: {422, ExitFinding, false, "docket does not verify"},
	Unpinned:   {422, ExitFinding, false, "docket is consistent, signers not pinned"},
	Corrupt:    {500, ExitInternal, false, "stored data are damaged"},

	Unavailable: {503, ExitUnavailable, true, "not available"},
	RateLimited: {429, ExitUnavailable, true, "too many requests"},
	Schema:      {500, ExitInternal, false, "data are of a newer version"},
	Cancelled:   {499, ExitInterrupted, true, "cancelled"},
	Internal:    {500, ExitInternal, false, "internal error"},
}

// Of returns the row of c; an unknown code has the row of Internal.
func (c Code) Of() Row {
	if r, ok := table[c]; ok {
		return r
	}
	return table[Internal]
}

// Known reports whether c is one of the closed set.
func (c Code) Known() bool {
	_, ok := table[c]
	return ok
}

// Codes returns every code with its row, for the reference page and tests.
func Codes() map[Code]Row {
	out := make(map[Code]Row, len(table))
	for c, r := range table {
		out[c] = r
	}
	return out
}
