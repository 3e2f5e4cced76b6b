package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"writ/internal/ledger"
	"writ/internal/proposal"
	"writ/internal/taskpack"
	"writ/internal/testkit"
)

// TestAMachineThatCannot: an environment that cannot be made ends the run, after
// a few tries, and the next run goes on when the machine is mended.
func TestAMachineThatCannot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	place := filepath.Join(w.data(), "work")
	if err := os.RemoveAll(place); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(place, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	run := w.admit("fast")
	still := 0
	end := w.until(run, func(e told) bool {
		if strings.HasPrefix(e.Note, "stands still") {
			still++
		}
		return isEnd(e.Type)
	})
	outcome, refusal, _ := w.outcomeOf(run, taskpack.List)
	if end.Type != "run.failed" || outcome != proposal.OutcomeRefused || refusal == "" || still != 1 {
		t.Errorf("ended %s %s %s after %d words; the record says %s %s", end.Type, end.Code, end.Message, still, outcome, refusal)
	}
	w.verified(run)
	if err := os.Remove(place); err != nil {
		t.Fatal(err)
	}
	again := w.admit("fast")
	if end := w.follow(again); end.Type != "run.completed" {
		t.Errorf("the next run ended %s %s %s", end.Type, end.Code, end.Message)
	}
	w.verified(again)
}

// TestARemoteThatIsAway: a remote that does not answer is waited for, the run says
// so, and goes on when it is back.
func TestARemoteThatIsAway(t *testing.T) {
	t.Parallel()
	for name, point := range map[string]string{"before it is submitted": recorded, "before it is pushed": admitted} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			here, away := w.sample.repo.Dir, w.sample.repo.Dir+".away"
			w.at(point, func() {
				if err := os.Rename(here, away); err != nil {
					t.Error(err)
				}
			})
			run := w.admit("fast")
			first := w.watch(run, func(e told) bool {
				if e.Type == "run.approval_requested" {
					if _, err := w.answer(run, e.Ref, true); err != nil {
						t.Fatal(err)
					}
				}
				return strings.HasPrefix(e.Note, "stands still") || isEnd(e.Type)
			})
			if isEnd(first.Type) {
				t.Errorf("ended %s %s %s", first.Type, first.Code, first.Message)
			}
			if err := os.Rename(away, here); err != nil {
				t.Fatal(err)
			}
			if end := w.until(run, func(e told) bool { return isEnd(e.Type) }); end.Type != "run.completed" || end.LandedCommit != w.tip() {
				t.Errorf("ended %s %s %s", end.Type, end.Code, end.Message)
			}
			w.verified(run)
		})
	}
}

// TestARemoteThatRefuses: a remote that takes no push is not asked for ever: the
// fence is moved on, so that the push can never come late, and the run ends.
func TestARemoteThatRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hook := "#!/bin/sh\nwhile read old new ref; do [ $ref != refs/heads/main ] || exit 1; done\n"
	dir := filepath.Join(w.sample.repo.Dir, "hooks")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	testkit.Program(t, filepath.Join(dir, "pre-receive"), []byte(hook))
	run := w.admit("fast")
	end := w.follow(run)
	if end.Type != "run.failed" || end.Code != "forge_failed" || !strings.Contains(end.Message, "pre-receive hook declined") {
		t.Errorf("ended %s %s %s", end.Type, end.Code, end.Message)
	}
	if w.tip() != w.sample.head {
		t.Errorf("main moved to %s", w.tip())
	}
	if r := w.verified(run); r.Outcome != "forge_failed" || r.Landed != "" {
		t.Errorf("the docket says %s %s", r.Outcome, r.Landed)
	}
	if n := len(w.documents(run, ledger.KindReadback)); n != 1 {
		t.Errorf("%d readbacks", n)
	}
}
