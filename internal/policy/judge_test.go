package policy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
	"writ/internal/result"
)

// facts makes observations of plain values; nil is a fact that cannot be read.
func facts(values map[string]any) Facts {
	out := Facts{}
	for name, v := range values {
		out[name] = result.Missed(result.Unavailable, result.Before, "/nowhere")
		if v != nil {
			out[name] = result.Saw(canon.MustFrom(v), "", result.Before, "/somewhere")
		}
	}
	return out
}

func TestJudge(t *testing.T) {
	t.Parallel()
	const gib = 1 << 30
	for name, tc := range map[string]struct {
		rule  string // check and parameters
		good  map[string]any
		bad   map[string]any
		why   string // of bad
		start bool
		each  bool
	}{
		"governor": {`"cpu.governor","parameters":{"governor":"performance"}`, map[string]any{FactGovernor: "performance"},
			map[string]any{FactGovernor: "performance,powersave"}, `cpu.governor is "performance,powersave", not "performance"`, true, true},
		"boost": {`"cpu.boost","parameters":{"boost":false}`, map[string]any{FactBoost: false}, map[string]any{FactBoost: true}, "cpu.boost is true, not false", true, true},
		"smt":   {`"cpu.smt","parameters":{"smt":true}`, map[string]any{FactSMT: true}, map[string]any{FactSMT: false}, "cpu.smt is false, not true", true, true},
		"affinity": {`"cpu.affinity","parameters":{"cpus":"0,1"}`, map[string]any{FactAffinity: "0-1"},
			map[string]any{FactAffinity: "0-3"}, "cpu.affinity is 0-3, not 0,1", true, true},
		"load": {`"load.quiescent","parameters":{"max_1m_load":2}`, map[string]any{FactLoad: 2}, map[string]any{FactLoad: 2.01}, "load.avg_1m is 2.01, above 2", true, false},
		"memory": {`"hardware.present","parameters":{"min_ram_bytes":1073741824}`, map[string]any{FactMemory: gib},
			map[string]any{FactMemory: gib - 1}, "memory.total is 1073741823, not at least 1073741824", true, false},
		"model": {`"hardware.present","parameters":{"cpu_model_pattern":"AMD * w/ *"}`, map[string]any{FactModel: "AMD Ryzen w/ Radeon"},
			map[string]any{FactModel: "Intel"}, `cpu.model is "Intel", not "AMD * w/ *"`, true, false},
		"devices": {`"hardware.present","parameters":{"gpu_count":1}`, map[string]any{FactGPUs: 2}, map[string]any{FactGPUs: 0}, "gpu.count is 0, not at least 1", true, false},
		"tree":    {`"tree.clean"`, map[string]any{FactTree: "clean"}, map[string]any{FactTree: "unknown"}, `tree.state is "unknown", not "clean"`, true, false},
		"heat": {`"thermal.throttle"`, map[string]any{FactThermalThrottle: 0}, map[string]any{FactThermalThrottle: 1},
			"thermal.throttle_count is 1, above 0", false, true},
		"both counters": {`"thermal.throttle","parameters":{"counters":["thermal_throttle_count","cgroup_cpu_throttled_periods"]}`,
			map[string]any{FactThermalThrottle: 0, FactQuotaThrottle: 0}, map[string]any{FactThermalThrottle: 0, FactQuotaThrottle: 3},
			"cgroup.cpu_throttled_periods is 3, above 0", false, true},
	} {
		for _, onFail := range []string{Refuse, Warn} {
			p := parse(t, rules(`{"tier":"verify","on_fail":"`+onFail+`","check":`+tc.rule+`}`))
			for at, judged := range map[Moment]bool{Start: tc.start, Case: tc.each} {
				if got := p.Judge(at, facts(tc.good)); len(got) > 0 {
					t.Errorf("%s holds, and is reported: %+v", name, got)
				}
				var want []Failure
				if judged {
					want = []Failure{{0, p.Rules[0].Check, onFail == Refuse, tc.why}}
				}
				got := p.Judge(at, facts(tc.bad))
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s at %d (-want +got):\n%s", name, at, diff)
				}
				if f, refused := Refused(got); refused != (judged && onFail == Refuse) || refused && f.Token() != "policy-unsatisfied-"+p.Rules[0].Check {
					t.Errorf("%s %s: refused %v %s", name, onFail, refused, f.Token())
				}
			}
			for what, f := range map[string]Facts{"nothing": nil, "unavailable": {}, "an error": {}} {
				for fact := range tc.good {
					switch what {
					case "unavailable":
						f[fact] = result.Missed(result.Unavailable, result.Before, "")
					case "an error":
						f[fact] = result.Missed(result.SeenError, result.Before, "/x")
					}
				}
				got := p.Judge(Start|Case, f)
				if len(got) != 1 || !strings.Contains(got[0].Why, "cannot be read") && !strings.Contains(got[0].Why, "not understood: see /x") {
					t.Errorf("%s with %s: %+v", name, what, got)
				}
			}
			if looks := p.Looks(); len(looks) < len(tc.good) {
				t.Errorf("%s looks at %v", name, looks)
			}
		}
		q := parse(t, rules(`{"tier":"record","check":"tree.clean"}`))
		if got := q.Judge(Start|Case, nil); len(got) > 0 {
			t.Errorf("a rule that only records is judged: %+v", got)
		}
	}
}

func TestLooks(t *testing.T) {
	t.Parallel()
	p := parse(t, rules(`{"check":"threads.max","tier":"record"},{"check":"thermal.temperature","tier":"record"},{"check":"cpu.governor","tier":"record"},`+
		`{"check":"cpu.governor","tier":"verify","on_fail":"warn","parameters":{"governor":"x"}},{"check":"x-a.b","tier":"record"}`))
	want := []string{"cpu.governor", "env.GOMAXPROCS", "env.MKL_NUM_THREADS", "env.NUMEXPR_NUM_THREADS", "env.OMP_NUM_THREADS",
		"env.OPENBLAS_NUM_THREADS", "env.RAYON_NUM_THREADS", "env.VECLIB_MAXIMUM_THREADS", "thermal.temperature"}
	if diff := cmp.Diff(want, p.Looks()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := parse(t, rules(`{"check":"threads.max","tier":"enforce","parameters":{"n":1}}`)).Looks(); got != nil {
		t.Errorf("what is set is looked at: %v", got)
	}
	if names := Checks(); len(names) != 13 || names[0] != AccelSync {
		t.Errorf("checks %v", names)
	}
}
