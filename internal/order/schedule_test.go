package order

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The derivations are part of every docket: these values must never change.
func TestSeedIsDerivedFromThePlan(t *testing.T) {
	t.Parallel()
	const plan = "operator-task-plan:sha256:VuYMi0prLqJ7qO-m5-S6QDjlu1m8vV2UGgQNMQJfHWE"
	got := []int64{Seed(plan, 0), Seed(plan, 1), Seed(plan+"x", 0), Seed("", 0)}
	if diff := cmp.Diff([]int64{3373590468469, 248930380911131, 104173645459124, 201751505902493}, got); diff != "" {
		t.Error(diff)
	}
	for _, s := range got {
		if s < 0 || s >= 1<<48 {
			t.Errorf("seed %d does not fit 48 bits", s)
		}
	}
}

func TestSlotsAreDrawnFromTheSeed(t *testing.T) {
	t.Parallel()
	got := ContenderFirst(7, 12)
	if diff := cmp.Diff([]bool{false, false, true, true, false, true, true, false, true, false, true, true}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(got[:5], ContenderFirst(7, 5)); diff != "" {
		t.Errorf("fewer rounds change the draws: %s", diff)
	}
}

// A seed is recorded where it decides something.
func TestBuildRecordsTheSchedule(t *testing.T) {
	t.Parallel()
	p := BuildParams{
		RunKey: "r", Side: "baseline", Seed: 7, Requester: Requester{Person, "ann"}, Build: &BuildFacts{Profile: "release"},
		Suites: []Suite{{Adapter: "a", Suite: "s"}}, Quantities: []string{"wall-time"},
		Target:    Target{Kind: WorkingTree, Path: "/p", Source: Source{URI: "https://example.org/r"}},
		Precision: Precision{Repetitions: Times(1)}, Timeouts: Timeouts{CaseS: 1, OrderS: 1},
	}
	for kind, want := range map[string]*Schedule{"": {Random, &p.Seed}, Random: {Random, &p.Seed}, Alternating: {Alternating, nil}, Sequential: {Sequential, nil}} {
		p.Schedule = kind
		o, err := Build(p)
		if err != nil {
			t.Errorf("%q: %v", kind, err)
			continue
		}
		if diff := cmp.Diff(want, o.Schedule); diff != "" {
			t.Errorf("%q (-want +got):\n%s", kind, diff)
		}
		if o.Build == nil || o.Build.Profile != "release" {
			t.Errorf("%q: declared build %+v", kind, o.Build)
		}
	}
	p.Schedule = "sometimes"
	if o, err := Build(p); err == nil {
		t.Errorf("a schedule of no kind: %+v", o.Schedule)
	}
}
