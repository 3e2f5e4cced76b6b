// Package contain makes environments of the kind writ-worktree/v1: a private
// clone with worktrees, caches of its own, no network and an offline toolchain,
// in which programs that nobody trusts yet can be built and run.
//
// Invariants: nothing of the host can be written but the environment's own area;
// no program reaches an address outside, and none keeps a capability; the clone
// itself is outside of the area, so that what runs inside cannot change what the
// host's git reads; an environment that cannot be contained is refused, never
// weakened in silence; destroying one is idempotent, confirmed by looking, and
// caught up on after a crash.
//
// The package never runs a command of the repository outside of containment, and
// never reads a link inside the area as a way out of it.
package contain

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/gitcmd"
	"writ/internal/ident"
	"writ/internal/result"
	"writ/internal/runner/proc"
)

// Kind names this kind of environment.
const Kind = "writ-worktree/v1"

// refPrefix starts the ref of an environment.
const refPrefix = "writ-worktree:"

// Params describe an environment.
type Params struct {
	Root       string   // directory that holds environments, one folder each; made when absent
	Remote     string   // path or URL of the repository
	Commits    []string // ids that must be in the clone, branch or no branch
	Go         string   // the go program; "" looks in PATH. Nothing is wrong when there is none
	ModCache   string   // a module cache to read modules from, offline; "" for none
	BuildCache string   // a build cache to start with, never written to; "" for none
	ReadOnly   []string // further directories that stay visible
	Hide       []string // further directories that programs must not see, such as the host's own data
	Loopback   bool     // a private loopback, for programs that talk to themselves
	Name       string   // of an environment that is made again after its owner died, see NameOf; "" for a fresh name
	Now        func() time.Time
}

// Environment is one isolated place. It is safe for concurrent use; programs
// wait for each other.
type Environment struct {
	id     string
	params Params
	dir    string // Root/id
	tools  toolchain
	repo   gitcmd.Repo
	keeper *proc.Keeper
	facts  map[string]result.Observed
	lock   *os.File

	mu       sync.Mutex
	trees    int
	observer *proc.Keeper // nil until used
	gone     *Confirmation
}

// New makes an environment and proves that it is contained. fault.NotContained
// says that this host cannot do it; then nothing is left of the attempt.
func New(ctx context.Context, p Params) (e *Environment, err error) {
	const op = "make environment"
	if p.Now == nil {
		p.Now = time.Now
	}
	if p.Root, err = filepath.Abs(p.Root); err != nil {
		return nil, fault.Wrap(err, fault.Internal, op, "no working directory")
	}
	if err := os.MkdirAll(p.Root, 0o700); err != nil {
		return nil, fault.Wrap(err, fault.Internal, op, "cannot make %s", p.Root)
	}
	if p.Root, err = filepath.EvalSymlinks(p.Root); err != nil { // mounts follow no links
		return nil, fault.Wrap(err, fault.Internal, op, "cannot find %s", p.Root)
	}
	e = &Environment{id: p.Name, params: p, tools: findToolchain(p)}
	if e.id == "" {
		e.id = newID()
	}
	e.dir = filepath.Join(p.Root, e.id)
	if _, err := os.Lstat(e.dir); err == nil || !isName(e.id) {
		return nil, fault.New(fault.State, op, "%q is no free name", e.id).Help("destroy what is left of it first")
	}
	defer func() {
		if err != nil {
			e.Destroy(context.WithoutCancel(ctx))
			e = nil
		}
	}()
	if err := e.layout(); err != nil {
		return e, err
	}
	if e.keeper, err = proc.Start(ctx, e.isolation(layerMain)); err != nil {
		return e, err
	}
	if err := e.prove(ctx); err != nil {
		return e, err
	}
	if e.repo, err = gitcmd.Clone(ctx, p.Remote, filepath.Join(e.dir, "repo.git")); err != nil {
		return e, err
	}
	for _, commit := range p.Commits {
		if err := e.Fetch(ctx, commit); err != nil {
			return e, err
		}
	}
	return e, nil
}

// newID is short, because it is part of every path, and always of one length.
func newID() string {
	id := ident.New(ident.Run)
	return "e" + id[len(id)-12:]
}

// ID returns the environment's name under its root.
func (e *Environment) ID() string { return e.id }

// Ref returns the reference by which documents name the environment.
func (e *Environment) Ref() string { return refPrefix + e.id }

// Repo is the private clone, for the host's use: contained programs can read it
// and nothing more. Commits that are made in it can be checked out.
func (e *Environment) Repo() gitcmd.Repo { return e.repo }

// Fetch brings a commit of the remote into the clone, unless it is there.
func (e *Environment) Fetch(ctx context.Context, commit string) error {
	if _, err := e.repo.ResolveCommit(ctx, commit); err == nil {
		return nil
	}
	return e.repo.Fetch(ctx, e.params.Remote, commit)
}

