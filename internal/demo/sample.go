package demo

import (
	"context"
	_ "embed"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/tools/txtar"

	"writ/internal/gitcmd"
)

//go:embed sample.txtar
var archive []byte

// sample is a bare repository with one commit on main.
type sample struct {
	repo gitcmd.Repo
	head string
}

// files are the files of one folder of the archive.
func files(folder string) map[string][]byte {
	out := map[string][]byte{}
	for _, f := range txtar.Parse(archive).Files {
		if name, ok := strings.CutPrefix(f.Name, folder+"/"); ok {
			out[name] = f.Data
		}
	}
	return out
}

func makeSample(ctx context.Context, dir string, now time.Time) (sample, error) {
	repo, err := gitcmd.InitBare(ctx, filepath.Join(dir, "origin.git"))
	if err != nil {
		return sample{}, err
	}
	var list []gitcmd.File
	for name, body := range files("base") {
		list = append(list, gitcmd.File{Path: name, Content: body})
	}
	tree, err := repo.WriteTree(ctx, "", list)
	if err != nil {
		return sample{}, err
	}
	head, err := repo.CommitTree(ctx, gitcmd.Commit{
		Tree: tree, Author: gitcmd.Person{Name: "Ann", Email: "ann@example.org", When: now.UTC()}, Message: "sample: remove repeated numbers\n",
	})
	if err != nil {
		return sample{}, err
	}
	if err := repo.UpdateRefs(ctx, gitcmd.RefUpdate{Ref: "refs/heads/main", New: head}); err != nil {
		return sample{}, fmt.Errorf("make main: %w", err)
	}
	return sample{repo, head}, nil
}

// tip is where main is now.
func (s sample) tip(ctx context.Context) (string, error) { return s.repo.Ref(ctx, "refs/heads/main") }
