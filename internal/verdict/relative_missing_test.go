package verdict

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPairedRelativeLostCase: what the contender has lost is missing, once, and the
// other case is judged none the less.
func TestPairedRelativeLostCase(t *testing.T) {
	t.Parallel()
	three := []float64{1, 2, 3}
	r := alternating(t, "BM_Quiet", three, times(1.1, three...))
	for round := range three {
		d := document(t, baseline, round, "BM_Noisy", "wall-time", 2)
		slot := 2 * round
		d.Procedure.Slot = &slot
		r.results = append(r.results, d)
	}
	want := outline{Words: []string{Regressed}, Rounds: []int64{3}, Missing: []string{"BM_Noisy contender"}}
	if diff := cmp.Diff(want, outlineOf(relatively(t, r))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
