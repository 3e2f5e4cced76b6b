package command

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/harness/command/repeat"
	"writ/internal/order"
	"writ/internal/runner/proc"
)

func TestInvocation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script(t, dir, "tool", "")
	o := treeOrder(dir, object{"cases": object{"one": []string{"./tool", "a b"}}, "exit": []int{0, 2}, "output": "keep", "input": "tool"})
	o.Quantities = []string{"wall-time", "instructions"}
	s, err := Adapter{}.Locate(o, o.Suites[0])
	if err != nil {
		t.Fatal(err)
	}
	inv, err := Adapter{}.Invocation(s, "one", warm(times(7), 2))
	if err != nil || inv.Dir != dir || len(inv.Inputs) != 1 {
		t.Fatalf("%+v %v", inv, err)
	}
	argv := []string{proc.Self, repeat.Name, harness.InExchange(planFile), harness.InExchange(samplesFile)}
	if diff := cmp.Diff(argv, inv.Argv); diff != "" {
		t.Error(diff)
	}
	var got repeat.Plan
	if err := json.Unmarshal(inv.Inputs[0].Bytes, &got); err != nil {
		t.Fatal(err)
	}
	tool := filepath.Join(dir, "tool")
	want := repeat.Plan{Program: tool, Argv: []string{"./tool", "a b"}, Input: tool, Keep: true, Warmups: 2, Repetitions: 7, Expected: []int{0, 2}, Instructions: true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, _ := s.Protocol["counters"].String(); got != "user" {
		t.Errorf("protocol %v", s.Protocol)
	}
	if _, err := (Adapter{}).Invocation(s, "two", times(1)); fault.CodeOf(err) != fault.Refused {
		t.Errorf("a case that is not there: %v", err)
	}
}

// TestPrecision: what cannot be honoured is refused, where it is in the order.
func TestPrecision(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script(t, dir, "tool", "")
	o := treeOrder(dir, object{"argv": []string{"./tool"}})
	s, err := Adapter{}.Locate(o, o.Suites[0])
	if err != nil {
		t.Fatal(err)
	}
	levels := order.Repetitions{Levels: []order.Level{{Unit: "process", N: 2}, {Unit: "repetition", N: 2}}}
	for pointer, p := range map[string]order.Precision{
		"/precision/calibration/mode":          {Repetitions: order.Times(1), Calibration: &order.Calibration{Mode: order.Fixed, NIterations: 1}},
		"/precision/warmup/mode":               {Repetitions: order.Times(1), Warmup: &order.Warmup{Mode: order.Time, Seconds: 1}},
		"/precision/repetitions/levels/0/unit": {Repetitions: levels},
	} {
		o.Precision = p
		err := order.Check(o, Adapter{}.Capabilities())
		if e, ok := fault.As(err); !ok || e.Code != fault.Refused || e.Pointer != pointer {
			t.Errorf("%s: %v", pointer, err)
		}
		if _, err := (Adapter{}).Invocation(s, "tool", p); fault.CodeOf(err) != fault.Refused {
			t.Errorf("%s: the adapter takes it: %v", pointer, err)
		}
	}
	for pointer, p := range map[string]order.Precision{"/precision/repetitions": times(1<<20 + 1), "/precision/warmup/n_warmup": warm(times(1), 1<<20+1)} {
		_, err := Adapter{}.Invocation(s, "tool", p)
		if e, ok := fault.As(err); !ok || e.Pointer != pointer {
			t.Errorf("%s: %v", pointer, err)
		}
	}
}

func TestLocateRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script(t, dir, "tool", "")
	const here = "/suites/0/parameters/"
	for name, tc := range map[string]struct {
		parameters object
		code       fault.Code
		pointer    string
	}{
		"output":        {object{"output": "file"}, fault.Refused, here + "output"},
		"truth":         {object{"output": true}, fault.Refused, here + "output"},
		"no input":      {object{"input": "absent"}, fault.Target, here + "input"},
		"input outside": {object{"input": "/etc/passwd"}, fault.OutsidePath, here + "input"},
	} {
		tc.parameters["argv"] = []string{"./tool"}
		o := treeOrder(dir, tc.parameters)
		_, err := Adapter{}.Locate(o, o.Suites[0])
		if e, ok := fault.As(err); !ok || e.Code != tc.code || e.Pointer != tc.pointer {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSettle: counters that are not there refuse the order where it asks for them,
// before anything is measured.
func TestSettle(t *testing.T) {
	t.Parallel()
	none := harness.Suite{Traits: map[string]string{}}
	if s, err := (Adapter{}).Settle(none, nil); err != nil || s.Traits == nil || len(Adapter{}.Probes(none)) > 0 {
		t.Errorf("an order that counts nothing is probed: %v", err)
	}
	counting := harness.Suite{Traits: map[string]string{traitCounted: "2"}}
	answer := func(c repeat.Counters) harness.Output {
		return harness.Output{Result: proc.Result{Cause: proc.Exited}, Files: map[string][]byte{countersFile: c.Encode()}}
	}
	if _, err := (Adapter{}).Settle(counting, []harness.Output{answer(repeat.Counters{Instructions: true})}); err != nil {
		t.Errorf("counters: %v", err)
	}
	_, err := Adapter{}.Settle(counting, []harness.Output{answer(repeat.Counters{Why: "not here"})})
	if e, ok := fault.As(err); !ok || e.Code != fault.Refused || e.Pointer != "/quantities/2" || e.Hint == "" {
		t.Errorf("no counters: %v", err)
	}
	if _, err := (Adapter{}).Settle(counting, []harness.Output{{}}); fault.CodeOf(err) != fault.Harness {
		t.Errorf("no answer: %v", err)
	}
}
