package gitcmd

import (
	"context"
	"strings"

	"writ/internal/fault"
)

// FirstParents lists the commits of a line of first parents, oldest first, both ends
// included. fault.Relation when from is not on the line of to, or both are one.
func (r Repo) FirstParents(ctx context.Context, from, to string) ([]string, error) {
	const op = "list commits"
	if err := checkIDs("git rev-list", from, to); err != nil {
		return nil, err
	}
	a, err := r.git(ctx, "rev-list", "--first-parent", "--reverse", "--parents", from+".."+to, "--")
	if err != nil {
		return nil, err
	}
	line := []string{from}
	for text := range strings.Lines(string(a.out)) {
		ids := strings.Fields(text)
		if len(ids) < 2 || ids[1] != line[len(line)-1] {
			break
		}
		line = append(line, ids[0])
	}
	if line[len(line)-1] != to || from == to {
		return nil, fault.New(fault.Relation, op, "%.12s is not on the line of first parents that leads to %.12s", from, to).
			Help("name a commit of the branch itself, such as the one that a side branch was merged into")
	}
	return line, nil
}

// Title is the first line of a commit's message.
func (r Repo) Title(ctx context.Context, commit string) (string, error) {
	o, err := r.ReadObject(ctx, commit)
	if err != nil {
		return "", err
	}
	if _, message, ok := strings.Cut(string(o.Raw), "\n\n"); ok && o.Kind == "commit" {
		title, _, _ := strings.Cut(strings.TrimSpace(message), "\n")
		return title, nil
	}
	return "", fault.New(fault.Invalid, "read commit", "%.12s is no commit", commit)
}
