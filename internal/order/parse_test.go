package order

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/ident"
)

const vector = `{"plan":[{"case":"BM_Quiet/1024","from":"BM_.*","id":"p0","quantity":"wall-time"}],"precision":{"repetitions":5},"quantities":["wall-time"],"requester":{"kind":"person","name":"ann"},"run_key":"local:demo","schema_version":"benchx/work-order/0.1.0","state":"resolved","suites":[{"adapter":"google-benchmark","filter":"BM_.*","suite":"demo-bench"}],"target":{"kind":"build","path":"/builds/demo","source":{"type":"git","uri":"https://example.org/demo.git"}},"timeouts":{"case_s":30,"order_s":600},"work_order_id":"urn:uuid:00000000-0000-4000-8000-000000000001"}`

func parse(t *testing.T, text string) Order {
	t.Helper()
	o, err := Parse([]byte(text))
	if err != nil {
		t.Fatalf("parse: %v", err)
	}
	return o
}

// with returns the vector with one member replaced, or removed by "".
func with(t *testing.T, name, value string) string {
	t.Helper()
	v, err := canon.Parse([]byte(vector))
	if err != nil {
		t.Fatal(err)
	}
	if value == "" {
		return string(v.Without(name).Canonical())
	}
	x, err := canon.Parse([]byte(value))
	if err != nil {
		t.Fatalf("%s: %v", value, err)
	}
	return string(v.With(name, x).Canonical())
}

func TestVectorHashes(t *testing.T) {
	t.Parallel()
	if len(vector) != 560 {
		t.Fatalf("the vector has %d bytes, want 560", len(vector))
	}
	o := parse(t, vector)
	if got, want := o.Ref(), "sha256:41d3b2be28538f657e9362e157a3976868d3eba159be23de2ca7df3a138c911f"; got != want {
		t.Errorf("ref %s, want %s", got, want)
	}
	if got, want := o.DomainHash().Hex(), "8035d847e79915e8dfb30b3bb4bacf122b2053197d5f8b44d7a742c09d375f72"; got != want {
		t.Errorf("domain hash %s, want %s", got, want)
	}
	if got, want := o.FileName(), "workorder-41d3b2be28538f657e9362e157a3976868d3eba159be23de2ca7df3a138c911f.json"; got != want {
		t.Errorf("file name %s, want %s", got, want)
	}
	policy, err := canon.Parse([]byte(`{"name":"p","rules":[{"check":"load.quiescent","on_fail":"refuse","parameters":{"max_1m_load":2},"tier":"verify"}],"version":"1"}`))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := PolicyHash(policy).Hex(), "9d17c20aa45571bfabaa24355624ce310b62a7e3808e72e2a9253a5e90718310"; got != want {
		t.Errorf("policy hash %s, want %s", got, want)
	}
	if string(o.Raw()) != vector {
		t.Error("the order does not keep its bytes")
	}
}

func TestSpellingDoesNotChangeTheHash(t *testing.T) {
	t.Parallel()
	o := parse(t, vector)
	spaced := parse(t, strings.ReplaceAll(strings.ReplaceAll(vector, `":`, `": `), "600", "6.0e2"))
	if o.Ref() != spaced.Ref() {
		t.Errorf("refs %s and %s differ", o.Ref(), spaced.Ref())
	}
	if string(o.Raw()) == string(spaced.Raw()) {
		t.Error("raw bytes must stay as they came")
	}
}

