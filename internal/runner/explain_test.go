package runner

import (
	"context"
	"os"
	"strings"
	"testing"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/order"
)

func TestExplain(t *testing.T) {
	t.Parallel()
	s := sampleOf(t)
	round := 3
	o := build(t, goOrder(s, "^BenchmarkSum$", func(p *order.BuildParams) {
		p.Round, p.Seed, p.Reason, p.Step = round, 7, "why not", "compare"
		p.EnvironmentVariables = map[string]string{"GOGC": "50"}
		p.Target.HowBuilt = canon.StringOf("go test -c")
	}))
	for member, text := range map[string]string{
		"collectors": `[{"name":"facts","command":["false"],"expect":{"a":1}}]`, "build": `{"type":"Release"}`,
		"components": `[{"role":"blas","source":{"uri":"https://example.org/blas"},"revision":"3"}]`, "benchmark": `{"source":{"uri":"https://example.org/b"}}`,
	} {
		v, err := canon.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if o, err = order.Parse(o.Value().With(member, v).Canonical()); err != nil {
			t.Fatal(err)
		}
	}
	p := governed(t, o, `{"check":"threads.max","tier":"enforce","parameters":{"n":2}},{"check":"tree.clean","tier":"verify","on_fail":"refuse"}`)
	p.AllowCollectors = true
	got, err := Explain(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for _, x := range got {
		if said[x.Pointer] += x.Says; x.Refused {
			t.Errorf("%s is refused: %s", x.Pointer, x.Says)
		}
	}
	for pointer, want := range map[string]string{
		"/state": "a draft", "/suites/0": "gobench go1.", "/suites/0/parameters": `{"cpu":2,"dir":"pkg"}`, "/quantities": "wall-time in s, lower is better; allocations",
		"/target": s.Git(t, "rev-parse", "HEAD") + ", clean", "/target/how_built": "how_built", "/benchmark": "content stands for its revision",
		"/components/0": "the part blas", "/build": "nothing is built", "/collectors/0": "refuses the order", "/precision": `"n_iterations":50`,
		"/schedule": "random", "/timeouts": "a case has 60 s", "/environment_policy": "threads.max set: ", "/environment_variables": "GOGC",
		"/project": "series of demo", "/run_key": "demo", "/round": "in round 3", "/labels": "step", "/requester": "ci tests", "/reason": "why not",
	} {
		if !strings.Contains(said[pointer], want) {
			t.Errorf("%s: %q lacks %q", pointer, said[pointer], want)
		}
		delete(said, pointer)
	}
	if len(said) > 0 {
		t.Errorf("more is said: %v", said)
	}
	if _, err := os.Stat(p.Dir); err == nil {
		t.Error("something was written")
	}
}

// TestExplainRefusals: every field that is refused is named, in its place.
func TestExplainRefusals(t *testing.T) {
	t.Parallel()
	s := sampleOf(t)
	o := build(t, goOrder(s, "^BenchmarkSum$", func(p *order.BuildParams) {
		p.Precision.Warmup = &order.Warmup{Mode: order.Time, Seconds: 1}
		p.WorkloadParameters = map[string]canon.Value{"n": canon.IntOf(1)}
		p.Quantities = []string{"wall-time", "peak-rss"}
	}))
	got, err := Explain(t.Context(), paramsFor(t, o))
	if err != nil {
		t.Fatal(err)
	}
	refused := map[string]bool{}
	for _, x := range got {
		if x.Refused {
			refused[x.Pointer] = true
		}
	}
	for _, pointer := range []string{"/precision/warmup/mode", "/workload_parameters", "/quantities/1"} {
		if !refused[pointer] {
			t.Errorf("%s is not refused: %+v", pointer, got)
		}
	}
	bare := goOrder(s, "^BenchmarkSum$", nil)
	bare.Target.SourceDir, bare.Suites[0].Parameters = t.TempDir(), canon.Value{}
	got, err = Explain(t.Context(), paramsFor(t, build(t, bare)))
	if err != nil {
		t.Fatal(err)
	}
	last := got[len(got)-1]
	if last.Pointer == "/target" {
		t.Errorf("the refusal has no place of its own: %+v", last)
	}
	found := false
	for _, x := range got {
		found = found || x.Pointer == "/target" && x.Refused
	}
	if !found {
		t.Errorf("a subject that cannot be identified: %+v", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e := paramsFor(t, build(t, scriptOrder(t, nil, "echo s")))
	if _, err := Explain(ctx, e); err != nil && fault.CodeOf(err) == fault.Internal {
		t.Errorf("stopped: %v", err)
	}
}
