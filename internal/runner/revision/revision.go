// Package revision checks git revisions out into worktrees of their own and builds
// them there, for as long as a comparison lasts.
//
// Invariants: the repository's own work tree, index and branches are never
// touched; a build command is run as it is written, without a shell, in the
// worktree; the paths of two worktrees have the same length, because a path can
// move a benchmark; what was made is removed by Remove, and whatever a process that
// died has left by Sweep.
//
// The package never guesses how to build, never fetches, and measures nothing.
package revision

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"writ/internal/fault"
	"writ/internal/gitcmd"
	"writ/internal/runner/proc"
)

// OutVariable is the environment variable of build commands that names the folder
// for what they make, and OutPlaceholder what stands for it in their arguments.
const (
	OutVariable    = "WRIT_OUT"
	OutPlaceholder = "{out}"
)

// DefaultLimit is the time for a build command when none is given.
const DefaultLimit = 30 * time.Minute

// Yard is where revisions are checked out and built.
type Yard struct {
	Repo     gitcmd.Repo
	Dir      string   // scratch folder, absolute; every build has a folder in it
	Command  []string // build command; none only checks out
	Launcher proc.Launcher
	Environ  []string      // of the command
	Limit    time.Duration // for one build; 0 is DefaultLimit
	Progress io.Writer     // told which command runs; nil for nobody
}

// Build is one revision, checked out and built.
type Build struct {
	Commit string // full id
	Tree   string // worktree, absolute
	Out    string // folder for what the build command makes, outside of the worktree
	Log    string // file with what the build command said; "" without one
}

// Make checks a commit out under a name, one per build, and builds it. A command
// that fails, takes too long or is not there is fault.Target with the last lines
// that it wrote; the worktree is gone then.
func (y Yard) Make(ctx context.Context, name, commit string) (_ Build, err error) {
	b := Build{Commit: commit, Tree: filepath.Join(y.Dir, name, "tree"), Out: filepath.Join(y.Dir, name, "out")}
	if err := os.MkdirAll(b.Out, 0o755); err != nil {
		return b, fault.Wrap(err, fault.Unavailable, "build revision", "cannot make %s", b.Out)
	}
	if _, err := y.Repo.AddWorktree(ctx, b.Tree, commit); err != nil {
		return b, errors.Join(err, y.Remove(context.WithoutCancel(ctx), b))
	}
	if len(y.Command) == 0 {
		return b, nil
	}
	b.Log = filepath.Join(y.Dir, name, "build.log")
	if err := y.build(ctx, b); err != nil {
		return b, errors.Join(err, y.Remove(context.WithoutCancel(ctx), b))
	}
	return b, nil
}

// build runs the command.
func (y Yard) build(ctx context.Context, b Build) error {
	const op = "build revision"
	argv := slices.Clone(y.Command)
	for i := range argv {
		argv[i] = strings.ReplaceAll(argv[i], OutPlaceholder, b.Out)
	}
	shown := spell(argv)
	program, err := y.find(argv[0], b.Tree)
	if err != nil {
		return fault.Wrap(err, fault.Target, op, "there is no program %s", argv[0]).Help("the command is run as it is written; for a shell write: sh -c '…'")
	}
	argv[0] = program
	if y.Progress != nil {
		_, _ = io.WriteString(y.Progress, "building "+b.Commit[:12]+": "+shown+"\n")
	}
	log, err := os.OpenFile(b.Log, os.O_CREATE|os.O_TRUNC|os.O_RDWR|os.O_APPEND, 0o644)
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, op, "cannot write %s", b.Log)
	}
	defer log.Close()
	limit := y.Limit
	if limit == 0 {
		limit = DefaultLimit
	}
	env := append(slices.Clone(y.Environ), OutVariable+"="+b.Out, "PWD="+b.Tree)
	r, err := y.Launcher.Run(ctx, proc.Command{Argv: argv, Dir: b.Tree, Env: env, Stdout: log, Stderr: log, Timeout: limit, OutputLimit: 256 << 20})
	switch {
	case ctx.Err() != nil:
		return fault.Wrap(ctx.Err(), fault.Cancelled, op, "stopped while building %.12s", b.Commit)
	case err != nil:
		return fault.Wrap(err, fault.Target, op, "%s does not start", shown)
	case r.OK():
		return nil
	case r.Cause == proc.TimedOut:
		return fault.New(fault.Target, op, "building %.12s took more than %s: %s", b.Commit, limit, shown).With("commit", b.Commit)
	}
	e := fault.New(fault.Target, op, "%.12s does not build: %s ended with status %d%s", b.Commit, shown, r.Exit, lastLines(b.Log, 15))
	return e.With("commit", b.Commit)
}

// spell writes a command so that Split reads it again.
func spell(argv []string) string {
	words := slices.Clone(argv)
	for i, w := range words {
		if w == "" || strings.ContainsAny(w, " \t\n\"") {
			words[i] = "'" + w + "'"
		}
	}
	return strings.Join(words, " ")
}

// find is the program of a command: a path counts from the worktree, a name is
// looked for in PATH.
func (y Yard) find(name, tree string) (string, error) {
	if strings.ContainsRune(name, '/') {
		if !filepath.IsAbs(name) {
			name = filepath.Join(tree, name)
		}
		info, err := os.Stat(name)
		if err == nil && info.IsDir() {
			err = os.ErrInvalid
		}
		return name, err
	}
	return exec.LookPath(name)
}

// lastLines are the last lines of a file, after a line feed.
func lastLines(path string, n int) string {
	raw, err := os.ReadFile(path)
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	if err != nil || lines[0] == "" {
		return ""
	}
	return "\n" + strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// Remove removes a build with its worktree. One that is gone already is no error.
func (y Yard) Remove(ctx context.Context, b Build) error {
	err := y.Repo.RemoveWorktree(ctx, b.Tree)
	if gone := os.RemoveAll(filepath.Dir(b.Tree)); gone != nil {
		err = errors.Join(err, fault.Wrap(gone, fault.Unavailable, "remove build", "%s cannot be removed", filepath.Dir(b.Tree)))
	}
	return err
}

// Sweep removes everything below Dir, such as what a process that died has left,
// and Dir itself.
func (y Yard) Sweep(ctx context.Context) error {
	builds, err := os.ReadDir(y.Dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "remove builds", "%s cannot be read", y.Dir)
	}
	var failed error
	for _, d := range builds {
		failed = errors.Join(failed, y.Remove(ctx, Build{Tree: filepath.Join(y.Dir, d.Name(), "tree")}))
	}
	if err := os.Remove(y.Dir); err != nil && failed == nil {
		failed = fault.Wrap(err, fault.Unavailable, "remove builds", "%s cannot be removed", y.Dir)
	}
	return failed
}

// Split takes a command apart into words: spaces divide, single and double quotes
// hold together what is between them. Nothing is expanded and nothing is a
// metacharacter; whoever wants a shell names it.
func Split(command string) (words []string, err error) {
	var word strings.Builder
	open, quote := false, rune(0)
	for _, r := range command {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, open = r, true
		case quote == 0 && (r == ' ' || r == '\t' || r == '\n'):
			if open {
				words, open = append(words, word.String()), false
				word.Reset()
			}
		default:
			open = true
			word.WriteRune(r)
		}
	}
	switch {
	case quote != 0:
		return nil, fault.New(fault.Usage, "read command", "a quotation mark %c is not closed in: %.200s", quote, command)
	case open:
		words = append(words, word.String())
	}
	if len(words) == 0 || words[0] == "" {
		return nil, fault.New(fault.Usage, "read command", "the command has no program")
	}
	return words, nil
}
