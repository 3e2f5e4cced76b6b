package runner

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/harness/googlebenchmark"
	"writ/internal/harness/harnesstest"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/testkit"
	"writ/internal/verdict"
)

// fakeProgram is the program of testdata/fakegbench, built once.
var fakeProgram = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "fakegbench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	cmd := exec.Command("go", "build", "-o", filepath.Join(dir, "fake"), "./testdata/fakegbench")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return out, err
	}
	return os.ReadFile(filepath.Join(dir, "fake"))
})

// behaviour is what a fake program does, see testdata/fakegbench.
type behaviour struct {
	Seed  int                                    `json:"seed"`
	Cases map[string]struct{ Mean, RSD float64 } `json:"cases,omitempty"`
	Error []string                               `json:"error,omitempty"`
	Skip  []string                               `json:"skip,omitempty"`
	Sleep map[string]float64                     `json:"sleep,omitempty"`
	Ghost []string                               `json:"ghost,omitempty"`
}

const quiet, noisy = "BM_Quiet/1024", "BM_Noisy/1024"

// paces makes two cases, one steady and one that is not.
func paces(seed int, quietMean, noisyMean float64) behaviour {
	return behaviour{Seed: seed, Cases: map[string]struct{ Mean, RSD float64 }{quiet: {quietMean, 0.002}, noisy: {noisyMean, 0.08}}}
}

// cmakeBuild makes a build directory with a fake program and what CMake leaves.
func cmakeBuild(t *testing.T, source, hardened string, b behaviour) string {
	t.Helper()
	program, err := fakeProgram()
	if err != nil {
		if _, missing := exec.LookPath("go"); missing != nil {
			testkit.Skip(t, "the go command", "https://go.dev/doc/install")
		}
		t.Fatalf("build the fake: %v\n%s", err, program)
	}
	config, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	dir := put(t, t.TempDir(), map[string]string{
		"CMakeCache.txt": "CMAKE_HOME_DIRECTORY:INTERNAL=" + source + "\nCMAKE_BUILD_TYPE:STRING=Release\nCMAKE_CXX_FLAGS:STRING=-O2\nCMAKE_PROJECT_NAME:STATIC=demo\n" +
			"DEMO_HARDENED:BOOL=" + hardened + "\nDEMO_DATA_DIR:PATH=/data/demo\n",
		"CMakeFiles/3.31.0/CMakeCXXCompiler.cmake": "set(CMAKE_CXX_COMPILER_ID \"AppleClang\")\nset(CMAKE_CXX_COMPILER_VERSION \"21.0.0\")\n",
	})
	whole := binary.BigEndian.AppendUint64(slices.Concat(program, config), uint64(len(config)))
	testkit.Program(t, filepath.Join(dir, "demo-bench"), whole)
	return dir
}

// gbenchOrder is an order for a fake program.
func gbenchOrder(build string, change func(*order.BuildParams)) order.BuildParams {
	p := order.BuildParams{
		RunKey: "rev-1", Side: "baseline", Project: "demo", Requester: order.Requester{Kind: order.Person, Name: "ann"},
		Suites: []order.Suite{{Adapter: googlebenchmark.Name, Suite: "demo-bench"}}, Quantities: []string{"wall-time"},
		Target:    order.Target{Kind: order.BuildTree, Path: build, Source: order.Source{URI: "https://example.org/demo.git", Type: "git"}},
		Precision: order.Precision{Repetitions: order.Times(5)}, Timeouts: order.Timeouts{CaseS: 30, OrderS: 600},
	}
	if change != nil {
		change(&p)
	}
	return p
}

func gbenchParams(t *testing.T, o order.Order) Params {
	t.Helper()
	return Params{Order: o, Dir: filepath.Join(t.TempDir(), "results"), Harnesses: harness.Set{googlebenchmark.Adapter{}}}
}

