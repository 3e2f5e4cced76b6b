package runner

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/order"
	"writ/internal/result"
)

// exchanging is a harness whose programs leave their values in a file, that has
// two levels of repetition, and that asks its program before it plans.
type exchanging struct {
	scripts
	probe string // script
}

func (exchanging) Capabilities() order.Capabilities {
	c := scripts{}.Capabilities()
	c.Bare, c.Levels, c.Calibration = false, []string{"process", "value"}, []string{order.Adaptive}
	return c
}
func (e exchanging) Probes(s harness.Suite) []harness.Invocation {
	return []harness.Invocation{{Argv: []string{"/bin/sh", "-c", e.probe}, Dir: s.Dir}}
}
func (exchanging) Settle(s harness.Suite, told []harness.Output) (harness.Suite, error) {
	if !told[0].Result.OK() {
		return s, fault.New(fault.Target, "probe suite", "it %s", told[0].End()).At("/suites/0/suite")
	}
	s.Version = strings.TrimSpace(string(told[0].Stdout))
	s.Shared = true
	s.Configuration = map[string]string{"build_type": "Release", "options.DEMO_HARDENED": "OFF"}
	return s, nil
}
func (exchanging) Invocation(s harness.Suite, name string, _ order.Precision) (harness.Invocation, error) {
	return harness.Invocation{
		Argv: []string{"/bin/sh", "-c", name, "sh", harness.InExchange("out.txt"), harness.InExchange("driver.sh")}, Dir: s.Dir,
		Inputs:  []harness.File{{Name: "driver.sh", Kind: "driver", MediaType: "text/x-sh", Bytes: []byte("echo s")}, {Name: "data", Bytes: []byte("x")}},
		Outputs: []harness.File{{Name: "out.txt", Kind: result.ArtifactNative, MediaType: "text/plain"}, {Name: "more", Kind: "environment", MediaType: "text/plain"}},
	}, nil
}
func (exchanging) Read(_ harness.Suite, _ string, _ order.Precision, quantities []string, out harness.Output) harness.Reading {
	if len(out.Files) == 0 {
		return harness.All(quantities, result.Failed, result.ReasonNoOutput, out.Unread["out.txt"])
	}
	r := harness.Reading{Attempted: 4, Quantities: map[string]harness.Measured{},
		Levels: []result.LevelCounts{{Unit: "process", Attempted: 2, Completed: 2}, {Unit: "value", Attempted: 4, Completed: 3}}}
	value := 0.5
	for _, q := range quantities {
		r.Quantities[q] = harness.Measured{Status: result.Partial, Reason: result.ReasonPartial, Values: []float64{1, 2, 3}, Groups: []string{"0", "0", "1"},
			Unit: strings.TrimSpace(string(out.Files["out.txt"])), Summaries: []result.Summary{{Type: "statistic", Source: "producer", Name: "stddev", Value: &value}}}
	}
	return r
}

func TestFilesThatProgramsExchange(t *testing.T) {
	t.Parallel()
	o := build(t, scriptOrder(t, func(p *order.BuildParams) {
		p.Precision.Repetitions = order.Repetitions{Levels: []order.Level{{Unit: "process", N: 2}, {Unit: "value", N: 2}}}
		p.Plan = plan(`. "$2" >"$1"`, "true", `ln -s /etc/hosts "$1"`)
	}))
	p := paramsFor(t, o)
	p.Harnesses = harness.Set{exchanging{probe: "echo 7.1"}}
	rep, err := Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	onDisk(t, p.Dir, rep)
	r := rep.Results[0]
	if r.Measurement.Status != result.Partial || r.Coordinates.Quantity.Unit != "s" || len(r.Measurement.Summaries) != 1 {
		t.Errorf("measured %+v", r.Measurement)
	}
	groups := ""
	for i, o := range r.Measurement.Observations {
		if groups += o.Group; *o.Ordinal != i {
			t.Errorf("observation %d has ordinal %d", i, *o.Ordinal)
		}
	}
	if levels := r.Procedure.RepetitionLevels; groups != "001" || len(levels) != 2 || *r.Procedure.AttemptedRepetitions != 4 || *r.Procedure.CompletedRepetitions != 3 {
		t.Errorf("groups %q, procedure %+v", groups, r.Procedure)
	}
	var kinds []string
	for _, a := range r.Provenance.Artifacts {
		kinds = append(kinds, a.Kind)
	}
	if diff := cmp.Diff([]string{"work-order", "driver", "native-output", "stdout", "stderr"}, kinds); diff != "" {
		t.Errorf("artifacts (-want +got):\n%s", diff)
	}
	version, _ := r.Coordinates.ComparisonContext.At("/harness/version")
	if got := string(r.Coordinates.Subject.Configuration.Canonical()); got != `{"build_type":"Release","options":{"DEMO_HARDENED":"OFF"}}` || string(version.Canonical()) != `"7.1"` {
		t.Errorf("configuration %s, version %s", got, version.Canonical())
	}
	if got := outcomes(rep.Results); got["true wall-time"] != "error harness.no-output" || got[`ln -s /etc/hosts "$1" wall-time`] != "error harness.no-output" {
		t.Errorf("got %v", got)
	}
	text, _ := rep.Results[2].Provenance.Info[result.InfoMessage].String()
	if text != "no ordinary file" {
		t.Errorf("a link was followed: %q", text)
	}
}

func TestProbesThatFail(t *testing.T) {
	t.Parallel()
	o := build(t, scriptOrder(t, func(p *order.BuildParams) {
		p.Precision.Repetitions = order.Repetitions{Levels: []order.Level{{Unit: "process", N: 2}}}
		p.Plan = plan("echo s")
		p.Timeouts = order.Timeouts{CaseS: 0.2, OrderS: 60}
	}))
	for probe, want := range map[string]fault.Code{"exit 3": fault.Target, "sleep 3600": fault.Target} {
		p := paramsFor(t, o)
		p.Harnesses = harness.Set{exchanging{probe: probe}}
		if _, err := Run(t.Context(), p); fault.CodeOf(err) != want {
			t.Errorf("%s: got %v", probe, err)
		}
		if _, err := os.Stat(p.Dir); err == nil {
			t.Errorf("%s: something was written", probe)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := paramsFor(t, o)
	p.Harnesses = harness.Set{exchanging{probe: "sleep 3600"}}
	if _, err := Run(ctx, p); fault.CodeOf(err) != fault.Cancelled {
		t.Errorf("stopped: %v", err)
	}
}

// TestASessionCalibratesOnlyWhatCanBe: where a harness takes no count, each process
// finds its own, for the wanted time.
func TestASessionCalibratesOnlyWhatCanBe(t *testing.T) {
	t.Parallel()
	side := scriptOrder(t, func(p *order.BuildParams) {
		p.Precision.Repetitions = order.Repetitions{Levels: []order.Level{{Unit: "process", N: 2}}}
	}, `echo s >"$1"`)
	var last Event
	s := Session{
		Params: Params{Dir: filepath.Join(t.TempDir(), "out"), Harnesses: harness.Set{exchanging{probe: "echo 1"}}, Progress: func(e Event) { last = e }},
		Rounds: 1, SampleSeconds: 0.5, OrderFor: OrdersOf(side, side),
	}
	rep, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if c := rep.Calibration; c == nil || c.Mode != order.Adaptive || c.MinimumSampleSeconds != 0.5 || last.Done != 2 || last.Total != 2 {
		t.Errorf("calibration %+v, last event %+v", c, last)
	}
}
