package proposal

import (
	"time"

	"writ/internal/fault"
)

// The states of a role assignment. Only an accepted one has effect.
const (
	StatusProposed = "proposed"
	StatusAccepted = "accepted"
	StatusDeclined = "declined"
)

// Assignment is the typed view of a role assignment v1.
type Assignment struct {
	Document
	Query, Room string
	Participant Subject
	Role        string
	Status      string
	Revision    int64
	Key         string
}

// AsAssignment reads the view.
func AsAssignment(d Document) (Assignment, error) {
	if err := d.as(KindAssignment); err != nil {
		return Assignment{}, err
	}
	v := d.Value
	no, _ := v.Get("revision/no")
	n, _ := no.Int()
	return Assignment{
		Document: d,
		Query:    v.Str("query/id"), Room: v.Str("room/id"),
		Participant: subjectOf(v, "participant"), Role: v.Str("role"), Status: v.Str("status"),
		Revision: n, Key: v.Str("idempotency/key"),
	}, nil
}

// Effective says whether a gives its participant the role at now.
func (a Assignment) Effective(role string, now time.Time) error {
	if a.Role != role {
		return fault.New(fault.NotAdmitted, "assignment", "%s is %s, not %s", a.Participant.ID, a.Role, role).
			At(pointer("role")).With("document", a.Ref)
	}
	if a.Status != StatusAccepted {
		return fault.New(fault.NotAdmitted, "assignment", "role of %s is only %s", a.Participant.ID, a.Status).
			At(pointer("status")).With("document", a.Ref)
	}
	return a.Current(now)
}

// AssignParams is what the host decides when a lane opens.
type AssignParams struct {
	RunID, SpaceID, LaneID string
	Participant            Subject
	Role                   string
	By                     Subject // who proposed and, by the workspace's policy, accepted
	At, Until              time.Time
}

// Assign builds an assignment that the workspace's policy has accepted. The same
// participant, role and run give one assignment.
func Assign(p AssignParams) (Assignment, error) {
	at := Instant(p.At)
	d, err := sealTree(KindAssignment, map[string]any{
		"schema/v": 1,
		"query/id": QueryOf(p.RunID), "room/id": RoomOf(p.SpaceID, p.LaneID),
		"participant":     p.Participant.tree(),
		"role":            p.Role,
		"status":          StatusAccepted,
		"revision/no":     1,
		"proposed/by":     p.By.tree(),
		"proposed-at":     at,
		"decision/by":     p.By.tree(),
		"decided-at":      at,
		"acceptance/mode": "local-policy",
		"expires-at":      Instant(p.Until),
		"idempotency/key": "assign:" + p.RunID + ":" + p.Role + ":" + p.Participant.Kind + ":" + p.Participant.ID,
	})
	if err != nil {
		return Assignment{}, err
	}
	return AsAssignment(d)
}
