package provide

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/harness"
	"writ/internal/order"
	"writ/internal/runner/proc"
)

// RequestVersion is the version of what a provider is asked with.
const RequestVersion = "benchx/target-provider-request/0.1.0"

// Operation is what a provider is asked to do.
type Operation string

// The operations.
const (
	Reporting Operation = "describe" // changes nothing; fails when the target is not there
	Preparing Operation = "prepare"  // may build
)

// Limits of time when none is given.
const (
	describeLimit = time.Minute
	prepareLimit  = time.Hour
)

// Asker runs the command of a provider.
type Asker struct {
	Launcher  proc.Launcher
	Operation Operation
	Environ   []string      // of the command
	Progress  io.Writer     // gets what the command writes to standard error, as it comes; nil for nobody
	Limit     time.Duration // 0: a minute to describe, an hour to prepare
}

// request goes to the command's standard input.
type request struct {
	Version       string    `json:"schema_version"`
	Operation     Operation `json:"operation"`
	SourceRef     string    `json:"source_ref"`
	Configuration string    `json:"configuration,omitempty"`
}

// fromFile gives a program its standard input: programs are started with an empty
// one.
const fromFile = `file=$1; shift; exec "$@" <"$file"`

// Ask sends one request and returns the description that comes back. A command
// that fails, takes too long or answers anything else is fault.Target.
func (a Asker) Ask(ctx context.Context, p Provider, name Name) (_ order.Description, err error) {
	const op = "ask provider"
	dir, err := os.MkdirTemp("", "writ-provider-")
	if err != nil {
		return order.Description{}, fault.Wrap(err, fault.Internal, op, "no temporary directory")
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	body := canon.MustFrom(request{RequestVersion, a.Operation, name.SourceRef, name.Configuration}).Canonical()
	question := filepath.Join(dir, "request.json")
	if err := os.WriteFile(question, append(body, '\n'), 0o600); err != nil {
		return order.Description{}, fault.Wrap(err, fault.Internal, op, "cannot write the request")
	}
	program, ok := findProgram(p, a.Environ)
	if !ok {
		return order.Description{}, fault.New(fault.Target, op, "there is no program %s", p.Command[0]).Help("see %s in %s", ProviderFile, p.Dir)
	}
	argv := append([]string{"/bin/sh", "-c", fromFile, "sh", question, program}, p.Command[1:]...)
	out, err := a.run(ctx, argv, p.Dir, dir)
	if err != nil {
		return order.Description{}, err
	}
	label := "@" + name.Configuration
	if !out.Result.OK() {
		if ctx.Err() != nil {
			return order.Description{}, fault.Wrap(ctx.Err(), fault.Cancelled, op, "stopped")
		}
		e := fault.New(fault.Target, op, "the provider failed to %s %s: it %s", a.Operation, label, end(out))
		if words := out.LastWords(); words != "" && a.Progress == nil {
			e.Public += ": " + words
		}
		return order.Description{}, e
	}
	d, err := order.ParseDescription(out.Stdout)
	if err != nil {
		return order.Description{}, notDescription(err, "the provider's answer for "+label)
	}
	return d, nil
}

// end says how the command ended, the way that people know exit statuses.
func end(out harness.Output) string {
	return strings.Replace(out.End(), "ended with status", "ended with exit", 1)
}

// run starts the command and shows its standard error while it runs.
func (a Asker) run(ctx context.Context, argv []string, work, dir string) (out harness.Output, err error) {
	const op = "ask provider"
	var files [2]*os.File
	for i, name := range []string{"stdout", "stderr"} {
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_EXCL|os.O_RDWR|os.O_APPEND, 0o600)
		if err != nil {
			return out, fault.Wrap(err, fault.Internal, op, "no output file")
		}
		defer f.Close()
		files[i] = f
	}
	limit := a.Limit
	if limit == 0 {
		limit = describeLimit
		if a.Operation == Preparing {
			limit = prepareLimit
		}
	}
	shown := follow(files[1].Name(), a.Progress)
	out.Result, err = a.Launcher.Run(ctx, proc.Command{
		Argv: argv, Dir: work, Env: a.Environ, Stdout: files[0], Stderr: files[1], Timeout: limit, OutputLimit: 64 << 20,
	})
	shown()
	if err != nil {
		return out, fault.Wrap(err, fault.Target, op, "the provider does not start")
	}
	for i, to := range []*[]byte{&out.Stdout, &out.Stderr} {
		if *to, err = os.ReadFile(files[i].Name()); err != nil {
			return out, fault.Wrap(err, fault.Internal, op, "the answer cannot be read")
		}
	}
	return out, nil
}

// lookAgain is how often the file that somebody else writes is looked at.
const lookAgain = 100 * time.Millisecond

// follow copies a growing file to w until done is called, and then its rest.
func follow(path string, w io.Writer) (done func()) {
	if w == nil {
		return func() {}
	}
	finish, finished := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(finished)
		f, err := os.Open(path)
		if err != nil {
			return
		}
		defer f.Close()
		ticks := time.NewTicker(lookAgain)
		defer ticks.Stop()
		for {
			select {
			case <-ticks.C:
				_, _ = io.Copy(w, f) // nobody may be watching
			case <-finish:
				_, _ = io.Copy(w, f)
				return
			}
		}
	}()
	return func() { close(finish); <-finished }
}

// findProgram finds the program of a provider the way a shell in its directory
// would.
func findProgram(p Provider, environ []string) (string, bool) {
	name := p.Command[0]
	if strings.ContainsRune(name, '/') {
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.Dir, name)
		}
		return name, executable(name)
	}
	for _, e := range environ {
		path, ok := strings.CutPrefix(e, "PATH=")
		if !ok {
			continue
		}
		for _, d := range filepath.SplitList(path) {
			if full := filepath.Join(d, name); filepath.IsAbs(d) && executable(full) {
				return full, true
			}
		}
	}
	return "", false
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
