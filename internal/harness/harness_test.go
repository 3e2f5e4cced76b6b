package harness_test

import (
	"testing"

	"go.uber.org/goleak"

	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/harness/gobench"
	"writ/internal/result"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestFind(t *testing.T) {
	t.Parallel()
	set := harness.Set{gobench.Adapter{}}
	if h, err := set.Find(gobench.Name); err != nil || h.Capabilities().Adapter != gobench.Name {
		t.Errorf("got %v %v", h, err)
	}
	if _, err := set.Find("pyperf"); fault.CodeOf(err) != fault.Refused {
		t.Errorf("got %v", err)
	}
}

func TestOwner(t *testing.T) {
	t.Parallel()
	many := []harness.Suite{{Label: "x/a"}, {Label: "x/a.b"}, {Label: "x/c"}}
	for name, want := range map[string]int{
		"x/a.BenchmarkA": 0, "x/a.b.BenchmarkA": 1, "x/c.BenchmarkA/x/a.b": 2, "BenchmarkA": -1, "y.BenchmarkA": -1, "": -1,
	} {
		if got := harness.Owner(many, name); got != want {
			t.Errorf("%q belongs to %d, want %d", name, got, want)
		}
	}
	one := []harness.Suite{{Label: "x/a"}}
	if harness.Owner(one, "BenchmarkA") != 0 || harness.Owner(nil, "BenchmarkA") != -1 {
		t.Error("an unqualified name belongs to the only suite")
	}
	for name, want := range map[string]string{"x/a.BenchmarkA": "BenchmarkA", "BenchmarkA": "BenchmarkA", "x/b.BenchmarkA": "x/b.BenchmarkA"} {
		if got := one[0].Bare(name); got != want {
			t.Errorf("Bare(%q) = %q, want %q", name, got, want)
		}
	}
	if got := (harness.Suite{}).Bare(".x"); got != ".x" {
		t.Errorf("without a label: %q", got)
	}
}

func TestAll(t *testing.T) {
	t.Parallel()
	r := harness.All([]string{"wall-time", "new-quantity"}, result.Failed, result.ReasonTimeout, "why")
	if r.Message != "why" || len(r.Quantities) != 2 || r.Quantities["wall-time"].Unit != "s" || r.Quantities["new-quantity"].Reason != result.ReasonTimeout {
		t.Errorf("got %+v", r)
	}
}
