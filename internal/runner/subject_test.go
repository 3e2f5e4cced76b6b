package runner

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/harness/harnesstest"
	"writ/internal/order"
	"writ/internal/result"
)

// trees is the scripts harness for targets that are work trees.
type trees struct{ scripts }

func (trees) Capabilities() order.Capabilities {
	c := scripts{}.Capabilities()
	c.Targets = []string{order.WorkingTree}
	return c
}

// artifactOrder is an order for the program of a script order as an artifact.
func artifactOrder(t *testing.T, cases ...string) order.BuildParams {
	t.Helper()
	p := scriptOrder(t, func(p *order.BuildParams) { p.Plan = plan(cases...) })
	file := filepath.Join(p.Target.Path, "suite")
	sum, err := fileSum(file)
	if err != nil {
		t.Fatal(err)
	}
	p.Target = order.Target{Kind: order.Artifact, URI: fileURI(file), SHA256: sum, Source: p.Target.Source, Revision: "v1.2 final"}
	return p
}

func TestArtifact(t *testing.T) {
	t.Parallel()
	b := artifactOrder(t, "echo s")
	p := paramsFor(t, build(t, b))
	rep, err := Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	onDisk(t, p.Dir, rep)
	r := rep.Results[0]
	if r.Measurement.Status != result.Success || r.Revision.Key != "v1.2%20final" || r.Target() != b.Target.SHA256 {
		t.Errorf("%s, revision %s, target %s", r.Measurement.Status, r.Revision.Key, r.Target())
	}
	if v := r.Provenance; v.SubjectDirty != result.Unknown || v.SubjectTree != "" || v.BenchmarkDirty != result.Unknown || v.BenchmarkTree != "" {
		t.Errorf("the checkout around the artifact says something about it: %+v", v)
	}
	if r.Quality == nil || !slices.Contains(r.Quality.Warnings, "revision-on-trust") {
		t.Errorf("quality %+v", r.Quality)
	}
}

// TestArtifactOfOtherBytes: nothing of a file that is not the one that was ordered
// is ever run, not even to list its cases or to ask for its version.
func TestArtifactOfOtherBytes(t *testing.T) {
	t.Parallel()
	b := artifactOrder(t, "touch ran; echo s", "echo s")
	file, err := artifactFile(b.Target.URI)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("other program"), 0o755); err != nil {
		t.Fatal(err)
	}
	b.Precision.Repetitions = order.Repetitions{Levels: []order.Level{{Unit: "process", N: 1}}}
	p := paramsFor(t, build(t, b))
	p.Harnesses = harness.Set{exchanging{probe: "touch ran"}}
	rep, err := Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	onDisk(t, p.Dir, rep)
	want := map[string]string{"touch ran; echo s wall-time": "error target-unavailable", "echo s wall-time": "error target-unavailable"}
	if diff := cmp.Diff(want, outcomes(rep.Results)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if text, _ := rep.Results[0].Provenance.Info[result.InfoMessage].String(); !strings.Contains(text, "not "+b.Target.SHA256) {
		t.Errorf("message %q", text)
	}
	b.Plan = nil
	p.Order, p.Dir = build(t, b), filepath.Join(t.TempDir(), "results")
	_, err = Run(t.Context(), p)
	if e, _ := fault.As(err); fault.CodeOf(err) != fault.Target || e.Pointer != "/target/sha256" {
		t.Errorf("a draft: %v", err)
	}
	for _, path := range []string{p.Dir, filepath.Join(filepath.Dir(file), "ran")} {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s was made", path)
		}
	}
}

