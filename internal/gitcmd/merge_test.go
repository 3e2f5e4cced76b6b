package gitcmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"writ/internal/fault"
	"writ/internal/gitcmd"
	"writ/internal/testkit"
)

func TestMergeTree(t *testing.T) {
	t.Parallel()
	r := bare(t)
	ctx := t.Context()
	lines := "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	root := commit(t, r, map[string]string{"f": lines, "g": "g\n", "h": "h\n"})
	left := commit(t, r, map[string]string{"f": strings.Replace(lines, "1", "one", 1), "new": "n\n"}, root)
	right := commit(t, r, map[string]string{"f": strings.Replace(lines, "9", "nine", 1), "g": "-"}, root)
	m, err := r.MergeTree(ctx, left, right)
	if err != nil || m.Tree == "" || m.Conflicts != nil {
		t.Fatalf("clean merge: %+v, %v", m, err)
	}
	want := commit(t, r, map[string]string{"f": strings.NewReplacer("1", "one", "9", "nine").Replace(lines), "new": "n\n", "h": "h\n"})
	if tree, err := r.TreeOf(ctx, want); err != nil || tree != m.Tree {
		t.Errorf("merged tree %s, want %s: %v", m.Tree, tree, err)
	}
	other, err := r.MergeTree(ctx, right, left)
	if err != nil || other.Tree != m.Tree {
		t.Errorf("the other way round: %+v, %v", other, err)
	}

	clash := commit(t, r, map[string]string{"f": "all new\n", "h": "-", "sub/x y": "1\n"}, root)
	changed := commit(t, r, map[string]string{"f": "also new\n", "h": "changed\n", "sub/x y": "2\n"}, root)
	m, err = r.MergeTree(ctx, clash, changed)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(gitcmd.Merged{Conflicts: []string{"f", "h", "sub/x y"}}, m); diff != "" {
		t.Errorf("conflicts, -want +got\n%s", diff)
	}

	if m, err := r.MergeTree(ctx, root, left); err != nil || m.Tree == "" {
		t.Errorf("fast-forward: %+v, %v", m, err)
	}
	stranger := commit(t, r, map[string]string{"z": "z\n"})
	_, err = r.MergeTree(ctx, root, stranger)
	wantCode(t, err, fault.Invalid)
	_, err = r.MergeTree(ctx, root, strings.Repeat("1", 40))
	wantCode(t, err, fault.NotFound)

	for _, c := range []struct {
		a, b string
		want bool
	}{{root, left, true}, {left, left, true}, {left, root, false}, {left, right, false}, {stranger, left, false}} {
		if got, err := r.IsAncestor(ctx, c.a, c.b); err != nil || got != c.want {
			t.Errorf("IsAncestor: %v, %v", got, err)
		}
	}
	_, err = r.IsAncestor(ctx, root, strings.Repeat("1", 40))
	wantCode(t, err, fault.Forge)
}

func TestRefsMoveTogetherOrNotAtAll(t *testing.T) {
	t.Parallel()
	r := bare(t)
	ctx := t.Context()
	a := commit(t, r, map[string]string{"f": "a"})
	b := commit(t, r, map[string]string{"f": "b"}, a)
	if id, err := r.Ref(ctx, "refs/heads/main"); err != nil || id != "" {
		t.Errorf("a ref before it is made: %q, %v", id, err)
	}
	setRef(t, r, "refs/heads/main", "", a)
	setRef(t, r, "refs/writ/x", "", a)
	err := r.UpdateRefs(ctx, gitcmd.RefUpdate{Ref: "refs/heads/main", Old: a, New: b}, gitcmd.RefUpdate{Ref: "refs/writ/x", Old: b, New: b})
	e := wantCode(t, err, fault.Conflict)
	if e.Get("ref") != "refs/writ/x" || e.Get("expected") != b || e.Get("found") != a {
		t.Errorf("facts %v", e.Data)
	}
	wantCode(t, r.UpdateRefs(ctx, gitcmd.RefUpdate{Ref: "refs/heads/main", New: b}), fault.Conflict)
	wantCode(t, r.UpdateRefs(ctx, gitcmd.RefUpdate{Ref: "refs/heads/none", Old: a}), fault.Conflict)
	if id, err := r.Ref(ctx, "refs/heads/main"); err != nil || id != a {
		t.Errorf("a refused update moved main to %s, %v", id, err)
	}
	if err := r.UpdateRefs(ctx, gitcmd.RefUpdate{Ref: "refs/heads/main", Old: a, New: b}, gitcmd.RefUpdate{Ref: "refs/writ/x", Old: a}); err != nil {
		t.Fatal(err)
	}
	if id, err := r.ResolveCommit(ctx, "main"); err != nil || id != b {
		t.Errorf("main is %s, %v", id, err)
	}
	if id, err := r.Ref(ctx, "refs/writ/x"); err != nil || id != "" {
		t.Errorf("deleted ref holds %q, %v", id, err)
	}
	wantCode(t, r.UpdateRefs(ctx, gitcmd.RefUpdate{Ref: "refs/heads/main"}), fault.Invalid)
	wantCode(t, r.UpdateRefs(ctx, gitcmd.RefUpdate{Ref: "refs/heads/main", New: "main"}), fault.Invalid)
	wantCode(t, r.UpdateRefs(ctx, gitcmd.RefUpdate{Ref: "refs/heads/main", Old: b, New: strings.Repeat("1", 40)}), fault.Forge)
}

func TestWorktreesComeAndGo(t *testing.T) {
	t.Parallel()
	r := bare(t)
	ctx := t.Context()
	id := commit(t, r, map[string]string{"f": "a\r\n", "sub/g": "b\n"})
	ran := filepath.Join(t.TempDir(), "ran")
	writeHook(t, r.Dir, "post-checkout", ran)
	dir := filepath.Join(t.TempDir(), "tree")
	w, err := r.AddWorktree(ctx, dir, id)
	if err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(filepath.Join(dir, "f")); err != nil || string(raw) != "a\r\n" {
		t.Errorf("checked out %q, %v", raw, err)
	}
	if head, err := w.ResolveCommit(ctx, "HEAD"); err != nil || head != id {
		t.Errorf("worktree is at %s, %v", head, err)
	}
	if _, err := gitcmd.Open(ctx, dir); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "dirt"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time it is gone already
		if err := r.RemoveWorktree(ctx, dir); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Error("the worktree is still there")
		}
	}
	if _, err := r.AddWorktree(ctx, dir, id); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := r.RemoveWorktree(ctx, dir); err != nil {
		t.Errorf("a worktree whose folder was lost: %v", err)
	}
	if left, err := os.ReadDir(filepath.Join(r.Dir, "worktrees")); err == nil && len(left) > 0 {
		t.Errorf("%d worktrees are still known", len(left))
	}
	_, err = r.AddWorktree(ctx, dir, strings.Repeat("1", 40))
	wantCode(t, err, fault.Forge)
	if _, err := os.Stat(ran); err == nil {
		t.Error("a hook ran")
	}
	_, err = gitcmd.Open(ctx, t.TempDir())
	wantCode(t, err, fault.NotFound)
	_, err = gitcmd.Repo{Dir: t.TempDir()}.ResolveCommit(ctx, "HEAD")
	wantCode(t, err, fault.NotFound)
}

// writeHook puts a hook into a repository that leaves a file when it runs.
func writeHook(t *testing.T, gitDir, name, mark string) {
	t.Helper()
	dir := filepath.Join(gitDir, "hooks")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	testkit.Program(t, filepath.Join(dir, name), []byte("#!/bin/sh\ntouch "+mark+"\n"))
}
