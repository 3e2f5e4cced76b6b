package order

import (
	"slices"

	"writ/internal/canon"
	"writ/internal/fault"
)

// ConfigFile is where a project keeps precision settings that its orders start
// from, below any directory above its files.
const ConfigFile = ".writ/config.json"

// Config is a project's precision settings by adapter. A setting that is left out
// is the adapter's own default.
type Config map[string]Precision

// ParseConfig reads {"adapters": {NAME: {"precision": {…}}}}. Precision is as in
// an order, except that any part of it may be missing. Adapters outside of known
// are refused: their settings would be dropped without a word.
func ParseConfig(raw []byte, known []string) (Config, error) {
	const op = "parse config"
	v, err := canon.Parse(raw)
	if err != nil {
		return nil, err
	}
	type partial struct {
		Repetitions *Repetitions `json:"repetitions"`
		Calibration *Calibration `json:"calibration"`
		Warmup      *Warmup      `json:"warmup"`
	}
	type form struct {
		Adapters map[string]struct {
			Precision partial `json:"precision"`
		} `json:"adapters"`
	}
	var f form
	if err := v.Decode(&f); err != nil {
		return nil, err
	}
	out := Config{}
	for name, a := range f.Adapters {
		at := canon.PointerTo("/adapters", name)
		if !slices.Contains(known, name) {
			return nil, fault.New(fault.Invalid, op, "no adapter %q", name).At(at).Help("this build has %q", known)
		}
		p := Precision{Calibration: a.Precision.Calibration, Warmup: a.Precision.Warmup}
		if r := a.Precision.Repetitions; r != nil {
			p.Repetitions = *r
		}
		if field, rule := p.lacks(); rule != "" {
			return nil, fault.New(fault.Invalid, op, "%s", rule).At(at + "/precision" + field)
		}
		out[name] = p
	}
	return out, nil
}

// lacks says what is wrong with settings that no schema has seen.
func (p Precision) lacks() (field, rule string) {
	for _, l := range p.Repetitions.Levels {
		if l.N < 1 || l.Unit == "" {
			return "/repetitions", "a level needs a unit and a count above 0"
		}
	}
	if c := p.Calibration; c != nil {
		switch {
		case c.Mode == Adaptive && (c.MinimumSampleSeconds <= 0 || c.NIterations != 0):
			return "/calibration", "mode adaptive needs minimum_sample_seconds, and nothing else"
		case c.Mode == Fixed && (c.NIterations < 1 || c.MinimumSampleSeconds != 0):
			return "/calibration", "mode fixed needs n_iterations, and nothing else"
		case c.Mode != Adaptive && c.Mode != Fixed:
			return "/calibration/mode", "mode is adaptive or fixed"
		}
	}
	if w := p.Warmup; w != nil {
		switch {
		case w.Mode == Count && (w.NWarmup == nil || *w.NWarmup < 0 || w.Seconds != 0):
			return "/warmup", "mode count needs n_warmup, and nothing else"
		case w.Mode == Time && (w.Seconds <= 0 || w.NWarmup != nil):
			return "/warmup", "mode time needs seconds, and nothing else"
		case w.Mode == None && (w.NWarmup != nil || w.Seconds != 0):
			return "/warmup", "mode none needs nothing else"
		case w.Mode != Count && w.Mode != Time && w.Mode != None:
			return "/warmup/mode", "mode is none, count or time"
		}
	}
	return "", ""
}

// Over returns base with everything that p sets: levels of repetition one by one,
// by unit, calibration and warm-up as a whole. A bare count replaces all levels.
func (p Precision) Over(base Precision) Precision {
	out := base
	switch {
	case p.Repetitions.Bare:
		out.Repetitions = p.Repetitions
	case len(p.Repetitions.Levels) > 0:
		levels := slices.Clone(base.Repetitions.Levels)
		if base.Repetitions.Bare {
			levels = nil
		}
		for _, l := range p.Repetitions.Levels {
			if i := slices.IndexFunc(levels, func(b Level) bool { return b.Unit == l.Unit }); i >= 0 {
				levels[i] = l
			} else {
				levels = append(levels, l)
			}
		}
		out.Repetitions = Repetitions{Levels: levels}
	}
	if p.Calibration != nil {
		out.Calibration = p.Calibration
	}
	if p.Warmup != nil {
		out.Warmup = p.Warmup
	}
	return out
}