func TestEveryFieldIsRead(t *testing.T) {
	t.Parallel()
	text := `{"schema_version":"benchx/work-order/0.1.0","work_order_id":"urn:x","state":"draft","project":"p",
	"suites":[{"adapter":"a","suite":"s","include":["x"],"exclude":["y"],"parameters":{"k":1}}],"quantities":["wall-time","peak-rss"],
	"target":{"kind":"working_tree","path":"/t","source_dir":"/s","source":{"uri":"https://e.org/x","type":"git"},"how_built":{"cc":"gcc"},"activation":"act","shell":"bash","provider":{"name":"pr","version":"1"}},
	"collectors":[{"name":"c","command":["x","y"],"timeout_s":2.5,"verify":"how_built","expect":{"a":1},"on_fail":"warn"}],
	"benchmark":{"source":{"uri":"https://e.org/b"},"revision":"abc"},"components":[{"name":"n","role":"blas","source":{"uri":"https://e.org/c"},"revision":"v1"}],
	"build":{"profile":"release","type":"T","compiler":"gcc","flags":["-O2"],"options":{"X":"ON"}},
	"precision":{"repetitions":{"mode":"fixed","levels":[{"unit":"process","n":20},{"unit":"value","n":3}]},"calibration":{"mode":"adaptive","minimum_sample_seconds":0.1},"warmup":{"mode":"count","n_warmup":0}},
	"schedule":{"kind":"random","seed":-7},"timeouts":{"case_s":1.5,"order_s":100},"environment_policy":{"name":"q","version":"2"},
	"environment_variables":{"OMP_NUM_THREADS":"1"},"workload_parameters":{"n":[1,2],"b":true},"run_key":"r","round":3,"labels":{"env":"x"},
	"requester":{"kind":"ci","name":"bot"},"reason":"why"}`
	o := parse(t, text)
	// Writing the typed order again loses nothing.
	again, err := canon.From(o)
	if err != nil {
		t.Fatal(err)
	}
	if !canon.Equal(again, o.Value()) {
		t.Errorf("typed form differs (-document +typed):\n%s", cmp.Diff(string(o.Value().Canonical()), string(again.Canonical())))
	}
	if o.Precision.Repetitions.Total() != 60 || o.Precision.Repetitions.Of("value", 9) != 3 || o.Precision.Repetitions.Of("other", 9) != 9 {
		t.Errorf("levels %v", o.Precision.Repetitions)
	}
	if *o.Schedule.Seed != -7 || *o.Round != 3 || *o.Precision.Warmup.NWarmup != 0 {
		t.Error("optional integers are lost")
	}
}

