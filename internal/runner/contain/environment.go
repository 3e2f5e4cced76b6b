package contain

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/gitcmd"
	"writ/internal/runner/proc"
)

// Kind of the environments that this package makes.
const Kind = "writ-worktree/v1"

// refPrefix begins the ref of an environment.
const refPrefix = "writ-worktree:"

// Params of an environment.
type Params struct {
	Root   string      // folder below which environments live; nothing else does
	Source gitcmd.Repo // repository that is cloned, with the commits that worktrees are made of
	Hide   []string    // folders of the host that look empty inside: keys, data, homes
	Expose []string    // folders inside hidden ones that stay readable, such as a toolchain
	Now    func() time.Time
}

// Environment is one contained place to run programs in. Its methods are not
// safe for concurrent use.
type Environment struct {
	Ref    string // writ-worktree:<id>
	Dir    string // absolute
	params Params
	clone  gitcmd.Repo
	gotool toolchain
	keeper *proc.Keeper
}

// New makes an environment: the clone, the caches, and the namespaces. What the
// kernel denies is fault.NotContained, and then nothing is left behind.
func New(ctx context.Context, p Params) (*Environment, error) {
	var id [10]byte
	if _, err := rand.Read(id[:]); err != nil {
		return nil, fault.Wrap(err, fault.Internal, "make environment", "no randomness")
	}
	name := hex.EncodeToString(id[:])
	root, err := filepath.Abs(p.Root)
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "make environment", "the folder has no absolute path")
	}
	e := &Environment{Ref: refPrefix + name, Dir: filepath.Join(root, name), params: p}
	if err := e.make(ctx); err != nil {
		_, derr := e.Destroy(ctx)
		return nil, errors.Join(err, derr)
	}
	return e, nil
}

// folders below an environment.
var folders = []string{"home", "tmp", "out", "bin", "cache", "cache-work", "mod", "mod-work", "trees"}

func (e *Environment) make(ctx context.Context) error {
	for _, f := range folders {
		if err := os.MkdirAll(filepath.Join(e.Dir, f), 0o700); err != nil {
			return fault.Wrap(err, fault.Unavailable, "make environment", "%s cannot be made", f)
		}
	}
	var err error
	if e.clone, err = gitcmd.Clone(ctx, e.params.Source.Dir, filepath.Join(e.Dir, "clone.git")); err != nil {
		return err
	}
	return e.start(ctx)
}

// Reopen takes up an environment that an earlier process made and did not
// destroy; fault.NotFound when it is gone.
func Reopen(ctx context.Context, p Params, ref string) (*Environment, error) {
	name, ok := strings.CutPrefix(ref, refPrefix)
	root, err := filepath.Abs(p.Root)
	if !ok || name == "" || strings.ContainsAny(name, "/.") || err != nil {
		return nil, fault.New(fault.Invalid, "reopen environment", "%q is no environment of this kind", ref)
	}
	e := &Environment{Ref: ref, Dir: filepath.Join(root, name), params: p}
	if _, err := os.Stat(filepath.Join(e.Dir, "clone.git", "HEAD")); err != nil {
		return nil, fault.Wrap(err, fault.NotFound, "reopen environment", "%s is gone", ref)
	}
	if e.clone, err = gitcmd.Open(ctx, filepath.Join(e.Dir, "clone.git")); err != nil {
		return nil, err
	}
	return e, e.start(ctx)
}

// start enters the namespaces. The caches of the host lie below the own ones, so
// that what was compiled before need not be compiled again, and cannot be changed.
func (e *Environment) start(ctx context.Context) error {
	var err error
	if e.gotool, err = findGo(ctx); err != nil {
		return err
	}
	iso := proc.Isolation{
		User: true, Network: true, Processes: true, IPC: true, Files: true, Loopback: true, BestEffort: true,
		Writable: e.Dir, Temporary: filepath.Join(e.Dir, "tmp"),
		Hide: e.hidden(), Expose: append([]string{e.gotool.root}, e.params.Expose...),
	}
	for _, l := range []proc.Layer{
		{Lower: e.gotool.cache, Upper: e.path("cache"), Work: e.path("cache-work")},
		{Lower: e.gotool.modules, Upper: e.path("mod"), Work: e.path("mod-work")},
	} {
		if info, err := os.Stat(l.Lower); err == nil && info.IsDir() {
			iso.Layer = append(iso.Layer, l)
			iso.Expose = append(iso.Expose, l.Lower)
		}
	}
	if e.keeper, err = proc.Start(ctx, iso); err != nil {
		return err
	}
	return e.proven()
}

