package runner

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/harness/harnesstest"
	"writ/internal/order"
	"writ/internal/result"
)

const pkg = harnesstest.Package + "/pkg."

func TestRunOfARealBinary(t *testing.T) {
	t.Parallel()
	s := harnesstest.New(t)
	s.Commit(t)
	p := paramsFor(t, build(t, goOrder(s, "", nil)))
	var events []Event
	p.Progress = func(e Event) { events = append(events, e) }
	rep, err := Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	onDisk(t, p.Dir, rep)
	failed := map[string]string{
		"BenchmarkFail": "error harness.error", "BenchmarkMixed/bad": "error harness.error", "BenchmarkStrayText": "error harness.no-output",
		"BenchmarkSkip": "skipped harness.skipped", "BenchmarkFlaky": "partial harness.partial",
	}
	seen := 0
	for key, got := range outcomes(rep.Results) {
		name, quantity, _ := strings.Cut(strings.TrimPrefix(key, pkg), " ")
		want, special := failed[name]
		switch {
		case special:
			seen++
		case name == "BenchmarkMetric" && quantity == "wall-time":
			want = "error harness.no-output"
		case name == "BenchmarkMetric":
			want = "error harness.error"
		default:
			want = "success"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
	if seen != 2*len(failed) || rep.Exit() != fault.ExitFinding {
		t.Errorf("%d special outcomes, exit %d", seen, rep.Exit())
	}
	a := readAccount(t, p.Dir)
	if a.State != "finished" || a.Planned != len(rep.Results) || len(a.Entries) != a.Planned || a.Counts[result.Success] != rep.Counts[result.Success] {
		t.Errorf("account: %s, %d of %d, %v", a.State, len(a.Entries), a.Planned, a.Counts)
	}
	if len(events) != a.Planned || events[0].Stage != CaseStart || events[len(events)-1].Done != a.Planned/2 || events[len(events)-1].Left != 0 {
		t.Errorf("%d events, last %+v", len(events), events[len(events)-1])
	}
}

func TestWhatAResultSays(t *testing.T) {
	t.Parallel()
	s := harnesstest.New(t)
	s.Commit(t)
	slot := 3
	p := paramsFor(t, build(t, goOrder(s, "^BenchmarkSum$", func(p *order.BuildParams) {
		p.Round, p.Seed, p.Run, p.Step, p.Reason = 1, 7, "run_1", "compare", "why not"
		p.EnvironmentVariables = map[string]string{"OMP_NUM_THREADS": "1"}
		p.Target.HowBuilt = canon.StringOf("go test -c")
		p.Precision.Warmup = &order.Warmup{Mode: order.Count, NWarmup: new(int)}
		*p.Precision.Warmup.NWarmup = 2
	})))
	p.Slot = &slot
	p.Runner = result.Runner{Name: "writ", Version: "9"}
	rep, err := Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	onDisk(t, p.Dir, rep)
	r := rep.Results[0]
	head, tree := s.Git(t, "rev-parse", "HEAD"), s.Git(t, "rev-parse", "HEAD^{tree}")
	got := map[string]string{
		"ingest":   r.IngestKey,
		"attempt":  r.AttemptKey,
		"revision": r.Revision.Key,
		"tree":     r.Provenance.SubjectTree + " " + r.Provenance.BenchmarkTree,
		"dirty":    r.Provenance.SubjectDirty + " " + r.Provenance.BenchmarkDirty,
		"subject":  r.Coordinates.Subject.Name,
		"native":   r.Provenance.NativeID,
		"unit":     r.Coordinates.Quantity.Unit + " " + r.Coordinates.Quantity.Direction + " " + r.Provenance.OriginalUnit,
		"workload": string(canon.MustFrom(r.Coordinates.Workload).Canonical()),
		"runner":   string(canon.MustFrom(r.Provenance.Runner).Canonical()),
		"labels":   string(canon.MustFrom(r.Provenance.Labels).Canonical()),
		"how":      string(r.Provenance.Info["how_built"].Canonical()),
		"reason":   string(r.Provenance.Info["reason"].Canonical()),
	}
	for name, pointer := range map[string]string{"protocol": "/protocol", "harness": "/harness/name"} {
		v, _ := r.Coordinates.ComparisonContext.At(pointer)
		got[name] = string(v.Canonical())
	}
	env, _ := r.ObservedContext.Get("env")
	got["env"] = env.Str("OMP_NUM_THREADS")
	want := map[string]string{
		"ingest":   `demo:example.org%2Fsample%2Fpkg.BenchmarkSum/%7B%22OMP_NUM_THREADS%22%3A%221%22%7D:wall-time:slot-3`,
		"attempt":  "urn:benchx:attempt:" + rep.Order.Digest().Hex()[:16] + ":0",
		"revision": head, "tree": tree + " " + tree, "dirty": "clean clean", "subject": "sample", "native": pkg + "BenchmarkSum",
		"unit":     "s lower-is-better ns/op",
		"workload": `{"name":"example.org/sample/pkg.BenchmarkSum","parameters":{"OMP_NUM_THREADS":"1"}}`,
		"runner":   `{"name":"writ","version":"9"}`, "labels": `{"run":"run_1","step":"compare"}`, "how": `"go test -c"`, "reason": `"why not"`,
		"protocol": `{"calibration":{"mode":"fixed","n_iterations":50},"gc":"collect-before-repetition","repetitions":{"levels":[{"n":3,"unit":"repetition"}],"mode":"fixed"},"schedule":{"kind":"random","seed":7},"threads":{"GOMAXPROCS":"2"},"timer":"testing.B","warmup":{"mode":"count","n_warmup":2}}`,
		"harness":  `"gobench"`, "env": "1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	pr := r.Procedure
	if *pr.Slot != 3 || *pr.Round != 1 || *pr.TimeoutSeconds != 60 || *pr.AttemptedRepetitions != 3 || *pr.CompletedRepetitions != 3 ||
		*pr.WarmupsPerformed != 2 || *pr.InnerIterations != 50 || *pr.DurationSeconds <= 0 {
		t.Errorf("procedure: %+v", pr)
	}
	if len(r.Measurement.Observations) != 3 || r.Target() == "" {
		t.Errorf("observations %v, target %q", r.Measurement.Observations, r.Target())
	}
	if boot := r.Coordinates.Environment.Condition[result.BootID]; boot.Status != result.SeenOK {
		t.Errorf("boot: %+v", boot)
	}
	if v, _ := r.Coordinates.Environment.System.At("/kernel.release/status"); string(v.Canonical()) != `"observed"` {
		t.Errorf("system: %s", r.Coordinates.Environment.System.Canonical())
	}
	kinds := []string{}
	for _, a := range r.Provenance.Artifacts {
		kinds = append(kinds, a.Kind)
	}
	if diff := cmp.Diff([]string{"work-order", "target", "native-output", "stdout", "stderr"}, kinds); diff != "" {
		t.Errorf("artifacts (-want +got):\n%s", diff)
	}
	if other := rep.Results[1]; other.AttemptKey != r.AttemptKey || !result.SameAttempt(&other, &r) || other.Coordinates.Quantity.Name != "allocations" {
		t.Error("two quantities of one process do not belong together")
	}
}

func TestACheckoutThatIsNotCommittedIsDirty(t *testing.T) {
	t.Parallel()
	s := harnesstest.New(t)
	s.Commit(t)
	if err := os.WriteFile(filepath.Join(s.Dir, "new.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	rep, err := Run(t.Context(), paramsFor(t, build(t, goOrder(s, "^BenchmarkSum$", nil))))
	if err != nil {
		t.Fatal(err)
	}
	if r := rep.Results[0]; r.Provenance.SubjectDirty != result.Dirty || r.Provenance.SubjectTree == s.Git(t, "rev-parse", "HEAD^{tree}") {
		t.Errorf("%s %s", r.Provenance.SubjectDirty, r.Provenance.SubjectTree)
	}
}

func TestProgramsThatMisbehave(t *testing.T) {
	t.Parallel()
	s := harnesstest.New(t)
	s.Commit(t)
	for mode, want := range map[string]struct {
		outcome, message string
		warning          string
	}{
		"exit":     {"error harness.error", "ended with status 0 and no result", ""},
		"sleep":    {"error timeout", "", "harness-exit-status"},
		"children": {"success", "", "stray-processes"},
	} {
		o := build(t, goOrder(s, "", func(p *order.BuildParams) {
			p.Plan = plan(pkg + "BenchmarkBehave")
			p.EnvironmentVariables = map[string]string{"SAMPLE_MODE": mode}
			p.Timeouts = order.Timeouts{CaseS: 2, OrderS: 60}
		}))
		rep, err := Run(t.Context(), paramsFor(t, o))
		if err != nil {
			t.Fatalf("%s: %v", mode, err)
		}
		r := rep.Results[0]
		got, text := outcomes(rep.Results)[pkg+"BenchmarkBehave wall-time"], ""
		if v, ok := r.Provenance.Info[result.InfoMessage]; ok {
			text, _ = v.String()
		}
		if got != want.outcome || text != want.message {
			t.Errorf("%s: %s (%s), want %s (%s)", mode, got, text, want.outcome, want.message)
		}
		if want.warning != "" && (r.Quality == nil || !slices.Contains(r.Quality.Warnings, want.warning)) {
			t.Errorf("%s: quality %+v lacks %s", mode, r.Quality, want.warning)
		}
		if *r.Procedure.TimeoutSeconds != 2 {
			t.Errorf("%s: limit %v", mode, *r.Procedure.TimeoutSeconds)
		}
	}
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, l := range links {
		if exe, err := os.Readlink(l); err == nil && strings.HasPrefix(exe, s.Build) {
			t.Errorf("%s still runs", l)
		}
	}
}

func TestEveryEntryGetsExactlyOneResult(t *testing.T) {
	t.Parallel()
	p := scriptOrder(t, func(p *order.BuildParams) {
		p.Quantities = []string{"wall-time", "cpu-time"}
		p.Plan = []order.Entry{
			{ID: "a", Case: "echo s", Quantity: "wall-time"},
			{ID: "b", Case: "true", Quantity: "wall-time"},
			{ID: "c", Case: "echo s", Quantity: "cpu-time"},
			{ID: "d", Case: "echo ''; true", Quantity: "wall-time"}, // a unit that no document can have
		}
	})
	params := paramsFor(t, build(t, p))
	rep, err := Run(t.Context(), params)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"echo s wall-time": "success", "echo s cpu-time": "success", "true wall-time": "error harness.no-output",
		"echo ''; true wall-time": "error adapter.mapping-failed",
	}
	if diff := cmp.Diff(want, outcomes(rep.Results)); diff != "" || len(rep.Results) != 4 {
		t.Errorf("%d results (-want +got):\n%s", len(rep.Results), diff)
	}
	a := map[string]int{}
	for _, r := range rep.Results {
		a[r.AttemptKey]++
	}
	if len(a) != 3 {
		t.Errorf("%d processes for 3 cases", len(a))
	}
	if w := rep.Results[0].Coordinates.Workload.Name; strings.ContainsAny(w, " ") {
		t.Errorf("workload %q is no token", w)
	}
}

func TestTimeLimits(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		timeouts order.Timeouts
		want     string
	}{
		"of a case":    {order.Timeouts{CaseS: 1, OrderS: 3600}, "error timeout"},
		"of the order": {order.Timeouts{CaseS: 1, OrderS: 1}, "error timeout-order"},
	} {
		p := paramsFor(t, build(t, scriptOrder(t, func(p *order.BuildParams) {
			p.Plan, p.Timeouts = plan("sleep 3600"), tc.timeouts
		})))
		rep, err := Run(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if got := outcomes(rep.Results)["sleep 3600 wall-time"]; got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

// TestAPanicIsNeverAMeasurement: Go itself loses some panics, see the harness; no
// quantity may be taken from what is left.
func TestAPanicIsNeverAMeasurement(t *testing.T) {
	t.Parallel()
	s := harnesstest.New(t)
	s.Commit(t)
	for range 10 {
		rep, err := Run(t.Context(), paramsFor(t, build(t, goOrder(s, "", func(p *order.BuildParams) {
			p.Precision.Repetitions = order.Times(1)
			p.EnvironmentVariables = map[string]string{"SAMPLE_MODE": "panic"}
			p.Plan = append(plan(pkg+"BenchmarkBehave"), order.Entry{ID: "q", Case: pkg + "BenchmarkBehave", Quantity: "allocations"})
		}))))
		if err != nil {
			t.Fatal(err)
		}
		if rep.Counts[result.Failed] != 2 {
			t.Errorf("got %v", outcomes(rep.Results))
		}
	}
}

// slow is a harness that makes time pass when it reads.
type slow struct {
	scripts
	pass func()
}

func (s slow) Read(su harness.Suite, name string, p order.Precision, quantities []string, out harness.Output) harness.Reading {
	s.pass()
	return s.scripts.Read(su, name, p, quantities, out)
}

func TestEntriesThatTheOrderHasNoTimeForAreResults(t *testing.T) {
	t.Parallel()
	var passed atomic.Int64
	p := paramsFor(t, build(t, scriptOrder(t, func(p *order.BuildParams) { p.Plan = plan("echo s", "echo s; touch started", "echo s; true") })))
	p.Now = func() time.Time { return time.Now().Add(time.Duration(passed.Load())) }
	p.Harnesses = harness.Set{slow{pass: func() { passed.Store(int64(time.Hour)) }}}
	rep, err := Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	onDisk(t, p.Dir, rep)
	want := map[string]string{"echo s wall-time": "success", "echo s; touch started wall-time": "error timeout-order", "echo s; true wall-time": "error timeout-order"}
	if diff := cmp.Diff(want, outcomes(rep.Results)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(p.Order.Target.Path, "started")); err == nil {
		t.Error("a case was started after the order's time")
	}
	if !result.SameMachine(&rep.Results[0], &rep.Results[2]) {
		t.Error("a case that did not run is of another machine")
	}
}

func TestATargetThatChangesIsAnotherTarget(t *testing.T) {
	t.Parallel()
	p := paramsFor(t, build(t, scriptOrder(t, func(p *order.BuildParams) {
		p.Plan = plan("echo s", `echo s; echo more >>"$SUITE"`, "echo s; true", `rm "$SUITE"; echo s`)
	})))
	rep, err := Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	got := outcomes(rep.Results)
	if got["echo s; true wall-time"] != "error target-unavailable" || got["echo s wall-time"] != "success" {
		t.Errorf("got %v", got)
	}
}

func TestStoppingARun(t *testing.T) {
	t.Parallel()
	p := paramsFor(t, build(t, scriptOrder(t, func(p *order.BuildParams) { p.Plan = plan("echo s", "sleep 3600", "echo s; true") })))
	ctx, cancel := context.WithCancel(t.Context())
	p.Progress = func(e Event) {
		if e.Stage == CaseStart && e.Index == 1 {
			cancel()
		}
	}
	rep, err := Run(ctx, p)
	if fault.CodeOf(err) != fault.Cancelled || len(rep.Results) != 1 {
		t.Errorf("%d results, %v", len(rep.Results), err)
	}
	a := readAccount(t, p.Dir)
	if a.State != "interrupted" || a.Planned != 3 || len(a.Entries) != 1 || a.EndedAt == "" {
		t.Errorf("account: %+v", a)
	}
}

func TestNothingIsWrittenOver(t *testing.T) {
	t.Parallel()
	p := paramsFor(t, build(t, scriptOrder(t, func(p *order.BuildParams) { p.Plan = plan("echo s") })))
	if _, err := Run(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), p); fault.CodeOf(err) != fault.Refused {
		t.Errorf("the same order again: %v", err)
	}
	slot := 1
	p.Slot = &slot
	if _, err := Run(t.Context(), p); err != nil {
		t.Errorf("in another slot: %v", err)
	}
}

// TestSeveralSuites plans cases of two packages that have benchmarks of one name,
// and one of a package that is not there.
func TestSeveralSuites(t *testing.T) {
	t.Parallel()
	s := harnesstest.New(t)
	s.Commit(t)
	other := filepath.Join(s.Dir, "other")
	if err := os.CopyFS(other, os.DirFS(filepath.Join(s.Dir, "pkg"))); err != nil {
		t.Fatal(err)
	}
	harnesstest.BuildPackage(t, s.Dir, "./other", filepath.Join(s.Build, "other.test"))
	lost := harnesstest.Package + "/lost.BenchmarkSum"
	p := paramsFor(t, build(t, goOrder(s, "", func(p *order.BuildParams) {
		p.Suites = append(p.Suites, order.Suite{Adapter: p.Suites[0].Adapter, Suite: "other.test", Parameters: p.Suites[0].Parameters})
		p.Quantities = []string{"wall-time"}
		p.Plan = plan(pkg+"BenchmarkSum", harnesstest.Package+"/other.BenchmarkSum", lost)
	})))
	rep, err := Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	onDisk(t, p.Dir, rep)
	want := map[string]string{pkg + "BenchmarkSum wall-time": "success", harnesstest.Package + "/other.BenchmarkSum wall-time": "success", lost + " wall-time": "error harness.no-output"}
	if diff := cmp.Diff(want, outcomes(rep.Results)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if a, b := rep.Results[0].Target(), rep.Results[1].Target(); a == b || rep.Results[2].Target() != "" {
		t.Errorf("targets %s and %s", a, b)
	}
	p.Order = build(t, goOrder(s, "", func(p *order.BuildParams) {
		p.Suites = append(p.Suites, order.Suite{Adapter: p.Suites[0].Adapter, Suite: "other.test"})
		p.Quantities, p.Plan = []string{"wall-time"}, plan(lost)
	}))
	if _, err := Run(t.Context(), p); fault.CodeOf(err) != fault.Refused {
		t.Errorf("nothing but lost cases: %v", err)
	}
}

func TestPlanRunsNothing(t *testing.T) {
	t.Parallel()
	p := paramsFor(t, build(t, scriptOrder(t, nil, "echo s; touch ran", "true")))
	o, err := Plan(t.Context(), p)
	if err != nil || o.State != order.Resolved || len(o.Plan) != 2 || o.Plan[0].Case != "echo s; touch ran" {
		t.Errorf("got %+v %v", o.Plan, err)
	}
	if again, err := Plan(t.Context(), Params{Order: o, Harnesses: p.Harnesses}); err != nil || again.Ref() != o.Ref() {
		t.Errorf("a resolved order changes: %v", err)
	}
	for _, path := range []string{p.Dir, filepath.Join(o.Target.Path, "ran")} {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s was made", path)
		}
	}
}
