package gitcmd

import (
	"context"
	"strings"

	"writ/internal/fault"
)

// Merged is the outcome of a merge: a tree, or the paths in conflict.
type Merged struct {
	Tree      string   // id of the merged tree; "" when there are conflicts
	Conflicts []string // paths in conflict, in git's order
}

// MergeTree merges two commits without a work tree, by their common ancestor,
// and stores the resulting tree. Conflicts are an answer, not an error. Commits
// without a common ancestor are fault.Invalid.
func (r Repo) MergeTree(ctx context.Context, base, head string) (Merged, error) {
	if err := checkIDs("git merge-tree", base, head); err != nil {
		return Merged{}, err
	}
	if err := r.needObjects(ctx, "commit", base, head); err != nil {
		return Merged{}, err
	}
	if related, err := r.related(ctx, base, head); err != nil || !related {
		if err == nil {
			err = fault.New(fault.Invalid, "git merge-tree", "%s and %s have no common history", base, head)
		}
		return Merged{}, err
	}
	a, err := r.run(ctx, call{args: []string{"merge-tree", "--write-tree", "--no-messages", "--name-only", "-z", base, head}, codes: []int{1}})
	if err != nil {
		return Merged{}, err
	}
	fields := strings.Split(strings.TrimSuffix(string(a.out), "\x00"), "\x00")
	if !IsID(fields[0]) {
		return Merged{}, fault.New(fault.Forge, "git merge-tree", "answer %.80q cannot be read", fields[0])
	}
	if a.code == 0 {
		return Merged{Tree: fields[0]}, nil
	}
	return Merged{Conflicts: fields[1:]}, nil
}

func (r Repo) related(ctx context.Context, a, b string) (bool, error) {
	out, err := r.run(ctx, call{args: []string{"merge-base", a, b}, codes: []int{1}})
	return out.code == 0, err
}

// IsAncestor reports whether ancestor is commit or one of its ancestors.
func (r Repo) IsAncestor(ctx context.Context, ancestor, commit string) (bool, error) {
	if err := checkIDs("git merge-base", ancestor, commit); err != nil {
		return false, err
	}
	a, err := r.run(ctx, call{args: []string{"merge-base", "--is-ancestor", ancestor, commit}, codes: []int{1}})
	return err == nil && a.code == 0, err
}
