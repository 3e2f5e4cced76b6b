package host

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"writ/internal/canon"
	"writ/internal/docket"
	"writ/internal/fault"
	"writ/internal/forge/localgit"
	"writ/internal/gitcmd"
	"writ/internal/taskpack"
)

// forge opens the remote of a repository; its private clone is made on first use.
// Each remote of each workspace has a clone of its own: two workspaces may call
// two remotes by one name.
func (h *Host) forge(ctx context.Context, workspace string, r Repository) (*localgit.Forge, error) {
	remote := canon.Sum([]byte(r.Remote)).Hex()[:12]
	dir := filepath.Join(h.reposDir(), workspace, strings.ReplaceAll(r.Alias, "/", "~")+"~"+remote+".git")
	h.mu.Lock()
	defer h.mu.Unlock()
	if f, ok := h.forges[dir]; ok {
		return f, nil
	}
	f, err := localgit.Open(ctx, localgit.Params{Remote: r.Remote, Repository: r.Alias, Dir: dir})
	if err != nil {
		return nil, err
	}
	h.forges[dir] = f
	return f, nil
}

// clone is the private clone of a repository, with the base branch as the remote
// has it now.
func (h *Host) clone(ctx context.Context, workspace string, r Repository) (gitcmd.Repo, error) {
	f, err := h.forge(ctx, workspace, r)
	if err != nil {
		return gitcmd.Repo{}, err
	}
	if _, err := f.Observe(ctx, r.Base); err != nil {
		return gitcmd.Repo{}, err
	}
	return f.Clone(), nil
}

// knowsCommit refuses a base commit that is no part of the branch.
func (h *Host) knowsCommit(ctx context.Context, workspace string, r Repository, commit string) error {
	f, err := h.forge(ctx, workspace, r)
	if err != nil {
		return err
	}
	head, err := f.Observe(ctx, r.Base)
	if err != nil {
		return err
	}
	known := false
	if _, err := f.Clone().ResolveCommit(ctx, commit); err == nil {
		if known, err = f.Clone().IsAncestor(ctx, commit, head); err != nil {
			return err
		}
	}
	if !known {
		return fault.New(fault.NotFound, "find base", "commit %s is no part of %s %s", commit, r.Alias, r.Base).
			At("/candidate/ref").Help("propose a change to a commit of that branch; it is at %s", head)
	}
	return nil
}

// remote is the one that the run lands on.
func (j *job) remote(ctx context.Context) (*localgit.Forge, error) {
	return j.forge(ctx, j.workspace, j.repo)
}

// mergedTree is the tree that landing on the branch as it is now would give.
func (j *job) mergedTree(ctx context.Context) (string, error) {
	f, err := j.remote(ctx)
	if err != nil {
		return "", err
	}
	_, tree, err := f.MergedTree(ctx, j.repo.Base, j.task.SourceHead)
	return tree, err
}

// writeCommit makes the commit of the patch step: the base with the approved
// files written, said by the author of the proposal.
func (j *job) writeCommit(ctx context.Context) (head, tree string, err error) {
	repo, err := j.clone(ctx, j.workspace, j.repo)
	if err != nil {
		return "", "", err
	}
	base, err := repo.TreeOf(ctx, j.task.BaseHead)
	if err != nil {
		return "", "", err
	}
	modes, err := modesOf(ctx, repo, base)
	if err != nil {
		return "", "", err
	}
	var files []gitcmd.File
	for _, s := range j.plan.Steps {
		for _, f := range j.patches[s.Patch].Files {
			files = append(files, gitcmd.File{Path: f.Path, Mode: modes[f.Path], Content: f.Content, Delete: f.Op == taskpack.OpDelete})
		}
	}
	if tree, err = repo.WriteTree(ctx, base, files); err != nil {
		return "", "", err
	}
	if tree == base {
		return "", "", fault.New(fault.Plan, "write change", "the patch changes nothing: the base has these files already").With("refusal", "plan/outside-profile")
	}
	says := docket.CommitFrom(j.proposal, j.turn)
	head, err = repo.CommitTree(ctx, gitcmd.Commit{
		Tree: tree, Parents: []string{j.task.BaseHead}, Message: says.Message,
		Author: gitcmd.Person{Name: says.Name, Email: says.Mail, When: says.At},
	})
	if err != nil {
		return "", "", err
	}
	f, err := j.remote(ctx)
	if err != nil {
		return "", "", err
	}
	return head, tree, f.Import(ctx, repo, head) // pinned, so that no clean-up takes it
}

// modesOf are the modes of the files of a tree: a file that is rewritten keeps its own.
func modesOf(ctx context.Context, repo gitcmd.Repo, tree string) (map[string]string, error) {
	entries, err := repo.LsTree(ctx, tree)
	if err != nil {
		return nil, err
	}
	out := make(map[string]string, len(entries))
	for _, e := range entries {
		out[e.Path] = e.Mode
	}
	return out, nil
}

// Docket writes the bundle of a run.
func (h *Host) Docket(ctx context.Context, workspace, run string, w io.Writer) error {
	b, err := h.bundle(ctx, workspace, run)
	if err != nil {
		return err
	}
	return b.Write(w)
}

func (h *Host) bundle(ctx context.Context, workspace, run string) (*docket.Bundle, error) {
	r, err := h.Desk.Run(ctx, workspace, run)
	if err != nil {
		return nil, err
	}
	p := docket.CollectParams{Store: h.Store, Blobs: h.Blobs, Workspace: workspace, Run: run, Lane: r.LaneID, Host: h.Node(), Now: h.Now()}
	if repo, err := h.repository(ctx, workspace); err == nil {
		f, err := h.forge(ctx, workspace, repo)
		if err != nil {
			return nil, err
		}
		clone := f.Clone()
		p.Repo = &clone
	}
	b, err := docket.Collect(ctx, p)
	if err != nil {
		return nil, err
	}
	return b, b.Seal(h.Key)
}
