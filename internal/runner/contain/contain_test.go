package contain

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"writ/internal/fault"
	"writ/internal/gitcmd"
	"writ/internal/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// source is a repository with two commits of a small module.
func source(t *testing.T) (repo gitcmd.Repo, first, second string) {
	t.Helper()
	ctx := t.Context()
	repo, err := gitcmd.InitBare(ctx, filepath.Join(t.TempDir(), "source.git"))
	if err != nil {
		t.Fatal(err)
	}
	commit := func(parent, body string) string {
		tree, err := repo.WriteTree(ctx, "", []gitcmd.File{
			{Path: "go.mod", Content: []byte("module example.org/m\n\ngo 1.26\n")},
			{Path: "m_test.go", Content: []byte(body)},
		})
		if err != nil {
			t.Fatal(err)
		}
		c := gitcmd.Commit{Tree: tree, Author: gitcmd.Person{Name: "a", Email: "a@example.org", When: time.Unix(1, 0)}, Message: "m\n"}
		if parent != "" {
			c.Parents = []string{parent}
		}
		id, err := repo.CommitTree(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	first = commit("", "package m\n\nimport \"testing\"\n\nfunc TestOK(t *testing.T) {}\n")
	second = commit(first, "package m\n\nimport \"testing\"\n\nfunc TestBad(t *testing.T) { t.Fatal(\"as meant\") }\n")
	if err := repo.UpdateRefs(ctx, gitcmd.RefUpdate{Ref: "refs/heads/main", New: second}); err != nil {
		t.Fatal(err)
	}
	return repo, first, second
}

func params(t *testing.T, repo gitcmd.Repo) Params {
	t.Helper()
	return Params{Root: filepath.Join(t.TempDir(), "work"), Source: repo, Now: time.Now}
}

func environment(t *testing.T, p Params) *Environment {
	t.Helper()
	e, err := New(t.Context(), p)
	if fault.CodeOf(err) == fault.NotContained {
		testkit.Skip(t, "user namespaces: "+err.Error(), "sysctl -w user.max_user_namespaces=1000")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := e.Destroy(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return e
}

func TestTwoCommitsSideBySide(t *testing.T) {
	t.Parallel()
	repo, first, second := source(t)
	e := environment(t, params(t, repo))
	for _, tt := range []struct {
		name, commit string
		ok           bool
	}{{"base", first, true}, {"changed", second, false}} {
		dir, err := e.Worktree(t.Context(), tt.name, tt.commit)
		if err != nil {
			t.Fatal(err)
		}
		got, err := e.Run(t.Context(), Command{Argv: []string{"go", "test", "-count=1", "./..."}, Dir: dir, Timeout: 2 * time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		if got.OK() != tt.ok {
			t.Errorf("%s: ok %t, want %t\n%s", tt.name, got.OK(), tt.ok, got.Output)
		}
	}
}

// TestNothingOutside tries what a program inside must not be able to do.
func TestNothingOutside(t *testing.T) {
	t.Parallel()
	repo, first, _ := source(t)
	secret := t.TempDir()
	if err := os.WriteFile(filepath.Join(secret, "key"), []byte("s3cret"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := params(t, repo)
	p.Hide = []string{secret}
	e := environment(t, p)
	dir, err := e.Worktree(t.Context(), "base", first)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for name, script := range map[string]string{
		"reach a listener of the host": "exec 3<>/dev/tcp/127.0.0.1/" + port,
		"read what is hidden":          "cat " + filepath.Join(secret, "key"),
		"write outside":                "touch " + filepath.Join(repo.Dir, "x"),
		"gain rights":                  "unshare -Ur true",
	} {
		got, err := e.Run(t.Context(), Command{Argv: []string{"bash", "-c", script}, Dir: dir, Timeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		if got.Exit == 0 {
			t.Errorf("a program inside can %s\n%s", name, got.Output)
		}
	}
	got, err := e.Run(t.Context(), Command{Argv: []string{"bash", "-c", "touch here && env"}, Dir: dir, Timeout: time.Minute})
	if err != nil || !got.OK() {
		t.Fatalf("writing inside: %v %s", err, got.Output)
	}
	known := map[string]bool{"PWD": true, "OLDPWD": true, "SHLVL": true, "_": true} // the shell's own
	for _, v := range e.Env() {
		name, _, _ := strings.Cut(v, "=")
		known[name] = true
	}
	for line := range strings.Lines(string(got.Output)) {
		if name, _, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !known[name] {
			t.Errorf("the host's variable %s is visible inside", name)
		}
	}
}

func TestDestroyAndSweep(t *testing.T) {
	t.Parallel()
	repo, _, _ := source(t)
	p := params(t, repo)
	kept, lost := environment(t, p), environment(t, p)
	lost.Close() // as a process that died would have left it
	kept.Close()
	gone, err := Sweep(t.Context(), p, func(ref string) bool { return ref == kept.Ref })
	if err != nil {
		t.Fatal(err)
	}
	if len(gone) != 1 || gone[0] != lost.Ref {
		t.Errorf("swept %v, want only %s", gone, lost.Ref)
	}
	again, err := Reopen(t.Context(), p, kept.Ref)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // destroying is repeatable
		c, err := again.Destroy(t.Context())
		if err != nil || !c.Path {
			t.Fatalf("%+v %v", c, err)
		}
	}
	if _, err := Reopen(t.Context(), p, kept.Ref); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("reopening what was destroyed: %v", err)
	}
	if _, err := Reopen(t.Context(), p, "writ-worktree:../x"); fault.CodeOf(err) != fault.Invalid {
		t.Errorf("a ref that leads elsewhere: %v", err)
	}
}
