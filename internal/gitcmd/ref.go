package gitcmd

import (
	"context"
	"strings"

	"writ/internal/fault"
)

// ResolveCommit returns the id of the commit that a revision names: a branch, a
// tag, an id or anything git understands. fault.NotFound when there is none.
func (r Repo) ResolveCommit(ctx context.Context, revision string) (string, error) {
	return r.resolve(ctx, revision, "commit")
}

// TreeOf returns the id of the tree of a revision.
func (r Repo) TreeOf(ctx context.Context, revision string) (string, error) {
	return r.resolve(ctx, revision, "tree")
}

func (r Repo) resolve(ctx context.Context, revision, kind string) (string, error) {
	missing := fault.New(fault.NotFound, "git rev-parse", "no %s %.200q", kind, revision)
	if revision == "" || strings.ContainsAny(revision, "\n\x00") {
		return "", missing
	}
	a, err := r.run(ctx, call{args: []string{"rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{" + kind + "}"}, codes: []int{1, 128}})
	if err != nil {
		return "", err
	}
	if a.code != 0 || !IsID(a.line()) {
		if _, err := Open(ctx, r.Dir); err != nil {
			return "", err
		}
		return "", missing
	}
	return a.line(), nil
}

// Ref returns the id that a full ref name holds, and "" when there is no such
// ref.
func (r Repo) Ref(ctx context.Context, ref string) (string, error) {
	if err := CheckRef(ref); err != nil {
		return "", err
	}
	a, err := r.run(ctx, call{args: []string{"show-ref", "--verify", "--hash", "--", ref}, codes: []int{1, 128}})
	if err != nil || a.code != 0 {
		return "", err
	}
	return a.line(), nil
}

// RefUpdate moves one ref from a value to another. An empty Old says that the
// ref must not exist, an empty New deletes it.
type RefUpdate struct {
	Ref, Old, New string
}

func (u RefUpdate) check() error {
	if err := CheckRef(u.Ref); err != nil {
		return err
	}
	for _, id := range []string{u.Old, u.New} {
		if id != "" && !IsID(id) {
			return fault.New(fault.Invalid, "check ref", "%.80q is not a full object id", id)
		}
	}
	if u.Old == "" && u.New == "" {
		return fault.New(fault.Invalid, "check ref", "update of %s has no value", u.Ref)
	}
	return nil
}

// UpdateRefs moves refs of the repository itself, all or none. fault.Conflict
// when one does not hold its old value.
func (r Repo) UpdateRefs(ctx context.Context, updates ...RefUpdate) error {
	var in strings.Builder
	in.WriteString("start\x00")
	for _, u := range updates {
		if err := u.check(); err != nil {
			return err
		}
		switch {
		case u.New == "":
			in.WriteString("delete " + u.Ref + "\x00" + u.Old + "\x00")
		case u.Old == "":
			in.WriteString("create " + u.Ref + "\x00" + u.New + "\x00")
		default:
			in.WriteString("update " + u.Ref + "\x00" + u.New + "\x00" + u.Old + "\x00")
		}
	}
	in.WriteString("prepare\x00commit\x00")
	_, err := r.run(ctx, call{args: []string{"update-ref", "--no-deref", "-z", "--stdin"}, stdin: []byte(in.String())})
	if err == nil || fault.CodeOf(err) != fault.Forge {
		return err
	}
	held := make(map[string]string, len(updates))
	for _, u := range updates {
		id, readErr := r.Ref(ctx, u.Ref)
		if readErr != nil {
			return readErr
		}
		held[u.Ref] = id
	}
	return judge(err, updates, held)
}

// judge says why updates were refused, by what the refs hold now: a ref that
// does not hold its old value is a conflict; otherwise the refusal stands.
func judge(refusal error, updates []RefUpdate, held map[string]string) error {
	for _, u := range updates {
		if held[u.Ref] != u.Old {
			return fault.Wrap(refusal, fault.Conflict, "move refs", "%s is at %s, not at %s", u.Ref, orNothing(held[u.Ref]), orNothing(u.Old)).
				With("ref", u.Ref).With("expected", u.Old).With("found", held[u.Ref])
		}
	}
	return refusal
}

func orNothing(id string) string {
	if id == "" {
		return "nothing"
	}
	return id
}
