package order

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
	"writ/internal/fault"
)

func draft(t *testing.T) Order {
	t.Helper()
	v, err := canon.Parse([]byte(vector))
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(v.Without("plan").With("state", canon.StringOf("draft")).
		With("quantities", canon.MustFrom([]string{"wall-time", "cpu-time"})).Canonical()))
}

func TestResolveFillsThePlanAndNothingElse(t *testing.T) {
	t.Parallel()
	d := draft(t)
	o, err := Resolve(d, []Case{{Name: "BM<int, 8>", From: "BM .*"}, {Name: "b"}})
	if err != nil {
		t.Fatal(err)
	}
	want := []Entry{
		{"p0", "BM<int, 8>", "wall-time", "BM%20.*"}, {"p1", "BM<int, 8>", "cpu-time", "BM%20.*"},
		{"p2", "b", "wall-time", ""}, {"p3", "b", "cpu-time", ""},
	}
	if diff := cmp.Diff(want, o.Plan); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	rest := func(o Order) string { return string(o.Value().Without("plan", "state").Canonical()) }
	if diff := cmp.Diff(rest(d), rest(o)); diff != "" {
		t.Errorf("something else changed:\n%s", diff)
	}
	again, err := Resolve(o, []Case{{Name: "other"}})
	if err != nil || again.Ref() != o.Ref() {
		t.Errorf("a resolved order changes: %v", err)
	}
	if string(o.Raw()) != string(o.Value().Canonical()) {
		t.Error("a built order's bytes are its canonical ones")
	}
}

func TestResolveRefusals(t *testing.T) {
	t.Parallel()
	d := draft(t)
	if _, err := Resolve(d, nil); fault.CodeOf(err) != fault.Nothing {
		t.Errorf("no cases: %v", err)
	}
	if _, err := Resolve(d, []Case{{Name: "a"}, {Name: "a"}}); fault.CodeOf(err) != fault.Refused {
		t.Errorf("the same case twice: %v", err)
	}
	slow := parse(t, strings.Replace(string(d.Raw()), `"repetitions":5`, `"calibration":{"minimum_sample_seconds":61,"mode":"adaptive"},"repetitions":5`, 1))
	_, err := Resolve(slow, []Case{{Name: "a"}, {Name: "b"}})
	if e, ok := fault.As(err); !ok || e.Code != fault.Refused || e.Pointer != "/timeouts/order_s" {
		t.Errorf("ten minutes for 610 s: %v", err)
	}
	if _, err := Resolve(slow, []Case{{Name: "a"}}); err != nil {
		t.Errorf("305 s fit ten minutes: %v", err)
	}
}

