package runner

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/order"
	"writ/internal/result"
	"writ/internal/runner/capture"
)

// Warnings about what is taken on trust.
const (
	warnRevision  = "revision-on-trust"           // of an artifact
	warnBenchmark = "benchmark-revision-on-trust" // of benchmark code that is in no checkout
	warnBuild     = "build_config_unverified"     // nothing says how the target was built
)

// locate makes the paths of a target absolute, and an artifact a program in its
// directory: what harnesses know how to find.
func locate(o order.Order) (order.Order, error) {
	const op = "locate target"
	t := o.Target
	if t.Kind == order.Artifact {
		file, err := artifactFile(t.URI)
		if err != nil {
			return o, err
		}
		if len(o.Suites) > 1 {
			return o, fault.New(fault.Refused, op, "an artifact is one program, and so one suite").At("/suites")
		}
		if name := filepath.Base(file); o.Suites[0].Suite != name {
			return o, fault.New(fault.Refused, op, "the artifact is %s, not %s", name, o.Suites[0].Suite).At("/suites/0/suite")
		}
		o.Target = order.Target{Kind: order.BuildTree, Path: filepath.Dir(file), Source: t.Source}
		return o, nil
	}
	home, _ := os.UserHomeDir() // "~" stays as it is without one, and is not found
	for _, path := range []*string{&t.Path, &t.SourceDir} {
		if *path == "" {
			continue
		}
		full, err := filepath.Abs(expand(*path, home))
		if err != nil {
			return o, fault.Wrap(err, fault.Internal, op, "no working directory")
		}
		*path = full
	}
	o.Target = t
	return o, nil
}

// artifactFile is the file that the URI of an artifact names.
func artifactFile(uri string) (string, error) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" || !filepath.IsAbs(u.Path) || u.RawQuery != "" || u.Fragment != "" {
		return "", fault.New(fault.Refused, "locate target", "%q is no file of this machine", uri).At("/target/uri").
			Help("fetch it first, and write file:///path/to/program")
	}
	return filepath.Clean(u.Path), nil
}

// attest compares the bytes of an artifact with what the order says. An order that
// is resolved already keeps its plan, and every entry of it has the answer; a draft
// is refused, because only the artifact itself could list its cases.
func (s *suites) attest() error {
	t := s.Order.Target
	if t.Kind != order.Artifact {
		return nil
	}
	sum, err := fileSum(s.found[0].Program)
	if err != nil {
		return fault.Wrap(err, fault.Target, "verify artifact", "cannot read %s", s.found[0].Program).At("/target/uri")
	}
	if sum == t.SHA256 {
		return nil
	}
	message := fmt.Sprintf("the artifact has the digest %s, not %s", sum, t.SHA256)
	if s.Order.State == order.Draft {
		return fault.New(fault.Target, "verify artifact", "%s", message).At("/target/sha256")
	}
	s.barred = barred{result.ReasonTarget, message}
	return nil
}

// identify finds out what the subject is, where its benchmarks come from, and what
// its programs look like.
func (r *run) identify(ctx context.Context) (err error) {
	dir := r.found[0].SourceDir
	switch kind := r.order.Target.Kind; {
	case kind == order.Artifact:
		r.identity = capture.Identity{Revision: order.Token(r.order.Target.Revision), Dirty: capture.Unknown}
		r.warnings = append(r.warnings, warnRevision)
	case kind == order.WorkingTree && !underGit(dir):
		r.identity, err = capture.Directory(ctx, dir)
	default:
		r.identity, err = r.checkout(ctx, dir)
	}
	if err != nil {
		return err
	}
	for i, su := range r.found {
		t, err := readTarget(su.Program)
		if err != nil {
			return fault.Wrap(err, fault.Target, "identify target", "cannot read %s", su.Program).At("/suites/" + strconv.Itoa(i) + "/suite")
		}
		r.targets = append(r.targets, t)
		b, err := r.origin(ctx, i)
		if err != nil {
			return err
		}
		r.origins = append(r.origins, b)
		if r.order.Target.Kind == order.BuildTree && len(su.Configuration) == 0 && r.order.Build == nil {
			r.warnings = append(r.warnings, warnBuild)
		}
	}
	return nil
}

// underGit reports whether a directory is in a git checkout.
func underGit(dir string) bool {
	for _, d := range above(dir) {
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
			return true
		}
	}
	return false
}

