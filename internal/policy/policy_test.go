package policy

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
	"writ/internal/fault"
)

const vector = `{"name":"p","rules":[{"check":"load.quiescent","on_fail":"refuse","parameters":{"max_1m_load":2},"tier":"verify"}],"version":"1"}`

func TestVector(t *testing.T) {
	t.Parallel()
	p := parse(t, vector)
	if got, want := p.Hash().Hex(), "9d17c20aa45571bfabaa24355624ce310b62a7e3808e72e2a9253a5e90718310"; got != want {
		t.Errorf("hash %s, want %s", got, want)
	}
	if p.Ref() != "p@1" || string(p.Value().Canonical()) != vector {
		t.Errorf("ref %s, value %s", p.Ref(), p.Value().Canonical())
	}
	if got := parse(t, `{"name":"p","version":"1 beta","rules":[{"check":"tree.clean","tier":"record"}]}`).Ref(); got != "p@1%20beta" {
		t.Errorf("a version with a blank is spelled %s", got)
	}
}

func TestRefusedPolicies(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, at string }{
		"no rules":                     {`{"name":"p","version":"1","rules":[]}`, "/rules"},
		"unknown member":               {`{"name":"p","version":"1","rules":[{"check":"tree.clean","tier":"record","if":1}]}`, "/rules/0/if"},
		"verify without on_fail":       {rules(`{"check":"tree.clean","tier":"verify"}`), "/rules/0/on_fail"},
		"record with on_fail":          {rules(`{"check":"tree.clean","tier":"record","on_fail":"warn"}`), "/rules/0/on_fail"},
		"enforce with on_fail":         {rules(`{"check":"threads.max","tier":"enforce","parameters":{"n":1},"on_fail":"refuse"}`), "/rules/0/on_fail"},
		"governor is enforced":         {rules(`{"check":"cpu.governor","tier":"enforce","parameters":{"governor":"performance"}}`), "/rules/0/tier"},
		"boost is enforced":            {rules(`{"check":"cpu.boost","tier":"enforce","parameters":{"boost":false}}`), "/rules/0/tier"},
		"clocks are enforced":          {rules(`{"check":"gpu.clocks-locked","tier":"enforce","parameters":{"mhz":1500}}`), "/rules/0/tier"},
		"hardware is recorded":         {rules(`{"check":"hardware.present","tier":"record"}`), "/rules/0/tier"},
		"temperature is verified":      {rules(`{"check":"thermal.temperature","tier":"verify","on_fail":"warn"}`), "/rules/0/tier"},
		"underscore":                   {rules(`{"check":"gpu.clocks_locked","tier":"record"}`), "/rules/0/check"},
		"no thread count":              {rules(`{"check":"threads.max","tier":"enforce"}`), "/rules/0/parameters"},
		"no threads":                   {rules(`{"check":"threads.max","tier":"enforce","parameters":{"n":0}}`), "/rules/0/parameters/n"},
		"no governor to verify":        {rules(`{"check":"cpu.governor","tier":"verify","on_fail":"warn"}`), "/rules/0/parameters"},
		"misspelled parameter":         {rules(`{"check":"load.quiescent","tier":"verify","on_fail":"warn","parameters":{"max_load":1}}`), "/rules/0/parameters/max_load"},
		"list of processors backwards": {rules(`{"check":"cpu.affinity","tier":"enforce","parameters":{"cpus":"3-0"}}`), "/rules/0/parameters/cpus"},
		"boost as text":                {rules(`{"check":"cpu.boost","tier":"verify","on_fail":"warn","parameters":{"boost":"off"}}`), "/rules/0/parameters/boost"},
		"two devices":                  {rules(`{"check":"gpu.device","tier":"enforce","parameters":{"index":0,"uuid":"GPU-1"}}`), "/rules/0/parameters"},
		"hardware of no kind":          {rules(`{"check":"hardware.present","tier":"verify","on_fail":"warn"}`), "/rules/0/parameters"},
		"unknown counter":              {rules(`{"check":"thermal.throttle","tier":"record","parameters":{"counters":["x"]}}`), "/rules/0/parameters/counters"},
		"sampling without end":         {rules(`{"check":"thermal.temperature","tier":"record","parameters":{"sample_interval_s":0}}`), "/rules/0/parameters/sample_interval_s"},
		"enforced twice":               {rules(`{"check":"threads.max","tier":"enforce","parameters":{"n":1}},{"check":"threads.max","tier":"enforce","parameters":{"n":2}}`), "/rules/1/check"},
		"cleaning is no parameter":     {rules(`{"check":"tree.clean","tier":"record","parameters":{"how":"git"}}`), "/rules/0/parameters/how"},
	} {
		_, err := Parse([]byte(tc.text))
		if fault.CodeOf(err) != fault.Invalid {
			t.Errorf("%s: got %v", name, err)
			continue
		}
		e, _ := fault.As(err)
		found := e.Pointer == tc.at
		for _, f := range e.Fields {
			found = found || f.Pointer == tc.at
		}
		if !found {
			t.Errorf("%s: at %q %+v, want %q", name, e.Pointer, e.Fields, tc.at)
		}
	}
	if _, err := Parse([]byte(vector + "x")); fault.CodeOf(err) != fault.Malformed {
		t.Errorf("trailing text: %v", err)
	}
}

