package verdict

import (
	"time"

	"writ/internal/result"
)

// reasonGap is why two results of one round are no pair.
const reasonGap = "interrupted"

// gaps are the times, by round, in which an order of that round was not being
// measured: it was interrupted, and resumed later. The two results of a pair are
// close in time by design; a pair across a gap is not.
type gaps map[int][]span

type span struct{ from, to time.Time }

// findGaps reads the gaps that results say they came after.
func findGaps(results []*result.Result) gaps {
	var out gaps
	for _, r := range results {
		if r.Procedure.Round == nil || len(r.Procedure.Extra) == 0 {
			continue
		}
		from, _ := r.Procedure.Extra[result.StepInterrupted].String()
		to, _ := r.Procedure.Extra[result.StepResumed].String()
		s := span{instant(from), instant(to)}
		if s.from.IsZero() || s.to.IsZero() {
			continue
		}
		if out == nil {
			out = gaps{}
		}
		out[*r.Procedure.Round] = append(out[*r.Procedure.Round], s)
	}
	return out
}

// between reports whether a gap of a round lies between two results of it.
func (g gaps) between(round int, a, b *result.Result) bool {
	for _, s := range g[round] {
		if s.before(a) && s.after(b) || s.before(b) && s.after(a) {
			return true
		}
	}
	return false
}

// before reports whether a result was measured before the gap.
func (s span) before(r *result.Result) bool {
	end := instant(r.Provenance.EndedAt)
	if end.IsZero() {
		end = instant(r.Provenance.StartedAt)
	}
	return !end.After(s.from)
}

// after reports whether a result was measured after the gap.
func (s span) after(r *result.Result) bool { return !instant(r.Provenance.StartedAt).Before(s.to) }

// instant reads a time of a document; zero when it is none.
func instant(text string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}
	}
	return t
}