// checkouts are two commits of one repository.
func checkouts(t *testing.T) (base, head string) {
	t.Helper()
	s := harnesstest.Sample{Dir: put(t, t.TempDir(), map[string]string{"bench.cpp": "// work = 100\n"}), Build: t.TempDir()}
	s.Commit(t)
	head = filepath.Join(t.TempDir(), "head")
	s.Git(t, "worktree", "add", "-q", "-b", "head", head)
	put(t, head, map[string]string{"bench.cpp": "// work = 102\n"})
	harnesstest.Sample{Dir: head, Build: s.Build}.Git(t, "commit", "-q", "-a", "-m", "slower")
	return s.Dir, head
}

// baselineFirst is a seed with which the baseline goes first in every round.
func baselineFirst(t *testing.T, rounds int) int64 {
	t.Helper()
	for seed := range int64(10000) {
		if !slices.Contains(order.ContenderFirst(seed, rounds), true) {
			return seed
		}
	}
	t.Fatal("no such seed")
	return 0
}

// compared runs a session of six rounds and judges it by the paired-relative rule.
func compared(t *testing.T, base, cont order.BuildParams, change func(*verdict.RelativeParams)) (SessionReport, canon.Value) {
	t.Helper()
	s := Session{
		Params: Params{Dir: filepath.Join(t.TempDir(), "results"), Harnesses: harness.Set{googlebenchmark.Adapter{}}},
		Rounds: 6, Seed: baselineFirst(t, 6), OrderFor: OrdersOf(base, cont),
	}
	rep, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p := verdict.RelativeParams{Results: rep.Results, RunKey: base.RunKey, Baseline: rep.Results[0].Provenance.SubjectTree}
	if change != nil {
		change(&p)
	}
	judged, err := verdict.JudgeRelative(p)
	if err != nil {
		t.Fatal(err)
	}
	return rep, judged.Comparison
}

// words maps the cases of a comparison to their verdicts.
func words(comparison canon.Value) map[string]string {
	out := map[string]string{}
	units, _ := comparison.Get("units")
	for _, u := range units.Elems() {
		name, _ := u.At("/workload/name")
		text, _ := name.String()
		out[text] = u.Str("verdict")
	}
	return out
}

