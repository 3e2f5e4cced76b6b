package result

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"writ/internal/canon"
	"writ/internal/fault"
)

func ptr[T any](x T) *T { return &x }

func value(t testing.TB, text string) canon.Value {
	t.Helper()
	v, err := canon.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

const tree = "59a4a46c52fb11a87958481932493433d1d5c174"

// sample is a full result of one round.
func sample(t testing.TB) Document {
	t.Helper()
	return Document{
		Producer: Producer{"writ/go-test", "0.1.0", "go-test-to-benchx/v1"}, AttemptKey: "urn:benchx:attempt:41d3b2be28538f65:0",
		Project: "demo", Source: Source{"https://example.org/demo.git", "git"}, Revision: Revision{Key: "abc", NativeOrder: ptr(int64(-3))},
		Coordinates: Coordinates{
			Workload:          Workload{Name: "BM/1024", Parameters: map[string]canon.Value{"OMP_NUM_THREADS": canon.StringOf("1")}},
			Subject:           Subject{Name: "demo", Components: []Component{{Role: Primary, Source: "https://example.org/demo.git"}}},
			Quantity:          Quantity{Name: "wall-time", Unit: "s", Direction: LowerIsBetter},
			ComparisonContext: value(t, `{"harness":{"name":"go","version":"1.26"},"protocol":{"schedule":{"kind":"random","seed":1}}}`),
			Environment: Environment{
				Schema: "machine/v1", Identity: value(t, `{"runner":"h","cpu":"c","cores":2}`), System: value(t, `{"kernel":"6.1"}`),
				Condition: map[string]Observed{
					"load.avg_1m": Saw(value(t, "0.5"), "1", Before, "/proc/loadavg"), "cpu.freq_mhz": Missed(Unavailable, Sampled, ""),
					BootID: Saw(canon.StringOf("b-1"), "", Before, "/proc/sys/kernel/random/boot_id"),
				},
			},
		},
		Measurement: Measurement{Status: Success, Observations: append(Values(1e-3, 2e-3), Observation{Value: 9, Ordinal: ptr(2), Included: ptr(false), ExclusionReason: "warmup"})},
		Procedure: Procedure{
			Slot: ptr(7), Round: ptr(3), TimeoutSeconds: ptr(60.0), AttemptedRepetitions: ptr(2), CompletedRepetitions: ptr(2),
			RepetitionLevels: []LevelCounts{{"process", 1, 1}, {"value", 2, 2}}, Extra: map[string]canon.Value{"calibration_runs": canon.IntOf(1)},
		},
		Provenance: Provenance{
			RunKey: "run_1.compare.1", StartedAt: "2026-01-02T03:04:05Z", EndedAt: "2026-01-02T03:04:05.5Z", SubjectDirty: Clean, BenchmarkDirty: Unknown, SubjectTree: tree,
			Labels: map[string]string{"step": "compare"}, Artifacts: []Artifact{{ArtifactTarget, "application/x-executable", "file:///a", strings.Repeat("a", 64), ""}},
			Info: map[string]canon.Value{InfoWorkOrder: canon.StringOf("sha256:" + strings.Repeat("b", 64)), InfoPlanEntry: canon.StringOf("p0")},
		},
		Quality: &Quality{Warnings: []string{"cpu-scaling-enabled"}},
	}
}

func build(t testing.TB, d Document) Result {
	t.Helper()
	r, err := New(d)
	if err != nil {
		t.Fatalf("new: %v", err)
	}
	return r
}

func TestBuiltResultIsReadBackTheSame(t *testing.T) {
	t.Parallel()
	r := build(t, sample(t))
	back, err := Parse(r.Raw())
	if err != nil {
		t.Fatal(err)
	}
	again := build(t, back.Document)
	if string(again.Raw()) != string(r.Raw()) || again.Digest() != r.Digest() || canon.Sum(r.Raw()) != r.Digest() {
		t.Errorf("rewriting changes the document (-first +second):\n%s", cmp.Diff(string(r.Raw()), string(again.Raw())))
	}
	if *back.Procedure.Round != 3 || *back.Procedure.Slot != 7 || back.WorkOrder() != "sha256:"+strings.Repeat("b", 64) ||
		back.PlanEntry() != "p0" || back.Target() != strings.Repeat("a", 64) {
		t.Errorf("lost: %+v", back.Document)
	}
	if x, _ := back.Procedure.Extra["calibration_runs"].Int(); x != 1 {
		t.Error("members of procedure beyond the known ones are lost")
	}
	if diff := cmp.Diff([]float64{1e-3, 2e-3}, back.Measurement.Counted()); diff != "" {
		t.Errorf("counted observations (-want +got):\n%s", diff)
	}
	if back.IngestKey != "run_1.compare.1:BM%2F1024/%7B%22OMP_NUM_THREADS%22%3A%221%22%7D:wall-time:slot-7" {
		t.Errorf("ingest key %s", back.IngestKey)
	}
}

// mutate returns the sample with one place replaced, or removed by "".
func mutate(t *testing.T, pointer, text string) []byte {
	t.Helper()
	parts := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	var set func(v canon.Value, parts []string) canon.Value
	set = func(v canon.Value, parts []string) canon.Value {
		if len(parts) == 1 {
			if text == "" {
				return v.Without(parts[0])
			}
			return v.With(parts[0], value(t, text))
		}
		inner, _ := v.Get(parts[0])
		return v.With(parts[0], set(inner, parts[1:]))
	}
	return set(value(t, string(build(t, sample(t)).Raw())), parts).Canonical()
}

func TestWhatTheFormatTakesAndRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, pointer, text string
		ok                  bool
	}{
		{"thin", "/project", "", true},
		{"no procedure", "/procedure", "", true},
		{"censored", "/measurement", `{"status":"censored","reason":"timeout","constraint":{"kind":"lower_bound","cause":"timeout","lower":3,"lower_inclusive":true}}`, true},
		{"estimate only", "/measurement", `{"status":"success","summaries":[{"type":"estimate","source":"producer","value":1,"estimator":{"name":"mean","method_version":"x","input_level":"observations"}}]}`, true},
		{"partial", "/measurement", `{"status":"partial","reason":"harness.partial","observations":[1]}`, true},
		{"error", "/measurement", `{"status":"error","reason":"timeout"}`, true},
		{"skipped", "/measurement", `{"status":"skipped","reason":"harness.skipped"}`, true},
		{"success with reason", "/measurement", `{"status":"success","reason":"fine","observations":[1]}`, true},
		{"unversioned benchmark", "/benchmark", `{"source":{"uri":"https://e.org"}}`, false}, // its tree is missing here
		{"two primaries", "/coordinates/subject/components", `[{"role":"primary"},{"role":"primary"}]`, false},
		{"no primary", "/coordinates/subject/components", `[{"role":"blas","source":"https://e.org","revision":"1"}]`, false},
		{"primary with revision", "/coordinates/subject/components", `[{"role":"primary","revision":"1"}]`, false},
		{"part without revision", "/coordinates/subject/components", `[{"role":"primary"},{"role":"blas","source":"https://e.org"}]`, false},
		{"success with constraint", "/measurement/constraint", `{"kind":"lower_bound","cause":"x","lower":3,"lower_inclusive":true}`, false},
		{"success without evidence", "/measurement/observations", "", false},
		{"empty observations", "/measurement/observations", "[]", false},
		{"partial without reason", "/measurement", `{"status":"partial","observations":[1]}`, false},
		{"error without reason", "/measurement", `{"status":"error"}`, false},
		{"error with observations", "/measurement", `{"status":"error","reason":"x","observations":[1]}`, false},
		{"skipped with summaries", "/measurement", `{"status":"skipped","reason":"x","summaries":[{"type":"statistic","source":"producer","name":"sd","value":1}]}`, false},
		{"censored without constraint", "/measurement", `{"status":"censored","reason":"x"}`, false},
		{"crossed constraint", "/measurement", `{"status":"censored","reason":"x","constraint":{"kind":"interval","cause":"x","lower":3,"upper":2,"lower_inclusive":true,"upper_inclusive":true}}`, false},
		{"reason with other signs", "/measurement", `{"status":"error","reason":"policy_unsatisfied:x"}`, false},
		{"unknown dirty state with tree", "/provenance/subject_dirty", `"unknown"`, false},
		{"clean without tree", "/provenance/subject_tree", "", false},
		{"time with offset", "/provenance/started_at", `"2026-01-02T03:04:05+00:00"`, false},
		{"ended before it started", "/provenance/ended_at", `"2026-01-02T03:04:04Z"`, false},
		{"artifact without digest", "/provenance/artifacts", `[{"kind":"stdout","media_type":"text/plain","uri":"file:///a"}]`, false},
		{"token with space", "/coordinates/workload/name", `"a b"`, false},
		{"parameter object", "/coordinates/workload/parameters", `{"a":{"b":1}}`, false},
		{"foreign primary source", "/coordinates/subject/components", `[{"role":"primary","source":"https://e.org/other"}]`, false},
		{"more completed than attempted", "/procedure/completed_repetitions", `3`, false},
		{"count of another level", "/procedure/attempted_repetitions", `5`, false},
		{"condition without status", "/coordinates/environment/condition", `{"load":{"when":"before","value":1}}`, false},
		{"unavailable with value", "/coordinates/environment/condition", `{"load":{"when":"before","status":"unavailable","value":1}}`, false},
		{"sampled as one number", "/coordinates/environment/condition", `{"load":{"when":"sampled","status":"observed","value":1}}`, false},
		{"sampled", "/coordinates/environment/condition", `{"load":{"when":"sampled","status":"observed","value":{"min":1,"max":3,"mean":2,"n":4}}}`, true},
		{"fingerprint from a producer", "/series", `"abc"`, false},
		{"other message version", "/schema_version", `4`, false},
		{"summary bounds crossed", "/measurement/summaries", `[{"type":"confidence_interval","source":"producer","statistic":"mean","level":0.9,"lower":2,"upper":1}]`, false},
		{"one estimator twice", "/measurement/summaries", `[{"type":"estimate","source":"producer","value":1,"estimator":{"name":"m","method_version":"x","input_level":"observations"}},{"type":"estimate","source":"producer","value":2,"estimator":{"name":"m","method_version":"x","input_level":"observations"}}]`, false},
		{"derived without references", "/measurement/derivation", `{"name":"r","method_version":"x","input_level":"observations","inputs":[{"role":"a","quantity":"q"}]}`, false},
	} {
		_, err := Parse(mutate(t, c.pointer, c.text))
		if c.ok && err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if e, isFault := fault.As(err); !c.ok && (!isFault || e.Code != fault.Invalid || len(e.Fields) == 0) {
			t.Errorf("%s: %v, want invalid with its rules", c.name, err)
		}
	}
	for name, raw := range map[string]string{
		"not a number":  strings.Replace(string(build(t, sample(t)).Raw()), "0.001", "NaN", 1),
		"duplicate key": strings.Replace(string(build(t, sample(t)).Raw()), `{"attempt_key"`, `{"project":"x","attempt_key"`, 1),
	} {
		if _, err := Parse([]byte(raw)); fault.CodeOf(err) != fault.Malformed {
			t.Errorf("%s: %v, want malformed", name, err)
		}
	}
}

