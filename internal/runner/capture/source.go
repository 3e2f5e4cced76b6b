package capture

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"writ/internal/fault"
)

// Dirty states of a checkout.
const (
	Clean   = "clean"
	Dirty   = "dirty"
	Unknown = "unknown"
)

// Git runs one git command in dir with extra environment variables and returns
// its standard output. A command that fails is an error. It must not run hooks.
type Git func(ctx context.Context, dir string, env []string, args ...string) ([]byte, error)

// Identity is what a checkout holds, as found.
type Identity struct {
	Top      string // root of the checkout
	Revision string // commit id, or "directory-" and the tree id where there is no version control
	Dirty    string // Clean, Dirty or Unknown
	Tree     string // id of the content; "" iff Dirty is Unknown
	Origin   string // URL of the remote called origin, or ""
	VCS      string // "git" or "directory"
}

var hexID = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// Checkout identifies the git checkout that holds dir: tracked and untracked files
// count, ignored ones do not, and a submodule counts as its commit. A clean
// checkout's tree is the tree of its commit. The index and the object store of the
// checkout stay as they are: everything is written to scratch, an existing
// directory. A directory outside git is fault.Target; a checkout whose content
// cannot be told has Dirty Unknown.
func Checkout(ctx context.Context, git Git, dir, scratch string) (Identity, error) {
	const op = "identify checkout"
	line := func(args ...string) (string, error) {
		b, err := git(ctx, dir, nil, args...)
		return strings.TrimSpace(string(b)), err
	}
	top, err := line("rev-parse", "--show-toplevel")
	if err != nil {
		return Identity{}, stopped(ctx, err, op, "cannot locate the checkout of "+dir)
	}
	revision, err := line("rev-parse", "--verify", "HEAD^{commit}")
	if err != nil || !hexID.MatchString(revision) {
		return Identity{}, stopped(ctx, err, op, "the checkout has no revision")
	}
	id := Identity{Top: top, Revision: revision, Dirty: Unknown, VCS: "git"}
	if origin, err := line("config", "--get", "remote.origin.url"); err == nil {
		id.Origin = origin
	}
	status, err := git(ctx, top, nil, "status", "--porcelain", "--untracked-files=all", "--ignore-submodules=none")
	if err != nil {
		return id, stoppedOnly(ctx, op)
	}
	tree, err := worktreeTree(ctx, git, top, scratch)
	if err != nil {
		return id, stoppedOnly(ctx, op)
	}
	id.Dirty, id.Tree = Clean, tree
	if len(strings.TrimSpace(string(status))) > 0 {
		id.Dirty = Dirty
	}
	return id, nil
}

// stopped makes the error of a failed look; a look that was called off is Cancelled.
func stopped(ctx context.Context, err error, op, text string) error {
	if cancelled := stoppedOnly(ctx, op); cancelled != nil {
		return cancelled
	}
	return fault.Wrap(err, fault.Target, op, "%s", text).
		Help("give the directory of a git checkout with at least one commit")
}

func stoppedOnly(ctx context.Context, op string) error {
	if err := ctx.Err(); err != nil {
		return fault.Wrap(err, fault.Cancelled, op, "stopped")
	}
	return nil
}

// worktreeTree writes the content of a checkout as a tree, into a scratch index
// and a scratch object store that borrows from the real one.
func worktreeTree(ctx context.Context, git Git, top, scratch string) (tree string, err error) {
	b, err := git(ctx, top, nil, "rev-parse", "--path-format=absolute", "--git-path", "objects")
	if err != nil {
		return "", err
	}
	objects := strings.TrimSpace(string(b))
	dir, err := os.MkdirTemp(scratch, "tree-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.Mkdir(filepath.Join(dir, "objects"), 0o755); err != nil {
		return "", err
	}
	env := []string{
		"GIT_INDEX_FILE=" + filepath.Join(dir, "index"), // does not exist: nothing is taken from the user's
		"GIT_OBJECT_DIRECTORY=" + filepath.Join(dir, "objects"),
		"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + quoteAlternate(objects),
	}
	if _, err := git(ctx, top, env, "add", "-A"); err != nil {
		return "", err
	}
	b, err = git(ctx, top, env, "write-tree")
	if err != nil {
		return "", err
	}
	tree = strings.TrimSpace(string(b))
	if !hexID.MatchString(tree) {
		return "", fault.New(fault.Internal, "write tree", "%q is no tree id", tree)
	}
	return tree, nil
}

// quoteAlternate spells a path for a list that is separated by colons.
func quoteAlternate(p string) string {
	if !strings.ContainsAny(p, `:"`) {
		return p
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(p) + `"`
}

// SubjectName returns the name of the subject whose source is at uri: the last
// path segment without ".git", or "subject" when there is none that is a token.
func SubjectName(uri string) string {
	p := strings.TrimRight(uri, "/")
	if i := strings.IndexAny(p, "?#"); i >= 0 {
		p = strings.TrimRight(p[:i], "/")
	}
	if scheme, rest, ok := strings.Cut(p, "://"); ok && scheme != "" {
		if !strings.Contains(rest, "/") {
			return "subject" // a host and nothing else
		}
		p = rest
	}
	if i := strings.LastIndexByte(p, ':'); i > strings.LastIndexByte(p, '/') {
		p = p[i+1:] // host:repository
	}
	name := strings.TrimSuffix(path.Base(p), ".git")
	if name == "" || name == "." || name == "/" || strings.ContainsFunc(name, isSpace) {
		return "subject"
	}
	return name
}
