package docket

import (
	"context"
	"slices"
	"sort"
	"strings"

	"writ/internal/canon"
	"writ/internal/fault"
	"writ/internal/gitcmd"
	"writ/internal/landing"
	"writ/internal/ledger"
	"writ/internal/proposal"
	"writ/internal/result"
	"writ/internal/taskpack"
)

func cutPath(p string) (dir, rest string, ok bool) { return strings.Cut(p, "/") }

// collectGit takes the commits that were measured or admitted, and the trees on
// the way from the root of the approved base to every path that a patch touches.
func (b *Bundle) collectGit(ctx context.Context, repo gitcmd.Repo) error {
	seen := map[string]bool{}
	take := func(id string) (gitcmd.Object, error) {
		o, err := repo.ReadObject(ctx, id)
		if fault.CodeOf(err) == fault.NotFound {
			return gitcmd.Object{}, nil
		}
		if err == nil && !seen[id] {
			seen[id] = true
			b.Git = append(b.Git, GitObject{ID: id, Type: o.Kind, Body: o.Raw})
		}
		return o, err
	}
	base := b.approvedBase()
	for _, id := range b.commits() {
		o, err := take(id)
		if err != nil {
			return err
		}
		if id != base || o.Kind != "commit" {
			continue
		}
		c, err := parseCommit(o.Raw)
		if err != nil {
			return err
		}
		if err := takeTrees(c.Tree, b.paths(), take); err != nil {
			return err
		}
	}
	sort.Slice(b.Git, func(i, j int) bool { return b.Git[i].ID < b.Git[j].ID })
	return nil
}

// takeTrees takes a tree and those below it that the paths lead through.
func takeTrees(id string, paths []string, take func(string) (gitcmd.Object, error)) error {
	o, err := take(id)
	if err != nil || o.Kind != "tree" {
		return err
	}
	entries, err := parseTree(o.Raw)
	if err != nil {
		return err
	}
	below := map[string][]string{}
	for _, p := range paths {
		if dir, rest, ok := cutPath(p); ok {
			below[dir] = append(below[dir], rest)
		}
	}
	for dir, rest := range below {
		if i := find(entries, dir); i >= 0 && entries[i].isTree() {
			if err := takeTrees(entries[i].id, rest, take); err != nil {
				return err
			}
		}
	}
	return nil
}

// commits are the commits that results and admissions name.
func (b *Bundle) commits() []string {
	var all []string
	for _, d := range b.Documents {
		switch d.Kind {
		case ledger.KindResult:
			if r, err := result.Parse([]byte(d.Body)); err == nil {
				all = append(all, r.Revision.Key)
			}
		case ledger.KindAdmission:
			if v, err := canon.Parse([]byte(d.Body)); err == nil {
				if a, _, err := landing.ParseAdmission(v); err == nil {
					all = append(all, a.MergeGroupHead)
				}
			}
		}
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(id string) bool { return id == "" })
}

// approvedBase is the commit that the admitted proposal changes, or "".
func (b *Bundle) approvedBase() string {
	admitted := ""
	for _, d := range b.Documents {
		if d.Kind != ledger.KindDecision {
			continue
		}
		if doc, err := proposal.Open(proposal.KindDecision, []byte(d.Body)); err == nil {
			if dec, err := proposal.AsDecision(doc); err == nil && dec.Decision == proposal.DecisionAdmit {
				admitted = dec.Proposal
			}
		}
	}
	for _, d := range b.Documents {
		if d.Kind != ledger.KindProposal || d.Ref != admitted {
			continue
		}
		if v, err := canon.Parse([]byte(d.Body)); err == nil {
			c, _ := v.Get("candidate")
			return baseOf(c.Str("ref"))
		}
	}
	return ""
}

// baseOf is the commit at the end of a candidate's name.
func baseOf(name string) string {
	_, commit, _ := strings.Cut(name, "@")
	return commit
}

// paths are the paths that the patches of the docket touch.
func (b *Bundle) paths() []string {
	var out []string
	for _, x := range b.Blobs {
		p, err := taskpack.ParsePatch(x.Body)
		if err != nil {
			continue // not a patch
		}
		for _, f := range p.Files {
			out = append(out, f.Path)
		}
	}
	return out
}