func TestTwoRevisionsOfACPlusPlusProgram(t *testing.T) {
	t.Parallel()
	source, head := checkouts(t)
	base := gbenchOrder(cmakeBuild(t, source, "OFF", paces(1, 1e-3, 2e-3)), nil)
	cont := gbenchOrder(cmakeBuild(t, head, "OFF", paces(2, 1.02e-3, 2.06e-3)), nil)
	rep, comparison := compared(t, base, cont, nil)
	if len(rep.Results) != 24 || rep.Counts[result.Success] != 24 {
		t.Fatalf("%d results, %v", len(rep.Results), rep.Counts)
	}
	if diff := cmp.Diff(map[string]string{quiet: "regressed", noisy: "no-change-detected"}, words(comparison)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if local, _ := comparison.Get("local_only"); string(local.Canonical()) != "false" {
		t.Errorf("local only: %s", comparison.Canonical())
	}
	r := rep.Results[0]
	want := `{"build_type":"Release","cxx_compiler":"AppleClang 21.0.0","cxx_flags":"-O2","options":{"DEMO_HARDENED":"OFF"}}`
	if got := string(r.Coordinates.Subject.Configuration.Canonical()); got != want {
		t.Errorf("configuration %s, want %s", got, want)
	}
	if r.Provenance.SubjectTree != "045f481beca8a3dc3cebbfae17a4e49d6366560a" {
		t.Errorf("tree %s: the checkout was not found through the build", r.Provenance.SubjectTree)
	}
	if r.Target() == "" || r.Target() == rep.Results[2].Target() {
		t.Errorf("targets %q and %q", r.Target(), rep.Results[2].Target())
	}
	for i, r := range rep.Results {
		if slot := i / 2; *r.Procedure.Slot != slot || *r.Procedure.Round != slot/2 {
			t.Errorf("result %d: slot %d, round %d", i, *r.Procedure.Slot, *r.Procedure.Round)
		}
	}
}

func TestTwoBuildsOfOneRevision(t *testing.T) {
	t.Parallel()
	source, _ := checkouts(t)
	side := func(build, label string) order.BuildParams {
		return gbenchOrder(build, func(p *order.BuildParams) { p.Labels = map[string]string{"build": label} })
	}
	byLabel := func(p *verdict.RelativeParams) {
		p.Profile, p.Varying, p.Baseline = verdict.Environments, "provenance.labels.build", "plain"
	}
	_, comparison := compared(t, side(cmakeBuild(t, source, "OFF", paces(1, 1e-3, 2e-3)), "plain"), side(cmakeBuild(t, source, "ON", paces(2, 1.02e-3, 2.06e-3)), "hardened"), byLabel)
	if diff := cmp.Diff(map[string]string{quiet: "regressed", noisy: "no-change-detected"}, words(comparison)); diff != "" || comparison.Str("varying") != "provenance.labels.build" {
		t.Errorf("varying %s (-want +got):\n%s", comparison.Str("varying"), diff)
	}
	_, comparison = compared(t, side(cmakeBuild(t, source, "OFF", paces(1, 1e-3, 2e-3)), "plain"), side(cmakeBuild(t, source, "OFF", paces(2, 1e-3, 2e-3)), "same"), byLabel)
	failed, _ := comparison.Get("failed_invariants")
	if len(failed.Elems()) != 1 || failed.Elems()[0].Str("invariant") != "sides-differ" || len(words(comparison)) != 0 {
		t.Errorf("two builds with one configuration: %s", comparison.Canonical())
	}
}

// TestACaseThatOneSideHasLost: the plan is that of the baseline, and the other side
// answers for every entry of it.
func TestACaseThatOneSideHasLost(t *testing.T) {
	t.Parallel()
	source, head := checkouts(t)
	less := paces(2, 1.02e-3, 0)
	delete(less.Cases, noisy)
	rep, comparison := compared(t, gbenchOrder(cmakeBuild(t, source, "OFF", paces(1, 1e-3, 2e-3)), nil), gbenchOrder(cmakeBuild(t, head, "OFF", less), nil), nil)
	lost := 0
	for _, r := range rep.Results {
		if r.Provenance.NativeID == noisy && r.Measurement.Reason == result.ReasonNoOutput {
			lost++
		}
	}
	if got := words(comparison); lost != 6 || got[quiet] != "regressed" || got[noisy] == "improved" || got[noisy] == "regressed" {
		t.Errorf("%d lost, %v", lost, got)
	}
}

func TestOutcomesOfACPlusPlusProgram(t *testing.T) {
	t.Parallel()
	source, _ := checkouts(t)
	b := paces(1, 1e-3, 2e-3)
	b.Error, b.Skip, b.Sleep, b.Ghost = []string{"BM_Error"}, []string{"BM_Skip"}, map[string]float64{"BM_Sleep": 3}, []string{"BM_Ghost"}
	o := build(t, gbenchOrder(cmakeBuild(t, source, "OFF", b), func(p *order.BuildParams) { p.Timeouts.CaseS = 1 }))
	p := gbenchParams(t, o)
	rep, err := Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	onDisk(t, p.Dir, rep)
	want := map[string]string{
		quiet + " wall-time": "success", noisy + " wall-time": "success", "BM_Error wall-time": "error harness.error",
		"BM_Skip wall-time": "skipped harness.skipped", "BM_Sleep wall-time": "error timeout", "BM_Ghost wall-time": "error harness.no-output",
	}
	if diff := cmp.Diff(want, outcomes(rep.Results)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, r := range rep.Results {
		if *r.Procedure.TimeoutSeconds != 1 {
			t.Errorf("%s: limit %v", r.Provenance.NativeID, *r.Procedure.TimeoutSeconds)
		}
		protocol, _ := r.Coordinates.ComparisonContext.Get("protocol")
		calibration, _ := protocol.Get("calibration")
		warmup, _ := protocol.Get("warmup")
		if string(calibration.Canonical()) != `{"minimum_sample_seconds":0.5,"mode":"adaptive"}` || string(warmup.Canonical()) != `{"mode":"none"}` {
			t.Errorf("defaults that applied are not recorded: %s", protocol.Canonical())
		}
	}
	ok := rep.Results[slices.IndexFunc(rep.Results, func(r result.Result) bool { return r.Provenance.NativeID == quiet })]
	kinds := map[string]int{}
	for _, a := range ok.Provenance.Artifacts {
		kinds[a.Kind]++
	}
	if diff := cmp.Diff(map[string]int{"work-order": 1, "target": 1, "native-output": 1, "stdout": 1, "stderr": 1}, kinds); diff != "" {
		t.Errorf("artifacts (-want +got):\n%s", diff)
	}
	if n := len(ok.Measurement.Observations); n != 5 || ok.Measurement.Observations[0].Value > 0.002 || len(ok.Measurement.Summaries) == 0 {
		t.Errorf("%d observations, %+v", n, ok.Measurement)
	}
}

func TestVariablesCollectorsAndTexts(t *testing.T) {
	t.Parallel()
	source, _ := checkouts(t)
	dir := cmakeBuild(t, source, "OFF", paces(1, 1e-3, 2e-3))
	marker := filepath.Join(t.TempDir(), "ran")
	touch := "touch " + marker
	empty, bash := " \n", "bash"
	for name, tc := range map[string]struct {
		collector string
		target    func(*order.Target)
		facts     string
		warnings  []string
		info      string // of the texts
	}{
		"facts":  {`echo '{"blas":"openblas"}'`, func(t *order.Target) { t.HowBuilt, t.Activation, t.Shell = canon.StringOf(touch), &touch, &bash }, `{"blas":"openblas"}`, nil, touch + "|" + touch + "|bash"},
		"broken": {`echo not JSON`, func(t *order.Target) { t.HowBuilt, t.Activation, t.Shell = canon.StringOf(""), &empty, nil }, "", []string{"collector-failed"}, "||"},
	} {
		o := build(t, gbenchOrder(dir, func(p *order.BuildParams) {
			p.Suites[0].Filter = "Quiet"
			p.EnvironmentVariables = map[string]string{"OMP_NUM_THREADS": "1"}
			tc.target(&p.Target)
		}))
		collectors := canon.MustFrom([]map[string]any{{"name": "setup", "command": []string{"sh", "-c", tc.collector}}})
		o, err := order.Parse(o.Value().With("collectors", collectors).Canonical())
		if err != nil {
			t.Fatal(err)
		}
		p := gbenchParams(t, o)
		p.AllowCollectors = true
		rep, err := Run(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		r := rep.Results[0]
		facts := ""
		if v, ok := r.Coordinates.Environment.System.Get("setup"); ok {
			facts = string(v.Canonical())
		}
		var warnings []string
		if r.Quality != nil {
			warnings = r.Quality.Warnings
		}
		if facts != tc.facts || !slices.Equal(warnings, tc.warnings) {
			t.Errorf("%s: facts %s, warnings %q", name, facts, warnings)
		}
		env, _ := r.ObservedContext.Get("env")
		if got := string(canon.MustFrom(r.Coordinates.Workload.Parameters).Canonical()); got != `{"OMP_NUM_THREADS":"1"}` || env.Str("OMP_NUM_THREADS") != "1" {
			t.Errorf("%s: parameters %s, environment %s", name, got, env.Canonical())
		}
		var texts []string
		for _, field := range []string{"how_built", "activation", "shell"} {
			v, given := r.Provenance.Info[field]
			text, _ := v.String()
			if given && text == "" {
				t.Errorf("%s: %s says nothing and is recorded", name, field)
			}
			texts = append(texts, text)
		}
		if got := strings.Join(texts, "|"); got != tc.info {
			t.Errorf("%s: texts %q, want %q", name, got, tc.info)
		}
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("a declared text was run")
	}
}

func TestOrdersThatACPlusPlusProgramCannotHonour(t *testing.T) {
	t.Parallel()
	source, _ := checkouts(t)
	dir := cmakeBuild(t, source, "OFF", paces(1, 1e-3, 2e-3))
	one := 1
	for name, tc := range map[string]struct {
		change func(*order.BuildParams)
		want   fault.Code
		at     string
	}{
		"missing program": {func(p *order.BuildParams) { p.Suites[0].Suite = "none" }, fault.Target, "/suites/0/suite"},
		"quantity":        {func(p *order.BuildParams) { p.Quantities = []string{"peak-rss"} }, fault.Refused, "/quantities/0"},
		"counted warm-up": {func(p *order.BuildParams) { p.Precision.Warmup = &order.Warmup{Mode: order.Count, NWarmup: &one} }, fault.Refused, "/precision/warmup/mode"},
		"two levels": {func(p *order.BuildParams) {
			p.Precision.Repetitions = order.Repetitions{Levels: []order.Level{{Unit: "process", N: 2}, {Unit: "value", N: 3}}}
		}, fault.Refused, "/precision/repetitions/levels/0/unit"},
		"parameters": {func(p *order.BuildParams) { p.WorkloadParameters = map[string]canon.Value{"n": canon.IntOf(1)} }, fault.Refused, "/workload_parameters"},
		"not a program of the library": {func(p *order.BuildParams) {
			p.Suites[0].Suite = "CMakeCache.txt"
		}, fault.Target, "/suites/0/suite"},
	} {
		p := gbenchParams(t, build(t, gbenchOrder(dir, tc.change)))
		_, err := Run(t.Context(), p)
		if e, _ := fault.As(err); fault.CodeOf(err) != tc.want || e.Pointer != tc.at {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(p.Dir); err == nil {
			t.Errorf("%s: something was written", name)
		}
	}
}

// TestThinResults: without a project and with changes that are not committed,
// results say so, and a comparison of them is local.
func TestThinResults(t *testing.T) {
	t.Parallel()
	source, _ := checkouts(t)
	put(t, source, map[string]string{"bench.cpp": "// work = 102\n"})
	side := func(hardened, label string, b behaviour) order.BuildParams {
		return gbenchOrder(cmakeBuild(t, source, hardened, b), func(p *order.BuildParams) {
			p.Project, p.Suites[0].Filter, p.Labels = "", "Quiet", map[string]string{"build": label}
		})
	}
	rep, comparison := compared(t, side("OFF", "plain", paces(1, 1e-3, 2e-3)), side("ON", "hardened", paces(2, 1.02e-3, 2e-3)), func(p *verdict.RelativeParams) {
		p.Profile, p.Varying, p.Baseline = verdict.Environments, "provenance.labels.build", "plain"
	})
	r := rep.Results[0]
	if r.Project != "" || r.Provenance.SubjectDirty != result.Dirty || r.Provenance.SubjectTree != "8890417e55690b662ecfe3e362b6ca03438ab31c" {
		t.Errorf("project %q, %s %s", r.Project, r.Provenance.SubjectDirty, r.Provenance.SubjectTree)
	}
	if !strings.HasPrefix(result.ImplicitProject(r.Document), "local/") {
		t.Errorf("project %s", result.ImplicitProject(r.Document))
	}
	if local, _ := comparison.Get("local_only"); string(local.Canonical()) != "true" || words(comparison)[quiet] != "regressed" {
		t.Errorf("local only %s, %v", local.Canonical(), words(comparison))
	}
}
