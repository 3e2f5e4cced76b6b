package journal

import (
	"writ/internal/canon"
	"writ/internal/ident"
)

// Limits of text that more than one type has, in characters.
const (
	MaxGoal    = 4000
	MaxHopGoal = 2000 // of the goal in a trail's hop
	MaxHops    = 8    // of a trail
	MaxProse   = 8000 // of a summary or a failure's message
	maxBody    = 20000
	maxReason  = 1000
	maxName    = 120
)

var (
	named       = text(1, maxName)
	participant = text(1, maxName)
	reason      = has("reason", text(0, maxReason), optional)
	level       = integer(0, 3)
	sum         = shape{kind: hexSum}
	when        = shape{kind: instant}
	yesNo       = shape{kind: boolean}
	open        = shape{kind: object}
	requestID   = has("request_id", text(1, 200), required)
	spaces      = list(10, id(ident.Space))

	attachments = list(20, shape{kind: object, members: closed(table(
		has("attachment_id", id(ident.Attachment), required),
		has("filename", text(1, 255), readers),
		has("mime_type", text(1, 255), readers),
		has("byte_size", integer(0, canon.MaxSafe), readers),
		has("sha256", sum, readers),
		has("width", integer(1, canon.MaxSafe), readersOpt),
		has("height", integer(1, canon.MaxSafe), readersOpt),
		has("duration_ms", integer(0, canon.MaxSafe), readersOpt),
		has("transcript", text(1, 50000), readersOpt),
		has("replaces", id(ident.Attachment), optional),
		has("url", shape{kind: address}, readers),
		has("url_expires_at", when, readers),
	))})

	trail = list(MaxHops, objectWith(
		has("participant_id", text(1, 0), required),
		has("run_id", id(ident.Run), optional),
		has("goal", text(0, MaxHopGoal), optional),
	))
)

func closed(m *members) *members { m.closed = true; return m }

// work is what every event of a run has. The lane is the run's, so the server
// fills it in.
func work(attempt duty, own ...member) []member {
	return append([]member{
		has("run_id", id(ident.Run), required),
		has("lane_id", id(ident.Lane), served),
		has("attempt", integer(1, 1000), attempt),
	}, own...)
}

