package cli

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"writ/internal/fault"
	"writ/internal/gitcmd"
	"writ/internal/taskpack"
)

// checkoutOf makes a work tree with one commit.
func checkoutOf(t *testing.T, files map[string]string) (dir, commit string) {
	t.Helper()
	dir = t.TempDir()
	repo, err := gitcmd.Init(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []gitcmd.File
	for name, text := range files {
		all = append(all, gitcmd.File{Path: name, Content: []byte(text)})
		write(t, dir, name, text)
	}
	tree, err := repo.WriteTree(t.Context(), "", all)
	if err != nil {
		t.Fatal(err)
	}
	commit, err = repo.CommitTree(t.Context(), gitcmd.Commit{Tree: tree, Author: gitcmd.Person{Name: "t", Email: "t@example.org", When: time.Unix(1, 0)}, Message: "base"})
	if err != nil {
		t.Fatal(err)
	}
	if err := repo.UpdateRefs(t.Context(), gitcmd.RefUpdate{Ref: "refs/heads/main", New: commit}); err != nil {
		t.Fatal(err)
	}
	return dir, commit
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestChangeOfAWorktree(t *testing.T) {
	t.Parallel()
	dir, commit := checkoutOf(t, map[string]string{
		"go.mod": "module x\n", "a.go": "package x\n", "gone.go": "package x\n", "sub/b.go": "package sub\n", ".gitignore": "*.out\n",
	})
	write(t, dir, "a.go", "package x // new\n")
	write(t, dir, "sub/c.go", "package sub\n")
	write(t, dir, "noise.out", "ignored")
	if err := os.Remove(filepath.Join(dir, "gone.go")); err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]changeOptions{
		"against HEAD":        {worktree: dir},
		"against an id":       {worktree: dir, base: commit},
		"against a beginning": {worktree: dir, base: commit[:12]},
		"from below":          {worktree: filepath.Join(dir, "sub"), base: "main"},
	} {
		base, files, err := o.read(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := map[string]string{"a.go": "write package x // new\n", "sub/c.go": "write package sub\n", "gone.go": "delete "}
		if diff := cmp.Diff(want, byPath(files)); diff != "" || base != commit {
			t.Errorf("%s: base %s (-want +got)\n%s", name, base, diff)
		}
	}
	if _, _, err := (changeOptions{worktree: dir, base: "nosuch"}).read(t.Context()); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("an unknown base: %v", err)
	}
	if _, _, err := (changeOptions{worktree: dir, deletes: []string{"a.go"}}).read(t.Context()); fault.CodeOf(err) != fault.Usage {
		t.Errorf("two sources of one change: %v", err)
	}
}

func byPath(files []taskpack.File) map[string]string {
	out := map[string]string{}
	for _, f := range files {
		out[f.Path] = f.Op + " " + string(f.Content)
	}
	return out
}

// TestChangesThatNoPatchHolds: leaving them out would propose something else
// than what the author sees.
func TestChangesThatNoPatchHolds(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(dir string) error{
		"a symbolic link": func(dir string) error { return os.Symlink("a.go", filepath.Join(dir, "link.go")) },
		"an executable": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "run.sh"), []byte("#!/bin/sh\n"), 0o755)
		},
		"made executable":         func(dir string) error { return os.Chmod(filepath.Join(dir, "a.go"), 0o755) },
		"a repository of its own": func(dir string) error { _, err := gitcmd.Init(t.Context(), mkdir(t, dir, "inner")); return err },
		"a file that became a link": func(dir string) error {
			if err := os.Remove(filepath.Join(dir, "a.go")); err != nil {
				return err
			}
			return os.Symlink("go.mod", filepath.Join(dir, "a.go"))
		},
	} {
		dir, _ := checkoutOf(t, map[string]string{"go.mod": "module x\n", "a.go": "package x\n"})
		if err := change(dir); err != nil {
			t.Fatal(err)
		}
		_, files, err := (changeOptions{worktree: dir}).read(t.Context())
		if name == "a repository of its own" && err == nil && len(files) == 0 {
			continue // git lists it only once it has a commit
		}
		if fault.CodeOf(err) != fault.Unsupported {
			t.Errorf("%s: %v %v", name, byPath(files), err)
		}
	}
}

func mkdir(t *testing.T, parts ...string) string {
	t.Helper()
	dir := filepath.Join(parts...)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestChangeOfFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "patch/a.go", "package a\n")
	write(t, dir, "patch/sub/b.go", "package sub\n")
	write(t, dir, "c.txt", "package c\n")
	base, files, err := changeOptions{
		base: "abc", folder: filepath.Join(dir, "patch"), files: []string{"lib/c.go=" + filepath.Join(dir, "c.txt")}, deletes: []string{"old.go"},
	}.read(t.Context())
	if err != nil || base != "abc" {
		t.Fatalf("%q %v", base, err)
	}
	want := map[string]string{"a.go": "write package a\n", "sub/b.go": "write package sub\n", "lib/c.go": "write package c\n", "old.go": "delete "}
	if diff := cmp.Diff(want, byPath(files)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for name, c := range map[string]struct {
		o    changeOptions
		want fault.Code
	}{
		"no base":       {changeOptions{deletes: []string{"a"}}, fault.Usage},
		"no file":       {changeOptions{base: "abc", files: []string{"a.go"}}, fault.Usage},
		"lost file":     {changeOptions{base: "abc", files: []string{"a.go=" + dir + "/nosuch"}}, fault.NotFound},
		"lost folder":   {changeOptions{base: "abc", folder: dir + "/nosuch"}, fault.NotFound},
		"lost worktree": {changeOptions{worktree: dir + "/nosuch"}, fault.NotFound},
	} {
		if _, _, err := c.o.read(t.Context()); fault.CodeOf(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestHarmlessText: what others wrote can neither drive the terminal nor hide.
func TestHarmlessText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain\ttext, ä":          "plain\ttext, ä",
		"\x1b[31mred":             "<U+001B>[31mred",
		"a\rb":                    "a<U+000D>b",
		"if user\u202e // \u2066": "if user<U+202E> // <U+2066>",
		"zero\u200bwidth":         "zero<U+200B>width",
	} {
		if got := harmless(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
