package gitcmd

import (
	"context"
	"strings"
)

// Ancestry lists a commit and all that it descends from, parents before children,
// commits of one branch together. What the commits in except descend from, and they
// themselves, are left out: with one, the list is what lies between.
func (r Repo) Ancestry(ctx context.Context, commit string, except ...string) ([]string, error) {
	if err := checkIDs("git rev-list", append([]string{commit}, except...)...); err != nil {
		return nil, err
	}
	args := []string{"rev-list", "--topo-order", "--reverse", commit}
	for _, e := range except {
		args = append(args, "^"+e)
	}
	a, err := r.git(ctx, append(args, "--")...)
	if err != nil {
		return nil, err
	}
	return strings.Fields(string(a.out)), nil
}
