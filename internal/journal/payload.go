package journal

import (
	"strings"
	"time"

	"writ/internal/canon"
)

// The payloads that the server writes. Text that is too long is cut at the
// limit of its member, and empty text that must be there becomes "none".

func textMember(name, value string) canon.Member {
	return canon.Member{Name: name, Value: canon.StringOf(value)}
}

// say makes prose fit: cut, and never blank.
func say(s string, limit int) string {
	s = Clip(strings.ToValidUTF8(s, "\uFFFD"), limit)
	if strings.TrimSpace(s) == "" {
		return "none"
	}
	return s
}

// AcceptedUntil is run.accepted. A zero time means that the holder needs no
// lease, as the server itself does not.
func AcceptedUntil(lease time.Time) Payload {
	p := Payload{Type: RunAccepted}
	if !lease.IsZero() {
		p = p.With("lease_until", Stamp(lease))
	}
	return p
}

// Started is run.started.
func Started() Payload { return Payload{Type: RunStarted} }

// Progress is run.progress. Step names where the run is; note is for people;
// pct is 0 to 100, or negative when unknown.
func Progress(step, note string, pct float64) Payload {
	p := Payload{Type: RunProgress}.With("step", Clip(step, maxName)).With("note", Clip(note, MaxGoal))
	if pct >= 0 && pct <= 100 {
		p.Members = append(p.Members, canon.Member{Name: "pct", Value: canon.MustFrom(pct)})
	}
	return p
}

// InputRequested is run.input_requested: the run waits for a value from a
// person. A zero expiry never comes.
func InputRequested(requestID, prompt string, expires time.Time) Payload {
	p := Payload{RunInputRequested, []canon.Member{textMember("request_id", requestID), textMember("prompt", say(prompt, MaxGoal))}}
	if !expires.IsZero() {
		p = p.With("expires_at", Stamp(expires))
	}
	return p
}

// ApprovalRequested is run.approval_requested: the run waits for a person's
// decision. Ref names the document that asks, or is "".
func ApprovalRequested(requestID, action, risk, ref string) Payload {
	return Payload{RunApprovalRequested, []canon.Member{textMember("request_id", requestID), textMember("action", say(action, MaxGoal))}}.
		With("risk", Clip(risk, maxReason)).With("ref", ref)
}

// ApprovalDecided is run.approval_decided, written by the server once the
// signed answer of a person is accepted. Ref names that answer, or is "".
func ApprovalDecided(requestID string, approve bool, by, ref string) Payload {
	decision := "deny"
	if approve {
		decision = "approve"
	}
	return Payload{RunApprovalDecided, []canon.Member{
		textMember("request_id", requestID), textMember("decision", decision), textMember("by", by),
	}}.With("ref", ref)
}

// CancelRequested is run.cancel_requested.
func CancelRequested(by, why string) Payload {
	return Payload{RunCancelRequested, []canon.Member{textMember("by", by)}}.With("reason", Clip(why, maxReason))
}

// Cancelled is run.cancelled.
func Cancelled(why string) Payload {
	return Payload{Type: RunCancelled}.With("reason", Clip(why, maxReason))
}

// Completion is how a run ended well. The landing facts are those of the
// settled candidate, all "" for a run that landed nothing.
type Completion struct {
	Summary      string
	CandidateID  string
	Outcome      string // merged, dequeued, cancelled or terminal-failure, as the landing settled
	TerminalRoot string // "sha256:" and hex
	LandedCommit string // hex object id
}

// Payload is run.completed.
func (c Completion) Payload() Payload {
	return Payload{RunCompleted, []canon.Member{textMember("summary", say(c.Summary, MaxProse))}}.
		With("candidateId", c.CandidateID).With("outcome", c.Outcome).
		With("terminalRoot", c.TerminalRoot).With("landedCommit", c.LandedCommit)
}

// ReadCompletion takes the completion out of the stored or wire form of a
// run.completed event; false for anything else.
func ReadCompletion(body []byte) (Completion, bool) {
	v, err := canon.Parse(body)
	if err != nil || v.Str("type") != RunCompleted {
		return Completion{}, false
	}
	return Completion{
		Summary: v.Str("summary"), CandidateID: v.Str("candidateId"), Outcome: v.Str("outcome"),
		TerminalRoot: v.Str("terminalRoot"), LandedCommit: v.Str("landedCommit"),
	}, true
}

// Failed is run.failed. Code is a closed code such as "gate_blocked", message
// what people read. A retryable failure leaves the lane open for another run.
func Failed(code, message string, retryable bool) Payload {
	return Payload{RunFailed, []canon.Member{
		textMember("code", say(code, maxName)), textMember("message", say(message, MaxProse)),
		{Name: "retryable", Value: canon.BoolOf(retryable)},
	}}
}

// Causes of run.expired.
const (
	ByDeadline = "deadline"
	ByLease    = "lease"
	BySilence  = "silence"
)

// Expired is run.expired.
func Expired(cause string) Payload {
	return Payload{RunExpired, []canon.Member{textMember("cause", cause)}}
}

// Outcomes of lane.closed.
const (
	OutcomeDone      = "done"
	OutcomeFailed    = "failed"
	OutcomeCancelled = "cancelled"
	OutcomeDeclined  = "declined"
	OutcomeExpired   = "expired"
)

// Closed is lane.closed.
func Closed(laneID, outcome string) Payload {
	return Payload{LaneClosed, []canon.Member{textMember("lane_id", laneID), textMember("outcome", outcome)}}
}

// Joined is participant.joined.
func Joined(participantID, kind, name string) Payload {
	return Payload{Type: ParticipantJoined}.With("participant_id", participantID).With("kind", kind).With("name", Clip(name, maxName))
}

// Created is workspace.created.
func Created(name string) Payload {
	return Payload{Type: WorkspaceCreated}.With("name", Clip(name, maxName))
}