func TestUnversionedBenchmark(t *testing.T) {
	t.Parallel()
	d := sample(t)
	d.Benchmark = &Benchmark{Source: Source{URI: "https://e.org/b"}}
	d.Provenance.BenchmarkDirty, d.Provenance.BenchmarkTree = Dirty, tree
	build(t, d)
	d.Provenance.BenchmarkDirty = Clean
	if _, err := New(d); fault.CodeOf(err) != fault.Invalid {
		t.Errorf("a benchmark without revision is never clean: %v", err)
	}
}

func TestDerivedResult(t *testing.T) {
	t.Parallel()
	d := sample(t)
	d.Measurement.Derivation = &Estimator{Name: "ratio", MethodVersion: "x", InputLevel: "observations", Inputs: []EstimatorInput{{"num", "wall-time"}, {"den", "cpu-time"}}}
	d.Provenance.References = []Reference{{"num", Ref{"p", "k1"}}, {"den", Ref{"p", "k2"}}}
	build(t, d)
	d.Provenance.References = d.Provenance.References[:1]
	if _, err := New(d); fault.CodeOf(err) != fault.Invalid {
		t.Errorf("a role without its reference: %v", err)
	}
}

func TestNumbersThatJSONLacks(t *testing.T) {
	t.Parallel()
	d := sample(t)
	d.Procedure.Extra["slot"] = canon.IntOf(1)
	if _, err := New(d); fault.CodeOf(err) != fault.Invalid {
		t.Errorf("an extra member shadows a known one: %v", err)
	}
	d = sample(t)
	nan := 0.0
	nan /= nan
	d.Measurement.Observations[0].Value = nan
	if _, err := New(d); err == nil {
		t.Error("NaN must not become a document")
	}
}

