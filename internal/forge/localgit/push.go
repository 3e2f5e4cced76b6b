package localgit

import (
	"context"

	"writ/internal/fault"
	"writ/internal/gitcmd"
)

// Push lands a merge: one atomic push moves the base from the head that the
// merge was built on, and the fence from the one that stood then to the next.
// Both move or neither. fault.BaseMoved says that the base is elsewhere,
// fault.Fenced that the attempt was given up; after either, nothing was changed
// and this merge can never land. A merge that is part of the base already, by
// this push or an earlier one, is no error.
func (f *Forge) Push(ctx context.Context, m Merge) error {
	const op = "push merge"
	f.mu.Lock()
	defer f.mu.Unlock()
	if m.Fence.Object == "" {
		return fault.New(fault.Fenced, op, "merge %s has no fence", m.Commit)
	}
	next, err := f.writeFence(ctx, m.Base, m.Fence.Generation+1, m.Commit)
	if err != nil {
		return err
	}
	// The fence comes first: of two reasons to refuse, that one is final.
	err = f.clone.PushAtomic(ctx, f.remote,
		gitcmd.RefUpdate{Ref: FenceRef(m.Base), Old: m.Fence.Object, New: next.Object},
		gitcmd.RefUpdate{Ref: branchRef(m.Base), Old: m.BaseHead, New: m.Commit})
	e, ok := fault.As(err)
	if !ok || e.Code != fault.Conflict {
		return err
	}
	head, readErr := f.observe(ctx, m.Base)
	if readErr != nil {
		return readErr
	}
	if landed, readErr := f.clone.IsAncestor(ctx, m.Commit, head); readErr != nil || landed {
		return readErr
	}
	if e.Get("ref") == FenceRef(m.Base) {
		return fault.Wrap(err, fault.Fenced, op, "the fence of %s has moved on: this attempt was given up", m.Base).With("found", e.Get("found"))
	}
	return fault.Wrap(err, fault.BaseMoved, op, "%s has moved", m.Base).With("baseHead", head).
		Help("merge into the new head and try again")
}
