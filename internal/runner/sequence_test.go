package runner

import (
	"os"
	"slices"
	"testing"
	"time"

	"writ/internal/fault"
	"writ/internal/order"
	"writ/internal/result"
)

func TestSequences(t *testing.T) {
	t.Parallel()
	b, c := Baseline, Contender
	for q, want := range map[Sequence][]Side{
		"": First(3, 6), Drawn: First(3, 6), ABBA: {b, c, b, c, b, c}, BaselineFirst: {b, b, b, b, b, b},
	} {
		if got := q.first(3, 6); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", q, got, want)
		}
	}
	if ABBA.Schedule() != order.Alternating || BaselineFirst.Schedule() != order.Alternating || Drawn.Schedule() != order.Random {
		t.Error("the schedule that orders record is another")
	}
}

func TestSessionInTurns(t *testing.T) {
	t.Parallel()
	s, p := scriptSession(t, func(p *order.BuildParams) { p.Schedule = order.Alternating }, "echo s")
	s.Sequence, s.OrderFor = ABBA, OrdersOf(p, p)
	rep, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := []Side{Baseline, Contender, Baseline}; !slices.Equal(rep.First, want) {
		t.Errorf("first: %v, want %v", rep.First, want)
	}
	for _, o := range rep.Orders {
		if o.Schedule.Kind != order.Alternating || o.Schedule.Seed != nil {
			t.Errorf("the order records %+v", o.Schedule)
		}
	}
}

// The check sees both sides before anything runs, and can refuse.
func TestSessionIsChecked(t *testing.T) {
	t.Parallel()
	s, _ := scriptSession(t, nil, "echo s")
	var seen [2]Subject
	s.Check = func(sides [2]Subject, plan []order.Entry) error {
		seen = sides
		return fault.New(fault.Refused, "check", "%d entries", len(plan))
	}
	if _, err := s.Run(t.Context()); fault.CodeOf(err) != fault.Refused {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(s.Dir); err == nil {
		t.Error("something was written")
	}
	for _, side := range seen {
		if side.Tree == "" || side.Revision == "" || side.Dirty != result.Clean || side.Environment.Schema == "" {
			t.Errorf("seen: %+v", side)
		}
	}
	s.Check = func([2]Subject, []order.Entry) error { return nil }
	if rep, err := s.Run(t.Context()); err != nil || len(rep.Results) != 6 {
		t.Errorf("%d results, %v", len(rep.Results), err)
	}
}

// A session ends between rounds only, and never after it was asked about the last.
func TestSessionEndsWhenItIsEnough(t *testing.T) {
	t.Parallel()
	s, _ := scriptSession(t, nil, "echo s")
	var asked []int
	s.Rounds = 4
	s.Enough = func(r SessionReport) (bool, error) {
		asked = append(asked, len(r.Results))
		return len(r.Results) >= 4, nil
	}
	rep, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(asked, []int{2, 4}) || len(rep.Orders) != 4 || len(rep.First) != 2 {
		t.Errorf("asked after %v results; %d orders, first %v", asked, len(rep.Orders), rep.First)
	}
	s, _ = scriptSession(t, nil, "echo s")
	s.Enough = func(SessionReport) (bool, error) { return false, fault.New(fault.Incomparable, "", "") }
	if rep, err = s.Run(t.Context()); fault.CodeOf(err) != fault.Incomparable || len(rep.Results) != 2 {
		t.Errorf("a rule that fails: %d results, %v", len(rep.Results), err)
	}
	s, _ = scriptSession(t, nil, "echo s")
	s.Rounds, s.Enough = 1, func(SessionReport) (bool, error) { t.Error("asked after the last round"); return true, nil }
	if _, err := s.Run(t.Context()); err != nil {
		t.Error(err)
	}
}

// The time left is what the rest would take at the pace so far, by the clock that
// the session is given.
func TestSessionTellsTheTimeLeft(t *testing.T) {
	t.Parallel()
	s, _ := scriptSession(t, nil, "echo s")
	s.Rounds = 4
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s.Now = func() time.Time { return now }
	var left []time.Duration
	s.Progress = func(e Event) {
		if e.Stage == CaseStart {
			left = append(left, e.Left)
			now = now.Add(3 * time.Second) // every process takes as long
		}
		if e.Total != 8 {
			t.Errorf("%d processes are planned", e.Total)
		}
	}
	if _, err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []time.Duration{0, 21 * time.Second, 18 * time.Second, 15 * time.Second, 12 * time.Second, 9 * time.Second, 6 * time.Second, 3 * time.Second}
	if !slices.Equal(left, want) {
		t.Errorf("left: %v, want %v", left, want)
	}
}