// hidden are the folders that look empty inside: homes, run-time sockets, and
// whatever the caller adds.
func (e *Environment) hidden() []string {
	hide := []string{"/root", "/home", "/run", "/var/run", "/dev/shm"}
	if home, err := os.UserHomeDir(); err == nil && filepath.IsAbs(home) && home != "/" {
		hide = append(hide, home)
	}
	return append(hide, e.params.Hide...)
}

func (e *Environment) path(name string) string { return filepath.Join(e.Dir, name) }

// proven holds what the keeper found against what containment means.
func (e *Environment) proven() error {
	const op = "prove containment"
	r := e.keeper.Report
	for _, i := range r.Interfaces {
		if !i.Loopback {
			return fault.New(fault.NotContained, op, "the network interface %s is reachable", i.Name)
		}
	}
	own := func(kind string) string {
		name, err := os.Readlink("/proc/self/ns/" + kind)
		if err != nil {
			return ""
		}
		return name
	}
	for kind, inside := range map[string]string{"user": r.Namespaces.User, "net": r.Namespaces.Network, "mnt": r.Namespaces.Mount} {
		if inside == "" || inside == own(kind) {
			return fault.New(fault.NotContained, op, "the %s namespace is the host's", kind)
		}
	}
	return nil
}

// Worktree checks a commit out into a folder of the environment and returns it.
func (e *Environment) Worktree(ctx context.Context, name, commit string) (string, error) {
	dir := filepath.Join(e.path("trees"), name)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil // made before a restart
	}
	if err := e.clone.Fetch(ctx, e.params.Source.Dir, commit+":refs/writ/work/"+commit); err != nil {
		return "", err
	}
	_, err := e.clone.AddWorktree(ctx, dir, commit)
	return dir, err
}

// Folder makes a folder of the environment for what programs leave behind.
func (e *Environment) Folder(name string) (string, error) {
	dir := filepath.Join(e.path("out"), name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fault.Wrap(err, fault.Unavailable, "make folder", "%s cannot be made", name)
	}
	return dir, nil
}

// Launcher starts programs inside.
func (e *Environment) Launcher() proc.Launcher { return e.keeper }

// Confirmation is the record of a destruction.
type Confirmation struct {
	Environment string    `json:"environment"`
	Path        bool      `json:"removed"` // the folder is gone
	At          time.Time `json:"at"`
}

// Ref names the confirmation.
func (c Confirmation) Ref() string {
	return "writ-destruction:" + canon.Sum([]byte(c.Environment+" "+c.At.UTC().Format(time.RFC3339Nano))).String()
}

// Destroy ends everything inside and removes the folder. It may be called again,
// also by another process, until it is confirmed.
func (e *Environment) Destroy(context.Context) (Confirmation, error) {
	if e.keeper != nil {
		e.keeper.Close()
		e.keeper = nil
	}
	if err := remove(e.Dir); err != nil {
		return Confirmation{}, fault.Wrap(err, fault.Unavailable, "destroy environment", "%s cannot be removed", e.Ref)
	}
	return Confirmation{Environment: e.Ref, Path: true, At: e.params.Now().UTC()}, nil
}

// Close leaves the environment as it is, for another process to take up.
func (e *Environment) Close() {
	if e.keeper != nil {
		e.keeper.Close()
		e.keeper = nil
	}
}

// DestroyRef destroys an environment of which only the ref is known.
func DestroyRef(ctx context.Context, p Params, ref string) (Confirmation, error) {
	name, ok := strings.CutPrefix(ref, refPrefix)
	root, err := filepath.Abs(p.Root)
	if !ok || name == "" || strings.ContainsAny(name, "/.") || err != nil {
		return Confirmation{}, fault.New(fault.Invalid, "destroy environment", "%q is no environment of this kind", ref)
	}
	e := &Environment{Ref: ref, Dir: filepath.Join(root, name), params: p}
	return e.Destroy(ctx)
}

// Sweep destroys every environment below root that keep does not want, and
// returns their refs.
func Sweep(ctx context.Context, p Params, keep func(ref string) bool) ([]string, error) {
	entries, err := os.ReadDir(p.Root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.Wrap(err, fault.Unavailable, "sweep environments", "%s cannot be read", p.Root)
	}
	var gone []string
	for _, e := range entries {
		ref := refPrefix + e.Name()
		if keep(ref) {
			continue
		}
		if _, err := DestroyRef(ctx, p, ref); err != nil {
			return gone, err
		}
		gone = append(gone, ref)
	}
	return gone, nil
}

// remove removes a folder, also what a module cache made read-only.
func remove(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil {
		return nil
	}
	werr := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(path, 0o700) //nolint:gosec // it is removed next
		}
		return nil
	})
	return errors.Join(werr, os.RemoveAll(dir))
}
