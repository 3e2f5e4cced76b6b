package localgit

import (
	"context"
	"strings"
	"time"

	"writ/internal/fault"
	"writ/internal/gitcmd"
)

// MergeParams is what a merge commit is made of. The same parameters give the
// same commit.
type MergeParams struct {
	Base       string // branch that is landed on
	SourceHead string // commit to land; the clone has it (Import)
	Name       string // of author and committer
	Email      string
	At         time.Time
	Message    string
}

// Merge is a merge commit that was built on an observed base head and pinned in
// the clone, with the fence that its push will replace.
type Merge struct {
	Base       string `json:"base"`
	BaseHead   string `json:"base_head"` // first parent: where the base was
	SourceHead string `json:"source_head"`
	Commit     string `json:"commit"`
	Tree       string `json:"tree"`
	Fence      Fence  `json:"fence"`
}

// MergedTree merges a commit into the base as the remote has it now. It returns
// that head and the merged tree, and makes no commit.
func (f *Forge) MergedTree(ctx context.Context, base, sourceHead string) (baseHead, tree string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mergedTree(ctx, base, sourceHead)
}

func (f *Forge) mergedTree(ctx context.Context, base, sourceHead string) (baseHead, tree string, err error) {
	const op = "merge change"
	if baseHead, err = f.observe(ctx, base); err != nil {
		return "", "", err
	}
	m, err := f.clone.MergeTree(ctx, baseHead, sourceHead)
	if err != nil {
		return "", "", err
	}
	if m.Tree == "" {
		return "", "", conflict(base, baseHead, m.Conflicts)
	}
	landed, err := f.clone.IsAncestor(ctx, sourceHead, baseHead)
	if err != nil {
		return "", "", err
	}
	if landed {
		return "", "", fault.New(fault.State, op, "%s is part of %s already", sourceHead, base)
	}
	return baseHead, m.Tree, nil
}

// conflict names the paths: the change no longer merges into the base as it is.
func conflict(base, head string, paths []string) error {
	const most = 50
	e := fault.New(fault.BaseMoved, "merge change", "change conflicts with %s in %s", base, shortened(paths)).
		Help("make the change again on %s at %s", base, head).With("baseHead", head)
	for _, p := range paths[:min(len(paths), most)] {
		e.With("conflict", p)
	}
	return e
}

func shortened(paths []string) string {
	const most = 3
	if len(paths) <= most {
		return strings.Join(paths, ", ")
	}
	return strings.Join(paths[:most], ", ") + ", …"
}

// BuildMerge merges the source head into the base as the remote has it now,
// makes the merge commit and pins it, together with the fence that stands, in
// the clone. The remote is not changed, but for a first fence. A change that
// does not merge is fault.BaseMoved with the paths in conflict.
func (f *Forge) BuildMerge(ctx context.Context, p MergeParams) (Merge, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	// The fence first: a base that is read later can only be newer.
	fence, err := f.ensureFence(ctx, p.Base)
	if err != nil {
		return Merge{}, err
	}
	head, tree, err := f.mergedTree(ctx, p.Base, p.SourceHead)
	if err != nil {
		return Merge{}, err
	}
	who := gitcmd.Person{Name: p.Name, Email: p.Email, When: p.At.UTC()}
	id, err := f.clone.CommitTree(ctx, gitcmd.Commit{Tree: tree, Parents: []string{head, p.SourceHead}, Author: who, Message: p.Message})
	if err != nil {
		return Merge{}, err
	}
	m := Merge{Base: p.Base, BaseHead: head, SourceHead: p.SourceHead, Commit: id, Tree: tree, Fence: fence}
	return m, f.pin(ctx, m)
}

// pin keeps the merge commit and its fence in the clone, so that an attempt can
// be taken up again after a crash. An attempt that was built again under a later
// fence is pinned with that one.
func (f *Forge) pin(ctx context.Context, m Merge) error {
	var updates []gitcmd.RefUpdate
	for _, u := range []gitcmd.RefUpdate{{Ref: pinRef(m.Commit), New: m.Commit}, {Ref: pinnedFenceRef(m), New: m.Fence.Object}} {
		held, err := f.clone.Ref(ctx, u.Ref)
		if err != nil {
			return err
		}
		if u.Old = held; u.Old != u.New {
			updates = append(updates, u)
		}
	}
	if len(updates) == 0 {
		return nil
	}
	return f.clone.UpdateRefs(ctx, updates...)
}

func pinnedFenceRef(m Merge) string { return "refs/writ/pinned-fence/" + m.Commit + "/" + m.Base }

// Recall returns a merge that was built and pinned before. fault.NotFound when
// this clone never pinned it.
func (f *Forge) Recall(ctx context.Context, base, commit string) (Merge, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.recall(ctx, base, commit)
}

func (f *Forge) recall(ctx context.Context, base, commit string) (Merge, error) {
	const op = "recall merge"
	m := Merge{Base: base, Commit: commit}
	if !gitcmd.IsID(commit) {
		return Merge{}, fault.New(fault.Invalid, op, "%.80q is not a commit id", commit)
	}
	id, err := f.clone.Ref(ctx, pinnedFenceRef(m))
	if err != nil {
		return Merge{}, err
	}
	if id == "" {
		return Merge{}, fault.New(fault.NotFound, op, "no merge %s into %s was built here", commit, base)
	}
	o, err := f.clone.ReadObject(ctx, id)
	if err != nil {
		return Merge{}, err
	}
	if m.Fence, err = f.parseFence(base, o); err != nil {
		return Merge{}, err
	}
	for _, x := range []struct {
		revision string
		into     *string
	}{{commit + "^1", &m.BaseHead}, {commit + "^2", &m.SourceHead}} {
		if *x.into, err = f.clone.ResolveCommit(ctx, x.revision); err != nil {
			return Merge{}, err
		}
	}
	m.Tree, err = f.clone.TreeOf(ctx, commit)
	return m, err
}
