package gitcmd

import (
	"context"
	"path/filepath"
	"strings"

	"writ/internal/fault"
)

// Oldest is the oldest git that has all that this package uses: merges without
// a work tree came with it.
const Oldest = "2.38"

// Version returns the version of the git command, such as "2.39.5", and
// fault.Unavailable when it is missing or older than Oldest.
func Version(ctx context.Context) (string, error) {
	a, err := Repo{}.git(ctx, "version")
	if err != nil {
		return "", err
	}
	fields := strings.Fields(a.line())
	if len(fields) < 3 {
		return "", fault.New(fault.Unavailable, "git version", "%.80q is no version", a.line())
	}
	if olderThan(fields[2], Oldest) {
		return fields[2], fault.New(fault.Unavailable, "git version", "git %s is too old", fields[2]).Help("install git %s or newer", Oldest)
	}
	return fields[2], nil
}

// olderThan compares dotted versions by their leading numbers.
func olderThan(a, b string) bool {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range bs {
		x := 0
		if i < len(as) {
			x = leadingNumber(as[i])
		}
		if y := leadingNumber(bs[i]); x != y {
			return x < y
		}
	}
	return false
}

func leadingNumber(s string) (n int) {
	for i := 0; i < len(s) && '0' <= s[i] && s[i] <= '9' && n < 1e6; i++ {
		n = n*10 + int(s[i]-'0')
	}
	return n
}

// InitBare makes an empty bare repository whose first branch is called main.
func InitBare(ctx context.Context, dir string) (Repo, error) {
	return initialise(ctx, dir, "--bare")
}

// Init makes an empty repository with a work tree. Its first branch is called
// main.
func Init(ctx context.Context, dir string) (Repo, error) { return initialise(ctx, dir) }

func initialise(ctx context.Context, dir string, options ...string) (Repo, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Repo{}, fault.Wrap(err, fault.Internal, "git init", "no working directory")
	}
	args := append([]string{"init", "--quiet", "--template=", "--initial-branch=main"}, options...)
	if _, err := (Repo{}).git(ctx, append(args, "--", abs)...); err != nil {
		return Repo{}, err
	}
	return Repo{Dir: abs}, nil
}

// Clone makes a private bare copy of a remote: nothing is shared with it, not
// even by hard links, and no branch of it is checked out. The copy keeps every
// branch of the remote as refs/remotes/origin/*.
func Clone(ctx context.Context, remote, dir string) (Repo, error) {
	if err := checkRemote(remote); err != nil {
		return Repo{}, err
	}
	r, err := InitBare(ctx, dir)
	if err != nil {
		return Repo{}, err
	}
	return r, r.Fetch(ctx, remote, "+refs/heads/*:refs/remotes/origin/*")
}

// Open checks that dir is a repository or a worktree of one.
func Open(ctx context.Context, dir string) (Repo, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Repo{}, fault.Wrap(err, fault.Internal, "git rev-parse", "no working directory")
	}
	r := Repo{Dir: abs}
	if _, err := r.git(ctx, "rev-parse", "--git-dir"); err != nil {
		return Repo{}, fault.Wrap(err, fault.NotFound, "open repository", "%s is not a git repository", abs)
	}
	return r, nil
}

// AddWorktree checks out a commit, detached, in a new folder. The worktree
// shares the objects of r.
func (r Repo) AddWorktree(ctx context.Context, dir, commit string) (Repo, error) {
	if err := checkIDs("git worktree", commit); err != nil {
		return Repo{}, err
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Repo{}, fault.Wrap(err, fault.Internal, "git worktree", "no working directory")
	}
	if _, err := r.git(ctx, "worktree", "add", "--quiet", "--detach", "--", abs, commit); err != nil {
		return Repo{}, err
	}
	return Repo{Dir: abs}, nil
}

// RemoveWorktree removes a worktree of r with everything in it, and what r
// remembers of it. A worktree that is gone already is no error.
func (r Repo) RemoveWorktree(ctx context.Context, dir string) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return fault.Wrap(err, fault.Internal, "git worktree", "no working directory")
	}
	if known, err := r.hasWorktree(ctx, abs); err != nil || !known {
		return err
	}
	if _, err := r.git(ctx, "worktree", "remove", "--force", "--force", "--", abs); err != nil {
		return err
	}
	_, err = r.git(ctx, "worktree", "prune")
	return err
}

func (r Repo) hasWorktree(ctx context.Context, abs string) (bool, error) {
	a, err := r.git(ctx, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return false, err
	}
	// Git names worktrees by their real path; the folder itself may be gone.
	if parent, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
		abs = filepath.Join(parent, filepath.Base(abs))
	}
	for field := range strings.SplitSeq(string(a.out), "\x00") {
		if path, ok := strings.CutPrefix(field, "worktree "); ok && path == abs {
			return true, nil
		}
	}
	return false, nil
}
