package cli

import (
	"os"
	"path/filepath"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"

	"writ/internal/canon"
	"writ/internal/harness/gobench"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/verdict"
)

const (
	baseTree = "1111111111111111111111111111111111111111"
	headTree = "2222222222222222222222222222222222222222"
)

// scenario says what the contender of a comparison is like.
type scenario struct {
	rounds int
	factor float64 // of the contender's time
	status result.Status
	fixed  bool // the baseline runs first in every round
	loose  bool // no rounds, and no orders
	apart  bool // the sides are of two runs
	again  bool // of a second run

	profile verdict.Profile // what the sides have in common; "" is two revisions
}

var scenarios = map[string]scenario{
	"same":   {rounds: 12, factor: 1, status: result.Success},
	"slower": {rounds: 12, factor: 1.3, status: result.Success},
	"faster": {rounds: 12, factor: 0.7, status: result.Success},
	"short":  {rounds: 4, factor: 1.3, status: result.Success},
	"failed": {rounds: 12, factor: 1, status: result.Failed},
	"fixed":  {rounds: 12, factor: 1.3, status: result.Success, fixed: true},
	"loose":  {rounds: 12, factor: 1.3, status: result.Success, loose: true},
	"apart":  {rounds: 12, factor: 1.3, status: result.Success, loose: true, apart: true},
	"again":  {rounds: 12, factor: 1.3, status: result.Success, again: true},

	"environments":  {rounds: 12, factor: 1.3, status: result.Success, profile: verdict.Environments},
	"variants":      {rounds: 12, factor: 1.3, status: result.Success, profile: verdict.Variants},
	"cross-machine": {rounds: 12, factor: 3 * 1.3, status: result.Success, profile: verdict.CrossMachine},
}

// makeResults writes the orders and results of a comparison: results DIR
// SCENARIO [TREE of the contender]
func makeResults(ts *testscript.TestScript, _ bool, args []string) {
	s, ok := scenarios[args[1]]
	if !ok {
		ts.Fatalf("no scenario %q", args[1])
	}
	tree := headTree
	if len(args) > 2 {
		tree = args[2]
	}
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o755))
	s.anchors(ts, dir)
	for round := range s.rounds {
		for slot, side := range []string{"baseline", "contender"} {
			if round%3 == 0 && !s.fixed {
				slot = 1 - slot
			}
			o, r, err := s.attempt(side, tree, round, 2*round+slot)
			ts.Check(err)
			if !s.loose {
				ts.Check(os.WriteFile(filepath.Join(dir, o.FileName()), o.Raw(), 0o644))
			}
			ts.Check(os.WriteFile(filepath.Join(dir, r.FileName()), r.Raw(), 0o644))
		}
	}
}

// attempt is one process of one side.
func (s scenario) attempt(side, tree string, round, slot int) (order.Order, result.Result, error) {
	runKey := "run_x.compare.1"
	if s.apart && side == "contender" {
		runKey = "run_y.compare.1"
	}
	if s.again {
		runKey = "run_x.compare.2"
	}
	value := 1e-3 * (1 + float64((7*round)%11)*1e-4)
	key := "base"
	if side == "contender" {
		key, value = "head", value*s.factor
	} else {
		tree = baseTree
	}
	o, err := order.Build(order.BuildParams{
		RunKey: runKey, Side: side, Round: round, Seed: 7, Requester: order.Requester{Kind: order.Person, Name: "tester"},
		Labels: map[string]string{"side": side}, Project: "sample",
		Suites: []order.Suite{{Adapter: "go-test", Suite: "./..."}}, Quantities: []string{"wall-time"},
		Target:    order.Target{Kind: order.WorkingTree, Path: "/sample", Source: order.Source{URI: "https://example.org/sample", Type: "git"}},
		Precision: order.Precision{Repetitions: order.Times(1)}, Timeouts: order.Timeouts{CaseS: 1, OrderS: 10},
		Plan: []order.Entry{{ID: "p0", Case: "BenchmarkA", Quantity: "wall-time"}},
	})
	if err != nil {
		return o, result.Result{}, err
	}
	m := result.Measurement{Status: s.status}
	if s.status == result.Success {
		m.Observations = result.Values(value, value, value)
	} else {
		m.Reason = result.ReasonHarnessError
	}
	d := result.Document{
		Producer:   result.Producer{Name: "writ/go-test", Version: "1", MappingVersion: "1"},
		AttemptKey: "urn:benchx:attempt:" + key + ":" + strconv.Itoa(round),
		Project:    "sample", Source: result.Source{URI: "https://example.org/sample"}, Revision: result.Revision{Key: key},
		Coordinates: result.Coordinates{
			Workload: result.Workload{Name: order.Token("BenchmarkA")}, Subject: result.Subject{Name: "sample", Components: []result.Component{{Role: result.Primary}}},
			Quantity:          result.Quantity{Name: "wall-time", Unit: "s", Direction: result.LowerIsBetter},
			ComparisonContext: canon.MustFrom(map[string]any{"protocol": map[string]any{"schedule": map[string]any{"kind": "random", "seed": 7}}}),
			Environment:       result.Environment{Schema: "machine/v1", Identity: canon.MustFrom(map[string]string{"runner": "h"})},
		},
		Measurement: m, Procedure: result.Procedure{Round: &round, Slot: &slot},
		Provenance: result.Provenance{
			RunKey: runKey, StartedAt: "2026-01-02T03:04:05Z", SubjectDirty: result.Clean, BenchmarkDirty: result.Clean,
			SubjectTree: tree, BenchmarkTree: tree, Labels: map[string]string{"side": side},
			Info: map[string]canon.Value{result.InfoWorkOrder: canon.StringOf(o.Ref()), result.InfoPlanEntry: canon.StringOf("p0")},
		},
	}
	if s.loose {
		d.IngestKey = result.IngestKey(runKey, d.Coordinates.Workload, "wall-time", &slot)
		d.Procedure, d.Provenance.Info = result.Procedure{}, nil
	}
	s.shape(&d, side)
	r, err := result.New(d)
	return o, r, err
}

// makeOrder writes a draft for the benchmarks of a built test binary:
// order FILE BUILD-DIR SOURCE-DIR [FILTER]
func makeOrder(ts *testscript.TestScript, _ bool, args []string) {
	filter := "^Benchmark(Sum|Twice)$"
	if len(args) > 3 {
		filter = "^" + args[3] + "$"
	}
	o, err := order.Build(order.BuildParams{
		RunKey: "sum", Side: "baseline", Project: "sum", Requester: order.Requester{Kind: order.Person, Name: "tester"},
		Suites:     []order.Suite{{Adapter: gobench.Name, Suite: "sum.test", Filter: filter}},
		Quantities: []string{"wall-time"},
		Target: order.Target{
			Kind: order.BuildTree, Path: ts.MkAbs(args[1]), SourceDir: ts.MkAbs(args[2]), Source: order.Source{URI: "https://example.org/sum.git", Type: "git"},
		},
		Precision: order.Precision{Repetitions: order.Times(2), Calibration: &order.Calibration{Mode: order.Fixed, NIterations: 20}},
		Timeouts:  order.Timeouts{CaseS: 60, OrderS: 600},
	})
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), o.Raw(), 0o644))
}
