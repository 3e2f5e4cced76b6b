package e2e

import (
	"context"
	_ "embed"
	"strings"
	"time"

	"golang.org/x/tools/txtar"

	"writ/internal/gitcmd"
	"writ/internal/taskpack"
)

//go:embed testdata/sample.txtar
var archive []byte

const mainRef = "refs/heads/main"

// sample is a bare repository with one commit on main: what changes land on.
type sample struct {
	repo gitcmd.Repo
	head string
}

// form is the files of one folder of the archive.
func form(folder string) []gitcmd.File {
	var out []gitcmd.File
	for _, f := range txtar.Parse(archive).Files {
		if name, ok := strings.CutPrefix(f.Name, folder+"/"); ok {
			out = append(out, gitcmd.File{Path: name, Content: f.Data})
		}
	}
	return out
}

// changes are the same files as a proposal names them.
func changes(folder string) []taskpack.File {
	var out []taskpack.File
	for _, f := range form(folder) {
		out = append(out, taskpack.File{Root: taskpack.RootModule, Path: f.Path, Op: taskpack.OpWrite, Content: f.Content})
	}
	return out
}

func newSample(ctx context.Context, dir string) (*sample, error) {
	repo, err := gitcmd.InitBare(ctx, dir)
	if err != nil {
		return nil, err
	}
	s := &sample{repo: repo}
	s.head, err = s.push(ctx, form("base")...)
	return s, err
}

// push is somebody else pushing a commit to main.
func (s *sample) push(ctx context.Context, files ...gitcmd.File) (string, error) {
	tip, tree := "", ""
	var parents []string
	if s.head != "" {
		var err error
		if tip, err = s.tip(ctx); err != nil {
			return "", err
		}
		if tree, err = s.repo.TreeOf(ctx, tip); err != nil {
			return "", err
		}
		parents = []string{tip}
	}
	tree, err := s.repo.WriteTree(ctx, tree, files)
	if err != nil {
		return "", err
	}
	id, err := s.repo.CommitTree(ctx, gitcmd.Commit{
		Tree: tree, Parents: parents, Message: "somebody's work\n",
		Author: gitcmd.Person{Name: "Somebody", Email: "somebody@example.org", When: time.Unix(1_700_000_000, 0).UTC()},
	})
	if err != nil {
		return "", err
	}
	return id, s.repo.UpdateRefs(ctx, gitcmd.RefUpdate{Ref: mainRef, Old: tip, New: id})
}

func (s *sample) tip(ctx context.Context) (string, error) { return s.repo.Ref(ctx, mainRef) }