// TestMachineStateIsNeverEnforced: a policy from elsewhere that would have a
// runner change the machine is refused for every such rule, not only the first.
func TestMachineStateIsNeverEnforced(t *testing.T) {
	t.Parallel()
	_, err := Parse([]byte(rules(`{"check":"threads.max","tier":"enforce","parameters":{"n":1}},` +
		`{"check":"cpu.governor","tier":"enforce","parameters":{"governor":"performance"}},` +
		`{"check":"cpu.boost","tier":"enforce","parameters":{"boost":false}},` +
		`{"check":"gpu.clocks-locked","tier":"enforce","parameters":{"mhz":1500}}`)))
	e, ok := fault.As(err)
	if !ok || len(e.Fields) != 3 {
		t.Fatalf("got %v", err)
	}
	for _, f := range e.Fields {
		if !strings.Contains(f.Rule, "never changed") {
			t.Errorf("%s: %s", f.Pointer, f.Rule)
		}
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	p := parse(t, rules(`{"check":"threads.max","tier":"enforce","parameters":{"n":2}},{"check":"cpu.affinity","tier":"enforce","parameters":{"cpus":"8,0-3,2"}},`+
		`{"check":"load.quiescent","tier":"verify","on_fail":"warn","parameters":{"max_1m_load":2,"window_s":60}},`+
		`{"check":"thermal.temperature","tier":"record","parameters":{"sample_interval_s":0.5,"sensors":["x86*"]}}`))
	s := p.Settings()
	if want := (Settings{Threads: 2, CPUs: "0-3,8"}); s != want {
		t.Errorf("settings %+v, want %+v", s, want)
	}
	for _, name := range ThreadVariables {
		if s.Variables()[name] != "2" {
			t.Errorf("%s is %q", name, s.Variables()[name])
		}
	}
	if got := string(canon.MustFrom(s.Enforced()).Canonical()); got != `{"cpu.affinity":"0-3,8","threads.max":2}` {
		t.Errorf("enforced %s", got)
	}
	if p.Patience() != time.Minute || p.Unhandled() != -1 {
		t.Errorf("patience %s, unhandled %d", p.Patience(), p.Unhandled())
	}
	sampling, ok := p.Sampling()
	if diff := cmp.Diff(Sampling{500 * time.Millisecond, []string{"x86*"}}, sampling); diff != "" || !ok {
		t.Errorf("sampling (-want +got):\n%s", diff)
	}
	q := parse(t, rules(`{"check":"tree.clean","tier":"record"},{"check":"x-arrow.pool","tier":"record"}`))
	if s := q.Settings(); s != (Settings{}) || s.Variables() != nil || len(s.Enforced()) != 0 || q.Unhandled() != 1 || q.Patience() != 0 {
		t.Errorf("a policy that sets nothing: %+v, unhandled %d", s, q.Unhandled())
	}
	if _, ok := q.Sampling(); ok {
		t.Error("a policy without a temperature samples it")
	}
}

func TestCPUs(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]string{
		"0": "0", "0-1": "0-1", "1,0": "0-1", "3, 1,0-1": "0-1,3", "0-3,8": "0-3,8", "5-5": "5",
		"": "error", "-1": "error", "1-": "error", "2-1": "error", "0-99999999": "error", "a": "error", "0,,1": "error", "+1": "error",
	} {
		got, err := ParseCPUs(list)
		if text := got.String(); err == nil && text != want || (err != nil) != (want == "error") {
			t.Errorf("%q: %q %v, want %s", list, text, err, want)
		}
	}
	if !SameCPUs("0,1", "0-1") || SameCPUs("0-1", "0-2") || SameCPUs("", "") {
		t.Error("sets are compared by their spelling")
	}
}