func TestOrdersOutsideTheSchema(t *testing.T) {
	t.Parallel()
	levels := `{"mode":"fixed","levels":[{"unit":"process","n":20},{"unit":"value","n":3}]}`
	for _, c := range []struct{ name, member, value, pointer string }{
		{"repetitions as a number", "precision", `{"repetitions":5}`, ""},
		{"repetitions by level", "precision", `{"repetitions":` + levels + `}`, ""},
		{"warmup of none", "precision", `{"repetitions":5,"warmup":{"mode":"count","n_warmup":0}}`, ""},
		{"resolved without plan", "plan", "", "/plan"},
		{"draft with plan", "state", `"draft"`, "/plan"},
		{"adaptive without seconds", "precision", `{"repetitions":5,"calibration":{"mode":"adaptive"}}`, "/precision/calibration/minimum_sample_seconds"},
		{"adaptive with iterations", "precision", `{"repetitions":5,"calibration":{"mode":"adaptive","minimum_sample_seconds":1,"n_iterations":3}}`, "/precision/calibration/n_iterations"},
		{"no warmup with seconds", "precision", `{"repetitions":5,"warmup":{"mode":"none","seconds":1}}`, "/precision/warmup/seconds"},
		{"calibration mode", "precision", `{"repetitions":5,"calibration":{"mode":"auto"}}`, "/precision/calibration/mode"},
		{"variable name", "environment_variables", `{"1X":"a"}`, "/environment_variables/1X"},
		{"empty build", "build", `{}`, "/build"},
		{"component without role", "components", `[{"source":{"uri":"https://e.org"},"revision":"1"}]`, "/components/0/role"},
		{"token with space", "run_key", `"a b"`, "/run_key"},
		{"token with a no-break space", "run_key", `"a\u00a0b"`, "/run_key"},
		{"long how_built", "target", `{"kind":"build","path":"/x","source":{"uri":"https://e.org"},"how_built":"` + strings.Repeat("x", 8193) + `"}`, "/target/how_built"},
		{"shell", "target", `{"kind":"build","path":"/x","source":{"uri":"https://e.org"},"shell":"not a shell"}`, "/target/shell"},
		{"unknown member", "slot", `0`, "/slot"},
		{"unknown version", "schema_version", `"benchx/work-order/9.0.0"`, "/schema_version"},
	} {
		_, err := Parse([]byte(with(t, c.member, c.value)))
		if c.pointer == "" {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		e, ok := fault.As(err)
		if !ok || e.Code != fault.Invalid || !strings.HasPrefix(e.Pointer, c.pointer[:strings.LastIndex(c.pointer, "/")+1]) && e.Pointer != c.pointer {
			t.Errorf("%s: %v, want invalid at %s", c.name, err, c.pointer)
		}
	}
}

func TestRulesBeyondTheSchema(t *testing.T) {
	t.Parallel()
	suite := func(more string) string { return `[{"adapter":"a","suite":"s","filter":"x",` + more + `}]` }
	target := func(more string) string {
		return `{"kind":"build","path":"/x","source":{"uri":"https://e.org"}` + more + `}`
	}
	for _, c := range []struct{ name, member, value, pointer string }{
		{"filter and include", "suites", suite(`"include":["y"]`), "/suites/0/filter"},
		{"filter and exclude", "suites", suite(`"exclude":["y"]`), "/suites/0/filter"},
		{"empty pattern", "suites", `[{"adapter":"a","suite":"s","include":["x",""]}]`, "/suites/0/include/1"},
		{"empty exclusion", "suites", `[{"adapter":"a","suite":"s","exclude":[""]}]`, "/suites/0/exclude/0"},
		{"second primary", "components", `[{"role":"primary","source":{"uri":"https://e.org"},"revision":"1"}]`, "/components/0/role"},
		{"quantity twice", "quantities", `["wall-time","wall-time"]`, "/quantities/1"},
		{"planned quantity not ordered", "quantities", `["cpu-time"]`, "/plan/0/quantity"},
		{"plan id twice", "plan", `[{"id":"p","case":"a","quantity":"wall-time"},{"id":"p","case":"b","quantity":"wall-time"}]`, "/plan/1/id"},
		{"planned twice", "plan", `[{"id":"p","case":"a","quantity":"wall-time"},{"id":"q","case":"a","quantity":"wall-time"}]`, "/plan/1"},
		{"harness variable", "environment_variables", `{"BENCHMARK_FILTER":"x"}`, "/environment_variables/BENCHMARK_FILTER"},
		{"criterion variable", "environment_variables", `{"CRITERION_HOME":"x"}`, "/environment_variables/CRITERION_HOME"},
		{"pytest options", "environment_variables", `{"PYTEST_ADDOPTS":"x"}`, "/environment_variables/PYTEST_ADDOPTS"},
		{"go flags", "environment_variables", `{"GOFLAGS":"-mod=mod"}`, "/environment_variables/GOFLAGS"},
		{"level twice", "precision", `{"repetitions":{"mode":"fixed","levels":[{"unit":"process","n":2},{"unit":"process","n":3}]}}`, "/precision/repetitions/levels/1/unit"},
		{"collector twice", "collectors", `[{"name":"c","command":["x"]},{"name":"c","command":["y"]}]`, "/collectors/1/name"},
		{"nothing to verify", "collectors", `[{"name":"c","command":["x"],"verify":"how_built"}]`, "/collectors/0/verify"},
		{"limits crossed", "timeouts", `{"case_s":10,"order_s":5}`, "/timeouts/order_s"},
		{"branch as component", "components", `[{"role":"blas","source":{"uri":"https://e.org"},"revision":"main"}]`, "/components/0/revision"},
		{"branch as benchmark", "benchmark", `{"source":{"uri":"https://e.org"},"revision":"refs/heads/x"}`, "/benchmark/revision"},
		{"branch as artifact", "target", `{"kind":"artifact","uri":"https://e.org/x","sha256":"` + strings.Repeat("0", 64) + `","source":{"uri":"https://e.org"},"revision":"HEAD"}`, "/target/revision"},
	} {
		_, err := Parse([]byte(with(t, c.member, c.value)))
		e, ok := fault.As(err)
		if !ok || e.Code != fault.Invalid || e.Pointer != c.pointer || len(e.Fields) == 0 {
			t.Errorf("%s: %v, want invalid at %s", c.name, err, c.pointer)
		}
	}
	// A name in both maps.
	v, err := canon.Parse([]byte(with(t, "environment_variables", `{"N":"1"}`)))
	if err != nil {
		t.Fatal(err)
	}
	_, err = Parse(v.With("workload_parameters", canon.MustFrom(map[string]int{"N": 1})).Canonical())
	if e, ok := fault.As(err); !ok || e.Pointer != "/workload_parameters/N" {
		t.Errorf("name in both maps: %v", err)
	}
	// Fine: a workload that only looks like an option, text how_built without verify.
	for member, value := range map[string]string{
		"environment_variables": `{"GOMAXPROCS":"4","LD_PRELOAD":"x","MY_BENCHMARK_X":"1"}`,
		"collectors":            `[{"name":"c","command":["x"],"expect":{"a":1}}]`,
		"target":                target(`,"how_built":"make"`),
	} {
		parse(t, with(t, member, value))
	}
}

func TestAllFailuresAreListed(t *testing.T) {
	t.Parallel()
	_, err := Parse([]byte(with(t, "environment_variables", `{"GOFLAGS":"x","BENCHMARK_A":"y","OK":"z"}`)))
	e, ok := fault.As(err)
	if !ok || len(e.Fields) != 2 {
		t.Fatalf("%v, want two failures", err)
	}
}

func TestMalformedOrders(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty": "", "trailing": vector + "x", "duplicate": strings.Replace(vector, `{"plan"`, `{"run_key":"a","plan"`, 1),
		"not a number": strings.Replace(vector, "600", "NaN", 1), "large": strings.Replace(vector, "600", "9007199254740993", 1),
	} {
		if _, err := Parse([]byte(text)); fault.CodeOf(err) != fault.Malformed {
			t.Errorf("%s: %v, want malformed", name, err)
		}
	}
}

