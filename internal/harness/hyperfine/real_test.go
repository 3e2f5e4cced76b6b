package hyperfine

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"writ/internal/harness/harnesstest"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/testkit"
)

// start makes a driver for the hyperfine of this machine.
func start(t *testing.T, parameters map[string]any) (*harnesstest.Driver, order.Order) {
	t.Helper()
	if _, err := exec.LookPath(Name); err != nil {
		testkit.Skip(t, "hyperfine", "apt-get install -y hyperfine")
	}
	return harnesstest.Drive(t, Adapter{}, "PATH="+os.Getenv("PATH"), "SAID=hello"), treeOrder(t.TempDir(), parameters)
}

func TestARealRun(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"none", "/bin/sh"} {
		d, o := start(t, map[string]any{"cases": map[string]any{
			"sleeps":      []string{"sleep", "0.02"},
			"-odd 'name'": []string{"sh", "-c", `[ "$1" = "a  'b' \$c" ] && [ "$SAID" = hello ] && exec sleep 0.02`, "x", "a  'b' $c"},
		}, "shell": shell})
		s, err := d.Suite(o)
		if err != nil {
			t.Fatal(err)
		}
		cases, err := d.Cases(s)
		if err != nil || len(cases) != 2 || cases[0].Name != "-odd 'name'" || s.Version == "" {
			t.Fatalf("%v %v %q", cases, err, s.Version)
		}
		for _, c := range cases {
			got, out := d.Measure(s, c.Name, warm(times(3), 1), all...)
			m := got.Quantities["wall-time"]
			if m.Status != result.Success || len(m.Values) != 3 || m.Values[0] < 0.01 || got.Warmups != 1 || len(m.Summaries) != 5 {
				t.Errorf("%s, shell %s: %+v\n%s", c.Name, shell, got, out.Stderr)
			}
			if m := got.Quantities["cpu-user-time"]; m.Status != result.Success {
				t.Errorf("%s, shell %s: %+v", c.Name, shell, m)
			}
		}
	}
}

// TestARealFailure: one failing repetition does not cost the others, and statuses
// that are expected are no failures.
func TestARealFailure(t *testing.T) {
	t.Parallel()
	d, o := start(t, map[string]any{"cases": map[string]any{
		"third":   []string{"sh", "-c", "echo >> ran; [ $(wc -l < ran) -ne 3 ]"},
		"always":  []string{"sh", "-c", "exit 3"},
		"killed":  []string{"sh", "-c", "kill -9 $$"},
		"endless": []string{"sleep", "600"},
		"missing": []string{"./gone"},
	}})
	gone := filepath.Join(o.Target.Path, "gone")
	if err := os.WriteFile(gone, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	s, err := d.Suite(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct {
		status          result.Status
		reason, message string
		values          int
	}{
		"third":   {result.Partial, result.ReasonPartial, "repetition 3 ended with status 1", 4},
		"always":  {result.Failed, result.ReasonHarnessError, "repetition 1 ended with status 3", 0},
		"killed":  {result.Failed, result.ReasonHarnessError, "repetition 1 ended with status 137", 0},
		"missing": {result.Failed, result.ReasonHarnessError, "No such file", 0},
		"endless": {result.Failed, result.ReasonTimeout, "", 0},
	} {
		if d.Timeout = time.Minute; name == "endless" {
			d.Timeout = 200 * time.Millisecond
		}
		got, out := d.Measure(s, name, times(5), "wall-time")
		m := got.Quantities["wall-time"]
		if m.Status != want.status || m.Reason != want.reason || len(m.Values) != want.values || !strings.Contains(got.Message, want.message) || out.Result.Survivors > 0 {
			t.Errorf("%s: %+v\n%s", name, got, out.Stderr)
		}
	}
	if s, err = d.Suite(treeOrder(o.Target.Path, map[string]any{"argv": []string{"sh", "-c", "exit 3"}, "exit": []int{3, 0}})); err != nil {
		t.Fatal(err)
	}
	if got, _ := d.Measure(s, "sh", times(2), "wall-time"); got.Quantities["wall-time"].Status != result.Success {
		t.Errorf("an expected status: %+v", got)
	}
}
