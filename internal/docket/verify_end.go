package docket

import (
	"slices"

	"writ/internal/canon"
	"writ/internal/journal"
	"writ/internal/landing"
	"writ/internal/verdict"
)

// endings are the events that end a run.
var endings = []string{journal.RunCompleted, journal.RunFailed, journal.RunDeclined, journal.RunCancelled, journal.RunExpired}

// ended checks that the run has one ending, and that it says what the landing says.
func (v *verifier) ended() error {
	var end event
	for _, e := range v.events {
		if !slices.Contains(endings, e.Type) {
			continue
		}
		if end.ID != "" {
			return wrong("event", e.ID, "the run had ended before, by event %s", end.ID)
		}
		end = e
	}
	switch end.Type {
	case "":
		v.say("the run has not ended")
		return v.missing()
	case journal.RunCompleted:
		return v.completed(end)
	}
	v.say(end.Type + " " + end.body.Str("code") + ": " + end.body.Str("message") + end.body.Str("reason") + end.body.Str("cause"))
	if end.body.Str("code") == "gate_blocked" && !v.blocked() {
		return wrong("event", end.ID, "it says that the gate blocked; no gate of this docket did")
	}
	return nil
}

// blocked reports whether a gate of the docket answered anything but pass.
func (v *verifier) blocked() bool {
	if v.measured.answer != "" && v.measured.answer != verdict.Pass {
		return true
	}
	for _, m := range v.remeasured {
		if m.answer != verdict.Pass {
			return true
		}
	}
	return false
}

func (v *verifier) completed(e event) error {
	done, _ := journal.ReadCompletion([]byte(e.Body))
	if v.landed == "" {
		if done.LandedCommit != "" || done.CandidateID != "" {
			return wrong("event", e.ID, "it says that %s landed; the docket does not show it", done.LandedCommit)
		}
		v.say("completed: " + done.Summary)
		return nil
	}
	terminal, err := TerminalRoot(v.last)
	if err != nil {
		return at("candidate", v.last.CandidateID, err)
	}
	for _, x := range []struct{ what, got, want string }{
		{"candidate", done.CandidateID, v.last.CandidateID}, {"outcome", done.Outcome, string(v.last.Status)},
		{"terminal root", done.TerminalRoot, terminal}, {"landed commit", done.LandedCommit, v.landed},
	} {
		if x.got != x.want {
			return wrong("event", e.ID, "its %s is %s, the landing says %s", x.what, x.got, x.want)
		}
	}
	v.say("the journal was told: " + done.Summary)
	return nil
}

// TerminalRoot is the root of how a candidate ended, by which the journal names it.
func TerminalRoot(c landing.Candidate) (string, error) {
	t := c.Terminal
	body := map[string]any{
		"schema": "writ.landing-terminal/v1", "candidateId": c.CandidateID, "outcome": string(t.Outcome),
		"evidenceRoot": t.EvidenceRoot, "reason": t.Reason, "settledAt": string(t.SettledAt),
	}
	if t.ReadbackRoot != "" {
		body["readbackRoot"] = t.ReadbackRoot
	}
	v, err := canon.From(body)
	if err != nil {
		return "", err
	}
	return canon.Root(v), nil
}
