package cli

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"writ/internal/fault"
	"writ/internal/gitcmd"
	"writ/internal/runner/capture"
	"writ/internal/taskpack"
)

// changeOptions say where the files of a change come from.
type changeOptions struct {
	base     string   // commit
	folder   string   // whole files at their paths below the folder
	files    []string // PATH=FILE
	deletes  []string
	worktree string // git work tree whose difference to base is the change
}

// read collects the files of the change and the full id of its base.
func (o changeOptions) read(ctx context.Context) (base string, files []taskpack.File, err error) {
	if o.worktree != "" {
		if o.folder != "" || len(o.files) > 0 || len(o.deletes) > 0 {
			return "", nil, fault.New(fault.Usage, "read change", "--worktree says what changes; the other flags cannot add to it")
		}
		return o.compare(ctx)
	}
	if o.base == "" {
		return "", nil, fault.New(fault.Usage, "read change", "no base").Help("pass --base COMMIT, or --worktree DIR")
	}
	if o.folder != "" {
		if files, err = readFolder(o.folder); err != nil {
			return "", nil, err
		}
	}
	for _, pair := range o.files {
		name, from, ok := strings.Cut(pair, "=")
		if !ok {
			return "", nil, fault.New(fault.Usage, "read change", "--file %q is not PATH=FILE", pair)
		}
		content, err := os.ReadFile(from)
		if err != nil {
			return "", nil, fault.Wrap(err, fault.NotFound, "read change", "%s cannot be read", from)
		}
		files = append(files, taskpack.File{Path: name, Op: taskpack.OpWrite, Content: content})
	}
	for _, name := range o.deletes {
		files = append(files, taskpack.File{Path: name, Op: taskpack.OpDelete})
	}
	return o.base, files, nil
}

// readFolder takes every regular file below dir.
func readFolder(dir string) (files []taskpack.File, err error) {
	root := os.DirFS(dir)
	err = fs.WalkDir(root, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if !e.Type().IsRegular() {
			return fault.New(fault.Invalid, "read change", "%s is not a regular file", name)
		}
		content, err := fs.ReadFile(root, name)
		files = append(files, taskpack.File{Path: name, Op: taskpack.OpWrite, Content: content})
		return err
	})
	if _, ok := fault.As(err); err != nil && !ok {
		err = fault.Wrap(err, fault.NotFound, "read change", "%s cannot be read", dir)
	}
	return files, err
}

// compare finds what the work tree has that the base has not. Ignored files do
// not count, and nothing of the checkout is changed.
func (o changeOptions) compare(ctx context.Context) (base string, files []taskpack.File, err error) {
	dir, err := filepath.Abs(o.worktree)
	if err != nil {
		return "", nil, fault.Wrap(err, fault.Usage, "read change", "%s is no path", o.worktree)
	}
	repo, err := gitcmd.Open(ctx, dir)
	if err != nil {
		return "", nil, err
	}
	revision := o.base
	if revision == "" {
		revision = "HEAD"
	}
	if base, err = repo.ResolveCommit(ctx, revision); err != nil {
		return "", nil, err
	}
	entries, err := repo.LsTree(ctx, base)
	if err != nil {
		return "", nil, err
	}
	var names []string
	var top string
	err = withGit(ctx, func(git capture.Git, _ string) error {
		out, err := git(ctx, dir, nil, "rev-parse", "--show-toplevel")
		if err != nil {
			return err
		}
		top = strings.TrimSuffix(string(out), "\n")
		list, err := git(ctx, top, nil, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
		for name := range strings.SplitSeq(string(list), "\x00") {
			if name != "" {
				names = append(names, name)
			}
		}
		return err
	})
	if err != nil {
		return "", nil, err
	}
	files, err = differences(top, entries, names)
	return base, files, err
}

// differences compares the files of a checkout with the entries of a tree.
func differences(top string, entries []gitcmd.Entry, names []string) ([]taskpack.File, error) {
	was := map[string]gitcmd.Entry{}
	for _, e := range entries {
		was[e.Path] = e
	}
	there := map[string]bool{}
	var files []taskpack.File
	for _, name := range names {
		if there[name] {
			continue // an entry per side of a conflict
		}
		info, err := os.Lstat(filepath.Join(top, filepath.FromSlash(name)))
		if os.IsNotExist(err) {
			continue // in the index and deleted
		}
		if err != nil {
			return nil, fault.Wrap(err, fault.NotFound, "read change", "%s cannot be read", name)
		}
		there[name] = true
		f, changed, err := difference(top, name, info, was[name])
		if err != nil {
			return nil, err
		}
		if changed {
			files = append(files, f)
		}
	}
	for _, e := range entries {
		if !there[e.Path] {
			files = append(files, taskpack.File{Path: e.Path, Op: taskpack.OpDelete})
		}
	}
	return files, nil
}

func difference(top, name string, info fs.FileInfo, was gitcmd.Entry) (taskpack.File, bool, error) {
	var none taskpack.File
	refuse := func(what string) error {
		return fault.New(fault.Unsupported, "read change", "%s %s: a patch holds regular files only", name, what)
	}
	path := filepath.Join(top, filepath.FromSlash(name))
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(path)
		if err == nil && was.Mode == gitcmd.ModeLink && was.ID == gitcmd.HashObject("blob", []byte(target)) {
			return none, false, nil
		}
		return none, false, refuse("is a new or changed symbolic link")
	}
	if info.IsDir() {
		if was.Mode == gitcmd.ModeSubmodule {
			return none, false, nil // its own commit is its own business
		}
		return none, false, refuse("is a repository of its own")
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return none, false, fault.Wrap(err, fault.NotFound, "read change", "%s cannot be read", name)
	}
	executable := info.Mode()&0o100 != 0
	same := was.ID == gitcmd.HashObject("blob", content)
	if was.ID != "" && executable != (was.Mode == gitcmd.ModeExecutable) || was.ID == "" && executable {
		return none, false, refuse("is or was executable, and that changes")
	}
	return taskpack.File{Path: name, Op: taskpack.OpWrite, Content: bytes.Clone(content)}, !same, nil
}
