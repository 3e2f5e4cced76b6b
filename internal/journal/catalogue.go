package journal

import (
	"maps"
	"slices"

	"writ/internal/canon"
	"writ/internal/ident"
)

// Event types. The set is closed: a new meaning is a new type.
const (
	WorkspaceCreated      = "workspace.created"
	ParticipantJoined     = "participant.joined"
	ParticipantLeft       = "participant.left"
	ParticipantUpdated    = "participant.updated"
	HarnessRegistered     = "harness.registered"
	HarnessOnline         = "harness.online"
	HarnessOffline        = "harness.offline"
	AgentMinted           = "agent.minted"
	AgentRetired          = "agent.retired"
	SpaceCreated          = "space.created"
	SpaceArchived         = "space.archived"
	SpaceMemberAdded      = "space.member_added"
	SpaceMemberRemoved    = "space.member_removed"
	SpaceLinked           = "space.linked"
	MessagePosted         = "message.posted"
	MessageEdited         = "message.edited"
	MessageRedacted       = "message.redacted"
	AttachmentTranscribed = "attachment.transcribed"
	AttachmentVersioned   = "attachment.versioned"
	LaneOpened            = "lane.opened"
	LaneFlattened         = "lane.flattened"
	LaneClosed            = "lane.closed"
	RunRequested          = "run.requested" // the only event that wakes a harness
	RunAccepted           = "run.accepted"
	RunDeclined           = "run.declined"
	RunStarted            = "run.started"
	RunProgress           = "run.progress"
	RunInputRequested     = "run.input_requested"
	RunInputGiven         = "run.input_given"
	RunApprovalRequested  = "run.approval_requested"
	RunApprovalDecided    = "run.approval_decided"
	RunHandedOff          = "run.handed_off"
	RunCancelRequested    = "run.cancel_requested"
	RunCompleted          = "run.completed"
	RunFailed             = "run.failed"
	RunCancelled          = "run.cancelled"
	RunExpired            = "run.expired"
	BudgetCharged         = "budget.charged"
	BudgetExhausted       = "budget.exhausted"
	AutonomyChanged       = "autonomy.changed"
	DocumentAccepted      = "document.accepted"
)

// writers is a set of principal kinds. The server may write everything.
type writers uint8

const (
	persons writers = 1 << iota
	harnesses
	agents
	workers = harnesses | agents
	anyone  = persons | workers
)

func writerOf(kind string) writers {
	switch kind {
	case Person:
		return persons
	case Harness:
		return harnesses
	case Agent:
		return agents
	}
	return 0
}

// eventType is one line of the catalogue.
type eventType struct {
	by    writers // 0: the server only
	scope string  // that a client's token needs
	body  *members
	rule  func(c *checker, v canon.Value) // what the table cannot say
}

// Types returns every event type, sorted.
func Types() []string { return slices.Sorted(maps.Keys(catalogue)) }

// Known reports whether the catalogue has the type.
func Known(eventType string) bool { _, ok := catalogue[eventType]; return ok }

// envelope is what all events have, before a type says otherwise.
func envelope(name string) []member {
	return []member{
		has("v", shape{kind: constant, min: Version, max: Version}, required),
		has("type", oneOf(name), required),
		has("id", id(ident.Event), minted),
		has("ts", shape{kind: instant}, readers),
		has("workspace_id", id(ident.Workspace), minted),
		has("space_id", id(ident.Space), optional),
		has("run_id", id(ident.Run), optional),
		has("lane_id", id(ident.Lane), optional),
		has("seq", integer(1, canon.MaxSafe), readersOpt),
		has("idempotency_key", text(1, 200), optional),
		has("actor", actorShape, served),
	}
}

var actorShape = objectWith(
	has("kind", oneOf(Person, Harness, Agent, Server), required),
	has("id", text(1, 0), required),
	has("harness_id", id(ident.Harness), servedOpt),
)

// event makes a line: the envelope, with the members of the type added or put
// in place of those of the envelope.
func event(name string, by writers, scope string, own ...member) eventType {
	all := envelope(name)
	for _, m := range own {
		if i := slices.IndexFunc(all, func(e member) bool { return e.name == m.name }); i >= 0 {
			all[i] = m
		} else {
			all = append(all, m)
		}
	}
	return eventType{by: by, scope: scope, body: table(all...)}
}

func (t eventType) where(rule func(*checker, canon.Value)) eventType {
	t.rule = rule
	return t
}

// exactlyOne is the rule that just one of two members is there.
func exactlyOne(a, b string) func(*checker, canon.Value) {
	return func(c *checker, v canon.Value) {
		if v.Has(a) == v.Has(b) {
			c.failAt(a, "exactly one of "+a+" and "+b+" must be there", "")
		}
	}
}
