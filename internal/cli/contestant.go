package cli

import (
	"context"
	"errors"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/gitcmd"
	"writ/internal/order"
	"writ/internal/runner"
	"writ/internal/runner/provide"
	"writ/internal/runner/revision"
)

// sideOptions say how a side of a comparison is got from the word that names it.
type sideOptions struct {
	repo, build, buildDir, sourceURI, revision string
	noBuild, keep                              bool
	buildLimit                                 time.Duration
}

const sideHelp = `BASE and CONTENDER are each one of

  REVISION or git:REVISION   checked out into a worktree of its own, and built there by
                             --build; without --build the worktree itself is measured
  @CONFIG[=SOURCE_REF]       what the project's command prepares; see writ target
  DIR                        a build with a ` + provide.Sidecar + `, a checkout, or a folder of
                             programs
  FILE                       one program, told apart by --label

The build command is run as it is written, without a shell, in the worktree. {out} in
it, and WRIT_OUT, is a folder outside of the worktree; the suites are looked for there,
or in --build-dir below the worktree. Worktrees are removed afterwards unless --keep.`

func (o *sideOptions) sideFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.repo, "repo", ".", "repository that revisions are of")
	f.StringVar(&o.build, "build", "", "command that builds a revision, such as: go test -c -o {out}/sum.test .")
	f.StringVar(&o.buildDir, "build-dir", "", "folder below the worktree that the build leaves its programs in (default: {out})")
	f.DurationVar(&o.buildLimit, "build-timeout", revision.DefaultLimit, "time for one build")
	f.BoolVar(&o.noBuild, "no-build", false, "take @CONFIG as it is there, instead of having it prepared")
	f.BoolVar(&o.keep, "keep", false, "leave worktrees and builds, and say where they are")
	f.StringVar(&o.sourceURI, "source-uri", "", "name of the repository of both sides (default: the checkout's origin, or where it is)")
	f.StringVar(&o.revision, "revision", "", "revision that programs given as FILE are of, taken on trust")
}

// contestant is one side of a comparison, ready to be measured.
type contestant struct {
	word   string
	commit string // of a revision
	target order.Target
	build  *order.BuildFacts
	labels map[string]string
}

// labelled returns the contestant with further labels.
func (c contestant) labelled(labels map[string]string) contestant {
	all := map[string]string{}
	maps.Copy(all, c.labels)
	maps.Copy(all, labels)
	c.labels = all
	return c
}

// workshop makes contestants, and removes what it made.
type workshop struct {
	app   *app
	o     sideOptions
	dir   string // of worktrees and builds; below it only what this workshop makes
	yard  *revision.Yard
	place runner.Local
}

// openWorkshop makes a workshop in a folder of its own when dir is "".
func (a *app) openWorkshop(ctx context.Context, o sideOptions, dir string) (*workshop, error) {
	if o.buildDir != "" && !filepath.IsLocal(o.buildDir) {
		return nil, fault.New(fault.Usage, "prepare sides", "--build-dir %q leaves the worktree", o.buildDir)
	}
	if o.buildLimit <= 0 {
		return nil, fault.New(fault.Usage, "prepare sides", "--build-timeout %s is no time", o.buildLimit)
	}
	if o.build != "" {
		if _, err := revision.Split(o.build); err != nil {
			return nil, err
		}
	}
	place, err := runner.Here(ctx)
	if err != nil {
		return nil, err
	}
	return &workshop{app: a, o: o, dir: dir, place: place}, nil
}

// close removes what was made, also when ctx has ended.
func (w *workshop) close(ctx context.Context) error {
	var err error
	switch {
	case w.yard == nil:
	case w.o.keep:
		w.app.say("worktrees and builds are kept in %s", w.dir)
	default:
		err = w.yard.Sweep(context.WithoutCancel(ctx))
	}
	if closing := w.place.Close(); closing != nil {
		err = errors.Join(err, fault.Wrap(closing, fault.Internal, "build revision", "something of a build is left"))
	}
	return err
}

// discard removes what was made under a name.
func (w *workshop) discard(ctx context.Context, name string) error {
	if w.o.keep {
		return nil
	}
	return w.yard.Remove(ctx, revision.Build{Tree: filepath.Join(w.dir, name, "tree")})
}

