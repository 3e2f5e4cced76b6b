package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/order"
	"writ/internal/result"
)

// TestSuitesOfSeveralHarnesses: one order measures suites of two harnesses. Cases of
// a harness that does not label them get the name of their suite.
func TestSuitesOfSeveralHarnesses(t *testing.T) {
	t.Parallel()
	s := sampleOf(t)
	for name, text := range map[string]string{"one": "", "two": "", "listing": "echo s\n"} {
		if err := os.WriteFile(filepath.Join(s.Build, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b := goOrder(s, "^BenchmarkSum$", func(p *order.BuildParams) {
		p.Suites = append(p.Suites, order.Suite{Adapter: "scripts", Suite: "one"}, order.Suite{Adapter: "scripts", Suite: "two"})
		p.Quantities = []string{"wall-time"}
	})
	p := paramsFor(t, build(t, b))
	rep, err := Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rep.Results {
		h, _ := r.Coordinates.ComparisonContext.At("/harness/name")
		name, _ := h.String()
		suite := ""
		for _, a := range r.Provenance.Artifacts {
			if a.Kind == result.ArtifactTarget {
				suite = filepath.Base(a.URI)
			}
		}
		got = append(got, strings.Join([]string{string(r.Measurement.Status), r.Producer.Name, name, r.Provenance.NativeID, suite}, " | "))
	}
	want := []string{
		"success | writ/gobench-adapter | gobench | example.org/sample/pkg.BenchmarkSum | " + s.Binary,
		"success | writ/scripts | scripts | one.echo s | one",
		"success | writ/scripts | scripts | two.echo s | two",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestEveryHarnessOfAnOrderMustHonourIt: what one of two harnesses cannot do is
// refused, with its place.
func TestEveryHarnessOfAnOrderMustHonourIt(t *testing.T) {
	t.Parallel()
	s := sampleOf(t)
	for name, tc := range map[string]struct {
		change func(*order.BuildParams)
		at     string
	}{
		"a quantity of one":   {func(p *order.BuildParams) { p.Quantities = []string{"allocations"} }, "/quantities/0"},
		"a setting of one":    {func(p *order.BuildParams) { p.Suites[1].Parameters = canon.MustFrom(map[string]int{"cpu": 2}) }, "/suites/1/parameters/cpu"},
		"an unknown one":      {func(p *order.BuildParams) { p.Suites[1].Adapter = "nobody" }, "/suites/1/adapter"},
		"one suite twice":     {func(p *order.BuildParams) { p.Suites = append(p.Suites, p.Suites[1]) }, "/suites/2"},
		"a warm-up of none":   {func(p *order.BuildParams) { p.Precision.Warmup = &order.Warmup{Mode: order.Time, Seconds: 1} }, "/precision/warmup/mode"},
		"a filter of neither": {func(p *order.BuildParams) { p.Suites[1].Filter = "x" }, "/suites/1/filter"},
	} {
		b := goOrder(s, "^BenchmarkSum$", func(p *order.BuildParams) {
			p.Suites, p.Quantities = append(p.Suites, order.Suite{Adapter: "scripts", Suite: "one"}), []string{"wall-time"}
			tc.change(p)
		})
		_, err := Run(t.Context(), paramsFor(t, build(t, b)))
		e, _ := fault.As(err)
		if fault.CodeOf(err) != fault.Refused || e.Pointer != tc.at {
			t.Errorf("%s: %v", name, err)
		}
	}
}
