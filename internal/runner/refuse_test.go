package runner

import (
	"os"
	"strings"
	"testing"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness/gobench"
	"writ/internal/harness/harnesstest"
	"writ/internal/order"
)

// TestRefusals: an order that cannot be honoured runs nothing and writes nothing.
func TestRefusals(t *testing.T) {
	t.Parallel()
	s := harnesstest.New(t)
	s.Commit(t)
	bare := harnesstest.New(t) // not a checkout
	for name, tc := range map[string]struct {
		change func(*order.BuildParams)
		want   fault.Code
		at     string
	}{
		"unknown adapter": {func(p *order.BuildParams) { p.Suites[0].Adapter = "pyperf" }, fault.Refused, "/suites/0/adapter"},
		"missing binary":  {func(p *order.BuildParams) { p.Suites[0].Suite = "none.test" }, fault.Target, "/suites/0/suite"},
		"second missing": {func(p *order.BuildParams) {
			p.Suites = append(p.Suites, order.Suite{Adapter: gobench.Name, Suite: "none.test"})
		}, fault.Target, "/suites/1/suite"},
		"same suite twice": {func(p *order.BuildParams) { p.Suites = append(p.Suites, p.Suites[0]) }, fault.Refused, "/suites/1"},
		"quantity":         {func(p *order.BuildParams) { p.Quantities = []string{"peak-rss"} }, fault.Refused, "/quantities/0"},
		"target kind":      {func(p *order.BuildParams) { p.Target.Kind = order.WorkingTree }, fault.Refused, "/target/kind"},
		"include": {func(p *order.BuildParams) {
			p.Suites[0].Filter, p.Suites[0].Include = "", []string{"*.BenchmarkSum", "x"}
		}, fault.Refused, "/suites/0/include/1"},
		"suite parameter": {func(p *order.BuildParams) { p.Suites[0].Parameters = canon.MustFrom(map[string]int{"speed": 1}) }, fault.Refused, "/suites/0/parameters/speed"},
		"workload":        {func(p *order.BuildParams) { p.WorkloadParameters = map[string]canon.Value{"n": canon.IntOf(1)} }, fault.Refused, "/workload_parameters"},
		"timed warm-up":   {func(p *order.BuildParams) { p.Precision.Warmup = &order.Warmup{Mode: order.Time, Seconds: 1} }, fault.Refused, "/precision/warmup/mode"},
		"process level": {func(p *order.BuildParams) {
			p.Precision.Repetitions = order.Repetitions{Levels: []order.Level{{Unit: "process", N: 2}}}
		}, fault.Refused, "/precision/repetitions/levels/0/unit"},
		"foreign case":  {func(p *order.BuildParams) { p.Suites[0].Filter = ""; p.Plan = plan("TestSum") }, fault.Refused, "/plan"},
		"no checkout":   {func(p *order.BuildParams) { p.Target.SourceDir = bare.Dir }, fault.Target, ""},
		"empty listing": {func(p *order.BuildParams) { p.Suites[0].Filter = "^BenchmarkNone$" }, fault.Nothing, "/suites"},
		"listing crashes": {func(p *order.BuildParams) {
			p.Suites[0].Filter = "Behave"
			p.EnvironmentVariables = map[string]string{"SAMPLE_MODE": "exit"}
		}, fault.Refused, "/suites"},
		"listing takes long": {func(p *order.BuildParams) {
			p.Suites[0].Filter, p.Timeouts = "Behave", order.Timeouts{CaseS: 1, OrderS: 1}
			p.EnvironmentVariables = map[string]string{"SAMPLE_MODE": "sleep"}
		}, fault.Refused, "/suites"},
	} {
		p := goOrder(s, "^BenchmarkSum$", tc.change)
		params := paramsFor(t, build(t, p))
		rep, err := Run(t.Context(), params)
		if fault.CodeOf(err) != tc.want {
			t.Errorf("%s: got %v, want %s", name, err, tc.want)
			continue
		}
		if e, _ := fault.As(err); e.Pointer != tc.at {
			t.Errorf("%s: at %q, want %q", name, e.Pointer, tc.at)
		}
		if code := fault.Exit(err); code != fault.ExitRefused && code != fault.ExitNothing {
			t.Errorf("%s: exit status %d", name, code)
		}
		if _, err := os.Stat(params.Dir); err == nil || len(rep.Results) > 0 {
			t.Errorf("%s: something was written", name)
		}
	}
}

