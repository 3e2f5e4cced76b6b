package journal

import (
	"writ/internal/canon"
	"writ/internal/ledger"
)

// Fill is what the server adds to a draft to make the stored form. Empty ids
// leave those of the draft; members in Set replace those of the draft.
type Fill struct {
	ID, SpaceID, RunID, LaneID string
	Set                        []canon.Member
}

// Stored makes the stored form: the canonical body without seq and ts, and the
// columns that readers filter by. The draft or the fill must give an event id.
func (d Draft) Stored(f Fill) ledger.NewEvent {
	kind, actor, harness := d.Actor()
	e := ledger.NewEvent{
		ID: first(f.ID, d.ID), Type: d.Type, Actor: actor,
		SpaceID: first(f.SpaceID, d.SpaceID), RunID: first(f.RunID, d.RunID), LaneID: first(f.LaneID, d.LaneID),
	}
	who := make([]canon.Member, 0, 3)
	if harness != "" {
		who = append(who, canon.Member{Name: "harness_id", Value: canon.StringOf(harness)})
	}
	who = append(who, canon.Member{Name: "id", Value: canon.StringOf(actor)}, canon.Member{Name: "kind", Value: canon.StringOf(kind)})

	supplied := d.Value.Members()
	set := make([]canon.Member, 0, len(supplied)+len(f.Set)+10)
	set = append(set,
		canon.Member{Name: "v", Value: canon.IntOf(Version)},
		canon.Member{Name: "type", Value: canon.StringOf(d.Type)},
		canon.Member{Name: "id", Value: canon.StringOf(e.ID)},
		canon.Member{Name: "workspace_id", Value: canon.StringOf(d.Workspace)},
		canon.Member{Name: "actor", Value: objectOf(who)},
	)
	set = appendText(set, "space_id", e.SpaceID)
	set = appendText(set, "run_id", e.RunID)
	set = appendText(set, "lane_id", e.LaneID)
	if d.Type == BudgetCharged && !d.By.IsServer() {
		set = appendText(set, "harness_id", d.By.Through())
	}
	set = append(set, f.Set...)
	server := len(set)
	for _, m := range supplied {
		if !holds(set[:server], m.Name) {
			set = append(set, m)
		}
	}
	e.Body = objectOf(set).Canonical()
	return e
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func appendText(set []canon.Member, name, value string) []canon.Member {
	if value == "" {
		return set
	}
	return append(set, canon.Member{Name: name, Value: canon.StringOf(value)})
}

func holds(set []canon.Member, name string) bool {
	for i := range set {
		if set[i].Name == name {
			return true
		}
	}
	return false
}

// objectOf builds an object whose names are ours or parsed; a name that comes
// twice is a defect of the caller.
func objectOf(set []canon.Member) canon.Value {
	v, err := canon.ObjectOf(set...)
	if err != nil {
		panic("journal: " + err.Error())
	}
	return v
}
