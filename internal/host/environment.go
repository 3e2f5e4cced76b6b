package host

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"writ/internal/canon"
	"writ/internal/docket"
	"writ/internal/fault"
	"writ/internal/ledger"
	"writ/internal/runner/contain"
	"writ/internal/runner/proc"
	"writ/internal/taskpack"
)

// environment is the contained place of one task run, open in this process.
type environment struct {
	*contain.Environment
	trees   map[string]string // worktree by commit
	scratch string            // folder of the host for output files
}

// openEnvironment makes a contained environment with the given commits. name is
// "" for a new one, or the name of one that a crash took: it is made again from
// the same commits, fresh.
func (j *job) openEnvironment(ctx context.Context, name string, commits ...string) (*environment, error) {
	repo, err := j.clone(ctx, j.workspace, j.repo)
	if err != nil {
		return nil, err
	}
	caches := hostCaches(ctx)
	e, err := contain.New(ctx, contain.Params{
		Root: j.workDir(), Name: name, Remote: repo.Dir, Commits: commits, ModCache: caches.modules, BuildCache: caches.build,
		Hide: []string{j.Dir}, Loopback: true, Now: j.Now,
	})
	if err != nil {
		return nil, err
	}
	err = os.MkdirAll(j.outputDir(), 0o700)
	var scratch string
	if err == nil {
		scratch, err = os.MkdirTemp(j.outputDir(), "")
	}
	if err != nil {
		_, derr := e.Destroy(ctx)
		return nil, fault.Wrap(err, fault.Unavailable, "make environment", "no folder for output (%v)", derr)
	}
	return &environment{e, map[string]string{}, scratch}, nil
}

// close ends the environment without a record, for places that no fact names.
func (e *environment) close(ctx context.Context) error {
	_, err := e.Destroy(ctx)
	if rerr := os.RemoveAll(e.scratch); err == nil {
		err = rerr
	}
	return err
}

// outcome is how a contained program ended, and the end of what it wrote.
type outcome struct {
	proc.Result
	output []byte
}

const keepOutput = 64 << 10 // bytes of output that are kept as evidence

// execute runs one program inside and waits for it.
func (e *environment) execute(ctx context.Context, argv []string, dir string, limit time.Duration, variables ...string) (outcome, error) {
	out, err := os.CreateTemp(e.scratch, "out-")
	if err != nil {
		return outcome{}, fault.Wrap(err, fault.Unavailable, "run program", "no output file")
	}
	defer out.Close()
	program := argv[0]
	switch {
	case program == "go":
		if program = e.GoProgram(); program == "" {
			return outcome{}, fault.New(fault.Target, "run program", "there is no go command on this host").Help("install Go, and start the server again")
		}
	case !filepath.IsAbs(program):
		program = filepath.Join("/bin", program)
	}
	r, err := e.Run(ctx, proc.Command{
		Argv: append([]string{program}, argv[1:]...), Dir: dir, Env: append(e.Environ(), variables...),
		Stdout: out, Stderr: out, Timeout: limit,
	})
	if err != nil {
		return outcome{}, err
	}
	tail, err := tailOf(out)
	return outcome{r, tail}, err
}

func tailOf(f *os.File) ([]byte, error) {
	end, err := f.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = f.Seek(max(end-keepOutput, 0), io.SeekStart)
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(f)
}

// allocate makes the environment of the run and records it.
func (j *job) allocate(ctx context.Context, run taskpack.Run) error {
	e, err := j.openEnvironment(ctx, "", j.task.BaseHead)
	if err != nil {
		return err
	}
	j.env = e
	j.Crash("allocated")
	return j.append(ctx, run, taskpack.Fact{Kind: taskpack.FactAllocated, Environment: e.Ref()}, batch{})
}

// inside is the environment of the run; one that a restart took is made again.
func (j *job) inside(ctx context.Context, run taskpack.Run) (*environment, error) {
	if j.env != nil {
		return j.env, nil
	}
	e, err := j.openEnvironment(ctx, contain.NameOf(run.Environment), j.task.BaseHead)
	j.env = e
	return e, err
}

// close ends what this process holds of the environment. A run that waits for a
// human gets it made again.
func (j *job) close() {
	if j.env == nil {
		return
	}
	if err := j.env.close(context.Background()); err != nil {
		j.Log.Warn("an environment was not removed", "run", j.task.Run, "err", err)
	}
	j.env = nil
}

// destroy removes the environment of a concluded run and records that it is gone.
func (j *job) destroy(ctx context.Context, run taskpack.Run) error {
	confirmation := "writ-destruction:none" // nothing was allocated
	var b batch
	if run.Environment != "" {
		c, err := j.removal(ctx, run.Environment)
		if err != nil {
			return err
		}
		body, err := canon.Marshal(c)
		if err != nil {
			return err
		}
		confirmation = c.Ref()
		b.docs = append(b.docs, ledger.NewDocument{Kind: ledger.KindDestruction, Ref: docket.Own(confirmation, j.task.Run), RunID: j.task.Run, Body: body})
	}
	return j.append(ctx, run, taskpack.Fact{Kind: taskpack.FactDestruction, Confirmation: confirmation}, b)
}

func (j *job) removal(ctx context.Context, ref string) (contain.Confirmation, error) {
	if j.env == nil {
		return contain.DestroyNamed(ctx, j.workDir(), contain.NameOf(ref), j.Now)
	}
	c, err := j.env.Destroy(ctx)
	if err == nil {
		err = os.RemoveAll(j.env.scratch)
	}
	j.env = nil
	return c, err
}

// sweep destroys what an earlier process left behind. Runs that go on get their
// environment made again.
func (h *Host) sweep(ctx context.Context) error {
	_, err := contain.Sweep(ctx, h.workDir(), h.Now)
	return errors.Join(err, os.RemoveAll(h.outputDir()))
}

// caches of the host's own Go installation: what is there need not be compiled
// or fetched again inside. "" where there is none.
type caches struct{ build, modules string }

func hostCaches(ctx context.Context) caches {
	out, err := exec.CommandContext(ctx, "go", "env", "-json", "GOCACHE", "GOMODCACHE").Output()
	var env struct{ GOCACHE, GOMODCACHE string }
	if err != nil || json.Unmarshal(out, &env) != nil {
		return caches{}
	}
	return caches{env.GOCACHE, env.GOMODCACHE}
}

// goVersion is the version of the host's Go, which is used inside.
func goVersion(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOVERSION").Output()
	return strings.TrimSpace(string(out)), err
}