func TestDeclaredText(t *testing.T) {
	t.Parallel()
	for _, empty := range []string{`""`, `null`, `"  \n"`} {
		o := parse(t, with(t, "target", `{"kind":"build","path":"/x","source":{"uri":"https://e.org"},"how_built":`+empty+`,"activation":`+empty+`}`))
		if got := o.Target.Declared(); len(got) != 0 {
			t.Errorf("%s declares %v", empty, got)
		}
	}
	o := parse(t, with(t, "target", `{"kind":"build","path":"/x","source":{"uri":"https://e.org"},"how_built":{"cc":"gcc"},"activation":" a ","shell":"/bin/sh","provider":{"name":"p"}}`))
	got := string(canon.MustFrom(o.Target.Declared()).Canonical())
	if want := `{"activation":" a ","how_built":{"cc":"gcc"},"shell":"/bin/sh","target_provider":{"name":"p"}}`; got != want {
		t.Errorf("declared %s, want %s", got, want)
	}
}

func TestTokensAreTokensAndDoNotCollide(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.StringN(1, 20, 80).Draw(t, "a"), rapid.StringN(1, 20, 80).Draw(t, "b")
		if !ident.IsToken(Token(a)) {
			t.Fatalf("%q is no token", Token(a))
		}
		if (a == b) != (Token(a) == Token(b)) {
			t.Fatalf("%q and %q share %q", a, b, Token(a))
		}
	})
	for in, want := range map[string]string{"BM_Quiet/1024": "BM_Quiet/1024", "BM<int, 8>": "BM<int,%208>", "50%": "50%25", "a\u00a0b": "a%C2%A0b", "": ""} {
		if got := Token(in); got != want {
			t.Errorf("Token(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(vector))
	f.Add([]byte(`{"schema_version":"benchx/work-order/0.1.0"}`))
	f.Add([]byte(strings.Replace(vector, `"repetitions":5`, `"repetitions":{"mode":"fixed","levels":[{"unit":"a","n":2}]}`, 1)))
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := Parse(b)
		if err != nil {
			if e, ok := fault.As(err); !ok || e.Code == fault.Internal {
				t.Fatalf("not a refusal: %v", err)
			}
			return
		}
		again, err := Parse(o.Value().Canonical())
		if err != nil || again.Ref() != o.Ref() {
			t.Fatalf("canonical form is another order: %v", err)
		}
	})
}