func TestFractionsOfSeconds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"2026-01-02T03:04:05Z", "2026-01-02T03:04:05.1Z", true}, {"2026-01-02T03:04:05.10Z", "2026-01-02T03:04:05.1Z", false},
		{"2026-01-02T03:04:05.09Z", "2026-01-02T03:04:05.1Z", true}, {"2026-01-02T03:04:06Z", "2026-01-02T03:04:05.9Z", false},
		{"2026-01-02T03:04:05.0Z", "2026-01-02T03:04:05Z", false},
	} {
		if got := before(c.a, c.b); got != c.want {
			t.Errorf("%s before %s: %v", c.a, c.b, got)
		}
	}
}

func TestAgreementOfResults(t *testing.T) {
	t.Parallel()
	a := build(t, sample(t))
	for _, c := range []struct {
		name                                string
		change                              func(*Document)
		attempt, settings, subject, machine bool
	}{
		{"another observation", func(d *Document) { d.Measurement.Observations[0].Value = 5 }, true, true, true, true},
		{"another load", func(d *Document) {
			d.Coordinates.Environment.Condition["load.avg_1m"] = Saw(value(t, "9"), "1", Before, "")
		}, true, true, true, true},
		{"another unit", func(d *Document) { d.Coordinates.Quantity.Unit = "ms" }, true, false, true, true},
		{"another protocol", func(d *Document) { d.Coordinates.ComparisonContext = value(t, `{"protocol":{}}`) }, true, false, true, true},
		{"another tree", func(d *Document) { d.Provenance.SubjectTree = strings.Repeat("0", 40) }, false, true, true, true},
		{"another configuration", func(d *Document) { d.Coordinates.Subject.Configuration = value(t, `{"O":3}`) }, false, true, false, true},
		{"another machine", func(d *Document) { d.Coordinates.Environment.Identity = value(t, `{"runner":"i"}`) }, false, true, true, false},
		{"another kernel", func(d *Document) { d.Coordinates.Environment.System = value(t, `{"kernel":"6.2"}`) }, true, true, true, false},
		{"another boot", func(d *Document) {
			d.Coordinates.Environment.Condition[BootID] = Saw(canon.StringOf("b-2"), "", Before, "")
		}, true, true, true, false},
	} {
		d := sample(t)
		c.change(&d)
		b := build(t, d)
		got := [4]bool{SameAttempt(&a, &b), SameSettings(&a, &b), SameSubject(&a, &b), SameMachine(&a, &b)}
		if want := [4]bool{c.attempt, c.settings, c.subject, c.machine}; got != want {
			t.Errorf("%s: attempt, settings, subject, machine = %v, want %v", c.name, got, want)
		}
	}
}

