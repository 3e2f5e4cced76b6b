package runner

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/order"
	"writ/internal/result"
)

// half runs an order whose second case waits, and stops it there.
func half(t *testing.T, change func(*order.BuildParams)) (p Params, waits string) {
	t.Helper()
	waits = `touch begun; until test -e go; do sleep 0.05; done; echo s`
	p = paramsFor(t, build(t, scriptOrder(t, func(p *order.BuildParams) {
		p.Plan = plan("echo s", waits, "echo s; true")
		if change != nil {
			change(p)
		}
	})))
	ignore(t, p, "go", "begun")
	stop(t, p)
	return p, waits
}

// stop runs an order until its second case waits, and then no further.
func stop(t *testing.T, p Params) {
	t.Helper()
	begun := filepath.Join(p.Order.Target.Path, "begun")
	ctx, cancel := context.WithCancel(t.Context())
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		defer cancel()
		look := time.NewTicker(5 * time.Millisecond)
		defer look.Stop()
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); <-look.C {
			if err := os.Remove(begun); err == nil {
				return
			}
		}
	}()
	if _, err := Run(ctx, p); fault.CodeOf(err) != fault.Cancelled {
		t.Fatalf("not stopped: %v", err)
	}
	<-watching
}

// letGo lets the case of half end.
func letGo(t *testing.T, p Params) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(p.Order.Target.Path, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestResume(t *testing.T) {
	t.Parallel()
	p, waits := half(t, func(p *order.BuildParams) { p.Round = 4 })
	before := resultFiles(t, p.Dir)
	letGo(t, p)
	var events []Event
	p.Progress = func(e Event) { events = append(events, e) }
	rep, err := Resume(t.Context(), Params{Dir: p.Dir, Harnesses: p.Harnesses, Progress: p.Progress})
	if err != nil {
		t.Fatal(err)
	}
	onDisk(t, p.Dir, rep)
	want := map[string]string{"echo s wall-time": "success", waits + " wall-time": "success", "echo s; true wall-time": "success"}
	if diff := cmp.Diff(want, outcomes(rep.Results)); diff != "" || rep.Exit() != fault.ExitOK {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, text := range before {
		if now := resultFiles(t, p.Dir)[name]; now != text {
			t.Errorf("%s was written over", name)
		}
	}
	if len(events) != 4 || events[0].Case != waits || events[3].Total != 2 {
		t.Errorf("%d events: the finished case ran again", len(events))
	}
	for i, r := range rep.Results {
		from, _ := r.Procedure.Extra[result.StepInterrupted].String()
		to, _ := r.Procedure.Extra[result.StepResumed].String()
		round, _ := r.Procedure.Extra["interrupted_at_round"].Int()
		switch {
		case i == 0 && from != "":
			t.Errorf("what was measured before the gap says that it came after it")
		case i > 0 && (from == "" || to == "" || from > to || round != 4 || r.Provenance.StartedAt < to || rep.Results[0].Provenance.EndedAt > from):
			t.Errorf("entry %d: %s to %s, round %d; measured %s", i, from, to, round, r.Provenance.StartedAt)
		}
	}
	if a, b := rep.Results[1].AttemptKey, result.AttemptKey(rep.Order.Digest(), 1); a != b+".1" {
		t.Errorf("the case that was cut off has the attempt key %s", a)
	}
	if a, b := rep.Results[2].AttemptKey, result.AttemptKey(rep.Order.Digest(), 2); a != b {
		t.Errorf("the case that was never begun has the attempt key %s", a)
	}
	a := readAccount(t, p.Dir)
	if a.State != stateFinished || len(a.Entries) != 3 || len(a.Gaps) != 1 || a.Counts[result.Success] != 3 {
		t.Errorf("account %+v", a)
	}
	if !result.SameMachine(&rep.Results[0], &rep.Results[2]) {
		t.Error("the machine is another after the gap")
	}
	if _, err := Resume(t.Context(), Params{Dir: p.Dir, Harnesses: p.Harnesses}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("a run that has ended: %v", err)
	}
}

// ignore makes the checkout of an order ignore files, in a way that is no part of it.
func ignore(t *testing.T, p Params, names ...string) {
	t.Helper()
	path := filepath.Join(p.Order.Target.Path, ".git", "info", "exclude")
	if err := os.WriteFile(path, []byte(strings.Join(names, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

func resultFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, path := range files {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out[path] = string(raw)
	}
	return out
}

// edit changes the account of a run.
func edit(t *testing.T, dir string, change func(map[string]any)) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "artifacts", "*", "run.json"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v %v", found, err)
	}
	raw, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	change(v)
	if raw, err = json.Marshal(v); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(found[0], raw, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestResumeAfterDeath: a process that was killed leaves an account that is older
// than its results, and perhaps a half-written file; what is on disk counts.
func TestResumeAfterDeath(t *testing.T) {
	t.Parallel()
	p := paramsFor(t, build(t, scriptOrder(t, func(p *order.BuildParams) {
		p.Quantities = []string{"wall-time", "cpu-time"}
		p.Plan = append(plan("echo s", "echo s; true"), order.Entry{ID: "q", Case: "echo s; true", Quantity: "cpu-time"})
	})))
	whole, err := Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	// Killed between the two results of the second case, and long after the account was saved.
	edit(t, p.Dir, func(a map[string]any) {
		a["state"], a["entries"], a["counts"] = stateRunning, []any{}, map[string]any{}
		delete(a, "ended_at")
	})
	lost := whole.Files[2]
	if err := os.Remove(filepath.Join(p.Dir, lost)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.Dir, ".writing-"+lost), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	rep, err := Resume(t.Context(), Params{Dir: p.Dir, Harnesses: p.Harnesses})
	if err != nil {
		t.Fatal(err)
	}
	onDisk(t, p.Dir, rep)
	if a := readAccount(t, p.Dir); len(a.Entries) != 3 || a.State != stateFinished || len(a.Gaps) != 1 || a.StartedAt > a.Gaps[0].From {
		t.Errorf("account %+v", a)
	}
	if rep.Results[1].Digest() != whole.Results[1].Digest() || rep.Results[2].AttemptKey == rep.Results[1].AttemptKey {
		t.Errorf("two processes under one attempt key: %s", rep.Results[2].AttemptKey)
	}
	if _, err := os.Stat(filepath.Join(p.Dir, "artifacts", rep.Order.Digest().Hex()[:12], "0001-1.stdout")); err != nil {
		t.Errorf("the output of the second attempt: %v", err)
	}
}

func TestWhatCannotBeResumed(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		spoil func(t *testing.T, p Params)
		want  fault.Code
		says  string
	}{
		"another boot": {func(t *testing.T, p Params) {
			edit(t, p.Dir, func(a map[string]any) { a["same"].(map[string]any)["boot_id"] = "other" })
		}, fault.Refused, "started again"},
		"another program": {func(t *testing.T, p Params) {
			put(t, p.Order.Target.Path, map[string]string{"suite": "rebuilt"})
			runIn(t, p.Order.Target.Path, "git", "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-a", "-m", "rebuilt")
		}, fault.Refused, "have changed"},
		"another environment": {func(t *testing.T, p Params) {
			edit(t, p.Dir, func(a map[string]any) { a["same"].(map[string]any)["environment_sha256"] = "other" })
		}, fault.Refused, "other settings"},
		"programs built anew": {func(t *testing.T, p Params) {
			edit(t, p.Dir, func(a map[string]any) { a["same"].(map[string]any)["targets"] = []string{"other"} })
		}, fault.Refused, "built anew"},
		"no account": {func(t *testing.T, p Params) {
			if err := os.RemoveAll(filepath.Join(p.Dir, "artifacts")); err != nil {
				t.Fatal(err)
			}
		}, fault.NotFound, "no run has begun"},
		"no order": {func(t *testing.T, p Params) {
			if err := os.Remove(filepath.Join(p.Dir, p.Order.FileName())); err != nil {
				t.Fatal(err)
			}
		}, fault.Corrupt, "order of the run is gone"},
		"another order": {func(t *testing.T, p Params) {
			put(t, p.Dir, map[string]string{p.Order.FileName(): string(p.Order.Value().With("reason", canon.StringOf("changed")).Canonical())})
		}, fault.Corrupt, "is not the order of the run"},
		"a foreign result": {func(t *testing.T, p Params) {
			for path := range resultFiles(t, p.Dir) {
				if !strings.Contains(path, "workorder-") {
					put(t, "/", map[string]string{path: "{}"})
				}
			}
		}, fault.Corrupt, "is no result of entry p0"},
		"an account of something else": {func(t *testing.T, p Params) {
			edit(t, p.Dir, func(a map[string]any) { a["schema"] = "x" })
		}, fault.Corrupt, "is no account"},
	} {
		p, _ := half(t, nil)
		tc.spoil(t, p)
		_, err := Resume(t.Context(), Params{Dir: p.Dir, Harnesses: p.Harnesses})
		if fault.CodeOf(err) != tc.want || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestALiveRunIsNotResumed: the folder is taken as long as the run lives.
func TestALiveRunIsNotResumed(t *testing.T) {
	t.Parallel()
	var once bool
	p := paramsFor(t, build(t, scriptOrder(t, func(p *order.BuildParams) { p.Plan = plan("echo s", "echo s; true") })))
	p.Progress = func(e Event) {
		if once {
			return
		}
		once = true
		if _, err := Resume(t.Context(), Params{Dir: p.Dir, Harnesses: p.Harnesses}); fault.CodeOf(err) != fault.Held {
			t.Errorf("a run that is alive: %v", err)
		}
	}
	if _, err := Run(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if !once {
		t.Error("nothing was tried")
	}
}

func TestResumingOneOfSeveral(t *testing.T) {
	t.Parallel()
	p, _ := half(t, nil)
	zero, one := 0, 1
	for _, slot := range []*int{&zero, &one} {
		q := p
		q.Slot = slot
		stop(t, q)
	}
	letGo(t, p)
	_, err := Resume(t.Context(), Params{Dir: p.Dir, Harnesses: p.Harnesses})
	if e, _ := fault.As(err); fault.CodeOf(err) != fault.Usage || !strings.Contains(e.Hint, "0, 1") {
		t.Errorf("three runs: %v", err)
	}
	rep, err := Resume(t.Context(), Params{Dir: p.Dir, Harnesses: p.Harnesses, Slot: &one})
	if err != nil || slices.ContainsFunc(rep.Results, func(r result.Result) bool { return r.Procedure.Slot == nil || *r.Procedure.Slot != 1 }) {
		t.Errorf("slot 1: %v", err)
	}
}

// TestTheTimeBeforeTheGapCounts: an order does not get its time twice.
func TestTheTimeBeforeTheGapCounts(t *testing.T) {
	t.Parallel()
	p, waits := half(t, nil)
	edit(t, p.Dir, func(a map[string]any) { a["started_at"] = "2001-01-01T00:00:00Z" })
	rep, err := Resume(t.Context(), Params{Dir: p.Dir, Harnesses: harness.Set{scripts{}}})
	if err != nil {
		t.Fatal(err)
	}
	if got := outcomes(rep.Results)[waits+" wall-time"]; got != "error timeout-order" {
		t.Errorf("got %s", got)
	}
}