var catalogue = map[string]eventType{
	// Workspace and people.
	WorkspaceCreated: event(WorkspaceCreated, 0, "", has("name", named, required)),
	ParticipantJoined: event(ParticipantJoined, 0, "",
		has("participant_id", participant, required),
		has("kind", oneOf(Person, Harness, Agent, Observer), required),
		has("name", named, required)),
	ParticipantLeft:    event(ParticipantLeft, 0, "", has("participant_id", participant, required), reason),
	ParticipantUpdated: event(ParticipantUpdated, 0, "", has("participant_id", participant, required), has("name", named, optional)),

	// Harnesses and agents.
	HarnessRegistered: event(HarnessRegistered, 0, "",
		has("harness_id", id(ident.Harness), required),
		has("name", named, required),
		has("capabilities", list(50, named), required)),
	HarnessOnline:  event(HarnessOnline, 0, "", has("harness_id", id(ident.Harness), required), has("session_id", named, required), reason),
	HarnessOffline: event(HarnessOffline, 0, "", has("harness_id", id(ident.Harness), required), has("session_id", named, required), reason),
	AgentMinted: event(AgentMinted, 0, "",
		has("agent_id", id(ident.Agent), required),
		has("harness_id", id(ident.Harness), required),
		has("ephemeral", yesNo, required),
		has("for_lane", id(ident.Lane), optional),
		has("name", named, optional)),
	AgentRetired: event(AgentRetired, 0, "", has("agent_id", id(ident.Agent), required), reason),

	// Spaces.
	SpaceCreated: event(SpaceCreated, anyone, ScopeAdmin,
		has("space_id", id(ident.Space), minted),
		has("kind", oneOf("lead", "lane", "plain"), required),
		has("name", named, required)),
	SpaceArchived:      event(SpaceArchived, anyone, ScopeAdmin, has("space_id", id(ident.Space), required), reason),
	SpaceMemberAdded:   event(SpaceMemberAdded, anyone, ScopeAdmin, has("space_id", id(ident.Space), required), has("participant_id", participant, required)),
	SpaceMemberRemoved: event(SpaceMemberRemoved, anyone, ScopeAdmin, has("space_id", id(ident.Space), required), has("participant_id", participant, required)),
	SpaceLinked:        event(SpaceLinked, 0, "", has("space_id", id(ident.Space), required), has("lane_id", id(ident.Lane), required)),

	// Messages and files.
	MessagePosted: event(MessagePosted, anyone, ScopeWrite,
		has("message_id", id(ident.Message), minted),
		has("body", prose(maxBody), required),
		has("attachments", attachments, optional),
		has("in_reply_to", id(ident.Message), optional),
		has("card", oneOf("route", "task"), servedOpt)),
	MessageEdited:   event(MessageEdited, anyone, ScopeWrite, has("message_id", id(ident.Message), required), has("body", prose(maxBody), required)),
	MessageRedacted: event(MessageRedacted, anyone, ScopeWrite, has("message_id", id(ident.Message), required), reason),
	AttachmentTranscribed: event(AttachmentTranscribed, 0, "",
		has("attachment_id", id(ident.Attachment), required),
		has("transcript", text(1, 50000), required)),
	AttachmentVersioned: event(AttachmentVersioned, 0, "",
		has("attachment_id", id(ident.Attachment), required),
		has("replaces", id(ident.Attachment), required),
		has("filename", text(1, 255), required)),

	// Lanes.
	LaneOpened: event(LaneOpened, 0, "",
		has("lane_id", id(ident.Lane), required),
		has("parent_lane_id", id(ident.Lane), optional),
		has("depth", integer(1, 3), required),
		has("specialist_id", participant, required),
		has("agent_id", id(ident.Agent), optional),
		has("requested_by", participant, required),
		has("autonomy", level, required),
		has("link_to", spaces, optional)),
	LaneFlattened: event(LaneFlattened, 0, "",
		has("into_lane_id", id(ident.Lane), required),
		has("wanted_depth", integer(1, canon.MaxSafe), required),
		has("cause", oneOf("depth", "cycle"), optional)),
	LaneClosed: event(LaneClosed, anyone, ScopeRoute,
		has("lane_id", id(ident.Lane), required),
		has("outcome", oneOf("done", "failed", "cancelled", "declined", "expired"), minted)),

	// Runs.
	RunRequested: event(RunRequested, anyone, ScopeRoute,
		has("run_id", id(ident.Run), servedOpt),
		has("lane_id", id(ident.Lane), minted),
		loosely(has("parent_run_id", id(ident.Run), optional)),
		loosely(has("parent_attempt", integer(1, 1000), optional)),
		loosely(has("attempt", integer(1, 1000), servedOpt)),
		has("goal", prose(MaxGoal), required),
		has("constraints", list(20, text(0, 500)), optional),
		has("deadline", when, optional),
		has("on_behalf_of", participant, served),
		has("requested_by", participant, served),
		has("specialist_id", participant, required),
		has("agent_id", id(ident.Agent), optional),
		has("trail", trail, served),
		has("autonomy", level, minted),
		has("link_to", spaces, optional),
		has("origin", id(ident.Message), optional),
		has("attachments", attachments, optional),
		has("label", named, optional)),
	RunAccepted: event(RunAccepted, workers, ScopeWork, work(claimed,
		has("lease_until", when, servedOpt),
		has("retryable", yesNo, optional))...),
	RunDeclined: event(RunDeclined, workers, ScopeWork, work(served, has("code", named, required), reason)...),
	RunStarted:  event(RunStarted, workers, ScopeWork, work(claimed)...),
	RunProgress: event(RunProgress, workers, ScopeWork, work(claimed,
		has("step", named, optional),
		has("note", text(0, MaxGoal), optional),
		has("pct", number(0, 100), optional))...),
	RunInputRequested: event(RunInputRequested, workers, ScopeWork, work(claimed, requestID,
		has("prompt", prose(MaxGoal), required),
		has("schema", open, optional),
		has("expires_at", when, optional))...),
	RunInputGiven: event(RunInputGiven, anyone, ScopeWrite, work(served, requestID,
		has("value", shape{}, optional),
		has("cancelled", yesNo, optional))...).where(exactlyOne("value", "cancelled")),
	RunApprovalRequested: event(RunApprovalRequested, workers, ScopeWork, work(claimed, requestID,
		has("action", prose(MaxGoal), required),
		has("risk", text(0, maxReason), optional))...),
	RunApprovalDecided: event(RunApprovalDecided, persons, ScopeApprove, work(served, requestID,
		has("decision", oneOf("approve", "deny"), required),
		has("by", participant, served),
		reason)...),
	RunHandedOff: event(RunHandedOff, workers, ScopeWork, work(claimed,
		has("to_agent_id", id(ident.Agent), optional),
		has("to_specialist_id", participant, optional),
		has("goal", prose(MaxGoal), optional),
		has("new_run_id", id(ident.Run), served))...).where(exactlyOne("to_agent_id", "to_specialist_id")),
	RunCancelRequested: event(RunCancelRequested, anyone, ScopeRoute, work(served, has("by", participant, served), reason)...),
	RunCompleted: event(RunCompleted, workers, ScopeWork, work(claimed,
		has("summary", prose(MaxProse), required),
		has("attachments", attachments, optional),
		has("usage", open, optional),
		has("handed_off_to", id(ident.Run), servedOpt),
		has("candidateId", text(1, 400), servedOpt), // the landing facts keep the names of the landing documents
		has("outcome", text(1, maxName), servedOpt),
		has("terminalRoot", text(1, 200), servedOpt),
		has("landedCommit", text(1, 64), servedOpt))...),
	RunFailed: event(RunFailed, workers, ScopeWork, work(claimed,
		has("code", named, required),
		has("message", prose(MaxProse), required),
		has("retryable", yesNo, required))...),
	RunCancelled: event(RunCancelled, workers, ScopeWork, work(claimed, reason)...),
	RunExpired:   event(RunExpired, 0, "", work(served, has("cause", oneOf("deadline", "lease", "silence"), required))...),

	// Money and levels.
	BudgetCharged: event(BudgetCharged, workers, ScopeWork,
		has("harness_id", id(ident.Harness), served),
		has("amount", number(0, 1e15), required),
		has("unit", text(1, 40), required)),
	BudgetExhausted: event(BudgetExhausted, 0, "", has("harness_id", id(ident.Harness), required), has("unit", text(1, 40), optional)),
	AutonomyChanged: event(AutonomyChanged, persons, ScopeAdmin,
		has("scope", id(ident.Lane), required),
		has("from", level, served),
		has("to", level, required),
		has("by", participant, served),
		reason),

	// Documents of the chain.
	DocumentAccepted: event(DocumentAccepted, 0, "",
		has("kind", named, required),
		has("ref", text(1, 1024), required),
		has("sha256", sum, required)),
}
