package e2e

import (
	"testing"

	"writ/internal/docket"
)

// TestAChangeLands goes the whole way once, and nothing goes wrong.
func TestAChangeLands(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.admit("fast")
	end := w.follow(run)
	if end.Type != "run.completed" || end.LandedCommit != w.tip() || end.LandedCommit == w.sample.head {
		t.Errorf("ended %s %s %s; main is at %s", end.Type, end.Code, end.Message, w.tip())
	}
	r := w.verified(run)
	if r.Outcome != "landed" || r.Landed != w.tip() || r.Documents == 0 {
		t.Errorf("the docket says %s %s, %d documents", r.Outcome, r.Landed, r.Documents)
	}
	if docket.Verify(w.bundle(run), nil).Answer != docket.Consistent {
		t.Error("without pins a docket is consistent and no more")
	}
}
