package order

import (
	"slices"

	"writ/internal/canon"
	"writ/internal/fault"
)

// Precision says how many observations to take and how. What an order leaves out
// is the adapter's default, and the default is recorded.
type Precision struct {
	Repetitions Repetitions  `json:"repetitions"`
	Calibration *Calibration `json:"calibration,omitempty"`
	Warmup      *Warmup      `json:"warmup,omitempty"`
}

// Level is one level of repetition.
type Level struct {
	Unit string `json:"unit"`
	N    int    `json:"n"`
}

// PlainUnit is the unit of a count that is written as a bare integer.
const PlainUnit = "repetition"

// Repetitions are the levels of repetition, outermost first.
type Repetitions struct {
	Levels []Level
	Bare   bool // spelled as one integer
}

// Times returns n repetitions at the one plain level.
func Times(n int) Repetitions {
	return Repetitions{Levels: []Level{{PlainUnit, n}}, Bare: true}
}

// Total is the number of observations of one attempt: the product over levels.
func (r Repetitions) Total() int {
	total := 1
	for _, l := range r.Levels {
		total *= l.N
	}
	return total
}

// Of returns the count at a unit, or fallback when the level is left out.
func (r Repetitions) Of(unit string, fallback int) int {
	i := slices.IndexFunc(r.Levels, func(l Level) bool { return l.Unit == unit })
	if i < 0 {
		return fallback
	}
	return r.Levels[i].N
}

type levelsForm struct {
	Mode   string  `json:"mode"`
	Levels []Level `json:"levels"`
}

// MarshalJSON writes the spelling that was read.
func (r Repetitions) MarshalJSON() ([]byte, error) {
	if r.Bare && len(r.Levels) == 1 {
		return canon.Marshal(r.Levels[0].N)
	}
	return canon.Marshal(levelsForm{"fixed", r.Levels})
}

// UnmarshalJSON reads either spelling.
func (r *Repetitions) UnmarshalJSON(b []byte) error {
	v, err := canon.Parse(b)
	if err != nil {
		return err
	}
	if n, ok := v.Int(); ok {
		*r = Times(int(n))
		return nil
	}
	var form levelsForm
	if err := v.Decode(&form); err != nil {
		return err
	}
	*r = Repetitions{Levels: form.Levels}
	return nil
}

// Modes of calibration and warm-up.
const (
	Adaptive = "adaptive"
	Fixed    = "fixed"
	None     = "none"
	Count    = "count"
	Time     = "time"
)

// Calibration says how the inner iteration count is chosen.
type Calibration struct {
	Mode                 string  `json:"mode"`                             // Adaptive or Fixed
	MinimumSampleSeconds float64 `json:"minimum_sample_seconds,omitempty"` // Adaptive
	NIterations          int     `json:"n_iterations,omitempty"`           // Fixed
}

// Warmup says what is measured and thrown away first.
type Warmup struct {
	Mode    string  `json:"mode"`               // None, Count or Time
	NWarmup *int    `json:"n_warmup,omitempty"` // Count
	Seconds float64 `json:"seconds,omitempty"`  // Time
}

// Protocol returns the three members under which results record the precision
// that was asked for: always in the form with levels, and with the defaults of
// the adapter where the order has none.
func (p Precision) Protocol(defaults Precision) (canon.Value, error) {
	if p.Calibration == nil {
		p.Calibration = defaults.Calibration
	}
	if p.Warmup == nil {
		p.Warmup = defaults.Warmup
	}
	levels := slices.Clone(p.Repetitions.Levels)
	for i, d := range defaults.Repetitions.Levels { // outermost first: a level that was left out goes to its place
		if !slices.ContainsFunc(levels, func(l Level) bool { return l.Unit == d.Unit }) && !p.Repetitions.Bare {
			levels = slices.Insert(levels, min(i, len(levels)), d)
		}
	}
	p.Repetitions = Repetitions{Levels: levels}
	v, err := canon.From(p)
	if err != nil {
		return canon.Value{}, fault.Wrap(err, fault.Invalid, "record precision", "precision is not a document")
	}
	return v, nil
}

// plannedSeconds is the least time that one case takes by its own settings: 0
// when they name no time.
func (p Precision) plannedSeconds() float64 {
	seconds := 0.0
	if c := p.Calibration; c != nil && c.Mode == Adaptive {
		seconds = c.MinimumSampleSeconds * float64(p.Repetitions.Total())
	}
	if w := p.Warmup; w != nil && w.Mode == Time {
		seconds += w.Seconds
	}
	return seconds
}