// checkout identifies the checkout that holds a directory. git runs in the place,
// because the checkout's own configuration may name programs.
func (s suites) checkout(ctx context.Context, dir string) (_ capture.Identity, err error) {
	const op = "identify target"
	program, err := exec.LookPath("git")
	if err != nil {
		return capture.Identity{}, fault.Wrap(err, fault.Unavailable, op, "the git command is missing").Help("install git")
	}
	outputs, err := os.MkdirTemp("", "writ-git-")
	if err != nil {
		return capture.Identity{}, fault.Wrap(err, fault.Internal, op, "no temporary directory")
	}
	defer func() { err = errors.Join(err, os.RemoveAll(outputs)) }()
	scratch, remove, err := s.Place.Scratch()
	if err != nil {
		return capture.Identity{}, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	return capture.Checkout(ctx, capture.Through(s.Place, program, outputs, s.Place.Environ()), dir, scratch)
}

// origin is where the benchmark code of a suite comes from.
type origin struct {
	benchmark result.Benchmark
	dirty     string // result.Clean, Dirty or Unknown
	tree      string
	warning   string // "" when nothing is taken on trust
}

// origin finds out about the benchmark code of suite i. Without a word in the
// order it is part of the subject. With a revision, the checkout that holds the
// suite must be at that revision, and where there is none but the subject's own,
// the revision is taken on trust. Without a revision the content of the suite
// stands for it.
func (r *run) origin(ctx context.Context, i int) (origin, error) {
	source := result.Source(r.order.Target.Source)
	b := r.order.Benchmark
	if b == nil {
		out := origin{result.Benchmark{Source: source, Revision: &result.Revision{Key: r.identity.Revision}}, r.identity.Dirty, r.identity.Tree, ""}
		if r.identity.VCS == "directory" {
			out.benchmark.Revision = nil
		}
		return out, nil
	}
	out := origin{benchmark: result.Benchmark{Source: result.Source(b.Source)}}
	file := r.suiteFile(i)
	if b.Revision == "" {
		tree, err := contentOf(ctx, file)
		if err != nil {
			return out, fault.Wrap(err, fault.Target, "identify benchmark", "cannot read %s", file).At("/benchmark")
		}
		out.dirty, out.tree = result.Dirty, tree
		return out, nil
	}
	out.benchmark.Revision = &result.Revision{Key: order.Token(b.Revision)}
	out.dirty, out.warning = result.Unknown, warnBenchmark
	dir := filepath.Dir(file)
	if !underGit(dir) {
		return out, nil
	}
	id, err := r.checkout(ctx, dir)
	switch {
	case err != nil && ctx.Err() != nil:
		return out, err
	case err != nil || id.Top == r.identity.Top:
		return out, nil // says nothing about benchmarks that come from elsewhere
	case !sameRevision(id.Revision, b.Revision):
		return out, fault.New(fault.Refused, "identify benchmark", "the suite lies in a checkout at %s", id.Revision).At("/benchmark/revision").
			Help("check the benchmarks out at %s, or order what is there", b.Revision)
	}
	out.benchmark.Revision.Key, out.dirty, out.tree, out.warning = id.Revision, id.Dirty, id.Tree, ""
	return out, nil
}

// sameRevision reports whether a commit is meant by a revision: its id, or the
// beginning of it.
func sameRevision(commit, revision string) bool {
	const shortest = 7
	return len(revision) >= shortest && strings.HasPrefix(commit, strings.ToLower(revision))
}

// suiteFile is the file or directory that suite i names, or its program where the
// name is none.
func (r *run) suiteFile(i int) string {
	name := r.order.Suites[i].Suite
	if path := filepath.Join(r.placed.Target.Path, filepath.FromSlash(name)); filepath.IsLocal(filepath.FromSlash(name)) {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return r.found[i].Program
}

// contentOf identifies a file by its digest and a directory by that of all it holds.
func contentOf(ctx context.Context, path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.IsDir() {
		id, err := capture.Directory(ctx, path)
		return id.Tree, err
	}
	return fileSum(path)
}

// target is the file that is executed, and what it looked like.
type target struct {
	sha256  string // hex
	size    int64
	changed time.Time
}

func readTarget(path string) (target, error) {
	info, err := os.Stat(path)
	if err != nil {
		return target{}, err
	}
	sum, err := fileSum(path)
	if err != nil {
		return target{}, err
	}
	return target{sum, info.Size(), info.ModTime()}, nil
}

// check reports what happened to the file since it was read, "" for nothing. A
// rebuilt target in the middle of a run is another target.
func (t target) check(path string) string {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return fmt.Sprintf("%s is gone", filepath.Base(path))
	case info.Size() != t.size || !info.ModTime().Equal(t.changed):
		return fmt.Sprintf("%s was changed during the run", filepath.Base(path))
	}
	return ""
}

// subject is the code under test: its parts, and how it was built, as the program
// itself and the order say.
func subject(o order.Order, su harness.Suite) result.Subject {
	s := result.Subject{
		Name:       capture.SubjectName(o.Target.Source.URI),
		Components: []result.Component{{Role: result.Primary, Source: o.Target.Source.URI}},
	}
	for _, c := range o.Components {
		s.Components = append(s.Components, result.Component{Role: c.Role, Source: c.Source.URI, Revision: order.Token(c.Revision)})
	}
	s.Configuration = configuration(o, su)
	return s
}