func TestKeyVectors(t *testing.T) {
	t.Parallel()
	params := func(text string) map[string]canon.Value {
		var m map[string]canon.Value
		if err := value(t, text).Decode(&m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	for _, c := range []struct {
		run, workload, params, quantity string
		slot                            *int
		want                            string
	}{
		{"rev-1", "BM_Quiet/1024", "{}", "wall-time", ptr(3), "rev-1:BM_Quiet%2F1024:wall-time:slot-3"},
		{"local:demo", "BM<int, 8>", "{}", "cpu-time", nil, "local%3Ademo:BM%3Cint%2C%208%3E:cpu-time"},
		{"r", "f", `{"OMP_NUM_THREADS":"1"}`, "wall-time", nil, "r:f/%7B%22OMP_NUM_THREADS%22%3A%221%22%7D:wall-time"},
		{"r/é", "a:b", `{"n":[1,2],"b":true}`, "q", ptr(0), "r%2F%C3%A9:a%3Ab/%7B%22b%22%3Atrue%2C%22n%22%3A%5B1%2C2%5D%7D:q:slot-0"},
	} {
		if got := IngestKey(c.run, Workload{Name: c.workload, Parameters: params(c.params)}, c.quantity, c.slot); got != c.want {
			t.Errorf("key %s, want %s", got, c.want)
		}
	}
	d, err := canon.ParseHex("41d3b2be28538f657e9362e157a3976868d3eba159be23de2ca7df3a138c911f")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := AttemptKey(d, 12), "urn:benchx:attempt:41d3b2be28538f65:12"; got != want {
		t.Errorf("attempt key %s, want %s", got, want)
	}
	var r Result
	r.IngestKey = "r:f/%7B%22OMP_NUM_THREADS%22%3A%221%22%7D:wall-time"
	if got, want := r.FileName(), "r_f_%7B%22OMP_NUM_THREADS%22%3A%221%22%7D_wall-time-"; !strings.HasPrefix(got, want) || !strings.HasSuffix(got, ".json") {
		t.Errorf("file name %s, want %s….json", got, want)
	}
}

func TestFileNamesDoNotCollide(t *testing.T) {
	t.Parallel()
	name := func(producer, key string) string {
		var r Result
		r.Producer.Name, r.IngestKey = producer, key
		return r.FileName()
	}
	if name("p", "a_b:c") == name("p", "a:b_c") || name("p", "x") == name("q", "x") {
		t.Error("two results share a file name")
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.StringN(1, 300, 900).Draw(t, "a"), rapid.StringN(1, 300, 900).Draw(t, "b")
		x, y := name("p", a), name("p", b)
		if (a == b) != (x == y) {
			t.Fatalf("%q and %q: %s %s", a, b, x, y)
		}
		if len(x) > 240 || strings.ContainsAny(x, "/\x00:\\") {
			t.Fatalf("not a file name: %q", x)
		}
	})
}

func TestFingerprintVectors(t *testing.T) {
	t.Parallel()
	estimator := EstimatorPrint(Estimator{Name: "median", MethodVersion: "benchx/median/v1", InputLevel: "observations"})
	if want := "d09c1df156976b3eef152d0830b5d10f9f63cd3eec820266ac73c12a74cac2f4"; estimator.Hex() != want {
		t.Errorf("estimator %s, want %s", estimator.Hex(), want)
	}
	d := Document{
		Project: "p", Source: Source{"https://example.org/demo.git", "git"},
		Coordinates: Coordinates{
			Workload: Workload{Name: "w"}, Subject: Subject{Name: "s", Components: []Component{{Role: Primary}}},
			Quantity: Quantity{Name: "wall-time", Unit: "s"}, ComparisonContext: value(t, "{}"),
			Environment: Environment{Schema: "local/v1", Identity: value(t, `{"hostname":"h"}`)},
		},
	}
	if got, want := ReportedPrint(d).Hex(), "ced1eb06efa67ead0d94bceb73195cdb8b1856dede39cb949ae14bf089b1740a"; got != want {
		t.Errorf("reported %s, want %s", got, want)
	}
	comparison := ComparisonPrint(d, "")
	if want := "890d406c924338bce66638acdf595ac8d84fa315ccba99aa31ad0ac995d49c79"; comparison.Hex() != want {
		t.Errorf("comparison %s, want %s", comparison.Hex(), want)
	}
	if got, want := SeriesPrint(comparison, estimator).Hex(), "41fd92fc24f3f3db08a1c79a743757e4fca90f7e138f895f36e5409a71173259"; got != want {
		t.Errorf("series %s, want %s", got, want)
	}
	d.Project = ""
	if ImplicitProject(d) != "local/h" || ComparisonPrint(d, ImplicitProject(d)) == comparison {
		t.Error("a thin result belongs to its machine's own project")
	}
}

func TestNormalURI(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"HTTPS://Example.ORG/Demo.git": "https://example.org/Demo", "https://e.org/x/": "https://e.org/x",
		"https://e.org/x.git/?q=1#f": "https://e.org/x", "not a uri": "not a uri", "file:///a/b": "file:///a/b",
	} {
		if got := NormalURI(in); got != want {
			t.Errorf("NormalURI(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestKnownQuantities(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Info{
		"wall-time": {"s", LowerIsBetter, false, Median}, "allocations": {"1", LowerIsBetter, true, Mean},
		"peak-rss": {"By", LowerIsBetter, false, Maximum}, "x-unknown": {Centre: Median},
	} {
		got, known := Known(name)
		if got != want || known == (name == "x-unknown") {
			t.Errorf("%s: %+v %v", name, got, known)
		}
	}
}

func TestOrderOfEvidence(t *testing.T) {
	t.Parallel()
	a := build(t, sample(t))
	d := sample(t)
	d.Producer.Name = "writ/a"
	b := build(t, d)
	if Compare(&a, &b) <= 0 || Compare(&b, &a) >= 0 || Compare(&a, &a) != 0 {
		t.Error("results are ordered by producer first")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(build(f, sample(f)).Raw())
	f.Add([]byte(`{"schema_version":5}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Parse(b)
		if err != nil {
			if e, ok := fault.As(err); !ok || e.Code == fault.Internal {
				t.Fatalf("not a refusal: %v", err)
			}
			return
		}
		v, err := canon.Parse(b)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(v.Canonical())
		if err != nil || again.Digest() != r.Digest() {
			t.Fatalf("canonical form is another result: %v", err)
		}
		_ = r.FileName()
	})
}

func BenchmarkParse(b *testing.B) {
	raw := build(b, sample(b)).Raw()
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		if _, err := Parse(raw); err != nil {
			b.Fatal(err)
		}
	}
}

// TestWhatIsBuiltIsWhatIsRead: a built result holds the document it was given, and
// everything about it is as if its bytes had been read.
func TestWhatIsBuiltIsWhatIsRead(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Document){
		"full": func(*Document) {},
		"thin": func(d *Document) {
			d.Project, d.Quality, d.Procedure, d.Provenance.Labels, d.Provenance.Artifacts = "", nil, Procedure{}, nil, nil
			d.Measurement = Measurement{Status: Failed, Reason: ReasonTimeout}
		},
		"empty parts": func(d *Document) {
			d.Provenance.Labels, d.Provenance.Artifacts, d.Quality.Warnings = map[string]string{}, []Artifact{}, []string{}
			d.Coordinates.Workload.Parameters, d.Procedure.Extra = map[string]canon.Value{}, map[string]canon.Value{}
		},
	} {
		d := sample(t)
		change(&d)
		built, err := New(d)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		read, err := Parse(built.Raw())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(read.Document, built.Document, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-read +built):\n%s", name, diff)
		}
		if read.Digest() != built.Digest() || *read.prints.get() != *built.prints.get() || read.FileName() != built.FileName() {
			t.Errorf("%s: digests or names differ", name)
		}
	}
}
