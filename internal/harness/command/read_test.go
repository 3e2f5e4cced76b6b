package command

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/harness"
	"writ/internal/harness/command/repeat"
	"writ/internal/harness/harnesstest"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/runner/proc"
)

// two are samples of two repetitions.
func two() repeat.Samples {
	return repeat.Samples{
		Wall: []float64{1e6, 2e6}, User: []float64{1e3, 0}, System: []float64{2e3, 3e3}, Peak: []float64{4 << 20, 5 << 20},
		Minor: []float64{10, 20}, Major: []float64{1, 0}, Voluntary: []float64{1, 2}, Involuntary: []float64{0, 3}, Instructions: []float64{700, 800},
		Clock: 40, Floor: 1 << 20,
	}
}

func ended(exit int, s repeat.Samples) harness.Output {
	return harnesstest.Ended(exit, map[string][]byte{samplesFile: s.Encode()})
}

func TestReadValues(t *testing.T) {
	t.Parallel()
	quantities := append(Adapter{}.Capabilities().Quantities, "energy")
	got := Adapter{}.Read(harness.Suite{}, "x", times(2), quantities, ended(0, two()))
	m := func(unit, original string, values ...float64) harness.Measured {
		return harness.Measured{Status: result.Success, Values: values, Unit: unit, OriginalUnit: original}
	}
	want := harness.Reading{
		Quantities: map[string]harness.Measured{
			"wall-time": m("s", "ns", 1e-3, 2e-3), "cpu-time": m("s", "ns", 3e-6, 3e-6), "cpu-user-time": m("s", "ns", 1e-6, 0), "cpu-system-time": m("s", "ns", 2e-6, 3e-6),
			"peak-rss": m("By", "By", 4<<20, 5<<20), "page-faults": m("1", "1", 11, 20), "page-faults-minor": m("1", "1", 10, 20), "page-faults-major": m("1", "1", 1, 0),
			"context-switches": m("1", "1", 1, 5), "context-switches-voluntary": m("1", "1", 1, 2), "context-switches-involuntary": m("1", "1", 0, 3),
			"instructions": m("1", "1", 700, 800), "energy": {Status: result.Failed, Reason: result.ReasonMapping, Unit: "J"},
		},
		Attempted: 2, InnerIterations: []int{1, 1}, Facts: map[string]string{"inherited_rss_bytes": "1048576", "clock_ns": "40"},
	}
	near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Abs(a) })
	if diff := cmp.Diff(want, got, near); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReadOutcomes(t *testing.T) {
	t.Parallel()
	failed := func(reason string) harness.Measured { return harness.Measured{Status: result.Failed, Reason: reason} }
	success, partial := harness.Measured{Status: result.Success}, harness.Measured{Status: result.Partial, Reason: result.ReasonPartial}
	for name, tc := range map[string]struct {
		change  func(*repeat.Samples)
		out     func(*harness.Output)
		p       order.Precision
		want    harness.Measured
		values  int
		message string
	}{
		"success":         {nil, nil, times(2), success, 2, ""},
		"warm-ups":        {func(s *repeat.Samples) { s.Warmups = 3 }, nil, warm(times(2), 3), success, 2, ""},
		"one fails":       {func(s *repeat.Samples) { s.Stopped = "repetition 3 ended with status 1" }, nil, times(5), partial, 2, "repetition 3 ended with status 1: words"},
		"the last fails":  {func(s *repeat.Samples) { s.Stopped = "repetition 3 ended with status 1" }, nil, times(3), partial, 2, "repetition 3 ended with status 1: words"},
		"all fail":        {func(s *repeat.Samples) { *s = repeat.Samples{Stopped: "repetition 1 ended with status 1"} }, nil, times(5), failed(result.ReasonHarnessError), 0, "repetition 1 ended with status 1: words"},
		"a warm-up fails": {func(s *repeat.Samples) { *s = repeat.Samples{Warmups: 1, Stopped: "warm-up 2 ended with status 1"} }, nil, warm(times(5), 2), failed(result.ReasonHarnessError), 0, "warm-up 2 ended with status 1: words"},
		"loop is killed": {func(s *repeat.Samples) {
			s.Stopped, s.Incomplete = "repetition 3: the loop was killed by signal 9", true
		}, nil, times(5), partial, 2, "repetition 3: the loop was killed by signal 9: words"},
		"fewer, and no word":  {nil, nil, times(3), failed(result.ReasonMapping), 0, "2 repetitions in the file, 3 were ordered"},
		"more than ordered":   {nil, nil, times(1), failed(result.ReasonMapping), 0, "2 repetitions and 0 warm-ups in the file, 1 and 0 were ordered"},
		"other warm-ups":      {func(s *repeat.Samples) { s.Warmups = 1 }, nil, times(2), failed(result.ReasonMapping), 0, "2 repetitions and 1 warm-ups in the file, 2 and 0 were ordered"},
		"no warm-ups":         {nil, nil, warm(times(2), 1), failed(result.ReasonMapping), 0, "2 repetitions and 0 warm-ups in the file, 2 and 1 were ordered"},
		"no time":             {func(s *repeat.Samples) { s.Wall = []float64{0, 0} }, nil, times(2), failed(result.ReasonMapping), 0, ""},
		"one has no time":     {func(s *repeat.Samples) { s.Wall[0] = 0 }, nil, times(2), partial, 1, ""},
		"process failed":      {nil, func(o *harness.Output) { o.Result.Exit = 1 }, times(2), failed(result.ReasonHarnessError), 0, "words"},
		"process was killed":  {nil, func(o *harness.Output) { o.Result.Exit, o.Result.Signal, o.Stderr = -1, 9, nil }, times(2), failed(result.ReasonHarnessError), 0, "the process that repeats: killed by signal 9 (killed)"},
		"time limit":          {nil, func(o *harness.Output) { o.Result.Cause = proc.TimedOut }, times(2), failed(result.ReasonTimeout), 0, ""},
		"output limit":        {nil, func(o *harness.Output) { o.Result.Cause = proc.OutputLimit }, times(2), failed(result.ReasonHarnessError), 0, "the process that repeats: stopped because it wrote without end"},
		"no file":             {nil, func(o *harness.Output) { o.Files = nil }, times(2), failed(result.ReasonNoOutput), 0, "words"},
		"file is a directory": {nil, func(o *harness.Output) { o.Unread = map[string]string{samplesFile: "no ordinary file"} }, times(2), failed(result.ReasonMapping), 0, "the file of samples is no ordinary file"},
	} {
		s := two()
		if tc.change != nil {
			tc.change(&s)
		}
		out := ended(0, s)
		out.Stderr = []byte("words\n")
		if tc.out != nil {
			tc.out(&out)
		}
		got := Adapter{}.Read(harness.Suite{}, "x", tc.p, []string{"wall-time"}, out)
		m := got.Quantities["wall-time"]
		if m.Status != tc.want.Status || m.Reason != tc.want.Reason || len(m.Values) != tc.values || tc.want.Status != result.Success && got.Message != tc.message && m.Message == "" {
			t.Errorf("%s: %+v", name, got)
		}
		if got.Attempted != tc.p.Repetitions.Total() || m.Unit != "s" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestCutOffAnywhere: samples that were cut off are no measurement.
func TestCutOffAnywhere(t *testing.T) {
	t.Parallel()
	text := []byte(strings.TrimSpace(string(two().Encode())))
	for n := range text {
		out := harnesstest.Ended(0, map[string][]byte{samplesFile: text[:n]})
		if m := (Adapter{}).Read(harness.Suite{}, "x", times(2), []string{"wall-time"}, out).Quantities["wall-time"]; m.Reason != result.ReasonMapping || len(m.Values) > 0 {
			t.Fatalf("cut after %d bytes: %+v", n, m)
		}
	}
}

// TestWhatWasInheritedIsNoPeak: a program cannot have had less memory than the
// process that it was, for a moment, a part of.
func TestWhatWasInheritedIsNoPeak(t *testing.T) {
	t.Parallel()
	s := two()
	s.Floor = 4 << 20
	m := Adapter{}.Read(harness.Suite{}, "x", times(2), []string{"peak-rss"}, ended(0, s)).Quantities["peak-rss"]
	if m.Status != result.Partial || !slices.Equal(m.Values, []float64{5 << 20}) || m.Message == "" {
		t.Errorf("got %+v", m)
	}
	s.Floor = 1 << 52 // unknown
	m = Adapter{}.Read(harness.Suite{}, "x", times(2), []string{"peak-rss"}, ended(0, s)).Quantities["peak-rss"]
	if m.Status != result.Failed || m.Reason != result.ReasonMapping || m.Message == "" {
		t.Errorf("got %+v", m)
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	s := two()
	s.Strays, s.Shared = 2, true
	got := Adapter{}.Read(harness.Suite{}, "x", times(2), []string{"wall-time"}, ended(0, s))
	if !slices.Equal(got.Warnings, []string{warnShared, warnStrays}) || got.Facts["stray_processes"] != "2" {
		t.Errorf("got %+v", got)
	}
	s.Instructions = nil
	if m := (Adapter{}).Read(harness.Suite{}, "x", times(2), []string{"instructions"}, ended(0, s)).Quantities["instructions"]; m.Status != result.Failed || m.Message != "nothing was counted" {
		t.Errorf("got %+v", m)
	}
}
