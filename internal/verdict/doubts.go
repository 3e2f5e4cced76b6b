package verdict

import (
	"fmt"
	"slices"
	"strconv"

	"writ/internal/order"
	"writ/internal/result"
)

// turns say in which order the two sides ran.
type turns struct {
	schedule string // as recorded; "" when nothing says
	fixed    bool   // the same side ran first in every round
	unknown  bool   // nothing says which side ran first
}

// doubts notes everything about the rounds of a row that a reader of its verdict
// should know and that does not change the word.
func (r *Row) doubts(o turns, rounds int, base, cont, d []float64) {
	switch {
	case o.schedule == order.Sequential:
		r.note(orderConfounded, "one side ran before the other: a drift of the machine looks like a change")
	case o.schedule == order.Random:
	case o.fixed:
		r.note("order-fixed", "the same side always ran first: its advantage is not cancelled")
	case o.unknown:
		r.note("order-unknown", "nothing says which side of a round ran first")
	}
	if r.Dropped > 0 {
		r.note(reasonDropped, "%d of %d rounds lack a side", r.Dropped, rounds)
	}
	if p, ok := drifts(d); ok {
		r.note("drift", "the difference moves with the round, p = %s", short(p))
	}
	wild := max(wildShare(base), wildShare(cont))
	if wild > 0.2 {
		r.note("outliers", "%s %% of a side's rounds are far from the others", short(100*wild))
	}
	if n := min(distinct(base), distinct(cont)); n < 5 && len(base) >= 5 && r.Measure == Ratio {
		r.note("resolution-limited", "a side shows %d different values only", n)
	}
}

// looked notes that the number of rounds was not fixed: by which rule they ended,
// and which look at them this is.
func (j *judgement) looked(row *Row, u *unit) {
	labels := u.got[baseline][0].Provenance.Labels
	if labels[LabelStopping] == StopPrecise {
		row.note("stopped-when-precise", "the number of rounds followed from their spread, by a rule settled before the first")
	}
	if s, err := ParseStages(labels[LabelStages]); err == nil {
		row.note("two-looks", "look %d of rounds %s, settled before the first; alpha is divided over both", s.Look(j.set.rounds), s)
	}
}

func (r *Row) note(code, format string, args ...any) {
	r.Warnings = append(r.Warnings, Note{code, fmt.Sprintf(format, args...)})
}

// fixedOrder reports whether one side has the lower slot in every round.
func fixedOrder(u *unit) bool {
	first := map[int]side{} // round to the side of the lower slot
	slot := map[int]int{}
	for at, got := range u.got {
		for _, r := range got {
			round, s := *r.Procedure.Round, *r.Procedure.Slot
			if known, ok := slot[round]; !ok || s < known {
				slot[round], first[round] = s, side(at)
			}
		}
	}
	var count [2]int
	for _, at := range first {
		count[at]++
	}
	return count[baseline] == 0 || count[contender] == 0
}

// tokens returns the doubts of the producers, and what the checkouts say.
func (u *unit) tokens() []string {
	var out []string
	for _, got := range u.got {
		for _, r := range got {
			if r.Provenance.SubjectDirty != result.Clean {
				out = append(out, "dirty-tree")
			}
			if r.Quality != nil {
				out = append(out, r.Quality.Warnings...)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Conditions that always differ a little, so that a difference says nothing.
var volatile = []string{"load_avg_1m", "google_benchmark"}

// contextDifferences returns the names of observed conditions whose values are
// not the same on both sides.
func (u *unit) contextDifferences() []string {
	seen := map[string]*[2]map[string]bool{}
	for at, got := range u.got {
		for _, r := range got {
			for _, m := range r.ObservedContext.Members() {
				if seen[m.Name] == nil {
					seen[m.Name] = &[2]map[string]bool{{}, {}}
				}
				seen[m.Name][at][string(m.Value.Canonical())] = true
			}
		}
	}
	var out []string
	for name, values := range seen {
		if slices.Contains(volatile, name) {
			continue
		}
		same := len(values[baseline]) == len(values[contender])
		for v := range values[baseline] {
			same = same && values[contender][v]
		}
		if !same {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// short writes a number with three significant digits.
func short(x float64) string { return strconv.FormatFloat(x, 'g', 3, 64) }
