package javascript

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/harness/harnesstest"
	"writ/internal/order"
)

func second[T any](_ T, err error) error { return err }

func pointerOf(err error) string {
	if e, ok := fault.As(err); ok && e.Code == fault.Refused {
		return e.Pointer
	}
	return ""
}

// TestInvocation is the precision matrix: settings, or the place in the order that
// cannot be honoured.
func TestInvocation(t *testing.T) {
	t.Parallel()
	s := harness.Suite{Program: "/bin/node", Dir: "/tree", Version: "2.3.4", Traits: map[string]string{traitFile: "bench/a.mjs", traitArguments: `["--expose-gc"]`}}
	two := 2
	fixed := func(n int) order.Precision {
		return order.Precision{Repetitions: order.Times(4), Calibration: &order.Calibration{Mode: order.Fixed, NIterations: n}, Warmup: &order.Warmup{Mode: order.None}}
	}
	with := func(seconds float64, w order.Warmup) order.Precision {
		return order.Precision{Repetitions: order.Times(4), Calibration: &order.Calibration{Mode: order.Adaptive, MinimumSampleSeconds: seconds}, Warmup: &w}
	}
	for name, tc := range map[string]struct {
		p       order.Precision
		want    string // members of the settings
		refused string // pointer
	}{
		"defaults":         {order.Precision{Repetitions: order.Times(4)}, `"iterations":1,"milliseconds":100,"repetitions":5,"warmup":0`, ""},
		"fixed":            {fixed(30), `"iterations":30,"milliseconds":0,"repetitions":4,"warmup":0`, ""},
		"time":             {with(0.25, order.Warmup{Mode: order.None}), `"iterations":1,"milliseconds":250,"repetitions":4,"warmup":0`, ""},
		"warm-up":          {with(0.25, order.Warmup{Mode: order.Count, NWarmup: &two}), `"iterations":1,"milliseconds":250,"repetitions":6,"warmup":0`, ""},
		"warm-up by time":  {with(0.25, order.Warmup{Mode: order.Time, Seconds: 0.5}), `"iterations":1,"milliseconds":250,"repetitions":4,"warmup":500`, ""},
		"two levels":       {order.Precision{Repetitions: order.Repetitions{Levels: []order.Level{{Unit: "repetition", N: 3}, {Unit: "repetition", N: 3}}}}, "", "/precision/repetitions/levels/1"},
		"no calls":         {fixed(0), "", "/precision/calibration/n_iterations"},
		"no time":          {with(0, order.Warmup{Mode: order.None}), "", "/precision/calibration/minimum_sample_seconds"},
		"no warm-up time":  {with(1, order.Warmup{Mode: order.Time}), "", "/precision/warmup/seconds"},
		"endless":          {order.Precision{Repetitions: order.Times(1 << 20)}, "", "/precision/repetitions"},
		"endless warm-up":  {with(1e9, order.Warmup{Mode: order.None}), "", "/precision/calibration/minimum_sample_seconds"},
		"another warm-up":  {with(1, order.Warmup{Mode: "other"}), "", "/precision/warmup/mode"},
		"not of this spec": {with(1, order.Warmup{Mode: order.Time, Seconds: 1}), "", "/precision/warmup/mode"},
	} {
		a := some
		if name == "not of this spec" {
			a.Spec.Warmup = []string{order.None}
		}
		inv, err := a.Invocation(s, "x > y", tc.p)
		if tc.refused != "" {
			if pointerOf(err) != tc.refused {
				t.Errorf("%s: %v, want a refusal at %s", name, err, tc.refused)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff([]string{"/bin/node", "--expose-gc", harness.InExchange("driver.mjs")}, inv.Argv); diff != "" || inv.Dir != "/tree" {
			t.Errorf("%s: (-want +got):\n%s", name, diff)
		}
		var names []string
		for _, f := range inv.Inputs {
			names = append(names, f.Name)
		}
		if diff := cmp.Diff([]string{"settings.json", "lib.mjs", "hooks.mjs", "driver.mjs", "more.mjs"}, names); diff != "" {
			t.Errorf("%s: inputs (-want +got):\n%s", name, diff)
		}
		told, err := canon.Parse(inv.Inputs[0].Bytes)
		if err != nil {
			t.Fatal(err)
		}
		want := canon.MustFrom(map[string]string{"mode": "run", "module": "some/node", "package": "some", "suite": "/tree/bench/a.mjs", "root": "/tree", "file": "bench/a.mjs", "case": "x > y", "version": "2.3.4"})
		text := strings.TrimSuffix(string(want.Canonical()), "}") + "," + tc.want + "}"
		if whole, err := canon.Parse([]byte(text)); err != nil || string(whole.Canonical()) != string(told.Canonical()) {
			t.Errorf("%s: told %s, want %s", name, told.Canonical(), text)
		}
	}
	for _, bad := range []string{"", "a\nb", "\x00", "\xff"} {
		if err := second(some.Invocation(s, bad, ordered(1))); pointerOf(err) != "/plan" {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestLocate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"a.mjs": 0o644, "a.ts": 0o644, "node": 0o755} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, tc := range map[string]struct {
		file, parameters string
		variable         string
		code             fault.Code
		pointer          string
	}{
		"fine":           {"a.mjs", `{"node_arguments":["--expose-gc"]}`, "", "", ""},
		"none":           {"b.mjs", `{}`, "", fault.Target, "/suites/0/suite"},
		"a folder":       {".", `{}`, "", fault.Target, "/suites/0/suite"},
		"TypeScript":     {"a.ts", `{}`, "", fault.Refused, "/suites/0/suite"},
		"outside":        {"../a.mjs", `{}`, "", fault.OutsidePath, "/suites/0/suite"},
		"odd arguments":  {"a.mjs", `{"node_arguments":["x"]}`, "", fault.Refused, "/suites/0/parameters/node_arguments"},
		"no list":        {"a.mjs", `{"node_arguments":"--x"}`, "", fault.Refused, "/suites/0/parameters/node_arguments"},
		"no interpreter": {"a.mjs", `{"node":"no-such-node"}`, "", fault.Target, "/suites/0/suite"},
		"a setting":      {"a.mjs", `{}`, "SOME_FLAG", fault.Refused, "/environment_variables/SOME_FLAG"},
	} {
		v, err := canon.Parse([]byte(tc.parameters))
		if err != nil {
			t.Fatal(err)
		}
		o := order.Order{Suites: []order.Suite{{Suite: tc.file, Parameters: v}}, Target: order.Target{Kind: order.WorkingTree, Path: dir}}
		if tc.variable != "" {
			o.EnvironmentVariables = map[string]string{tc.variable: "1"}
		}
		a := some
		a.Path = dir
		s, err := a.Locate(o, o.Suites[0])
		if e, _ := fault.As(err); fault.CodeOf(err) != tc.code || e != nil && e.Pointer != tc.pointer {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && (s.Program != filepath.Join(dir, "node") || s.Dir != dir || s.SourceDir != dir || !s.Shared) {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func TestSettle(t *testing.T) {
	t.Parallel()
	told := func(exit int, text string) []harness.Output {
		return []harness.Output{harnesstest.Ended(exit, map[string][]byte{toldFile: []byte(text)})}
	}
	for name, tc := range map[string]struct {
		told []harness.Output
		code fault.Code
		says string
	}{
		"fine":        {told(0, `{"node":"20.1.2","v8":"11","version":"2.1.0","missing":""}`), "", ""},
		"newer":       {told(0, `{"node":"20.1.2","v8":"11","version":"10.0.0-beta.1","missing":""}`), "", ""},
		"older":       {told(0, `{"node":"20.1.2","v8":"11","version":"2.0.9","missing":""}`), fault.Target, "2.1 or newer"},
		"no version":  {told(0, `{"node":"20.1.2","v8":"11","version":"","missing":""}`), fault.Target, "cannot be driven"},
		"missing":     {told(0, `{"node":"20.1.2","v8":"11","version":"","missing":"Cannot find package 'some'"}`), fault.Target, "Cannot find package 'some'"},
		"died":        {told(1, ``), fault.Target, "ended with status 1"},
		"no document": {told(0, `{`), fault.Target, ""},
		"no probe":    {nil, fault.Internal, ""},
	} {
		s, err := some.Settle(harness.Suite{Program: "/bin/node", Traits: map[string]string{traitArguments: `["--expose-gc"]`}}, tc.told)
		if fault.CodeOf(err) != tc.code || err != nil && !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && (s.Runtime["node"] != "20.1.2" || s.Runtime["arguments"] != `["--expose-gc"]`) {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func TestCases(t *testing.T) {
	t.Parallel()
	list := func(exit int, text string) []harness.Output {
		return []harness.Output{harnesstest.Ended(exit, map[string][]byte{listFile: []byte(text)})}
	}
	cases, err := some.Cases(harness.Suite{}, list(0, `{"cases":["a","b > c"]}`))
	if diff := cmp.Diff([]order.Case{{Name: "a"}, {Name: "b > c"}}, cases); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	broken := harnesstest.Ended(1, nil)
	broken.Stderr = []byte("stack\nError: cannot import\nat x\n")
	for name, listed := range map[string][]harness.Output{
		"failed": list(1, `{"cases":["a"]}`), "cut off": list(0, `{"cases":["a"`), "more": list(0, `{"cases":[],"x":1}`), "no name": list(0, `{"cases":["a\nb"]}`), "broken": {broken},
	} {
		got, err := some.Cases(harness.Suite{}, listed)
		if fault.CodeOf(err) != fault.Harness || name == "broken" && !strings.Contains(err.Error(), "cannot import") {
			t.Errorf("%s: %v %v", name, got, err)
		}
	}
	if err := second(some.Cases(harness.Suite{}, nil)); fault.CodeOf(err) != fault.Internal {
		t.Errorf("no listing: %v", err)
	}
}
