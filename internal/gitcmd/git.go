// Package gitcmd runs the git command for everybody else: objects, merges
// without a work tree, worktrees, and atomic pushes that name the value they
// expect to replace.
//
// Invariants: every call runs without hooks, without system and user
// configuration, without a file-system monitor, without background jobs, in the
// C locale, with an environment of its own, and in its own process group, which
// is killed as a whole when the context ends. Object ids, ref names and remotes
// are checked before git sees them, so none can be read as an option. Only the
// file, ssh, http and https transports may be used.
//
// The package never asks for a password, never prints a remote's credentials,
// never retries, and decides nothing about what may land.
package gitcmd

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"writ/internal/fault"
)

// Repo is a repository, bare or with a work tree, or one of its worktrees.
type Repo struct {
	Dir string // folder that git runs in
}

// pinned is the configuration of every call. It is given on the command line,
// which wins over the repository's own file.
var pinned = []string{
	"core.hooksPath=/dev/null",
	"core.fsmonitor=false",
	"core.attributesFile=/dev/null",
	"core.excludesFile=/dev/null",
	"core.quotePath=false",
	"merge.renames=true",
	"merge.directoryRenames=conflict",
	"gc.auto=0",
	"maintenance.auto=false",
	"submodule.recurse=false",
	"protocol.allow=never",
	"protocol.ext.allow=never",
	"protocol.file.allow=always",
	"protocol.ssh.allow=always",
	"protocol.http.allow=always",
	"protocol.https.allow=always",
}

// passed are the variables that git gets from our own environment: where to
// find programs, and how to reach and to authenticate at a remote.
var passed = []string{
	"PATH", "HOME", "TMPDIR", "SSH_AUTH_SOCK", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO",
	"http_proxy", "https_proxy", "no_proxy", "all_proxy", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY",
}

func environment(extra []string) []string {
	env := []string{
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_OPTIONAL_LOCKS=0",
		"LC_ALL=C",
	}
	for _, name := range passed {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	if !slices.ContainsFunc(env, func(s string) bool { return strings.HasPrefix(s, "GIT_SSH") }) {
		env = append(env, "GIT_SSH_COMMAND=ssh -o BatchMode=yes")
	}
	return append(env, extra...)
}

// call is one run of git.
type call struct {
	args  []string
	stdin []byte
	env   []string
	codes []int // exit codes that are answers, not errors; 0 always is
}

// answer is what a run gave.
type answer struct {
	out  []byte
	code int
}

// line returns the output without its last line feed.
func (a answer) line() string { return strings.TrimSuffix(string(a.out), "\n") }

const (
	maxOutput = 256 << 20 // bytes of one answer that are kept
	maxErrors = 64 << 10
	killDelay = 5 * time.Second // for pipes to close after the kill
)

// run executes git in the repository's folder.
func (r Repo) run(ctx context.Context, c call) (answer, error) {
	args := make([]string, 0, 2*len(pinned)+len(c.args))
	for _, p := range pinned {
		args = append(args, "-c", p)
	}
	cmd := exec.CommandContext(ctx, "git", append(args, c.args...)...)
	cmd.Dir = r.Dir
	cmd.Env = environment(c.env)
	cmd.Stdin = bytes.NewReader(c.stdin)
	stdout, stderr := &capped{max: maxOutput}, &capped{max: maxErrors}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.WaitDelay = killDelay
	ownGroup(cmd)
	err := cmd.Run()
	a := answer{out: stdout.buf.Bytes()}
	if cmd.ProcessState != nil {
		a.code = cmd.ProcessState.ExitCode()
	}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return a, ended(ctx, c)
	case stdout.over:
		return a, fault.New(fault.TooLarge, op(c), "more than %d bytes of output", maxOutput)
	case err == nil, errors.As(err, &exit) && slices.Contains(c.codes, a.code):
		return a, nil
	case errors.As(err, &exit):
		return a, failed(c, a.code, stderr.buf.String())
	case errors.Is(err, exec.ErrNotFound):
		return a, fault.Wrap(err, fault.Unavailable, op(c), "the git command is missing").Help("install git %s or newer", Oldest)
	}
	return a, fault.Wrap(err, fault.Internal, op(c), "git could not be run")
}

// git is run for calls that have arguments only.
func (r Repo) git(ctx context.Context, args ...string) (answer, error) {
	return r.run(ctx, call{args: args})
}

// capped keeps the first max bytes and swallows the rest.
type capped struct {
	buf  bytes.Buffer
	max  int
	over bool
}

func (w *capped) Write(p []byte) (int, error) {
	room := w.max - w.buf.Len()
	if len(p) > room {
		w.over = true
		w.buf.Write(p[:room])
		return len(p), nil
	}
	return w.buf.Write(p)
}

var _ io.Writer = (*capped)(nil)