func TestSet(t *testing.T) {
	t.Parallel()
	var s Set
	a, b := parse(t, vector), parse(t, strings.Replace(vector, "2}", "3}", 1))
	spaced := parse(t, strings.ReplaceAll(vector, ":", ": "))
	if err := s.Add(a, "one"); err != nil {
		t.Fatal(err)
	}
	if err := s.Add(spaced, "two"); err != nil || len(s.All()) != 1 {
		t.Errorf("the same body in another spelling: %v, %d policies", err, len(s.All()))
	}
	err := s.Add(b, "three")
	if fault.CodeOf(err) != fault.Conflict || !strings.Contains(err.Error(), "one and three") {
		t.Errorf("another body: %v", err)
	}
	next := parse(t, strings.Replace(vector, `"version":"1"`, `"version":"2"`, 1))
	if err := s.Add(next, "three"); err != nil {
		t.Fatal(err)
	}
	if p, err := s.Find("p", "2"); err != nil || p.Hash() != next.Hash() {
		t.Errorf("find: %v", err)
	}
	for _, tc := range []struct{ name, version, at, help string }{
		{"p", "3", "/environment_policy/version", "there is version 1, 2"}, {"q", "1", "/environment_policy/name", "writ policy list"},
	} {
		_, err := s.Find(tc.name, tc.version)
		e, _ := fault.As(err)
		if fault.CodeOf(err) != fault.Refused || e.Pointer != tc.at || !strings.Contains(e.Hint, tc.help) {
			t.Errorf("%s %s: %v (%s)", tc.name, tc.version, err, e.Hint)
		}
	}
}

func TestShipped(t *testing.T) {
	t.Parallel()
	s, err := Shipped()
	if err != nil {
		t.Fatal(err)
	}
	var refs []string
	for _, h := range s.All() {
		refs = append(refs, h.Ref()+" "+h.Origin)
		if h.Unhandled() >= 0 {
			t.Errorf("%s has a rule that nobody can carry out", h.Ref())
		}
	}
	if diff := cmp.Diff([]string{"ci@1 shipped", "laptop@1 shipped"}, refs); diff != "" {
		t.Errorf("shipped (-want +got):\n%s", diff)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(vector))
	f.Add([]byte(rules(`{"check":"cpu.affinity","tier":"enforce","parameters":{"cpus":"0-3"}},{"check":"x-a.b","tier":"verify","on_fail":"warn","parameters":{"a":[1]}}`)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := Parse(raw)
		if err != nil {
			return
		}
		again, err := Parse(p.Value().Canonical())
		if err != nil || again.Hash() != p.Hash() {
			t.Errorf("the canonical form is another policy: %v", err)
		}
		for _, f := range p.Judge(Start|Case, nil) {
			if f.Why == "" || p.Rules[f.Rule].Tier != Verify {
				t.Errorf("failure %+v", f)
			}
		}
		_, _, _ = p.Settings(), p.Looks(), p.Patience()
	})
}
