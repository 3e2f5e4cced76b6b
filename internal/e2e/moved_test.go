package e2e

import (
	"strings"
	"testing"

	"writ/internal/docket"
	"writ/internal/gitcmd"
	"writ/internal/ledger"
)

// at calls do once, the first time that the host reaches a point.
func (w *world) at(point string, do func()) {
	before, done := w.crash, false
	w.crash = func(p string) {
		before(p)
		if !done && strings.HasPrefix(p, point) {
			done = true
			do()
		}
	}
}

// somebody pushes to main, and returns the commit.
func (w *world) somebody(files ...gitcmd.File) string {
	w.t.Helper()
	id, err := w.sample.push(w.t.Context(), files...)
	if err != nil {
		w.t.Error(err)
	}
	return id
}

func other(name string) gitcmd.File {
	return gitcmd.File{Path: "internal/other/" + name + ".go", Content: []byte("package other\n")}
}

// Points between commits at which others push.
const (
	recorded  = "committed experiment-result execution"
	qualified = "committed complete-qualification"

	admitted = "admitted"
)

// moved goes the way while somebody else pushes three times: before the change is
// submitted, after it was qualified, and between its admission and its push.
// Whatever they push, the change is measured on what it would become part of,
// keeps its age, and lands on top.
func (w *world) moved() (run string) {
	w.t.Helper()
	t := w.t
	var pushed []string
	for _, x := range []struct{ point, name string }{{recorded, "one"}, {qualified, "two"}, {admitted, "three"}} {
		w.at(x.point, func() { pushed = append(pushed, w.somebody(other(x.name))) })
	}
	run = w.admit("fast")
	if end := w.follow(run); end.Type != "run.completed" {
		t.Errorf("ended %s %s %s", end.Type, end.Code, end.Message)
	}
	if len(pushed) != 3 {
		t.Errorf("somebody pushed %d times", len(pushed))
		return run
	}
	r := w.verified(run)
	if r.Landed != w.tip() || r.Outcome != "landed" {
		t.Errorf("the docket says %s %s, main is at %s", r.Outcome, r.Landed, w.tip())
	}
	parents := w.parents(w.tip())
	if len(parents) != 2 || parents[0] != pushed[2] {
		t.Errorf("landed on %v, the last push was %s", parents, pushed[2])
	}
	for _, name := range []string{"one", "two", "three"} {
		if _, err := w.sample.repo.ReadFile(w.t.Context(), mainTree(w), other(name).Path); err != nil {
			t.Errorf("the file of push %s: %v", name, err)
		}
	}
	attempts := attemptsOf(t, w.bundle(run))
	if len(attempts) != 3 {
		t.Errorf("%d attempts to land, not three", len(attempts))
		return run
	}
	for i, want := range []string{"dequeued base-moved", "dequeued base-moved", "merged merged"} {
		if got := attempts[i].status + " " + attempts[i].reason; got != want {
			t.Errorf("attempt %d ended %s, not %s", i, got, want)
		}
		if attempts[i].enqueued != attempts[0].enqueued {
			t.Errorf("attempt %d has the age of %s, the change is of %s", i, attempts[i].enqueued, attempts[0].enqueued)
		}
	}
	if n := len(w.documents(run, ledger.KindVerdict)); n != 4 {
		t.Errorf("%d comparisons: one for the change, and one for each base it was to land on", n)
	}
	return run
}

func mainTree(w *world) string {
	w.t.Helper()
	tree, err := w.sample.repo.TreeOf(w.t.Context(), w.tip())
	if err != nil {
		w.t.Fatal(err)
	}
	return tree
}

func (w *world) parents(commit string) []string {
	w.t.Helper()
	o, err := w.sample.repo.ReadObject(w.t.Context(), commit)
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(o.Raw)) {
		if id, ok := strings.CutPrefix(line, "parent "); ok {
			out = append(out, strings.TrimSpace(id))
		}
	}
	return out
}

// attempt is a candidate of a run as a docket saw it last.
type attempt struct{ id, status, reason, enqueued string }

func attemptsOf(t testing.TB, b *docket.Bundle) []attempt {
	t.Helper()
	var out []attempt
	for _, d := range b.Documents {
		if d.Kind != ledger.KindLandingState {
			continue
		}
		for _, c := range elements(t, d.Body, "candidates") {
			terminal, _ := c.Get("terminal")
			a := attempt{c.Str("candidateId"), c.Str("status"), terminal.Str("reason"), c.Str("enqueuedAt")}
			known := false
			for i := range out {
				if out[i].id == a.id {
					out[i], known = a, true
				}
			}
			if !known {
				out = append(out, a)
			}
		}
	}
	return out
}

// TestAConflict: a change that does not merge any more lands nowhere, whenever
// the conflict comes about.
func TestAConflict(t *testing.T) {
	t.Parallel()
	mine := gitcmd.File{Path: "distinct.go", Content: []byte("package sample\n\n// Distinct is somebody else's.\nfunc Distinct(xs []int) []int { return append([]int{}, xs...) }\n")}
	for name, point := range map[string]string{"before it is submitted": recorded, "after it was qualified": qualified} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			var theirs string
			w.at(point, func() { theirs = w.somebody(mine) })
			run := w.admit("fast")
			end := w.follow(run)
			if end.Type != "run.failed" || end.Code != "base_moved" || !strings.Contains(end.Message, "distinct.go") {
				t.Errorf("ended %s %s: %s", end.Type, end.Code, end.Message)
			}
			if w.tip() != theirs || theirs == "" {
				t.Errorf("main is at %s, somebody left it at %s", w.tip(), theirs)
			}
			if r := w.verified(run); r.Outcome != "base_moved" || r.Landed != "" {
				t.Errorf("the docket says %s %s", r.Outcome, r.Landed)
			}
		})
	}
}