// side makes the contestant that a word names. name is its folder: names of the same
// length make paths of the same length.
func (w *workshop) side(ctx context.Context, name, word string) (contestant, error) {
	const op = "prepare sides"
	if rev, ok := strings.CutPrefix(word, "git:"); ok {
		return w.revision(ctx, name, word, rev)
	}
	if strings.HasPrefix(word, "@") {
		return w.described(ctx, word)
	}
	info, err := os.Stat(word)
	if err != nil {
		return w.revision(ctx, name, word, word)
	}
	if w.o.build != "" && !strings.ContainsAny(word, `/\`) {
		if repo, err := gitcmd.Open(ctx, w.o.repo); err == nil {
			if _, err := repo.ResolveCommit(ctx, word); err == nil {
				return contestant{}, fault.New(fault.Usage, op, "%q is a revision and a file here", word).Help("write git:%s or ./%s", word, word)
			}
		}
	}
	if info.Mode().IsRegular() {
		return w.program(ctx, word)
	}
	if !info.IsDir() {
		return contestant{}, fault.New(fault.Usage, op, "%s is neither a folder nor a program", word)
	}
	if _, err := os.Stat(filepath.Join(word, provide.Sidecar)); err == nil {
		return w.described(ctx, word)
	}
	return w.folder(ctx, word)
}

// revision checks a revision out and builds it.
func (w *workshop) revision(ctx context.Context, name, word, rev string) (contestant, error) {
	const op = "prepare sides"
	repo, err := gitcmd.Open(ctx, w.o.repo)
	if err != nil {
		return contestant{}, fault.New(fault.NotFound, op, "%q is nothing here, and %s is no repository", word, w.o.repo).
			Help("name a folder, a program, @CONFIG, or a revision of --repo")
	}
	commit, err := repo.ResolveCommit(ctx, rev)
	if err != nil && ctx.Err() != nil {
		return contestant{}, err
	}
	if err != nil {
		return contestant{}, fault.New(fault.NotFound, op, "there is no file and no revision %q", word).
			Help("name a folder, a program, @CONFIG, or a revision of --repo")
	}
	if err := w.openYard(repo); err != nil {
		return contestant{}, err
	}
	b, err := w.yard.Make(ctx, name, commit)
	if err != nil {
		return contestant{}, err
	}
	out := contestant{word: word, commit: commit}
	switch {
	case w.o.build == "":
		out.target = order.Target{Kind: order.WorkingTree, Path: b.Tree}
	case w.o.buildDir != "":
		out.target = order.Target{Kind: order.BuildTree, Path: filepath.Join(b.Tree, w.o.buildDir), SourceDir: b.Tree}
	default:
		out.target = order.Target{Kind: order.BuildTree, Path: b.Out, SourceDir: b.Tree}
	}
	if w.o.build != "" {
		out.target.HowBuilt = canon.StringOf(w.o.build)
	}
	out.target.Source = w.source(ctx, repo.Dir)
	return out, nil
}

// openYard settles where revisions are built.
func (w *workshop) openYard(repo gitcmd.Repo) error {
	const op = "prepare sides"
	if w.yard != nil {
		return nil
	}
	if w.dir == "" {
		dir, err := os.MkdirTemp("", "writ-sides-")
		if err != nil {
			return fault.Wrap(err, fault.Unavailable, op, "no temporary folder")
		}
		w.dir = dir
	}
	y := revision.Yard{Repo: repo, Dir: w.dir, Launcher: w.place, Environ: w.place.Environ(), Limit: w.o.buildLimit}
	if w.o.build != "" {
		var err error
		if y.Command, err = revision.Split(w.o.build); err != nil {
			return err
		}
	}
	if !w.app.quiet {
		y.Progress = w.app.err
	}
	w.yard = &y
	return nil
}

// described asks the project.
func (w *workshop) described(ctx context.Context, word string) (contestant, error) {
	operation := provide.Preparing
	if w.o.noBuild {
		operation = provide.Reporting
	}
	d, ok, err := w.app.describe(ctx, word, operation, 0)
	if err != nil {
		return contestant{}, err
	}
	if !ok {
		return contestant{}, fault.New(fault.NotFound, "prepare sides", "%s has no description", word)
	}
	out := contestant{word: word, target: d.Target, build: d.Build, labels: d.Labels}
	if w.o.sourceURI != "" {
		out.target.Source.URI = w.o.sourceURI
	}
	return out, nil
}

// folder is a checkout, or a folder of programs: then the checkout that holds it, or
// that it says it was built from, is the source.
func (w *workshop) folder(ctx context.Context, word string) (contestant, error) {
	dir, err := filepath.Abs(word)
	if err != nil {
		return contestant{}, fault.Wrap(err, fault.Internal, "prepare sides", "no working directory")
	}
	out := contestant{word: word, target: order.Target{Kind: order.BuildTree, Path: dir, Source: w.source(ctx, dir)}}
	if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
		out.target.Kind = order.WorkingTree
	}
	return out, nil
}

// program is one file.
func (w *workshop) program(ctx context.Context, word string) (contestant, error) {
	const op = "prepare sides"
	if w.o.revision == "" {
		return contestant{}, fault.New(fault.Usage, op, "%s does not say what it is of", word).Help("pass --revision REV, and --label NAME=BASE,CONTENDER to tell two programs apart")
	}
	file, err := filepath.Abs(word)
	if err != nil {
		return contestant{}, fault.Wrap(err, fault.Internal, op, "no working directory")
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return contestant{}, fault.Wrap(err, fault.NotFound, op, "cannot read %s", file)
	}
	return contestant{word: word, target: order.Target{
		Kind: order.Artifact, URI: (&url.URL{Scheme: "file", Path: filepath.ToSlash(file)}).String(), SHA256: canon.Sum(raw).Hex(),
		Source: w.source(ctx, filepath.Dir(file)), Revision: w.o.revision,
	}}, nil
}

// source names the repository of a folder.
func (w *workshop) source(ctx context.Context, dir string) order.Source {
	if w.o.sourceURI != "" {
		return order.Source{URI: w.o.sourceURI}
	}
	return sourceOf(ctx, dir)
}

// both makes two contestants with labels that tell them apart.
func (w *workshop) both(ctx context.Context, words []string, labels [2]map[string]string) (sides [2]contestant, err error) {
	for i, name := range []string{"a", "b"} {
		if sides[i], err = w.side(ctx, name, words[i]); err != nil {
			return sides, err
		}
		sides[i] = sides[i].labelled(labels[i])
	}
	a, b := sides[0].target.Source.URI, sides[1].target.Source.URI
	if a != b {
		return sides, fault.New(fault.Usage, "prepare sides", "the sides are of two repositories: %s and %s", a, b).Help("when they are one, name it with --source-uri")
	}
	return sides, nil
}
