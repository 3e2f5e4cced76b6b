package lane

import (
	"writ/internal/canon"
	"writ/internal/journal"
)

// hop is one participant on the way to a request: who asked, in which run, for
// what.
func hop(participant, runID, goal string) canon.Value {
	set := []canon.Member{
		textOf("goal", journal.Clip(goal, journal.MaxHopGoal)),
		textOf("participant_id", participant),
	}
	if runID != "" {
		set = append(set, textOf("run_id", runID))
	}
	v, err := canon.ObjectOf(set...)
	if err != nil {
		panic("lane: " + err.Error()) // the names are ours
	}
	return v
}

// extend adds a hop to a trail. A trail that grows too long keeps the first
// hop, which says who started it, and the last seven; the whole chain stays
// readable through the runs' parents.
func extend(trail []canon.Value, next canon.Value) []canon.Value {
	out := make([]canon.Value, 0, len(trail)+1)
	out = append(append(out, trail...), next)
	if over := len(out) - journal.MaxHops; over > 0 {
		out = append(out[:1], out[1+over:]...)
	}
	return out
}

// trailOf is the trail of a stored request.
func trailOf(body canon.Value) []canon.Value {
	t, _ := body.Get("trail")
	return t.Elems()
}
