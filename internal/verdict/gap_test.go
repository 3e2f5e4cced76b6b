package verdict

import (
	"testing"

	"writ/internal/canon"
	"writ/internal/result"
)

// TestPairsAcrossAGap: one order of round 2 was interrupted after its first case.
// The other side of that round was measured before the gap, or after it; each case
// is paired only with what was measured on its own side of the gap.
func TestPairsAcrossAGap(t *testing.T) {
	t.Parallel()
	const before, gone, back, after = "2026-01-02T03:00:00Z", "2026-01-02T03:00:01Z", "2026-01-02T09:00:00.5Z", "2026-01-02T09:00:00.75Z"
	flat := func(v float64) []float64 { return []float64{v, v * 1.01, v * 0.99, v, v * 1.01, v, v * 0.99, v, v, v} }
	for name, tc := range map[string]struct {
		other string // when the other side of the round was measured
		first int    // rounds of the case that was measured before the gap
		last  int    // of the case that was measured after it
	}{"before": {before, 10, 9}, "after": {after, 9, 10}} {
		r := newRun(t).add("first", "wall-time", flat(1), flat(1)).add("last", "wall-time", flat(1), flat(1))
		r.each(on(baseline, 2, func(d *result.Document) {
			d.Provenance.StartedAt, d.Provenance.EndedAt = before, before
			if d.Coordinates.Workload.Name == "last" {
				d.Provenance.StartedAt, d.Provenance.EndedAt = after, after
				d.Procedure.Extra = map[string]canon.Value{result.StepInterrupted: canon.StringOf(gone), result.StepResumed: canon.StringOf(back)}
			}
		}))
		r.each(on(contender, 2, func(d *result.Document) { d.Provenance.StartedAt, d.Provenance.EndedAt = tc.other, tc.other }))
		o := judge(t, params(t, r, policy(t, 0.1)))
		for i, want := range []int{tc.first, tc.last} {
			if row := o.Document.Rows[i]; row.N != want || row.Dropped != 10-want {
				t.Errorf("%s: %s has %d rounds, %d dropped, want %d", name, row.Workload, row.N, row.Dropped, want)
			}
		}
		excluded, _ := o.Comparison.Get("exclusions")
		if n := len(excluded.Elems()); n != 2 || excluded.Elems()[0].Str("reason") != "interrupted" {
			t.Errorf("%s: exclusions %s", name, excluded.Canonical())
		}
		units, _ := relatively(t, r.each(func(d *result.Document) {
			slot := 2 * *d.Procedure.Round // in turns: the rule wants that
			if d.Provenance.SubjectTree == headTree {
				slot++
			}
			d.Procedure.Slot = &slot
		})).Get("units")
		if len(units.Elems()) != 2 {
			t.Fatalf("%s: units %s", name, units.Canonical())
		}
		for i, want := range []int{tc.first, tc.last} {
			rounds, _ := units.Elems()[i].Get("rounds")
			if n, _ := rounds.Int(); int(n) != want {
				t.Errorf("%s: %s has %d rounds by the paired-relative rule, want %d", name, units.Elems()[i].Canonical(), n, want)
			}
		}
	}
}

func TestGapsThatSayNothing(t *testing.T) {
	t.Parallel()
	r := newRun(t).add("a", "wall-time", []float64{1, 1}, []float64{1, 1})
	r.each(on(baseline, 0, func(d *result.Document) {
		d.Procedure.Extra = map[string]canon.Value{result.StepInterrupted: canon.StringOf("yesterday"), "other": canon.IntOf(1)}
	}))
	r.each(on(baseline, 1, func(d *result.Document) { d.Procedure.Extra = map[string]canon.Value{"other": canon.IntOf(1)} }))
	built := r.build()
	all := make([]*result.Result, len(built))
	for i := range built {
		all[i] = &built[i]
	}
	if g := findGaps(all); g != nil || g.between(0, all[0], all[1]) {
		t.Errorf("gaps %v", g)
	}
}
