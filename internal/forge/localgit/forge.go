// Package localgit lands merges on a plain git remote, one that knows pushes
// and nothing else.
//
// Next to each protected branch the remote holds a fence, a ref to a small
// document with a generation. A merge commit is built on the base head that was
// observed, pinned in a private clone, and pushed together with the next
// generation of the fence in one atomic push, which moves both refs from the
// values seen before or neither. Whoever settles an attempt as not merged
// advances the fence first. So the order of fences is the order of attempts, and
// a holder that was given up can never push later, however long it slept.
//
// Invariants: no push without both expectations; no two parties ever write the
// same next fence unless they mean the same; what happened is read back from the
// remote, after the fence was seen to have moved on, and is never taken from the
// answer of a push. Only this package seals readbacks of plain git.
//
// The package never force-pushes, never rebases, never resolves a conflict, and
// never decides who may land: that is the delivery authority's.
package localgit

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"writ/internal/fault"
	"writ/internal/gitcmd"
)

// Forge is one remote with our private clone of it. It is safe for concurrent
// use; one process at a time may use a clone.
type Forge struct {
	remote     string
	repository string // the owner/name that documents say
	clone      gitcmd.Repo
	mu         sync.Mutex // one call at a time works in the clone
}

// Params of a forge.
type Params struct {
	Remote     string // path or URL
	Repository string // alias owner/name in documents
	Dir        string // the private bare clone; made when it is not there
}

// Open opens the private clone, or makes it.
func Open(ctx context.Context, p Params) (*Forge, error) {
	const op = "open remote"
	if owner, name, ok := strings.Cut(p.Repository, "/"); !ok || owner == "" || name == "" {
		return nil, fault.New(fault.Invalid, op, "repository %q is not owner/name", p.Repository)
	}
	f := &Forge{remote: p.Remote, repository: p.Repository}
	var err error
	if _, statErr := os.Stat(filepath.Join(p.Dir, "HEAD")); statErr == nil {
		f.clone, err = gitcmd.Open(ctx, p.Dir)
		return f, err
	}
	// Made under another name first: a clone that was cut short is never used.
	if err := os.MkdirAll(filepath.Dir(p.Dir), 0o700); err != nil {
		return nil, fault.Wrap(err, fault.Internal, op, "no folder for the clone")
	}
	fresh, err := os.MkdirTemp(filepath.Dir(p.Dir), ".clone-")
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, op, "no folder for the clone")
	}
	defer os.RemoveAll(fresh)
	if _, err := gitcmd.Clone(ctx, p.Remote, fresh); err != nil {
		return nil, err
	}
	if err := os.Rename(fresh, p.Dir); err != nil {
		return nil, fault.Wrap(err, fault.Internal, op, "the clone cannot be put in its place")
	}
	f.clone, err = gitcmd.Open(ctx, p.Dir)
	return f, err
}

// Clone is the private clone. Refs below refs/writ/ in it are the forge's own.
func (f *Forge) Clone() gitcmd.Repo { return f.clone }

func branchRef(base string) string { return "refs/heads/" + base }

// FenceRef is the ref of the fence of a protected branch.
func FenceRef(base string) string { return "refs/writ/fence/" + base }

// Observe returns the head of a branch of the remote, whose commit the clone has
// from then on. fault.NotFound when there is no such branch.
func (f *Forge) Observe(ctx context.Context, base string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.observe(ctx, base)
}

func (f *Forge) observe(ctx context.Context, base string) (string, error) {
	id, err := f.bring(ctx, branchRef(base))
	if err == nil && id == "" {
		err = fault.New(fault.NotFound, "observe branch", "the remote has no branch %s", base)
	}
	return id, err
}

// bring reads a ref of the remote and makes sure that the clone has its object.
// It returns "" when there is no such ref.
func (f *Forge) bring(ctx context.Context, ref string) (string, error) {
	const tries = 4 // a ref may move between asking and fetching
	for range tries {
		refs, err := f.clone.ReadRefs(ctx, f.remote, ref)
		if err != nil {
			return "", err
		}
		id := refs[ref]
		if id == "" {
			return "", nil
		}
		if f.has(ctx, id) {
			return id, nil
		}
		seen := "refs/writ/seen/" + strings.TrimPrefix(ref, "refs/")
		if err := f.clone.Fetch(ctx, f.remote, "+"+ref+":"+seen); err != nil {
			return "", err
		}
		if f.has(ctx, id) {
			return id, nil
		}
	}
	return "", fault.New(fault.Forge, "observe remote", "%s moves faster than it can be fetched", ref)
}

func (f *Forge) has(ctx context.Context, id string) bool {
	_, err := f.clone.ReadObject(ctx, id)
	return err == nil
}

// Import brings a commit of another repository on this machine, such as the one
// that a change was made in, into the clone, and pins it there.
func (f *Forge) Import(ctx context.Context, from gitcmd.Repo, commit string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !gitcmd.IsID(commit) {
		return fault.New(fault.Invalid, "import commit", "%.80q is not a commit id", commit)
	}
	return f.clone.Fetch(ctx, from.Dir, commit+":"+pinRef(commit))
}

func pinRef(id string) string { return "refs/writ/pin/" + id }
