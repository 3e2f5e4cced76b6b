package schema

import (
	"strings"
	"testing"
)

type object = map[string]any

// TestOrdersAndResults has one line per case that the measuring formats decide.
func TestOrdersAndResults(t *testing.T) {
	t.Parallel()
	order := func(name, pointer, rule string, edits ...edit) variant {
		return variant{name, WorkOrder, "resolved", edits, pointer, rule}
	}
	result := func(name, pointer, rule string, edits ...edit) variant {
		return variant{name, MeasurementResult, "thin", edits, pointer, rule}
	}
	calibration := func(c object) edit { return edit{"/precision/calibration", c} }
	warmup := func(w object) edit { return edit{"/precision/warmup", w} }
	runAll(t, []variant{
		order("repetitions as a number", "", ""),
		order("repetitions by level", "", "", edit{"/precision/repetitions", object{"mode": "fixed", "levels": []any{object{"unit": "process", "n": 20}, object{"unit": "value", "n": 3}}}}),
		order("no warm-up observations", "", "", warmup(object{"mode": "count", "n_warmup": 0})),
		order("object how_built", "", "", edit{"/target/how_built", object{"compiler": "gcc"}}),
		order("how_built of 8192", "", "", edit{"/target/how_built", strings.Repeat("x", 8192)}),
		order("target without a source type", "", "", edit{"/target/source", object{"uri": "urn:x:y"}}),
		result("thin", "", ""),
		{"censored", MeasurementResult, "censored", nil, "", ""},
		{"unversioned benchmark with dirty tree", MeasurementResult, "full", nil, "", ""},

		order("resolved without plan", "/plan", "is required", edit{"/plan", nil}),
		order("draft with plan", "/plan", "is not allowed here", edit{"/state", "draft"}),
		order("empty plan", "/plan", "must not be empty", edit{"/plan", []any{}}),
		order("adaptive without seconds", "/precision/calibration/minimum_sample_seconds", "is required", calibration(object{"mode": "adaptive"})),
		order("adaptive with iterations", "/precision/calibration/n_iterations", "is not allowed here", calibration(object{"mode": "adaptive", "minimum_sample_seconds": 1, "n_iterations": 5})),
		order("fixed without iterations", "/precision/calibration/n_iterations", "is required", calibration(object{"mode": "fixed"})),
		order("calibration mode auto", "/precision/calibration/mode", "must be one of", calibration(object{"mode": "auto"})),
		order("no warm-up with seconds", "/precision/warmup/seconds", "is not allowed here", warmup(object{"mode": "none", "seconds": 1})),
		order("warm-up by time and count", "/precision/warmup/n_warmup", "is not allowed here", warmup(object{"mode": "time", "seconds": 1, "n_warmup": 1})),
		order("repetitions 0", "/precision/repetitions", "must be at least 1", edit{"/precision/repetitions", 0}),
		order("repetitions as text", "/precision/repetitions", "must be an integer or an object", edit{"/precision/repetitions", "5"}),
		order("name 1X", "/environment_variables/1X", "is not a legal name", edit{"/environment_variables", object{"1X": "a"}}),
		order("number as a variable", "/environment_variables/A", "must be a string", edit{"/environment_variables", object{"A": 1}}),
		order("empty build", "/build", "must not be empty", edit{"/build", object{}}),
		order("component without role", "/components/0/role", "is required", edit{"/components", []any{object{"source": object{"uri": "urn:x"}, "revision": "1"}}}),
		order("slot", "/slot", "is not a known member", edit{"/slot", 1}),
		order("unknown version", "/schema_version", `must be "benchx/work-order/0.1.0"`, edit{"/schema_version", "benchx/work-order/0.2.0"}),
		order("revision as a target", "/target/kind", "must be one of", edit{"/target/kind", "revision"}),
		order("artifact without digest", "/target/sha256", "is required", edit{"/target", object{"kind": "artifact", "uri": "urn:x", "source": object{"uri": "urn:x"}, "revision": "1"}}),
		order("how_built of 8193", "/target/how_built", "must have at most 8192 characters", edit{"/target/how_built", strings.Repeat("x", 8193)}),
		order("shell with a space", "/target/shell", "must match", edit{"/target/shell", "not a shell"}),
		order("shell with a no-break space", "/target/shell", "must match", edit{"/target/shell", "/bin/a\u00a0b"}),
		order("token with a space", "/run_key", "must not contain white space", edit{"/run_key", "a b"}),
		order("token with a line separator", "/run_key", "must not contain white space", edit{"/run_key", "a\u2028"}),
		order("token with a vertical tab", "/plan/0/id", "must not contain white space", edit{"/plan/0/id", "a\v"}),
		order("nested workload parameter", "/workload_parameters/a", "must be", edit{"/workload_parameters", object{"a": object{}}}),
		order("relative artifact", "/target/uri", "must be an absolute URI", edit{"/target", object{"kind": "artifact", "uri": "x.tar", "sha256": strings.Repeat("a", 64), "source": object{"uri": "urn:x"}, "revision": "1"}}),
		order("no time for a case", "/timeouts/case_s", "must be more than 0", edit{"/timeouts/case_s", 0}),

		result("two primaries", "/coordinates/subject/components", `must contain exactly one item with role "primary"`, edit{"/coordinates/subject/components/-", object{"role": "primary"}}),
		result("no primary", "/coordinates/subject/components", `must contain exactly one item with role "primary"`, edit{"/coordinates/subject/components/0", object{"role": "runtime", "source": "urn:x", "revision": "1"}}),
		result("primary with revision", "/coordinates/subject/components/0/revision", "is not allowed here", edit{"/coordinates/subject/components/0/revision", "1"}),
		result("other part without revision", "/coordinates/subject/components/1/revision", "is required", edit{"/coordinates/subject/components/-", object{"role": "runtime", "source": "urn:x"}}),
		result("success with constraint", "/measurement/constraint", "is not allowed here", edit{"/measurement/constraint", object{"kind": "lower_bound", "cause": "timeout", "lower": 1, "lower_inclusive": true}}),
		result("success with nothing", "/measurement/observations", "is required", edit{"/measurement/observations", nil}),
		result("error with observations", "/measurement/observations", "is not allowed here", edit{"/measurement/status", "error"}, edit{"/measurement/reason", "timeout"}),
		result("partial without reason", "/measurement/reason", "is required", edit{"/measurement/status", "partial"}),
		result("reason with underscore", "/measurement/reason", "must match", edit{"/measurement/reason", "policy_unsatisfied:x"}),
		result("unknown dirtiness with tree", "/provenance/subject_tree", "is not allowed here", edit{"/provenance/subject_dirty", "unknown"}),
		result("clean without tree", "/provenance/subject_tree", "is required", edit{"/provenance/subject_tree", nil}),
		result("timestamp with offset", "/provenance/started_at", "must match", edit{"/provenance/started_at", "2026-08-12T00:00:00+00:00"}),
		result("version 4", "/schema_version", "must be 5", edit{"/schema_version", 4}),
		result("fingerprint from a producer", "/fingerprint", "is not a known member", edit{"/fingerprint", "x"}),
		result("condition as a bare value", "/coordinates/environment/condition/load", "must be an object", edit{"/coordinates/environment/condition/load", 0.5}),
		result("unavailable with a value", "/coordinates/environment/condition/temp/value", "is not allowed here", edit{"/coordinates/environment/condition/temp/value", 1}),
		result("sampled as one number", "/coordinates/environment/condition/cpu.freq_mhz/value", "must be an object", edit{"/coordinates/environment/condition/cpu.freq_mhz/value", 1}),
		{"artifact without digest of it", MeasurementResult, "full", []edit{{"/provenance/artifacts/0/sha256", nil}}, "/provenance/artifacts/0/sha256", "is required"},
		{"derived without references", MeasurementResult, "full", []edit{{"/provenance/references", nil}}, "/provenance/references", "is required"},
		{"unversioned benchmark, clean", MeasurementResult, "full", []edit{{"/provenance/benchmark_dirty", "clean"}}, "/provenance/benchmark_dirty", `must be "dirty"`},
		{"level of 1", MeasurementResult, "full", []edit{{"/measurement/summaries/1/level", 1}}, "/measurement/summaries/1/level", "must be less than 1"},
		{"summary of no kind", MeasurementResult, "full", []edit{{"/measurement/summaries/1/type", "guess"}}, "/measurement/summaries/1/type", "must be one of"},
		{"bounds without an end", MeasurementResult, "full", []edit{{"/measurement/summaries/2/lower", nil}}, "/measurement/summaries/2/lower", "is required"},
		{"interval without its end", MeasurementResult, "censored", []edit{{"/measurement/constraint/kind", "interval"}}, "/measurement/constraint/upper", "is required"},

		{"verify without on_fail", EnvironmentPolicy, "policy", []edit{{"/rules/0/on_fail", nil}}, "/rules/0/on_fail", "is required"},
		{"record with on_fail", EnvironmentPolicy, "policy", []edit{{"/rules/0/tier", "record"}}, "/rules/0/on_fail", "is not allowed here"},
		{"policy without rules", EnvironmentPolicy, "policy", []edit{{"/rules", []any{}}}, "/rules", "must not be empty"},
		{"description with a relative folder", TargetDescription, "build", []edit{{"/target/path", "builds/demo"}}, "/target/path", "must match"},
		{"description on Windows", TargetDescription, "build", []edit{{"/target/path", `C:\builds\demo`}}, "", ""},

		{"indeterminate without reason", ComparisonDocument, "run", []edit{{"/units/1/reason", nil}}, "/units/1/reason", "is required"},
		{"judged without effect", ComparisonDocument, "run", []edit{{"/units/0/effect", nil}}, "/units/0/effect", "is required"},
		{"run without run key", ComparisonDocument, "run", []edit{{"/run_key", nil}}, "/run_key", "is required"},
		{"history with a baseline", ComparisonDocument, "history", []edit{{"/baseline", "a"}}, "/baseline", "is not allowed here"},
		{"an input twice", ComparisonDocument, "run", []edit{{"/inputs/-", object{"producer": "p", "ingest_key": "k"}}}, "/inputs/1", "repeats item 0"},
		{"missing on no side", ComparisonDocument, "run", []edit{{"/missing/0/side", nil}}, "/missing/0/side", "is required"},
		{"missing twice over", ComparisonDocument, "run", []edit{{"/missing/0/series", strings.Repeat("0", 64)}}, "/missing/0", "fits more than one"},

		{"an answer for what cannot be judged", GatePolicy, "default", []edit{{"/actions/invalid", "pass"}}, "/actions/invalid", "is not a known member"},
		{"a verdict without an answer", GatePolicy, "default", []edit{{"/actions/slower", nil}}, "/actions/slower", "is required"},
		{"a word of its own", Verdict, "slower", []edit{{"/overall", "slow"}}, "/overall", "must be one of"},
		{"an interval with one end", Verdict, "slower", []edit{{"/rows/0/interval", []any{1}}}, "/rows/0/interval", "must have at least 2 items"},
	})
}