// TestRawRefusals are orders that only a document can spell; no policy is known.
func TestRawRefusals(t *testing.T) {
	t.Parallel()
	s := harnesstest.New(t)
	s.Commit(t)
	o := build(t, goOrder(s, "^BenchmarkSum$", nil))
	for member, text := range map[string]string{
		"environment_policy": `{"name":"laptop","version":"1"}`,
		"collectors":         `[{"name":"x","command":["true"]}]`,
	} {
		v, err := canon.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		changed, err := order.Parse(o.Value().With(member, v).Canonical())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Run(t.Context(), paramsFor(t, changed)); fault.CodeOf(err) != fault.Refused {
			t.Errorf("%s: got %v", member, err)
		}
	}
}

func TestHomeDirectoryOfATarget(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"~": "/h", "~/x/y": "/h/x/y", "~x": "~x", "/a": "/a", "": "", "a/~": "a/~"} {
		if got := expand(in, "/h"); got != want {
			t.Errorf("expand(%q) = %q, want %q", in, got, want)
		}
	}
	if got := expand("~/x", ""); got != "~/x" {
		t.Errorf("without a home: %q", got)
	}
}

func TestCollectors(t *testing.T) {
	t.Parallel()
	base := build(t, scriptOrder(t, func(p *order.BuildParams) {
		p.Plan = plan("echo s")
		p.EnvironmentVariables = map[string]string{"MODE": "fast"}
		p.Target.HowBuilt = canon.MustFrom(map[string]any{"type": "Release", "jobs": 1})
	}))
	const facts = `{"name":"facts","command":["sh","-c","echo '{\"mode\":\"'$MODE'\",\"type\":\"Release\",\"jobs\":1.0}'"]`
	for name, tc := range map[string]struct {
		collectors string
		refused    string // part of the message
		warnings   string
		facts      string
	}{
		"facts":           {`[` + facts + `}]`, "", "", `{"jobs":1,"mode":"fast","type":"Release"}`},
		"verified":        {`[` + facts + `,"verify":"how_built","expect":{"mode":"fast"}}]`, "", "", `{"jobs":1,"mode":"fast","type":"Release"}`},
		"other value":     {`[` + facts + `,"expect":{"mode":"slow"}}]`, `"mode" is "fast", not "slow"`, "", ""},
		"other value, ok": {`[` + facts + `,"expect":{"mode":"slow"},"on_fail":"warn"}]`, "", "collector-check-failed", `{"jobs":1,"mode":"fast","type":"Release"}`},
		"not collected":   {`[` + facts + `,"expect":{"x":1}}]`, `"x" was not collected`, "", ""},
		"fails":           {`[{"name":"facts","command":["false"]}]`, "", "collector-failed", ""},
		"fails a check":   {`[{"name":"facts","command":["false"],"expect":{"x":1}}]`, "it ended with status 1", "", ""},
		"no JSON":         {`[{"name":"facts","command":["echo","x"]}]`, "", "collector-failed", ""},
		"two objects":     {`[{"name":"facts","command":["echo","{}{}"]}]`, "", "collector-failed", ""},
		"duplicate key":   {`[{"name":"facts","command":["echo","{\"a\":1,\"a\":2}"]}]`, "", "collector-failed", ""},
		"missing program": {`[{"name":"facts","command":["no-such-program"]}]`, "", "collector-failed", ""},
		"too long":        {`[{"name":"facts","command":["sleep","3600"],"timeout_s":0.2}]`, "", "collector-failed", ""},
		"endless":         {`[{"name":"facts","command":["yes"]}]`, "", "collector-failed", ""},
		"name is taken":   {`[{"name":"kernel.release","command":["echo","{}"]}]`, "is a fact of the runner's own", "", ""},
	} {
		v, err := canon.Parse([]byte(tc.collectors))
		if err != nil {
			t.Fatal(name, err)
		}
		o, err := order.Parse(base.Value().With("collectors", v).Canonical())
		if err != nil {
			t.Fatal(name, err)
		}
		p := paramsFor(t, o)
		p.AllowCollectors = true
		rep, err := Run(t.Context(), p)
		if tc.refused != "" {
			if fault.CodeOf(err) != fault.Refused || !strings.Contains(err.Error(), tc.refused) {
				t.Errorf("%s: got %v, want %q", name, err, tc.refused)
			}
			if _, err := os.Stat(p.Dir); err == nil {
				t.Errorf("%s: something was written", name)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		r, got := rep.Results[0], ""
		if r.Quality != nil {
			got = strings.Join(r.Quality.Warnings, " ")
		}
		v, _ = r.Coordinates.Environment.System.Get("facts")
		text := string(v.Canonical())
		if v.IsNull() {
			text = ""
		}
		if got != tc.warnings || text != tc.facts {
			t.Errorf("%s: warnings %q, facts %s", name, got, text)
		}
	}
}
