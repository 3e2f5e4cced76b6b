package taskpack

import "slices"

// When a person is asked.
const (
	EachStep     = "each-step"
	EachMutation = "each-mutation"
)

// The orders of the narrowing algebra, strictest first. They are written out:
// no order ever comes from the position of a constant.
var (
	modes    = []string{EachStep, EachMutation}
	networks = []string{NetworkNone, NetworkIsolated}
)

// looser reports whether a lets through more than b. A word that is not in the
// order counts as looser than all of them.
func looser(order []string, a, b string) bool { return rank(order, a) > rank(order, b) }

func rank(order []string, s string) int {
	if i := slices.Index(order, s); i >= 0 {
		return i
	}
	return len(order)
}

// meet returns the strictest of some words; "" stands for no opinion. With no
// opinion at all the strictest word of the order holds.
func meet(order []string, words ...string) string {
	best := ""
	for _, w := range words {
		if w != "" && (best == "" || looser(order, best, w)) {
			best = w
		}
	}
	if best == "" || rank(order, best) == len(order) {
		return order[0]
	}
	return best
}

// MeetHIL is the mode in which people are asked: the strictest of what profile,
// binding and host say. "" says nothing.
func MeetHIL(layers ...string) string { return meet(modes, layers...) }

// NeedsAnswer says whether a step of the class needs a human answer under the
// mode. Mutations always do.
func NeedsAnswer(mode, class string) bool { return mode != EachMutation || class != Observation }

// Limits bound a deliberation. Zero means not stated.
type Limits struct {
	Passages, Experiments, Cycles    int64
	SolverPassages, ReviewerPassages int64
	WallTimeMS                       int64
}

// within reports the first member of l that is over the ceiling, or "".
func (l Limits) within(ceiling Limits) string {
	for _, x := range []struct {
		name      string
		got, most int64
	}{
		{"max/passages", l.Passages, ceiling.Passages},
		{"max/experiments", l.Experiments, ceiling.Experiments},
		{"max/cycles", l.Cycles, ceiling.Cycles},
		{"max/solver-passages", l.SolverPassages, ceiling.SolverPassages},
		{"max/reviewer-passages", l.ReviewerPassages, ceiling.ReviewerPassages},
		{"max/wall-time-ms", l.WallTimeMS, ceiling.WallTimeMS},
	} {
		if x.got > 0 && x.most > 0 && x.got > x.most {
			return x.name
		}
	}
	return ""
}

// CheckBinding says whether a binding stays inside its profile: it is for this
// very profile, enabled, and nowhere looser than the portable ceiling. A looser
// value is refused, never clamped.
func CheckBinding(p Profile, b Binding) error {
	switch {
	case b.Profile.Ref != p.Ref:
		return refuse(BindingMissing, "binding %s is for %s, not %s", b.Ref, b.Profile.Ref, p.Ref)
	case b.Profile.Digest != p.Digest():
		return refuse(ProfileDigestMismatch, "binding %s pins %s, the profile is %s", b.Ref, b.Profile.Digest, p.Digest())
	case b.Paused:
		return refuse(BindingPaused, "binding %s is paused", b.Ref)
	case looser(modes, b.HIL, p.HIL):
		return refuse(BindingOutside, "asking %s is looser than the profile's %s", b.HIL, p.HIL)
	case looser(networks, b.Network, p.Network):
		return refuse(BindingOutside, "network %s is looser than the profile's %s", b.Network, p.Network)
	case b.Image == "":
		return refuse(BindingIncomplete, "binding %s picks no image variant", b.Ref)
	case !slices.ContainsFunc(p.Images, func(i Image) bool { return i.Variant == b.Image }):
		return refuse(BindingOutside, "image variant %s is not one of the profile's", b.Image)
	}
	if name := b.Limits.within(p.Limits.stated()); name != "" {
		return refuse(BindingOutside, "%s is above the profile's", name)
	}
	return nil
}

// stated fills in what a profile leaves out: role counters equal the passages,
// cycles equal the solver's passages.
func (l Limits) stated() Limits {
	if l.SolverPassages == 0 {
		l.SolverPassages = l.Passages
	}
	if l.ReviewerPassages == 0 {
		l.ReviewerPassages = l.Passages
	}
	if l.Cycles == 0 {
		l.Cycles = l.SolverPassages
	}
	return l
}
