package catalogue

import (
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/order"
	"writ/internal/result"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestEveryAdapter holds adapters to what a runner relies on.
func TestEveryAdapter(t *testing.T) {
	t.Parallel()
	var names, producers []string
	for _, h := range All() {
		c, p, d := h.Capabilities(), h.Producer(), h.Defaults()
		names, producers = append(names, c.Adapter), append(producers, p.Name)
		if found, err := All().Find(c.Adapter); err != nil || found.Producer() != p {
			t.Errorf("%s is not found by its name: %v", c.Adapter, err)
		}
		if c.Adapter == "" || strings.ContainsAny(c.Adapter, " \t") || p.Name == "" || p.Version == "" || !strings.Contains(p.MappingVersion, "-to-benchx/v") {
			t.Errorf("names %+v %+v", c.Adapter, p)
		}
		for _, q := range c.Quantities {
			if _, known := result.Known(q); !known {
				t.Errorf("%s: the quantity %q has no unit", c.Adapter, q)
			}
		}
		if !slices.IsSorted(c.Quantities) || len(c.Targets) == 0 || len(c.Levels) == 0 || !c.CasePerProcess {
			t.Errorf("%s: capabilities %+v", c.Adapter, c)
		}
		o := order.Order{
			Suites: []order.Suite{{Adapter: c.Adapter, Suite: "s"}}, Quantities: c.Quantities, Precision: d, Target: order.Target{Kind: c.Targets[0]},
		}
		if err := order.Check(o, c); err != nil {
			t.Errorf("%s does not take its own defaults: %v", c.Adapter, err)
		}
		o.Suites[0].Suite, o.Target.Path = "no/such/suite", t.TempDir()
		if _, err := h.Locate(o, o.Suites[0]); fault.CodeOf(err) != fault.Target {
			t.Errorf("%s: a suite that is not there: %v", c.Adapter, err)
		}
		o.Suites[0].Suite = "../outside"
		if _, err := h.Locate(o, o.Suites[0]); fault.CodeOf(err) != fault.OutsidePath {
			t.Errorf("%s: a suite outside of the target: %v", c.Adapter, err)
		}
		r := h.Read(harness.Suite{}, "anything", d, []string{"wall-time", "new-quantity"}, harness.Output{})
		if len(r.Quantities) != 2 {
			t.Errorf("%s: %d answers to two questions", c.Adapter, len(r.Quantities))
		}
		for q, m := range r.Quantities {
			if m.Status != result.Failed || m.Reason == "" || len(m.Values) > 0 {
				t.Errorf("%s: %s of nothing is %+v", c.Adapter, q, m)
			}
		}
	}
	for _, list := range [][]string{names, producers} {
		if s := slices.Compact(slices.Sorted(slices.Values(list))); len(s) != len(list) {
			t.Errorf("a name is taken twice: %v", list)
		}
	}
	if !slices.IsSorted(names) {
		t.Errorf("not in order: %v", names)
	}
}