// Worktree checks a commit out into a folder of its own and returns the folder.
// Folders of one environment have paths of equal length.
func (e *Environment) Worktree(ctx context.Context, commit string) (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	dir, err := e.claim("w")
	if err != nil {
		return "", err
	}
	if _, err := e.repo.AddWorktree(ctx, dir, commit); err != nil {
		return "", err
	}
	return dir, nil
}

// BuildDir makes an empty folder for what is built, with a path of the same
// length as every other.
func (e *Environment) BuildDir() (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	dir, err := e.claim("b")
	if err != nil {
		return "", err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", fault.Wrap(err, fault.Internal, "make build directory", "cannot make it")
	}
	return dir, nil
}

// claim returns a new path below the area. Contained programs own the area: the
// path must not exist, and the folder above it must be a real one.
func (e *Environment) claim(kind string) (string, error) {
	const op = "claim directory"
	if e.gone != nil {
		return "", fault.New(fault.State, op, "environment %s is destroyed", e.id)
	}
	if e.trees == 1000 {
		return "", fault.New(fault.Unsupported, op, "environment %s has too many directories", e.id)
	}
	n := strconv.Itoa(1000 + e.trees)[1:]
	e.trees++
	above, dir := e.area(kind), e.area(kind, n)
	if info, err := os.Lstat(above); err != nil || !info.IsDir() {
		return "", fault.Wrap(err, fault.NotContained, op, "%s was replaced", above)
	}
	if _, err := os.Lstat(dir); err == nil {
		return "", fault.New(fault.NotContained, op, "%s is there already", dir)
	}
	return dir, nil
}

// area returns a path below the directory that contained programs can write.
func (e *Environment) area(parts ...string) string {
	return filepath.Join(append([]string{e.dir, "area"}, parts...)...)
}

// Run implements proc.Launcher: programs may change everything in the area.
func (e *Environment) Run(ctx context.Context, c proc.Command) (proc.Result, error) {
	return e.keeper.Run(ctx, c)
}

// Observer returns the same place for programs that only look: worktrees and what
// was built are read-only to them. It is what programs are measured in, so that
// one side cannot touch the other.
func (e *Environment) Observer(ctx context.Context) (*Observer, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.gone != nil {
		return nil, fault.New(fault.State, "observe environment", "environment %s is destroyed", e.id)
	}
	if e.observer == nil {
		k, err := proc.Start(ctx, e.isolation(layerObserver, e.area("w"), e.area("b")))
		if err != nil {
			return nil, err
		}
		if err := checkReport(k.Report, e.params.Loopback); err != nil {
			k.Close()
			return nil, err
		}
		e.observer = k
	}
	return &Observer{Environment: e, keeper: e.observer}, nil
}

// Observer is an environment in which worktrees and builds cannot be changed. It
// lives as long as the environment.
type Observer struct {
	*Environment
	keeper *proc.Keeper
}

// Run implements proc.Launcher.
func (o *Observer) Run(ctx context.Context, c proc.Command) (proc.Result, error) {
	return o.keeper.Run(ctx, c)
}

// Scratch makes an empty directory that programs inside can write to. Links that
// programs have left in the way are not followed out of the area.
func (e *Environment) Scratch() (dir string, remove func() error, err error) {
	const op = "make scratch directory"
	area, err := os.OpenRoot(e.area())
	if err != nil {
		return "", nil, fault.Wrap(err, fault.State, op, "environment %s has no area", e.id)
	}
	defer area.Close()
	name := newID()
	if err := area.Mkdir("scratch/"+name, 0o755); err != nil {
		return "", nil, fault.Wrap(err, fault.NotContained, op, "scratch was replaced")
	}
	dir = e.area("scratch", name)
	if real, err := filepath.EvalSymlinks(dir); err != nil || real != dir {
		return "", nil, fault.Wrap(err, fault.NotContained, op, "scratch was replaced")
	}
	return dir, func() error { return os.RemoveAll(dir) }, nil
}

// Facts are what results record about the place, as parts of environment.system.
func (e *Environment) Facts() map[string]result.Observed { return e.facts }

// prove looks at the environment from inside: it must have namespaces of its own,
// no interface but a loopback, and no way to a listener of this host.
func (e *Environment) prove(ctx context.Context) error {
	if err := checkReport(e.keeper.Report, e.params.Loopback); err != nil {
		return err
	}
	if err := checkUnreachable(ctx, e.keeper); err != nil {
		return err
	}
	r := e.keeper.Report
	fact := func(value any) result.Observed {
		return result.Saw(canon.MustFrom(value), "", result.Before, "contain")
	}
	e.facts = map[string]result.Observed{
		"containment.kind":       fact(Kind),
		"containment.loopback":   fact(e.params.Loopback),
		"containment.own_proc":   fact(r.FreshProc),
		"containment.warm_cache": fact(r.Layers > 0),
	}
	return nil
}
