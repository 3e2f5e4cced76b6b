package result

import "writ/internal/canon"

// How the reading of a fact went.
const (
	SeenOK      = "observed"
	Unavailable = "unavailable" // cannot be read here; recorded, never dropped
	SeenError   = "error"
)

// When a fact was read.
const (
	Before  = "before"
	After   = "after"
	Sampled = "sampled"
)

// BootID names the condition that says which boot of the machine it was: rounds
// of two boots are never paired.
const BootID = "boot_id"

// Observed is one fact about the conditions of a run. Value is null when there
// is none, else a number, a text, a boolean or, for Sampled, a Samples object.
type Observed struct {
	Value  canon.Value `json:"value,omitempty"`
	Unit   string      `json:"unit,omitempty"` // UCUM
	Status string      `json:"status"`
	When   string      `json:"when"`
	Source string      `json:"source,omitempty"` // where it was read, such as a path under /proc
}

// Samples sum up many readings of one fact.
type Samples struct {
	Min  float64 `json:"min"`
	Max  float64 `json:"max"`
	Mean float64 `json:"mean"`
	N    int     `json:"n"`
}

// Saw records a fact that was read.
func Saw(value canon.Value, unit, when, source string) Observed {
	return Observed{Value: value, Unit: unit, Status: SeenOK, When: when, Source: source}
}

// Missed records that a fact could not be read: Unavailable when it does not
// exist or is not permitted, SeenError for anything else.
func Missed(status, when, source string) Observed {
	return Observed{Status: status, When: when, Source: source}
}