func TestBuildOneOrderOfAComparison(t *testing.T) {
	t.Parallel()
	p := BuildParams{
		RunKey: RunKey("run_1", "compare", 2), Run: "run_1", Proposal: "corpus-x:sha256:abc", Step: "compare",
		Side: "baseline", Round: 3, Seed: 42, Reason: "proposal asks for it", Labels: map[string]string{"side": "baseline", "run": "forged"},
		Suites: []Suite{{Adapter: "go-test", Suite: "./..."}}, Quantities: []string{"wall-time"},
		Target:    Target{Kind: WorkingTree, Path: "/x", Source: Source{URI: "https://e.org/x", Type: "git"}},
		Precision: Precision{Repetitions: Times(1)}, Timeouts: Timeouts{CaseS: 1, OrderS: 10},
		Plan: []Entry{{ID: "p0", Case: "BenchmarkA", Quantity: "wall-time"}},
	}
	o, err := Build(p)
	if err != nil {
		t.Fatal(err)
	}
	if o.RunKey != "run_1.compare.2" || o.State != Resolved || *o.Round != 3 || o.Schedule.Kind != Random || *o.Schedule.Seed != 42 {
		t.Errorf("order %+v", o)
	}
	if diff := cmp.Diff(map[string]string{"run": "run_1", "proposal": "corpus-x:sha256:abc", "step": "compare", "side": "baseline"}, o.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if (o.Requester != Requester{Scheduler, "corpus-x:sha256:abc"}) || o.Reason == "" {
		t.Errorf("requester %v", o.Requester)
	}
	p.Side = "contender"
	other, err := Build(p)
	if err != nil || other.ID == o.ID || other.Ref() == o.Ref() {
		t.Errorf("the two sides share an order: %v", err)
	}
	p.Plan = nil
	if d, err := Build(p); err != nil || d.State != Draft {
		t.Errorf("without a plan the order is a draft: %v %v", d.State, err)
	}
	p.Proposal = ""
	if _, err := Build(p); fault.CodeOf(err) != fault.Invalid {
		t.Errorf("nobody asked for it: %v", err)
	}
	p.Side = ""
	if _, err := Build(p); fault.CodeOf(err) != fault.Usage {
		t.Errorf("no id: %v", err)
	}
}

func TestProtocolRecordsDefaultsInFull(t *testing.T) {
	t.Parallel()
	defaults := Precision{
		Repetitions: Repetitions{Levels: []Level{{"process", 20}, {"value", 3}}},
		Calibration: &Calibration{Mode: Adaptive, MinimumSampleSeconds: .1},
		Warmup:      &Warmup{Mode: None},
	}
	for _, c := range []struct {
		p    Precision
		want string
	}{
		{Precision{Repetitions: Times(5)}, `{"calibration":{"minimum_sample_seconds":0.1,"mode":"adaptive"},"repetitions":{"levels":[{"n":5,"unit":"repetition"}],"mode":"fixed"},"warmup":{"mode":"none"}}`},
		{Precision{Repetitions: Repetitions{Levels: []Level{{"process", 7}}}, Calibration: &Calibration{Mode: Fixed, NIterations: 9}},
			`{"calibration":{"mode":"fixed","n_iterations":9},"repetitions":{"levels":[{"n":7,"unit":"process"},{"n":3,"unit":"value"}],"mode":"fixed"},"warmup":{"mode":"none"}}`},
		{Precision{Repetitions: Repetitions{Levels: []Level{{"value", 5}}}},
			`{"calibration":{"minimum_sample_seconds":0.1,"mode":"adaptive"},"repetitions":{"levels":[{"n":20,"unit":"process"},{"n":5,"unit":"value"}],"mode":"fixed"},"warmup":{"mode":"none"}}`},
	} {
		v, err := c.p.Protocol(defaults)
		if err != nil || string(v.Canonical()) != c.want {
			t.Errorf("protocol %s %v, want %s", v.Canonical(), err, c.want)
		}
	}
}

var gobench = Capabilities{
	Adapter: "go-test", Targets: []string{WorkingTree}, Quantities: []string{"wall-time", "peak-rss"}, Bare: true,
	Calibration: []string{Adaptive, Fixed}, Warmup: []string{None}, Filter: true, Variables: true, Schedules: []string{Random},
}

func refused(t *testing.T, text string, c Capabilities) []string {
	t.Helper()
	err := Check(parse(t, text), c)
	if err == nil {
		return nil
	}
	e, ok := fault.As(err)
	if !ok || e.Code != fault.Refused || e.Pointer != e.Fields[0].Pointer {
		t.Fatalf("%v, want a refusal with its place", err)
	}
	var out []string
	for _, f := range e.Fields {
		out = append(out, f.Pointer)
	}
	return out
}

func TestCapabilities(t *testing.T) {
	t.Parallel()
	base := strings.NewReplacer(`"google-benchmark"`, `"go-test"`, `"build"`, `"working_tree"`).Replace(vector)
	swap := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(base) }
	if got := refused(t, base, gobench); got != nil {
		t.Fatalf("a fitting order is refused at %v", got)
	}
	levels := gobench
	levels.Bare, levels.Levels, levels.CasePerProcess = false, []string{"process", "value"}, true
	for _, c := range []struct {
		name, text string
		caps       Capabilities
		want       []string
	}{
		{"unknown adapter", vector, gobench, []string{"/suites/0/adapter", "/target/kind"}},
		{"bare count", base, levels, []string{"/precision/repetitions"}},
		{"foreign level", swap(`"repetitions":5`, `"repetitions":{"mode":"fixed","levels":[{"unit":"fork","n":2}]}`), levels, []string{"/precision/repetitions/levels/0/unit"}},
		{"levels inside out", swap(`"repetitions":5`, `"repetitions":{"mode":"fixed","levels":[{"unit":"value","n":2},{"unit":"process","n":2}]}`), levels, []string{"/precision/repetitions/levels/1/unit"}},
		{"levels in order", swap(`"repetitions":5`, `"repetitions":{"mode":"fixed","levels":[{"unit":"process","n":2},{"unit":"value","n":2}]}`), levels, nil},
		{"warm-up mode", swap(`"repetitions":5`, `"repetitions":5,"warmup":{"mode":"count","n_warmup":1}`), gobench, []string{"/precision/warmup/mode"}},
		{"quantity", swap(`"quantities":["wall-time"]`, `"quantities":["wall-time","energy"]`), gobench, []string{"/quantities/1"}},
		{"process-wide quantity", swap(`"quantities":["wall-time"]`, `"quantities":["wall-time","peak-rss"]`), gobench, []string{"/quantities/1"}},
		{"schedule", swap(`"run_key"`, `"schedule":{"kind":"sequential"},"run_key"`), gobench, []string{"/schedule/kind"}},
		{"parameters", swap(`"suite":"demo-bench"`, `"suite":"demo-bench","parameters":{"tags":"x"}`), gobench, []string{"/suites/0/parameters/tags"}},
		{"two suites", swap(`"suites":[`, `"suites":[{"adapter":"go-test","suite":"x"},`), gobench, []string{"/suites"}},
		{"collectors", swap(`"run_key"`, `"collectors":[{"name":"c","command":["x"]}],"run_key"`), gobench, []string{"/collectors"}},
	} {
		if diff := cmp.Diff(c.want, refused(t, c.text, c.caps)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// An order that is valid and yet asks for four things that an adapter with a
// single pattern, warm-up by time and no policies cannot give.
func TestALaptopOrderIsRefusedOnEveryCount(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer(
		`"filter":"BM_.*"`, `"include":["BM_A"]`,
		`"repetitions":5`, `"repetitions":5,"warmup":{"mode":"count","n_warmup":3}`,
		`"run_key"`, `"build":{"type":"release"},"environment_policy":{"name":"laptop","version":"1"},"run_key"`,
	).Replace(vector)
	caps := Capabilities{
		Adapter: "google-benchmark", Targets: []string{BuildTree}, Quantities: []string{"wall-time", "cpu-time"}, Bare: true,
		Calibration: []string{Adaptive, Fixed}, Warmup: []string{None, Time}, Filter: true, Variables: true,
	}
	want := []string{"/suites/0/include", "/environment_policy", "/build", "/precision/warmup/mode"}
	if diff := cmp.Diff(want, refused(t, text, caps)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
