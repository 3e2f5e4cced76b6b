package runner

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/harness/gobench"
	"writ/internal/harness/harnesstest"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/verdict"
)

func TestFirstIsDrawnFromTheSeed(t *testing.T) {
	t.Parallel()
	if a, b := First(7, 64), First(7, 64); !slices.Equal(a, b) || !slices.Equal(a[:10], First(7, 10)) {
		t.Error("the same seed gives another order, or the number of rounds changes it")
	}
	if slices.Equal(First(7, 64), First(8, 64)) {
		t.Error("two seeds give one order")
	}
	count := 0
	for seed := range int64(100) {
		for _, s := range First(seed, 20) {
			if s == Baseline {
				count++
			}
		}
	}
	if count < 900 || count > 1100 {
		t.Errorf("the baseline goes first %d times of 2000", count)
	}
	want := []Side{Contender, Baseline, Baseline, Baseline, Baseline, Baseline}
	if got := First(1, 6); !slices.Equal(got, want) {
		t.Errorf("seed 1: %v, want %v: recorded schedules could not be checked any more", got, want)
	}
}

func TestChooseCalibration(t *testing.T) {
	t.Parallel()
	adaptive := &order.Calibration{Mode: order.Adaptive, MinimumSampleSeconds: 0.1}
	fixed := func(n int) *order.Calibration { return &order.Calibration{Mode: order.Fixed, NIterations: n} }
	for name, tc := range map[string]struct {
		paces []pace
		want  *order.Calibration
	}{
		"nothing ran":       {nil, adaptive},
		"one case":          {[]pace{{1000, 1e-4}}, fixed(1000)},
		"one very slow":     {[]pace{{1, 5}}, fixed(1)},
		"alike":             {[]pace{{1000, 1e-4}, {2000, 5e-5}}, fixed(2000)},
		"far apart":         {[]pace{{1000, 1e-4}, {1e8, 1e-9}}, adaptive},
		"at the limit":      {[]pace{{1000, 1e-4}, {10000, 1e-5}}, fixed(10000)},
		"just over":         {[]pace{{1000, 1e-4}, {10001, 1e-5}}, adaptive},
		"slow one is first": {[]pace{{1, 5}, {2, 5}}, adaptive},
	} {
		if diff := cmp.Diff(tc.want, choose(tc.paces, adaptive)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// twoSides is the sample at two commits, with the sum made twice as slow in the
// second, each built from its own worktree.
func twoSides(t *testing.T) (base, head order.BuildParams) {
	t.Helper()
	s := harnesstest.New(t)
	s.Commit(t)
	a := goOrder(s, "^BenchmarkSum$|^BenchmarkSize$/^small$", nil)
	tree := filepath.Join(t.TempDir(), "head")
	s.Git(t, "worktree", "add", "-q", "-b", "slower", tree)
	path := filepath.Join(tree, "pkg", "work.go")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	slower := strings.Replace(string(text), "total := 0\n", "total := 0\n\tfor i := range 2 * n {\n\t\ttotal += i & 1\n\t}\n\ttotal -= n\n", 1)
	if err := os.WriteFile(path, []byte(slower), 0o644); err != nil {
		t.Fatal(err)
	}
	b := harnesstest.Build(t, tree)
	b.Git(t, "commit", "-q", "-a", "-m", "slower")
	return a, goOrder(b, a.Suites[0].Filter, nil)
}

// TestSessionUntilTheVerdict runs a comparison and has it judged: the judge checks
// every invariant of the evidence.
func TestSessionUntilTheVerdict(t *testing.T) {
	t.Parallel()
	base, head := twoSides(t)
	for _, p := range []*order.BuildParams{&base, &head} {
		p.Quantities = []string{"wall-time"}
		p.Precision = order.Precision{Repetitions: order.Times(3)}
	}
	const rounds = 8
	var events []Event
	s := Session{
		Params: Params{Dir: filepath.Join(t.TempDir(), "results"), Harnesses: harness.Set{gobench.Adapter{Processors: 2}},
			Progress: func(e Event) { events = append(events, e) }},
		Rounds: rounds, Seed: 1, SampleSeconds: 0.002, OrderFor: OrdersOf(base, head),
	}
	rep, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cases := len(rep.Plan)
	if cases != 2 || len(rep.Orders) != 2*rounds || len(rep.Results) != 2*rounds*cases || len(rep.Files) != len(rep.Results) || rep.Exit() != fault.ExitOK {
		t.Fatalf("%d cases, %d orders, %d results, %v", cases, len(rep.Orders), len(rep.Results), rep.Counts)
	}
	checkInterleaving(t, rep, cases)
	last := events[len(events)-1]
	if last.Done != last.Total || last.Total != 2*rounds*cases+cases || last.Left != 0 || events[0].Stage != Calibrating {
		t.Errorf("progress: %+v ... %+v", events[0], last)
	}
	out, err := verdict.Judge(verdict.Params{
		Results: rep.Results, Policy: verdict.DefaultPolicy(), RunKey: "demo", Rounds: rounds,
		Baseline: baseTree(rep), Planned: verdict.Planned(rep.Orders...),
	})
	if err != nil {
		t.Fatal(err)
	}
	if f, ok := out.Comparison.Get("failed_invariants"); !ok || len(f.Elems()) > 0 {
		t.Errorf("failed invariants: %s", f.Canonical())
	}
	for _, row := range out.Document.Rows {
		if strings.HasSuffix(row.Workload, "BenchmarkSum") && row.Verdict != verdict.Slower {
			t.Errorf("three times the work is %s: %+v", row.Verdict, row)
		}
	}
}

// checkInterleaving: slots count up, sides follow the seed, and the two processes
// of a case run one right after the other.
func checkInterleaving(t *testing.T, rep SessionReport, cases int) {
	t.Helper()
	type process struct{ side, name string }
	var started []string
	byStart := map[string]process{}
	for i, r := range rep.Results {
		slot, round := i/cases, i/(2*cases)
		if *r.Procedure.Slot != slot || *r.Procedure.Round != round || r.WorkOrder() != rep.Orders[slot].Ref() {
			t.Errorf("result %d: slot %d round %d", i, *r.Procedure.Slot, *r.Procedure.Round)
		}
		byStart[r.Provenance.StartedAt] = process{r.Provenance.SubjectTree, r.Provenance.NativeID}
		started = append(started, r.Provenance.StartedAt)
	}
	slices.Sort(started)
	for i := 0; i < len(started); i += 2 {
		a, b := byStart[started[i]], byStart[started[i+1]]
		if a.name != b.name || a.side == b.side {
			t.Errorf("processes %d and %d: %v %v", i, i+1, a, b)
		}
	}
	for round, side := range rep.First {
		lower := rep.Results[round*2*cases]
		isBase := lower.Provenance.SubjectTree == baseTree(rep)
		if isBase != (side == Baseline) {
			t.Errorf("round %d: %s was drawn first", round, side)
		}
	}
}

// baseTree is the tree of the baseline: the side whose orders say so in their id.
func baseTree(rep SessionReport) string {
	for i, o := range rep.Orders {
		if strings.Contains(o.ID, "baseline") {
			return rep.Results[i*len(rep.Results)/len(rep.Orders)].Provenance.SubjectTree
		}
	}
	return ""
}

// scriptSession compares a checkout of scripts with itself.
func scriptSession(t *testing.T, change func(*order.BuildParams), cases ...string) (Session, order.BuildParams) {
	t.Helper()
	p := scriptOrder(t, change, cases...)
	return Session{
		Params: Params{Dir: filepath.Join(t.TempDir(), "results"), Harnesses: harness.Set{scripts{}}},
		Rounds: 3, Seed: 5, OrderFor: OrdersOf(p, p),
	}, p
}

func TestSessionListsOnce(t *testing.T) {
	t.Parallel()
	s, _ := scriptSession(t, nil, "echo s", "true")
	rep, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(rep.Plan) != 2 || len(rep.Results) != 12 || rep.Counts[result.Failed] != 6 || rep.Exit() != fault.ExitFinding {
		t.Errorf("plan %v, %d results, %v", rep.Plan, len(rep.Results), rep.Counts)
	}
	for _, o := range rep.Orders {
		if !slices.Equal(o.Plan, rep.Plan) {
			t.Errorf("order %s has a plan of its own", o.ID)
		}
	}
}

func TestSessionCalibratesOnce(t *testing.T) {
	t.Parallel()
	s, _ := scriptSession(t, nil, "echo s")
	s.SampleSeconds = 0.01
	var turns []Turn
	orders := s.OrderFor
	s.OrderFor = func(turn Turn) (order.Order, error) {
		turns = append(turns, turn)
		return orders(turn)
	}
	rep, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := &order.Calibration{Mode: order.Fixed, NIterations: 1}
	if diff := cmp.Diff(want, rep.Calibration); diff != "" {
		t.Errorf("calibration (-want +got):\n%s", diff)
	}
	for i, turn := range turns[1:] {
		if turn.Slot != i || turn.Round != i/2 || turn.Seed != 5 || turn.Plan == nil || turn.Calibration != rep.Calibration {
			t.Errorf("turn %d: %+v", i, turn)
		}
	}
	for _, r := range rep.Results {
		if v, _ := r.Coordinates.ComparisonContext.At("/protocol/calibration"); string(v.Canonical()) != `{"calibrated_seconds":0.01,"mode":"fixed","n_iterations":1}` {
			t.Errorf("protocol: %s", r.Coordinates.ComparisonContext.Canonical())
		}
	}
}

func TestSessionRefusals(t *testing.T) {
	t.Parallel()
	s, p := scriptSession(t, nil, "echo s")
	other := p
	other.RunKey = "another"
	twisted := func(change func(*Turn, *order.BuildParams)) func(Turn) (order.Order, error) {
		return func(turn Turn) (order.Order, error) {
			q := p
			change(&turn, &q)
			return OrdersOf(q, q)(turn)
		}
	}
	for name, tc := range map[string]struct {
		change func(*Session)
		want   fault.Code
	}{
		"no rounds":     {func(s *Session) { s.Rounds = 0 }, fault.Usage},
		"no orders":     {func(s *Session) { s.OrderFor = nil }, fault.Usage},
		"negative time": {func(s *Session) { s.SampleSeconds = -1 }, fault.Usage},
		"two run keys":  {func(s *Session) { s.OrderFor = OrdersOf(p, other) }, fault.Refused},
		"wrong round":   {func(s *Session) { s.OrderFor = twisted(func(turn *Turn, _ *order.BuildParams) { turn.Round++ }) }, fault.Refused},
		"another plan": {func(s *Session) {
			s.OrderFor = twisted(func(turn *Turn, _ *order.BuildParams) {
				if turn.Plan != nil {
					turn.Plan = plan("true")
				}
			})
		}, fault.Refused},
		"missing suite": {func(s *Session) {
			s.OrderFor = twisted(func(_ *Turn, p *order.BuildParams) { p.Suites = []order.Suite{{Adapter: "scripts", Suite: "none"}} })
		}, fault.Target},
		"callback fails": {func(s *Session) {
			s.OrderFor = func(Turn) (order.Order, error) { return order.Order{}, fault.New(fault.Budget, "", "") }
		}, fault.Budget},
	} {
		x := s
		tc.change(&x)
		rep, err := x.Run(t.Context())
		if fault.CodeOf(err) != tc.want || len(rep.Results) > 0 {
			t.Errorf("%s: got %v, want %s", name, err, tc.want)
		}
		if _, err := os.Stat(x.Dir); err == nil {
			t.Errorf("%s: something was written", name)
		}
	}
}

func TestStoppingASession(t *testing.T) {
	t.Parallel()
	s, _ := scriptSession(t, nil, "echo s", "echo s; true")
	ctx, cancel := context.WithCancel(t.Context())
	s.Progress = func(e Event) {
		if e.Stage == CaseStart && *e.Round == 1 && e.Index == 1 {
			cancel()
		}
	}
	rep, err := s.Run(ctx)
	if fault.CodeOf(err) != fault.Cancelled {
		t.Errorf("got %v", err)
	}
	if len(rep.Results) != 6 || len(rep.Orders) != 4 {
		t.Errorf("%d results of %d orders; want the first round and the first pair of the second", len(rep.Results), len(rep.Orders))
	}
	if again, err := s.Run(t.Context()); fault.CodeOf(err) != fault.Refused {
		t.Errorf("a session over the remains of another: %d results, %v", len(again.Results), err)
	}
}

func TestOrdersOf(t *testing.T) {
	t.Parallel()
	p := scriptOrder(t, nil, "echo s")
	q := p
	q.Labels = map[string]string{"side": "head"}
	make := OrdersOf(p, q)
	o, err := make(Turn{Side: Contender, Round: 2, Slot: 4, Seed: 9, Plan: plan("echo s"), Calibration: &order.Calibration{Mode: order.Fixed, NIterations: 3}})
	if err != nil {
		t.Fatal(err)
	}
	if *o.Round != 2 || *o.Schedule.Seed != 9 || o.Labels["side"] != "head" || o.Precision.Calibration.NIterations != 3 || o.State != order.Resolved {
		t.Errorf("got %+v", o)
	}
	if o, err = make(Turn{Side: Baseline}); err != nil || o.State != order.Draft || o.Precision.Calibration != nil || o.Labels["side"] != "" {
		t.Errorf("got %+v %v", o, err)
	}
	if canon.Equal(o.Value(), canon.Null()) {
		t.Error("the order has no document")
	}
}