func TestArtifactsThatAreNotHere(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*order.BuildParams)
		want   fault.Code
		at     string
	}{
		"elsewhere":    {func(p *order.BuildParams) { p.Target.URI = "https://example.org/suite" }, fault.Refused, "/target/uri"},
		"other host":   {func(p *order.BuildParams) { p.Target.URI = "file://host/suite" }, fault.Refused, "/target/uri"},
		"relative":     {func(p *order.BuildParams) { p.Target.URI = "file:suite" }, fault.Refused, "/target/uri"},
		"other name":   {func(p *order.BuildParams) { p.Suites[0].Suite = "other" }, fault.Refused, "/suites/0/suite"},
		"two suites":   {func(p *order.BuildParams) { p.Suites = append(p.Suites, p.Suites[0]) }, fault.Refused, "/suites"},
		"gone":         {func(p *order.BuildParams) { p.Target.URI = "file:///nowhere/suite" }, fault.Target, "/target/uri"},
		"a moving ref": {func(p *order.BuildParams) { p.Target.Revision = "main" }, fault.Invalid, "/target/revision"},
	} {
		b := artifactOrder(t, "echo s")
		tc.change(&b)
		o, err := order.Build(b)
		if err == nil {
			p := paramsFor(t, o)
			p.Harnesses = harness.Set{scripts{}}
			_, err = Run(t.Context(), p)
		}
		if e, _ := fault.As(err); fault.CodeOf(err) != tc.want || e.Pointer != tc.at {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWorkTree(t *testing.T) {
	t.Parallel()
	s := sampleOf(t)
	plain := put(t, t.TempDir(), map[string]string{"a.txt": "hello\n", "sub/b.py": "x=1\n"})
	for name, tc := range map[string]struct {
		dir, revision, tree, dirty string
	}{
		"a checkout":         {s.Dir, s.Git(t, "rev-parse", "HEAD"), s.Git(t, "rev-parse", "HEAD^{tree}"), result.Clean},
		"no version control": {plain, "directory-59a4a46c52fb11a87958481932493433d1d5c174", "59a4a46c52fb11a87958481932493433d1d5c174", result.Dirty},
	} {
		o := build(t, scriptOrder(t, func(p *order.BuildParams) {
			p.Plan = plan("echo s")
			p.Suites[0].Suite = "../" + filepath.Base(p.Target.Path) + "/suite"
			p.Target = order.Target{Kind: order.WorkingTree, Path: tc.dir, Source: p.Target.Source}
		}))
		p := paramsFor(t, o)
		p.Harnesses = harness.Set{elsewhere{program: "/bin/sh"}}
		rep, err := Run(t.Context(), p)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		r := rep.Results[0]
		v := r.Provenance
		if r.Revision.Key != tc.revision || v.SubjectTree != tc.tree || v.BenchmarkTree != tc.tree || v.SubjectDirty != tc.dirty || v.BenchmarkDirty != tc.dirty {
			t.Errorf("%s: revision %s, %+v", name, r.Revision.Key, v)
		}
		if unversioned := r.Benchmark.Revision == nil; unversioned != (tc.dir == plain) {
			t.Errorf("%s: benchmark %+v", name, r.Benchmark)
		}
	}
}

// elsewhere is a harness whose program is no part of the target.
type elsewhere struct {
	trees
	program string
}

func (e elsewhere) Locate(o order.Order, su order.Suite) (harness.Suite, error) {
	s, err := e.trees.Locate(o, su)
	s.Program, s.Shared = e.program, true
	return s, err
}

func TestBenchmarksFromElsewhere(t *testing.T) {
	t.Parallel()
	subject, benchmarks := sampleOf(t), harnesstest.New(t)
	put(t, benchmarks.Dir, map[string]string{"suite": "program", "deep/suite": "program"})
	benchmarks.Commit(t)
	head, tree := benchmarks.Git(t, "rev-parse", "HEAD"), benchmarks.Git(t, "rev-parse", "HEAD^{tree}")
	loose := put(t, t.TempDir(), map[string]string{"suite": "program"})
	sum, err := fileSum(filepath.Join(loose, "suite"))
	if err != nil {
		t.Fatal(err)
	}
	own := put(t, subject.Dir, map[string]string{"suite": "program"})
	uri := order.Source{URI: "https://example.org/benchmarks.git", Type: "git"}
	for name, tc := range map[string]struct {
		path, suite string
		benchmark   order.Benchmark
		revision    string // "" for none
		dirty, tree string
		warning     bool
		refused     bool
	}{
		"a checkout at the revision": {benchmarks.Dir, "deep/suite", order.Benchmark{Source: uri, Revision: head}, head, result.Clean, tree, false, false},
		"a short revision":           {benchmarks.Dir, "suite", order.Benchmark{Source: uri, Revision: head[:10]}, head, result.Clean, tree, false, false},
		"a checkout at another":      {benchmarks.Dir, "suite", order.Benchmark{Source: uri, Revision: "1111111"}, "", "", "", false, true},
		"no checkout":                {loose, "suite", order.Benchmark{Source: uri, Revision: "v1"}, "v1", result.Unknown, "", true, false},
		"in the subject's checkout":  {own, "suite", order.Benchmark{Source: uri, Revision: "v1"}, "v1", result.Unknown, "", true, false},
		"no revision":                {loose, "suite", order.Benchmark{Source: uri}, "", result.Dirty, sum, false, false},
	} {
		o := build(t, scriptOrder(t, func(p *order.BuildParams) {
			p.Plan = plan("echo s")
			p.Suites[0].Suite = tc.suite
			p.Target.Path, p.Target.SourceDir = tc.path, subject.Dir
		}))
		o, err := order.Parse(o.Value().With("benchmark", canon.MustFrom(tc.benchmark)).Canonical())
		if err != nil {
			t.Fatal(err)
		}
		rep, err := Run(t.Context(), paramsFor(t, o))
		if tc.refused {
			if e, _ := fault.As(err); fault.CodeOf(err) != fault.Refused || e.Pointer != "/benchmark/revision" {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		r := rep.Results[0]
		revision := ""
		if r.Benchmark.Revision != nil {
			revision = r.Benchmark.Revision.Key
		}
		v := r.Provenance
		if r.Benchmark.Source.URI != uri.URI || revision != tc.revision || v.BenchmarkDirty != tc.dirty || v.BenchmarkTree != tc.tree {
			t.Errorf("%s: %+v %q, %s %s", name, r.Benchmark, revision, v.BenchmarkDirty, v.BenchmarkTree)
		}
		if r.Revision.Key != subject.Git(t, "rev-parse", "HEAD") || v.SubjectTree == "" {
			t.Errorf("%s: the subject is %s %s", name, r.Revision.Key, v.SubjectTree)
		}
		if warned := r.Quality != nil && slices.Contains(r.Quality.Warnings, "benchmark-revision-on-trust"); warned != tc.warning {
			t.Errorf("%s: quality %+v", name, r.Quality)
		}
	}
}

func TestPartsOfTheSubject(t *testing.T) {
	t.Parallel()
	o := build(t, scriptOrder(t, func(p *order.BuildParams) { p.Plan = plan("echo s") }))
	for member, text := range map[string]string{
		"components": `[{"name":"openblas","role":"blas","source":{"uri":"https://example.org/blas"},"revision":"0.3 rc"},{"role":"fft","source":{"uri":"https://example.org/fft"},"revision":"2"}]`,
		"build":      `{"type":"Release","flags":["-O2"]}`,
	} {
		v, err := canon.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if o, err = order.Parse(o.Value().With(member, v).Canonical()); err != nil {
			t.Fatal(err)
		}
	}
	rep, err := Run(t.Context(), paramsFor(t, o))
	if err != nil {
		t.Fatal(err)
	}
	s := rep.Results[0].Coordinates.Subject
	want := []result.Component{{Role: "primary", Source: "https://example.org/demo.git"},
		{Role: "blas", Source: "https://example.org/blas", Revision: "0.3%20rc"}, {Role: "fft", Source: "https://example.org/fft", Revision: "2"}}
	if diff := cmp.Diff(want, s.Components); diff != "" {
		t.Errorf("components (-want +got):\n%s", diff)
	}
	if got := string(s.Configuration.Canonical()); got != `{"declared":{"flags":["-O2"],"type":"Release"},"kind":"script"}` {
		t.Errorf("configuration %s", got)
	}
	named := rep.Results[0].Provenance.Info["components"].Elems()
	if len(named) != 1 || named[0].Str("name") != "openblas" {
		t.Errorf("the name is lost: %v", rep.Results[0].Provenance.Info)
	}
}

func TestIncludeAndExclude(t *testing.T) {
	t.Parallel()
	listing := []string{"sum/small", "sum/large", "sort/small", "sort [x]"}
	for name, tc := range map[string]struct {
		include, exclude []string
		want             string // case and pattern
		at               string
	}{
		"include":       {[]string{"sum/*", "*small"}, nil, "sum/small<sum/* sum/large<sum/* sort/small<*small", ""},
		"exclude":       {nil, []string{"*/large", "sort [x]"}, "sum/small< sort/small<", ""},
		"both":          {[]string{"s*"}, []string{"*large"}, "sum/small<s* sort/small<s* sort [x]<s*", ""},
		"a pattern":     {[]string{"sort [x]"}, nil, "sort [x]<sort%20[x]", ""},
		"a lost one":    {[]string{"sum/*", "median"}, nil, "", "/suites/0/include/1"},
		"nothing stays": {[]string{"sum/*"}, []string{"*"}, "", "/suites"},
	} {
		o := build(t, scriptOrder(t, func(p *order.BuildParams) { p.Suites[0].Include, p.Suites[0].Exclude = tc.include, tc.exclude }, listing...))
		got, err := Plan(t.Context(), paramsFor(t, o))
		if tc.at != "" {
			if e, _ := fault.As(err); err == nil || e.Pointer != tc.at {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var cases []string
		for _, e := range got.Plan {
			cases = append(cases, e.Case+"<"+e.From)
		}
		if text := strings.Join(cases, " "); text != tc.want {
			t.Errorf("%s: %s, want %s", name, text, tc.want)
		}
	}
}

// TestRelativePaths: paths of an order are seen from where the runner is.
func TestRelativePaths(t *testing.T) {
	t.Parallel()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	o := build(t, scriptOrder(t, func(p *order.BuildParams) {
		p.Plan = plan("echo s")
		for _, path := range []*string{&p.Target.Path, &p.Target.SourceDir} {
			if *path, err = filepath.Rel(here, *path); err != nil {
				t.Fatal(err)
			}
		}
	}))
	rep, err := Run(t.Context(), paramsFor(t, o))
	if err != nil || rep.Results[0].Measurement.Status != result.Success {
		t.Errorf("%v %v", err, outcomes(rep.Results))
	}
}
